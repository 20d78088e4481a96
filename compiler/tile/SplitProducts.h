#ifndef FREESTONE_COMPILER_TILE_SPLITPRODUCTS_H
#define FREESTONE_COMPILER_TILE_SPLITPRODUCTS_H

#include "compiler/device/DeviceDescription.h"
#include "compiler/plan/ContractionForm.h"

namespace freestone::tile {

/// A tiling of products of f32 on a matrix unit for bf16: each element is the sum of three numbers of bf16, and six of
/// the nine products of these are summed in f32 (Henry, Tang and Heinecke, ARITH 2019; the precision BF16_BF16_F32_X6 of
/// XLA). Runs with few rows, columns or steps, which do not repay splitting, keep the tiling `others`. Nothing if the
/// device has no such unit, or one that is not fast enough, if the form can't be split, or if only a run would know
/// whether it repays but there may be no `variants`.
std::optional<mlir::Attribute> tileSplitProducts(ContractionForm &form, mlir::Attribute others,
                                                 const DeviceDescription &device, bool variants);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_SPLITPRODUCTS_H
