"""The order of a tensor's elements in memory."""

from __future__ import annotations

import torch


def memory_order(value: torch.Tensor) -> list[int]:
    """The axes by falling strides, as the hints have them; those of size 1 stay where they are."""

    def hint(size):
        return size.node.hint if isinstance(size, torch.SymInt) else size

    axes = list(range(value.dim()))
    moving = [axis for axis in axes if hint(value.shape[axis]) not in (0, 1)]
    if any(hint(value.stride(axis)) == 0 for axis in moving):
        return axes
    place = dict(zip(moving, sorted(moving, key=lambda axis: -hint(value.stride(axis)))))
    return [place.get(axis, axis) for axis in axes]


def inverse(order: list[int]) -> list[int]:
    """Of a permutation."""
    return [order.index(axis) for axis in range(len(order))]
