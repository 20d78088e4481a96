"""Distances between all rows of two matrices, and products of three tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence

from freestone.torch.expressions import (Graph, Tensor, broadcast_to, cast, equal, power, reduce, select, total, unary,
                                         unsqueeze, widen)
from freestone.torch.operators.registry import operator, result


def differences(x: Tensor, y: Tensor) -> Tensor:
    """[…, rows of x, rows of y, width]."""
    return unsqueeze(widen(x), x.rank - 1) - unsqueeze(widen(y), y.rank - 2)


@operator("_cdist_forward")
def distances(graph: Graph, x: Tensor, y: Tensor, p: float, mode: int | None = None) -> Tensor:
    difference = unary("abs", differences(x, y))
    last = [difference.rank - 1]
    if p == 0:
        found = total(cast(difference > 0, difference.dtype), last)
    elif p == 1:
        found = total(difference, last)
    elif p == 2:
        found = unary("sqrt", total(difference * difference, last))
    elif math.isinf(p):
        found = reduce("max", difference, last)
    else:
        found = power(total(power(difference, float(p)), last), 1 / p)
    return cast(found, result(graph).dtype)


@operator("_cdist_backward")
def distances_backward(graph: Graph, g: Tensor, x: Tensor, y: Tensor, p: float, distance: Tensor) -> Tensor:
    difference = differences(x, y)
    size = unary("abs", difference)
    g, distance = unsqueeze(widen(g), g.rank), unsqueeze(widen(distance), distance.rank)
    sign = cast(difference > 0, difference.dtype) - cast(difference < 0, difference.dtype)
    if p == 0:
        slope = size * 0
    elif p == 1:
        slope = sign
    elif math.isinf(p):
        slope = select(equal(size, distance), sign, 0.0)
    else:
        slope = sign * power(size / distance, float(p - 1))
    # Rows at distance zero have no gradient.
    slope = select(equal(distance, 0), 0.0, broadcast_to(slope, difference.shape)) * g
    found = total(slope, [slope.rank - 2])
    extra = found.rank - len(result(graph).shape)
    return cast(total(found, list(range(extra))), result(graph).dtype)


@operator("_trilinear")
def trilinear(graph: Graph, x: Tensor, y: Tensor, z: Tensor, expand_x: Sequence[int], expand_y: Sequence[int],
              expand_z: Sequence[int], summed: Sequence[int], unroll_dim: int = 1) -> Tensor:
    """The sum of the products of three tensors, each with new axes."""
    values = []
    for value, axes in ((x, expand_x), (y, expand_y), (z, expand_z)):
        value = widen(value)
        for axis in sorted(axes):
            value = unsqueeze(value, axis)
        values.append(value)
    product = values[0] * values[1] * values[2]
    return cast(total(product, summed), result(graph).dtype)
