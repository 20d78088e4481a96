#ifndef FREESTONE_COMPILER_CODEGEN_CPU_CONTRACTIONEMITTER_H
#define FREESTONE_COMPILER_CODEGEN_CPU_CONTRACTIONEMITTER_H

#include "compiler/codegen/cpu/Pack.h"
#include "compiler/plan/ContractionTiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <memory>

namespace freestone::codegen {

/// Walks the blocks of a contraction: runs of tiles, blocks of k, panels of columns, and the epilogue of each panel's
/// sums. How operands are packed, and what multiplies them, is the micro-kernel's.
class ContractionEmitter {
public:
  virtual ~ContractionEmitter() = default;
  void emit();

protected:
  /// Operands are packed with vectors of `lanes` elements.
  ContractionEmitter(Emission &emission, tile::ContractionForm form, tile::ContractionTiles tiles, int64_t lanes);

  /// Declares the micro-kernel, and takes scratch.
  virtual void prepare() = 0;
  /// Before and behind all runs, and before each.
  virtual void begin() {}
  virtual void end() {}
  virtual void beginRun() {}
  /// The panels of the next run at most.
  virtual mlir::Value getMostPanels() { return emission.getSize(tiles.panels); }
  virtual void packRowsOf(const PackedBlock &block, mlir::Value start) = 0;
  /// Computes all columns of a run, for a block of k.
  virtual void multiplyBlock(const PackedBlock &at, mlir::Value block, mlir::Value rowsStart) = 0;
  /// What sums of the columns from `column` on are, beside what the micro-kernel has summed.
  virtual mlir::Value correctSums(mlir::Value sums, mlir::Value column) { return sums; }

  /// Calls `body` for each panel of the run.
  void forPanels(const PackedBlock &at, llvm::function_ref<void(const PackedBlock &columns)> body);
  /// The place of a panel's sums in `accumulators`.
  mlir::Value getSums(const PackedBlock &columns);
  /// Prefetches what the first rows of a panel's epilogue read and write, before its last block of k.
  void bringEpilogue(const PackedBlock &columns, mlir::Value block);
  /// The epilogue of a panel, behind its last block of k.
  void finishPanel(mlir::Value sums, const PackedBlock &columns, mlir::Value block);
  /// The packed numbers of a row or column, of a block of k.
  mlir::Value getPackedStep() { return emission.multiply(depthStep, emission.getConstant(tiles.parts)); }
  /// The scratch index of a panel that stays packed.
  mlir::Value getPanelStart(mlir::Value column, mlir::Value block);
  /// The column and the block of k after these: the next columns; else those at the beginning of the run, in the next
  /// block of k; else the first of the next run.
  std::pair<mlir::Value, mlir::Value> getNext(const PackedBlock &columns, mlir::Value block);
  /// Whether this worker still has to pack a panel.
  mlir::Value areColumnsNew(mlir::Value column) {
    return compare(mlir::arith::CmpIPredicate::slt, column, endOfNew);
  }
  /// Whether the result is stored in packed panels of columns.
  bool isPanelled() {
    auto panels = llvm::dyn_cast_or_null<tile::PanelsAttr>(form.compute.getResultType(0).getLayout());
    return panels && panels.getWidth() == width &&
           llvm::ArrayRef(form.n) == llvm::ArrayRef({static_cast<unsigned>(panels.getAxis())});
  }
  void emitIf(mlir::Value condition, llvm::function_ref<void()> body);
  mlir::Value toWord(mlir::Value index) {
    return mlir::arith::IndexCastOp::create(builder, location, builder.getI64Type(), index);
  }
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value lhs, mlir::Value rhs) {
    return mlir::arith::CmpIOp::create(builder, location, predicate, lhs, rhs);
  }
  mlir::Value conjoin(mlir::Value lhs, mlir::Value rhs) {
    return mlir::arith::AndIOp::create(builder, location, lhs, rhs);
  }
  mlir::Value select(mlir::Value condition, mlir::Value lhs, mlir::Value rhs) {
    return mlir::arith::SelectOp::create(builder, location, condition, lhs, rhs);
  }

  Emission &emission;
  mlir::OpBuilder &builder;
  mlir::Location location;
  tile::ContractionForm form;
  tile::ContractionTiles tiles;
  int64_t width;
  ContractionPoints points;
  mlir::Value packedRows, packedColumns, accumulators;
  /// Whether rows and columns stay packed for later tiles.
  mlir::Value keepsRows, keepsColumns;
  mlir::Value rowTotal, columnTotal, depthTotal, rowStep, depthStep, panelCount, depthBlocks;
  /// Of the current run: its first tile, its group's first panel and number of panels, its rows and columns.
  mlir::Value firstTile, rowBlock, firstOfGroup, panelsHere;
  PackedBlock rows;
  mlir::Value firstColumn, lastColumn;
  /// Columns before it still have to be packed by this worker.
  mlir::Value endOfNew;

private:
  void groupPanels(mlir::Value rowBlocks);
  mlir::Value emitRun(mlir::Value tile);
  void emitBlock(mlir::Value block);
  LanePoints getEpiloguePoints(const PackedBlock &columns, mlir::Value row, mlir::Value column, unsigned lanes,
                               mlir::Value mask);
  void emitPanelEpilogue(mlir::Value panel, const PackedBlock &columns);
  mlir::Value getStep(mlir::Value total, mlir::Value blocks, int64_t unit);
  mlir::Value getEndOfNew();

  /// The panels that stay packed together, all if none do, and the tiles of all of their row blocks.
  mlir::Value panelsOfGroup, tilesOfGroup;
  /// Whether this worker still has to pack the rows of the run.
  mlir::Value rowsAreNew;
};

/// With micro-kernels that multiply and add vectors, and with those of dot products of words.
std::unique_ptr<ContractionEmitter> makeMultiplyAdds(Emission &emission, tile::ContractionForm form,
                                                     tile::ContractionTiles tiles);
std::unique_ptr<ContractionEmitter> makeDotProducts(Emission &emission, tile::ContractionForm form,
                                                    tile::ContractionTiles tiles);

/// Emits a contraction, and its epilogue on elements that are still in L1, with the micro-kernel of its plan.
///
/// For each tile and block of k: the rows of A are packed; then, panel by panel, B is packed (unless it is stored
/// packed) and the micro-kernel runs; after the last block of k follows the panel's epilogue.
void emitContraction(tile::ProgramOp program, Emission &emission);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_CONTRACTIONEMITTER_H
