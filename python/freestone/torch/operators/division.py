"""Quotients and remainders, with the signs, infinities and zeros of PyTorch.

Integers have no quotient by zero, of which PyTorch raises an error: only divisors that are known and not zero are
compiled.
"""

from __future__ import annotations

from freestone.torch.dtypes import FLOATS
from freestone.torch.expressions import Graph, Operand, Tensor, binary, cast, equal, scalar, select, unary
from freestone.torch.operators.elementwise import sign_bit
from freestone.torch.operators.registry import Promotion, as_type, operator, promoted, refuse, result
from freestone.torch.sizes import Size


def operands(graph: Graph, x: Operand, y: Operand, kind: Promotion = Promotion.DEFAULT) -> tuple[Tensor, Tensor]:
    """Both in the type in which PyTorch divides them."""
    dtype = promoted(graph, kind, graph.node.args[:2])
    if dtype not in FLOATS:
        if not isinstance(y, (int, Size)):
            refuse("divides integers by a tensor, which may be zero")
        if y == 0:
            refuse("divides integers by zero")
    return as_type(graph, x, dtype), as_type(graph, y, dtype)


def differ_in_sign(x: Tensor, y: Tensor) -> Tensor:
    return binary("xor", x < 0, y < 0)


def floor_quotient(x: Tensor, y: Tensor) -> Tensor:
    remainder = binary("rem", x, y)
    if x.dtype not in FLOATS:
        quotient = x / y
        return quotient if x.dtype[0] == "u" else quotient - cast(
            binary("ne", remainder, 0) & differ_in_sign(remainder, y), x.dtype)
    # Of what remains after the remainder, so that the quotient of a multiple does not round up to the next integer.
    exact = (x - remainder) / y
    exact = select(binary("ne", remainder, 0) & differ_in_sign(remainder, y), exact - 1, exact)
    below = unary("floor", exact)
    below = select(exact - below > 0.5, below + 1, below)
    # An integer of -0.0 or 0.0 has the sign of the quotient.
    quotient = x / y
    zero = select(sign_bit(quotient), -0.0, scalar(x.graph, 0.0, x.dtype))
    return select(equal(y, 0), quotient, select(equal(exact, 0), zero, below))


@operator("div.Tensor_mode", "div.Scalar_mode")
def divide(graph: Graph, x: Operand, y: Operand, *, rounding_mode: str | None = None) -> Tensor:
    kind = Promotion.INT_TO_FLOAT if rounding_mode is None else Promotion.DEFAULT
    x, y = operands(graph, x, y, kind)
    if rounding_mode == "floor":
        quotient = floor_quotient(x, y)
    else:
        quotient = x / y
        if rounding_mode == "trunc" and x.dtype in FLOATS:
            quotient = unary("trunc", quotient)
    return cast(quotient, result(graph).dtype)


@operator("floor_divide", "floor_divide.Scalar")
def floor_divide(graph: Graph, x: Operand, y: Operand) -> Tensor:
    return divide(graph, x, y, rounding_mode="floor")


@operator("remainder.Tensor", "remainder.Scalar", "remainder.Scalar_Tensor", "prims::remainder")
def remainder(graph: Graph, x: Operand, y: Operand) -> Tensor:
    """With the sign of the divisor."""
    return cast(binary("mod", *operands(graph, x, y)), result(graph).dtype)


@operator("fmod.Tensor", "fmod.Scalar", "prims::fmod")
def fmod(graph: Graph, x: Operand, y: Operand) -> Tensor:
    """With the sign of the dividend."""
    return cast(binary("rem", *operands(graph, x, y)), result(graph).dtype)


@operator("prims::div")
def prims_div(graph: Graph, x: Operand, y: Operand) -> Tensor:
    """Rounds towards zero where numbers are integers."""
    x, y = operands(graph, x, y)
    return x / y
