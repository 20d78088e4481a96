#ifndef FREESTONE_COMPILER_TILE_SPLITPRODUCTS_H
#define FREESTONE_COMPILER_TILE_SPLITPRODUCTS_H

#include "compiler/device/DeviceDescription.h"
#include "compiler/plan/ContractionForm.h"
#include "compiler/tile/TypicalRuns.h"

namespace freestone::tile {

/// Whether the device has a matrix unit for bf16 that is fast enough to multiply f32 in parts.
bool mayPayToSplit(const DeviceDescription &device);

/// Products with fewer steps or columns, or with fewer rows that are not in parts yet, do not repay splitting.
inline constexpr int64_t fewestSplitSteps = 72;

/// The rows of a run that repay to read columns in parts of bf16, packed once before a loop, which are half as many
/// bytes again.
int64_t getFewestRowsOfParts(int64_t bytes, int64_t cacheBytes);

/// A tiling of products of f32 on a matrix unit for bf16: each element is the sum of three numbers of bf16, and six of
/// the nine products of these are summed in f32 (Henry, Tang and Heinecke, ARITH 2019; the precision BF16_BF16_F32_X6
/// of XLA). Runs with few rows, columns or steps, which do not repay splitting, keep the tiling `others`; where the
/// parts of columns are packed already, few rows do. Nothing if it never pays on the device, if the form can't be
/// split, or if only a run would know whether it repays but there may be no `variants`.
std::optional<mlir::Attribute> tileSplitProducts(ContractionForm &form, mlir::Attribute others, const TypicalRuns &runs,
                                                 const DeviceDescription &device, bool variants);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_SPLITPRODUCTS_H
