#include "compiler/dialect/graph/ShapeRules.h"

using namespace mlir;

namespace freestone::graph {

bool areDims(ArrayRef<int64_t> dims, TensorType type) {
  SmallVector<bool> seen(type.getRank(), false);
  for (int64_t dim : dims) {
    if (!hasAxis(type, dim) || seen[dim])
      return false;
    seen[dim] = true;
  }
  return true;
}

sym::Expr getWindowPlaces(sym::Expr size, sym::Expr span, int64_t stride) {
  sym::Expr places = sym::Expr::floorDiv(size - span, stride) + 1;
  std::optional<int64_t> constant = places.asConstant();
  return constant && *constant < 0 ? sym::Expr::constant(size.context(), 0) : places;
}

bool isSplatOf(Attribute constant, double value) {
  auto dense = dyn_cast_or_null<DenseElementsAttr>(constant);
  if (!dense || !dense.isSplat())
    return false;
  if (isa<FloatType>(dense.getElementType())) {
    APFloat element = dense.getSplatValue<APFloat>();
    bool inexact;
    element.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
    return element.bitwiseIsEqual(APFloat(value));
  }
  APInt element = dense.getSplatValue<APInt>();
  return element == APInt(element.getBitWidth(), static_cast<uint64_t>(static_cast<int64_t>(value)), true, true);
}

Attribute getSplat(Attribute constant) {
  auto dense = dyn_cast_or_null<DenseElementsAttr>(constant);
  if (!dense || !dense.isSplat())
    return {};
  return dense.resizeSplat(RankedTensorType::get({}, dense.getElementType()));
}

SmallVector<ReshapeGroup> getReshapeGroups(ArrayRef<sym::Expr> from, ArrayRef<sym::Expr> to) {
  SmallVector<ReshapeGroup> groups;
  unsigned i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    ReshapeGroup group{i, i, j, j};
    if (i < from.size() && j < to.size() && from[i] == to[j]) {
      group.fromEnd = ++i;
      group.toEnd = ++j;
      groups.push_back(group);
      continue;
    }
    // Skips a dimension of 1 on one side.
    if (i < from.size() && from[i].isConstant(1)) {
      group.fromEnd = ++i;
      groups.push_back(group);
      continue;
    }
    if (j < to.size() && to[j].isConstant(1)) {
      group.toEnd = ++j;
      groups.push_back(group);
      continue;
    }
    if (i == from.size() || j == to.size()) {
      group.fromEnd = i = from.size();
      group.toEnd = j = to.size();
      groups.push_back(group);
      break;
    }
    sym::Expr fromSize = from[i++], toSize = to[j++];
    while (fromSize != toSize && (i < from.size() || j < to.size())) {
      bool extendFrom = j == to.size() || (i < from.size() && toSize.exactDiv(fromSize).has_value());
      if (extendFrom)
        fromSize = fromSize * from[i++];
      else
        toSize = toSize * to[j++];
    }
    group.fromEnd = i;
    group.toEnd = j;
    groups.push_back(group);
  }
  return groups;
}

bool haveDifferentProducts(TensorType lhs, TensorType rhs) {
  std::optional<int64_t> difference = (lhs.getNumElements() - rhs.getNumElements()).asConstant();
  return difference && *difference != 0;
}

} // namespace freestone::graph
