#ifndef FREESTONE_COMPILER_CODEGEN_CPU_EPILOGUE_H
#define FREESTONE_COMPILER_CODEGEN_CPU_EPILOGUE_H

#include "compiler/codegen/cpu/VectorizeBody.h"

namespace freestone::codegen {

/// Elements that are prefetched: those as many positions further along a loop.
struct Ahead {
  sym::Expr symbol;
  mlir::Value positions;
};

/// Emits the epilogue of a compute: `values` are the results of `first` at `points`, one for each slice of columns that
/// later computes read together (`tile::Epilogue`). Every later compute of the program is evaluated at the same
/// elements, and the program's results are stored. When a tile runs along columns of memory, hardware prefetchers do
/// not predict the next rows, which are prefetched `ahead`.
void emitEpilogue(Emission &emission, tile::ComputeOp first, mlir::ValueRange values, llvm::ArrayRef<LanePoints> points,
                  std::optional<Ahead> ahead = {});

/// The arguments of an epilogue.
struct EpilogueArguments {
  mlir::Value value;
  LanePoints points;
  std::optional<Ahead> ahead;
};

/// Emits the epilogues of several vectors of results without slices. All are computed before the first one is stored,
/// functions side by side, so that chains of operations overlap.
void emitEpilogues(Emission &emission, tile::ComputeOp first, llvm::ArrayRef<EpilogueArguments> all);

/// Prefetches what the epilogue of a compute reads and writes `ahead` of `points`.
void bringEpilogueRow(Emission &emission, tile::ComputeOp first, llvm::ArrayRef<LanePoints> points, const Ahead &ahead);

/// Rows of memory that are prefetched: the address of the first one, and the bytes from each to the next.
struct MemoryRows {
  mlir::Value first, pitch;
};

/// The rows of a program's first result along one of the positions, from `points` on, behind the epilogue of a compute.
/// Nothing if lanes are not contiguous there, or rows are all the same.
std::optional<MemoryRows> getResultRows(Emission &emission, tile::ComputeOp first, llvm::ArrayRef<LanePoints> points,
                                        sym::Expr rows);

/// Prefetches the lines of a tensor's elements `ahead` of the points, to be read or written, if lanes are contiguous in
/// memory and these elements differ from the current ones.
void bringCloser(Emission &emission, mlir::Value tensor, mlir::Value memory, llvm::ArrayRef<sym::Expr> indices,
                 const LanePoints &points, const Ahead &ahead, bool writes);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_EPILOGUE_H
