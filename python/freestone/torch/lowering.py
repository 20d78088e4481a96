"""From a graph of ATen's operators to a graph of the compiler: its inputs, operators and outputs."""

from __future__ import annotations

import dataclasses
import math
import operator as python

import torch

from .builder import Builder, Refused
from .dtypes import UnsupportedType, name_of
from .expressions import Graph, Tensor, binary, cast, reshape, scalar, transpose, unary
from .operators import OPERATORS
from .sizes import Size, expression, size_of, sizes_of


@dataclasses.dataclass
class Input:
    """An input of the program: where a call finds it, and how its memory is laid out.

    `source` is the number of an argument, the name of an attribute of the module, or "seed". `order` are the axes in the
    order of the memory.
    """

    source: int | str
    dtype: str
    order: list[int]
    is_size: bool = False


@dataclasses.dataclass
class Output:
    """An output of the graph. `kind` is "tensor" (the next one of the program), "argument", "size", or "constant"."""

    kind: str
    value: object = None
    dtype: torch.dtype | None = None
    shape: list = dataclasses.field(default_factory=list)
    order: list[int] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Lowered:
    builder: Builder
    inputs: list[Input]
    outputs: list[Output]
    #: Where each symbol's value is found: (argument, axis), or (argument, None) where the argument is the number itself.
    symbols: dict[str, tuple[int, int | None]]


class Unlowered(Exception):
    """A node that can't be compiled, and why."""

    def __init__(self, node: torch.fx.Node, reason: str):
        super().__init__(f"{node.target}: {reason}")
        self.node, self.reason = node, reason


def memory_order(value: torch.Tensor) -> list[int]:
    """The axes by falling strides, as the hints have them; those of size 1 stay where they are."""

    def hint(size):
        return size.node.hint if isinstance(size, torch.SymInt) else size

    axes = list(range(value.dim()))
    moving = [axis for axis in axes if hint(value.shape[axis]) not in (0, 1)]
    ordered = sorted(moving, key=lambda axis: -(hint(value.stride(axis)) or 0))
    if any(hint(value.stride(axis)) == 0 for axis in moving):
        return axes
    place = dict(zip(moving, ordered))
    return [place.get(axis, axis) for axis in axes]


def inverse(order: list[int]) -> list[int]:
    return [order.index(axis) for axis in range(len(order))]


_SYMBOLIC = {python.add: "add", python.sub: "sub", python.mul: "mul", python.truediv: "div", python.pow: "pow"}


class Lowering:
    def __init__(self, module: torch.fx.GraphModule, builder: Builder):
        self.module, self.builder = module, builder
        self.graph = Graph(builder)
        self.graph.seed = self.seed
        self.values: dict[torch.fx.Node, object] = {}
        self.inputs: list[Input] = []
        self.symbols: dict[str, tuple[int, int | None]] = {}
        self.random_seed = None

    def run(self) -> Lowered:
        nodes = list(self.module.graph.nodes)
        placeholders = [node for node in nodes if node.op == "placeholder"]
        self.bind_symbols(placeholders)
        for index, node in enumerate(placeholders):
            self.add_argument(index, node)
        for node in nodes:
            if node.op in ("placeholder", "output"):
                continue
            self.graph.node = node
            try:
                self.values[node] = self.lower(node)
            except (Refused, UnsupportedType, NotImplementedError) as refusal:
                raise Unlowered(node, str(refusal)) from refusal
        outputs = self.add_outputs(nodes[-1], placeholders)
        return Lowered(self.builder, self.inputs, outputs, self.symbols)

    def bind_symbols(self, placeholders) -> None:
        """Symbols are dimensions of arguments; those that are not are arguments themselves."""
        needed, environment = set(), None
        for index, node in enumerate(placeholders):
            value = node.meta["val"]
            if isinstance(value, torch.SymInt):
                environment = value.node.shape_env
                needed |= expression(value).free_symbols
            if not isinstance(value, torch.Tensor):
                continue
            for axis, size in enumerate(value.shape):
                if isinstance(size, torch.SymInt):
                    environment = size.node.shape_env
                    expr = expression(size)
                    needed |= expr.free_symbols
                    if expr.is_Symbol and node.users:
                        self.symbols.setdefault(str(expr), (index, axis))
        for index, node in enumerate(placeholders):
            value = node.meta["val"]
            if isinstance(value, torch.SymInt) and expression(value).is_Symbol:
                name = str(expression(value))
                if name not in self.symbols:
                    self.symbols[name] = (index, None)
                    self.builder.input(f"argument{index}", "i64", [], name)
                    self.inputs.append(Input(index, "i64", [], is_size=True))
        for symbol in sorted(needed, key=str):
            if str(symbol) not in self.symbols:
                raise Refused(f"the size {symbol} is no dimension of an input")
            bounds = environment.var_to_range.get(symbol) if environment else None
            if bounds is not None and self.symbols[str(symbol)][1] is not None:
                upper = int(bounds.upper) if bounds.upper.is_Integer and bounds.upper < 2 ** 62 else 2 ** 63 - 1
                self.builder.symbol(str(symbol), int(bounds.lower), upper)

    def add_argument(self, index: int, node: torch.fx.Node) -> None:
        value = node.meta["val"]
        if isinstance(value, torch.Tensor):
            if node.users:
                self.graph.node = node
                try:
                    self.values[node] = self.add_tensor(index, f"argument{index}", value)
                except UnsupportedType as refusal:
                    raise Unlowered(node, str(refusal)) from refusal
        elif isinstance(value, (torch.SymInt, int, float, bool)) or value is None:
            self.values[node] = size_of(value)
        else:
            raise Unlowered(node, f"arguments of type {type(value).__name__} are not supported")

    def add_tensor(self, source, name: str, value: torch.Tensor) -> Tensor:
        dtype, order = name_of(value.dtype), memory_order(value)
        shape = sizes_of(value.shape)
        number = self.builder.input(name, dtype, [shape[axis] for axis in order])
        self.inputs.append(Input(source, dtype, order))
        return transpose(self.graph.tensor(number), inverse(order))

    def seed(self) -> Tensor:
        """Two words of 32 bits, other ones in every run."""
        if self.random_seed is None:
            self.random_seed = self.graph.tensor(self.builder.input("seed", "u32", [2]))
            self.inputs.append(Input("seed", "u32", [0]))
        return self.random_seed

    def argument(self, value):
        return torch.fx.node.map_arg(value, lambda node: self.values[node])

    def lower(self, node: torch.fx.Node):
        value = node.meta.get("val")
        if node.op == "get_attr":
            found = getattr(self.module, node.target)
            if not isinstance(found, torch.Tensor):
                raise Refused("attributes other than tensors are not supported")
            return self.add_tensor(node.target, node.name, found)
        if node.target is python.getitem:
            return self.values[node.args[0]][node.args[1]]
        if isinstance(value, (torch.SymInt, int)) and not isinstance(value, bool):
            return size_of(value)
        if isinstance(value, (torch.SymFloat, float)):
            return self.lower_number(node)
        if isinstance(value, (torch.SymBool, bool)) or node.target in CHECKS:
            return None
        if node.target not in OPERATORS:
            raise Refused("there is no such operator")
        arguments, keywords = self.argument(node.args), self.argument(node.kwargs)
        keywords = {name: item for name, item in keywords.items() if name not in _PLACEMENT}
        return OPERATORS[node.target](self.graph, *arguments, **keywords)

    def lower_number(self, node: torch.fx.Node) -> Tensor:
        """A real number that depends on sizes."""
        operands = [self.argument(argument) for argument in node.args]
        operands = [x if isinstance(x, Tensor) else scalar(self.graph, x, "f64") for x in operands]
        if node.target in _SYMBOLIC:
            return binary(_SYMBOLIC[node.target], *operands)
        if node.target is torch.sym_float:
            return operands[0]
        if node.target in (math.sqrt, torch._sym_sqrt):
            return unary("sqrt", operands[0])
        raise Refused("this function of sizes is not supported")

    def add_outputs(self, node: torch.fx.Node, placeholders) -> list[Output]:
        outputs, numbers = [], {}
        returned = node.args[0]
        for value in returned if isinstance(returned, (list, tuple)) else [returned]:
            if not isinstance(value, torch.fx.Node):
                outputs.append(Output("constant", value))
                continue
            if value in placeholders:
                outputs.append(Output("argument", placeholders.index(value)))
                continue
            known = value.meta["val"]
            if isinstance(known, (torch.SymInt, int)):
                outputs.append(Output("size", str(expression(known))))
                continue
            if not isinstance(known, torch.Tensor):
                raise Unlowered(value, "an output is no tensor and no size")
            if value in numbers:
                outputs.append(Output("same", numbers[value]))
                continue
            numbers[value] = len(outputs)
            tensor, order = self.values[value], memory_order(known)
            self.graph.node = value
            shape = sizes_of(known.shape)
            name = name_of(known.dtype)
            if tensor.dtype != name:
                raise Unlowered(value, f"its result is of type {tensor.dtype}, not {name}")
            self.builder.output(f"output{len(outputs)}", transpose(tensor, order).number)
            outputs.append(Output("tensor", None, known.dtype, [str(shape[axis]) for axis in order], order))
        return outputs


_PLACEMENT = {"layout", "device", "pin_memory", "memory_format", "non_blocking", "copy"}
CHECKS = {torch.ops.aten._assert_scalar.default, torch.ops.aten._assert_async.msg,
           torch.ops.aten._assert_async.default, torch.ops.aten.sym_constrain_range_for_size.default,
           torch.ops.aten._assert_tensor_metadata.default}


def lower(module: torch.fx.GraphModule, builder: Builder) -> Lowered:
    """Raises `Unlowered` at the first node that can't be compiled."""
    return Lowering(module, builder).run()
