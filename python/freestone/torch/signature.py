"""What a compiled graph takes and gives: which arguments, how their memory is laid out, where sizes are found."""

from __future__ import annotations

import dataclasses
from typing import Any

import sympy
import torch
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.fx.node import Argument, Target
from torch.utils._sympy.printers import PythonPrinter
from torch.utils._sympy.value_ranges import ValueRanges

from freestone.torch.dtypes import UnsupportedType, name_of
from freestone.torch.identity import identity
from freestone.torch.layout import memory_order
from freestone.torch.sizes import Shape, expression, rounding, sizes_of

#: Of a placeholder's `meta`: a parameter or buffer of which the program keeps packed copies.
KEPT = "freestone_kept"


class Unlowered(Exception):
    """A node that can't be compiled, and why."""

    def __init__(self, node: torch.fx.Node, reason: str):
        super().__init__(f"{node.target}: {reason}")
        self.node, self.reason = node, reason


def name_of_target(target: Target) -> str:
    """The same in every process, which the address of a function is not."""
    if isinstance(target, (str, torch._ops.OpOverload, torch._ops.HigherOrderOperator)):
        return str(target)
    return f"{target.__module__}.{target.__qualname__}"


@dataclasses.dataclass
class Input:
    """An input of the program: the number of an argument or the name of an attribute of the module; None for a number
    that is computed.

    `order` are the axes in the order of the memory; `symbol`, where set, is a size that the argument itself is; where it
    is a `number`, the argument is a real number of Python's; where it is `kept`, the program keeps what it makes of it
    until another tensor is given, or a new version.
    """

    source: int | str | None
    name: str
    dtype: str
    shape: Shape
    order: list[int]
    symbol: str | None = None
    number: bool = False
    kept: bool = False


@dataclasses.dataclass
class Output:
    """An output of the graph that has no memory of its own: the "same" as another output, an "argument", a "size", or
    a "constant". `value` is the number of that output or argument, the size as an expression, or the constant."""

    kind: str
    value: Any


@dataclasses.dataclass
class Computed:
    """An output of the graph that is the next one of the program. `order` are its axes in the order of the memory, in
    which `shape` is."""

    node: torch.fx.Node
    dtype: torch.dtype
    shape: list[str]
    order: list[int]


@dataclasses.dataclass
class View:
    """An output of the graph that is memory of an argument, or of another output: `offset` elements behind its first
    one, as expressions."""

    of_argument: bool
    number: int
    shape: list[str]
    stride: list[str]
    offset: str


@dataclasses.dataclass
class Symbol:
    """A size: a dimension of an argument, or where `axis` is None the argument itself, an integer that may be negative, or
    what `code` computes of earlier ones; with its bounds, inclusive."""

    argument: int | None
    axis: int | None
    code: str | None = None
    lower: int | None = 0
    upper: int | None = None


#: By memory and type, what views of it are made of: whether it is an argument, the number of it or of the output, and
#: the tensor.
_Viewed = dict[tuple[int, torch.dtype], tuple[bool, int, torch.Tensor]]


def returned(graph: torch.fx.Graph) -> list[Any]:
    """Nodes, and constants of Python's."""
    value = next(reversed(graph.nodes)).args[0]
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _memory(value: torch.Tensor) -> int:
    """Tensors of one memory have the same."""
    address: int = value.untyped_storage()._cdata
    return address


def _sizes_in(value: object) -> list[torch.SymInt]:
    if isinstance(value, torch.Tensor):
        value = value.shape
    if isinstance(value, (list, tuple, torch.Size)):
        return [size for part in value for size in _sizes_in(part)]
    return [value] if isinstance(value, torch.SymInt) else []


def _bound(value: sympy.Expr) -> int | None:
    return int(value) if value.is_Integer and abs(value) < 2**62 else None


def _range(environment: ShapeEnv, name: str) -> ValueRanges[sympy.Expr] | None:
    return next((found for symbol, found in environment.var_to_range.items() if symbol.name == name), None)


def _fills_memory(value: torch.Tensor) -> bool:
    """Whether a tensor has every element of its memory once."""
    dense = sympy.Integer(1)
    for axis in reversed(memory_order(value)):
        if expression(value.shape[axis]) != 1 and sympy.expand(expression(value.stride(axis)) - dense) != 0:
            return False
        dense *= expression(value.shape[axis])
    return bool(sympy.expand(dense * value.itemsize - expression(value.untyped_storage().nbytes())) == 0)


class Signature:
    """Of a graph of ATen's operators. Raises `Unlowered` where an argument or a result is none that programs have."""

    def __init__(self, module: torch.fx.GraphModule):
        self.module = module
        self.nodes = list(module.graph.nodes)
        self.placeholders = [node for node in self.nodes if node.op == "placeholder"]
        self.symbols: dict[str, Symbol] = {}
        #: By node, and by name those that are computed.
        self.inputs: dict[torch.fx.Node | str, Input] = {}
        self._find_symbols()
        for index, node in enumerate(self.placeholders):
            self._add_argument(index, node)
        for node in self.nodes:
            if node.op == "get_attr":
                value = getattr(module, node.target)
                if not isinstance(value, torch.Tensor):
                    raise Unlowered(node, "is an attribute other than a tensor")
                self.inputs[node] = self._input(node, node.target, value)
        self.outputs = self._find_outputs()

    def _find_symbols(self) -> None:
        for index, node in enumerate(self.placeholders):
            value = node.meta["val"]
            if isinstance(value, torch.Tensor) and node.users:
                for axis, size in enumerate(value.shape):
                    if isinstance(size, torch.SymInt) and expression(size).is_Symbol:
                        self.symbols.setdefault(expression(size).name, Symbol(index, axis))
        for index, node in enumerate(self.placeholders):
            value = node.meta["val"]
            if isinstance(value, torch.SymInt) and expression(value).is_Symbol:
                self.symbols.setdefault(expression(value).name, Symbol(index, None, lower=None))
        needed: dict[str, ShapeEnv] = {}
        seen: set[tuple[sympy.Expr, bool]] = set()
        for node in self.nodes:
            is_argument = node.op == "placeholder" and len(node.users) > 0
            for known in _sizes_in(node.meta.get("val")):
                if (known.node.expr, is_argument) in seen:
                    continue
                seen.add((known.node.expr, is_argument))
                for symbol in expression(known).free_symbols:
                    if is_argument or symbol.name in self.symbols or rounding(symbol.name) is not None:
                        assert known.node.shape_env is not None
                        needed.setdefault(symbol.name, known.node.shape_env)
        for name, environment in needed.items():
            self._need(name, environment)

    def _need(self, name: str, environment: ShapeEnv) -> None:
        """Finds a size, and its bounds."""
        part = rounding(name)
        if name not in self.symbols:
            if part is None:
                raise Unlowered(self.nodes[-1], f"the size {name} is no dimension of an argument")
            for symbol in sorted(part.free_symbols, key=str):
                self._need(symbol.name, environment)
            self.symbols[name] = Symbol(None, None, PythonPrinter().doprint(part), lower=None)
            self.inputs[name] = Input(None, name, "i64", [], [], name)
        symbol = self.symbols[name]
        bounds = environment.bound_sympy(part) if part is not None else _range(environment, name)
        lower, upper = (_bound(bounds.lower), _bound(bounds.upper)) if bounds is not None else (None, None)
        symbol.lower = max(lower or 0, 0) if symbol.axis is not None else lower
        symbol.upper = upper

    def _input(self, node: torch.fx.Node, source: int | str, value: torch.Tensor) -> Input:
        try:
            dtype = name_of(value.dtype)
        except UnsupportedType as refusal:
            raise Unlowered(node, str(refusal)) from refusal
        order, shape = memory_order(value), sizes_of(value.shape)
        return Input(source, f"argument{source}" if isinstance(source, int) else node.name, dtype,
                     [shape[axis] for axis in order], order)

    def _add_argument(self, index: int, node: torch.fx.Node) -> None:
        value = node.meta["val"]
        if isinstance(value, torch.Tensor):
            if node.users:
                given = self.inputs[node] = self._input(node, index, value)
                given.kept = KEPT in node.meta and value.dtype.is_floating_point and all(map(str.isdigit, map(str, given.shape)))
        elif isinstance(value, torch.SymInt):
            name = str(expression(value))
            if (found := self.symbols.get(name)) and found == dataclasses.replace(found, argument=index, axis=None):
                self.inputs[node] = Input(index, f"argument{index}", "i64", [], [], name)
        elif isinstance(value, torch.SymFloat):
            if node.users:
                self.inputs[node] = Input(index, f"argument{index}", "f64", [], [], number=True)
        elif not isinstance(value, (int, float, bool)) and value is not None:
            raise Unlowered(node, f"arguments of type {type(value).__name__} are not supported")

    def _find_outputs(self) -> list[Output | View | Computed]:
        outputs: list[Output | View | Computed] = []
        numbers: dict[torch.fx.Node, int] = {}
        values = returned(self.module.graph)
        viewed = self._find_viewed(values)
        for value in values:
            if not isinstance(value, torch.fx.Node):
                outputs.append(Output("constant", value))
                continue
            known = value.meta["val"]
            if value.op == "placeholder":
                outputs.append(Output("argument", self.placeholders.index(value)))
            elif isinstance(known, (torch.SymInt, int)):
                outputs.append(Output("size", str(expression(known))))
            elif not isinstance(known, torch.Tensor):
                raise Unlowered(value, "a result is no tensor and no size")
            elif value in numbers:
                outputs.append(Output("same", numbers[value]))
            elif view := self._view(known, viewed):
                numbers[value] = len(outputs)
                outputs.append(view)
            else:
                numbers[value] = len(outputs)
                order, shape = memory_order(known), sizes_of(known.shape)
                outputs.append(Computed(value, known.dtype, [str(shape[axis]) for axis in order], order))
        return outputs

    def _find_viewed(self, values: list[Any]) -> _Viewed:
        """Of each memory the argument, or the output that fills it."""
        viewed: _Viewed = {}
        for number, value in enumerate(values):
            known = value.meta["val"] if isinstance(value, torch.fx.Node) else None
            if isinstance(known, torch.Tensor) and _fills_memory(known):
                viewed.setdefault((_memory(known), known.dtype), (False, number, known))
        for index, node in enumerate(self.placeholders):
            known = node.meta["val"]
            if isinstance(known, torch.Tensor):
                viewed[_memory(known), known.dtype] = True, index, known
        return viewed

    def _view(self, value: torch.Tensor, viewed: _Viewed) -> View | None:
        """What a tensor is a view of, if anything, and of sizes that are known in a call."""
        of_argument, number, owner = viewed.get((_memory(value), value.dtype), (False, 0, value))
        offset = expression(value.storage_offset()) - expression(owner.storage_offset())
        layout = [*map(expression, value.shape), *map(expression, value.stride()), offset]
        if owner is value or not all(str(symbol) in self.symbols for expr in layout for symbol in expr.free_symbols):
            return None
        text, rank = [str(expr) for expr in layout], value.dim()
        return View(of_argument, number, text[:rank], text[rank:-1], text[-1])

    @property
    def results(self) -> list[Computed]:
        """The outputs that the program computes."""
        return [output for output in self.outputs if isinstance(output, Computed)]

    def key(self) -> str:
        """Everything that the program is built of: sizes, types, layouts, operators and their arguments, as text in which
        nodes have numbers for names."""
        numbers = {node: number for number, node in enumerate(self.nodes)}

        def text(value: Argument) -> str:
            if isinstance(value, torch.fx.Node):
                return f"%{numbers[value]}"
            if isinstance(value, (list, tuple)):
                return "[" + ", ".join(map(text, value)) + "]"
            if isinstance(value, dict):
                return "{" + ", ".join(f"{name}={text(item)}" for name, item in value.items()) + "}"
            return repr(value)

        def known(value: object) -> str:
            if isinstance(value, torch.Tensor):
                return f"{value.dtype}{list(value.shape)}"
            if isinstance(value, (list, tuple)):
                return "(" + ", ".join(map(known, value)) + ")"
            return str(value)

        lines = [identity()]
        lines += [f"{name} in {symbol.lower}:{symbol.upper} {symbol.code}" for name, symbol in sorted(self.symbols.items())]
        for node in self.nodes:
            given = self.inputs.get(node)
            where = f" {given.dtype}{given.shape} {given.order} {given.symbol} {given.number} {given.kept}" if given else ""
            lines.append(f"%{numbers[node]} {node.op} {name_of_target(node.target) if node.op == 'call_function' else ''}"
                         f" {text(node.args)} {text(node.kwargs)} {len(node.users)}{where} {known(node.meta.get('val'))}")
        lines += [f"output %{numbers[output.node]} {output.order}" for output in self.results]
        return "\n".join(lines)
