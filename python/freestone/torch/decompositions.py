"""Which operators PyTorch itself expresses by others: all that it can, but those that we build directly."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from freestone.torch.operators import OPERATORS


@functools.cache
def decompositions() -> dict[torch._ops.OpOverload, Callable[..., Any]]:
    from torch._decomp import decomposition_table

    # PyTorch's table also has operators of higher order, which its functions take, but do not say so.
    return {op: rule for op, rule in decomposition_table.items()  # type: ignore[misc]
            if op not in OPERATORS and not (isinstance(op, torch._ops.OpOverload) and op._opname in _IMPURE)}


#: Operators whose decompositions write in place, or draw numbers in a way that programs have not.
_IMPURE = {"complex", "cauchy", "geometric", "log_normal", "normal_", "uniform_"}
