"""Matrix products, convolutions, attention."""

from __future__ import annotations

from collections.abc import Sequence

from freestone.torch.dtypes import wide
from freestone.torch.expressions import (Graph, Operand, Tensor, broadcast_to, cast, exchange, iota, matmul, maximum,
                                         reduce, reshape, scalar, select, total, transpose, unary, unsqueeze, widen)
from freestone.torch.operators.registry import operator, refuse, result
from freestone.torch.sizes import Extent, Shape, for_each_axis


@operator("mm", "bmm", "matmul", "mv", "dot")
def product(graph: Graph, x: Tensor, y: Tensor) -> Tensor:
    return matmul(x, y)


def scaled(x: Tensor, factor: Operand) -> Tensor:
    return x if factor == 1 else x * factor


@operator("addmm", "addmv")
def addmm(graph: Graph, bias: Tensor, x: Tensor, y: Tensor, *, beta: Operand = 1, alpha: Operand = 1) -> Tensor:
    result_type = result(graph).dtype
    z = scaled(graph.apply("matmul", [x, y], type=wide(x.dtype)), alpha)
    if beta != 0:
        z = z + scaled(cast(bias, z.dtype), beta)
    return cast(z, result_type)


operator("baddbmm")(addmm)


@operator("addbmm")
def addbmm(graph: Graph, bias: Tensor, x: Tensor, y: Tensor, *, beta: Operand = 1, alpha: Operand = 1) -> Tensor:
    """The sum of all products of a batch."""
    z = scaled(graph.apply("contract", [x, y], lhs_batch=[], rhs_batch=[], lhs_contract=[0, 2], rhs_contract=[0, 1],
                           type=wide(x.dtype)), alpha)
    return cast(z + scaled(cast(bias, z.dtype), beta) if beta != 0 else z, result(graph).dtype)


def exchange_within_groups(x: Tensor, groups: int) -> Tensor:
    """[groups * m, n, …] as [groups * n, m, …], with the first two dimensions exchanged within each group."""
    if groups == 1:
        return exchange(x, 0, 1)
    within = x.shape[0] // groups
    x = reshape(x, [groups, within, *x.shape[1:]])
    x = exchange(x, 1, 2)
    return reshape(x, [groups * x.shape[1], within, *x.shape[3:]])


def exchange_across_groups(x: Tensor, groups: int) -> Tensor:
    """[n, groups * c, …] as [c, groups * n, …]."""
    if groups == 1:
        return exchange(x, 0, 1)
    within = x.shape[1] // groups
    x = reshape(x, [x.shape[0], groups, within, *x.shape[2:]])
    x = exchange(x, 0, 2)
    return reshape(x, [within, groups * x.shape[2], *x.shape[3:]])


def pad_after(places: Extent, stride: Extent, taps: Extent, dilation: Extent, operand: Extent, spread: Extent,
              low: Extent) -> Extent:
    """Padding at the end that makes a convolution's result exactly `places` long."""
    return (places - 1) * stride + (taps - 1) * dilation - (operand - 1) * spread - low


def convolve(x: Tensor, kernel: Tensor, groups: int, **window: Sequence[Extent]) -> Tensor:
    narrow = x.dtype != wide(x.dtype)
    attributes = {"type": "f32"} if narrow else {}
    return cast(x.graph.apply("convolve", [x, kernel], groups=groups, **window, **attributes), x.dtype)


def convolve_forward(x: Tensor, kernel: Tensor, stride: Sequence[Extent], padding: Sequence[Extent],
                     dilation: Sequence[Extent], groups: int) -> Tensor:
    return convolve(x, kernel, groups, strides=stride, dilations=dilation, low=padding, high=padding)


def convolve_input_gradient(g: Tensor, kernel: Tensor, spatial_sizes: Sequence[Extent], stride: Sequence[Extent],
                            padding: Sequence[Extent], dilation: Sequence[Extent], groups: int) -> Tensor:
    """Stride and operand dilation are exchanged, and the kernel is mirrored."""
    low: Shape = []
    high: Shape = []
    for i, size in enumerate(spatial_sizes):
        taps = kernel.shape[i + 2]
        low.append((taps - 1) * dilation[i] - padding[i])
        high.append(pad_after(size, 1, taps, dilation[i], g.shape[i + 2], stride[i], low[i]))
    turned = exchange_within_groups(kernel, groups)
    turned = g.graph.apply("reverse", [turned], axes=list(range(2, turned.rank)))
    return convolve(g, turned, groups, strides=[1] * len(low), dilations=dilation, operand_dilation=stride, low=low,
                    high=high)


def convolve_kernel_gradient(x: Tensor, g: Tensor, taps: Sequence[Extent], stride: Sequence[Extent],
                             padding: Sequence[Extent], dilation: Sequence[Extent], groups: int) -> Tensor:
    """Images and channels are exchanged, as are strides and dilations; the output gradient is the kernel."""
    high = [pad_after(taps[i], dilation[i], g.shape[i + 2], stride[i], x.shape[i + 2], 1, padding[i])
            for i in range(len(taps))]
    found = convolve(exchange_across_groups(x, groups), exchange(g, 0, 1), groups, strides=dilation, dilations=stride,
                     low=padding, high=high)
    return exchange(found, 0, 1)


@operator("convolution")
def convolution(graph: Graph, x: Tensor, kernel: Tensor, bias: Tensor | None, stride: Sequence[Extent],
                padding: Sequence[Extent], dilation: Sequence[Extent], transposed: bool,
                output_padding: Sequence[Extent], groups: int) -> Tensor:
    spatial = kernel.rank - 2
    if x.rank != kernel.rank:
        y = convolution(graph, unsqueeze(x, 0), kernel, bias, stride, padding, dilation, transposed, output_padding, groups)
        return reshape(y, y.shape[1:])
    stride, padding, dilation = (for_each_axis(values, spatial) for values in (stride, padding, dilation))
    if transposed:
        y = convolve_input_gradient(x, kernel, result(graph).shape[2:], stride, padding, dilation, groups)
    else:
        y = convolve_forward(x, kernel, stride, padding, dilation, groups)
    return y if bias is None else y + reshape(cast(bias, y.dtype), [bias.shape[0], *[1] * spatial])


@operator("convolution_backward")
def convolution_backward(graph: Graph, g: Tensor, x: Tensor, kernel: Tensor, bias_sizes: Sequence[Extent] | None,
                         stride: Sequence[Extent], padding: Sequence[Extent], dilation: Sequence[Extent],
                         transposed: bool, output_padding: Sequence[Extent], groups: int,
                         wanted: Sequence[bool]) -> list[Tensor | None]:
    spatial = kernel.rank - 2
    stride, padding, dilation = (for_each_axis(values, spatial) for values in (stride, padding, dilation))
    taps = kernel.shape[2:]
    found: list[Tensor | None] = [None, None, None]
    if wanted[0] and transposed:
        high = [pad_after(x.shape[i + 2], stride[i], taps[i], dilation[i], g.shape[i + 2], 1, padding[i])
                for i in range(spatial)]
        found[0] = convolve(g, kernel, groups, strides=stride, dilations=dilation, low=padding, high=high)
    elif wanted[0]:
        found[0] = convolve_input_gradient(g, kernel, x.shape[2:], stride, padding, dilation, groups)
    if wanted[1]:
        image, gradient = (g, x) if transposed else (x, g)
        found[1] = convolve_kernel_gradient(image, gradient, taps, stride, padding, dilation, groups)
    if wanted[2]:
        found[2] = cast(total(widen(g), [0, *range(2, g.rank)]), g.dtype)
    return found


def repeat_heads(x: Tensor, heads: Extent) -> Tensor:
    """[batch, heads of x, length, size], each head as often as there are more of the queries'."""
    if x.shape[1] == heads:
        return x
    groups = heads // x.shape[1]
    apart = [*x.shape[:2], 1, *x.shape[2:]]
    return reshape(broadcast_to(reshape(x, apart), [*apart[:2], groups, *apart[3:]]), [x.shape[0], heads, *x.shape[2:]])


def sum_heads(x: Tensor, heads: Extent) -> Tensor:
    """The gradient of `repeat_heads`."""
    if x.shape[1] == heads:
        return x
    return total(reshape(x, [x.shape[0], heads, x.shape[1] // heads, *x.shape[2:]]), [2])


def attention_weights(q: Tensor, k: Tensor, mask: Tensor | None, causal: bool,
                      scale: Operand | None) -> tuple[Tensor, Operand]:
    """Scores of queries with keys, in f32 where they are narrower."""
    size = q.shape[-1]
    graph = q.graph
    wider = wide(q.dtype)
    if scale is None:
        scale = size ** -0.5 if isinstance(size, int) else unary("rsqrt", scalar(graph, size, wider))
    scores = graph.apply("matmul", [q, exchange(k, k.rank - 2, k.rank - 1)], type=wider) * scale
    if mask is not None:
        scores = select(mask, scores, float("-inf")) if mask.dtype == "i1" else scores + cast(mask, wider)
    if causal:
        rows = iota(graph, scores.shape[-2:], 0, "i64")
        scores = select(rows >= iota(graph, scores.shape[-2:], 1, "i64"), scores, float("-inf"))
    return scores, scale


def open_rows(mask: Tensor) -> Tensor:
    """The rows of which a mask leaves anything, with a last axis of 1."""
    if mask.dtype == "i1":
        return reduce("max", cast(mask, "f32"), [mask.rank - 1], True) > 0
    return unary("not", unary("isinf_neg", reduce("max", mask, [mask.rank - 1], True)))


@operator("_scaled_dot_product_flash_attention_for_cpu")
def attention(graph: Graph, q: Tensor, k: Tensor, v: Tensor, dropout: float = 0.0, causal: bool = False, *,
              attn_mask: Tensor | None = None, scale: Operand | None = None) -> list[Tensor]:
    if dropout:
        return refuse("dropout within attention is not supported")
    k, v = (repeat_heads(x, q.shape[1]) for x in (k, v))
    scores, _ = attention_weights(q, k, attn_mask, causal, scale)
    if any(user.args[1] == 1 and user.users for user in graph.node.users):
        largest = reduce("max", scores, [scores.rank - 1], True)
        largest = select(unary("isinf_neg", largest), 0.0, largest)
        powers = unary("exp", scores - largest)
        sums = total(powers, [scores.rank - 1], True)
        weights = powers / maximum(sums, 1e-38)
        logarithms = reshape(unary("log", sums) + largest, scores.shape[:-1])
    else:
        weights = graph.apply("softmax", [scores], axis=scores.rank - 1)
        logarithms = scores
    y = graph.apply("matmul", [cast(weights, v.dtype), v], type=wide(v.dtype))
    if attn_mask is not None:  # a row that sees nothing gives zeros
        y = select(open_rows(attn_mask), y, 0.0)
    return [cast(y, q.dtype), logarithms]


@operator("_scaled_dot_product_flash_attention_for_cpu_backward")
def attention_backward(graph: Graph, g: Tensor, q: Tensor, k: Tensor, v: Tensor, out: Tensor, logarithms: Tensor,
                       dropout: float, causal: bool, *, attn_mask: Tensor | None = None,
                       scale: Operand | None = None) -> list[Tensor]:
    heads = k.shape[1]
    k, v = (repeat_heads(x, q.shape[1]) for x in (k, v))
    scores, scale = attention_weights(q, k, attn_mask, causal, scale)
    if attn_mask is not None:
        logarithms = select(unary("isinf_neg", logarithms), 0.0, logarithms)
    weights = unary("exp", scores - unsqueeze(logarithms, logarithms.rank))
    last = q.rank - 1

    def contract(x: Tensor, y: Tensor) -> Tensor:
        return graph.apply("matmul", [cast(x, y.dtype), y], type=wide(y.dtype))

    dv = contract(exchange(weights, last - 1, last), g)
    dweights = contract(g, exchange(v, last - 1, last))
    delta = total(widen(g) * widen(out), [last], True)
    dscores = weights * (dweights - delta) * scale
    dq = contract(dscores, k)
    dk = contract(exchange(dscores, last - 1, last), q)
    return [cast(dq, q.dtype), cast(sum_heads(dk, heads), k.dtype), cast(sum_heads(dv, heads), v.dtype)]
