// Properties of constructed tilings: whatever the sizes and the device, they are aligned, keep to the capacities, and
// follow the device.
#include "compiler/tile/ConstructContraction.h"

#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/plan/ContractionTiles.h"
#include "compiler/plan/TreeNodes.h"
#include "compiler/tile/ContractionVariants.h"
#include "compiler/tile/TileContraction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MathExtras.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using llvm::divideCeil;

namespace {

/// Ones, few, primes, powers of two and huge ones.
class RandomSizes {
public:
  explicit RandomSizes(unsigned seed) : engine(seed) {}

  int64_t size() {
    static constexpr int64_t primes[] = {2, 3, 5, 7, 13, 31, 127, 509, 1021, 8191, 131071};
    switch (below(5)) {
    case 0:
      return 1;
    case 1:
      return primes[below(std::size(primes))];
    case 2:
      return int64_t(1) << below(21);
    case 3:
      return 1 + below(100);
    default:
      return 1 + below(5000);
    }
  }
  int64_t below(int64_t bound) { return std::uniform_int_distribution<int64_t>(0, bound - 1)(engine); }

private:
  std::mt19937 engine;
};

DeviceDescription describe(StringRef target) { return llvm::cantFail(DeviceDescription::get(target)); }

/// Devices that nobody built, among others.
std::vector<DeviceDescription> someDevices() {
  std::vector<DeviceDescription> devices = {describe("x86-64-v3"), describe("x86-64-v4")};
  DeviceDescription tiny = devices[0], wide = devices[1], flat = devices[0];
  tiny.memoryLevels = {{4 << 10}, {32 << 10}, {256 << 10}};
  wide.vectorBytes = 512;
  wide.units = 200;
  flat.memoryLevels = {{64 << 10}};
  devices.insert(devices.end(), {tiny, wide, flat});
  return devices;
}

ContractionProblem makeProblem(const DeviceDescription &device, int64_t outer, int64_t m, int64_t n, int64_t k) {
  ContractionProblem problem{.outer = outer, .m = m, .n = n, .k = k};
  problem.kernelRows = device.getPanelRows();
  problem.lanes = device.getLanes(32);
  problem.vectors = device.getPanelWidth(32) / problem.lanes;
  return problem;
}

ContractionShares choose(const DeviceDescription &device, const ContractionProblem &problem) {
  return constructContraction(problem, DeviceRates::get(device), problem.lanes).front().choice.shares;
}

/// A product whose sizes a run brings, and its tiling by the shares.
class Product {
public:
  Product() {
    context.loadDialect<sym::SymDialect, graph::GraphDialect, TileDialect, arith::ArithDialect>();
    module = parseSourceString<ModuleOp>(R"(
      tile.program @product symbols [b, m, n, k] (%x: !graph.tensor<[b, m, k], f32>, %w: !graph.tensor<[b, k, n], f32>)
          -> (!graph.tensor<[b, m, n], f32>) {
        %r = tile.compute [b, m, n, k] [parallel, parallel, parallel, reduction]
          ins(%x : affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, %w : affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>)
          init [0.0 : f32] {
        ^bb0(%p: f32, %q: f32, %sum: f32):
          %pq = arith.mulf %p, %q : f32
          %s = arith.addf %sum, %pq : f32
          tile.yield %s : f32
        } : (!graph.tensor<[b, m, k], f32>, !graph.tensor<[b, k, n], f32>) -> !graph.tensor<[b, m, n], f32>
        tile.return %r : !graph.tensor<[b, m, n], f32>
      })",
                                         &context);
  }

  ContractionTiles tile(const ContractionProblem &problem, const ContractionShares &shares) {
    ContractionTree tree(
        MicroKernelAttr::get(&context, problem.kernelRows, problem.vectors, problem.lanes, 2, 0, false));
    tree.hasOuter = true;
    tree.share = ShareAttr::get(&context, shares.rowElements, shares.mostRows, shares.leastTiles);
    tree.panels = shares.panels;
    tree.depth = shares.depth;
    tree.depthUnit = shares.depthUnit;
    tree.rows = 0;
    tree.columns = 1;
    tree.keptRows = shares.keptRows;
    tree.keptColumns = shares.keptColumns;
    tree.multiply = TreeNodes(&context).multiply(/*compute=*/0, ContractionAxis::columns);
    // What is built is read again as it was.
    tree = *ContractionTree::get(tree.build());
    EXPECT_EQ(ContractionShares::get(tree), shares);
    std::optional<ContractionForm> form = getContractionWithEpilogue(*module->getOps<ProgramOp>().begin());
    return ContractionTiles::get(*form, tree);
  }

  static int64_t evaluate(sym::Expr size, const ContractionProblem &problem) {
    return size
        .evaluate([&](StringRef symbol) -> std::optional<int64_t> {
          return symbol == "b" ? problem.outer : symbol == "m" ? problem.m : symbol == "n" ? problem.n : problem.k;
        })
        .value_or(-1);
  }

private:
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

} // namespace

TEST(ConstructContraction, CandidatesAreAlignedAndKeepToCapacities) {
  RandomSizes random(1);
  for (const DeviceDescription &device : someDevices()) {
    DeviceRates rates = DeviceRates::get(device);
    for (int i = 0; i < 400; ++i) {
      ContractionProblem problem = makeProblem(device, random.size(), random.size(), random.size(), random.size());
      problem.isPacked = random.below(2);
      int64_t bytes = problem.bytes, unit = problem.lanes;
      SmallVector<ContractionCandidate> candidates = constructContraction(problem, rates, unit);
      ASSERT_FALSE(candidates.empty());
      EXPECT_LE(candidates.size(), mostCandidates);
      for (const ContractionCandidate &candidate : candidates) {
        const ContractionShares &shares = candidate.choice.shares;
        ASSERT_EQ(shares.depth % shares.depthUnit, 0);
        ASSERT_EQ(shares.mostRows % problem.kernelRows, 0);
        ASSERT_GE(std::min({shares.rowElements, shares.mostRows, shares.leastTiles, shares.panels, shares.depth}), 1);
        // One unit at least, where not even that fits.
        int64_t panel = shares.depth * problem.getWidth() * bytes;
        ASSERT_LE(panel, std::max({rates.l1Bytes, rates.l2Bytes / 8,
                                   std::max<int64_t>(unit, 64) * problem.getWidth() * bytes}));
        ASSERT_LE(shares.rowElements * bytes, rates.l2Bytes / 2);
        int64_t rows = getMostRows(problem, shares);
        ASSERT_EQ(rows % problem.kernelRows, 0);
        if (problem.n >= pageElements)
          ASSERT_LE(rows, shares.mostRows);
        ASSERT_LE((rows - problem.kernelRows) * std::min(problem.k, shares.depth) * bytes, rates.l2Bytes / 2);
        ASSERT_LE(std::max(shares.keptRows, shares.keptColumns) * bytes, std::max(rates.l3Bytes, 4 * rates.l2Bytes));
        for (int64_t workers : {1, 7}) {
          TilingCost cost = estimateContraction(problem, shares, rates, workers);
          ASSERT_TRUE(std::isfinite(cost.getTotal()));
          ASSERT_GT(cost.getTotal(), 0);
          ASSERT_GE(
              std::min({cost.compute, cost.l2, cost.l3, cost.memory, cost.packing, cost.overhead, cost.imbalance}), 0);
        }
      }
    }
  }
}

/// What the emitted code writes to scratch at any sizes is within what the plan reserves.
TEST(ConstructContraction, ScratchHoldsWhatIsPacked) {
  RandomSizes random(2);
  Product product;
  for (const DeviceDescription &device : someDevices()) {
    for (int i = 0; i < 20; ++i) {
      // Tilings of other sizes than those that they are used at.
      ContractionProblem chosen = makeProblem(device, random.size(), random.size(), random.size(), random.size());
      ContractionShares shares = choose(device, chosen);
      for (int j = 0; j < 12; ++j) {
        ContractionProblem at = makeProblem(device, 1 + random.below(3), random.size() - random.below(2),
                                            random.size() - random.below(2), random.size() - random.below(2));
        ContractionTiles tiles = product.tile(at, shares);
        int64_t width = at.getWidth(), rowBlocks = Product::evaluate(tiles.rowBlocks, at);
        int64_t depthBlocks = Product::evaluate(tiles.depthBlocks, at),
                panels = Product::evaluate(tiles.columnTiles, at);
        ASSERT_GE(depthBlocks, 1);
        ASSERT_EQ(Product::evaluate(tiles.tiles, at), at.outer * rowBlocks * panels);
        int64_t rowStep = divideCeil(at.m, std::max<int64_t>(1, rowBlocks));
        int64_t depthStep = llvm::alignTo(divideCeil(at.k, depthBlocks), shares.depthUnit);
        if (!at.m || !at.n)
          continue;
        ASSERT_GE(rowStep * rowBlocks, at.m);
        ASSERT_LE(depthStep, shares.depth);
        int64_t ofRows = rowStep * depthStep * depthBlocks, ofColumns = panels * width * depthStep * depthBlocks;
        if (ofRows > shares.keptRows)
          ofRows = rowStep * depthStep;
        if (ofColumns > shares.keptColumns)
          ofColumns = width * depthStep;
        int64_t together = depthBlocks > 1 ? std::min(shares.panels, panels) : 1;
        EXPECT_LE(ofRows, Product::evaluate(tiles.packedRows, at));
        EXPECT_LE(ofColumns, Product::evaluate(tiles.packedColumns, at));
        EXPECT_LE(rowStep * width * together, Product::evaluate(tiles.sums, at));
      }
    }
  }
}

TEST(ConstructContraction, SmallerCachesMeanShorterPanels) {
  for (const char *target : {"x86-64-v3", "x86-64-v4"}) {
    DeviceDescription device = describe(target), small = device;
    small.memoryLevels[0].bytes /= 8;
    small.memoryLevels[1].bytes /= 16;
    for (int64_t size : {1024, 2048, 4096}) {
      ContractionProblem problem = makeProblem(device, 1, size, size, size);
      problem.isPacked = true;
      EXPECT_LT(choose(small, problem).depth, choose(device, problem).depth) << target << " " << size;
    }
  }
}

TEST(ConstructContraction, FasterMemoryMakesTransfersMatterLess) {
  DeviceDescription device = describe("x86-64-v3"), fast = device;
  fast.rates.levels = {10 * device.getBandwidth(0), 10 * device.getBandwidth(1), 10 * device.getBandwidth(2)};
  fast.rates.memoryRead = 10 * device.getMemoryBandwidth();
  fast.rates.multiplyAdds = device.getMultiplyAdds(32);
  for (int64_t size : {256, 1000, 4000}) {
    ContractionProblem problem = makeProblem(device, 1, size, size, size);
    ContractionShares shares = choose(device, problem);
    TilingCost slow = estimateContraction(problem, shares, DeviceRates::get(device), 1);
    TilingCost faster = estimateContraction(problem, shares, DeviceRates::get(fast), 1);
    EXPECT_LT(faster.l2 + faster.l3 + faster.memory, (slow.l2 + slow.l3 + slow.memory) / 2) << size;
    EXPECT_EQ(faster.compute, slow.compute);
  }
}

/// Where reads from L2 are hidden, panels may leave L1: they are deeper, and sums are added to less often.
TEST(ConstructContraction, HiddenReadsMeanDeeperBlocks) {
  DeviceDescription hidden = describe("x86-64-v3"), exposed = hidden;
  hidden.rates.exposedReads = 0.01;
  exposed.rates.exposedReads = 1;
  for (int64_t size : {512, 1000, 2000}) {
    ContractionProblem problem = makeProblem(hidden, 1, size, size, size);
    EXPECT_GT(choose(hidden, problem).depth, choose(exposed, problem).depth) << size;
  }
}

/// Of vectors that take two cycles each, calls take a smaller part of the time.
/// The later pieces of memory come from beyond L2, the more rows of a transposed matrix each step of k brings.
TEST(ConstructContraction, LatePiecesOfStepsMeanMoreRows) {
  DeviceDescription early = describe("x86-64-v3"), late = early;
  early.rates.pieceSeconds = 1e-10;
  late.rates.pieceSeconds = 2e-8;
  for (auto [m, n, k] : {std::tuple(300, 17, 1024), {1000, 24, 2000}, {5000, 64, 1000}}) {
    ContractionProblem problem = makeProblem(early, 1, m, n, k);
    problem.areRowsContiguous = true;
    auto rowsOfTile = [&](const DeviceDescription &device) {
      return TileSteps::get(problem, choose(device, problem)).rows;
    };
    EXPECT_GT(rowsOfTile(late), rowsOfTile(early)) << m << " x " << k << " x " << n;
  }
}

TEST(ConstructContraction, CyclesAreThoseOfTheClock) {
  DeviceDescription device = describe("x86-64-v4"), halves = device;
  device.rates.multiplyAdds = 9.6e10;
  halves.rates.multiplyAdds = 4.8e10;
  device.rates.cycles = halves.rates.cycles = 3e9;
  ContractionProblem problem = makeProblem(device, 1, 512, 512, 512);
  ContractionShares shares = choose(device, problem);
  TilingCost whole = estimateContraction(problem, shares, DeviceRates::get(device), 1);
  TilingCost half = estimateContraction(problem, shares, DeviceRates::get(halves), 1);
  EXPECT_EQ(half.compute, 2 * whole.compute);
  EXPECT_EQ(half.overhead, whole.overhead);
}

/// Vectors of sums that reach into the next row wait for it with each further block of k.
TEST(ConstructContraction, NarrowRowsAreSummedAtOnce) {
  DeviceDescription device = describe("x86-64-v4");
  DeviceRates rates = DeviceRates::get(device);
  ContractionProblem narrow = makeProblem(device, 1, 64, 10, 512), whole = makeProblem(device, 1, 64, 16, 512);
  auto getOverhead = [&](const ContractionProblem &problem, int64_t depth) {
    ContractionShares shares = choose(device, problem);
    shares.depth = depth;
    return estimateContraction(problem, shares, rates, 1).overhead;
  };
  EXPECT_LT(getOverhead(narrow, 512), getOverhead(whole, 512));
  EXPECT_GT(getOverhead(narrow, 64), 2 * getOverhead(whole, 64));
  EXPECT_EQ(TileSteps::get(narrow, choose(device, narrow)).depthBlocks, 1);
}

/// The pages of wide results are visited once for all panels of a strip.
TEST(ConstructContraction, StripsVisitRowsOnce) {
  DeviceDescription device = describe("x86-64-v3");
  DeviceRates rates = DeviceRates::get(device);
  ContractionProblem problem = makeProblem(device, 1, 2048, 2048, 32);
  auto getOverhead = [&](ContractionStrips strips) {
    ContractionShares shares = constructContraction(problem, rates, problem.lanes, strips).front().choice.shares;
    shares.mostRows = 252;
    shares.panels = 16;
    return estimateContraction(problem, shares, rates, 1).overhead;
  };
  double apart = getOverhead({}), together = getOverhead({.panels = 8, .depth = 128});
  EXPECT_LT(together, 0.7 * apart);
  EXPECT_EQ(getOverhead({.panels = 8, .depth = 16}), apart);
}

TEST(ConstructContraction, MoreUnitsMeanMoreTiles) {
  DeviceDescription few = describe("x86-64-v3"), many = few;
  few.units = 4;
  many.units = 64;
  ContractionProblem problem = makeProblem(few, 1, 512, 64, 512);
  auto countTiles = [&](const DeviceDescription &device) {
    return divideCeil(problem.m, getMostRows(problem, choose(device, problem)));
  };
  EXPECT_LT(countTiles(few), countTiles(many));
}

/// Equal inputs give equal tilings: keys of caches rest on that.
TEST(ConstructContraction, IsDeterministic) {
  DeviceDescription device = describe("x86-64-v4");
  RandomSizes random(3);
  for (int i = 0; i < 50; ++i) {
    ContractionProblem problem = makeProblem(device, 1, random.size(), random.size(), random.size());
    EXPECT_EQ(choose(device, problem), choose(device, problem));
  }
}

/// Variants are few, and faster than one tiling by the model; what has no other sizes has none.
TEST(ConstructContraction, VariantsPay) {
  RandomSizes random(4);
  size_t withVariants = 0;
  for (const DeviceDescription &device : someDevices()) {
    DeviceRates rates = DeviceRates::get(device);
    for (int i = 0; i < 20; ++i) {
      SmallVector<ContractionProblem> problems;
      for (int64_t count = 1 + random.below(12), j = 0; j < count; ++j)
        problems.push_back(makeProblem(device, 1 + random.below(2), random.size(), random.size(), random.size()));
      SmallVector<ContractionCandidate> candidates = constructContraction(problems, rates, problems.front().lanes);
      ContractionVariants chosen = chooseVariants(problems, candidates, rates);
      ASSERT_LT(chosen.variants.size(), mostTilings);
      EXPECT_TRUE(chooseVariants(problems, candidates, rates, 1).otherwise == candidates.front().choice);
      double cost = 0, ofOne = 0;
      for (auto [number, problem] : llvm::enumerate(problems)) {
        ContractionChoice choice = chosen.otherwise;
        for (const ContractionVariant &variant : llvm::reverse(chosen.variants))
          if (getExtent(problem, variant.extent) <= variant.most)
            choice = variant.choice;
        auto candidate = llvm::find_if(candidates, [&](const auto &each) { return each.choice == choice; });
        cost += candidate->costs[number];
        ofOne += candidates.front().costs[number];
      }
      if (problems.size() == 1)
        EXPECT_TRUE(chosen.variants.empty());
      if (chosen.variants.empty())
        EXPECT_EQ(cost, ofOne);
      else
        EXPECT_LT(cost, ofOne);
      withVariants += !chosen.variants.empty();
    }
  }
  EXPECT_GT(withVariants, 0u);
}

/// A condition that takes problems out of a later one: neither of both pays without the other.
TEST(ConstructContraction, VariantsPayTogether) {
  DeviceDescription device = describe("x86-64-v3");
  SmallVector<ContractionProblem> problems = {makeProblem(device, 1, 1, 64, 16), makeProblem(device, 1, 1, 64, 1024),
                                              makeProblem(device, 1, 1024, 64, 16),
                                              makeProblem(device, 1, 1024, 64, 1024)};
  for (ContractionProblem &problem : problems)
    problem.innerRows = 2, problem.innerColumns = 4;
  ContractionShares shares = choose(device, problems.back());
  ContractionCandidate most{.choice = {shares}, .costs = {0, std::log(1.5), 0, 0}};
  ContractionCandidate few{.choice = {shares, /*isInner=*/true}, .number = 1, .costs = {std::log(1.5), 0, 1, 1}};
  ContractionVariants chosen = chooseVariants(problems, {most, few}, DeviceRates::get(device));
  auto isInner = [&](const ContractionProblem &problem) {
    for (const ContractionVariant &variant : chosen.variants)
      if (getExtent(problem, variant.extent) <= variant.most)
        return variant.choice.isInner;
    return chosen.otherwise.isInner;
  };
  EXPECT_EQ(chosen.variants.size(), 2u);
  for (size_t number : {0, 1, 2, 3})
    EXPECT_EQ(isInner(problems[number]), number == 1) << number;
}

/// Few columns that are read in place are one tile, which no other worker helps with; inner products of a row
/// are one for each eight columns.
TEST(ConstructContraction, ColumnsInPlaceAreOneTile) {
  DeviceDescription device = describe("x86-64-v3");
  DeviceRates rates = DeviceRates::get(device);
  ContractionProblem problem = makeProblem(device, 1, 1, 16, 100000);
  problem.streamedRows = 16;
  problem.stepsOfRow = 10;
  problem.innerRows = 2;
  problem.innerColumns = 4;
  SmallVector<ContractionCandidate> candidates = constructContraction(problem, rates, problem.lanes);
  EXPECT_TRUE(candidates.front().choice.isInner);
  auto getTime = [&](bool isInner, int64_t workers) {
    ContractionChoice choice = candidates.front().choice;
    choice.isInner = isInner;
    return choice.estimate(problem, rates, workers).getTotal();
  };
  EXPECT_EQ(getTime(false, 4), getTime(false, 1));
  EXPECT_LT(getTime(true, 4), getTime(true, 1) * 0.6);
}
