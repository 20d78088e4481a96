"""Functions of the elements at one place."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from freestone.torch.dtypes import FLOATS
from freestone.torch.expressions import (Graph, Operand, Tensor, binary, broadcast_to, cast, equal, maximum, minimum,
                                         power, scalar, select, unary)
from freestone.torch.operators.registry import Promotion, as_type, operator, pointwise, promoted, refuse, result

FLOAT = Promotion.INT_TO_FLOAT
BOOL = Promotion.ALWAYS_BOOL


def one(name: str) -> Callable[[Tensor], Tensor]:
    return lambda x: unary(name, x)


for function in ("exp exp2 log log1p expm1 sqrt rsqrt reciprocal sin cos tan asin acos atan sinh cosh tanh asinh acosh "
                 "atanh erf").split():
    pointwise(function, one(function), FLOAT)
pointwise("sigmoid", lambda x: 1 / (1 + unary("exp", -x)), FLOAT)


def rounding(name: str) -> Callable[[Tensor], Tensor]:
    return lambda x: unary(name, x) if x.dtype in FLOATS else x


for function in ("floor", "ceil", "round", "trunc"):
    pointwise(function, rounding(function))
pointwise("abs", lambda x: x if x.dtype[0] == "u" or x.dtype == "i1" else unary("abs", x))
pointwise("neg", lambda x: 0 - x if x.dtype[0] == "u" else -x)


def sign(x: Tensor) -> Tensor:
    """Of -0.0 and NaN too it is 0."""
    if x.dtype == "i1":
        return x
    positive = cast(x > 0, x.dtype)
    return positive if x.dtype[0] == "u" else positive - cast(x < 0, x.dtype)


pointwise("sign sgn", sign)
pointwise("bitwise_not", lambda x: unary("not", x))
pointwise("logical_not", lambda x: equal(x, 0), BOOL)
pointwise("isinf", lambda x: unary("isinf_pos", x) | unary("isinf_neg", x) if x.dtype in FLOATS else unequal(x, x), BOOL)


def unequal(x: Tensor, y: Tensor) -> Tensor:
    return binary("ne", x, y)


pointwise("isnan", lambda x: unary("isnan", x) if x.dtype in FLOATS else unequal(x, x), BOOL)
pointwise("relu", lambda x: maximum(x, 0) if x.dtype != "i1" else x)


def times(x: Tensor, factor: Operand) -> Tensor:
    """A number that depends on sizes or on other tensors is of rank 0."""
    return x if isinstance(factor, (int, float)) and factor == 1 else x * as_type(x.graph, factor, x.dtype)


def add(x: Tensor, y: Tensor, alpha: Operand = 1) -> Tensor:
    if x.dtype == "i1":
        return x | y if alpha else x
    return x + times(y, alpha)


pointwise("add.Tensor add.Scalar", add, operands=2)
pointwise("sub.Tensor sub.Scalar", lambda x, y, alpha=1: x - times(y, alpha), operands=2)
pointwise("rsub.Scalar rsub.Tensor", lambda x, y, alpha=1: y - times(x, alpha), operands=2)
pointwise("mul.Tensor mul.Scalar", lambda x, y: x & y if x.dtype == "i1" else x * y)
pointwise("div.Tensor div.Scalar true_divide.Tensor", lambda x, y: x / y, FLOAT)
pointwise("atan2", lambda x, y: binary("atan2", x, y), FLOAT)
for kind in ("and", "or", "xor"):
    combine = lambda x, y, kind=kind: binary(kind, x, y)
    pointwise(f"bitwise_{kind}.Tensor bitwise_{kind}.Scalar", combine)
    pointwise(f"logical_{kind}", lambda x, y, kind=kind: binary(kind, cast(x, "i1"), cast(y, "i1")), BOOL)
for kind in ("eq", "ne", "lt", "le", "gt", "ge"):

    def compare(x: Tensor, y: Tensor, kind: str = kind) -> Tensor:
        if x.dtype == "i1":
            x, y = cast(x, "u8"), cast(y, "u8")
        return binary(kind, x, y)

    pointwise(f"{kind}.Tensor {kind}.Scalar", compare, BOOL)


def shift(kind: str) -> Callable[[Tensor, Tensor], Tensor]:
    """By fewer bits than the type has; by more, or by a negative number, all bits leave."""

    def function(x: Tensor, y: Tensor) -> Tensor:
        bits = int(x.dtype[1:])
        shifted = binary(kind, x, maximum(minimum(y, bits - 1), 0))
        beyond = (y < 0) | (y >= bits)
        left = select(x < 0, -1, scalar(x.graph, 0, x.dtype)) if kind == "shr" and x.dtype[0] == "i" else 0
        return select(beyond, left, shifted)

    return function


pointwise("bitwise_left_shift.Tensor bitwise_left_shift.Tensor_Scalar __lshift__.Tensor __lshift__.Scalar "
          "prims::shift_left", shift("shl"))
pointwise("bitwise_right_shift.Tensor bitwise_right_shift.Tensor_Scalar __rshift__.Tensor __rshift__.Scalar "
          "prims::shift_right_arithmetic", shift("shr"))


@operator("pow.Tensor_Scalar", "pow.Tensor_Tensor", "pow.Scalar")
def raise_to(graph: Graph, x: Operand, y: Operand) -> Tensor:
    dtype = promoted(graph, Promotion.BOOL_TO_LONG, graph.node.args[:2])
    name = result(graph).dtype
    if isinstance(y, (int, float)):
        base = as_type(graph, x, dtype)
        if y == 2:
            return cast(base * base, name)
        if y == 3:
            return cast(base * base * base, name)
        if y == 1:
            return cast(base, name)
        if y == 0.5:
            return cast(unary("sqrt", base), name)
        if y == -0.5:
            return cast(unary("rsqrt", base), name)
        if y == -1:
            return cast(1 / base, name)
    return cast(power(as_type(graph, x, dtype), as_type(graph, y, dtype)), name)


@operator("where.self", "where.ScalarOther", "where.ScalarSelf", "where.Scalar")
def where(graph: Graph, condition: Tensor, x: Operand, y: Operand) -> Tensor:
    dtype = result(graph).dtype
    return select(cast(condition, "i1"), as_type(graph, x, dtype), as_type(graph, y, dtype))


@operator("clamp", "clamp.Tensor")
def clamp_between(graph: Graph, x: Tensor, low: Operand | None = None, high: Operand | None = None) -> Tensor:
    dtype = result(graph).dtype
    x = cast(x, dtype)
    # Numbers below those of an unsigned type bound nothing.
    if low is not None and not (dtype[0] == "u" and isinstance(low, (int, float)) and low < 0):
        x = maximum(x, as_type(graph, low, dtype))
    if high is not None:
        x = minimum(x, as_type(graph, high, dtype))
    return x


operator("clamp_min", "clamp_min.Tensor")(lambda graph, x, low: clamp_between(graph, x, low))
operator("clamp_max", "clamp_max.Tensor")(lambda graph, x, high: clamp_between(graph, x, None, high))


@operator("_to_copy", "to.dtype")
def to_copy(graph: Graph, x: Tensor, *arguments: object, **keywords: object) -> Tensor:
    return convert(x, result(graph).dtype)


@operator("prims::convert_element_type")
def convert_element_type(graph: Graph, x: Tensor, dtype: torch.dtype) -> Tensor:
    return convert(x, result(graph).dtype)


def convert(x: Tensor, dtype: str) -> Tensor:
    """Numbers out of the range of an integer type wrap around, as on PyTorch's CPUs, by way of 64 bits."""
    if x.dtype in FLOATS and dtype not in FLOATS and dtype not in ("i1", "i64"):
        x = cast(x, "i64")
    return cast(x, dtype)


@operator("clone", "alias", "detach", "lift_fresh_copy", "lift_fresh", "contiguous")
def identity(graph: Graph, x: Tensor, **keywords: object) -> Tensor:
    return x


@operator("gelu")
def gelu(graph: Graph, x: Tensor, *, approximate: str = "none") -> Tensor:
    return x.graph.apply("gelu", [x], tanh=approximate == "tanh")


operator("hardtanh")(lambda graph, x, low=-1, high=1: clamp_between(graph, x, low, high))
pointwise("leaky_relu", lambda x, slope=0.01: select(x > 0, x, x * slope), operands=1)
pointwise("silu", lambda x: x / (1 + unary("exp", -x)), operands=1)


@operator("angle")
def angle(graph: Graph, x: Tensor) -> Tensor:
    dtype = result(graph).dtype
    x = as_type(graph, x, dtype)
    return select(x < 0, math.pi, select(unary("isnan", x), x, 0.0))


@operator("hardtanh_backward")
def hardtanh_gradient(graph: Graph, g: Tensor, x: Tensor, low: Operand, high: Operand) -> Tensor:
    return select((x > low) & (x < high), g, 0)


@operator("nan_to_num")
def nan_to_num(graph: Graph, x: Tensor, nan: float | None = None, posinf: float | None = None,
               neginf: float | None = None) -> Tensor:
    dtype = result(graph).dtype
    if dtype not in FLOATS:
        return x
    limits = torch.finfo(graph.node.meta["val"].dtype)
    x = select(unary("isnan", x), float(nan or 0), x)
    x = select(unary("isinf_pos", x), limits.max if posinf is None else posinf, x)
    return select(unary("isinf_neg", x), limits.min if neginf is None else neginf, x)


# What PyTorch's own decompositions are made of, beside ATen's operators: of one type each.
for function in "abs neg exp log sin cos sqrt rsqrt reciprocal floor ceil trunc round erf tanh".split():
    pointwise(f"prims::{function}", one(function))
for name, kind in (("add", "add"), ("sub", "sub"), ("mul", "mul"), ("pow", "pow"), ("maximum", "max"),
                   ("minimum", "min"), ("atan2", "atan2"),
                   ("bitwise_and", "and"), ("bitwise_or", "or"), ("bitwise_xor", "xor")):
    pointwise(f"prims::{name}", lambda x, y, kind=kind: binary(kind, x, y))
for kind in ("eq", "ne", "lt", "le", "gt", "ge"):
    pointwise(f"prims::{kind}", lambda x, y, kind=kind: binary(kind, x, y), BOOL)


def prefer_numbers(x: Tensor, y: Tensor, extremum: Callable[[Tensor, Tensor], Tensor], first: str) -> Tensor:
    """The extremum of what is no NaN: `x` where the relation `first` holds, or where `y` is NaN."""
    if x.dtype not in FLOATS:
        return extremum(x, y)
    return select(binary(first, x, y) | unary("isnan", y), x, y)


def largest(x: Tensor, y: Tensor) -> Tensor:
    return x | y if x.dtype == "i1" else maximum(x, y)


def smallest(x: Tensor, y: Tensor) -> Tensor:
    return x & y if x.dtype == "i1" else minimum(x, y)


pointwise("maximum", largest)
pointwise("minimum", smallest)
pointwise("prims::fmax fmax", lambda x, y: prefer_numbers(x, y, largest, "ge"))
pointwise("prims::fmin fmin", lambda x, y: prefer_numbers(x, y, smallest, "le"))
operator("prims::where")(where)


def sign_bit(x: Tensor) -> Tensor:
    """Of -0.0 too."""
    return (x < 0) | (equal(x, 0) & (1 / x < 0)) if x.dtype in FLOATS else x < 0


pointwise("prims::signbit signbit", sign_bit, BOOL)
pointwise("copysign.Tensor copysign.Scalar", lambda x, y: select(sign_bit(y), -unary("abs", x), unary("abs", x)), FLOAT)


@operator("copy")
def copy(graph: Graph, x: Tensor, source: Tensor, non_blocking: bool = False) -> Tensor:
    return broadcast_to(convert(source, x.dtype), x.shape)


def hypotenuse(x: Tensor, y: Tensor) -> Tensor:
    """Squares of ratios neither overflow nor vanish."""
    x, y = unary("abs", x), unary("abs", y)
    longer, shorter = maximum(x, y), minimum(x, y)
    ratio = shorter / longer
    length = select(equal(longer, 0), longer, longer * unary("sqrt", 1 + ratio * ratio))
    return select(unary("isinf_pos", x) | unary("isinf_pos", y), math.inf, length)


pointwise("prims::hypot hypot", hypotenuse)
