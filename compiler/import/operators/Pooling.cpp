// Poolings over windows and over whole planes.
#include "compiler/import/operators/Pooling.h"
#include "compiler/import/Registry.h"
#include "compiler/import/operators/WindowAttributes.h"

using namespace llvm;
using freestone::graph::ReduceKind;

namespace freestone::importer {
namespace {

/// Row-major positions within `shape` as those that count its first dimension first.
Tensor inColumnOrder(Tensor position, ArrayRef<Expr> shape) {
  GraphBuilder &builder = position.builder();
  Tensor rest = position, result;
  for (int64_t axis = shape.size() - 1; axis >= 0; --axis) {
    Tensor extent = builder.integer(shape[axis]), coordinate = binary(BinaryKind::rem, rest, max(extent, 1.0));
    rest = rest / max(extent, 1.0);
    result = result ? result * extent + coordinate : coordinate;
  }
  return result;
}

void maxPool(Node &node) {
  Tensor x = node.input(0);
  if (!x)
    return;
  std::optional<WindowAttributes> attributes = windowAttributes(node, x, {});
  if (!attributes)
    return;
  node.setOutput(0, windowReduce(ReduceKind::max, x, attributes->window));
  if (!node.wants(1))
    return;
  // ONNX counts from the first element of the whole tensor: batches and channels before the plane.
  ModelBuilder &builder = node.builder();
  Expr area = builder.size(1);
  for (Expr extent : x.shape().drop_front(2))
    area = area * extent;
  Shape planes(x.shape().take_front(2));
  Tensor plane =
      iota(builder, {planes[0] * planes[1]}, 0, builder.getI64Type()) * reshape(builder.vector(ArrayRef(area)), {});
  planes.append(x.rank() - 2, builder.size(1));
  Tensor position = windowArgmax(x, attributes->window);
  if (node.integer("storage_order") != 0)
    position = inColumnOrder(position, x.shape().drop_front(2));
  node.setOutput(1, position + reshape(plane, planes));
}

/// How many elements of the input (with `countPads`, of its padding too) each window covers, as [spatial…].
Tensor windowCounts(Node &node, Tensor x, const WindowAttributes &attributes, bool countPads) {
  ModelBuilder &builder = node.builder();
  Shape plane(x.shape().drop_front(2));
  Window window = attributes.window;
  if (countPads)
    for (auto [axis, extent] : enumerate(plane)) {
      extent = extent + window.low[axis] + window.high[axis] - attributes.ceilExtra[axis];
      window.low[axis] = builder.size(0);
      window.high[axis] = attributes.ceilExtra[axis];
    }
  return windowReduce(ReduceKind::add, builder.splat(1, x.elementType(), plane), window);
}

} // namespace

Tensor averagePool(Node &node, Tensor x) {
  std::optional<WindowAttributes> attributes = x ? windowAttributes(node, x, {}) : std::nullopt;
  if (!attributes)
    return {};
  Tensor total = windowReduce(ReduceKind::add, x, attributes->window);
  bool countPads = node.integer("count_include_pad") != 0;
  auto isZero = [](Expr size) { return size.isConstant(0); };
  const Window &window = attributes->window;
  bool isUniform = countPads ? llvm::all_of(attributes->ceilExtra, isZero)
                             : llvm::all_of(window.low, isZero) && llvm::all_of(window.high, isZero);
  if (!isUniform)
    return total / windowCounts(node, x, *attributes, countPads);
  double area = 1;
  for (int64_t size : window.sizes)
    area *= size;
  return total / area;
}

namespace {

Tensor power(Tensor x, int64_t p) { return p == 1 ? abs(x) : p == 2 ? square(x) : pow(abs(x), double(p)); }
Tensor root(Tensor x, int64_t p) { return p == 1 ? x : p == 2 ? sqrt(x) : pow(x, 1.0 / double(p)); }

Tensor lpPool(Node &node) {
  Tensor x = node.input(0);
  if (!x)
    return x;
  int64_t p = node.integer("p", 2);
  std::optional<WindowAttributes> attributes = windowAttributes(node, x, {});
  return attributes ? root(windowReduce(ReduceKind::add, power(x, p), attributes->window), p) : Tensor();
}

/// Applies a reduction to all spatial dimensions, which stay as 1.
template <typename Apply> Tensor globalPool(Node &node, Apply apply) {
  Tensor x = node.input(0);
  if (!x)
    return x;
  if (x.rank() < 3)
    return node.reject("the input has no spatial dimensions");
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(2, x.rank()));
  return apply(x, ArrayRef<int64_t>(axes));
}

} // namespace

void registerPooling(Registry &registry) {
  registry.addMany("MaxPool", {1}, maxPool);
  registry.add("AveragePool", {1}, [](Node &node) { return averagePool(node, node.input(0)); });
  registry.add("LpPool", {2}, lpPool);
  registry.add("GlobalAveragePool", {1}, [](Node &node) {
    return globalPool(node, [](Tensor x, ArrayRef<int64_t> axes) { return mean(x, axes, true); });
  });
  registry.add("GlobalMaxPool", {1}, [](Node &node) {
    return globalPool(node, [](Tensor x, ArrayRef<int64_t> axes) { return maximum(x, axes, true); });
  });
  registry.add("GlobalLpPool", {2}, [](Node &node) {
    int64_t p = node.integer("p", 2);
    return globalPool(node, [p](Tensor x, ArrayRef<int64_t> axes) { return root(sum(power(x, p), axes, true), p); });
  });
}

} // namespace freestone::importer
