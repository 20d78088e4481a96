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
  auto walkBody = [&] { walk(node.getBody().getValue()); };
  if (squares)
    forWholeBlocks(node, walkBody);
  else if (node.getAxis() == tile::RowAxis::rows)
    blocks ? forResultBlocks(walkBody) : forRows(walkBody);
  else
    forResults(node, walkBody);
}

void RowEmitter::emitEvaluate(tile::EvaluateAttr node) {
  if (squares)
    return emitSquare();
  tile::ComputeOp first = emission.program.getComputes()[node.getComputes().front()];
  emitRows(passes.find(first.getResult(0))->pass);
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

/// A pass over the current rows, side by side, and what is computed of whole rows before.
void RowEmitter::emitRows(unsigned pass) {
  emitScalars(pass);
  if (pass < passes.passes)
    emitPass(pass);
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

void RowEmitter::emitScalars(unsigned before) {
  SmallVector<tile::ComputeOp> computes;
  for (const RowPasses::Entry &entry : passes.entries)
    if (entry.role == RowRole::scalar && entry.pass == before)
      computes.push_back(entry.compute);
  for (unsigned row = 0; row < (areTogether() ? 1 : rows.size()); ++row) {
    Elements whole = getWholeRows(row);
    for (ArrayRef<tile::ComputeOp> left = computes; !left.empty();)
      emitValues(takeTogether(left), whole);
    for (tile::ComputeOp compute : computes)
      for (Value result : compute.getResults())
        setOfRows(result, whole.computed[result], row);
  }
}

/// The extents of the loops of a pass over the elements of a row.
static SmallVector<Expr> getPassLoops(const RowPasses &passes, unsigned number, const tile::RowGrid &grid) {
  unsigned rowLoops = grid.rowExtents.size();
  if (grid.passes[number].runLoops > 1)
    return *tile::getPassExtents(passes, number, rowLoops);
  for (const RowPasses::Entry &entry : passes.entries) {
    tile::ComputeOp compute = entry.compute;
    if (entry.role == RowRole::scalar || entry.pass != number)
      continue;
    // Reductions within an element are no elements of the row.
    if (entry.role == RowRole::elements && compute.getNumReductions())
      return {compute.getExtents()[rowLoops]};
    return {getRowLength(compute, rowLoops)};
  }
  llvm_unreachable("a pass has a compute");
}

void RowEmitter::emitPass(unsigned number) {
  const tile::RowGrid::Pass &numbers = grid.passes[number];
  // As many sums as the tiling keeps for one row hide the latency of additions.
  Pass pass{number,
            {},
            getPassLoops(passes, number, grid),
            static_cast<unsigned>(numbers.lanes),
            std::max<unsigned>(1, llvm::divideCeil(numbers.vectors, rows.size()))};
  unsigned accumulators = 0;
  for (const RowPasses::Entry &entry : passes.entries) {
    if (entry.role != RowRole::reduction || entry.pass != number)
      continue;
    Reduction &reduction =
        pass.reductions.emplace_back(Reduction{LaneReduction(emission, entry.compute, pass.lanes), accumulators});
    accumulators += tile::ComputeOp(reduction.lanes.getCompute()).getNumResults();
  }
  SmallVector<Value> sums = emitLoops(pass, {0, {}, emission.getConstant(0)}, getStart(pass));

  for (unsigned row = 0; row < (areTogether() ? 1 : rows.size()); ++row)
    for (Reduction &reduction : pass.reductions) {
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
        results =
            reduction.lanes.emitResults(getPoints(compute, whole), getSums(row), emission.getSize(pass.extents.back()));
      for (auto [tensor, value] : llvm::zip_equal(compute.getResults(), results)) {
        setOfRows(tensor, value, row);
        store(compute, tensor, value, whole);
      }
    }
}

/// The initial accumulators of a vector of all rows.
SmallVector<Value> RowEmitter::getStart(Pass &pass) {
  SmallVector<Value> ofRow, start;
  for (Reduction &reduction : pass.reductions)
    llvm::append_range(ofRow, reduction.lanes.getStart());
  for (size_t row = 0; row < rows.size(); ++row)
    llvm::append_range(start, ofRow);
  return start;
}

/// Combines the accumulators of several vectors side by side, in order.
SmallVector<Value> RowEmitter::combine(Pass &pass, ValueRange accumulators) {
  SmallVector<Value> all = llvm::to_vector_of<Value>(accumulators), combined;
  size_t ofVector = all.size() / pass.sideBySide, ofRow = ofVector / rows.size();
  for (size_t row = 0; row < rows.size(); ++row)
    for (Reduction &reduction : pass.reductions) {
      auto getAccumulators = [&](unsigned vector) {
        return ArrayRef(all).slice(vector * ofVector + row * ofRow + reduction.first,
                                   tile::ComputeOp(reduction.lanes.getCompute()).getNumResults());
      };
      SmallVector<Value> kept = llvm::to_vector(getAccumulators(0));
      for (unsigned vector = 1; vector < pass.sideBySide; ++vector)
        kept = reduction.lanes.emitCombined(kept, getAccumulators(vector));
      llvm::append_range(combined, kept);
    }
  return combined;
}

/// The remaining loops of a pass; returns the final accumulators.
SmallVector<Value> RowEmitter::emitLoops(Pass &pass, Elements outer, ValueRange accumulators) {
  unsigned depth = outer.loops.size();
  if (depth + 1 == pass.extents.size())
    return emitSegments(pass, outer, accumulators);
  Value extent = emission.getSize(pass.extents[depth]);
  auto loop =
      scf::ForOp::create(builder, location, emission.getConstant(0), extent, emission.getConstant(1), accumulators);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  outer.loops.push_back(loop.getInductionVar());
  outer.number =
      emission.multiply(emission.add(outer.number, loop.getInductionVar()), emission.getSize(pass.extents[depth + 1]));
  SmallVector<Value> next = emitLoops(pass, outer, loop.getRegionIterArgs());
  // Without accumulators the loop already has its terminator.
  if (!next.empty())
    scf::YieldOp::create(builder, location, next);
  return llvm::to_vector_of<Value>(loop.getResults());
}

/// The innermost loop, by segments of its columns; values that all of them share are computed before.
SmallVector<Value> RowEmitter::emitSegments(Pass &pass, const Elements &outer, ValueRange accumulators) {
  Value from = emission.getConstant(0), to = emission.getSize(pass.extents.back());
  if (grid.columns) {
    from = axes.ranges[tile::RowAxis::elements].first;
    to = emission.minimum(emission.add(from, emission.getSize(*grid.columns)), to);
  }
  // Vectors of segments begin at any column, where those of a row have the same columns modulo their lanes.
  unsigned lanes = grid.ends.empty() ? pass.lanes : 1;
  auto emitAll = [&] {
    if (grid.ends.empty())
      return emitRun(pass, outer, from, to, accumulators);
    SmallVector<Expr> ends(grid.ends);
    ends.push_back(pass.extents.back());
    Expr begin = Expr::constant(builder.getContext(), 0);
    for (Expr end : ends) {
      for (const RowPasses::Entry &entry : passes.entries)
        facts[entry.compute] = tile::getColumnFacts(entry.compute, begin, end);
      Value last = emission.minimum(emission.maximum(emission.getSize(end), from), to);
      std::optional<int64_t> count = (end - begin).asConstant();
      Pass segment{pass.number, {}, pass.extents, pass.lanes, pass.sideBySide};
      if (count && *count <= tile::fewColumns)
        segment.lanes = segment.sideBySide = 1;
      emitRun(segment, outer, from, last, {});
      from = last;
      begin = end;
    }
    return SmallVector<Value>();
  };
  if (!canShareValues(lanes))
    return emitAll();
  // An empty range has no point to compute shared values at.
  return updateIf(isBehind(to, from), accumulators, [&] {
    shareValues(outer, from, lanes);
    return emitAll();
  });
}

/// The elements from a column on, of each row.
void RowEmitter::addElements(const Pass &pass, const Elements &outer, Value column, Value mask,
                             SmallVectorImpl<Elements> &vectors) {
  for (unsigned row = 0; row < rows.size(); ++row) {
    Elements &elements =
        vectors.emplace_back(Elements{row, outer.loops, emission.add(outer.number, column), pass.lanes, mask});
    elements.loops.push_back(column);
  }
}

Value RowEmitter::isBehind(Value column, Value other) {
  return arith::CmpIOp::create(builder, location, arith::CmpIPredicate::sgt, column, other);
}

/// Whole vectors of the innermost loop, `count` in each turn with accumulators of their own, from the column `from` up
/// to `end`; returns the accumulators of all of them.
SmallVector<Value> RowEmitter::emitVectors(Pass &pass, const Elements &outer, Value from, Value end, unsigned count,
                                           ValueRange accumulators) {
  Value width = emission.getConstant(count * pass.lanes);
  auto loop = scf::ForOp::create(builder, location, from, end, width, accumulators);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Elements> vectors;
  for (unsigned vector = 0; vector < count; ++vector) {
    Value column = emission.add(loop.getInductionVar(), emission.getConstant(vector * pass.lanes));
    addElements(pass, outer, column, {}, vectors);
  }
  SmallVector<Value> next = emitElements(pass, vectors, loop.getRegionIterArgs());
  // Without accumulators the loop has its terminator already.
  if (!next.empty())
    scf::YieldOp::create(builder, location, next);
  return llvm::to_vector_of<Value>(loop.getResults());
}

/// The accumulators of a vector, and those that the vectors beside it begin with.
SmallVector<Value> RowEmitter::withFurther(Pass &pass, ValueRange accumulators) {
  SmallVector<Value> all = llvm::to_vector_of<Value>(accumulators), start = getStart(pass);
  for (unsigned vector = 1; vector < pass.sideBySide; ++vector)
    llvm::append_range(all, start);
  return all;
}

/// Vectors side by side, from the column `from` up to `end`. Their accumulators are combined in order behind them: a
/// row that is too short for them has none to combine.
SmallVector<Value> RowEmitter::emitSideBySide(Pass &pass, const Elements &outer, Value from, Value end,
                                              ValueRange accumulators) {
  return updateIf(isBehind(end, from), accumulators, [&] {
    return combine(pass, emitVectors(pass, outer, from, end, pass.sideBySide, withFurther(pass, accumulators)));
  });
}

/// Updates accumulators under a condition.
SmallVector<Value> RowEmitter::updateIf(Value condition, ValueRange accumulators,
                                        llvm::function_ref<SmallVector<Value>()> update) {
  auto branch = scf::IfOp::create(builder, location, accumulators.getTypes(), condition,
                                  /*withElseRegion=*/!accumulators.empty());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Value> next = update();
  if (!next.empty()) {
    scf::YieldOp::create(builder, location, next);
    builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(builder, location, accumulators);
  }
  return llvm::to_vector_of<Value>(branch.getResults());
}

/// Columns of the innermost loop: whole vectors, several side by side if the tiling says so, then a masked one. Of what
/// follows on fewer columns than several vectors have, vectors without accumulators are half as many each time. Blocks
/// combine what stands side by side behind the rest: they need not ask whether a row is long enough for it.
SmallVector<Value> RowEmitter::emitRun(Pass &pass, const Elements &outer, Value from, Value to,
                                       ValueRange accumulators) {
  SmallVector<Value> behind = llvm::to_vector_of<Value>(accumulators);
  auto getEnd = [&](unsigned vectors) {
    Value width = emission.getConstant(vectors * pass.lanes);
    return emission.add(from, emission.multiply(emission.divide(emission.subtract(to, from), width), width));
  };
  SmallVector<Value> further;
  if (pass.sideBySide > 1 && !pass.reductions.empty()) {
    Value end = getEnd(pass.sideBySide);
    if (blocks) {
      size_t ofVector = behind.size();
      behind = emitVectors(pass, outer, from, end, pass.sideBySide, withFurther(pass, behind));
      further.append(behind.begin() + ofVector, behind.end());
      behind.truncate(ofVector);
    } else {
      behind = emitSideBySide(pass, outer, from, end, behind);
    }
    from = end;
  }
  auto finish = [&](SmallVector<Value> sums) {
    if (further.empty())
      return sums;
    llvm::append_range(sums, further);
    return combine(pass, sums);
  };
  for (unsigned vectors = pass.reductions.empty() ? pass.sideBySide : 1; vectors > 0; vectors /= 2) {
    Value end = pass.lanes == 1 && vectors == 1 ? to : getEnd(vectors);
    behind = emitVectors(pass, outer, from, end, vectors, behind);
    from = end;
  }
  if (pass.lanes == 1)
    return finish(behind);
  return finish(updateIf(isBehind(to, from), behind, [&] {
    SmallVector<Elements> last;
    addElements(pass, outer, from, emission.getTailMask(pass.lanes, emission.subtract(to, from)), last);
    return emitElements(pass, last, behind);
  }));
}

void codegen::emitRows(tile::ProgramOp program, Emission &emission) {
  if (auto transposition = program.getTiling<tile::TranspositionTilingAttr>())
    return RowEmitter(emission, tile::getMapPasses(program.getComputes()), transposition).emit();
  RowEmitter(emission, tile::RowForm::get(program)).emit();
}
