#include "compiler/tile/TileChain.h"

#include "compiler/plan/ChainTiles.h"
#include "compiler/plan/IndexMaps.h"
#include "compiler/plan/Traffic.h"
#include "compiler/tile/Cost.h"
#include "compiler/tile/TileWindow.h"
#include "llvm/ADT/SetVector.h"
#include <cmath>

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

/// The part of transfers that computing does not hide.
static constexpr double exposed = 0.5;
/// Of a stage in a tile: its call, offsets of taps, and the scratch that it clears.
static constexpr double secondsOfCall = 0.5e-6;
/// The part of their peak that windows in registers reach.
static constexpr double partOfWindows = 0.35;
/// The part of their peak that micro-kernels and what follows on their elements reach together.
static constexpr double partOfPeak = 0.5;

/// The nearest level behind the first that holds so many bytes in half of it; that behind the last is memory.
static size_t getLevel(double bytes, const DeviceDescription &device) {
  size_t level = 1, last = device.memoryLevels.size() - 1;
  auto getShare = [&](const MemoryLevel &memory) {
    return double(memory.bytes) / std::max(1u, level == last ? memory.sharedBy : 1);
  };
  while (level <= last && bytes > getShare(device.memoryLevels[level]) / 2)
    ++level;
  return level;
}

/// Bytes a second that one unit reads and writes at a level.
static double getRate(size_t level, const DeviceDescription &device) {
  return level < device.memoryLevels.size() ? device.getBandwidth(level) : device.getMemoryCopyBandwidth();
}

/// The seconds that an intermediate of so many bytes takes at a level, in which it is written and read. Behind the
/// second level, lines come before they are written, and go back. What is measured there is reading alone; estimates
/// and the rate of copies from memory have both.
static double getSeconds(double bytes, size_t level, const DeviceDescription &device) {
  bool isReading = level > 1 && level < device.rates.levels.size();
  return exposed * (isReading ? 3 : 2) * bytes / getRate(level, device);
}

double tile::getSecondsApart(double bytes, const DeviceDescription &device) {
  return getSeconds(bytes, getLevel(2 * bytes, device), device);
}

static double getBytes(Value tensor, llvm::function_ref<double(Expr)> valueOf) {
  return valueOf(getStorageBytes(cast<graph::TensorType>(tensor.getType())));
}

/// The operations of one stage's anchor, as multiply-adds.
static double countPoints(const ChainStage &stage, llvm::function_ref<double(Expr)> valueOf) {
  ComputeOp anchor = stage.getAnchor();
  return valueOf(getNumPoints(anchor.getExtents(), anchor.getContext()));
}

/// Rows that each stage computes together in registers: of windows, else one.
static SmallVector<int64_t> getRegisterRows(const ChainForm &form, const DeviceDescription &device,
                                            SizesOfRun valueOf) {
  SmallVector<int64_t> rows;
  for (const ChainStage &stage : form.stages) {
    rows.push_back(1);
    std::optional<WindowForm> window = WindowForm::get(stage.getAnchor());
    if (!window || !isWindowInRegisters(*window))
      continue;
    WindowProblem problem = getWindowProblem(
        *window, device, [&](Expr size) { return int64_t(std::min(valueOf(size), double(TypicalRuns::most))); });
    rows.back() = constructWindow(problem, device, /*shareRows=*/true).front().rows;
  }
  return rows;
}

/// Rows of the last stage for which the last window among the stages fills its registers.
static int64_t getRowUnit(const ChainForm &form, ArrayRef<int64_t> registerRows) {
  int64_t scale = 1;
  for (auto [stage, rows] : llvm::reverse(llvm::zip_equal(form.stages, registerRows))) {
    if (rows > 1)
      return std::max<int64_t>(1, rows / scale);
    scale *= stage.stride;
  }
  return 1;
}

/// The seconds for which workers, all together, have no tile of a single picture, where pictures are counted by a run:
/// the mean for several numbers of workers.
static double getIdleSeconds(const ChainForm &form, const ChainTiles &tiles, ArrayRef<int64_t> workers,
                             const DeviceDescription &device, llvm::function_ref<double(Expr)> valueOf) {
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
  // The busiest worker has whole tiles.
  double busiest = 0, rows = valueOfOne(form.stages.back().getRows()), step = valueOfOne(tiles.rowStep);
  for (int64_t count : workers) {
    double ofWorker = std::min(rows, std::ceil(number / double(count)) * step);
    busiest += ofWorker * double(count) / std::max(1.0, rows) / double(workers.size());
  }
  return (busiest - 1) * points / (partOfPeak * device.getMultiplyAdds(32));
}

/// The cost of a chain with all edges at one level; rows are kept where that is faster than to compute them again.
static ChainCost estimate(const ChainForm &form, size_t level, int64_t rowUnit, int64_t leastTiles,
                          ArrayRef<int64_t> workers, ArrayRef<int64_t> registerRows, const DeviceDescription &device,
                          SizesOfRun valueOf) {
  ChainCost cost;
  size_t count = form.stages.size() - 1;
  MLIRContext *context = ComputeOp(form.stages.front().getAnchor()).getContext();
  double farRate = device.getBandwidth(std::max<size_t>(level - 1, 1));
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
  cost.seconds += getIdleSeconds(form, tiles, workers, device, valueOf);
  double slabs = 0;
  for (unsigned edge = 0; edge < count; ++edge)
    slabs += valueOf(tiles.between[edge]) * 4;
  // Rows that do not fit are fetched from the level behind, which is then the better name for the edge. A part of them
  // is still there.
  auto capacity = double(device.memoryLevels[level - 1].bytes);
  cost.fits = slabs <= capacity * 3 / 4;
  double missing = getMissingPart(slabs, capacity * 3 / 4, capacity * 3);
  double rowsPerStep = step;
  for (unsigned edge = count; edge-- > 0;) {
    const ChainStage &stage = form.stages[edge], &reader = form.stages[edge + 1];
    double bytes = getBytes(form.getIntermediate(edge), valueOf), read = rowsPerStep * double(reader.stride);
    double again = std::max(0.0, double(reader.span - reader.stride)) / std::max(1.0, read);
    double keeping = exposed * 2 * bytes * again / farRate;
    double computing = again * countPoints(stage, valueOf) / (partOfPeak * device.getMultiplyAdds(32));
    bool isKept = again > 0 && keeping < computing;
    cost.edges[edge] = getEdge(edge, isKept);
    cost.seconds += (1 - missing) * getSeconds(bytes, level - 1, device) + missing * getSeconds(bytes, level, device) +
                    std::min(keeping, computing);
    rowsPerStep = isKept ? read : read + double(reader.span - reader.stride);
  }
  int64_t scale = 1;
  for (auto [stage, held] : llvm::reverse(llvm::zip_equal(form.stages, registerRows))) {
    // Rows of registers beyond a tile's are computed for nothing; there are no more than a unit's.
    double ofTile = std::max(1.0, std::min(step * double(scale), valueOf(stage.getRows())));
    auto together = double(std::clamp<int64_t>(rowUnit * scale, 1, held));
    double padding = std::ceil(ofTile / together) * together / ofTile - 1;
    cost.seconds += padding * countPoints(stage, valueOf) / (partOfWindows * device.getMultiplyAdds(32));
    scale *= stage.stride;
    cost.seconds += number * secondsOfCall;
    // Operands that do not depend on rows are read in each tile.
    for (ComputeOp compute : stage.computes)
      for (auto [input, tensor] : llvm::enumerate(compute.getInputs())) {
        bool hasRows = llvm::any_of(getIndices(compute, input), [&](Expr index) {
          return llvm::is_contained(getLoops(index), stage.getRowLoop());
        });
        double bytes = hasRows ? 0 : getBytes(tensor, valueOf);
        cost.seconds += exposed * (number - 1) * bytes / getRate(getLevel(bytes, device), device);
      }
  }
  return cost;
}

/// Row units that tiles may have in a run: what registers hold; a share of each worker of the device, of few rows; and
/// equal parts for even numbers of workers, of about as many rows as registers hold, or of so many times as many.
static void addRowUnits(const ChainForm &form, const DeviceDescription &device, SizesOfRun valueOf,
                        ArrayRef<int64_t> registerRows, llvm::SetVector<int64_t> &units) {
  double rows = valueOf(form.stages.back().getRows());
  // A single row is one whatever the unit: what suits it alone would leave registers of other runs empty.
  if (rows <= 1)
    return;
  int64_t unit = getRowUnit(form, registerRows);
  units.insert(unit);
  auto share = static_cast<int64_t>(std::ceil(rows / std::max(1u, device.units)));
  if (share >= 1 && share < unit)
    units.insert(share);
  for (double parts = 2; parts <= 16; parts *= 2) {
    auto part = static_cast<int64_t>(std::ceil(rows / parts));
    if (part > unit ? part % unit == 0 : 2 * part > unit)
      units.insert(part);
  }
}

ChainCost tile::chooseEdges(const ChainForm &form, const DeviceDescription &device, ArrayRef<SizesOfRun> runs,
                            ArrayRef<int64_t> workers) {
  llvm::SetVector<int64_t> rowUnits;
  SmallVector<SmallVector<int64_t>> registerRows;
  for (SizesOfRun valueOf : runs) {
    registerRows.push_back(getRegisterRows(form, device, valueOf));
    addRowUnits(form, device, valueOf, registerRows.back(), rowUnits);
  }
  if (rowUnits.empty())
    rowUnits.insert(1);
  // Enough for all workers of the device, some of which may be late.
  int64_t leastTiles = std::clamp<int64_t>(4 * device.units, 8, 64);
  struct Candidate {
    ChainCost cost;
    SmallVector<double> seconds;
    double regret = 0;
  };
  SmallVector<Candidate> candidates;
  size_t last = std::min<size_t>(2, device.memoryLevels.size());
  for (size_t level = 1; level <= last; ++level)
    for (int64_t rowUnit : rowUnits)
      for (int64_t least : {leastTiles, 2 * leastTiles}) {
        Candidate candidate;
        bool fits = true;
        for (auto [valueOf, rows] : llvm::zip_equal(runs, registerRows)) {
          candidate.cost = estimate(form, level, rowUnit, least, workers, rows, device, valueOf);
          fits &= candidate.cost.fits;
          double points = 0;
          for (const ChainStage &stage : form.stages)
            points += countPoints(stage, valueOf);
          candidate.seconds.push_back(candidate.cost.seconds + points / (partOfPeak * device.getMultiplyAdds(32)));
        }
        if (fits || level == last)
          candidates.push_back(std::move(candidate));
      }
  for (size_t run = 0; run < runs.size(); ++run) {
    double least = INFINITY;
    for (const Candidate &candidate : candidates)
      least = std::min(least, candidate.seconds[run]);
    for (Candidate &candidate : candidates)
      candidate.regret += std::pow(std::log(candidate.seconds[run] / least), 2);
  }
  return llvm::min_element(candidates,
                           [](const Candidate &lhs, const Candidate &rhs) { return lhs.regret < rhs.regret; })
      ->cost;
}
