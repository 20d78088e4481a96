#ifndef FREESTONE_COMPILER_CODEGEN_CPU_DOTPRODUCTEMITTER_H
#define FREESTONE_COMPILER_CODEGEN_CPU_DOTPRODUCTEMITTER_H

#include "compiler/codegen/cpu/ContractionEmitter.h"
#include "compiler/codegen/cpu/DotProductKernels.h"
#include "compiler/plan/MatrixInPlace.h"

namespace freestone::codegen {

/// The micro-kernel sums dot products of words; on vectors, others read operands in place that few rows or columns
/// would pack to use them once.
class DotProductEmitter : public ContractionEmitter {
public:
  DotProductEmitter(Emission &emission, tile::ContractionForm form, tile::ContractionTiles tiles)
      : ContractionEmitter(emission, std::move(form), std::move(tiles), tile::DotProductLayout::unit),
        layout(*this->tiles.dotProducts), module(builder.getBlock()->getParentOp()->getParentOfType<mlir::ModuleOp>()) {
  }

private:
  void prepare() override;
  void begin() override;
  void beginRun() override;
  mlir::Value getMostTiles() override;
  void end() override { call(TileFunction::leave); }
  void call(TileFunction function);
  void packRowsOf(const PackedBlock &block) override;
  void packColumnsOf(const PackedBlock &columns, mlir::Value start, mlir::Value pitch) override;
  void multiplyRun(llvm::function_ref<void()> byPanel) override;
  void multiplyPanel(const Panel &columns, mlir::Value sums) override;
  void multiplyPacked(const Panel &columns, mlir::Value sums);
  /// The place of packed columns from a step on, where `storedColumns` has them; of rows in `storedRows`.
  mlir::Value getStoredStart(mlir::Value column, mlir::Value step);
  mlir::Value getWordsStart(mlir::Value column, mlir::Value step);
  /// The address of a group of a panel.
  mlir::Value getColumns(mlir::Value panel, mlir::Value group);
  /// The address of a group of packed columns of `storedColumns`.
  mlir::Value getPassing(mlir::Value place, mlir::Value block, mlir::Value group);
  void addPair(llvm::SmallVectorImpl<mlir::Value> &operands, const Panel &columns, mlir::Value group);
  void addAhead(llvm::SmallVectorImpl<mlir::Value> &operands, const Panel &columns, mlir::Value group,
                mlir::Value panel);
  std::pair<mlir::Value, mlir::Value> getAhead(const Panel &columns, mlir::Value group, mlir::Value panel);
  void repeatWithoutParts(mlir::Value sums, const PackedBlock &columns);
  void followSums(llvm::function_ref<void()> follow) override;
  mlir::Value correctSums(mlir::Value sums, mlir::Value column) override;
  mlir::Value countGroups(const PackedBlock &block);
  mlir::Value countMultiplied(const PackedBlock &block, mlir::Value group, mlir::Value groups);

  /// Declares what reads operands in place.
  void prepareInPlace();
  /// Whether the sizes of the run let it read operands in place.
  void beginInPlace();
  /// Whether the words of the run's rows may be read where they lie.
  mlir::Value areWordsInPlace();
  /// The bits of the last word of so many groups of a block that are steps.
  mlir::Value getMaskOfLast(const PackedBlock &block, mlir::Value group, mlir::Value groups);
  /// Computes a block of k for all columns of the run at once.
  void emitUpdates();
  void multiplyInner(const Panel &columns, mlir::Value sums);
  /// Packs columns as the run's products read them, if these are not read in place; `packPanels` for the kernel of
  /// panels.
  void packOrRead(const PackedBlock &columns, mlir::Value groups, mlir::Value start,
                  llvm::function_ref<void()> packPanels);
  /// The address of an operand's element.
  mlir::Value getElement(const tile::MatrixInPlace &matrix, sym::Expr across, mlir::Value place, mlir::Value step);
  mlir::Value getBytes(sym::Expr elements);
  mlir::Value getExcess(mlir::Value column);
  mlir::Value getNull();
  /// The address of a panel's rows in the result behind the last block, if `isLast` of its calls, and the bytes from one
  /// to the next. Null before.
  std::pair<mlir::Value, mlir::Value> getResults(const Panel &columns, mlir::Value isLast);

  tile::DotProductLayout layout;
  mlir::ModuleOp module;
  /// For all panels, and for those of one vector; null where none are. The same for rows in place.
  mlir::func::FuncOp kernel, narrowKernel, inPlaceKernel, narrowInPlaceKernel;
  /// The memory of columns and of rows that were packed before this program; null if it packs them.
  mlir::Value storedColumns, storedRows;
  /// By column: what sums have too much where A is packed flipped.
  mlir::Value columnSums;
  /// Operands that may be read in place, and what multiplies them; null where nothing does.
  std::optional<tile::MatrixInPlace> rowsInPlace, columnsInPlace;
  mlir::func::FuncOp updates, innerProducts;
  /// Whether products are inner ones, and columns lie along k, so that these are not packed either.
  mlir::Value isInner, lieAlongDepth;
  /// Whether columns are so few that panels are multiplied by rows in place, and whether the run's are; null if they
  /// never are.
  mlir::Value areColumnsFew, keepsRowsInPlace;
};

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_DOTPRODUCTEMITTER_H
