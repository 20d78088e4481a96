"""From a graph of ATen's operators to a graph of the compiler: its inputs, operators and outputs."""

from __future__ import annotations

import contextlib
import math
import operator as python
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import torch
from torch.fx.node import Target

from freestone import _freestone
from freestone.errors import Error
from freestone.torch.dtypes import UnsupportedType, name_of
from freestone.torch.expressions import Graph, Operand, Tensor, binary, cast, scalar, transpose, unary
from freestone.torch.layout import inverse
from freestone.torch.operators import OPERATORS
from freestone.torch.operators.registry import Refused
from freestone.torch.signature import Signature, Unlowered
from freestone.torch.sizes import size_of

#: Nodes that only check what Dynamo's guards ensure.
CHECKS: set[Target] = {getattr(getattr(torch.ops.aten, name), overload) for name, overload in (
    ("_assert_scalar", "default"), ("_assert_tensor_metadata", "default"), ("sym_constrain_range", "default"),
    ("sym_constrain_range_for_size", "default"))}
_PLACEMENT = {"layout", "device", "pin_memory", "memory_format", "non_blocking", "copy"}
_SYMBOLIC: dict[Target, str] = {
    python.add: "add", python.sub: "sub", python.mul: "mul", python.truediv: "div", python.pow: "pow"}

#: What nodes have become: tensors of the graph, sizes, a list of tensors where an operator has several results.
Values = dict[torch.fx.Node, Any]


def lower(signature: Signature, builder: _freestone.Graph) -> None:
    """Builds the graph. Raises `Unlowered` at the first node that can't be compiled."""
    graph = Graph(builder)
    values: Values = {}
    with refusing(signature.nodes[-1]):
        _add_inputs(graph, signature, values)
    lower_nodes(graph, signature.nodes, values)
    for number, output in enumerate(signature.results):
        tensor, dtype = values[output.node], name_of(output.dtype)
        if not isinstance(tensor, Tensor) or tensor.dtype != dtype:
            raise Unlowered(output.node, f"its result is of another type than {dtype}")
        graph.node_at_hand = output.node
        with refusing(output.node):
            builder.output(f"result{number}", transpose(tensor, output.order).number)


@contextlib.contextmanager
def refusing(node: torch.fx.Node) -> Iterator[None]:
    """Turns refusals of the compiler into those of a node; of the whole graph where it is that of its results."""
    try:
        yield
    except (Refused, Error, UnsupportedType, NotImplementedError) as refusal:
        raise Unlowered(node, str(refusal)) from refusal


def declare_symbols(signature: Signature, builder: _freestone.Graph) -> None:
    for name, symbol in signature.symbols.items():
        builder.symbol(name, -2**63 if symbol.lower is None else symbol.lower, symbol.upper)


def _add_inputs(graph: Graph, signature: Signature, values: Values) -> None:
    declare_symbols(signature, graph.builder)
    for node in signature.placeholders:
        if not isinstance(node.meta["val"], torch.Tensor):
            values[node] = size_of(node.meta["val"])
    for node, given in signature.inputs.items():
        if given.kept:
            number = graph.builder.weight(given.name, given.dtype, [int(str(size)) for size in given.shape])
        else:
            number = graph.builder.input(given.name, given.dtype, [str(size) for size in given.shape], given.symbol)
        if isinstance(node, torch.fx.Node) and given.symbol is None:
            values[node] = transpose(graph.tensor(number), inverse(given.order))


def lower_nodes(graph: Graph, nodes: Iterable[torch.fx.Node], values: Values) -> None:
    """Adds the values of all nodes to those of the placeholders."""
    for node in nodes:
        if node.op not in ("placeholder", "get_attr", "output"):
            graph.node_at_hand = node
            with refusing(node):
                values[node] = _lower_node(graph, node, values)


def _lower_node(graph: Graph, node: torch.fx.Node, values: Values) -> Any:
    def argument(value: Any) -> Any:
        return torch.fx.node.map_arg(value, values.__getitem__)

    known = node.meta.get("val")
    if node.target is python.getitem:
        return argument(node.args[0])[node.args[1]]
    if isinstance(known, (torch.SymInt, int)) and not isinstance(known, bool):
        return size_of(known)
    if node.target is torch.ops.aten._local_scalar_dense.default and isinstance(known, (torch.SymFloat, float)):
        return cast(argument(node.args[0]), "f64")
    if isinstance(known, (torch.SymFloat, float)):
        return _lower_number(graph, node, argument(node.args))
    if isinstance(known, (torch.SymBool, bool)) or node.target in CHECKS:
        return None
    if node.target not in OPERATORS:
        raise Refused("is not among the operators")
    keywords = {name: argument(item) for name, item in node.kwargs.items() if name not in _PLACEMENT}
    return OPERATORS[node.target](graph, *argument(node.args), **keywords)


def _lower_number(graph: Graph, node: torch.fx.Node, arguments: Sequence[Operand]) -> Tensor:
    """A real number that depends on sizes."""
    operands = [x if isinstance(x, Tensor) else scalar(graph, x, "f64") for x in arguments]
    if node.target in _SYMBOLIC:
        return binary(_SYMBOLIC[node.target], *operands)
    if node.target is torch.sym_float:
        return operands[0]
    if node.target is python.neg:
        return -operands[0]
    if node.target in (math.sqrt, torch.sym_sqrt):
        return unary("sqrt", operands[0])
    raise Refused("this function of sizes is not supported")
