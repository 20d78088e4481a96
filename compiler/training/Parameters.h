#ifndef FREESTONE_COMPILER_TRAINING_PARAMETERS_H
#define FREESTONE_COMPILER_TRAINING_PARAMETERS_H

#include "compiler/dialect/graph/GraphDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <set>
#include <string>
#include <vector>

namespace freestone::training {

/// What the user says of parameters by patterns of their names: `*` stands for any characters, `?` for one.
struct ParameterPatterns {
  /// Trained although nothing shows that they are parameters.
  std::vector<std::string> train;
  /// Not trained; stronger than `train`.
  std::vector<std::string> freeze;
  /// Trained without weight decay.
  std::vector<std::string> noDecay;
  /// Those of a group; the first pattern that matches counts.
  std::vector<std::string> groups;
};

/// A float tensor of the model's file.
struct Parameter {
  std::string name;
  graph::TensorType type;
  bool trained = false;
  bool decays = true;
  /// The pattern of its group; empty where it has none.
  std::string group;
  /// Why it is trained or not: "kernel of a convolution", "frozen by 'encoder.*'".
  std::string reason;
};

/// All float weights of a function of the graph level that are `initializers` of the model, in the order of their first
/// use. Those of rank 1 or more are trained that reach, through transpositions, reshapes, concatenations and casts, an
/// operand that is made to be learnt: a factor of a contraction, a kernel, a table that is gathered from, a bias or a
/// scale. Statistics of normalisations and weights of classes are none, by the function's attributes. Fails with the
/// pattern that matches no weight.
llvm::FailureOr<std::vector<Parameter>> chooseParameters(mlir::func::FuncOp function,
                                                         const std::set<std::string> &initializers,
                                                         const ParameterPatterns &patterns, std::string &unmatched);

} // namespace freestone::training

#endif // FREESTONE_COMPILER_TRAINING_PARAMETERS_H
