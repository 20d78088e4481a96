#include "compiler/codegen/cpu/EmitRows.h"

#include "compiler/codegen/cpu/PackRowColumns.h"
#include "compiler/codegen/cpu/RowEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;
using tile::getRowLength;
using tile::RowPasses;
using tile::RowRole;

void RowEmitter::emit() {
  for (Value result : passes.kept) {
    auto type = cast<graph::TensorType>(result.getType());
    Expr length = getRowLength(result.getDefiningOp<tile::ComputeOp>(), grid.rowExtents.size());
    scratch[result] = emission.takeScratch(tile::getStorageType(type.getElementType()), grid.getKeptElements(length));
  }
  if (across)
    scratch[across->argument] = emission.takeScratch(builder.getF32Type(), across->elements);
  if (blocks && blocks->getCopiedInput())
    copy = emission.takeScratch(builder.getF32Type(), blocks->getCopied());
  if (squares)
    return emitSquares();
  emitRowTiles();
}

void RowEmitter::emitRowTiles() {
  ArrayAttr tree = tile::getFormTree(emission.program);
  tile::ComputeOp first = emission.program.getComputes().front();
  SmallVector<DealtAxis> dealtAxes;
  if (!grid.rowExtents.empty())
    dealtAxes.push_back({Expr::ceilDiv(grid.rowCount, grid.rows), grid.rows, grid.rowCount});
  if (grid.columns)
    dealtAxes.push_back({grid.columnBlocks, *grid.columns, first.getExtents()[grid.rowExtents.size()]});
  Positions outer;
  rows.assign(1, Row());
  walkTiles(tree, {}, outer, dealtAxes);
}

/// Rows, and blocks of results, are counted on digit by digit. Squares are whole, but for the last ones.
void RowEmitter::emitBlocks(tile::BlocksAttr node) {
  using Axis = tile::RowAxis;
  auto walkBody = [&] { walk(node.getBody().getValue()); };
  if (squares)
    forWholeBlocks(node, walkBody);
  else if (node.getAxis() == Axis::rows)
    blocks ? forResultBlocks(walkBody) : forRows(walkBody);
  else if (node.getAxis() < Axis::loops)
    forResults(node, walkBody);
  else if (auto vectors = dyn_cast<tile::VectorsAttr>(getLeaf(node)))
    forPass(vectors, [&] { forElements(node); });
  else
    emitInnerReductions(node);
}

/// The first row of the tile, and the one behind its last: loops over rows count up to it rather than to a number of
/// rows.
std::pair<Value, Value> RowEmitter::getRowsOfTile() {
  Value first = axes.ranges[tile::RowAxis::rows].first;
  return {first, emission.minimum(emission.add(first, emission.getSize(grid.rows)), emission.getSize(grid.rowCount))};
}

/// `body` for each row of the tile, or for several together.
void RowEmitter::forRows(llvm::function_ref<void()> body) {
  auto [first, end] = getRowsOfTile();
  if (grid.together > 1)
    return forRowsTogether(first, end, body);
  emission.forPoints(first, end, grid.rowExtents, [&](Value, ArrayRef<Value> indices) {
    rows.assign(1, Row{llvm::to_vector(indices)});
    body();
  });
}

/// As many rows at a time as go together, where they are short, and single ones behind them up to the end of the tile
/// or of the last row loop.
void RowEmitter::forRowsTogether(Value first, Value end, llvm::function_ref<void()> body) {
  Expr longest = Expr::constant(builder.getContext(), 0);
  for (const RowPasses::Entry &entry : passes.entries)
    if (entry.role != RowRole::scalar)
      longest = Expr::max(longest, getRowLength(entry.compute, grid.rowExtents.size()));
  Value areShort = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::sle, emission.getSize(longest),
                                         emission.getConstant(grid.shortRow));
  Value zero = emission.getConstant(0), count = emission.getConstant(grid.together);
  emission.forPointRuns(first, end, grid.rowExtents, [&](Value number, ArrayRef<Value> indices) -> Value {
    Value left = emission.minimum(emission.subtract(end, number),
                                  emission.subtract(emission.getSize(grid.rowExtents.back()), indices.back()));
    Value whole = emission.multiply(emission.divide(left, count), count);
    whole = arith::SelectOp::create(builder, location, areShort, whole, zero);
    auto emitSome = [&](Value from, Value to, int64_t some) {
      emission.forRange(from, to, some, [&](Value behind) {
        rows.clear();
        for (int64_t row = 0; row < some; ++row) {
          rows.push_back(Row{llvm::to_vector(indices)});
          Value &last = rows.back().indices.back();
          last = emission.add(emission.add(last, behind), emission.getConstant(row));
        }
        body();
      });
    };
    emitSome(zero, whole, grid.together);
    emitSome(whole, left, 1);
    return left;
  });
}

/// What is copied for the current rows, or for the matrix of a block of results.
void RowEmitter::emitPacked(tile::PackedAttr, unsigned) { across ? placeRow() : placeMatrix(); }

/// Finds the copy of the current row, and copies it with those of the tile behind it if it is the first of as many as a
/// vector has lanes. Rows of other tiles are not read: their workers may be writing them.
void RowEmitter::placeRow() {
  auto [first, end] = getRowsOfTile();
  tile::ComputeOp compute = across->reader;
  ArrayRef<Value> indices = rows.front().indices;
  unsigned lanes = grid.passes.front().lanes, rowLoops = indices.size();
  Value row = indices.back(), number = emission.getConstant(0), vector = emission.getConstant(lanes);
  for (auto [index, extent] : llvm::zip_equal(indices, grid.rowExtents))
    number = emission.add(emission.multiply(number, emission.getSize(extent)), index);
  Value begin = emission.maximum(emission.getConstant(0), emission.subtract(row, emission.subtract(number, first)));
  Value distance = emission.subtract(row, begin);
  Value slot = emission.subtract(distance, emission.multiply(emission.divide(distance, vector), vector));
  placeOfRow = emission.multiply(slot, emission.getSize(across->pitch));
  Value isFirst = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, slot, emission.getConstant(0));
  emitIf(
      isFirst, [&] {
        LanePoints points = getPoints(compute, {});
        Value left = emission.minimum(emission.subtract(emission.getSize(grid.rowExtents.back()), row),
                                      emission.subtract(end, number));
        packColumns(emission, compute, across->input, points, rowLoops - 1, row, emission.add(row, left),
                    emission.getSize(across->length), emission.getConstant(0), emission.getSize(across->pitch),
                    scratch[across->argument], lanes);
      });
}

/// No elements of a row, but the row as a whole; of rows together, a lane for each.
RowElements RowEmitter::getWholeRows(unsigned row) const {
  Elements whole{row};
  if (areTogether()) {
    whole.lanes = rows.size();
    whole.along = grid.rowExtents.size() - 1;
  }
  return whole;
}

/// Keeps a value of whole rows, the current one or all together.
void RowEmitter::setOfRows(Value tensor, Value value, unsigned row) {
  if (!areTogether()) {
    rows[row].computed[tensor] = value;
    return;
  }
  ofRows[tensor] = value;
  for (auto [lane, each] : llvm::enumerate(rows))
    each.computed[tensor] =
        isa<VectorType>(value.getType())
            ? vector::ExtractOp::create(builder, location, value, static_cast<int64_t>(lane)).getResult()
            : value;
}

/// `body` at the current vectors; outside of passes, at each of the current rows as a whole, or at all that are
/// together, whose values `computes` are.
void RowEmitter::atVectors(ArrayRef<tile::ComputeOp> computes, llvm::function_ref<void()> body) {
  if (pass)
    return body();
  for (unsigned row = 0; row < (areTogether() ? 1 : rows.size()); ++row) {
    vectors.assign(1, getWholeRows(row));
    body();
    for (tile::ComputeOp compute : computes)
      for (Value result : compute.getResults())
        setOfRows(result, vectors.front().computed[result], row);
  }
  vectors.clear();
}

/// What a pass computes first: all of its computes have the same elements.
tile::ComputeOp RowEmitter::getFirst(tile::VectorsAttr node) {
  return getComputes(cast<tile::EvaluateAttr>(getLeaf(node.getBody()[0]))).front();
}

/// The elements of a row within the current ones of its loops. Reductions within an element are no elements of the row.
Expr RowEmitter::getLength(tile::ComputeOp compute) {
  unsigned loops = grid.rowExtents.size() + pass->outer.loops.size();
  if (reducesWithin(compute))
    return compute.getExtents()[loops];
  return getRowLength(compute, loops);
}

/// The loops over the elements of the current rows, which carry the accumulators of the pass's reductions, if they are
/// not within others that do.
void RowEmitter::forPass(tile::VectorsAttr node, llvm::function_ref<void()> loops) {
  if (pass)
    return loops();
  pass.emplace();
  pass->outer.number = emission.getConstant(0);
  unsigned accumulators = 0;
  for (Attribute inner : node.getBody())
    for (tile::ComputeOp compute : getComputes(cast<tile::EvaluateAttr>(getLeaf(inner)))) {
      if (passes.find(compute.getResult(0))->role != RowRole::reduction)
        continue;
      unsigned lanes = node.getLanes();
      pass->reductions.push_back(Reduction{LaneReduction(emission, compute, lanes), accumulators});
      accumulators += compute.getNumResults();
    }
  SmallVector<Value> sums = carry(getStart(), loops);

  for (unsigned row = 0; row < (areTogether() ? 1 : rows.size()); ++row)
    for (Reduction &reduction : pass->reductions) {
      tile::ComputeOp compute = reduction.lanes.getCompute();
      auto getSums = [&](size_t ofRow) {
        return ArrayRef(sums).slice(ofRow * accumulators + reduction.first, compute.getNumResults());
      };
      Elements whole = getWholeRows(row);
      SmallVector<Value> results;
      if (areTogether())
        results = reduction.lanes.emitResultsOfRows(
            llvm::map_to_vector(llvm::seq(rows.size()), [&](size_t ofRow) { return llvm::to_vector(getSums(ofRow)); }));
      else
        results = reduction.lanes.emitResults(getPoints(compute, whole), getSums(row), emission.getSize(pass->length));
      for (auto [tensor, value] : llvm::zip_equal(compute.getResults(), results)) {
        setOfRows(tensor, value, row);
        store(compute, tensor, value, whole);
      }
    }
  pass.reset();
}

/// The initial accumulators of a vector of all rows.
SmallVector<Value> RowEmitter::getStart() {
  SmallVector<Value> ofRow, start;
  for (Reduction &reduction : pass->reductions)
    llvm::append_range(ofRow, reduction.lanes.getStart());
  for (size_t row = 0; row < rows.size(); ++row)
    llvm::append_range(start, ofRow);
  return start;
}

/// Combines the accumulators of so many vectors side by side, in order.
SmallVector<Value> RowEmitter::combine(ArrayRef<Value> accumulators, unsigned sideBySide) {
  SmallVector<Value> combined;
  size_t ofVector = accumulators.size() / sideBySide, ofRow = ofVector / rows.size();
  for (size_t row = 0; row < rows.size(); ++row)
    for (Reduction &reduction : pass->reductions) {
      auto getAccumulators = [&](unsigned vector) {
        return accumulators.slice(vector * ofVector + row * ofRow + reduction.first,
                                  tile::ComputeOp(reduction.lanes.getCompute()).getNumResults());
      };
      SmallVector<Value> kept = llvm::to_vector(getAccumulators(0));
      for (unsigned vector = 1; vector < sideBySide; ++vector)
        kept = reduction.lanes.emitCombined(kept, getAccumulators(vector));
      llvm::append_range(combined, kept);
    }
  return combined;
}

/// A loop over elements that is not merged with those within.
void RowEmitter::forElements(tile::BlocksAttr node) {
  tile::ComputeOp first = getFirst(cast<tile::VectorsAttr>(getLeaf(node)));
  unsigned loop = node.getAxis() - tile::RowAxis::loops;
  SmallVector<Expr> extents = first.getExtents();
  forRange(emission.getConstant(0), emission.getSize(extents[loop]), emission.getConstant(1), [&](Value position) {
    Elements outer = pass->outer;
    pass->outer.loops.push_back(position);
    pass->outer.number = emission.multiply(emission.add(outer.number, position), emission.getSize(extents[loop + 1]));
    walk(node.getBody().getValue());
    pass->outer = outer;
  });
}

/// Vectors of the innermost loop, by segments of its columns; values that all of them share are computed before. As
/// many accumulators as the node has for one row hide the latency of additions.
void RowEmitter::emitVectors(tile::VectorsAttr node) {
  forPass(node, [&] {
    pass->length = getLength(getFirst(node));
    ArrayRef<Expr> segments = node.getEnds();
    Run run{node.getBody().getValue(), static_cast<unsigned>(node.getLanes()),
            std::max<unsigned>(1, llvm::divideCeil(node.getTogether(), rows.size()))};
    Value from = emission.getConstant(0), to = emission.getSize(pass->length);
    SmallVector<Expr> sizes = {pass->length};
    if (grid.columns) {
      sizes.push_back(*grid.columns);
      from = axes.ranges[tile::RowAxis::elements].first;
      to = emission.minimum(emission.add(from, emission.getSize(*grid.columns)), to);
    }
    // Vectors of segments begin at any column, where those of a row have the same columns modulo their lanes.
    unsigned lanes = segments.empty() ? run.lanes : 1;
    auto emitAll = [&] { segments.empty() ? emitRun(run, from, to, sizes) : emitSegments(run, segments, from, to); };
    if (!canShareValues(lanes))
      return emitAll();
    // An empty range has no point to compute shared values at.
    emitIf(isBehind(to, from), [&] {
      shareValues(from, lanes);
      emitAll();
    });
  });
}

void RowEmitter::emitSegments(const Run &run, ArrayRef<Expr> segments, Value from, Value to) {
  SmallVector<Expr> ends(segments);
  ends.push_back(pass->length);
  Expr begin = Expr::constant(builder.getContext(), 0);
  for (Expr end : ends) {
    for (const RowPasses::Entry &entry : passes.entries)
      facts[entry.compute] = tile::getColumnFacts(entry.compute, begin, end);
    Value last = emission.minimum(emission.maximum(emission.getSize(end), from), to);
    std::optional<int64_t> count = (end - begin).asConstant();
    bool hasFew = count && *count <= tile::fewColumns;
    emitRun(hasFew ? Run{run.body, 1, 1} : run, from, last);
    from = last;
    begin = end;
  }
}

/// Computes the vectors at a column of each row, several side by side.
void RowEmitter::walkVectors(const Run &run, Value column, unsigned sideBySide, Value mask) {
  for (unsigned vector = 0; vector < sideBySide; ++vector) {
    Value first = emission.add(column, emission.getConstant(vector * run.lanes));
    for (unsigned row = 0; row < rows.size(); ++row) {
      Elements &elements = vectors.emplace_back(
          Elements{row, pass->outer.loops, emission.add(pass->outer.number, first), run.lanes, mask});
      elements.loops.push_back(first);
    }
  }
  walk(run.body);
  vectors.clear();
}

/// Columns of the innermost loop: whole vectors, several side by side if the node says so, then a masked one. Of what
/// follows on fewer columns than several vectors have, vectors without accumulators are half as many each time.
/// Accumulators of vectors side by side are combined in order behind them: a row that is too short has none to combine.
/// Blocks combine them behind the rest: they need not ask whether a row is long enough.
void RowEmitter::emitRun(const Run &run, Value from, Value to, ArrayRef<Expr> sizes) {
  bool reduces = !pass->reductions.empty(), hasRest = true;
  auto walkAt = [&](Value column, unsigned count, Value mask) { walkVectors(run, column, count, mask); };
  SmallVector<Value> further;
  if (run.sideBySide > 1 && reduces) {
    unsigned elements = run.sideBySide * run.lanes;
    Value end = getWholeEnd(from, to, elements);
    auto emitSideBySide = [&] {
      SmallVector<Value> all = carried, start = getStart();
      for (unsigned vector = 1; vector < run.sideBySide; ++vector)
        llvm::append_range(all, start);
      return carry(all, [&] {
        forRange(from, end, emission.getConstant(elements), [&](Value column) { walkAt(column, run.sideBySide, {}); });
      });
    };
    if (blocks) {
      size_t ofVector = carried.size();
      further = emitSideBySide();
      carried.assign(further.begin(), further.begin() + ofVector);
      further.erase(further.begin(), further.begin() + ofVector);
    } else {
      emitIf(isBehind(end, from), [&] { carried = combine(emitSideBySide(), run.sideBySide); });
    }
    from = end;
    hasRest = !areMultiplesOf(sizes, elements);
  }
  SmallVector<unsigned> counts;
  for (unsigned count = reduces ? 1 : run.sideBySide; count > 0; count /= 2)
    counts.push_back(count);
  if (hasRest)
    forVectors(from, to, run.lanes, counts, walkAt, sizes);
  if (further.empty())
    return;
  llvm::append_range(carried, further);
  carried = combine(carried, run.sideBySide);
}

void codegen::emitRows(tile::ProgramOp program, Emission &emission) {
  if (auto transposition = program.getTiling<tile::TranspositionTilingAttr>())
    return RowEmitter(emission, tile::getMapPasses(program.getComputes()), transposition).emit();
  RowEmitter(emission, tile::RowForm::get(program)).emit();
}
