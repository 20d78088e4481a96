#ifndef FREESTONE_COMPILER_TRAINING_PARAMETERLAYOUTS_H
#define FREESTONE_COMPILER_TRAINING_PARAMETERLAYOUTS_H

#include "compiler/step/Parameters.h"
#include "llvm/ADT/StringMap.h"

namespace freestone::step {

/// Which parameters are stored in panels, as the contractions that take them read them, and what follows for the
/// functions of a training step. A matrix [n, k] in panels along n is a state [n/width, k, width]: the model reads it
/// transposed and reshaped, so that its gradient, its moments and its update are in panels as well.
class ParameterLayouts {
public:
  /// Chooses trained matrices of f32 of which one contraction of `model`, and nothing else, takes the columns, where
  /// they fill their panels. Others, such as a table that is gathered from too, stay row-major. A width of 0: all do.
  ParameterLayouts(mlir::func::FuncOp model, llvm::ArrayRef<Parameter> parameters, int64_t width);

  /// Has a function of the model, whose weights are no states yet, read them as they are stored.
  void applyTo(mlir::func::FuncOp function) const;
  /// The parameters with the types that they are stored in.
  std::vector<Parameter> getStored(llvm::ArrayRef<Parameter> parameters) const;
  /// Marks the states of a finished function that are stored in panels, `tile.panels` = [axis, width]: parameters, and
  /// what the optimizer and sums of gradients keep in their shape.
  void describeIn(mlir::func::FuncOp function) const;

private:
  struct Panels {
    int64_t axis;
    graph::TensorType stored;
  };

  llvm::StringMap<Panels> panels;
};

} // namespace freestone::step

#endif // FREESTONE_COMPILER_TRAINING_PARAMETERLAYOUTS_H
