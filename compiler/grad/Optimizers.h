#ifndef FREESTONE_COMPILER_GRAD_OPTIMIZERS_H
#define FREESTONE_COMPILER_GRAD_OPTIMIZERS_H

#include "compiler/grad/Number.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace freestone::grad {

enum class OptimizerKind { Sgd, Adam, AdamW, Adagrad, RmsProp, Lamb, Lion };

/// An optimizer and its hyperparameters by PyTorch's names; each kind reads its own and ignores the others. The
/// learning rate is not included: it is a value of the program.
struct Optimizer {
  OptimizerKind kind = OptimizerKind::AdamW;
  /// Sgd, RmsProp.
  Number momentum = 0.0;
  /// Sgd.
  Number dampening = 0.0;
  bool nesterov = false;
  /// Adam, AdamW, Lamb, Lion.
  Number beta1 = 0.9, beta2 = 0.999;
  /// Adam, AdamW: uses the maximum of all second moments instead of the last one.
  bool amsgrad = false;
  /// RmsProp.
  Number alpha = 0.99;
  bool centered = false;
  /// Adagrad.
  Number lrDecay = 0.0;
  double initialAccumulator = 0;
  /// All but Sgd and Lion.
  Number eps = 1e-8;
  /// All kinds. Decoupled from the gradient in AdamW, Lamb and Lion.
  Number weightDecay = 0.0;

  /// With PyTorch's defaults; Lamb's and Lion's are those of their papers.
  static Optimizer withDefaults(OptimizerKind kind);
};

/// A number of an optimizer by its name in PyTorch; betas are `beta1` and `beta2`.
struct NamedNumber {
  llvm::StringRef name;
  Number Optimizer::*number;
};
/// The numbers of a kind that may be values of the program.
llvm::SmallVector<NamedNumber> getNumbers(OptimizerKind kind);

/// PyTorch's default learning rate; Lamb's and Lion's are those of common implementations.
double getDefaultLearningRate(OptimizerKind kind);

/// By the name on the command line (`sgd`, `adam`, `adamw`, `adagrad`, `rmsprop`, `lamb`, `lion`); nothing for others.
std::optional<OptimizerKind> getOptimizerKind(llvm::StringRef name);
llvm::StringRef getName(OptimizerKind kind);
/// By the name of its kind, or `amsgrad` for `adam` with it, with default numbers; nothing for others.
std::optional<Optimizer> getOptimizer(llvm::StringRef name);

/// A state of an optimizer for each parameter, in the parameter's shape.
struct StateTensor {
  /// PyTorch's key, such as `exp_avg`.
  llvm::StringRef name;
  /// The first value of all elements.
  double initial = 0;
  /// A moment of the gradients, which may be kept in bf16.
  bool isMoment = false;
  /// Changes less in a step than bf16 can represent.
  bool isSlow = false;
};

/// The states of `optimizer` for each parameter, in the order in which `buildUpdate` takes and returns them. A
/// compiled-in momentum of 0 has no state.
llvm::SmallVector<StateTensor> getStateTensors(const Optimizer &optimizer);

struct Update {
  mlir::Value parameter;
  llvm::SmallVector<mlir::Value> state;
};

/// Values of the whole step for an update, all of rank 0.
struct StepValues {
  /// A float.
  mlir::Value learningRate;
  /// The number of this step, an integer or a float: 1 for the first one. A skipped step does not count.
  mlir::Value step;
  /// A bool: if true, parameter and state keep every bit. Null: never.
  mlir::Value skip;
};

/// Builds one step for one parameter at the insertion point. `gradient` has the parameter's shape; `state` is as of
/// `getStateTensors`, in the parameter's shape and a float type. The step is computed in f32 (f64 for f64 parameters),
/// factors common to all elements in f64; results have the types of the arguments. Slow state is rounded to a narrower
/// type up or down alternately, from step to step, so that it is correct on average: rounded to nearest in bf16, 0.999
/// times a number is the number itself.
Update buildUpdate(mlir::OpBuilder &builder, mlir::Location location, const Optimizer &optimizer, mlir::Value parameter,
                   mlir::Value gradient, llvm::ArrayRef<mlir::Value> state, const StepValues &values);

/// The number of this step, for `StepValues::step`: the number of steps done before, plus 1.
mlir::Value buildStepNumber(mlir::OpBuilder &builder, mlir::Location location, mlir::Value stepsDone);
/// The number of steps done after this step: that of this step, or `stepsDone` where `skip` (which may be null) holds.
mlir::Value buildStepsDone(mlir::OpBuilder &builder, mlir::Location location, mlir::Value stepsDone, mlir::Value skip);

} // namespace freestone::grad

#endif // FREESTONE_COMPILER_GRAD_OPTIMIZERS_H
