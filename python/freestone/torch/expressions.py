"""The language of operators: tensors of a graph under construction, with arithmetic in infix notation.

`x * clamp(x + 3, 0, 6) / 6`: numbers take the type of the other operand, operands broadcast as in NumPy and have one
type. What an operation means is defined in compiler/frontend/README.md.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

import torch

from freestone import _freestone
from freestone.torch.dtypes import FLOATS, wide
from freestone.torch.sizes import Extent, Shape, Size, product

_BYTES = torch.uint8


class Tensor:
    """A tensor of a graph: its number there, its element type, and its shape of ints and `Size`s."""

    __slots__ = ("graph", "number", "dtype", "shape")

    def __init__(self, graph: Graph, number: int, dtype: str, shape: Shape):
        self.graph, self.number, self.dtype, self.shape = graph, number, dtype, shape

    @property
    def rank(self) -> int:
        return len(self.shape)

    def __add__(self, other: Operand) -> Tensor:
        return binary("add", self, other)

    def __radd__(self, other: Number) -> Tensor:
        return binary("add", other, self)

    def __sub__(self, other: Operand) -> Tensor:
        return binary("sub", self, other)

    def __rsub__(self, other: Number) -> Tensor:
        return binary("sub", other, self)

    def __mul__(self, other: Operand) -> Tensor:
        return binary("mul", self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Operand) -> Tensor:
        return binary("div", self, other)

    def __rtruediv__(self, other: Number) -> Tensor:
        return binary("div", other, self)

    def __neg__(self) -> Tensor:
        return unary("neg", self)

    def __and__(self, other: Operand) -> Tensor:
        return binary("and", self, other)

    def __or__(self, other: Operand) -> Tensor:
        return binary("or", self, other)

    def __invert__(self) -> Tensor:
        return unary("not", self)

    def __lt__(self, other: Operand) -> Tensor:
        return binary("lt", self, other)

    def __le__(self, other: Operand) -> Tensor:
        return binary("le", self, other)

    def __gt__(self, other: Operand) -> Tensor:
        return binary("gt", self, other)

    def __ge__(self, other: Operand) -> Tensor:
        return binary("ge", self, other)


#: What takes the type of the tensor beside it.
Number = int | float | Size
Operand = Tensor | Number


def unary(name: str, x: Tensor) -> Tensor:
    return x.graph.apply(name, [x])


def of_one_type(x: Operand, y: Operand) -> list[Tensor]:
    """Both as tensors, of which one is there."""
    like = next(value for value in (x, y) if isinstance(value, Tensor))
    return [value if isinstance(value, Tensor) else scalar(like.graph, value, like.dtype) for value in (x, y)]


def binary(name: str, x: Operand, y: Operand) -> Tensor:
    operands = of_one_type(x, y)
    return operands[0].graph.apply(name, operands)


def scalar(graph: Graph, value: Number, dtype: str) -> Tensor:
    """A number or a size, of rank 0."""
    if isinstance(value, Size):
        return graph.apply("size", [], value=value, type=dtype)
    return graph.number(value, dtype)


def splat(graph: Graph, value: Number, dtype: str, shape: Sequence[Extent]) -> Tensor:
    return broadcast_to(scalar(graph, value, dtype), shape)


def zeros_like(x: Tensor) -> Tensor:
    return splat(x.graph, 0, x.dtype, x.shape)


def equal(x: Operand, y: Operand) -> Tensor:
    return binary("eq", x, y)


def maximum(x: Operand, y: Operand) -> Tensor:
    return binary("max", x, y)


def minimum(x: Operand, y: Operand) -> Tensor:
    return binary("min", x, y)


def power(x: Operand, y: Operand) -> Tensor:
    return binary("pow", x, y)


def clamp(x: Tensor, low: Operand, high: Operand) -> Tensor:
    return minimum(maximum(x, low), high)


def select(condition: Tensor, when_true: Operand, when_false: Operand) -> Tensor:
    return condition.graph.apply("select", [condition, *of_one_type(when_true, when_false)])


def cast(x: Tensor, dtype: str) -> Tensor:
    return x if x.dtype == dtype else x.graph.apply("cast", [x], type=dtype)


def widen(x: Tensor) -> Tensor:
    """f16 and bf16 as f32."""
    return cast(x, wide(x.dtype))


def reshape(x: Tensor, shape: Sequence[Extent]) -> Tensor:
    return x if list(shape) == x.shape else x.graph.apply("reshape", [x], shape=list(shape))


def broadcast_to(x: Tensor, shape: Sequence[Extent]) -> Tensor:
    return x if list(shape) == x.shape else x.graph.apply("broadcast_to", [x], shape=list(shape))


def transpose(x: Tensor, permutation: Sequence[int]) -> Tensor:
    permutation = [axis % x.rank for axis in permutation]
    if permutation == list(range(x.rank)):
        return x
    return x.graph.apply("transpose", [x], permutation=permutation)


def exchange(x: Tensor, a: int, b: int) -> Tensor:
    order = list(range(x.rank))
    order[a], order[b] = order[b], order[a]
    return transpose(x, order)


def unsqueeze(x: Tensor, axis: int) -> Tensor:
    axis %= x.rank + 1
    return reshape(x, [*x.shape[:axis], 1, *x.shape[axis:]])


def slice_axis(x: Tensor, axis: int, start: Extent, size: Extent, step: int = 1) -> Tensor:
    starts: Shape = [0] * x.rank
    sizes, steps = list(x.shape), [1] * x.rank
    starts[axis], sizes[axis], steps[axis] = start, size, step
    return x.graph.apply("slice", [x], starts=starts, sizes=sizes, steps=steps)


def pad(x: Tensor, low: Sequence[Extent], high: Sequence[Extent], value: Operand = 0,
        interior: Sequence[Extent] | None = None) -> Tensor:
    fill = value if isinstance(value, Tensor) else scalar(x.graph, value, x.dtype)
    attributes = {"interior": list(interior)} if interior else {}
    return x.graph.apply("pad", [x, fill], low=list(low), high=list(high), **attributes)


def concat(tensors: Sequence[Tensor], axis: int) -> Tensor:
    return tensors[0] if len(tensors) == 1 else tensors[0].graph.apply("concat", list(tensors), axis=axis)


def iota(graph: Graph, shape: Sequence[Extent], axis: int, dtype: str) -> Tensor:
    return graph.apply("iota", [], shape=list(shape), axis=axis, type=dtype)


def reduce(kind: str, x: Tensor, axes: Sequence[int], keep: bool = False) -> Tensor:
    axes = sorted(axis % x.rank for axis in axes) if x.rank else []
    return x.graph.apply("reduce", [x], kind=kind, axes=axes, keep=keep) if axes else x


def total(x: Tensor, axes: Sequence[int], keep: bool = False) -> Tensor:
    return reduce("add", x, axes, keep)


def mean(x: Tensor, axes: Sequence[int], keep: bool = False) -> Tensor:
    count = product(x.shape[axis] for axis in axes)
    return total(x, axes, keep) / scalar(x.graph, count, x.dtype)


def matmul(x: Tensor, y: Tensor) -> Tensor:
    """Sums of f16 and bf16 are made in f32, and rounded once."""
    if x.dtype == wide(x.dtype):
        return x.graph.apply("matmul", [x, y])
    return cast(x.graph.apply("matmul", [x, y], type="f32"), x.dtype)


def gather(x: Tensor, indices: Tensor, axis: int) -> Tensor:
    return x.graph.apply("gather", [x, indices], axis=axis)


class Graph:
    """A graph under construction, over the compiler's interface.

    `apply` adds an operation and returns its first result; `number` caches constants of rank 0.
    """

    def __init__(self, builder: _freestone.Graph):
        self.builder = builder
        self.numbers: dict[tuple[str, str], Tensor] = {}
        #: None while inputs are added, which are of no node.
        self.node_at_hand: torch.fx.Node | None = None
        self.random_seed: Tensor | None = None
        self.random_draws = 0

    @property
    def node(self) -> torch.fx.Node:
        """The node whose operator is built."""
        assert self.node_at_hand is not None
        return self.node_at_hand

    def tensor(self, number: int) -> Tensor:
        dtype, shape = json.loads(self.builder.describe(number))
        return Tensor(self, number, dtype, [size if isinstance(size, int) else Size(size) for size in shape])

    def apply(self, name: str, operands: Sequence[Tensor], **attributes: object) -> Tensor:
        node = self.node_at_hand.name if self.node_at_hand is not None else None
        text = json.dumps(attributes, default=str) if attributes else None
        return self.tensor(self.builder.apply(name, [operand.number for operand in operands], text, node))

    def apply_many(self, count: int, name: str, operands: Sequence[Tensor], **attributes: object) -> list[Tensor]:
        first = self.apply(name, operands, **attributes)
        return [first] + [self.tensor(first.number + index) for index in range(1, count)]

    def number(self, value: int | float, dtype: str) -> Tensor:
        if dtype not in FLOATS or isinstance(value, bool):
            value = int(value) if dtype != "i1" else int(bool(value))
        key = (repr(value), dtype)
        if key not in self.numbers:
            if isinstance(value, int) and abs(value) > 1 << 52:
                self.numbers[key] = self.apply("size", [], value=value, type=dtype)
            else:
                special = isinstance(value, float) and not math.isfinite(value)
                text = ("nan" if math.isnan(value) else "inf" if value > 0 else "-inf") if special else value
                self.numbers[key] = self.apply("splat", [], value=text, type=dtype, shape=[])
        return self.numbers[key]

    def constant(self, value: torch.Tensor, dtype: str) -> Tensor:
        """Of a tensor of PyTorch, contiguous, whose bytes become part of the program."""
        data = bytes(value.reshape(-1).view(_BYTES).numpy()) if value.numel() else b""
        return self.tensor(self.builder.constant(dtype, list(value.shape), data))

    def seed(self) -> Tensor:
        """Two words of 32 bits, other ones in every run."""
        if self.random_seed is None:
            self.random_seed = self.tensor(self.builder.input("seed", "u32", ["2"]))
        return self.random_seed
