#include "compiler/import/operators/SampledPictures.h"

using namespace llvm;

namespace freestone::importer {

SmallVector<Tap> linearTaps(Tensor place, Tensor size) {
  Tensor first = floor(place), t = place - first, last = size - 1.0;
  SmallVector<Tap> taps = {{first, 1.0 - t}, {first + 1.0, t}};
  for (Tap &tap : taps) {
    tap.weight = select((tap.index >= 0.0) & (tap.index <= last), tap.weight, 0.0);
    tap.index = max(min(tap.index, last), 0.0);
  }
  return taps;
}

SmallVector<Tap> combineTaps(Node &node, ArrayRef<Expr> extents, ArrayRef<SmallVector<Tap>> axes) {
  ModelBuilder &builder = node.builder();
  SmallVector<Tap> taps;
  for (auto [extent, own] : zip_equal(extents, axes)) {
    SmallVector<Tap> combined;
    Tensor count = builder.integer(extent);
    for (const Tap &tap : own) {
      Tensor index = cast(tap.index, builder.getI64Type());
      if (taps.empty())
        combined.push_back({index, tap.weight});
      for (const Tap &before : taps)
        combined.push_back({before.index * count + index, before.weight * tap.weight});
    }
    taps = std::move(combined);
  }
  return taps;
}

Tensor sampleSum(Tensor pictures, ArrayRef<Tap> taps) {
  Tensor sum;
  for (const Tap &tap : taps) {
    if (!tap.weight)
      return {};
    Tensor value = cast(gather(pictures, tap.index, 1, /*batchDims=*/1), tap.weight.elementType());
    value = value * unsqueeze(tap.weight, {-1});
    sum = sum ? sum + value : value;
  }
  return sum;
}

Tensor flattenPictures(Tensor x) {
  Expr elements = x.builder().size(1);
  for (Expr extent : x.shape().drop_front(2))
    elements = elements * extent;
  return transpose(reshape(x, {x.dim(0), x.dim(1), elements}), {0, 2, 1});
}

} // namespace freestone::importer
