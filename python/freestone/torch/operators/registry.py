"""The table of operators: how each of ATen's is built of the compiler's core.

An entry is a function of the operator's arguments, in the order of its schema: tensors are expressions, sizes are ints
or `Size`s, everything else is as PyTorch has it. `result(graph)` tells the shape and type that PyTorch found for it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn, TypeVar

import torch
from torch._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND, elementwise_dtypes
from torch.fx.node import Argument, Target

from freestone.torch.dtypes import name_of
from freestone.torch.expressions import Graph, Tensor, cast, scalar
from freestone.torch.sizes import Shape, Size, sizes_of

Promotion = ELEMENTWISE_TYPE_PROMOTION_KIND
#: An operator's result, or its results, None where one is not asked for.
Built = Tensor | Sequence[Tensor | None]
_Builder = TypeVar("_Builder", bound=Callable[..., Built])
#: By what nodes have for a target, each an operator's overload.
OPERATORS: dict[Target, Callable[..., Built]] = {}


class Refused(Exception):
    """An operator that can't be built, and why."""


def find(name: str) -> torch._ops.OpOverload | None:
    """By its name without `aten::`, `add.Tensor`, or with another library, `prims::neg`; None where this PyTorch has
    none."""
    library, _, name = name.rpartition("::")
    packet, _, overload = name.partition(".")
    found = getattr(getattr(torch.ops, library or "aten"), packet, None)
    overloaded: torch._ops.OpOverload | None = getattr(found, overload or "default", None)
    return overloaded


def operator(*names: str) -> Callable[[_Builder], _Builder]:
    """Enters a function as the definition of these operators."""

    def enter(function: _Builder) -> _Builder:
        for name in names:
            if (overload := find(name)) is not None:
                OPERATORS[overload] = function
        return function

    return enter


@dataclasses.dataclass
class Result:
    """What PyTorch says about the result of a node."""

    shape: Shape
    dtype: str


def result(graph: Graph, index: int | None = None) -> Result:
    value = graph.node.meta["val"]
    if index is not None:
        value = value[index]
    return Result(sizes_of(value.shape), name_of(value.dtype))


def refuse(reason: str) -> NoReturn:
    raise Refused(reason)


def fake(argument: Argument) -> Any:
    """What PyTorch knows of an argument of a node."""
    return argument.meta["val"] if isinstance(argument, torch.fx.Node) else argument


def promoted(graph: Graph, kind: Promotion, arguments: Iterable[Argument]) -> str:
    """In which type PyTorch computes a pointwise function of these arguments of the node at hand."""
    fakes = [fake(argument) for argument in arguments]
    return name_of(elementwise_dtypes(*[value for value in fakes if value is not None], type_promotion_kind=kind)[0])


def as_type(graph: Graph, value: object, dtype: str) -> Tensor:
    """A tensor, a size or a number as a tensor of this type."""
    if isinstance(value, Tensor):
        return cast(value, dtype)
    if isinstance(value, (Size, bool, int, float)):
        return scalar(graph, value, dtype)
    return refuse(f"an argument {value!r} is no real number")


def pointwise(names: str, function: Callable[..., Tensor], kind: Promotion = Promotion.DEFAULT,
              operands: int | None = None) -> Callable[..., Tensor]:
    """A function of the elements at one place: the first `operands` arguments (all by default) take the type in which
    PyTorch computes; the result is rounded once."""

    def lower(graph: Graph, *arguments: Any, **keywords: Any) -> Tensor:
        count = len(arguments) if operands is None else operands
        dtype = promoted(graph, kind, graph.node.args[:count])
        values = [as_type(graph, value, dtype) for value in arguments[:count]]
        return cast(function(*values, *arguments[count:], **keywords), result(graph).dtype)

    for name in names.split():
        if (overload := find(name)) is not None:
            OPERATORS[overload] = lower
    return lower
