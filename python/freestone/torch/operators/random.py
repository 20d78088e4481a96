"""Operators that draw random numbers: counter-based, from a seed that every run takes from PyTorch's generator."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from freestone.torch.expressions import Graph, Tensor, cast, concat, maximum, reshape, select, splat, unary
from freestone.torch.operators.registry import operator, refuse, result
from freestone.torch.sizes import Extent


def random_bits(graph: Graph, shape: Sequence[Extent]) -> Tensor:
    """Independent words of 32 bits for this draw: the seed's two words, then the number of the draw."""
    number = graph.number(graph.random_draws, "u32")
    graph.random_draws += 1
    zero = reshape(graph.number(0, "u32"), [1])
    key = concat([graph.seed(), zero, reshape(number, [1])], 0)
    return graph.apply("random_bits", [key], shape=list(shape), type="u32")


def uniform(graph: Graph, shape: Sequence[Extent]) -> Tensor:
    """From 0 to below 1: multiples of 2^-24."""
    bits = random_bits(graph, shape)
    upper = graph.apply("shr", [bits, graph.number(8, "u32")])
    return cast(upper, "f32") * 2.0 ** -24


@operator("rand", "rand_like", "rand.generator")
def rand(graph: Graph, *arguments: object, **keywords: object) -> Tensor:
    expected = result(graph)
    return cast(uniform(graph, expected.shape), expected.dtype)


def randn_of(graph: Graph, shape: Sequence[Extent]) -> Tensor:
    """By Box and Muller."""
    positive = maximum(uniform(graph, shape), 2.0 ** -25)
    angle = uniform(graph, shape) * (2 * math.pi)
    return unary("sqrt", unary("log", positive) * -2.0) * unary("cos", angle)


@operator("randn", "randn_like", "randn.generator")
def randn(graph: Graph, *arguments: object, **keywords: object) -> Tensor:
    expected = result(graph)
    return cast(randn_of(graph, expected.shape), expected.dtype)


@operator("native_dropout")
def native_dropout(graph: Graph, x: Tensor, probability: float, train: bool | None) -> list[Tensor]:
    if train is False or probability == 0:
        return [x, splat(graph, 1, "i1", x.shape)]
    kept = uniform(graph, x.shape) >= float(probability)
    scale = 1 / (1 - probability) if probability < 1 else 0.0
    return [select(kept, x * scale, 0.0), kept]


@operator("bernoulli.p", "bernoulli")
def bernoulli(graph: Graph, x: Tensor, probability: float | None = None, **keywords: object) -> Tensor:
    expected = result(graph)
    limit = cast(x, "f32") if probability is None else float(probability)
    return cast(uniform(graph, expected.shape) < limit, expected.dtype)


@operator("uniform")
def uniform_between(graph: Graph, x: Tensor, low: float = 0.0, high: float = 1.0, **keywords: object) -> Tensor:
    return cast(uniform(graph, x.shape) * (high - low) + float(low), x.dtype)


@operator("normal_functional")
def normal(graph: Graph, x: Tensor, mean: float = 0.0, deviation: float = 1.0, **keywords: object) -> Tensor:
    return cast(randn_of(graph, x.shape) * float(deviation) + float(mean), x.dtype)


@operator("exponential")
def exponential(graph: Graph, x: Tensor, rate: float = 1.0, **keywords: object) -> Tensor:
    # Numbers are multiples of 2^-24, of which 0 would give 0: the distribution has none.
    return cast(unary("log", maximum(uniform(graph, x.shape), 2.0**-25)) * (-1 / rate), x.dtype)


@operator("multinomial")
def multinomial(graph: Graph, x: Tensor, count: int, replacement: bool = False, *, generator: object = None) -> Tensor:
    """Weights divided by exponential numbers: the largest quotients are a draw without replacement."""
    if replacement and count != 1:
        return refuse("is supported without replacement, or for one number")
    waits = unary("log", maximum(uniform(graph, x.shape), 2.0**-25)) * -1.0
    quotients = cast(x, "f32") / waits
    return graph.apply_many(2, "top_k", [quotients], k=count, axis=x.rank - 1, largest=True)[1]


@operator("randint.low", "randint_like.low_dtype")
def random_integers(graph: Graph, low: Extent, high: Extent, *arguments: Any, **keywords: object) -> Tensor:
    if isinstance(arguments and arguments[0], int):
        low, high = high, arguments[0]
    if not (isinstance(low, int) and isinstance(high, int)) or high - low > 1 << 24:
        return refuse("random integers of so wide a range are not supported")
    expected = result(graph)
    return cast(cast(uniform(graph, expected.shape) * float(high - low), "i64") + low, expected.dtype)


operator("randint", "randint_like")(lambda graph, *arguments, **keywords: random_integers(
    graph, 0, next(value for value in arguments if isinstance(value, int)), **keywords))


@operator("prims::normal")
def prims_normal(graph: Graph, shape: Sequence[Extent], *, mean: float = 0.0, std: float = 1.0,
                 **keywords: object) -> Tensor:
    expected = result(graph)
    return cast(randn_of(graph, expected.shape) * float(std) + float(mean), expected.dtype)
