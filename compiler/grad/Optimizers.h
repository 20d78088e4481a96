#ifndef FREESTONE_COMPILER_GRAD_OPTIMIZERS_H
#define FREESTONE_COMPILER_GRAD_OPTIMIZERS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace freestone::grad {

/// A hyperparameter: a number that is compiled in, or a float of rank 0 of the program, which may then change from step
/// to step without another compilation. Narrow values lose what f32 does not hold of a number such as 0.999: f64 holds
/// it.
class Number {
public:
  Number(double number) : number(number) {}
  Number(mlir::Value value) : value(value) {}

  /// Null where the number is compiled in.
  mlir::Value getValue() const { return value; }
  /// The number that is compiled in.
  std::optional<double> getConstant() const { return value ? std::nullopt : std::optional(number); }
  bool isConstant(double other) const { return !value && number == other; }

private:
  double number = 0;
  mlir::Value value;
};

enum class OptimizerKind { Sgd, Adam, AdamW, Adagrad, RmsProp, Lamb, Lion };

/// An optimizer and its hyperparameters by PyTorch's names; each kind reads its own and ignores the others. The
/// learning rate is no part of it: it is a value of the program.
struct Optimizer {
  OptimizerKind kind = OptimizerKind::AdamW;
  /// Sgd, RmsProp.
  Number momentum = 0.0;
  /// Sgd.
  Number dampening = 0.0;
  bool nesterov = false;
  /// Adam, AdamW, Lamb, Lion.
  Number beta1 = 0.9, beta2 = 0.999;
  /// Adam, AdamW: the maximum of all second moments so far in place of the last.
  bool amsgrad = false;
  /// RmsProp.
  Number alpha = 0.99;
  bool centered = false;
  /// Adagrad.
  Number lrDecay = 0.0;
  double initialAccumulator = 0;
  /// All but Sgd and Lion.
  Number eps = 1e-8;
  /// Of all. Decoupled from the gradient in AdamW, Lamb and Lion.
  Number weightDecay = 0.0;

  /// With PyTorch's defaults; Lamb's and Lion's are those of their papers.
  static Optimizer withDefaults(OptimizerKind kind);
};

/// PyTorch's default learning rate; Lamb's and Lion's are those of common implementations.
double getDefaultLearningRate(OptimizerKind kind);

/// By the name on the command line (`sgd`, `adam`, `adamw`, `adagrad`, `rmsprop`, `lamb`, `lion`); nothing for others.
std::optional<OptimizerKind> getOptimizerKind(llvm::StringRef name);
llvm::StringRef getName(OptimizerKind kind);

/// A tensor that an optimizer keeps for each parameter, in the parameter's shape.
struct StateTensor {
  /// PyTorch's key, such as `exp_avg`.
  llvm::StringRef name;
  /// The element that it is filled with before the first step.
  double initial = 0;
};

/// What `optimizer` keeps for each parameter, in the order in which `buildUpdate` takes and gives it. Momentum that is
/// the compiled-in number 0 is not kept.
llvm::SmallVector<StateTensor> getStateTensors(const Optimizer &optimizer);

struct Update {
  mlir::Value parameter;
  llvm::SmallVector<mlir::Value> state;
};

/// What an update takes beside the optimizer, at the level of the whole step. All are of rank 0.
struct StepValues {
  /// A float.
  mlir::Value learningRate;
  /// The number of this step, an integer or a float: 1 for the first one. A skipped step does not count.
  mlir::Value step;
  /// A bool: where it holds, parameter and state stay as they are, to the bit. Null: never.
  mlir::Value skip;
};

/// Builds one step for one parameter at the insertion point. `gradient` has the parameter's shape; `state` is as
/// `getStateTensors` says, in the parameter's shape and a float type. The step is computed in f32 (in f64 for f64
/// parameters), factors that are common to all elements in f64; what is returned has the types of what was given.
Update buildUpdate(mlir::OpBuilder &builder, mlir::Location location, const Optimizer &optimizer, mlir::Value parameter,
                   mlir::Value gradient, llvm::ArrayRef<mlir::Value> state, const StepValues &values);

/// The number of this step, for `StepValues::step`: the number of steps done before, plus 1.
mlir::Value buildStepNumber(mlir::OpBuilder &builder, mlir::Location location, mlir::Value stepsDone);
/// The number of steps done after this step: that of this step, or `stepsDone` where `skip` (which may be null) holds.
mlir::Value buildStepsDone(mlir::OpBuilder &builder, mlir::Location location, mlir::Value stepsDone, mlir::Value skip);

} // namespace freestone::grad

#endif // FREESTONE_COMPILER_GRAD_OPTIMIZERS_H
