#ifndef FREESTONE_COMPILER_PLAN_CHAINFORM_H
#define FREESTONE_COMPILER_PLAN_CHAINFORM_H

#include "compiler/plan/StageProgram.h"

namespace freestone::tile {

/// A stage of a chain: an anchor, such as a convolution, and what is computed of its elements. All run over the
/// parallel loops of the anchor, the last two of which are rows of a picture and the pixels of a row.
struct ChainStage {
  llvm::SmallVector<ComputeOp> computes;
  /// Loops over whole pictures, of which a tile computes one.
  llvm::SmallVector<unsigned> images;
  /// Of all but the first stage: the anchor's input that the stage before has made. Row y reads its rows from
  /// y * stride + offset on, `span` of them.
  unsigned input = 0;
  int64_t stride = 1, span = 1, offset = 0;
  /// Whether rows and pixels are one loop in the programs of tiles: rows lie one behind the other in all operands.
  bool isFlat = false;

  ComputeOp getAnchor() const { return computes.front(); }
  ComputeOp getLast() const { return computes.back(); }
  unsigned getRowLoop() const { return ComputeOp(getAnchor()).getNumParallel() - 2; }
  unsigned getPixelLoop() const { return getRowLoop() + 1; }
  sym::Expr getRows() const { return ComputeOp(getAnchor()).getExtents()[getRowLoop()]; }
  sym::Expr getPixels() const { return ComputeOp(getAnchor()).getExtents()[getPixelLoop()]; }
  /// The elements of its results in one row of one picture, and the number of pictures.
  sym::Expr getRowElements() const;
  sym::Expr getNumImages() const;
  bool isImage(unsigned loop) const { return llvm::is_contained(images, loop); }
};

/// Symbols of the programs of stages, beside those of the chain. Rows count points of the stage's rows and pixels where
/// these are one loop, also in what it reads of the stage before.
struct StageSymbols {
  /// The rows to compute, and the first of them.
  sym::Expr extent, first;
  /// Of the stage before: the first row in scratch, the number of rows that are there, and that fit there.
  sym::Expr from, held, heldMost;
  /// Where in scratch the results begin, and how many rows fit there.
  sym::Expr into, intoMost;
  /// The picture, by each of its loops.
  llvm::SmallVector<sym::Expr> images;

  static StageSymbols get(mlir::MLIRContext *context, size_t numImages);
  llvm::SmallVector<sym::Expr> getAll() const;
};

/// Computes in stages, each of which reads windows of the rows of the one before, and nothing else reads these.
struct ChainForm {
  llvm::SmallVector<ChainStage> stages;

  /// Fails, with a reason in `why`, where computes are no such stages, or are one convolution with the pooling of its
  /// results.
  static mlir::FailureOr<ChainForm> get(llvm::ArrayRef<ComputeOp> computes, std::string &why);

  mlir::Value getIntermediate(unsigned edge) const {
    return stages[edge + 1].getAnchor()->getOperand(stages[edge + 1].input);
  }
  size_t getNumImages() const { return stages.front().images.size(); }
  /// The program of a stage: over the same operands, of which those between stages are boxes in scratch, and results
  /// boxes in the chain's.
  mlir::FailureOr<StageProgram> makeStage(unsigned number, ProgramOp program) const;
};

/// Whether the computes of a group or program are a chain.
bool areChained(llvm::ArrayRef<ComputeOp> computes);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_CHAINFORM_H
