"""Windows: pooling, and its gradients."""

from __future__ import annotations

import math
from collections.abc import Sequence

from freestone.torch.dtypes import wide
from freestone.torch.expressions import (Graph, Number, Tensor, broadcast_to, cast, equal, gather, iota, minimum, pad,
                                         reshape, scalar, select, splat, total, unsqueeze, widen)
from freestone.torch.operators.registry import operator, refuse, result
from freestone.torch.sizes import Extent, Shape, for_each_axis, larger, product, size_of


def high_padding(places: Extent, extent: Extent, size: int, stride: int, dilation: int, low: int) -> Extent:
    """What makes exactly `places` windows, whatever the last one reaches beyond."""
    return (places - 1) * stride + (size - 1) * dilation + 1 - extent - low


class Window:
    """Sizes, strides, dilations and padding over the trailing dimensions."""

    def __init__(self, x: Tensor, places: Sequence[Extent], spatial: int, size: Sequence[int], stride: Sequence[int],
                 padding: Sequence[int], dilation: Sequence[int] = (1,)):
        self.size = for_each_axis(size, spatial)
        self.stride = for_each_axis(stride, spatial, self.size)
        self.low = for_each_axis(padding, spatial)
        self.dilation = for_each_axis(dilation, spatial)
        extents = x.shape[x.rank - spatial:]
        self.high: Shape = [high_padding(*values)
                            for values in zip(places, extents, self.size, self.stride, self.dilation, self.low)]

    def attributes(self) -> dict[str, Sequence[Extent]]:
        return dict(sizes=self.size, strides=self.stride, dilations=self.dilation, low=self.low, high=self.high)


def max_pool(graph: Graph, x: Tensor, spatial: int, size: Sequence[int], stride: Sequence[int] = (),
             padding: Sequence[int] = (0,), dilation: Sequence[int] = (1,), ceil: bool = False) -> list[Tensor]:
    value = graph.node.meta["val"][0]
    places = [size_of(extent) for extent in value.shape[-spatial:]]
    window = Window(x, places, spatial, size, stride, padding, dilation).attributes()
    return [graph.apply("window", [x], kind="max", **window), graph.apply("window_argmax", [x], **window)]


operator("max_pool2d_with_indices")(lambda graph, x, *args, **kw: max_pool(graph, x, 2, *args, **kw))
operator("max_pool3d_with_indices")(lambda graph, x, *args, **kw: max_pool(graph, x, 3, *args, **kw))


@operator("adaptive_max_pool2d")
def adaptive_max_pool2d(graph: Graph, x: Tensor, sizes: Sequence[int]) -> list[Tensor]:
    extents = [extent for extent in x.shape[x.rank - 2:] if isinstance(extent, int)]
    if len(extents) < 2 or any(extent % size for extent, size in zip(extents, sizes)):
        return refuse("is supported where all windows have one size")
    return max_pool(graph, x, 2, [extent // size for extent, size in zip(extents, sizes)])


@operator("adaptive_max_pool2d_backward")
def adaptive_max_pool2d_backward(graph: Graph, g: Tensor, x: Tensor, indices: Tensor) -> Tensor:
    return scatter_to_maxima(graph, g, x, 2, indices)


def scatter_to_maxima(graph: Graph, g: Tensor, x: Tensor, spatial: int, indices: Tensor) -> Tensor:
    first = x.rank - spatial

    def flat(tensor: Tensor) -> Tensor:
        return reshape(tensor, [*tensor.shape[:first], product(tensor.shape[first:])])

    wider = wide(x.dtype)
    sums = graph.apply("scatter_elements", [flat(splat(graph, 0, wider, x.shape)), flat(indices), flat(cast(g, wider))],
                       axis=first, kind="add")
    return cast(reshape(sums, x.shape), x.dtype)


@operator("max_pool2d_with_indices_backward")
def max_pool2d_backward(graph: Graph, g: Tensor, x: Tensor, size: Sequence[int], stride: Sequence[int],
                        padding: Sequence[int], dilation: Sequence[int], ceil: bool, indices: Tensor) -> Tensor:
    size, padding, dilation = for_each_axis(size, 2), for_each_axis(padding, 2), for_each_axis(dilation, 2)
    stride = for_each_axis(stride, 2, size)
    if size == stride and dilation == [1, 1] and padding == [0, 0] and not ceil:
        return take_at_maxima(graph, g, x, size, indices)
    return scatter_to_maxima(graph, g, x, 2, indices)


def take_at_maxima(graph: Graph, g: Tensor, x: Tensor, size: Sequence[int], indices: Tensor) -> Tensor:
    """Every element takes the gradient of its window if it is the maximum: windows are disjoint."""
    first = x.rank - 2

    def repeated(places: Tensor, outside: Number) -> Tensor:
        apart = [*places.shape[:first], places.shape[first], 1, places.shape[first + 1], 1]
        wide_shape = [*places.shape[:first], places.shape[first], size[0], places.shape[first + 1], size[1]]
        covered = [places.shape[first] * size[0], places.shape[first + 1] * size[1]]
        joined = reshape(broadcast_to(reshape(places, apart), wide_shape), [*places.shape[:first], *covered])
        rest = [x.shape[first] - covered[0], x.shape[first + 1] - covered[1]]
        return pad(joined, [0] * x.rank, [0] * first + rest, outside)

    here = iota(graph, x.shape, first, "i64") * scalar(graph, x.shape[first + 1], "i64") + iota(
        graph, x.shape, first + 1, "i64")
    return select(equal(repeated(indices, -1), here), repeated(g, 0), 0)


@operator("max_pool3d_with_indices_backward")
def max_pool3d_backward(graph: Graph, g: Tensor, x: Tensor, size: Sequence[int], stride: Sequence[int],
                        padding: Sequence[int], dilation: Sequence[int], ceil: bool, indices: Tensor) -> Tensor:
    return scatter_to_maxima(graph, g, x, 3, indices)


def window_counts(graph: Graph, x: Tensor, window: Window, spatial: int, include_padding: bool,
                  divisor: int | None) -> Tensor | float:
    """By how many elements each window is divided: a number, or a tensor of the places."""
    if divisor:
        return float(divisor)
    plain = all(isinstance(high, int) and high <= low for high, low in zip(window.high, window.low))
    if include_padding and plain:
        return float(math.prod(window.size))
    if not any(window.low) and plain:
        return float(math.prod(window.size))
    ones = splat(graph, 1.0, "f32", x.shape[x.rank - spatial:])
    if include_padding:
        low = list(window.low)
        ones = pad(ones, low, low, 1.0)
        attributes = dict(window.attributes(), low=[0] * spatial,
                          high=[high - low for high, low in zip(window.high, window.low)])
    else:
        attributes = window.attributes()
    return graph.apply("window", [ones], kind="add", **attributes)


def average_pool(graph: Graph, x: Tensor, spatial: int, size: Sequence[int], stride: Sequence[int] = (),
                 padding: Sequence[int] = (0,), ceil: bool = False, include_padding: bool = True,
                 divisor: int | None = None) -> Tensor:
    places = result(graph).shape[-spatial:]
    name, x = x.dtype, widen(x)
    window = Window(x, places, spatial, size, stride, padding)
    sums = graph.apply("window", [x], kind="add", **window.attributes())
    counts = window_counts(graph, x, window, spatial, include_padding, divisor)
    return cast(sums / (counts if isinstance(counts, float) else cast(counts, sums.dtype)), name)


for count in (1, 2, 3):
    operator(f"avg_pool{count}d")(
        lambda graph, x, *args, count=count, **kw: average_pool(graph, x, count, *args, **kw))


def average_pool_backward(graph: Graph, g: Tensor, x: Tensor, spatial: int, size: Sequence[int], stride: Sequence[int],
                          padding: Sequence[int], ceil: bool, include_padding: bool, divisor: int | None) -> Tensor:
    """A sum over windows of stride 1 over the gradients, which stand as far apart as the windows did."""
    name, g, x = x.dtype, widen(g), widen(x)
    first = x.rank - spatial
    window = Window(x, g.shape[first:], spatial, size, stride, padding)
    counts = window_counts(graph, x, window, spatial, include_padding, divisor)
    g = g / (counts if isinstance(counts, float) else cast(counts, g.dtype))
    low: Shape = [0] * x.rank
    high: Shape = [0] * x.rank
    interior = [0] * x.rank
    for i in range(spatial):
        axis, step = first + i, window.stride[i]
        places = g.shape[axis]
        apart = places if step == 1 else larger(places * step - (step - 1), 0)
        low[axis] = window.size[i] - 1 - window.low[i]
        high[axis] = x.shape[axis] + (window.size[i] - 1) - apart - low[axis]
        interior[axis] = step - 1
    none = [0] * spatial
    spread = pad(g, low, high, 0, interior)
    return cast(graph.apply("window", [spread], kind="add", sizes=window.size, strides=[1] * spatial,
                            dilations=[1] * spatial, low=none, high=none), name)


for count in (2, 3):
    operator(f"avg_pool{count}d_backward")(
        lambda graph, g, x, *args, count=count: average_pool_backward(graph, g, x, count, *args))


def adaptive_windows(graph: Graph, count: Extent, extent: Extent) -> tuple[Tensor, Tensor]:
    """Where each of `count` windows over `extent` elements begins, and their sizes, [count] i64 each: from
    ⌊i·extent/count⌋ to below ⌈(i+1)·extent/count⌉."""
    place, whole, parts = iota(graph, [count], 0, "i64"), scalar(graph, extent, "i64"), scalar(graph, count, "i64")
    first = place * whole / parts
    return first, ((place + 1) * whole + parts - 1) / parts - first


def sum_windows(graph: Graph, x: Tensor, axis: int, count: Extent) -> Tensor:
    """The sums of the adaptive windows along an axis. Elements outside of a window are left out rather than multiplied
    by zero, which infinities don't survive."""
    extent, before, after = x.shape[axis], x.shape[:axis], x.shape[axis + 1:]
    if isinstance(extent, int) and isinstance(count, int) and extent % count == 0:
        return total(reshape(x, [*before, count, extent // count, *after]), [axis + 1])
    widest = (extent + count - 1) // count + 1
    first, sizes = adaptive_windows(graph, count, extent)
    offset = iota(graph, [count, widest], 1, "i64")
    elements = minimum(unsqueeze(first, 1) + offset, scalar(graph, extent, "i64") - 1)
    found = reshape(gather(x, reshape(elements, [count * widest]), axis), [*before, count, widest, *after])
    covered = reshape(offset < unsqueeze(sizes, 1), [count, widest, *[1] * len(after)])
    return total(select(covered, found, 0.0), [axis + 1])


def divide_by_sizes(graph: Graph, x: Tensor, axis: int, extent: Extent) -> Tensor:
    """By the sizes of the windows over `extent` elements."""
    sizes = cast(adaptive_windows(graph, x.shape[axis], extent)[1], x.dtype)
    return x / reshape(sizes, [x.shape[axis], *[1] * (x.rank - axis - 1)])


@operator("_adaptive_avg_pool2d", "_adaptive_avg_pool3d")
def adaptive_average(graph: Graph, x: Tensor, sizes: Sequence[Extent]) -> Tensor:
    name, places = x.dtype, result(graph).shape
    x = widen(x)
    for axis in range(x.rank - len(sizes), x.rank):
        x = divide_by_sizes(graph, sum_windows(graph, x, axis, places[axis]), axis, x.shape[axis])
    return cast(x, name)


@operator("_adaptive_avg_pool2d_backward", "_adaptive_avg_pool3d_backward")
def adaptive_average_backward(graph: Graph, g: Tensor, x: Tensor) -> Tensor:
    """The windows that cover an element are themselves the adaptive windows of elements over places."""
    spatial = 3 if "3d" in str(graph.node.target) else 2
    name, g = g.dtype, widen(g)
    for axis in range(g.rank - spatial, g.rank):
        g = sum_windows(graph, divide_by_sizes(graph, g, axis, x.shape[axis]), axis, x.shape[axis])
    return cast(g, name)
