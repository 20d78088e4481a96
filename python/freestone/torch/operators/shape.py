"""Operators that place elements: views, joins, cuts, padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from freestone.torch.expressions import (Graph, Number, Operand, Tensor, broadcast_to, cast, concat, equal, iota, pad,
                                         reshape, select, slice_axis, splat, total, transpose, unsqueeze, widen)
from freestone.torch.layout import dense_order, inverse
from freestone.torch.operators.registry import as_type, fake, operator, refuse, result
from freestone.torch.sizes import Extent, Shape, Size, number_of, size_of


@operator("view", "_unsafe_view", "reshape", "unsqueeze", "squeeze", "squeeze.dim", "squeeze.dims", "flatten.using_ints",
          "view_copy", "_reshape_alias")
def view(graph: Graph, x: Tensor, *arguments: object) -> Tensor:
    return reshape(x, result(graph).shape)


@operator("expand", "expand_copy")
def expand(graph: Graph, x: Tensor, sizes: Sequence[Extent], *, implicit: bool = False) -> Tensor:
    return broadcast_to(x, result(graph).shape)


@operator("prims::broadcast_in_dim")
def broadcast_in_dim(graph: Graph, x: Tensor, sizes: Sequence[Extent], axes: Sequence[int]) -> Tensor:
    """Axis i of the tensor is axis `axes[i]` of the result."""
    shape = result(graph).shape
    return broadcast_to(reshape(x, [x.shape[list(axes).index(axis)] if axis in axes else 1
                                    for axis in range(len(shape))]), shape)


@operator("permute", "permute_copy")
def permute(graph: Graph, x: Tensor, order: Sequence[int]) -> Tensor:
    return transpose(x, order) if x.rank else x


@operator("t", "t_copy")
def matrix_transpose(graph: Graph, x: Tensor) -> Tensor:
    return transpose(x, [1, 0]) if x.rank == 2 else x


@operator("transpose.int", "transpose_copy.int")
def transpose_axes(graph: Graph, x: Tensor, a: int, b: int) -> Tensor:
    if not x.rank:
        return x
    order = list(range(x.rank))
    order[a], order[b] = order[b], order[a]
    return transpose(x, order)


def beginning(graph: Graph, start: Extent | None, extent: Extent) -> Extent:
    """Where a slice begins, of `start` as in Python: from the end where negative, and cut off at both ends."""
    if start is None:
        return 0
    if isinstance(start, int) and isinstance(extent, int):
        return min(max(start + extent if start < 0 else start, 0), extent)
    if isinstance(start, int):
        return start if start == 0 else Size(f"Min({start}, {extent})") if start > 0 else Size(f"Max({extent}-{-start}, 0)")
    return start


@operator("slice.Tensor", "slice_copy.Tensor")
def slice_tensor(graph: Graph, x: Tensor, axis: int = 0, start: Extent | None = None, end: Extent | None = None,
                 step: int = 1) -> Tensor:
    axis %= x.rank
    size = result(graph).shape[axis]
    return slice_axis(x, axis, beginning(graph, start, x.shape[axis]), size, step)


@operator("select.int", "select_copy.int")
def select_index(graph: Graph, x: Tensor, axis: int, index: Extent) -> Tensor:
    axis %= x.rank
    if isinstance(index, int) and index < 0:
        index = x.shape[axis] + index
    return reshape(slice_axis(x, axis, index, 1), result(graph).shape)


@operator("narrow")
def narrow(graph: Graph, x: Tensor, axis: int, start: Extent, length: Extent) -> Tensor:
    axis %= x.rank
    return slice_axis(x, axis, beginning(graph, start, x.shape[axis]), length)


@operator("cat")
def cat(graph: Graph, tensors: Sequence[Tensor], axis: int = 0) -> Tensor:
    expected = result(graph)
    # PyTorch lets empty vectors stand among tensors of any rank.
    operands = [cast(x, expected.dtype) for x in tensors if not (x.rank == 1 and x.shape[0] == 0)]
    return concat(operands, axis % len(expected.shape)) if operands else cast(tensors[0], expected.dtype)


@operator("stack")
def stack(graph: Graph, tensors: Sequence[Tensor], axis: int = 0) -> Tensor:
    axis %= tensors[0].rank + 1
    return concat([unsqueeze(cast(x, result(graph).dtype), axis) for x in tensors], axis)


@operator("split_with_sizes", "split.Tensor", "split_with_sizes_copy", "split_copy.Tensor")
def split(graph: Graph, x: Tensor, sizes: Extent | Sequence[Extent], axis: int = 0) -> list[Tensor]:
    axis %= x.rank
    pieces: list[Tensor] = []
    start: Extent = 0
    for value in graph.node.meta["val"]:
        size = size_of(value.shape[axis])
        pieces.append(slice_axis(x, axis, start, size))
        start = size + start
    return pieces


@operator("unbind.int")
def unbind(graph: Graph, x: Tensor, axis: int = 0) -> list[Tensor]:
    axis %= x.rank
    shape = [*x.shape[:axis], *x.shape[axis + 1:]]
    return [reshape(slice_axis(x, axis, i, 1), shape) for i in range(len(graph.node.meta["val"]))]


@operator("constant_pad_nd")
def constant_pad(graph: Graph, x: Tensor, padding: Sequence[Extent], value: Operand = 0) -> Tensor:
    low: Shape = [0] * x.rank
    high: Shape = [0] * x.rank
    for index in range(len(padding) // 2):
        low[x.rank - 1 - index], high[x.rank - 1 - index] = padding[2 * index], padding[2 * index + 1]
    return pad(x, low, high, as_type(graph, value, x.dtype))


@operator("replication_pad1d_backward", "replication_pad2d_backward", "replication_pad3d_backward")
def replication_pad_backward(graph: Graph, g: Tensor, x: Tensor, padding: Sequence[Extent]) -> Tensor:
    """The elements at the edges also take the gradients of their copies."""
    if any(isinstance(size, int) and size < 0 for size in padding):
        return refuse("is not supported where padding cuts off")
    name, g = g.dtype, widen(g)
    for index in range(len(padding) // 2):
        axis, (low, high) = x.rank - 1 - index, padding[2 * index:2 * index + 2]
        size = x.shape[axis]
        first, last = total(slice_axis(g, axis, 0, low), [axis], True), total(
            slice_axis(g, axis, size + low, high), [axis], True)
        rest = [0] * x.rank
        before, after = [*rest[:axis], size - 1, *rest[axis + 1:]], rest
        g = slice_axis(g, axis, low, size) + pad(first, after, before) + pad(last, before, after)
    return cast(g, name)


@operator("flip")
def flip(graph: Graph, x: Tensor, axes: Sequence[int]) -> Tensor:
    return x.graph.apply("reverse", [x], axes=[axis % x.rank for axis in axes]) if axes and x.rank else x


@operator("repeat")
def repeat(graph: Graph, x: Tensor, times: Sequence[Extent]) -> Tensor:
    shape = [1] * (len(times) - x.rank) + x.shape
    split_shape: Shape = []
    wide: Shape = []
    for size, count in zip(shape, times):
        split_shape += [1, size]
        wide += [count, size]
    return reshape(broadcast_to(reshape(x, split_shape), wide), result(graph).shape)


@operator("full", "full_like", "new_full", "fill.Scalar")
def full(graph: Graph, first: object, *arguments: Any, **keywords: object) -> Tensor:
    expected = result(graph)
    value = arguments[-1]
    return splat(graph, value, expected.dtype, expected.shape)


@operator("zeros", "zeros_like", "new_zeros", "empty.memory_format", "empty_like", "new_empty", "new_empty_strided",
          "empty_strided", "empty_permuted")
def zeros(graph: Graph, *arguments: object, **keywords: object) -> Tensor:
    return splat(graph, 0, result(graph).dtype, result(graph).shape)


@operator("ones", "ones_like", "new_ones")
def ones(graph: Graph, *arguments: object, **keywords: object) -> Tensor:
    return splat(graph, 1, result(graph).dtype, result(graph).shape)


@operator("scalar_tensor")
def scalar_tensor(graph: Graph, value: Number, **keywords: object) -> Tensor:
    return as_type(graph, value, result(graph).dtype)


@operator("fill.Tensor")
def fill(graph: Graph, x: Tensor, value: Tensor) -> Tensor:
    return broadcast_to(cast(value, x.dtype), x.shape)


@operator("arange.start_step")
def arange(graph: Graph, start: Operand, end: Operand, step: Operand = 1, **keywords: object) -> Tensor:
    expected = result(graph)
    dtype = "f64" if expected.dtype in ("f16", "bf16", "f32") else expected.dtype
    places = iota(graph, expected.shape, 0, dtype)
    return cast(places * as_type(graph, step, dtype) + as_type(graph, start, dtype), expected.dtype)


operator("arange")(lambda graph, end, **keywords: arange(graph, 0, end))
operator("arange.start")(lambda graph, start, end, **keywords: arange(graph, start, end))


@operator("diagonal", "diagonal_copy")
def diagonal(graph: Graph, x: Tensor, offset: int = 0, first: int = 0, second: int = 1) -> Tensor:
    first, second = first % x.rank, second % x.rank
    order = [axis for axis in range(x.rank) if axis not in (first, second)] + [first, second]
    x = transpose(x, order)
    count = result(graph).shape[-1]
    x = slice_axis(x, x.rank - 2, max(-offset, 0), count)
    x = slice_axis(x, x.rank - 1, max(offset, 0), count)
    rows, columns = (iota(graph, [count, count], axis, "i64") for axis in (0, 1))
    if x.dtype == "i1":
        return cast(total(select(equal(rows, columns), cast(x, "i32"), 0), [x.rank - 1]), "i1")
    return total(select(equal(rows, columns), x, 0), [x.rank - 1])


@operator("diagonal_scatter")
def diagonal_scatter(graph: Graph, x: Tensor, source: Tensor, offset: int = 0, first: int = 0,
                     second: int = 1) -> Tensor:
    first, second = first % x.rank, second % x.rank
    order = [axis for axis in range(x.rank) if axis not in (first, second)] + [first, second]
    moved = transpose(x, order)
    above, count = max(-offset, 0), source.shape[-1]
    rest = [0] * (source.rank - 1)
    rows = pad(cast(source, x.dtype), [*rest, above], [*rest, moved.shape[-2] - count - above])
    row, column = (iota(graph, moved.shape, axis, "i64") for axis in (x.rank - 2, x.rank - 1))
    written = select(equal(column - row, offset), unsqueeze(rows, source.rank), moved)
    return transpose(written, [order.index(axis) for axis in range(x.rank)])


def orders_of_views(graph: Graph, sizes: Any, strides: Any, offset: Extent | None) -> tuple[list[int], list[int]]:
    """The orders of axes in memory, of a tensor, the node's first argument, and of a view of all its memory. `sizes` and
    `strides` are the node's own."""
    known = fake(graph.node.args[0])
    sizes, strides = ([fake(value) for value in values] for values in (sizes, strides))
    own, view = dense_order(known.shape, known.stride()), dense_order(sizes, strides)
    if own is None or view is None or offset or number_of(known.shape) != number_of(sizes):
        return refuse("strided views with gaps or overlaps are not supported")
    return own, view


@operator("as_strided")
def as_strided(graph: Graph, x: Tensor, sizes: Sequence[Extent], strides: Sequence[Extent],
               offset: Extent | None = None) -> Tensor:
    """Views of all of a tensor's memory, in whatever order."""
    known = fake(graph.node.args[0])
    strided = [(size, stride) for size, stride in zip(sizes, strides) if size != 1]
    if strided == [(size_of(size), size_of(stride)) for size, stride in zip(known.shape, known.stride()) if size != 1]:
        return reshape(x, sizes)
    own, view = orders_of_views(graph, graph.node.args[1], graph.node.args[2], offset)
    return transpose(reshape(transpose(x, own), [sizes[axis] for axis in view]), inverse(view))


@operator("as_strided_scatter")
def as_strided_scatter(graph: Graph, x: Tensor, source: Tensor, sizes: Sequence[Extent], strides: Sequence[Extent],
                       offset: Extent | None = None) -> Tensor:
    """Writes all of a tensor's memory."""
    own, view = orders_of_views(graph, graph.node.args[2], graph.node.args[3], offset)
    return transpose(reshape(transpose(cast(source, x.dtype), view), [x.shape[axis] for axis in own]), inverse(own))
