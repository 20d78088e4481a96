#include "compiler/tile/AppendCarried.h"

#include "compiler/expressions/Expressions.h"
#include "compiler/tile/Aliases.h"
#include "compiler/tile/OpaqueBuilder.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using expressions::GraphBuilder;
using expressions::Tensor;
using sym::Expr;

/// The next value of a carried one, if that is the last value and more behind it, and nothing else is this value.
static graph::ConcatOp getLonger(graph::WhileOp loop, unsigned index) {
  ValueRange yielded = loop.getBody().front().getTerminator()->getOperands();
  Value next = yielded[1 + index];
  auto concat = next.getDefiningOp<graph::ConcatOp>();
  bool isLonger =
      concat && concat->getNumOperands() > 1 && concat.getOperands().front() == loop.getCarriedArgs()[index];
  return isLonger && llvm::count(yielded, next) == 1 ? concat : graph::ConcatOp();
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

int64_t tile::appendCarried(graph::WhileOp loop) {
  int64_t appended = 0;
  Location location = loop.getLoc();
  Block &block = loop.getBody().front();
  for (unsigned index = 0; index < loop.getCarried().size(); ++index) {
    graph::ConcatOp concat = getLonger(loop, index);
    if (!concat)
      continue;
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
    block.getTerminator()->setOperand(1 + index, longer);
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
