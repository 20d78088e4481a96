"""Reductions, scans, sorting, and the normalizations made of them."""

from __future__ import annotations

from freestone.torch.dtypes import wide
from freestone.torch.expressions import cast, mean, reduce, reshape, scalar, total, unary, widen
from freestone.torch.operators.registry import operator, result
from freestone.torch.sizes import product


def axes_of(x, axes) -> list[int]:
    """All where there are none."""
    if not x.rank or axes is None or (isinstance(axes, (list, tuple)) and not axes):
        return list(range(x.rank))
    return sorted(axis % x.rank for axis in (axes if isinstance(axes, (list, tuple)) else [axes]))


@operator("sum", "sum.dim_IntList")
def sum_over(graph, x, axes=None, keep=False, *, dtype=None):
    name = result(graph).dtype
    return cast(total(cast(x, wide(name)), axes_of(x, axes), keep), name)


@operator("prims::sum")
def prims_sum(graph, x, axes, *, output_dtype=None):
    return sum_over(graph, x, axes) if axes is None or axes else x


@operator("mean", "mean.dim")
def mean_over(graph, x, axes=None, keep=False, *, dtype=None):
    name = result(graph).dtype
    return cast(mean(cast(x, wide(name)), axes_of(x, axes), keep), name)


@operator("prod", "prod.dim_int")
def prod(graph, x, axis=None, keep=False, *, dtype=None):
    name = result(graph).dtype
    return cast(reduce("mul", cast(x, wide(name)), axes_of(x, axis), keep), name)


@operator("amax")
def amax(graph, x, axes=(), keep=False):
    return reduce("max", x, axes_of(x, axes), keep)


@operator("amin")
def amin(graph, x, axes=(), keep=False):
    return reduce("min", x, axes_of(x, axes), keep)


operator("max")(lambda graph, x: reduce("max", x, axes_of(x, None)))
operator("min")(lambda graph, x: reduce("min", x, axes_of(x, None)))


@operator("max.dim")
def max_along(graph, x, axis, keep=False):
    return extremum(graph, x, axis, keep, True)


@operator("min.dim")
def min_along(graph, x, axis, keep=False):
    return extremum(graph, x, axis, keep, False)


def extremum(graph, x, axis, keep, largest):
    if not x.rank:
        return [x, scalar(graph, 0, "i64")]
    return [reduce("max" if largest else "min", x, [axis], keep), position(x, axis, keep, largest)]


def position(x, axis, keep, largest):
    ordered = cast(x, "u8") if x.dtype == "i1" else x
    return ordered.graph.apply("arg_reduce", [ordered], axis=axis % x.rank, largest=largest, keep=keep)


@operator("argmax")
def argmax(graph, x, axis=None, keep=False):
    return flat_position(graph, x, axis, keep, True)


@operator("argmin")
def argmin(graph, x, axis=None, keep=False):
    return flat_position(graph, x, axis, keep, False)


def flat_position(graph, x, axis, keep, largest):
    shape = result(graph).shape
    if not x.rank:
        return scalar(graph, 0, "i64")
    if axis is None:
        return reshape(position(reshape(x, [product(x.shape)]), 0, False, largest), shape)
    return position(x, axis, keep, largest)


@operator("any", "any.dim", "any.dims")
def any_of(graph, x, axes=None, keep=False):
    return reduced_truth(graph, "or", x, axes, keep)


@operator("all", "all.dim", "all.dims")
def all_of(graph, x, axes=None, keep=False):
    return reduced_truth(graph, "and", x, axes, keep)


def reduced_truth(graph, kind, x, axes, keep):
    return cast(reduce(kind, cast(x, "i1"), axes_of(x, axes), keep), result(graph).dtype)


def spread(x, axes, correction, keep):
    """Variance and mean. The mean of the squared distances from the mean: no cancellation."""
    center = mean(x, axes, True)
    distance = x - center
    count = scalar(x.graph, product(x.shape[axis] for axis in axes), x.dtype)
    variance = total(distance * distance, axes, keep) / (count - float(correction) if correction else count)
    shape = variance.shape
    return variance, center if keep else reshape(center, shape)


@operator("var.correction")
def var(graph, x, axes=None, *, correction=None, keepdim=False):
    name = result(graph).dtype
    return cast(spread(cast(x, wide(name)), axes_of(x, axes), 1 if correction is None else correction, keepdim)[0], name)


@operator("var_mean.correction")
def var_mean(graph, x, axes=None, *, correction=None, keepdim=False):
    name = result(graph, 0).dtype
    found = spread(cast(x, wide(name)), axes_of(x, axes), 1 if correction is None else correction, keepdim)
    return [cast(value, name) for value in found]


@operator("prims::var")
def prims_var(graph, x, axes, correction=1, *, output_dtype=None):
    return var(graph, x, axes, correction=correction)


@operator("cumsum")
def cumsum(graph, x, axis, *, dtype=None):
    return scan(graph, "add", x, axis)


@operator("cumprod")
def cumprod(graph, x, axis, *, dtype=None):
    return scan(graph, "mul", x, axis)


def scan(graph, kind, x, axis):
    name = result(graph).dtype
    x = cast(x, wide(name))
    return cast(x.graph.apply("cumulate", [x], kind=kind, axis=axis % x.rank) if x.rank else x, name)


@operator("sort", "sort.stable")
def sort(graph, x, *arguments, stable=None, dim=-1, descending=False):
    if arguments and isinstance(arguments[0], bool) and len(arguments) == 3:
        arguments = arguments[1:]
    axis, descending = (list(arguments) + [dim, descending][len(arguments):])[:2]
    if not x.rank:
        return [x, scalar(graph, 0, "i64")]
    axis %= x.rank
    return x.graph.apply_many(2, "top_k", [x], k=x.shape[axis], axis=axis, largest=descending)


@operator("topk")
def topk(graph, x, k, axis=-1, largest=True, sorted=True):
    if not x.rank:
        return [x, scalar(graph, 0, "i64")]
    return x.graph.apply_many(2, "top_k", [x], k=k, axis=axis % x.rank, largest=largest)


@operator("_softmax")
def softmax(graph, x, axis, half_to_float):
    return normalized(graph, "softmax", x, axis)


@operator("_log_softmax")
def log_softmax(graph, x, axis, half_to_float):
    return normalized(graph, "log_softmax", x, axis)


def normalized(graph, kind, x, axis):
    name = result(graph).dtype
    if not x.rank:
        return reshape(normalized(graph, kind, reshape(x, [1]), 0), [])
    x = cast(x, wide(name))
    return cast(x.graph.apply(kind, [x], axis=axis % x.rank), name)


def is_read(graph, index: int) -> bool:
    """Whether anything uses result `index` of the node."""
    return any(user.args[1] == index and user.users for user in graph.node.users)


@operator("native_layer_norm")
def layer_norm(graph, x, normalized_shape, weight, bias, epsilon):
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
