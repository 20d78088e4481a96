#include "compiler/plan/DotProductLayout.h"

using namespace freestone::tile;

std::optional<DotProductFactors> DotProductLayout::getFactors(ContractionForm &form, DotProductKernelAttr kernel) {
  return kernel.getParts() > 1 ? form.getSplitFactors() : form.getDotProductFactors();
}

DotProductLayout DotProductLayout::get(ContractionForm &form, DotProductKernelAttr kernel) {
  DotProductFactors factors = *getFactors(form, kernel);
  DotProductLayout layout{kernel.getUnit(), kernel.getGroups(), factors, factors, kernel.getLastVectors()};
  if (kernel.getUnit() == DotProductUnit::vectors && factors.areIntegers)
    layout.multiplied.isLhsSigned = !factors.isRhsSigned;
  return layout;
}

mlir::Type DotProductLayout::getDirectType(ContractionForm &form, DotProductKernelAttr kernel) {
  DotProductFactors factors = *getFactors(form, kernel);
  ComputeOp written = form.getWritten();
  if (!written)
    return {};
  mlir::Type type = getScalarType(written.getResultType(0).getElementType()),
             ofSums = factors.getSumType(kernel.getContext());
  bool isElement = type == ofSums || (ofSums.isF32() && type.isBF16());
  bool mayWrite = isElement && kernel.getUnit() == DotProductUnit::vectors && factors.parts == 1 && form.slices == 1 &&
                  form.getRowStride(unit) && !form.storesPanels(unit);
  return mayWrite ? type : mlir::Type();
}

MicroKernelAttr DotProductLayout::getBlock(mlir::MLIRContext *context, int64_t lastVectors) {
  return MicroKernelAttr::get(context, unit, /*vectors=*/2, unit / 2, /*unroll=*/2, lastVectors,
                              /*in_order=*/false);
}
