#include "compiler/tile/TileChain.h"

#include "compiler/plan/ChainTiles.h"
#include "compiler/plan/IndexMaps.h"
#include "compiler/plan/Traffic.h"
#include "compiler/tile/Cost.h"
#include "compiler/tile/TileWindow.h"
#include <cmath>

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

/// The part of transfers that computing does not hide.
static constexpr double exposed = 0.5;
/// Of a stage in a tile: its call, offsets of taps, and the scratch that it clears.
static constexpr double secondsOfCall = 0.5e-6;
/// The part of their peak that micro-kernels and what follows on their elements reach together.
static constexpr double partOfPeak = 0.5;

/// Bytes a second that one unit reads and writes at the nearest level that holds so many, in half of it.
static double getRate(double bytes, const DeviceDescription &device) {
  for (size_t level = 1; level < device.memoryLevels.size(); ++level) {
    const MemoryLevel &memory = device.memoryLevels[level];
    if (bytes <= double(memory.bytes) / std::max(1u, level + 1 == device.memoryLevels.size() ? memory.sharedBy : 1) / 2)
      return device.getBandwidth(level);
  }
  return device.getMemoryCopyBandwidth();
}

double tile::getSecondsApart(double bytes, const DeviceDescription &device) {
  return exposed * 2 * bytes / getRate(2 * bytes, device);
}

static double getBytes(Value tensor, llvm::function_ref<double(Expr)> valueOf) {
  return valueOf(getStorageBytes(cast<graph::TensorType>(tensor.getType())));
}

/// The operations of one stage's anchor, as multiply-adds.
static double countPoints(const ChainStage &stage, llvm::function_ref<double(Expr)> valueOf) {
  ComputeOp anchor = stage.getAnchor();
  return valueOf(getNumPoints(anchor.getExtents(), anchor.getContext()));
}

/// Rows of the last stage that the last window among the stages computes together in registers.
static int64_t getRowUnit(const ChainForm &form, const DeviceDescription &device,
                          llvm::function_ref<double(Expr)> valueOf) {
  int64_t scale = 1;
  for (const ChainStage &stage : llvm::reverse(form.stages)) {
    std::optional<WindowForm> window = WindowForm::get(stage.getAnchor());
    if (window && isWindowInRegisters(*window)) {
      WindowProblem problem = getWindowProblem(
          *window, device, [&](Expr size) { return int64_t(std::min(valueOf(size), double(TypicalRuns::most))); });
      return std::max<int64_t>(1, constructWindow(problem, device, /*shareRows=*/true).front().rows / scale);
    }
    scale *= stage.stride;
  }
  return 1;
}

/// The seconds for which workers, all together, have no tile of a single picture, where pictures are counted by a run.
static double getIdleSeconds(const ChainForm &form, const ChainTiles &tiles, const DeviceDescription &device,
                             llvm::function_ref<double(Expr)> valueOf) {
  // With more workers than that, operators apart leave some idle too.
  double workers = std::min(16u, device.units);
  llvm::SetVector<StringAttr> ofImages;
  form.stages.back().getNumImages().collectSymbols(ofImages);
  auto valueOfOne = [&](Expr size) {
    return valueOf(size.substitute([&](StringRef symbol) -> std::optional<Expr> {
      bool isCount = ofImages.contains(StringAttr::get(size.context(), symbol));
      return isCount ? std::optional(Expr::constant(size.context(), 1)) : std::nullopt;
    }));
  };
  double points = 0, number = std::max(1.0, valueOfOne(tiles.tiles));
  for (const ChainStage &stage : form.stages)
    points += countPoints(stage, valueOfOne);
  double turns = std::ceil(number / workers);
  return (workers * turns / number - 1) * points / (partOfPeak * device.getMultiplyAdds(32));
}

/// The cost of a chain with all edges at one level; rows are kept where that is faster than to compute them again.
static ChainCost estimate(const ChainForm &form, size_t level, int64_t rowUnit, int64_t leastTiles,
                          const DeviceDescription &device, llvm::function_ref<double(Expr)> valueOf) {
  ChainCost cost;
  size_t count = form.stages.size() - 1;
  MLIRContext *context = ComputeOp(form.stages.front().getAnchor()).getContext();
  double rate = device.getBandwidth(level - 1), farRate = device.getBandwidth(std::max<size_t>(level - 1, 1));
  auto getEdge = [&](unsigned edge, bool kept) {
    auto type = cast<graph::TensorType>(form.getIntermediate(edge).getType());
    int64_t bytes = getStorageType(type.getElementType()).getIntOrFloatBitWidth() / 8;
    // The other half holds what passes by.
    int64_t elements = device.memoryLevels[level - 1].bytes / 2 / bytes / int64_t(count);
    return EdgeAttr::get(context, level, elements, kept);
  };
  for (unsigned edge = 0; edge < count; ++edge)
    cost.edges.push_back(getEdge(edge, true));
  cost.rowUnit = rowUnit;
  cost.leastTiles = leastTiles;
  ChainTiles tiles = ChainTiles::get(form, cost.edges, cost.rowUnit, cost.leastTiles);
  double step = std::max(1.0, std::min(valueOf(tiles.rowStep), valueOf(form.stages.back().getRows()))),
         number = std::max(1.0, valueOf(tiles.tiles));
  cost.seconds += getIdleSeconds(form, tiles, device, valueOf);
  double slabs = 0;
  for (unsigned edge = 0; edge < count; ++edge)
    slabs += valueOf(tiles.between[edge]) * 4;
  // Rows that do not fit are fetched from the level behind, which is then the better name for the edge.
  cost.fits = slabs <= double(device.memoryLevels[level - 1].bytes) * 3 / 4;
  if (!cost.fits)
    rate = device.getBandwidth(level);
  double rowsPerStep = step;
  for (unsigned edge = count; edge-- > 0;) {
    const ChainStage &stage = form.stages[edge], &reader = form.stages[edge + 1];
    double bytes = getBytes(form.getIntermediate(edge), valueOf), read = rowsPerStep * double(reader.stride);
    double again = std::max(0.0, double(reader.span - reader.stride)) / std::max(1.0, read);
    double keeping = exposed * 2 * bytes * again / farRate;
    double computing = again * countPoints(stage, valueOf) / (partOfPeak * device.getMultiplyAdds(32));
    bool isKept = again > 0 && keeping < computing;
    cost.edges[edge] = getEdge(edge, isKept);
    cost.seconds += exposed * 2 * bytes / rate + std::min(keeping, computing);
    rowsPerStep = isKept ? read : read + double(reader.span - reader.stride);
  }
  for (const ChainStage &stage : form.stages) {
    cost.seconds += number * secondsOfCall;
    // Operands that do not depend on rows are read in each tile.
    for (ComputeOp compute : stage.computes)
      for (auto [input, tensor] : llvm::enumerate(compute.getInputs())) {
        bool hasRows = llvm::any_of(getIndices(compute, input), [&](Expr index) {
          return llvm::is_contained(getLoops(index), stage.getRowLoop());
        });
        double bytes = hasRows ? 0 : getBytes(tensor, valueOf);
        cost.seconds += exposed * (number - 1) * bytes / getRate(bytes, device);
      }
  }
  return cost;
}

ChainCost tile::chooseEdges(const ChainForm &form, const DeviceDescription &device,
                            llvm::function_ref<double(Expr)> valueOf) {
  std::optional<ChainCost> best;
  size_t last = std::min<size_t>(2, device.memoryLevels.size());
  SmallVector<int64_t> rowUnits = {getRowUnit(form, device, valueOf)};
  // Few rows are divided among the workers, though registers would hold more of them.
  double rows = valueOf(form.stages.back().getRows());
  auto share = static_cast<int64_t>(std::ceil(rows / std::max(1u, device.units)));
  if (share >= 1 && share < rowUnits.front())
    rowUnits.push_back(share);
  // Equal parts for even numbers of workers: of about as many rows, or of so many times as many.
  for (double parts = 2; parts <= 16; parts *= 2) {
    auto part = static_cast<int64_t>(std::ceil(rows / parts)), unit = rowUnits.front();
    if (part > unit ? part % unit == 0 : part < unit && 2 * part > unit)
      rowUnits.push_back(part);
  }
  // Enough for all workers of the device, some of which may be late.
  int64_t leastTiles = std::clamp<int64_t>(4 * device.units, 8, 64);
  for (size_t level = 1; level <= last; ++level)
    for (int64_t rowUnit : rowUnits)
      for (int64_t least : {leastTiles, 2 * leastTiles}) {
        ChainCost cost = estimate(form, level, rowUnit, least, device, valueOf);
        if ((cost.fits || level == last) && (!best || cost.seconds < best->seconds))
          best = std::move(cost);
      }
  return *best;
}
