"""Reductions, scans, sorting, and the normalizations made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from freestone.torch.dtypes import wide
from freestone.torch.expressions import Graph, Tensor, cast, mean, reduce, reshape, scalar, total, unary, widen
from freestone.torch.operators.registry import operator, result
from freestone.torch.sizes import Extent, product

#: One, several, or all.
Axes = int | Sequence[int] | None


def axes_of(x: Tensor, axes: Axes) -> list[int]:
    """All where there are none."""
    if not x.rank or axes is None or (not isinstance(axes, int) and not axes):
        return list(range(x.rank))
    return sorted(axis % x.rank for axis in ([axes] if isinstance(axes, int) else axes))


@operator("sum", "sum.dim_IntList")
def sum_over(graph: Graph, x: Tensor, axes: Axes = None, keep: bool = False, *,
             dtype: torch.dtype | None = None) -> Tensor:
    name = result(graph).dtype
    return cast(total(cast(x, wide(name)), axes_of(x, axes), keep), name)


@operator("prims::sum")
def prims_sum(graph: Graph, x: Tensor, axes: Sequence[int] | None, *,
              output_dtype: torch.dtype | None = None) -> Tensor:
    return sum_over(graph, x, axes) if axes is None or axes else x


@operator("mean", "mean.dim")
def mean_over(graph: Graph, x: Tensor, axes: Axes = None, keep: bool = False, *,
              dtype: torch.dtype | None = None) -> Tensor:
    name = result(graph).dtype
    return cast(mean(cast(x, wide(name)), axes_of(x, axes), keep), name)


@operator("prod", "prod.dim_int")
def prod(graph: Graph, x: Tensor, axis: int | None = None, keep: bool = False, *,
         dtype: torch.dtype | None = None) -> Tensor:
    name = result(graph).dtype
    return cast(reduce("mul", cast(x, wide(name)), axes_of(x, axis), keep), name)


@operator("amax")
def amax(graph: Graph, x: Tensor, axes: Axes = (), keep: bool = False) -> Tensor:
    return reduce("max", x, axes_of(x, axes), keep)


@operator("amin")
def amin(graph: Graph, x: Tensor, axes: Axes = (), keep: bool = False) -> Tensor:
    return reduce("min", x, axes_of(x, axes), keep)


operator("max")(lambda graph, x: reduce("max", x, axes_of(x, None)))
operator("min")(lambda graph, x: reduce("min", x, axes_of(x, None)))


@operator("max.dim")
def max_along(graph: Graph, x: Tensor, axis: int, keep: bool = False) -> list[Tensor]:
    return extremum(graph, x, axis, keep, True)


@operator("min.dim")
def min_along(graph: Graph, x: Tensor, axis: int, keep: bool = False) -> list[Tensor]:
    return extremum(graph, x, axis, keep, False)


def extremum(graph: Graph, x: Tensor, axis: int, keep: bool, largest: bool) -> list[Tensor]:
    if not x.rank:
        return [x, scalar(graph, 0, "i64")]
    return [reduce("max" if largest else "min", x, [axis], keep), position(x, axis, keep, largest)]


def position(x: Tensor, axis: int, keep: bool, largest: bool) -> Tensor:
    ordered = cast(x, "u8") if x.dtype == "i1" else x
    return ordered.graph.apply("arg_reduce", [ordered], axis=axis % x.rank, largest=largest, keep=keep)


@operator("argmax")
def argmax(graph: Graph, x: Tensor, axis: int | None = None, keep: bool = False) -> Tensor:
    return flat_position(graph, x, axis, keep, True)


@operator("argmin")
def argmin(graph: Graph, x: Tensor, axis: int | None = None, keep: bool = False) -> Tensor:
    return flat_position(graph, x, axis, keep, False)


def flat_position(graph: Graph, x: Tensor, axis: int | None, keep: bool, largest: bool) -> Tensor:
    shape = result(graph).shape
    if not x.rank:
        return scalar(graph, 0, "i64")
    if axis is None:
        return reshape(position(reshape(x, [product(x.shape)]), 0, False, largest), shape)
    return position(x, axis, keep, largest)


@operator("any", "any.dim", "any.dims")
def any_of(graph: Graph, x: Tensor, axes: Axes = None, keep: bool = False) -> Tensor:
    return reduced_truth(graph, "or", x, axes, keep)


@operator("all", "all.dim", "all.dims")
def all_of(graph: Graph, x: Tensor, axes: Axes = None, keep: bool = False) -> Tensor:
    return reduced_truth(graph, "and", x, axes, keep)


def reduced_truth(graph: Graph, kind: str, x: Tensor, axes: Axes, keep: bool) -> Tensor:
    return cast(reduce(kind, cast(x, "i1"), axes_of(x, axes), keep), result(graph).dtype)


def spread(x: Tensor, axes: Sequence[int], correction: float, keep: bool) -> tuple[Tensor, Tensor]:
    """Variance and mean. The mean of the squared distances from the mean: no cancellation."""
    center = mean(x, axes, True)
    distance = x - center
    count = scalar(x.graph, product(x.shape[axis] for axis in axes), x.dtype)
    variance = total(distance * distance, axes, keep) / (count - float(correction) if correction else count)
    shape = variance.shape
    return variance, center if keep else reshape(center, shape)


@operator("var.correction")
def var(graph: Graph, x: Tensor, axes: Axes = None, *, correction: float | None = None,
        keepdim: bool = False) -> Tensor:
    name = result(graph).dtype
    return cast(spread(cast(x, wide(name)), axes_of(x, axes), 1 if correction is None else correction, keepdim)[0], name)


@operator("var_mean.correction")
def var_mean(graph: Graph, x: Tensor, axes: Axes = None, *, correction: float | None = None,
             keepdim: bool = False) -> list[Tensor]:
    name = result(graph, 0).dtype
    found = spread(cast(x, wide(name)), axes_of(x, axes), 1 if correction is None else correction, keepdim)
    return [cast(value, name) for value in found]


@operator("prims::var")
def prims_var(graph: Graph, x: Tensor, axes: Axes, correction: float = 1, *,
              output_dtype: torch.dtype | None = None) -> Tensor:
    return var(graph, x, axes, correction=correction)


@operator("cumsum")
def cumsum(graph: Graph, x: Tensor, axis: int, *, dtype: torch.dtype | None = None) -> Tensor:
    return scan(graph, "add", x, axis)


@operator("cumprod")
def cumprod(graph: Graph, x: Tensor, axis: int, *, dtype: torch.dtype | None = None) -> Tensor:
    return scan(graph, "mul", x, axis)


def scan(graph: Graph, kind: str, x: Tensor, axis: int) -> Tensor:
    name = result(graph).dtype
    x = cast(x, wide(name))
    return cast(x.graph.apply("cumulate", [x], kind=kind, axis=axis % x.rank) if x.rank else x, name)


@operator("sort", "sort.stable")
def sort(graph: Graph, x: Tensor, *arguments: Any, stable: bool | None = None, dim: int = -1,
         descending: bool = False) -> list[Tensor]:
    if arguments and isinstance(arguments[0], bool) and len(arguments) == 3:
        arguments = arguments[1:]
    axis, descending = (list(arguments) + [dim, descending][len(arguments):])[:2]
    if not x.rank:
        return [x, scalar(graph, 0, "i64")]
    axis %= x.rank
    return x.graph.apply_many(2, "top_k", [x], k=x.shape[axis], axis=axis, largest=descending)


@operator("topk")
def topk(graph: Graph, x: Tensor, k: Extent, axis: int = -1, largest: bool = True, sorted: bool = True) -> list[Tensor]:
    if not x.rank:
        return [x, scalar(graph, 0, "i64")]
    return x.graph.apply_many(2, "top_k", [x], k=k, axis=axis % x.rank, largest=largest)


@operator("_softmax")
def softmax(graph: Graph, x: Tensor, axis: int, half_to_float: bool) -> Tensor:
    return normalized(graph, "softmax", x, axis)


@operator("_log_softmax")
def log_softmax(graph: Graph, x: Tensor, axis: int, half_to_float: bool) -> Tensor:
    return normalized(graph, "log_softmax", x, axis)


def normalized(graph: Graph, kind: str, x: Tensor, axis: int) -> Tensor:
    name = result(graph).dtype
    if not x.rank:
        return reshape(normalized(graph, kind, reshape(x, [1]), 0), [])
    x = cast(x, wide(name))
    return cast(x.graph.apply(kind, [x], axis=axis % x.rank), name)


def is_read(graph: Graph, index: int) -> bool:
    """Whether anything uses result `index` of the node."""
    return any(user.args[1] == index and user.users for user in graph.node.users)


@operator("native_layer_norm")
def layer_norm(graph: Graph, x: Tensor, normalized_shape: Sequence[Extent], weight: Tensor | None, bias: Tensor | None,
               epsilon: float) -> list[Tensor]:
    name, first = x.dtype, x.rank - len(normalized_shape)
    axes = list(range(first, x.rank))
    x = widen(x)
    if is_read(graph, 1) or is_read(graph, 2):
        variance, center = spread(x, axes, 0, True)
        inverse = unary("rsqrt", variance + epsilon)
        y = (x - center) * inverse
        saved = [cast(center, result(graph, 1).dtype), cast(inverse, result(graph, 2).dtype)]
    else:
        y, saved = graph.apply("layer_norm", [x], axis=first, epsilon=epsilon), [x, x]
    if weight is not None:
        y = y * widen(weight)
    if bias is not None:
        y = y + widen(bias)
    return [cast(y, name), *saved]
