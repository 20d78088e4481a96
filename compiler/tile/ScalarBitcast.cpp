#include "compiler/tile/Scalars.h"

#include "compiler/dialect/tile/TileDialect.h"

using namespace mlir;

namespace freestone::tile {

/// An element's bits as a byte or more: integers below a byte lose their sign.
static Value emitBits(ImplicitLocOpBuilder &b, Value x, Type element) {
  if (element.isInteger(1))
    return arith::ExtUIOp::create(b, b.getI8Type(), x);
  if (graph::isSubByte(element) && element.isSignlessInteger())
    return arith::AndIOp::create(b, x, emitConstant(b, x.getType(), (1 << element.getIntOrFloatBitWidth()) - 1));
  return x;
}

Value emitBitcast(ImplicitLocOpBuilder &b, Value operand, Type from, Type to) {
  Value bits = emitBits(b, operand, from);
  if (to.isInteger(1))
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, bits, emitConstant(b, bits.getType(), 0));
  if (graph::isSubByte(to) && to.isSignlessInteger()) {
    Value places = emitConstant(b, bits.getType(), 8 - to.getIntOrFloatBitWidth());
    return arith::ShRSIOp::create(b, arith::ShLIOp::create(b, bits, places), places);
  }
  Type type = getScalarType(to);
  return bits.getType() == type ? bits : arith::BitcastOp::create(b, type, bits).getResult();
}

} // namespace freestone::tile
