#ifndef FREESTONE_COMPILER_STEP_PARAMETERLAYOUTS_H
#define FREESTONE_COMPILER_STEP_PARAMETERLAYOUTS_H

#include "compiler/step/Parameters.h"
#include "llvm/ADT/StringMap.h"

namespace freestone::step {

/// Chooses the parameters that are stored as packed panels, in the order in which their contractions read them, and
/// rewrites the functions of a training step accordingly. A matrix [n, k] packed along n is a state [n/width, k,
/// width]: the model reads it transposed and reshaped, so that gradient, moments and update are packed as well.
class ParameterLayouts {
public:
  /// Chooses trained f32 matrices whose only user is one contraction of `model` that takes them as columns, and whose
  /// columns fill whole panels. Others, such as a table that is also gathered from, stay row-major. A width of 0 packs
  /// none.
  ParameterLayouts(mlir::func::FuncOp model, llvm::ArrayRef<Parameter> parameters, int64_t width);

  /// Makes a function of the model, whose weights are no states yet, read the packed parameters.
  void applyTo(mlir::func::FuncOp function) const;
  /// The parameters with their stored types.
  std::vector<Parameter> getStored(llvm::ArrayRef<Parameter> parameters) const;
  /// Marks the packed states of a finished function with `tile.panels` = [axis, width]: parameters, and the optimizer
  /// states and gradient sums of their shape.
  void describeIn(mlir::func::FuncOp function) const;

private:
  struct Panels {
    int64_t axis;
    graph::TensorType stored;
  };

  llvm::StringMap<Panels> panels;
};

} // namespace freestone::step

#endif // FREESTONE_COMPILER_STEP_PARAMETERLAYOUTS_H
