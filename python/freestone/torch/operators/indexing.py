"""Operators that read and write by indices."""

from __future__ import annotations

import math
from collections.abc import Sequence

from freestone.torch.dtypes import FLOATS, wide
from freestone.torch.expressions import (Graph, Number, Operand, Tensor, binary, broadcast_to, cast, concat, equal,
                                         gather, iota, maximum, pad, reshape, scalar, select, slice_axis, splat, total,
                                         transpose, unsqueeze, widen)
from freestone.torch.operators.registry import as_type, operator, refuse, result
from freestone.torch.sizes import Extent, Shape, product


@operator("embedding")
def embedding(graph: Graph, weight: Tensor, indices: Tensor, padding_index: int = -1, scale_by_frequency: bool = False,
              sparse: bool = False) -> Tensor:
    return gather(weight, indices, 0)


@operator("embedding_dense_backward")
def embedding_backward(graph: Graph, g: Tensor, indices: Tensor, rows: Extent, padding_index: int,
                       scale_by_frequency: bool) -> Tensor:
    if scale_by_frequency:
        return refuse("gradients of embeddings that are scaled by frequency are not supported")
    name, width = g.dtype, g.shape[-1]
    count = product(indices.shape)
    g = reshape(cast(g, wide(name)), [count, width])
    indices = reshape(indices, [count])
    if padding_index >= 0:
        g = select(unsqueeze(equal(indices, padding_index), 1), 0.0, g)
    zeros = splat(graph, 0, g.dtype, [rows, width])
    return cast(graph.apply("scatter_nd", [zeros, unsqueeze(indices, 1), g], kind="add"), name)


@operator("index_select")
def index_select(graph: Graph, x: Tensor, axis: int, indices: Tensor) -> Tensor:
    if not x.rank:
        return x
    return gather(x, indices if indices.rank else reshape(indices, [1]), axis % x.rank)


@operator("gather")
def gather_elements(graph: Graph, x: Tensor, axis: int, indices: Tensor, *, sparse_grad: bool = False) -> Tensor:
    if not x.rank:
        return reshape(x, indices.shape) if not indices.rank else broadcast_to(x, indices.shape)
    if not indices.rank:
        indices = reshape(indices, [1])
        return reshape(gather_elements(graph, x, axis, indices), [])
    return graph.apply("gather_elements", [x, indices], axis=axis % x.rank)


def scatter(graph: Graph, x: Tensor, axis: int, indices: Tensor, updates: Tensor, kind: str) -> Tensor:
    updates = cast(updates, x.dtype)
    if not x.rank:
        return reshape(scatter(graph, reshape(x, [1]), 0, reshape(indices, [1]), reshape(updates, [1]), kind), [])
    if updates.shape != indices.shape:
        for dim, (whole, size) in enumerate(zip(list(updates.shape), indices.shape)):
            if whole != size:
                updates = slice_axis(updates, dim, 0, size)
    return graph.apply("scatter_elements", [x, indices, updates], axis=axis % x.rank, kind=kind)


operator("scatter.src")(lambda graph, x, axis, indices, updates: scatter(graph, x, axis, indices, updates, "none"))
operator("scatter_add")(lambda graph, x, axis, indices, updates: scatter(graph, x, axis, indices, updates, "add"))


@operator("scatter.value")
def scatter_value(graph: Graph, x: Tensor, axis: int, indices: Tensor, value: Number) -> Tensor:
    return scatter(graph, x, axis, indices, splat(graph, value, x.dtype, indices.shape), "none")


def advanced(graph: Graph, x: Tensor,
             indices: Sequence[Tensor | None]) -> tuple[list[int], list[int], Tensor, Shape, int]:
    """The axes that tensors index, moved to the front, and the indices as coordinates [shape…, axes]; and where the
    indexed dimensions stand in the result."""
    if any(index is not None and index.dtype in ("i1", "u8") for index in indices):
        refuse("indexing by a mask is not supported")
    indices = list(indices) + [None] * (x.rank - len(indices))
    axes = [axis for axis, index in enumerate(indices) if index is not None]
    tensors = [cast(index, "i64") for index in indices if index is not None]
    joined = tensors[0]
    for other in tensors[1:]:
        joined = joined + other
    shape = joined.shape
    coordinates = concat([unsqueeze(broadcast_to(t, shape), len(shape)) for t in tensors], len(shape))
    rest = [axis for axis in range(x.rank) if axis not in axes]
    together = axes == list(range(axes[0], axes[-1] + 1))
    return axes, rest, coordinates, shape, axes[0] if together else 0


@operator("index.Tensor", "_unsafe_index.Tensor")
def index(graph: Graph, x: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    axes, rest, coordinates, shape, place = advanced(graph, x, indices)
    moved = transpose(x, axes + rest)
    if len(axes) == 1:
        found = gather(moved, reshape(coordinates, shape), 0)
    else:
        found = graph.apply("gather_nd", [moved, coordinates])
    # [shape…, rest…] becomes [rest before…, shape…, rest after…].
    order = [*range(len(shape), len(shape) + place), *range(len(shape)), *range(len(shape) + place, found.rank)]
    return transpose(found, order)


@operator("index_put", "_unsafe_index_put")
def index_put(graph: Graph, x: Tensor, indices: Sequence[Tensor | None], values: Tensor,
              accumulate: bool = False) -> Tensor:
    given = [i for i in indices if i is not None]
    if len(given) == 1 and len(indices) == 1 and given[0].dtype == "i1" and not accumulate and not values.rank:
        mask = given[0]
        return select(reshape(mask, [*mask.shape, *[1] * (x.rank - mask.rank)]), cast(values, x.dtype), x)
    axes, rest, coordinates, shape, place = advanced(graph, x, indices)
    order = axes + rest
    moved = transpose(x, order)
    rest_shape = [x.shape[axis] for axis in rest]
    updates = broadcast_to(cast(values, x.dtype), [*rest_shape[:place], *shape, *rest_shape[place:]])
    back = [*range(place, place + len(shape)), *range(place), *range(place + len(shape), updates.rank)]
    updates = transpose(updates, back)
    found = graph.apply("scatter_nd", [moved, coordinates, updates], kind="add" if accumulate else "none")
    inverse = [order.index(axis) for axis in range(x.rank)]
    return transpose(found, inverse)


@operator("slice_scatter")
def slice_scatter(graph: Graph, x: Tensor, source: Tensor, axis: int = 0, start: Extent | None = None,
                  end: Extent | None = None, step: int = 1) -> Tensor:
    from freestone.torch.operators.shape import beginning

    axis %= x.rank
    first = beginning(graph, start, x.shape[axis])
    size = source.shape[axis]
    low: Shape = [0] * x.rank
    high: Shape = [0] * x.rank
    interior = [0] * x.rank
    low[axis], interior[axis] = first, step - 1
    covered = (size - 1) * step + 1 if step > 1 else size
    high[axis] = x.shape[axis] - first - covered
    ones = splat(graph, 1, "u8", source.shape)
    written = cast(pad(ones, low, high, 0, interior), "i1")
    return select(written, pad(cast(source, x.dtype), low, high, 0, interior), x)


@operator("select_scatter")
def select_scatter(graph: Graph, x: Tensor, source: Tensor, axis: int, index: Extent) -> Tensor:
    axis %= x.rank
    if isinstance(index, int) and index < 0:
        index = x.shape[axis] + index
    here = iota(graph, x.shape, axis, "i64")
    return select(equal(here, scalar(graph, index, "i64")), unsqueeze(cast(source, x.dtype), axis), x)


@operator("masked_fill.Scalar", "masked_fill.Tensor")
def masked_fill(graph: Graph, x: Tensor, mask: Tensor, value: Operand) -> Tensor:
    return select(mask, as_type(graph, value, x.dtype), x)


@operator("masked_scatter")
def masked_scatter(graph: Graph, x: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """The elements of the source in order, where the mask is."""
    shape = result(graph).shape
    mask, x = broadcast_to(mask, shape), broadcast_to(x, shape)
    count = product(shape)
    number = graph.apply("cumulate", [cast(reshape(mask, [count]), "i64")], kind="add", axis=0)
    taken = gather(reshape(source, [product(source.shape)]), maximum(number - 1, 0), 0)
    return select(mask, reshape(taken, shape), x)


@operator("scatter_reduce.two")
def scatter_reduce(graph: Graph, x: Tensor, axis: int, indices: Tensor, source: Tensor, kind: str, *,
                   include_self: bool = True) -> Tensor:
    kinds = {"sum": "add", "mean": "add", "prod": "mul", "amax": "max", "amin": "min"}
    start = x
    if not include_self:
        neutral = {"sum": 0, "mean": 0, "prod": 1, "amax": lowest(x.dtype), "amin": highest(x.dtype)}[kind]
        start = scatter(graph, x, axis, indices, splat(graph, neutral, x.dtype, indices.shape), "none")
    name = x.dtype
    if kind in ("sum", "mean", "prod"):
        start, source = widen(start), widen(source)
    found = scatter(graph, start, axis, indices, source, kinds[kind])
    if kind == "mean":
        if name not in FLOATS:
            return refuse("is not supported for means of integers")
        itself = splat(graph, 1 if include_self else 0, found.dtype, x.shape)
        counts = scatter(graph, itself, axis, indices, splat(graph, 1, found.dtype, indices.shape), "add")
        found = found / maximum(counts, 1)
    return cast(found, name)


def places(boundaries: Tensor, x: Tensor, right: bool) -> Tensor:
    """How many boundaries are below each element, or with `right` not above it; NaN is above all."""
    relation = binary("gt" if right else "ge", boundaries, unsqueeze(x, x.rank))
    return total(cast(~relation, "i64"), [relation.rank - 1])


@operator("bucketize.Tensor", "bucketize.Scalar")
def bucketize(graph: Graph, x: Operand, boundaries: Tensor, *, out_int32: bool = False, right: bool = False) -> Tensor:
    return cast(places(boundaries, as_type(graph, x, boundaries.dtype), right), result(graph).dtype)


@operator("searchsorted.Tensor", "searchsorted.Scalar")
def searchsorted(graph: Graph, boundaries: Tensor, x: Operand, *, out_int32: bool = False, right: bool = False,
                 side: str | None = None, sorter: Tensor | None = None) -> Tensor:
    if sorter is not None:
        return refuse("is not supported with a sorter")
    x = as_type(graph, x, boundaries.dtype)
    if boundaries.rank > 1:
        boundaries = unsqueeze(boundaries, boundaries.rank - 1)
    return cast(places(boundaries, x, right or side == "right"), result(graph).dtype)


def lowest(dtype: str) -> int | float:
    return -math.inf if dtype in FLOATS else 0 if dtype[0] == "u" or dtype == "i1" else -(1 << int(dtype[1:]) - 1)


def highest(dtype: str) -> int | float:
    if dtype in FLOATS:
        return math.inf
    bits = int(dtype[1:])
    return (1 << (bits if dtype[0] == "u" or bits == 1 else bits - 1)) - 1
