"""What is compiled of a graph: all of it, or the parts that can be, with PyTorch's own operators between them."""

from __future__ import annotations

import operator as python
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

from freestone.torch.calls import Call
from freestone.torch.compiled import CompiledGraph
from freestone.torch.counters import counters
from freestone.torch.dtypes import NAMES
from freestone.torch.lowering import CHECKS
from freestone.torch.operators import OPERATORS
from freestone.torch.signature import Unlowered

#: Raises `Unlowered` where an operator can't be compiled.
CompileWhole = Callable[[torch.fx.GraphModule], CompiledGraph]

_said: set[str] = set()


class Support(OperatorSupportBase):
    """Operators of the table whose tensors have types that the compiler has, but those that it refused."""

    def __init__(self, refused: dict[torch.fx.Node, str]):
        self.refused = refused

    def reason(self, node: torch.fx.Node) -> str | None:
        """Why a node can't be compiled; None where it may be."""
        if node in self.refused:
            return self.refused[node]
        if node.op != "call_function":
            return None if node.op in ("get_attr", "placeholder", "output") else f"is a {node.op}"
        value = node.meta.get("val")
        if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool, int, float)):
            return None
        if node.target is python.getitem:
            return self.reason(node.args[0]) if isinstance(node.args[0], torch.fx.Node) else None
        if node.target not in OPERATORS and node.target not in CHECKS:
            return "is not among the operators"
        values = [value, *(used.meta.get("val") for used in node.all_input_nodes)]
        for part in values:
            for tensor in part if isinstance(part, (list, tuple)) else [part]:
                if isinstance(tensor, torch.Tensor):
                    if tensor.dtype not in NAMES:
                        return f"has elements of {tensor.dtype}"
                    if tensor.device.type != "cpu":
                        return f"has tensors on {tensor.device}"
        return None

    def is_node_supported(self, submodules: Mapping[str, torch.nn.Module], node: torch.fx.Node) -> bool:
        return node.op == "call_function" and self.reason(node) is None


class NotWhole(RuntimeError):
    """`fullgraph=True` asks for the whole graph, of which an operator can't be compiled."""


class Fallbacks:
    """Says what runs as PyTorch's own, and counts it."""

    def operator(self, node: torch.fx.Node, reason: str) -> None:
        """Once for every operator."""
        self._say(f"the operator {node.target}", f"it {reason}", once=str(node.target))

    def graph(self, what: str, module: torch.fx.GraphModule, reason: str) -> None:
        """Of what can't be compiled for a reason that leaving out its operators does not change; once for every reason."""
        self._say(what, reason, once=reason)

    def _say(self, what: str, reason: str, once: str) -> None:
        counters["fallbacks"] += 1
        if once not in _said:
            _said.add(once)
            warnings.warn(f"freestone: {what} runs as PyTorch's own: {reason}", stacklevel=3)


def compile_parts(module: torch.fx.GraphModule, compile_whole: CompileWhole, whole: bool,
                  fallbacks: Fallbacks | None = None) -> CompiledGraph:
    """Raises `NotWhole` where `whole` is asked for and can't be; `fallbacks` are told what remains PyTorch's own."""
    fallbacks = fallbacks or Fallbacks()
    refused: dict[torch.fx.Node, str] = {}
    while True:
        support = Support(refused)
        unsupported = {node: reason for node in module.graph.nodes if (reason := support.reason(node)) is not None}
        if not unsupported:
            try:
                return compile_whole(module)
            except Unlowered as problem:
                if problem.node.op != "call_function":
                    if whole:
                        raise NotWhole(f"fullgraph=True: the graph can't be compiled: {problem.reason}") from problem
                    fallbacks.graph("a graph", module, problem.reason)
                    return _eager(module)
                refused[problem.node] = problem.reason
                unsupported = refused
        named = {node: reason for node, reason in unsupported.items() if node.target is not python.getitem}
        if whole:
            reasons = "; ".join(sorted({f"the operator {node.target} {reason}" for node, reason in named.items()}))
            raise NotWhole(f"fullgraph=True: {reasons}")
        try:
            fused = _compile_fused(module, support, compile_whole, fallbacks)
        except Unlowered as problem:
            refused[problem.node] = problem.reason
            continue
        for node, reason in named.items():
            fallbacks.operator(node, reason)
        return fused


def _eager(module: torch.fx.GraphModule) -> CompiledGraph:
    def call(arguments: list[Any]) -> Any:
        taken = list(arguments)
        arguments.clear()
        return module(*taken)

    return CompiledGraph(call)


def _compile_fused(module: torch.fx.GraphModule, support: Support, compile_whole: CompileWhole,
                   fallbacks: Fallbacks) -> CompiledGraph:
    """Raises `Unlowered` with a further node of the module that can't be compiled."""
    import copy

    copied = torch.fx.GraphModule(module, copy.deepcopy(module.graph))
    names = {node.name: node for node in module.graph.nodes}
    inner = Support({node: support.refused[names[node.name]] for node in copied.graph.nodes
                     if names.get(node.name) in support.refused})
    fused = CapabilityBasedPartitioner(copied, inner, allows_single_node_partition=True).partition_and_fuse()
    for node in fused.graph.nodes:
        if node.op == "call_module":
            part = fused.get_submodule(node.target)
            assert isinstance(part, torch.fx.GraphModule)
            try:
                setattr(fused, node.target, _Part(part, compile_whole(part)))
            except Unlowered as problem:
                original = names.get(problem.node.name) if problem.node.op == "call_function" else None
                if original is not None and original not in support.refused:
                    raise Unlowered(original, problem.reason) from problem
                fallbacks.graph("a part of a graph", part, problem.reason)
    return _eager(fused)


class _Part(torch.nn.Module):
    """A compiled part of a graph."""

    def __init__(self, module: torch.fx.GraphModule, call: Call):
        super().__init__()
        self.call = call
        self.is_list = isinstance(next(iter(reversed(module.graph.nodes))).args[0], (list, tuple))

    def forward(self, *arguments: Any) -> Any:
        results = self.call(list(arguments))
        return results if self.is_list else results[0]
