#include "compiler/codegen/cpu/TreeWalker.h"

#include "compiler/dialect/sym/Bounds.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;

void AxisRanges::enter(unsigned axis, const AxisRange &range) {
  outer[axis].push_back(ranges[axis]);
  ranges[axis] = range;
}

void AxisRanges::leave(unsigned axis) { ranges[axis] = outer[axis].pop_back_val(); }

void TreeWalker::walkTiles(ArrayAttr root, ArrayRef<sym::Expr> points, Positions &outer, ArrayRef<DealtAxis> blocks) {
  emission.forTiles([&](Value number) {
    setTile(number, points, outer, blocks);
    beginTile();
    walkTile(root);
  });
}

void TreeWalker::setTile(Value number, ArrayRef<sym::Expr> points, Positions &outer, ArrayRef<DealtAxis> blocks) {
  tile = number;
  SmallVector<sym::Expr> grid(points);
  for (const DealtAxis &axis : blocks)
    grid.push_back(axis.blocks);
  digits = emission.unravel(tile, grid);
  for (auto [position, digit] : llvm::zip(outer, digits))
    position.value = digit;
  dealt.assign(points.empty() ? 0 : 1, AxisRange());
  for (auto [axis, digit] : llvm::zip_equal(blocks, ArrayRef(digits).take_back(blocks.size()))) {
    Value size = emission.getSize(axis.size);
    dealt.push_back(getRange({emission.getConstant(0), emission.getSize(axis.extent)}, digit, size));
  }
}

void TreeWalker::walk(ArrayRef<Attribute> nodes, unsigned depth) {
  auto emitNode = [&](Attribute node) {
    TypeSwitch<Attribute>(node)
        .Case([&](tile::BlocksAttr blocks) { emitBlocks(blocks); })
        .Case([&](tile::PackedAttr packed) { emitPacked(packed, depth); })
        .Case([&](tile::VectorsAttr vectors) { emitVectors(vectors); })
        .Case([&](tile::MultiplyAttr multiply) { emitMultiply(multiply); })
        .Case([&](tile::EvaluateAttr evaluate) { emitEvaluate(evaluate); })
        .Case([&](tile::OpaqueTilingAttr) { emitWrittenOut(); });
  };
  bool isInnermost = depth == dealt.size();
  for (Attribute node : nodes) {
    auto blocks = dyn_cast<tile::BlocksAttr>(node);
    if (blocks && blocks.getDealt()) {
      axes.enter(blocks.getAxis(), dealt[depth]);
      walk(blocks.getBody().getValue(), depth + 1);
      axes.leave(blocks.getAxis());
    } else if (isInnermost || isa<tile::PackedAttr>(node)) {
      emitNode(node);
    } else {
      emitIf(isNewTile(depth), [&] { emitNode(node); });
    }
  }
}

Attribute TreeWalker::getLeaf(Attribute node) {
  while (auto blocks = dyn_cast<tile::BlocksAttr>(node))
    node = blocks.getBody()[0];
  return node;
}

TreeWalker::Division TreeWalker::divide(tile::BlocksAttr blocks) {
  Value whole = axes.ranges[blocks.getAxis()].count;
  Value count =
      emission.maximum(emission.getConstant(1), emission.ceilDivide(whole, emission.getSize(blocks.getStep())));
  Value size = emission.ceilDivide(whole, count);
  if (int64_t unit = blocks.getUnit(); unit > 1)
    size = emission.multiply(emission.ceilDivide(size, emission.getConstant(unit)), emission.getConstant(unit));
  return {count, size};
}

void TreeWalker::forBlocks(tile::BlocksAttr blocks, llvm::function_ref<void()> body) {
  AxisRange whole = axes.ranges[blocks.getAxis()];
  Division division = divide(blocks);
  forRange(emission.getConstant(0), division.count, emission.getConstant(1), [&](Value number) {
    AxisRange block = getRange(whole, number, division.size);
    block.block = number;
    block.isFirst = compare(arith::CmpIPredicate::eq, number, emission.getConstant(0));
    axes.enter(blocks.getAxis(), block);
    body();
    axes.leave(blocks.getAxis());
  });
}

void TreeWalker::forWholeBlocks(tile::BlocksAttr blocks, llvm::function_ref<void()> body) {
  AxisRange whole = axes.ranges[blocks.getAxis()];
  Value step = emission.getSize(blocks.getStep());
  forRange(emission.getConstant(0), whole.count, step, [&](Value distance) {
    Value count = emission.minimum(step, emission.subtract(whole.count, distance));
    axes.enter(blocks.getAxis(), {emission.add(whole.first, distance), count});
    body();
    axes.leave(blocks.getAxis());
  });
}

Value TreeWalker::getWholeEnd(Value from, Value to, unsigned elements) {
  Value size = emission.getConstant(elements);
  return emission.add(from, emission.multiply(emission.divide(emission.subtract(to, from), size), size));
}

bool TreeWalker::areMultiplesOf(ArrayRef<sym::Expr> sizes, int64_t positions) {
  sym::Bounds bounds(sym::Interval::size());
  auto isMultiple = [&](sym::Expr size) { return bounds.isMultipleOf(size, positions); };
  return positions == 1 || (!sizes.empty() && llvm::all_of(sizes, isMultiple));
}

/// That of constants.
static std::optional<int64_t> getDistance(Value from, Value to) {
  std::optional<int64_t> first = getConstantIntValue(from), last = getConstantIntValue(to);
  return first && last ? std::optional(*last - *first) : std::nullopt;
}

void TreeWalker::forVectors(Value from, Value to, unsigned lanes, ArrayRef<unsigned> counts, VectorBody body,
                            ArrayRef<sym::Expr> sizes, bool overlap) {
  sym::Bounds bounds(sym::Interval::size());
  overlap &= !areMultiplesOf(sizes, lanes);
  Value begin = from;
  for (unsigned count : counts) {
    if (overlap && count == 1)
      continue;
    unsigned elements = count * lanes;
    if (llvm::any_of(sizes, [&](sym::Expr size) { return bounds.interval(size).hi < elements; }))
      continue;
    bool areWhole = areMultiplesOf(sizes, elements);
    Value end = areWhole ? to : getWholeEnd(from, to, elements);
    auto emitWhole = [&](Value first) { body(first, count, {}); };
    // A turn that is the only one needs no loop.
    if (getDistance(from, end) == elements)
      emitWhole(from);
    else
      forRange(from, end, emission.getConstant(elements), emitWhole);
    if (areWhole)
      return;
    from = end;
  }
  auto emitLast = [&](Value first) {
    body(first, 1, areMultiplesOf(sizes, lanes) ? Value() : emission.getTailMask(lanes, emission.subtract(to, first)));
  };
  if (overlap) {
    Value vector = emission.getConstant(lanes), last = emission.subtract(to, vector);
    auto emitWhole = [&](Value first) { body(emission.minimum(first, last), 1, {}); };
    emitIf(
        isBehind(begin, last), [&] { emitIf(isBehind(to, begin), [&] { emitLast(begin); }); },
        [&] { forRange(from, to, vector, emitWhole); });
    return;
  }
  if (counts.back() > 1)
    forRange(from, to, emission.getConstant(lanes), emitLast);
  else
    emitIf(isBehind(to, from), [&] { emitLast(from); });
}

AxisRange TreeWalker::getRange(const AxisRange &whole, Value number, Value size) {
  Value distance = emission.multiply(number, size), left = emission.subtract(whole.count, distance);
  Value count = emission.maximum(emission.getConstant(0), emission.minimum(size, left));
  return {emission.add(whole.first, distance), count};
}

Value TreeWalker::isNewTile(unsigned depth) {
  Value isFirst = arith::ConstantIntOp::create(builder, location, 1, 1);
  for (Value digit : ArrayRef(digits).take_back(dealt.size() - depth))
    isFirst = conjoin(isFirst, compare(arith::CmpIPredicate::eq, digit, emission.getConstant(0)));
  return arith::OrIOp::create(builder, location, isFirst, compare(arith::CmpIPredicate::eq, tile, emission.begin));
}

void TreeWalker::forRange(Value from, Value to, Value step, llvm::function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(builder, location, from, to, step, carried);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    carried = llvm::to_vector_of<Value>(loop.getRegionIterArgs());
    body(loop.getInductionVar());
    // Without carried values the loop has its terminator already.
    if (!carried.empty())
      scf::YieldOp::create(builder, location, carried);
  }
  carried = llvm::to_vector_of<Value>(loop.getResults());
}

void TreeWalker::emitIf(Value condition, llvm::function_ref<void()> body, llvm::function_ref<void()> otherwise) {
  SmallVector<Value> start = carried;
  auto branch = scf::IfOp::create(builder, location, ValueRange(start).getTypes(), condition,
                                  /*withElseRegion=*/otherwise || !start.empty());
  auto emitBranch = [&](Block *block, llvm::function_ref<void()> emitBody) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(block);
    carried = start;
    if (emitBody)
      emitBody();
    if (!carried.empty())
      scf::YieldOp::create(builder, location, carried);
  };
  emitBranch(branch.thenBlock(), body);
  if (Block *block = branch.elseBlock())
    emitBranch(block, otherwise);
  carried = llvm::to_vector_of<Value>(branch.getResults());
}

SmallVector<Value> TreeWalker::carry(SmallVector<Value> start, llvm::function_ref<void()> body) {
  std::swap(carried, start);
  body();
  std::swap(carried, start);
  return start;
}
