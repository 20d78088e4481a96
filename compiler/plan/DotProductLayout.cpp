#include "compiler/plan/DotProductLayout.h"

using namespace freestone::tile;

DotProductLayout DotProductLayout::get(ContractionForm &form, DotProductTilingAttr tiling) {
  DotProductFactors factors = tiling.getParts() > 1 ? *form.getSplitFactors() : *form.getDotProductFactors();
  DotProductLayout layout{tiling.getUnit(), tiling.getGroups(), factors, factors};
  if (tiling.getUnit() == DotProductUnit::vectors && factors.areIntegers)
    layout.multiplied.isLhsSigned = !factors.isRhsSigned;
  return layout;
}
