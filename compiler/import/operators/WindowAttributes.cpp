#include "compiler/import/operators/WindowAttributes.h"

using namespace llvm;

namespace freestone::importer {
namespace {

bool readList(Node &node, StringRef name, int64_t count, int64_t otherwise, int64_t least, SmallVector<int64_t> &list) {
  list = node.integers(name);
  if (list.empty())
    list.assign(count, otherwise);
  bool fits = int64_t(list.size()) == count &&
              llvm::all_of(list, [&](int64_t value) { return value >= least && value < (int64_t(1) << 31); });
  if (!fits)
    node.reject("the attribute '" + name + "' does not fit an input with " + Twine(count) + " spatial dimensions");
  return fits;
}

} // namespace

std::optional<WindowAttributes> windowAttributes(Node &node, Tensor x, ArrayRef<int64_t> kernel) {
  WindowAttributes attributes;
  ModelBuilder &builder = node.builder();
  if (x.rank() < 2) {
    node.reject("the input must have a batch and a channel dimension");
    return std::nullopt;
  }
  Window &window = attributes.window;
  int64_t spatial = x.rank() - 2;
  SmallVector<int64_t> pads;
  if (!readList(node, "strides", spatial, 1, 1, window.strides) ||
      !readList(node, "dilations", spatial, 1, 1, window.dilations) || !readList(node, "pads", 2 * spatial, 0, 0, pads))
    return std::nullopt;
  window.sizes = node.integers("kernel_shape");
  if (window.sizes.empty())
    window.sizes.assign(kernel.begin(), kernel.end());
  if (int64_t(window.sizes.size()) != spatial ||
      llvm::any_of(window.sizes, [](int64_t n) { return n < 1 || n >> 31; })) {
    node.reject("the attribute 'kernel_shape' does not fit an input with " + Twine(spatial) + " spatial dimensions");
    return std::nullopt;
  }
  std::string autoPad = node.text("auto_pad", "NOTSET");
  const sym::Bounds &bounds = builder.sizeFacts().bounds();
  for (int64_t axis = 0; axis < spatial; ++axis) {
    Expr extent = x.dim(axis + 2), low = builder.size(0), high = low, extra = low;
    int64_t span = (window.sizes[axis] - 1) * window.dilations[axis] + 1, stride = window.strides[axis];
    if (autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER") {
      Expr places = Expr::ceilDiv(extent, stride);
      Expr total = bounds.simplify(Expr::max((places - 1) * stride + span - extent, builder.size(0)));
      Expr half = bounds.simplify(Expr::floorDiv(total, 2));
      low = autoPad == "SAME_UPPER" ? half : total - half;
      high = total - low;
    } else if (autoPad == "NOTSET") {
      low = builder.size(pads[axis]);
      high = builder.size(pads[axis + spatial]);
    } else if (autoPad != "VALID") {
      node.reject("auto_pad '" + autoPad + "' does not exist");
      return std::nullopt;
    }
    if (node.integer("ceil_mode")) {
      // A last place that begins within the input or its low padding is kept though it reaches beyond the end.
      Expr room = extent + low + high - span;
      Expr last = Expr::ceilDiv(room, stride);
      last = Expr::min(last, Expr::floorDiv(extent + low - 1, stride));
      extra = bounds.simplify(Expr::max(last * stride - room, builder.size(0)));
    }
    window.low.push_back(low);
    window.high.push_back(bounds.simplify(high + extra));
    attributes.ceilExtra.push_back(extra);
  }
  return attributes;
}

} // namespace freestone::importer
