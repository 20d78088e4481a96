"""Operators that draw random numbers: counter-based, from a seed that every run takes from PyTorch's generator."""

from __future__ import annotations

import math

from freestone.torch.dtypes import FLOATS, wide
from freestone.torch.expressions import cast, concat, maximum, reshape, select, splat, unary
from freestone.torch.operators.registry import operator, refuse, result


def random_bits(graph, shape):
    """Independent words of 32 bits for this draw: the seed's two words, then the number of the draw."""
    number = graph.number(graph.random_draws, "u32")
    graph.random_draws += 1
    zero = reshape(graph.number(0, "u32"), [1])
    key = concat([graph.seed(), zero, reshape(number, [1])], 0)
    return graph.apply("random_bits", [key], shape=list(shape), type="u32")


def uniform(graph, shape):
    """From 0 to below 1: multiples of 2^-24."""
    bits = random_bits(graph, shape)
    upper = graph.apply("shr", [bits, graph.number(8, "u32")])
    return cast(upper, "f32") * 2.0 ** -24


@operator("rand", "rand_like", "rand.generator")
def rand(graph, *arguments, **keywords):
    expected = result(graph)
    return cast(uniform(graph, expected.shape), expected.dtype)


@operator("randn", "randn_like", "randn.generator")
def randn(graph, *arguments, **keywords):
    expected = result(graph)
    positive = maximum(uniform(graph, expected.shape), 2.0 ** -25)
    angle = uniform(graph, expected.shape) * (2 * math.pi)
    return cast(unary("sqrt", unary("log", positive) * -2.0) * unary("cos", angle), expected.dtype)


@operator("native_dropout")
def native_dropout(graph, x, probability, train):
    if train is False or probability == 0:
        return [x, splat(graph, 1, "i1", x.shape)]
    kept = uniform(graph, x.shape) >= float(probability)
    scale = 1 / (1 - probability) if probability < 1 else 0.0
    return [select(kept, x * scale, 0.0), kept]


@operator("bernoulli.p", "bernoulli")
def bernoulli(graph, x, probability=None, **keywords):
    expected = result(graph)
    limit = cast(x, "f32") if probability is None else float(probability)
    return cast(uniform(graph, expected.shape) < limit, expected.dtype)
