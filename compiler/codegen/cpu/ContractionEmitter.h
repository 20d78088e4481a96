#ifndef FREESTONE_COMPILER_CODEGEN_CPU_CONTRACTIONEMITTER_H
#define FREESTONE_COMPILER_CODEGEN_CPU_CONTRACTIONEMITTER_H

#include "compiler/codegen/cpu/Epilogue.h"
#include "compiler/codegen/cpu/Pack.h"
#include "compiler/codegen/cpu/TreeWalker.h"
#include "compiler/plan/ContractionTiles.h"
#include <functional>
#include <memory>

namespace freestone::codegen {

/// The nodes of a contraction's tree (`plan/ContractionTree.h`): runs of tiles, which are dealt, blocks of steps,
/// packed operands, panels of columns, and the epilogue of each panel's sums. How operands are packed, and what
/// multiplies them, is the micro-kernel's.
class ContractionEmitter : protected TreeWalker {
public:
  void emit(mlir::ArrayAttr tree);

protected:
  /// Rows, from `firstRow` of the run's on, and panels whose sums are completed together: panel by panel, each row by
  /// row, from `sums` of `accumulators` on, null if these are not kept. Places count columns in the order in which they
  /// are computed: the panels of a tile, then the next tile.
  struct Piece {
    mlir::Value firstRow, rowCount, firstPlace, lastPlace, sums;
  };
  /// A panel of columns, the place of its first one, and the piece in which it is computed.
  struct Panel : PackedBlock {
    mlir::Value place;
    Piece piece;
  };

  /// Operands are packed with vectors of `lanes` elements.
  ContractionEmitter(Emission &emission, tile::ContractionForm form, tile::ContractionTiles tiles, int64_t lanes);

  /// Declares the micro-kernel, and takes scratch.
  virtual void prepare() = 0;
  /// Before and behind all runs, and before each.
  virtual void begin() {}
  virtual void end() {}
  virtual void beginRun() {}
  /// Blocks of steps, at least one.
  virtual mlir::Value getDepthBlocks() { return emission.getSize(tiles.depthBlocks); }
  /// The tiles of the next run at most.
  virtual mlir::Value getMostTiles();
  virtual void packRowsOf(const PackedBlock &block) = 0;
  /// Packs neighbouring columns, whose panels begin `pitch` elements from each other.
  virtual void packColumnsOf(const PackedBlock &columns, mlir::Value start, mlir::Value pitch) = 0;
  /// The same of the whole panels that are packed at once.
  virtual void packTogether(const PackedBlock &, mlir::Value, mlir::Value) {}
  /// Computes all columns of a run for the current block of k: panel by panel, unless their number lets it do so at
  /// once.
  virtual void multiplyRun(llvm::function_ref<void()> byPanel) { byPanel(); }
  /// Computes a panel for the current block of k. `sums` is its place in `accumulators`, null if these are not kept.
  virtual void multiplyPanel(const Panel &columns, mlir::Value sums) = 0;
  /// Emits what follows on sums, where the micro-kernel has not done so.
  virtual void followSums(llvm::function_ref<void()> follow) { follow(); }
  /// What sums of the columns from `column` on are, beside what the micro-kernel has summed.
  virtual mlir::Value correctSums(mlir::Value sums, mlir::Value column) { return sums; }

  /// The column at a place: that of a panel in its slice.
  mlir::Value getColumn(mlir::Value place);
  /// Prefetches what the first rows of an epilogue read and write in a panel, before its last block of k: of a tile of
  /// slices, some of these rows before that of each panel.
  void bringEpilogue(const Panel &columns);
  /// The address in the program's result of a column, at a row of the run.
  mlir::Value getResultAddress(mlir::Value row, mlir::Value column);
  /// The rows of the result that a panel's become. Nothing where several slices do together, or rows are next to each
  /// other.
  std::optional<MemoryRows> getResultRows(const Panel &columns);
  /// The packed numbers of a row or column, of a block of k.
  mlir::Value getPackedStep() { return emission.multiply(depthStep, emission.getConstant(tiles.parts)); }
  /// The scratch index of the packed panel at a place, beside a panel that is computed now: among those that stay
  /// packed, or those of the piece.
  mlir::Value getPanelStart(const Panel &current, mlir::Value place, mlir::Value block);
  /// The place and the block of k after a panel: the next one; else that at the beginning of the run, in the next block
  /// of k; else the first of the next run.
  std::pair<mlir::Value, mlir::Value> getNext(const Panel &columns);
  /// Whether this worker still has to pack a panel.
  mlir::Value areColumnsNew(const Panel &columns);
  /// As getNext; where panels are packed at once, the panel at the same place among those that are packed next.
  std::pair<mlir::Value, mlir::Value> getNextPacked(const Panel &columns);
  /// Whether the panel at a place is the second of a pair, if there are pairs.
  mlir::Value isSecondOfPair(mlir::Value place);
  /// Where the sums of the panel at a place are in `accumulators`, or those of the piece that it begins.
  mlir::Value getSums(mlir::Value place);
  /// `body` behind the last block of k.
  void emitInLastBlock(llvm::function_ref<void()> body);
  /// The number of the current block of k.
  mlir::Value getBlock() { return axes.ranges[tile::ContractionAxis::steps].block; }
  /// The current block of rows and steps.
  PackedBlock getRows() {
    const AxisRange &rows = axes.ranges[tile::ContractionAxis::rows],
                    &steps = axes.ranges[tile::ContractionAxis::steps];
    return {rows.first, rows.count, steps.first, steps.count};
  }

  tile::ContractionForm form;
  tile::ContractionTiles tiles;
  int64_t width;
  ContractionPoints points;
  mlir::Value packedRows, packedColumns, accumulators;
  /// Whether rows and columns stay packed for later tiles.
  mlir::Value keepsRows, keepsColumns;
  mlir::Value rowTotal, columnTotal, depthTotal, rowStep, depthStep, columnTiles, depthBlocks;
  /// Of the current run, which begins with `tile`: its group's first tile of columns and number of these, its rows, the
  /// places of its columns.
  mlir::Value rowBlock, firstOfGroup, tilesHere;
  AxisRange rows;
  mlir::Value firstPlace, lastPlace;
  /// Where the packed rows of the current block of k begin.
  mlir::Value rowsStart;
  /// Returns where the copy of the current panel begins, and makes it if it is packed by itself; null if columns are
  /// stored packed.
  std::function<mlir::Value()> getCopy = [] { return mlir::Value(); };
  /// Columns at places before it still have to be packed by this worker.
  mlir::Value endOfNew;
  /// Whether two neighbouring panels of a run are computed at once, as the first of them; null if none ever are.
  mlir::Value pairsPanels;
  /// Whether all columns of a run are computed at once, so that each panel has sums of its own, of the run's rows
  /// alone; null if none ever are.
  mlir::Value computesRuns;
  /// Whether several panels are packed at once; null if none ever are.
  mlir::Value packsTogether;
  /// Whether rows are so few that they read columns in place.
  mlir::Value areRowsFew;
  /// Whether runs are computed strip by strip; null if the plan has no strips.
  mlir::Value goesByStrips;
  /// The rows of a strip, of plans with strips: what a micro-kernel computes at once.
  mlir::Value stripRows;

private:
  void groupPanels(mlir::Value rowBlocks);
  mlir::Value emitRun(mlir::ArrayAttr tree);
  Division divide(tile::BlocksAttr blocks) override;
  void emitBlocks(tile::BlocksAttr blocks) override;
  void emitPacked(tile::PackedAttr node, unsigned depth) override;
  void emitMultiply(tile::MultiplyAttr node) override;
  void emitVectors(tile::VectorsAttr node) override;
  void emitEvaluate(tile::EvaluateAttr node) override;
  std::function<mlir::Value()> copyRun();
  mlir::Value copyPanel();
  /// Of the panels that are packed at once, where there is one at a place: the place of the first one; whether they
  /// are.
  std::pair<mlir::Value, mlir::Value> getTogether(const Panel &current, mlir::Value place);
  void forColumns(tile::BlocksAttr blocks);
  void forRows(tile::BlocksAttr blocks);
  void walkPanel(mlir::ArrayRef<mlir::Attribute> nodes, mlir::Value place);
  void setPiece(mlir::Value row, mlir::Value rowCount, mlir::Value first, mlir::Value last);
  void forPanels(const Piece &piece, llvm::function_ref<void(mlir::Value place)> body);
  Panel getPanel(const Piece &piece, mlir::Value place);
  mlir::Value isBackwards();
  mlir::Value getLastPanel();
  mlir::Value getKeptStart(mlir::Value place, mlir::Value block);
  /// Where the sums of a panel are.
  mlir::Value getSums(const Piece &piece, mlir::Value place);
  llvm::SmallVector<LanePoints, 1> getEpiloguePoints(mlir::Value column, mlir::Value row, unsigned lanes,
                                                     mlir::Value mask);
  void evaluate(tile::BlocksAttr rows);
  mlir::Value getStep(mlir::Value total, mlir::Value blocks, int64_t unit);
  mlir::Value getEndOfNew();

  AxisRanges ranges;
  /// The current piece, and its current panel; nothing outside of them.
  std::optional<Piece> piece;
  std::optional<Panel> panel;
  /// What is evaluated now: a row of the piece, the position of one whose operands are prefetched, the place of the
  /// panel's sums, and vectors of its columns.
  struct {
    mlir::Value row, ahead, sums, column;
    unsigned lanes;
    mlir::Value mask;
  } evaluated;
  /// The tiles of columns that stay packed together, all if none do, and those of all of their row blocks.
  mlir::Value columnTilesOfGroup, tilesOfGroup;
  /// Whether this worker still has to pack the rows of the run.
  mlir::Value rowsAreNew;
};

/// With micro-kernels that multiply and add vectors, and with those of dot products of words.
std::unique_ptr<ContractionEmitter> makeMultiplyAdds(Emission &emission, tile::ContractionForm form,
                                                     tile::ContractionTiles tiles);
std::unique_ptr<ContractionEmitter> makeDotProducts(Emission &emission, tile::ContractionForm form,
                                                    tile::ContractionTiles tiles);

/// Emits a contraction, and its epilogue on elements that are still in L1, as the tree of its plan says.
void emitContraction(tile::ProgramOp program, Emission &emission);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_CONTRACTIONEMITTER_H
