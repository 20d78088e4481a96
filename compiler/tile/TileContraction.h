#ifndef FREESTONE_COMPILER_TILE_TILECONTRACTION_H
#define FREESTONE_COMPILER_TILE_TILECONTRACTION_H

#include "compiler/plan/ContractionForm.h"
#include "compiler/tile/ConstructContraction.h"
#include "compiler/tile/TileInnerProducts.h"
#include "compiler/tile/TypicalRuns.h"

namespace freestone::tile {

/// Rows of an epilogue between a prefetch and its use: about the latency of memory.
inline constexpr int64_t prefetchRows = 8;

/// The largest blocks of a contraction, by the capacities of a device alone.
struct ContractionBlocks {
  /// Rows of A in a tile (a block of k of them in L2), panels of B in a tile, steps of a block of k (a panel of them in
  /// L1).
  int64_t rows, panels, depth;

  static ContractionBlocks get(const DeviceDescription &device, unsigned elementBytes);
};

/// The largest micro-kernel for an element type that fits the device's registers.
MicroKernelAttr getMicroKernel(const DeviceDescription &device, mlir::Type elementType);

/// The same, which computes the last panel of some run's columns in as many vectors as they fit, where these are fewer.
MicroKernelAttr withLastVectors(MicroKernelAttr kernel, llvm::ArrayRef<int64_t> columns);

/// Whether a program is worth a micro-kernel of this width: rows share packed columns, its weights are packed already, or
/// a single row reads the columns in place.
bool isMicroKernelContraction(ContractionForm &form, int64_t width);

/// A contraction in a micro-kernel at the sizes of a run, and at those of its typical runs.
ContractionProblem getContractionProblem(ContractionForm &form, MicroKernelAttr kernel, int64_t wordSteps,
                                         llvm::function_ref<int64_t(sym::Expr)> valueOf);
llvm::SmallVector<ContractionProblem> getContractionProblems(ContractionForm &form, MicroKernelAttr kernel,
                                                             int64_t wordSteps, const TypicalRuns &runs,
                                                             const std::optional<InnerProducts> &inner);

/// What a contraction's tiling may do: keep operands packed for later tiles, pack several panels at once, multiply
/// integers in pairs, read in place the columns of few rows, and the rows of few columns, compute strips of rows of
/// several panels at a time, prefetch rows of results that leave L2, compute a last panel of few columns in fewer
/// vectors, alternate in a loop, be inner products, be the best one that can be constructed rather than a plain one, or
/// be several tilings for different sizes.
struct ContractionTilings {
  bool keepPacked = true, packTogether = true, pairProducts = true, streamColumns = true, streamRows = true,
       strips = true, bringResults = true, narrowPanels = true, alternate = false, innerProducts = true,
       construct = true, variants = true;
};

/// The best tiling that can be constructed, a tree of tiles or the `#tile.rows` of inner products; or
/// `#tile.choice` of them where these pay. If none may be constructed, a plain tree.
mlir::Attribute tileContraction(ContractionForm &form, const TypicalRuns &runs, const DeviceDescription &device,
                                ContractionTilings allowed);

/// A tiling, and the next best ones at these problems as the model ranks them; no two are the same at all of them.
llvm::SmallVector<TreeTilingAttr> getBestTilings(TreeTilingAttr chosen, llvm::ArrayRef<ContractionProblem> problems,
                                                 const DeviceRates &rates, size_t most);

/// Whether the device computes the products of both operands as dot products.
bool isDotProductContraction(ContractionForm &form, const DeviceDescription &device);

/// What dot products on vectors may do: go strip by strip where k has few steps, and read in place the columns of few
/// rows, and the rows of few columns.
struct DotProductTilings {
  bool strips = true, streamColumns = true, streamRows = true, narrowPanels = true, directResults = true;
};

TreeTilingAttr tileDotProducts(ContractionForm &form, const TypicalRuns &runs, const DeviceDescription &device,
                               DotProductTilings allowed);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_TILECONTRACTION_H
