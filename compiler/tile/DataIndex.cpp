#include "compiler/tile/DataIndex.h"

#include "compiler/dialect/tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace freestone::tile {

DataIndex emitDataIndex(ImplicitLocOpBuilder &builder, Value index, Value size) {
  Value zero = arith::ConstantIndexOp::create(builder, 0);
  Value given = arith::IndexCastOp::create(builder, builder.getIndexType(), index);
  Value negative = arith::CmpIOp::create(builder, arith::CmpIPredicate::slt, given, zero);
  Value fromEnd = arith::AddIOp::create(builder, given, size);
  Value position = arith::SelectOp::create(builder, negative, fromEnd, given);
  // Unsigned: an index that is still negative compares as beyond the end.
  Value inside = arith::CmpIOp::create(builder, arith::CmpIPredicate::ult, position, size);
  CheckOp::create(builder, inside, "an index is outside of its axis");
  return {position, inside};
}

} // namespace freestone::tile
