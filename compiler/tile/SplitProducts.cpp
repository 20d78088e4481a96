#include "compiler/tile/SplitProducts.h"

#include "compiler/dialect/sym/Bounds.h"
#include "compiler/plan/ContractionTree.h"
#include "compiler/plan/TreeNodes.h"
#include "compiler/tile/TileContraction.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

/// Products of parts that are summed for each product.
static constexpr double productsOfParts = 6;
/// How much faster than multiply-adds these have to be, packing apart.
static constexpr double leastAdvantage = 1.5;
/// Multiply-adds with an element, the mean of both operands', that repay splitting it.
static constexpr int64_t leastUses = 2 * fewestSplitSteps;

bool tile::mayPayToSplit(const DeviceDescription &device) {
  return device.pairUnit == WordUnit::tiles &&
         device.getPairMultiplyAdds() >= productsOfParts * leastAdvantage * device.getMultiplyAdds(32);
}

/// So many rows that multiply-adds take longer than the tiles of a strip, whose parts come from L2; where these fill
/// most of it, or come from beyond, they are waited for.
int64_t tile::getFewestRowsOfParts(int64_t bytes, int64_t cacheBytes) {
  return bytes <= cacheBytes / 2 ? 12 : bytes <= cacheBytes * 3 / 4 ? 16 : 33;
}

/// With so many columns at most in typical runs.
static TreeTilingAttr getSplitTiling(ContractionForm &form, const DotProductFactors &factors, bool arePacked,
                                     int64_t mostColumns, const DeviceDescription &device) {
  constexpr int64_t unit = DotProductLayout::unit, rowBytes = DotProductLayout::rowWords * DotProductLayout::wordBytes;
  // A group of a panel, and of a strip; a panel takes two thirds of L1.
  int64_t groupBytes = factors.parts * unit * rowBytes;
  int64_t groups = std::max<int64_t>(2, device.getL1Bytes() * 2 / 3 / groupBytes);
  // Rows and sums of a run take seven eighths of L2, as many columns as rows; blocks of k are short beside them, since
  // the parts of an element are packed once for all of these. They take half of L2 where a block of all columns fits
  // it, which are cheap to read again: results pass by, and those of many rows would drive the packed rows out.
  int64_t depth = (arePacked ? 32 : 8) * factors.getStepsOfWord() * DotProductLayout::rowWords;
  int64_t rows = unit;
  auto getBytes = [&](int64_t count) { return count * depth / unit / (rowBytes / 2) * groupBytes; };
  bool areColumnsNear = getBytes(mostColumns) <= device.getL2Bytes();
  int64_t share = areColumnsNear ? device.getL2Bytes() / 2 : device.getL2Bytes() * 7 / 8;
  auto fits = [&](int64_t count) { return getBytes(count) + 4 * count * count <= share; };
  while (fits(2 * rows))
    rows *= 2;
  // Few rows read what is packed once: panels needn't stay in L1, and sums stay in registers for longer.
  if (arePacked)
    groups = depth / unit;
  MLIRContext *context = form.compute.getContext();
  auto kernel = DotProductKernelAttr::get(context, DotProductUnit::tiles, groups, factors.parts,
                                          /*last_vectors=*/0);
  ContractionTree tree = ContractionTree::of(form, kernel, prefetchRows);
  tree.multiply = TreeNodes(context).multiply(/*compute=*/0, ContractionAxis::columns);
  tree.mostRows = rows;
  tree.panels = rows / unit;
  tree.depth = depth;
  tree.depthUnit = DotProductLayout::get(form, kernel).getStepsOfGroup();
  tree.keptColumns = device.getL2Bytes();
  // Rows that are split are worth keeping, also where they leave L2.
  tree.keptRows = std::max(rows * depth, tree.keptColumns);
  tree.keepsWhole = true;
  return tree.build();
}

std::optional<Attribute> tile::tileSplitProducts(ContractionForm &form, Attribute others, const TypicalRuns &runs,
                                                 const DeviceDescription &device, bool variants) {
  if (!mayPayToSplit(device))
    return std::nullopt;
  std::optional<DotProductFactors> factors = form.getSplitFactors();
  if (!factors)
    return std::nullopt;
  MLIRContext *context = form.compute.getContext();
  PartsAttr packed;
  if (Value parts = form.getParts())
    packed = cast<PartsAttr>(cast<graph::TensorType>(parts.getType()).getLayout());
  Expr zero = Expr::constant(context, 0), one = Expr::constant(context, 1);
  Expr rows = form.getExtent(form.m), columns = form.getExtent(form.n), depth = form.getExtent(form.k);
  sym::Bounds bounds(sym::Interval::size());
  SmallVector<int64_t> typicalColumns = runs.evaluate(columns);
  int64_t mostColumns = *llvm::max_element(typicalColumns);
  Attribute split = getSplitTiling(form, *factors, packed != nullptr, mostColumns, device);
  auto areFew = [&](Expr extent, int64_t least) { return bounds.interval(extent).hi < least; };
  if (areFew(columns, fewestSplitSteps) || areFew(depth, fewestSplitSteps) ||
      areFew(rows, packed ? packed.getFewestRows() : fewestSplitSteps))
    return std::nullopt;
  // The harmonic mean: an element of A has `columns` products, one of B `rows`.
  Expr uses = Expr::floorDiv(2 * rows * columns, Expr::max(one, rows + columns));
  Expr missing =
      packed ? Expr::max(zero, packed.getFewestRows() - rows) : Expr::max(zero, leastUses - Expr::min(uses, 2 * depth));
  if (missing.isConstant(0))
    return split;
  if (missing.isConstant() || !variants)
    return std::nullopt;
  SmallVector<VariantAttr> choices = {VariantAttr::get(context, missing, /*most=*/0, split)};
  if (auto several = dyn_cast<ChoiceAttr>(others)) {
    llvm::append_range(choices, several.getVariants());
    others = several.getOtherwise();
  }
  return ChoiceAttr::get(context, choices, others);
}
