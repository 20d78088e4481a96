#include "compiler/tile/lowering/Lines.h"

using namespace mlir;
using freestone::sym::Expr;

namespace freestone::tile {

Lines::Lines(graph::TensorType type, int64_t axis)
    : outer(Expr::constant(type.getContext(), 1)), length(type.getDim(axis)), inner(outer) {
  for (auto [dim, extent] : llvm::enumerate(type.getShape())) {
    if (static_cast<int64_t>(dim) < axis)
      outer = outer * extent;
    else if (static_cast<int64_t>(dim) > axis)
      inner = inner * extent;
  }
}

Value Lines::getBegin(OpaqueBuilder &body, Value line, Expr length) const {
  Value stride = body.size(inner);
  return body.add(body.mul(body.mul(body.div(line, stride), body.size(length)), stride), body.rem(line, stride));
}

} // namespace freestone::tile
