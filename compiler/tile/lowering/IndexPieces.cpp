#include "compiler/tile/lowering/IndexPieces.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using freestone::sym::Expr;

namespace freestone::tile {

constexpr size_t mostPieces = 4;

Expr IndexPiece::getIndex(Expr position) const { return Expr::floorDiv(position, times) * step + offset; }

/// The constant indices along an axis, counted from its beginning; nothing where one is out of bounds.
static std::optional<SmallVector<int64_t>> getConstantIndices(graph::GatherOp op) {
  auto constant = op.getIndices().getDefiningOp<graph::ConstantOp>();
  std::optional<int64_t> extent = graph::getShape(op.getOperand())[op.getAxis()].asConstant();
  auto elements = constant ? dyn_cast<DenseIntElementsAttr>(constant.getValue()) : DenseIntElementsAttr();
  if (!elements || !extent || op.getBatchDims() || graph::getShape(op.getIndices()).size() != 1 ||
      elements.getNumElements() == 0)
    return std::nullopt;
  SmallVector<int64_t> indices;
  for (const APInt &element : elements.getValues<APInt>()) {
    int64_t index = element.getSExtValue();
    if (index < -*extent || index >= *extent)
      return std::nullopt;
    indices.push_back(index < 0 ? index + *extent : index);
  }
  return indices;
}

/// All indices as one piece in which each is repeated; nothing for others.
static std::optional<IndexPiece> getRepeated(ArrayRef<int64_t> indices) {
  int64_t times = llvm::find_if(indices, [&](int64_t index) { return index != indices.front(); }) - indices.begin();
  if (times < 2 || times == int64_t(indices.size()))
    return std::nullopt;
  IndexPiece piece{int64_t(indices.size()), indices[times] - indices.front(), indices.front(), times};
  for (auto [position, index] : llvm::enumerate(indices))
    if (index != int64_t(position) / times * piece.step + piece.offset)
      return std::nullopt;
  return piece;
}

std::optional<SmallVector<IndexPiece>> getIndexPieces(graph::GatherOp op) {
  std::optional<SmallVector<int64_t>> indices = getConstantIndices(op);
  if (!indices)
    return std::nullopt;
  if (std::optional<IndexPiece> repeated = getRepeated(*indices))
    return SmallVector<IndexPiece>{*repeated};
  SmallVector<IndexPiece> pieces;
  for (int64_t begin = 0, count = indices->size(); begin < count; begin = pieces.back().end) {
    if (pieces.size() == mostPieces)
      return std::nullopt;
    int64_t step = begin + 1 < count ? (*indices)[begin + 1] - (*indices)[begin] : 0, end = begin + 1;
    while (end < count && (*indices)[end] - (*indices)[end - 1] == step)
      ++end;
    pieces.push_back({end, step, (*indices)[begin] - begin * step, 1});
  }
  return pieces;
}

static Value emitPiece(ComputeBody &body, unsigned loop, const IndexPiece &piece) {
  ImplicitLocOpBuilder &b = body.builder;
  Value offset = arith::ConstantIndexOp::create(b, piece.offset);
  if (piece.step == 0)
    return offset;
  Value position = body.loop(loop);
  if (piece.step == -1)
    return arith::SubIOp::create(b, offset, position);
  if (piece.step != 1)
    position = arith::MulIOp::create(b, position, arith::ConstantIndexOp::create(b, piece.step));
  return arith::AddIOp::create(b, position, offset);
}

Value emitIndex(ComputeBody &body, unsigned loop, ArrayRef<IndexPiece> pieces) {
  Value index = emitPiece(body, loop, pieces.back());
  for (const IndexPiece &piece : llvm::reverse(pieces.drop_back())) {
    Value end = arith::ConstantIndexOp::create(body.builder, piece.end);
    Value before = arith::CmpIOp::create(body.builder, arith::CmpIPredicate::slt, body.loop(loop), end);
    index = arith::SelectOp::create(body.builder, before, emitPiece(body, loop, piece), index);
  }
  return index;
}

} // namespace freestone::tile
