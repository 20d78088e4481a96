#include "compiler/tile/TileWindow.h"

#include "compiler/plan/ChannelVectors.h"
#include "compiler/tile/CostModel.h"
#include <cmath>

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;

/// More output channels fill micro-kernel panels, vectorized over the channels.
static constexpr int64_t mostChannels = 16;
/// For a longer window, the border is most of a row.
static constexpr int64_t longestSpan = 32;

bool tile::isWindowInRegisters(WindowForm &form) {
  auto isShort = [&](unsigned dim) { return form.getSpan(dim).asConstant().value_or(longestSpan + 1) <= longestSpan; };
  bool isWindow = isShort(form.compute.getInputType(form.picture).getRank() - 1) && form.readsAgain();
  return isWindow && (!form.rowDim || isShort(*form.rowDim)) && !form.getPixels().isConstant(1) &&
         form.getNumChannels().asConstant().value_or(mostChannels + 1) <= mostChannels;
}

/// All but the sizes.
static WindowProblem getStoredProblem(WindowForm &form, const DeviceDescription &device) {
  WindowProblem problem;
  Type sumType = form.compute.getInit(0).getType();
  problem.bytes = std::max(1u, form.elementType.getIntOrFloatBitWidth() / 8);
  problem.lanes = device.getLanes(std::max(32u, sumType.getIntOrFloatBitWidth()));
  return problem;
}

static sym::Expr getOuter(WindowForm &form) {
  return getNumPoints(form.getExtents(form.outer), form.compute.getContext());
}

WindowProblem tile::getWindowProblem(WindowForm &form, const DeviceDescription &device,
                                     llvm::function_ref<int64_t(sym::Expr)> valueOf) {
  auto get = [&](sym::Expr size) { return std::clamp(valueOf(size), TypicalRuns::least, TypicalRuns::most); };
  WindowProblem problem = getStoredProblem(form, device);
  WindowSizes<sym::Expr> sizes = getSizes(form);
  problem.sizes = {get(sizes.rows),    get(sizes.pixels),    sizes.rowStride,      sizes.pixelStride,
                   get(sizes.rowSpan), get(sizes.pixelSpan), get(sizes.otherSpan), sizes.hasRows};
  problem.outer = get(getOuter(form));
  problem.channels = get(form.getNumChannels());
  problem.taps = get(form.getNumTaps());
  return problem;
}

SmallVector<WindowProblem> tile::getWindowProblems(WindowForm &form, const DeviceDescription &device,
                                                   const TypicalRuns &runs, bool overlaps, bool inPlace) {
  SmallVector<WindowProblem> problems;
  size_t count = runs.evaluate(getOuter(form)).size();
  for (size_t number = 0; number < count; ++number) {
    problems.push_back(getWindowProblem(form, device, [&](sym::Expr size) { return runs.evaluate(size)[number]; }));
    problems.back().overlaps = overlaps;
    problems.back().inPlace = inPlace;
  }
  return problems;
}

/// Channels of a block, and sums that it has in registers, which hide the latency of the units; channels share the
/// picture's loads.
static std::pair<int64_t, int64_t> getBlock(const WindowProblem &problem, const DeviceDescription &device) {
  constexpr int64_t mostInBlock = 4;
  int64_t channels = llvm::divideCeil(problem.channels, llvm::divideCeil(problem.channels, mostInBlock));
  return {channels, channels == 1 ? 8 : std::min<int64_t>(device.vectorRegisters - 4, 16) / channels};
}

/// Several channels need all registers for sums; more taps would be much code.
static bool unrolls(const WindowProblem &problem, int64_t channels) {
  constexpr int64_t mostTaps = 64;
  return problem.sizes.hasRows && channels == 1 && problem.taps <= mostTaps;
}

/// By the capacities of the device alone: rows of any width; the copy takes half of L1, the rest is for other operands
/// and results.
static WindowShares getPlainWindow(const WindowProblem &problem, const DeviceDescription &device, bool shareRows) {
  auto [channels, sums] = getBlock(problem, device);
  return {.channels = channels,
          .rows = problem.sizes.hasRows ? sums : 1,
          .vectors = problem.sizes.hasRows ? 1 : sums,
          .lanes = problem.lanes,
          .pixels = 64 * problem.lanes,
          .copy = device.getL1Bytes() / 2 / problem.bytes,
          .unroll = shareRows && unrolls(problem, channels) ? problem.taps : 1};
}

SmallVector<WindowShares> tile::constructWindow(ArrayRef<WindowProblem> problems, const DeviceDescription &device,
                                                bool shareRows) {
  DeviceRates rates = DeviceRates::get(device);
  WindowShares plain = getPlainWindow(problems.front(), device, shareRows);
  int64_t sums = getBlock(problems.front(), device).second;
  bool hasRows = problems.front().sizes.hasRows;
  SmallVector<std::pair<double, WindowShares>> candidates;
  for (int64_t vectors : {1, 2, 4, 8})
    for (int64_t rows = hasRows ? std::max<int64_t>(1, sums / vectors) : 1; rows >= 1 && rows * vectors <= sums; --rows)
      for (int64_t bytes :
           {rates.l1Bytes / 4, rates.l1Bytes / 2, rates.l1Bytes, rates.l2Bytes / 8, rates.l2Bytes / 4}) {
        WindowShares shares = plain;
        shares.rows = rows;
        shares.vectors = vectors;
        shares.copy = bytes / problems.front().bytes;
        candidates.push_back({0, shares});
      }
  // Regrets are averaged as those of contractions are.
  for (const WindowProblem &problem : problems) {
    SmallVector<double> costs;
    for (const auto &candidate : candidates)
      costs.push_back(std::log(estimateWindow(problem, candidate.second, rates, 1).getTotal()));
    double least = *llvm::min_element(costs);
    for (auto [candidate, cost] : llvm::zip_equal(candidates, costs))
      candidate.first += (cost - least) * (cost - least);
  }
  llvm::stable_sort(candidates, [](const auto &lhs, const auto &rhs) { return lhs.first < rhs.first; });
  return llvm::map_to_vector(candidates, [](const auto &candidate) { return candidate.second; });
}

/// The most positions of a narrow picture's box: those up to which vectors along channels take less time, of pictures
/// as high as wide where both are those of a run.
static int64_t getChannelVectors(WindowForm &form, WindowProblem problem, const WindowShares &shares,
                                 const DeviceDescription &device) {
  std::optional<ChannelVectors> vectors = ChannelVectors::get(form);
  int64_t bytesOfPosition = problem.bytes * (vectors ? vectors->planes * vectors->getUnit(problem.lanes) : 0);
  if (!vectors || form.getExtent(vectors->loop).asConstant().value_or(problem.lanes) < problem.lanes / 2)
    return 0;
  DeviceRates rates = DeviceRates::get(device);
  WindowSizes<int64_t> &sizes = problem.sizes;
  problem.outer = problem.lanes;
  auto isFaster = [&] {
    return estimateChannelVectors(problem, rates) < estimateWindow(problem, shares, rates, 1).getTotal();
  };
  // The box stays in L1, beside the weights.
  int64_t limit = device.getL1Bytes() * 3 / 4 / bytesOfPosition, most = 0;
  if (vectors->getPositions().isConstant() && vectors->results.isConstant()) {
    int64_t positions = *vectors->getPositions().asConstant();
    return positions <= limit && isFaster() ? positions : 0;
  }
  for (int64_t side = 1;; ++side) {
    sizes.pixels = form.getPixels().asConstant().value_or(side);
    sizes.rows = sizes.hasRows ? side : 1;
    int64_t rows = (sizes.rows - 1) * sizes.rowStride + sizes.rowSpan;
    int64_t positions = rows * ((sizes.pixels - 1) * sizes.pixelStride + sizes.pixelSpan);
    if (positions > limit || (side > 1 && !isFaster()))
      return most;
    most = positions;
  }
}

WindowTilingAttr tile::tileWindow(WindowForm &form, ArrayRef<WindowProblem> problems, const DeviceDescription &device,
                                  bool shareRows, bool construct, bool alongChannels, bool brings) {
  shareRows &= form.getNumTaps().isConstant();
  WindowShares shares = construct ? constructWindow(problems, device, shareRows).front()
                                  : getPlainWindow(problems.front(), device, shareRows);
  if (alongChannels)
    shares.channelVectors = getChannelVectors(form, problems.front(), shares, device);
  Type stored = getStorageType(form.compute.getInputType(form.picture).getElementType());
  int64_t near = DeviceRates::get(device).getNearBytes() * 8 / stored.getIntOrFloatBitWidth();
  return WindowTilingAttr::get(form.compute.getContext(), shares.channels, shares.rows, shares.vectors, shares.lanes,
                               shares.pixels, shares.copy, shares.unroll, shares.channelVectors,
                               brings && form.rowLoop ? near : 0, problems.front().overlaps,
                               problems.front().inPlace && shares.unroll > 1);
}
