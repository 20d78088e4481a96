#ifndef FREESTONE_COMPILER_STEP_PARAMETERS_H
#define FREESTONE_COMPILER_STEP_PARAMETERS_H

#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/import/ImportOnnx.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace freestone::step {

/// The user's choice of parameters by name patterns: `*` stands for any characters, `?` for one.
struct ParameterPatterns {
  /// Trained even if the model does not show that they are parameters.
  std::vector<std::string> train;
  /// Not trained; takes precedence over `train`.
  std::vector<std::string> freeze;
  /// Trained without weight decay.
  std::vector<std::string> noDecay;
  /// Parameter groups; the first matching pattern counts.
  std::vector<std::string> groups;
  /// Which initializers of several uses are one tied parameter.
  TiePatterns ties = {};
};

/// A float tensor of the model's file.
struct Parameter {
  std::string name;
  graph::TensorType type;
  bool trained = false;
  /// Not trained, although it reaches the loss and was neither frozen by the user nor exported as a constant or buffer:
  /// `--train` makes it a parameter.
  bool couldBeTrained = false;
  bool decays = true;
  /// The pattern of its group; empty without one.
  std::string group;
  /// Why it is trained or not: "kernel of a convolution", "reaches the loss by 'node_tanh'", "frozen by
  /// 'encoder.*'".
  std::string reason;
};

/// All float weights of a function of the graph level that are `initializers` of the model, in the order of their first
/// use. Trained are those of rank 1 or more that have a gradient of `losses`, values of the function, and those of rank
/// 0 that the exporter calls parameters.
///
/// Not trained: statistics of normalizations and class weights, by the function's attributes; the exporter's buffers
/// and constants; masks, whose elements are one number (such as 0) or so low that a softmax gives 0 for them;
/// frequencies of positional encodings, used through sines and cosines only; and values that the exporter computed,
/// unless they are a factor of a product, a kernel, a table, or the bias of one of these.
///
/// `weights` holds the elements. Fails with the pattern that matches no weight.
llvm::FailureOr<std::vector<Parameter>> chooseParameters(mlir::func::FuncOp function,
                                                         llvm::ArrayRef<mlir::Value> losses,
                                                         const std::map<std::string, InitializerOrigin> &initializers,
                                                         const WeightStore &weights, const ParameterPatterns &patterns,
                                                         std::string &unmatched);

} // namespace freestone::step

#endif // FREESTONE_COMPILER_STEP_PARAMETERS_H
