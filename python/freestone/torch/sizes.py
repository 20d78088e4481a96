"""Sizes of tensors under compilation: integers, or expressions of symbols as text."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable, Sequence
from typing import TypeVar

import sympy
import torch
from torch.utils._sympy.functions import (CeilToInt, FloatTrueDiv, FloorDiv, FloorToInt, IntTrueDiv, RoundToInt, ToFloat,
                                          TruncToInt)


class Size:
    """A size that depends on symbols. Sums, products and quotients are exact; quotients round down."""

    __slots__ = ("text",)

    def __init__(self, text: str):
        self.text = text

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Size) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __add__(self, other: Extent) -> Size:
        return self if _is(other, 0) else Size(f"({self})+({other})")

    __radd__ = __add__

    def __sub__(self, other: Extent) -> Size:
        return self if _is(other, 0) else Size(f"({self})-({other})")

    def __rsub__(self, other: int) -> Size:
        return Size(f"({other})-({self})")

    def __mul__(self, other: Extent) -> Extent:
        return self if _is(other, 1) else 0 if _is(other, 0) else Size(f"({self})*({other})")

    __rmul__ = __mul__

    def __floordiv__(self, other: Extent) -> Size:
        return self if _is(other, 1) else Size(f"({self})//({other})")

    def __rfloordiv__(self, other: int) -> Size:
        return Size(f"({other})//({self})")

    def __mod__(self, other: Extent) -> Size:
        return Size(f"({self})%({other})")

    def __rmod__(self, other: int) -> Size:
        return Size(f"({other})%({self})")

    def __neg__(self) -> Size:
        return Size(f"0-({self})")


#: A size, known or of symbols.
Extent = int | Size
Shape = list[Extent]
#: A size as PyTorch has it.
TorchSize = int | torch.SymInt
_Each = TypeVar("_Each", bound=Extent)


def _is(value: Extent, number: int) -> bool:
    return isinstance(value, int) and value == number


def smaller(a: Extent, b: Extent) -> Extent:
    return min(a, b) if isinstance(a, int) and isinstance(b, int) else Size(f"Min({a}, {b})")


def larger(a: Extent, b: Extent) -> Extent:
    return max(a, b) if isinstance(a, int) and isinstance(b, int) else Size(f"Max({a}, {b})")


def for_each_axis(values: Sequence[_Each], axes: int, otherwise: Sequence[_Each] = ()) -> list[_Each]:
    """PyTorch's sizes, strides or padding of a window: one for each axis, or one for all; `otherwise` where none are
    given."""
    values = list(values or otherwise)
    assert values, "neither sizes nor what stands for them"
    return values * axes if len(values) == 1 else values


def product(sizes: Iterable[Extent]) -> Extent:
    total: Extent = 1
    for size in sizes:
        total = size * total
    return total


def expression(value: TorchSize) -> sympy.Expr:
    """Of an int or a SymInt, in integers. PyTorch counts some sizes (of `arange`, of `interpolate`) in real numbers: these
    are quotients where that is exact, and symbols otherwise, of which `rounding` tells what they stand for."""
    return _in_integers(value.node.expr) if isinstance(value, torch.SymInt) else sympy.Integer(value)


_ROUNDINGS = (CeilToInt, FloorToInt, RoundToInt, TruncToInt)
_stands_for: dict[str, sympy.Expr] = {}


def rounding(name: str) -> sympy.Expr | None:
    """The rounded real number that a symbol stands for, if it is one."""
    return _stands_for.get(name)


@functools.cache
def _in_integers(expr: sympy.Expr) -> sympy.Expr:
    return expr.replace(lambda part: isinstance(part, _ROUNDINGS), _rounded) if expr.has(*_ROUNDINGS) else expr


def number_of(sizes: Iterable[TorchSize]) -> sympy.Expr:
    """The number of elements, of ints and SymInts."""
    return sympy.expand(product(expression(size) for size in sizes))


def _rounded(part: sympy.Expr) -> sympy.Expr:
    exact = _quotient(part.args[0])
    is_down = isinstance(part, FloorToInt) or (isinstance(part, TruncToInt) and exact is not None and exact.is_nonnegative)
    if exact is not None and (is_down or isinstance(part, CeilToInt)):
        over, under = sympy.fraction(sympy.together(exact))
        return FloorDiv(over, under) if is_down else -FloorDiv(-over, under)
    name = "real" + hashlib.sha256(sympy.srepr(part).encode()).hexdigest()[:16]
    _stands_for[name] = part
    return sympy.Symbol(name, integer=True)


def _quotient(real: sympy.Expr) -> sympy.Expr | None:
    """What PyTorch computes of integers with at most one rounding, in the last division, which leaves the integer parts as
    they are."""
    if isinstance(real, (FloatTrueDiv, IntTrueDiv)):
        over, under = map(_exact, real.args)
        return over / under if over is not None and under is not None else None
    return _exact(real)


def _exact(real: sympy.Expr) -> sympy.Expr | None:
    """What PyTorch computes of integers without rounding, if it is so: of sizes up to 2^32, which leave 20 bits for
    factors."""
    if real.is_Float:
        number = sympy.Rational(real)
        return number if max(number.p.bit_length(), number.q.bit_length()) <= 20 else None
    if isinstance(real, ToFloat):
        return real.args[0]
    if real.is_Add or real.is_Mul:
        parts = [_exact(part) for part in real.args]
        return None if None in parts else real.func(*parts)
    return real if real.is_integer else None


def size_of(value: TorchSize) -> Extent:
    """Of an int or a SymInt."""
    if isinstance(value, torch.SymInt):
        expr = expression(value)
        return int(expr) if expr.is_Integer else Size(str(expr))
    return value


def sizes_of(values: Iterable[TorchSize]) -> Shape:
    return [size_of(value) for value in values]
