#include "compiler/tile/TileWindow.h"

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

WindowTilingAttr tile::tileWindow(WindowForm &form, const DeviceDescription &device, bool shareRows) {
  Type sumType = form.compute.getInit(0).getType();
  int64_t lanes = device.getLanes(std::max(32u, sumType.getIntOrFloatBitWidth()));
  // Independent sums hide the latency of the units; channels of a block share the picture's loads.
  constexpr int64_t mostInBlock = 4;
  int64_t all = *form.getNumChannels().asConstant(), blocks = llvm::divideCeil(all, mostInBlock);
  int64_t channels = llvm::divideCeil(all, blocks);
  int64_t sums = channels == 1 ? 8 : std::min<int64_t>(device.vectorRegisters - 4, 16) / channels;
  int64_t rows = form.rowLoop ? sums : 1, vectors = form.rowLoop ? 1 : sums;
  // Rows of any width; the copy takes half of L1, the rest is for other operands and results.
  int64_t bytes = form.elementType.getIntOrFloatBitWidth() / 8, copy = device.getL1Bytes() / 2 / bytes;
  // Several channels need all registers for sums; more taps would be much code.
  constexpr int64_t mostTaps = 64;
  int64_t taps = form.getNumTaps().asConstant().value_or(mostTaps + 1);
  bool unrolls = shareRows && form.rowLoop && channels == 1 && taps <= mostTaps;
  return WindowTilingAttr::get(form.compute.getContext(), channels, rows, vectors, lanes, 64 * lanes, copy,
                               unrolls ? std::max<int64_t>(taps, 1) : 1);
}
