#include "compiler/tile/AppendCarried.h"

#include "compiler/expressions/Expressions.h"
#include "compiler/tile/Aliases.h"
#include "compiler/tile/OpaqueBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using expressions::GraphBuilder;
using expressions::Tensor;
using sym::Expr;

namespace {

/// The next value of a carried one: the last value and more behind it, of which `chosen`, if there is one, takes as
/// many slices along another axis.
struct Longer {
  graph::ConcatOp concat;
  graph::GatherOp chosen;
};

} // namespace

/// Whether a gather's slices have the place of its operand's: one for each, of neighbours enough for a vector.
static bool keepsPlace(graph::GatherOp gather, int64_t grownAxis) {
  constexpr int64_t leastNeighbours = 16;
  ArrayRef<Expr> shape = graph::getShape(gather.getResult());
  Expr neighbours = Expr::constant(gather.getContext(), 1);
  for (auto [dim, size] : llvm::enumerate(shape))
    if (int64_t(dim) > int64_t(gather.getAxis()) && int64_t(dim) != grownAxis)
      neighbours = neighbours * size;
  return gather.getBatchDims() == 0 && int64_t(gather.getAxis()) != grownAxis && gather->hasOneUse() &&
         gather.getType() == gather.getOperand().getType() && graph::getShape(gather.getIndices()).size() == 1 &&
         neighbours.asConstant().value_or(0) >= leastNeighbours;
}

/// The next value of a carried one, if it is longer and nothing else is this value.
static std::optional<Longer> getLonger(graph::WhileOp loop, unsigned index) {
  ValueRange yielded = loop.getBody().front().getTerminator()->getOperands();
  BlockArgument old = loop.getCarriedArgs()[index];
  Value next = yielded[1 + index];
  auto chosen = next.getDefiningOp<graph::GatherOp>();
  auto concat = (chosen ? chosen.getOperand() : next).getDefiningOp<graph::ConcatOp>();
  if (!concat || concat->getNumOperands() < 2 || concat.getOperands().front() != old)
    return std::nullopt;
  if (llvm::count(yielded, concat.getResult()) + (chosen ? 1 : 0) != 1)
    return std::nullopt;
  if (chosen && !(keepsPlace(chosen, concat.getAxis()) && old.hasOneUse()))
    return std::nullopt;
  return Longer{concat, chosen};
}

/// Dimensions in the order in which the axis comes first; nothing if those before it have one element.
static SmallVector<int64_t> putFirst(graph::TensorType type, int64_t axis) {
  SmallVector<int64_t> order;
  if (llvm::all_of(type.getShape().take_front(axis), [](Expr size) { return size.asConstant() == 1; }))
    return order;
  order = llvm::to_vector(llvm::seq<int64_t>(type.getRank()));
  order.erase(order.begin() + axis);
  order.insert(order.begin(), axis);
  return order;
}

static SmallVector<int64_t> invert(ArrayRef<int64_t> order) {
  SmallVector<int64_t> inverse(order.size());
  for (auto [place, dim] : llvm::enumerate(order))
    inverse[dim] = place;
  return inverse;
}

static Value permute(OpBuilder &builder, Location location, Value value, ArrayRef<int64_t> order) {
  return order.empty() ? value : graph::TransposeOp::create(builder, location, value, order).getResult();
}

/// Writes `more` behind the elements of `old`, of which it takes the memory.
static Value append(OpBuilder &builder, Location location, Value old, Value more, graph::TensorType type) {
  constexpr int64_t elementsOfTile = 8192;
  Expr begin = cast<graph::TensorType>(old.getType()).getNumElements(),
       count = cast<graph::TensorType>(more.getType()).getNumElements();
  OpaqueBuilder tile(builder, location, Expr::ceilDiv(count, elementsOfTile), {old, more}, type);
  Value first = tile.mul(tile.tile(), tile.constant(elementsOfTile)), behind = tile.size(begin);
  tile.loopInVectors(first, tile.min(tile.add(first, tile.constant(elementsOfTile)), tile.size(count)),
                     [&](Value place) { tile.store(0, tile.add(behind, place), tile.load(1, place)); });
  OpaqueOp update = tile.finish();
  update->setAttr(updatesAttr, builder.getUnitAttr());
  update->setAttr(appendsAttr, builder.getUnitAttr());
  return update->getResult(0);
}

/// Takes the slices `rows` along an axis of `whole`, whose memory it has: what stays where it is, is not touched.
static Value choose(OpBuilder &builder, Location location, Value whole, Value rows, int64_t axis) {
  constexpr int64_t elementsOfTile = 8192;
  auto type = cast<graph::TensorType>(whole.getType());
  auto multiply = [&](ArrayRef<Expr> sizes) {
    Expr product = Expr::constant(builder.getContext(), 1);
    for (Expr size : sizes)
      product = product * size;
    return product;
  };
  ArrayRef<Expr> shape = type.getShape();
  Expr outer = multiply(shape.take_front(axis)), inner = multiply(shape.drop_front(axis + 1)), count = shape[axis];
  int64_t blocksOfTile = std::max<int64_t>(1, elementsOfTile / (count * inner).asConstant().value_or(elementsOfTile));
  auto taken = graph::TensorType::get({count * inner}, type.getElementType());
  OpaqueBuilder tile(builder, location, Expr::ceilDiv(outer, blocksOfTile), {whole, rows}, {type, taken});
  Value zero = tile.constant(0), first = tile.mul(tile.tile(), tile.constant(blocksOfTile));
  Value length = tile.size(inner), lines = tile.size(count);
  auto forEachMoved = [&](llvm::function_ref<void(Value, Value)> move) {
    tile.loop(zero, lines, [&](Value line) {
      DataIndex source = tile.dataIndex(tile.load(1, line), lines);
      tile.onlyIf(source.inside, [&] {
        Value stays = tile.isEqual(source.position, line);
        tile.onlyIf(arith::XOrIOp::create(tile.ir(), stays, arith::ConstantIntOp::create(tile.ir(), 1, 1)),
                    [&] { move(tile.mul(line, length), tile.mul(source.position, length)); });
      });
    });
  };
  Value end = tile.min(tile.add(first, tile.constant(blocksOfTile)), tile.size(outer));
  tile.loop(first, end, [&](Value block) {
    Value begin = tile.mul(block, tile.mul(lines, length));
    forEachMoved([&](Value line, Value source) {
      Value from = tile.add(begin, source);
      tile.loopInVectors(zero, length, [&](Value place) {
        tile.store(1, tile.add(line, place), tile.loadResult(0, tile.add(from, place)));
      });
    });
    forEachMoved([&](Value line, Value source) {
      Value to = tile.add(begin, line);
      tile.loopInVectors(zero, length, [&](Value place) {
        tile.store(0, tile.add(to, place), tile.loadResult(1, tile.add(line, place)));
      });
    });
  });
  OpaqueOp update = tile.finish();
  update->setAttr(updatesAttr, builder.getUnitAttr());
  update->setAttr(appendsAttr, builder.getUnitAttr());
  return update->getResult(0);
}

int64_t tile::appendCarried(graph::WhileOp loop) {
  int64_t appended = 0;
  Location location = loop.getLoc();
  Block &block = loop.getBody().front();
  for (unsigned index = 0; index < loop.getCarried().size(); ++index) {
    std::optional<Longer> next = getLonger(loop, index);
    if (!next)
      continue;
    graph::ConcatOp concat = next->concat;
    auto type = cast<graph::TensorType>(concat.getResult().getType());
    SmallVector<int64_t> order = putFirst(type, concat.getAxis()), inverse = invert(order);
    GraphBuilder outside(location, loop), inside(location, concat);
    SmallVector<Tensor> behind;
    for (Value operand : concat.getOperands().drop_front())
      behind.push_back(Tensor(inside, operand));
    Value more = permute(inside, location, expressions::concat(behind, concat.getAxis()).value(), order);

    loop.getCarriedMutable()[index].set(permute(outside, location, loop.getCarried()[index], order));
    BlockArgument old = loop.getCarriedArgs()[index];
    auto placed = [&](Type given) {
      auto tensor = cast<graph::TensorType>(given);
      return order.empty()
                 ? tensor
                 : tensor.withShape(llvm::map_to_vector(order, [&](int64_t dim) { return tensor.getDim(dim); }));
    };
    Type before = old.getType();
    old.setType(placed(before));
    OpBuilder begin(&block, block.begin());
    Value longer = append(inside, location, old, more, placed(type));
    if (Value read = permute(begin, location, old, inverse); read != old)
      old.replaceUsesWithIf(read, [&](OpOperand &use) {
        return use.getOwner() != read.getDefiningOp() && use.getOwner() != longer.getDefiningOp();
      });
    Value result = permute(inside, location, longer, inverse);
    if (next->chosen) {
      // Behind all that reads what was there.
      OpBuilder end(block.getTerminator());
      int64_t axis = next->chosen.getAxis();
      longer = choose(end, next->chosen.getLoc(), longer, next->chosen.getIndices(),
                      order.empty() ? axis : std::distance(order.begin(), llvm::find(order, axis)));
    }
    block.getTerminator()->setOperand(1 + index, longer);
    if (next->chosen)
      next->chosen.erase();
    concat.getResult().replaceAllUsesWith(result);
    concat.erase();

    Value last = loop.getResult(index);
    last.setType(placed(last.getType()));
    OpBuilder after(loop->getContext());
    after.setInsertionPointAfter(loop);
    if (Value turned = permute(after, location, last, inverse); turned != last)
      last.replaceAllUsesExcept(turned, turned.getDefiningOp());
    ++appended;
  }
  return appended;
}
