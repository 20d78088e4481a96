"""The order of a tensor's elements in memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import sympy
import torch

from freestone.torch.sizes import TorchSize, expression


def memory_order(value: torch.Tensor) -> list[int]:
    """The axes by falling strides, as the hints have them; those of size 1 stay where they are."""

    def hint(size: TorchSize) -> Any:
        return size.node.hint if isinstance(size, torch.SymInt) else size

    axes, strides = list(range(value.dim())), value.stride()
    moving = [axis for axis in axes if hint(value.shape[axis]) not in (0, 1)]
    if any(hint(strides[axis]) == 0 for axis in moving):
        return axes
    place = dict(zip(moving, sorted(moving, key=lambda axis: -hint(strides[axis]))))
    return [place.get(axis, axis) for axis in axes]


def dense_order(sizes: Iterable[TorchSize], strides: Iterable[TorchSize]) -> list[int] | None:
    """The axes by falling strides, those of size 1 first, where elements lie without gaps and overlaps at all sizes."""
    sizes, strides = ([sympy.expand(expression(value)) for value in values] for values in (sizes, strides))
    order: list[int] = []
    step = sympy.Integer(1)
    rest = [axis for axis, size in enumerate(sizes) if size != 1]
    while rest:
        axis = next((axis for axis in rest if strides[axis] == step), None)
        if axis is None:
            return None
        rest.remove(axis)
        order.insert(0, axis)
        step = sympy.expand(step * sizes[axis])
    return [axis for axis, size in enumerate(sizes) if size == 1] + order


def inverse(order: list[int]) -> list[int]:
    """Of a permutation."""
    return [order.index(axis) for axis in range(len(order))]
