#include "compiler/tile/TileContraction.h"

#include "compiler/dialect/sym/Bounds.h"
#include "compiler/plan/DotProductLayout.h"
#include "compiler/plan/IndexMaps.h"
#include "compiler/plan/MatrixInPlace.h"
#include "compiler/plan/TreeNodes.h"
#include "compiler/tile/ContractionVariants.h"
#include <set>

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;

ContractionBlocks ContractionBlocks::get(const DeviceDescription &device, unsigned elementBytes) {
  ContractionBlocks blocks;
  // Three quarters of L1 for a panel of B; the rest for streaming rows of A and C.
  int64_t panelRowBytes = int64_t(device.getPanelWidth(elementBytes * 8)) * elementBytes;
  blocks.depth = std::max<int64_t>(64, device.getL1Bytes() * 3 / 4 / panelRowBytes / 64 * 64);
  // A quarter of L2 for the rows of A.
  int64_t rowUnit = device.getPanelRows();
  int64_t rows = device.getL2Bytes() / 4 / (blocks.depth * elementBytes);
  blocks.rows = std::clamp<int64_t>(rows / rowUnit, 4, 18) * rowUnit;
  blocks.panels = 8;
  return blocks;
}

MicroKernelAttr tile::getMicroKernel(const DeviceDescription &device, Type elementType) {
  unsigned bits = elementType.getIntOrFloatBitWidth();
  int64_t lanes = device.getLanes(bits), vectors = device.getPanelWidth(bits) / lanes;
  // Further unrolling would spill registers.
  return MicroKernelAttr::get(elementType.getContext(), device.getPanelRows(), vectors, lanes, /*unroll=*/2,
                              /*last_vectors=*/0, /*in_order=*/false);
}

MicroKernelAttr tile::withLastVectors(MicroKernelAttr kernel, ArrayRef<int64_t> columns) {
  int64_t vectors = kernel.getVectors();
  for (int64_t ofRun : columns)
    if (int64_t last = ofRun % kernel.getWidth())
      vectors = std::min<int64_t>(vectors, llvm::divideCeil(last, kernel.getLanes()));
  return MicroKernelAttr::get(kernel.getContext(), kernel.getRows(), kernel.getVectors(), kernel.getLanes(),
                              kernel.getUnroll(), vectors < kernel.getVectors() ? vectors : 0, kernel.getInOrder());
}

/// Whether elements of neighbouring steps of k are neighbours in memory.
static bool isContiguousAlongDepth(ContractionForm &form, Value factor) {
  std::optional<unsigned> input = form.getInput(factor);
  std::optional<LinearIndex> linear = input ? getStrides(form.compute, *input) : std::nullopt;
  return linear && linear->strides[form.k.back()].isConstant(1);
}

/// Whether elements of neighbouring rows are neighbours in memory, as of a matrix that is stored transposed.
static bool areRowsContiguous(ContractionForm &form) {
  std::optional<unsigned> input = form.getInput(form.lhs);
  std::optional<LinearIndex> linear = input && !form.m.empty() ? getStrides(form.compute, *input) : std::nullopt;
  return linear && linear->strides[form.m.back()].isConstant(1) && !isContiguousAlongDepth(form, form.lhs);
}

static bool areColumnsContiguous(ContractionForm &form) {
  std::optional<unsigned> input = form.getInput(form.rhs);
  if (!input || !hasStrides(form.compute.getInputType(*input)))
    return true;
  std::optional<LinearIndex> linear = getStrides(form.compute, *input);
  return !linear || linear->strides[form.n.back()].isConstant(1);
}

/// Whether a product has a single row or column, and is summed in place faster than the matrix is packed. Pairs of
/// narrow integers are summed so for a row only, with vectors along memory.
static bool hasVector(ContractionForm &form) {
  if (form.areColumnsWords() || form.areRowsStrips())
    return false;
  bool isRow = form.getExtent(form.m).isConstant(1), isColumn = form.getExtent(form.n).isConstant(1);
  if (isRow && isColumn)
    return true;
  if (form.multipliesPairs())
    return isRow && (areColumnsContiguous(form) || isContiguousAlongDepth(form, form.rhs));
  return isRow || (isColumn && isContiguousAlongDepth(form, form.lhs));
}

bool tile::isMicroKernelContraction(ContractionForm &form, int64_t width) {
  bool isRowInPlace = isa<FloatType>(form.elementType) && !form.m.empty() && !form.getExtent(form.n).isConstant(1) &&
                      (form.getStreamedInput() || AlongDepth::get(form, width));
  return !hasVector(form) || form.getPackedInput(width) || isRowInPlace;
}

/// Bytes of an element in memory of the input that a factor reads; of the micro-kernel's if it is computed.
static int64_t getStoredBytes(ContractionForm &form, Value factor) {
  Type type = form.elementType;
  if (std::optional<unsigned> input = form.getInput(factor))
    type = getStorageType(form.compute.getInputType(*input).getElementType());
  return std::max(1u, type.getIntOrFloatBitWidth() / 8);
}

/// Rows that read B in place at most, if they can: as many as one block of the micro-kernel reads each panel once for,
/// or those that inner products are made of.
static int64_t getStreamedRows(ContractionForm &form, MicroKernelAttr kernel, int64_t wordSteps) {
  if (wordSteps > 1)
    return 0;
  int64_t most = 0;
  if (form.getStreamedInput())
    most = kernel.getRows();
  else if (AlongDepth::get(form, kernel.getWidth()))
    most = AlongDepth::getMostRows(kernel);
  return form.getExtent(form.m).asConstant().value_or(1) <= most ? most : 0;
}

/// Columns that read rows of A in place at most, if they can.
static int64_t getStreamedColumns(ContractionForm &form, MicroKernelAttr kernel, int64_t wordSteps) {
  return wordSteps == 1 && form.slices == 1 ? RowsInPlace::getMostColumns(form, kernel) : 0;
}

/// Panels that are packed at once: four lines of memory at least, which prefetchers follow.
static constexpr int64_t packedTogether = 4;

/// All but the sizes.
static ContractionProblem getStoredProblem(ContractionForm &form, MicroKernelAttr kernel, int64_t wordSteps) {
  ContractionProblem problem;
  problem.bytes = form.elementType.getIntOrFloatBitWidth() / 8;
  problem.lhsBytes = getStoredBytes(form, form.lhs) * wordSteps;
  problem.rhsBytes = getStoredBytes(form, form.rhs) * wordSteps;
  problem.resultBytes = getStorageType(form.compute.getResultType(0).getElementType()).getIntOrFloatBitWidth() / 8;
  problem.isPacked = form.getPackedInput(kernel.getWidth()).has_value();
  problem.areColumnsContiguous = areColumnsContiguous(form);
  problem.areRowsContiguous = areRowsContiguous(form);
  problem.isDirect = form.compute.getResult(0).use_empty() ||
                     llvm::all_of(form.compute->getUsers(), [](Operation *user) { return isa<ReturnOp>(user); });
  problem.kernelRows = kernel.getRows();
  problem.vectors = kernel.getVectors();
  problem.lanes = kernel.getLanes();
  problem.lastVectors = kernel.getLastVectors();
  problem.streamedRows = getStreamedRows(form, kernel, wordSteps);
  problem.streamedColumns = getStreamedColumns(form, kernel, wordSteps);
  if (problem.streamedRows > 0 && !form.getStreamedInput())
    problem.stepsOfRow = AlongDepth::stepsOfRow;
  return problem;
}

ContractionProblem tile::getContractionProblem(ContractionForm &form, MicroKernelAttr kernel, int64_t wordSteps,
                                               llvm::function_ref<int64_t(sym::Expr)> valueOf) {
  auto getSize = [&](sym::Expr size) { return std::clamp(valueOf(size), TypicalRuns::least, TypicalRuns::most); };
  ContractionProblem problem = getStoredProblem(form, kernel, wordSteps);
  problem.outer = getSize(form.getExtent(form.outer));
  problem.m = getSize(form.getExtent(form.m));
  problem.n = getSize(form.getExtent(form.n));
  problem.k = getSize(form.getDepth(wordSteps));
  return problem;
}

SmallVector<ContractionProblem> tile::getContractionProblems(ContractionForm &form, MicroKernelAttr kernel,
                                                             int64_t wordSteps, const TypicalRuns &runs,
                                                             const std::optional<InnerProducts> &inner) {
  ContractionProblem problem = getStoredProblem(form, kernel, wordSteps);
  if (inner) {
    problem.innerRows = inner->rows;
    problem.innerColumns = inner->columns;
    problem.packsInner = inner->packed.has_value();
  }
  SmallVector<ContractionProblem> problems;
  sym::Expr rows = form.getExtent(form.m), columns = form.getExtent(form.n), depth = form.getDepth(wordSteps);
  for (auto [outer, m, n, k] :
       llvm::zip_equal(runs.evaluate(form.getExtent(form.outer)), runs.evaluate(rows), runs.evaluate(columns),
                       runs.evaluate(depth))) {
    problem.outer = outer;
    problem.m = m;
    problem.n = n;
    problem.k = k;
    problems.push_back(problem);
  }
  // No typical run has one row alone, or a few columns, where sizes of matrices differ from run to run.
  bool isOfMatrices = form.m.size() == 1 && form.n.size() == 1 && form.k.size() == 1;
  auto isFixed = [&](sym::Expr size) { return llvm::all_equal(runs.evaluate(size)); };
  if (isOfMatrices && llvm::none_of(ArrayRef{rows, columns, depth}, isFixed)) {
    auto add = [&](int64_t m, int64_t n) {
      problem.m = m;
      problem.n = n;
      problems.push_back(problem);
    };
    auto getSizes = [&](sym::Expr size) {
      SmallVector<int64_t> sizes = runs.evaluate(size);
      llvm::sort(sizes);
      sizes.erase(llvm::unique(sizes), sizes.end());
      return sizes;
    };
    problem.outer = 1;
    problem.k = getSizes(depth).back();
    for (int64_t width : getSizes(columns))
      add(/*m=*/1, width);
    // Few rows read columns that lie along k in place.
    for (int64_t few : {2, 4, 8})
      for (int64_t steps : inner && inner->packed ? getSizes(depth) : SmallVector<int64_t>()) {
        problem.k = steps;
        add(getSizes(rows).back(), few);
      }
  }
  return problems;
}

/// The size of a program that an extent of its problems is.
static sym::Expr getSize(ContractionForm &form, ContractionExtent extent, int64_t wordSteps) {
  sym::Expr rows = form.getExtent(form.m), columns = form.getExtent(form.n);
  switch (extent) {
  case ContractionExtent::outer:
    return form.getExtent(form.outer);
  case ContractionExtent::rows:
    return rows;
  case ContractionExtent::columns:
    return columns;
  case ContractionExtent::depth:
    return form.getDepth(wordSteps);
  case ContractionExtent::narrower:
    return sym::Expr::min(rows, columns);
  }
  llvm_unreachable("an extent is a size");
}

/// A row of a strip is a piece of 1 KiB of memory, from which prefetchers have a page at hand; sums take half of L1 at
/// most. Panels pass by from L2 for each strip: a quarter of L2 holds them, where one of them alone would take half of
/// L1. Only where neighbouring columns are neighbours in memory are pieces wide.
static ContractionStrips getStrips(ContractionForm &form, MicroKernelAttr kernel, int64_t wordSteps,
                                   const DeviceRates &rates) {
  int64_t bytes = form.elementType.getIntOrFloatBitWidth() / 8, width = kernel.getWidth();
  constexpr int64_t pieceBytes = 1024;
  int64_t ofRow = width * bytes, most = rates.l1Bytes / 2 / (kernel.getRows() * ofRow);
  int64_t panels = std::min(pieceBytes / ofRow, int64_t(llvm::bit_floor(uint64_t(most))));
  if (panels < 2)
    return {};
  int64_t depth = std::min(rates.l1Bytes / 2, rates.l2Bytes / 4 / panels) / ofRow;
  sym::Bounds bounds(sym::Interval::size());
  bool isWide = form.slices == 1 && !form.compute.getResultType(0).getLayout() &&
                form.n.back() + 1 == form.compute.getNumParallel() &&
                bounds.interval(form.getExtent(form.n)).hi > width;
  bool isHigh = bounds.interval(form.getExtent(form.m)).hi > kernel.getRows();
  if (!isWide || !isHigh || bounds.interval(form.getDepth(wordSteps)).lo > depth)
    return {};
  return {panels, depth};
}

static void setSizes(ContractionTree &tree, const ContractionShares &shares) {
  tree.share = ShareAttr::get(tree.kernel.getContext(), shares.rowElements, shares.mostRows, shares.leastTiles);
  tree.panels = shares.panels;
  tree.depth = shares.depth;
  tree.depthUnit = shares.depthUnit;
}

Attribute tile::tileContraction(ContractionForm &form, const TypicalRuns &runs, const DeviceDescription &device,
                                ContractionTilings allowed) {
  MLIRContext *context = form.compute.getContext();
  MicroKernelAttr kernel = getMicroKernel(device, form.elementType);
  if (allowed.narrowPanels)
    kernel = withLastVectors(kernel, runs.evaluate(form.getExtent(form.n)));
  int64_t wordSteps = allowed.pairProducts && form.multipliesPairs() ? 2 : 1;
  bool isWindow = wordSteps == 1 && form.getWindowTaps();
  // Windows are packed by whole steps of their outermost loop, whatever their taps.
  int64_t depthUnit = isWindow ? 1 : kernel.getLanes();
  if (std::optional<AlongDepth> along = AlongDepth::get(form, kernel.getWidth()); along && along->arePanels)
    depthUnit = kernel.getWidth();
  DeviceRates rates = DeviceRates::get(device);
  std::optional<InnerProducts> inner = allowed.innerProducts ? InnerProducts::get(form, device) : std::nullopt;
  SmallVector<ContractionProblem> problems = getContractionProblems(form, kernel, wordSteps, runs, inner);
  ContractionTree tree = ContractionTree::of(form, kernel, prefetchRows);
  ContractionStrips strips = allowed.strips ? getStrips(form, kernel, wordSteps, rates) : ContractionStrips();
  tree.streamedRows = allowed.streamColumns ? getStreamedRows(form, kernel, wordSteps) : 0;
  int64_t mostColumns = allowed.streamRows ? getStreamedColumns(form, kernel, wordSteps) : 0;
  auto areFew = [&](int64_t columns) { return columns <= mostColumns; };
  tree.streamedColumns = llvm::any_of(runs.evaluate(form.getExtent(form.n)), areFew) ? mostColumns : 0;
  tree.stripPanels = strips.panels;
  tree.stripDepth = strips.depth;
  // Beyond L2, rows of results take longer to come than the store buffer holds. What follows on slices brings its own.
  bool brings = allowed.bringResults && form.slices == 1;
  int64_t bringBeyond = brings ? rates.l2Bytes * 8 / form.elementType.getIntOrFloatBitWidth() : 0;
  tree.multiply =
      TreeNodes(context).multiply(/*compute=*/0, ContractionAxis::columns, wordSteps, /*skipTaps=*/false, bringBeyond);
  tree.alternates = allowed.alternate && !tree.columns;
  if (allowed.packTogether && tree.columns && tree.mayPackTogether(form, wordSteps)) {
    tree.packedTogether = packedTogether;
    for (ContractionProblem &problem : problems)
      problem.packedTogether = packedTogether;
  }
  if (tree.streamedRows > 0 && form.getStreamedInput())
    tree.farColumns = rates.l3Bytes * 8 / form.elementType.getIntOrFloatBitWidth();
  auto getTiling = [&](const ContractionChoice &choice) -> Attribute {
    if (choice.isInner)
      return inner->getTiling(form, device);
    const ContractionShares &shares = choice.shares;
    setSizes(tree, shares);
    tree.keptRows = allowed.keepPacked ? shares.keptRows : 0;
    tree.keptColumns = allowed.keepPacked && !isWindow ? shares.keptColumns : 0;
    return tree.build();
  };
  if (!allowed.construct)
    return getTiling({.shares = getPlainShares(problems.front(), rates, depthUnit)});
  ContractionVariants chosen = chooseVariants(problems, constructContraction(problems, rates, depthUnit, strips), rates,
                                              allowed.variants ? mostTilings : 1);
  if (chosen.variants.empty())
    return getTiling(chosen.otherwise);
  SmallVector<VariantAttr> variants;
  auto add = [&](ContractionExtent extent, int64_t most, Attribute tiling) {
    auto variant = VariantAttr::get(context, getSize(form, extent, wordSteps), most, tiling);
    if (!llvm::is_contained(variants, variant))
      variants.push_back(variant);
  };
  for (const ContractionVariant &variant : chosen.variants) {
    using Extent = ContractionExtent;
    // Inner products of a single column, or row, have blocks of their own.
    bool mayBeColumn = variant.choice.isInner && llvm::is_contained({Extent::columns, Extent::narrower}, variant.extent);
    bool mayBeRow = variant.choice.isInner && llvm::is_contained({Extent::rows, Extent::narrower}, variant.extent);
    mayBeRow &= !inner || !inner->packed;
    if (mayBeColumn)
      add(Extent::columns, 1, inner->getOfColumn().getTiling(form, device));
    if (mayBeRow)
      add(Extent::rows, 1, inner->getOfRow().getTiling(form, device));
    bool areOthers = variant.extent == Extent::narrower ? !mayBeRow : !mayBeColumn && !mayBeRow;
    if (variant.most > 1 || areOthers)
      add(variant.extent, variant.most, getTiling(variant.choice));
  }
  return ChoiceAttr::get(context, variants, getTiling(chosen.otherwise));
}

SmallVector<TreeTilingAttr> tile::getBestTilings(TreeTilingAttr chosen, ArrayRef<ContractionProblem> problems,
                                                 const DeviceRates &rates, size_t most) {
  ContractionTree tree = *ContractionTree::get(chosen);
  auto steps = [&](const ContractionShares &shares) {
    return llvm::map_to_vector(problems, [&](const auto &problem) { return TileSteps::get(problem, shares); });
  };
  SmallVector<TreeTilingAttr> tilings = {chosen};
  ContractionShares ofChosen = ContractionShares::get(tree);
  std::set<SmallVector<TileSteps>> known = {steps(ofChosen)};
  for (const ContractionCandidate &candidate : constructContraction(problems, rates, tree.depthUnit, ofChosen.strips)) {
    if (tilings.size() == most)
      break;
    const ContractionShares &shares = candidate.choice.shares;
    if (!candidate.choice.isInner && known.insert(steps(shares)).second) {
      setSizes(tree, shares);
      tilings.push_back(tree.build());
    }
  }
  return tilings;
}

static WordUnit getUnit(const DotProductFactors &factors, const DeviceDescription &device) {
  return factors.areIntegers ? device.quadUnit : device.pairUnit;
}

bool tile::isDotProductContraction(ContractionForm &form, const DeviceDescription &device) {
  std::optional<DotProductFactors> factors = form.getDotProductFactors();
  if (!factors || getUnit(*factors, device) == WordUnit::none)
    return false;
  // Without inner products of words, integers of a single row or column are summed in place element by element.
  bool areInner = getUnit(*factors, device) == WordUnit::vectors && !form.getExtent(form.m).isConstant(1) &&
                  ReadsInPlace::isNarrow(form);
  return !factors->areIntegers || areInner || !hasVector(form);
}

TreeTilingAttr tile::tileDotProducts(ContractionForm &form, const TypicalRuns &runs, const DeviceDescription &device,
                                     DotProductTilings allowed) {
  constexpr int64_t unit = DotProductLayout::unit, rowBytes = DotProductLayout::rowWords * DotProductLayout::wordBytes;
  DotProductFactors factors = *form.getDotProductFactors();
  // Blocks are equal in bytes for all elements.
  int64_t bytes = DotProductLayout::wordBytes / factors.getStepsOfWord(), depth = 4096 / bytes;
  auto usedUnit = getUnit(factors, device) == WordUnit::tiles ? DotProductUnit::tiles : DotProductUnit::vectors;
  bool areVectors = usedUnit == DotProductUnit::vectors;
  // A panel takes two thirds of L1, rows of A a quarter of L2, or four strips of them half of a small one. Sums come and
  // go for each piece of a panel: where reads from L2 hide beside products, panels have less of these.
  constexpr double hiddenReads = 0.05;
  bool areReadsHidden = areVectors && device.getExposedReads() <= hiddenReads;
  int64_t panelBytes = std::max(device.getL1Bytes() * 2 / 3, areReadsHidden ? device.getL2Bytes() / 16 : 0);
  int64_t groups = std::max<int64_t>(4, panelBytes / (unit * rowBytes));
  int64_t rows = std::clamp<int64_t>(device.getL2Bytes() / 4 / (depth * bytes) / unit, 4, 8) * unit;
  MLIRContext *context = form.compute.getContext();
  MicroKernelAttr block = DotProductLayout::getBlock(context, /*lastVectors=*/0);
  if (allowed.narrowPanels && areVectors)
    block = withLastVectors(block, runs.evaluate(form.getExtent(form.n)));
  auto kernel = DotProductKernelAttr::get(context, usedUnit, groups, factors.parts, block.getLastVectors());
  ContractionTree tree = ContractionTree::of(form, kernel, prefetchRows);
  bool isDirect = allowed.directResults && DotProductLayout::getDirectType(form, kernel);
  tree.multiply = TreeNodes(context).multiply(/*compute=*/0, ContractionAxis::columns, /*wordSteps=*/1,
                                              /*skipTaps=*/false, /*bringBeyond=*/0, isDirect);
  if (allowed.strips && areVectors) {
    ContractionStrips found = getStrips(form, tree.kernel, /*wordSteps=*/1, DeviceRates::get(device));
    tree.stripPanels = found.panels;
    tree.stripDepth = found.depth;
  }
  // On vectors beside a matrix unit, what packing an operand would take has to repay the slower products.
  bool isBeside = !areVectors && !factors.areIntegers && factors.parts == 1 && device.hasPairsOnVectors();
  if (areVectors || isBeside) {
    tree.streamedRows = allowed.streamColumns ? ReadsInPlace::getMostRows(form) : 0;
    // Few columns alone are inner products where no typical run has a panel or two.
    int64_t most = allowed.streamRows ? ReadsInPlace::getMostColumns(form, isBeside) : 0;
    auto areFew = [&](int64_t columns) { return columns <= most; };
    bool haveFew = llvm::any_of(runs.evaluate(form.getExtent(form.n)), areFew);
    int64_t otherwise = ReadsInPlace::get(form).mayBeInner ? std::min(most, ReadsInPlace::mostColumns) : 0;
    tree.streamedColumns = haveFew ? most : otherwise;
  }
  DeviceRates rates = DeviceRates::get(device);
  // Tiles differ in time: the last rows are fewer.
  constexpr int64_t tilesOfWorker = 4;
  // Strips write few pages at a time: results are no bound.
  tree.share = ShareAttr::get(context, /*elements=*/rows * depth, /*mostRows=*/rows * depth,
                              tilesOfWorker * getTiledWorkers(rates));
  tree.panels = 8;
  tree.depth = depth;
  tree.depthUnit = DotProductLayout::get(form, kernel).getStepsOfGroup();
  tree.keptRows = tree.rows ? std::max(rows * depth, getMostKeptRows(rates) / bytes) : 0;
  tree.keptColumns = getMostKeptColumns(rates) / bytes;
  // Rows of their memory are short.
  tree.packsRuns = true;
  return tree.build();
}
