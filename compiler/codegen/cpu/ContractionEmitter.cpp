#include "compiler/codegen/cpu/ContractionEmitter.h"

#include "compiler/plan/Variants.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;

using tile::ContractionAxis;

ContractionEmitter::ContractionEmitter(Emission &emission, tile::ContractionForm contraction,
                                       tile::ContractionTiles geometry, int64_t lanes)
    : TreeWalker(emission, ranges), form(std::move(contraction)), tiles(std::move(geometry)),
      width(tiles.kernel.getWidth()), points(emission, form, lanes, tiles.wordSteps),
      ranges(SmallVector<AxisRange>(ContractionAxis::steps + 1)) {}

void ContractionEmitter::emit(ArrayAttr tree) {
  prepare();
  rowTotal = emission.getSize(form.getExtent(form.m));
  columnTotal = emission.getSize(form.getExtent(form.n));
  depthTotal = emission.getSize(form.getDepth(tiles.wordSteps));
  columnTiles = emission.getSize(tiles.columnTiles);
  areRowsFew = compare(arith::CmpIPredicate::sle, rowTotal, emission.getConstant(tiles.streamedRows));
  if (tiles.stepsOfRow > 0) {
    Value least = emission.multiply(rowTotal, emission.getConstant(tiles.stepsOfRow));
    areRowsFew = conjoin(areRowsFew, compare(arith::CmpIPredicate::sle, least, depthTotal));
  }
  depthBlocks = getDepthBlocks();
  Value rowBlocks = emission.getSize(tiles.rowBlocks);
  rowStep = getStep(rowTotal, rowBlocks, tiles.rowUnit);
  depthStep = getStep(depthTotal, depthBlocks, tiles.depthUnit);
  keepsRows = compare(arith::CmpIPredicate::sle, emission.multiply(rowStep, emission.multiply(depthBlocks, depthStep)),
                      emission.getSize(tiles.keptRows));
  groupPanels(rowBlocks);
  if (tiles.stripDepth > 0) {
    Value no = arith::ConstantIntOp::create(builder, location, 0, 1);
    goesByStrips = conjoin(compare(arith::CmpIPredicate::sle, depthTotal, emission.getConstant(tiles.stripDepth)),
                           compare(arith::CmpIPredicate::eq, depthBlocks, emission.getConstant(1)));
    goesByStrips = select(areRowsFew, no, goesByStrips);
  }
  axes.ranges[ContractionAxis::steps] = {emission.getConstant(0), depthTotal};
  begin();
  emission.forTileRuns([&](Value first) {
    tile = first;
    return emitRun(tree);
  });
  end();
}

/// Panels of B stay packed for all row blocks, group by group, unless groups are so many that rows of A would be packed
/// more often than columns are saved.
void ContractionEmitter::groupPanels(Value rowBlocks) {
  Value one = emission.getConstant(1), steps = emission.multiply(depthBlocks, depthStep);
  Value ofTile = emission.maximum(one, emission.multiply(steps, emission.getConstant(tiles.getTileWidth())));
  Value most = emission.divide(emission.getSize(tiles.keptColumns), ofTile);
  Value groups = emission.maximum(one, emission.ceilDivide(columnTiles, emission.maximum(one, most)));
  Value isUsedAgain = compare(arith::CmpIPredicate::sgt, rowBlocks, one);
  keepsColumns = conjoin(conjoin(isUsedAgain, compare(arith::CmpIPredicate::sge, most, one)),
                         compare(arith::CmpIPredicate::sle, groups, tiles.mayGroup ? rowBlocks : one));
  columnTilesOfGroup =
      tiles.mayGroup ? select(keepsColumns, emission.ceilDivide(columnTiles, groups), columnTiles) : columnTiles;
  tilesOfGroup = emission.multiply(rowBlocks, columnTilesOfGroup);
}

/// The size, a multiple of `unit`, of that many equal blocks.
Value ContractionEmitter::getStep(Value total, Value blocks, int64_t unit) {
  Value one = emission.getConstant(1), step = emission.getConstant(unit);
  return emission.multiply(emission.ceilDivide(emission.ceilDivide(total, emission.maximum(blocks, one)), step), step);
}

/// Computes the run that begins with a tile, and returns the number of its tiles.
Value ContractionEmitter::emitRun(ArrayAttr tree) {
  SmallVector<Expr> grid = form.getExtents(form.outer);
  grid.push_back(tiles.rowBlocks * tiles.columnTiles);
  digits = emission.unravel(tile, grid);
  for (auto [position, digit] : llvm::zip(points.outer, digits))
    position.value = digit;
  Value inMatrix = digits.pop_back_val(), group = emission.divide(inMatrix, tilesOfGroup);
  Value inGroup = emission.subtract(inMatrix, emission.multiply(group, tilesOfGroup));
  firstOfGroup = emission.multiply(group, columnTilesOfGroup);
  tilesHere = emission.minimum(columnTilesOfGroup, emission.subtract(columnTiles, firstOfGroup));
  rowBlock = emission.divide(inGroup, tilesHere);
  Value inRow = emission.subtract(inGroup, emission.multiply(rowBlock, tilesHere));
  Value first = emission.add(firstOfGroup, inRow);
  Value most = emission.minimum(getMostTiles(), emission.subtract(emission.end, tile));
  Value count = emission.minimum(emission.subtract(tilesHere, inRow), most);

  llvm::append_values(digits, rowBlock, inRow);

  rows = getRange({emission.getConstant(0), rowTotal}, rowBlock, rowStep);
  Value tileWidth = emission.getConstant(tiles.getTileWidth());
  firstPlace = emission.multiply(first, tileWidth);
  lastPlace = emission.minimum(columnTotal, emission.multiply(emission.add(first, count), tileWidth));

  dealt = {rows, {firstPlace, emission.subtract(lastPlace, firstPlace)}};
  if (!form.outer.empty())
    dealt.insert(dealt.begin(), AxisRange());

  // Packed rows of the previous run are valid only if this worker computed it.
  rowsAreNew = select(keepsRows, isNewTile(dealt.size() - 1), arith::ConstantIntOp::create(builder, location, 1, 1));
  endOfNew = getEndOfNew();
  beginRun();
  walkTile(tree);
  return count;
}

/// Where columns stay packed, those are not new whose tile in the row block before is this worker's.
Value ContractionEmitter::getEndOfNew() {
  Value others = emission.subtract(emission.add(emission.begin, tilesHere), tile);
  Value end = emission.add(firstPlace, emission.multiply(others, emission.getConstant(tiles.getTileWidth())));
  Value isLater = compare(arith::CmpIPredicate::sgt, rowBlock, emission.getConstant(0));
  return select(conjoin(keepsColumns, isLater), end, lastPlace);
}

/// Blocks of steps have one size in all tiles.
TreeWalker::Division ContractionEmitter::divide(tile::BlocksAttr) { return {depthBlocks, depthStep}; }

/// Blocks of columns are panels, of a strip or each by itself, or strips; those of rows, the pieces of a strip, or
/// single rows that are evaluated.
void ContractionEmitter::emitBlocks(tile::BlocksAttr blocks) {
  if (blocks.getAxis() == ContractionAxis::steps)
    TreeWalker::emitBlocks(blocks);
  else if (blocks.getAxis() == ContractionAxis::rows)
    isa<tile::VectorsAttr>(getLeaf(blocks)) ? evaluate(blocks) : forRows(blocks);
  else if (piece)
    forPanels(*piece, [&](Value place) { walkPanel(blocks.getBody().getValue(), place); });
  else
    multiplyRun([&] { forColumns(blocks); });
}

/// Panels for all rows, or strips, which are the same in runs that do not go by strips.
void ContractionEmitter::forColumns(tile::BlocksAttr blocks) {
  ArrayRef<Attribute> nodes = blocks.getBody().getValue();
  Value columns = emission.getConstant(width);
  bool areStrips = blocks.getMostDepth() > 0;
  if (areStrips)
    columns = select(goesByStrips, emission.getSize(blocks.getStep()), columns);
  emission.forRange(firstPlace, lastPlace, columns, [&](Value first) {
    if (emission.isBackwards)
      first = select(isBackwards(), emission.subtract(emission.add(firstPlace, getLastPanel()), first), first);
    Value last = emission.add(first, columns);
    setPiece(emission.getConstant(0), rows.count, first, areStrips ? emission.minimum(last, lastPlace) : last);
    areStrips ? walk(nodes) : walkPanel(nodes, first);
    piece.reset();
  });
}

/// The pieces of a strip.
void ContractionEmitter::forRows(tile::BlocksAttr blocks) {
  Value height = select(goesByStrips, stripRows, emission.maximum(emission.getConstant(1), rows.count));
  Value first = piece->firstPlace, last = piece->lastPlace;
  emission.forRange(emission.getConstant(0), rows.count, height, [&](Value row) {
    setPiece(row, emission.minimum(height, emission.subtract(rows.count, row)), first, last);
    walk(blocks.getBody().getValue());
  });
}

/// Strips go forwards.
Value ContractionEmitter::isBackwards() {
  if (!goesByStrips)
    return emission.isBackwards;
  Value no = arith::ConstantIntOp::create(builder, location, 0, 1);
  return select(goesByStrips, no, emission.isBackwards);
}

/// The place of the last panel of the run.
Value ContractionEmitter::getLastPanel() {
  Value one = emission.getConstant(1), size = emission.getConstant(width);
  Value panels = emission.ceilDivide(emission.subtract(lastPlace, firstPlace), size);
  return emission.add(firstPlace, emission.multiply(emission.subtract(panels, one), size));
}

void ContractionEmitter::walkPanel(ArrayRef<Attribute> nodes, Value place) {
  panel = getPanel(*piece, place);
  walk(nodes);
  panel.reset();
}

void ContractionEmitter::setPiece(Value row, Value rowCount, Value first, Value last) {
  piece = Piece{row, rowCount, first, last, tiles.keepsSums ? getSums(first) : Value()};
}

/// Of a panel, what is packed is copied where the product asks for it: few rows read it in place.
void ContractionEmitter::emitPacked(tile::PackedAttr node, unsigned) {
  if (node.getInput() == form.getInput(form.lhs)) {
    Value number = select(keepsRows, getBlock(), emission.getConstant(0));
    rowsStart = emission.multiply(number, emission.multiply(rowStep, getPackedStep()));
    emitIf(rowsAreNew, [&] { packRowsOf(getRows()); });
  } else if (panel) {
    getCopy = [this] { return copyPanel(); };
  } else {
    getCopy = copyRun();
  }
}

void ContractionEmitter::emitMultiply(tile::MultiplyAttr) {
  multiplyPanel(*panel, piece->sums ? getSums(*piece, panel->place) : Value());
}

/// The panels of a piece, of which only strips have several.
void ContractionEmitter::forPanels(const Piece &piece, llvm::function_ref<void(Value place)> body) {
  if (goesByStrips)
    emission.forRange(piece.firstPlace, piece.lastPlace, width, body);
  else
    body(piece.firstPlace);
}

ContractionEmitter::Panel ContractionEmitter::getPanel(const Piece &piece, Value place) {
  Panel columns{getRows(), place, piece};
  columns.first = getColumn(place);
  columns.count = emission.minimum(emission.getConstant(width), emission.subtract(columnTotal, place));
  return columns;
}

/// Packs the first panels of a run, which are new. Panels that stay packed have space for all of k.
std::function<Value()> ContractionEmitter::copyRun() {
  Value one = emission.getConstant(1), zero = emission.getConstant(0);
  Value steps = emission.multiply(select(keepsColumns, depthBlocks, one), depthStep);
  Value pitch = emission.multiply(steps, emission.getConstant(width));
  Value start = select(keepsColumns, getKeptStart(firstPlace, getBlock()), zero);
  PackedBlock columns = getRows();
  columns.first = firstPlace;
  columns.count = emission.subtract(emission.minimum(lastPlace, endOfNew), firstPlace);
  emitIf(compare(arith::CmpIPredicate::sgt, columns.count, zero), [&] { packColumnsOf(columns, start, pitch); });
  return
      [=, this] { return emission.add(start, emission.multiply(emission.subtract(panel->place, firstPlace), steps)); };
}

/// The first of a run's strips packs its panels.
Value ContractionEmitter::areColumnsNew(const Panel &columns) {
  Value areNew = compare(arith::CmpIPredicate::slt, columns.place, endOfNew);
  if (!goesByStrips)
    return areNew;
  return conjoin(areNew, compare(arith::CmpIPredicate::eq, columns.piece.firstRow, emission.getConstant(0)));
}

Value ContractionEmitter::getColumn(Value place) {
  if (tiles.slices == 1)
    return place;
  Value size = emission.getConstant(width), slices = emission.getConstant(tiles.slices);
  Value panel = emission.divide(place, size), ofSlice = emission.divide(panel, slices);
  Value slice = emission.subtract(panel, emission.multiply(ofSlice, slices));
  return emission.add(emission.multiply(slice, emission.divide(columnTotal, slices)), emission.multiply(ofSlice, size));
}

Value ContractionEmitter::getMostTiles() {
  Value most = emission.getSize(tiles.runTiles), one = emission.getConstant(1);
  if (tiles.slices == 1)
    return most;
  // The sums of a run are kept to its end, where k is several blocks in any case.
  Value rowsOfEpilogue = emission.getConstant(tiles.epilogueRows);
  Value together = emission.maximum(one, emission.divide(rowsOfEpilogue, emission.maximum(one, rowStep)));
  // Of two tiles with an odd number of slices each, no panel is without a second.
  if (pairsPanels && tiles.slices % 2 == 1)
    together = emission.maximum(together, select(pairsPanels, emission.getConstant(2), one));
  return select(compare(arith::CmpIPredicate::eq, depthBlocks, one), emission.minimum(most, together), most);
}

Value ContractionEmitter::isSecondOfPair(Value place) {
  Value size = emission.getConstant(width), panel = emission.divide(emission.subtract(place, firstPlace), size);
  Value half = emission.divide(panel, emission.getConstant(2));
  return compare(arith::CmpIPredicate::ne, panel, emission.add(half, half));
}

/// With a single block of k, pieces whose epilogue follows at once share the space for sums.
Value ContractionEmitter::getSums(Value place) {
  Value inRun = emission.multiply(emission.subtract(place, firstPlace), rowStep);
  if (tiles.slices > 1)
    return inRun;
  Value isOnly = compare(arith::CmpIPredicate::eq, depthBlocks, emission.getConstant(1));
  Value shared = emission.getConstant(0);
  if (pairsPanels)
    shared = select(conjoin(pairsPanels, isSecondOfPair(place)),
                    emission.multiply(rowStep, emission.getConstant(width)), shared);
  Value sums = select(isOnly, shared, inRun);
  if (!computesRuns)
    return sums;
  return select(computesRuns, emission.multiply(emission.subtract(place, firstPlace), rows.count), sums);
}

Value ContractionEmitter::getSums(const Piece &piece, Value place) {
  if (!goesByStrips)
    return piece.sums;
  return emission.add(piece.sums, emission.multiply(emission.subtract(place, piece.firstPlace), piece.rowCount));
}

Value ContractionEmitter::getPanelStart(const Panel &current, Value place, Value block) {
  Value other = emission.getConstant(0);
  if (packsTogether) {
    auto [first, areTogether] = getTogether(current, place);
    Value before = emission.multiply(emission.subtract(place, first), current.depth);
    other = select(areTogether, before, other);
  }
  if (goesByStrips) {
    Value inPiece = emission.multiply(emission.subtract(place, current.piece.firstPlace), current.depth);
    Value isInside = conjoin(compare(arith::CmpIPredicate::sge, place, current.piece.firstPlace),
                             compare(arith::CmpIPredicate::slt, place, current.piece.lastPlace));
    other = select(conjoin(goesByStrips, isInside), inPiece, other);
  }
  return select(keepsColumns, getKeptStart(place, block), other);
}

/// The scratch index of a panel that stays packed.
Value ContractionEmitter::getKeptStart(Value place, Value block) {
  Value first = emission.multiply(firstOfGroup, emission.getConstant(tiles.slices));
  Value panel = emission.subtract(emission.divide(place, emission.getConstant(width)), first);
  Value number = emission.add(emission.multiply(panel, depthBlocks), block);
  return emission.multiply(number, emission.multiply(getPackedStep(), emission.getConstant(width)));
}

std::pair<Value, Value> ContractionEmitter::getNext(const Panel &columns) {
  Value zero = emission.getConstant(0), one = emission.getConstant(1), block = getBlock();
  Value next = emission.add(columns.place, emission.getConstant(width)), nextBlock = emission.add(block, one);
  Value isInside = compare(arith::CmpIPredicate::slt, next, lastPlace);
  Value isLast = compare(arith::CmpIPredicate::eq, nextBlock, depthBlocks);
  Value tileWidth = emission.getConstant(tiles.getTileWidth());
  Value first = emission.multiply(firstOfGroup, tileWidth);
  Value end = emission.multiply(emission.add(firstOfGroup, tilesHere), tileWidth);
  Value restart = firstPlace;
  if (emission.isBackwards) {
    // The next iteration begins where this one ends.
    first = columns.place;
    Value before = emission.subtract(columns.place, emission.getConstant(width));
    next = select(isBackwards(), before, next);
    isInside = select(isBackwards(), compare(arith::CmpIPredicate::sgt, columns.place, firstPlace), isInside);
    restart = select(isBackwards(), getLastPanel(), restart);
  }
  Value ofTile =
      select(compare(arith::CmpIPredicate::slt, lastPlace, emission.minimum(end, columnTotal)), lastPlace, first);
  Value place = select(isInside, next, select(isLast, ofTile, restart));
  return {place, select(isInside, block, select(isLast, zero, nextBlock))};
}

void ContractionEmitter::emitInLastBlock(llvm::function_ref<void()> body) {
  Value next = emission.add(getBlock(), emission.getConstant(1));
  emitIf(compare(arith::CmpIPredicate::eq, next, depthBlocks), body);
}

/// Of each slice, at a column of the first one.
SmallVector<LanePoints, 1> ContractionEmitter::getEpiloguePoints(Value column, Value row, unsigned lanes, Value mask) {
  SmallVector<LanePoints, 1> slices;
  for (int64_t slice = 0; slice < tiles.slices; ++slice) {
    LanePoints &at = slices.emplace_back(LanePoints{points.loops, points.outer, points.n, lanes, mask});
    at.positions.push_back({points.m, emission.add(rows.first, row)});
    Value before = emission.getConstant(0);
    if (slice > 0)
      before = emission.multiply(emission.getConstant(slice),
                                 emission.divide(columnTotal, emission.getConstant(tiles.slices)));
    at.positions.push_back({points.n, emission.add(column, before)});
    if (form.storesPanels(width))
      keepWithinPanel(emission, at, width);
  }
  return slices;
}

/// Panels of slices share the rows, so that no more are on their way at once than the core waits for.
void ContractionEmitter::bringEpilogue(const Panel &columns) {
  int64_t ofPanel = llvm::divideCeil(tiles.prefetchRows, tiles.slices);
  Value tileWidth = emission.getConstant(tiles.getTileWidth());
  emitInLastBlock([&] {
    Value tile = emission.divide(columns.place, tileWidth);
    Value inTile = emission.subtract(columns.place, emission.multiply(tile, tileWidth));
    Value slice = emission.divide(inTile, emission.getConstant(width));
    Value column = tiles.slices == 1 ? columns.first : emission.multiply(tile, emission.getConstant(width));
    SmallVector<LanePoints, 1> at = getEpiloguePoints(column, columns.piece.firstRow, width, Value());
    Value first = emission.multiply(slice, emission.getConstant(ofPanel));
    Value last = emission.minimum(columns.piece.rowCount, emission.add(first, emission.getConstant(ofPanel)));
    emission.forRange(first, last, 1, [&](Value row) {
      bringEpilogueRow(emission, form.compute, at, {points.m, row});
    });
  });
}

Value ContractionEmitter::getResultAddress(Value row, Value column) {
  Positions positions = points.outer;
  positions.push_back({points.m, emission.add(rows.first, row)});
  positions.push_back({points.n, column});
  Expr linear = tile::getLinearIndex(form.getWritten().getResultType(0),
                                     ArrayRef(points.loops).take_front(form.compute.getNumParallel()));
  return emission.getPointer(emission.getResultBuffer(0), emission.getIndex(linear, positions));
}

std::optional<MemoryRows> ContractionEmitter::getResultRows(const Panel &columns) {
  if (tiles.slices > 1 || form.storesPanels(width))
    return std::nullopt;
  SmallVector<LanePoints, 1> at = getEpiloguePoints(columns.first, columns.piece.firstRow, width, Value());
  return codegen::getResultRows(emission, form.compute, at, points.m);
}

/// Behind the last block of k, the rows of a piece; of slices, those of all tiles, behind the last panel of the run.
void ContractionEmitter::evaluate(tile::BlocksAttr rows) {
  auto forRowsOfPiece = [&] {
    Value lastRow = emission.subtract(piece->rowCount, emission.getConstant(1));
    emission.forRange(emission.getConstant(0), piece->rowCount, 1, [&](Value row) {
      evaluated.row = row;
      evaluated.ahead = emission.minimum(emission.getConstant(tiles.prefetchRows), emission.subtract(lastRow, row));
      walk(rows.getBody().getValue());
    });
  };
  auto afterLastBlock = [&] {
    if (tiles.slices == 1)
      return forRowsOfPiece();
    Value isLast = compare(arith::CmpIPredicate::eq, piece->lastPlace, lastPlace);
    if (emission.isBackwards)
      isLast = select(isBackwards(), compare(arith::CmpIPredicate::eq, piece->firstPlace, firstPlace), isLast);
    emitIf(isLast, [&] {
      llvm::SaveAndRestore ofRun(piece);
      llvm::SaveAndRestore last(panel);
      emission.forRange(firstPlace, lastPlace, tiles.getTileWidth(), [&](Value place) {
        piece = Piece{piece->firstRow, piece->rowCount, place, {}, getSums(place)};
        panel = getPanel(*piece, place);
        forRowsOfPiece();
      });
    });
  };
  followSums([&] { emitInLastBlock(afterLastBlock); });
}

/// Vectors of columns of a panel, without code for a rest that no panel has.
void ContractionEmitter::emitVectors(tile::VectorsAttr node) {
  unsigned lanes = node.getLanes(), together = node.getTogether();
  Expr sizes[] = {form.getExtent(form.n), Expr::constant(builder.getContext(), width)};
  bool areWhole = areMultiplesOf(sizes, width);
  evaluated.sums =
      emission.add(getSums(panel->piece, panel->place), emission.multiply(evaluated.row, emission.getConstant(width)));
  forVectors(
      emission.getConstant(0), areWhole ? emission.getConstant(width) : panel->count, lanes, together,
      [&](Value column, unsigned count, Value mask) {
        evaluated.column = column;
        evaluated.lanes = count * lanes;
        evaluated.mask = mask;
        walk(node.getBody().getValue());
      },
      sizes);
}

/// Several vectors are one longer one.
void ContractionEmitter::emitEvaluate(tile::EvaluateAttr) {
  Type resultType = tile::getScalarType(form.compute.getResultType(0).getElementType());
  Value row = emission.add(panel->piece.firstRow, evaluated.row), column = emission.add(panel->first, evaluated.column);
  SmallVector<LanePoints, 1> at = getEpiloguePoints(column, row, evaluated.lanes, evaluated.mask);
  SmallVector<Value, 1> values;
  Value from = emission.add(evaluated.sums, evaluated.column);
  for (int64_t slice = 0; slice < tiles.slices; ++slice) {
    Value value = vector::LoadOp::create(builder, location, VectorType::get({evaluated.lanes}, tiles.sumType),
                                         accumulators, from);
    values.push_back(convertWidth(builder, location, correctSums(value, column), resultType));
    from = emission.add(from, emission.multiply(rowStep, emission.getConstant(width)));
  }
  emitEpilogue(emission, form.compute, values, at, Ahead{points.m, evaluated.ahead});
}

void freestone::codegen::emitContraction(tile::ProgramOp program, Emission &emission) {
  tile::ContractionForm form = *tile::getContractionWithEpilogue(program);
  auto choice = program.getTiling<tile::ChoiceAttr>();
  tile::ContractionTree tree =
      choice ? tile::getContractions(choice).front() : *tile::ContractionTree::get(program.getPlan()->getTiling());
  tile::ContractionTiles tiles =
      choice ? tile::ContractionTiles::get(form, choice) : tile::ContractionTiles::get(form, tree);
  auto make = tiles.dotProducts ? makeDotProducts : makeMultiplyAdds;
  make(emission, std::move(form), std::move(tiles))->emit(tree.build().getBody());
}
