"""Sizes of tensors under compilation: integers, or expressions of symbols as text."""

from __future__ import annotations

from typing import Iterable

import sympy
import torch
from torch.utils._sympy.functions import CeilToInt, FloatTrueDiv, FloorDiv, FloorToInt, IntTrueDiv, ToFloat


class Size:
    """A size that depends on symbols. Sums, products and quotients are exact; quotients round down."""

    __slots__ = ("text",)

    def __init__(self, text: str):
        self.text = text

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def __eq__(self, other) -> bool:
        return isinstance(other, Size) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __add__(self, other):
        return self if _is(other, 0) else Size(f"({self})+({other})")

    __radd__ = __add__

    def __sub__(self, other):
        return self if _is(other, 0) else Size(f"({self})-({other})")

    def __rsub__(self, other):
        return Size(f"({other})-({self})")

    def __mul__(self, other):
        return self if _is(other, 1) else 0 if _is(other, 0) else Size(f"({self})*({other})")

    __rmul__ = __mul__

    def __floordiv__(self, other):
        return self if _is(other, 1) else Size(f"({self})//({other})")

    def __rfloordiv__(self, other):
        return Size(f"({other})//({self})")

    def __mod__(self, other):
        return Size(f"({self})%({other})")

    def __rmod__(self, other):
        return Size(f"({other})%({self})")

    def __neg__(self):
        return Size(f"0-({self})")


def _is(value, number: int) -> bool:
    return isinstance(value, int) and value == number


def smaller(a, b):
    return min(a, b) if isinstance(a, int) and isinstance(b, int) else Size(f"Min({a}, {b})")


def larger(a, b):
    return max(a, b) if isinstance(a, int) and isinstance(b, int) else Size(f"Max({a}, {b})")


def for_each_axis(values, axes: int, otherwise=None) -> list:
    """PyTorch's sizes, strides or padding of a window: one for each axis, or one for all; `otherwise` where none are
    given."""
    values = list(values) if values else list(otherwise)
    return values * axes if len(values) == 1 else values


def product(sizes: Iterable):
    total = 1
    for size in sizes:
        total = size * total
    return total


def expression(value) -> sympy.Expr:
    """Of an int or a SymInt. PyTorch counts some sizes (of `arange`) in real numbers, which are exact here."""
    if not isinstance(value, torch.SymInt):
        return sympy.Integer(value)
    expr = value.node.expr
    return expr.replace(lambda part: isinstance(part, (CeilToInt, FloorToInt)), _rounded) if expr.has(
        CeilToInt, FloorToInt) else expr


def number_of(sizes: Iterable) -> sympy.Expr:
    """The number of elements, of ints and SymInts."""
    return sympy.expand(product(expression(size) for size in sizes))


def _rounded(part: sympy.Expr) -> sympy.Expr:
    """A rounded quotient of sizes in integers."""
    exact = part.args[0].replace(lambda number: number.is_Float, lambda number: sympy.nsimplify(number, rational=True))
    exact = exact.replace(ToFloat, lambda size: size)
    exact = exact.replace(FloatTrueDiv, lambda a, b: a / b).replace(IntTrueDiv, lambda a, b: a / b)
    over, under = sympy.fraction(sympy.together(exact))
    return FloorDiv(over, under) if isinstance(part, FloorToInt) else -FloorDiv(-over, under)


def size_of(value) -> int | Size:
    """Of an int or a SymInt."""
    if isinstance(value, torch.SymInt):
        expr = expression(value)
        return int(expr) if expr.is_Integer else Size(str(expr))
    return value


def sizes_of(values) -> list:
    return [size_of(value) for value in values]
