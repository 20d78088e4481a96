#ifndef FREESTONE_COMPILER_TRAINING_PARAMETERS_H
#define FREESTONE_COMPILER_TRAINING_PARAMETERS_H

#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/import/ImportOnnx.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace freestone::step {

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
  /// Of initializers that several nodes take.
  TiePatterns ties = {};
};

/// A float tensor of the model's file.
struct Parameter {
  std::string name;
  graph::TensorType type;
  bool trained = false;
  /// Not trained, although it reaches the loss and neither the user nor the exporter said so of a constant: `--train`
  /// makes a parameter of it.
  bool couldBeTrained = false;
  bool decays = true;
  /// The pattern of its group; empty where it has none.
  std::string group;
  /// Why it is trained or not: "kernel of a convolution", "reaches the loss by 'node_tanh'", "frozen by
  /// 'encoder.*'".
  std::string reason;
};

/// All float weights of a function of the graph level that are `initializers` of the model, in the order of their first
/// use. Those of rank 1 or more are trained that a gradient of `losses`, values of the function, reaches; and those of
/// rank 0 that the exporter calls parameters. No parameters are statistics of normalisations and weights of classes, by
/// the function's attributes; what the exporter calls a buffer or a constant; masks, whose elements are 0, or one other
/// number, and so low that nothing is left of them in a softmax; frequencies whose sines and cosines tell places; and
/// what the exporter has computed, unless it is a factor of a product, a kernel, a table, or the bias of one of these.
/// `weights` has their elements. Fails with the pattern that matches no weight.
llvm::FailureOr<std::vector<Parameter>> chooseParameters(mlir::func::FuncOp function,
                                                         llvm::ArrayRef<mlir::Value> losses,
                                                         const std::map<std::string, InitializerOrigin> &initializers,
                                                         const WeightStore &weights, const ParameterPatterns &patterns,
                                                         std::string &unmatched);

} // namespace freestone::step

#endif // FREESTONE_COMPILER_TRAINING_PARAMETERS_H
