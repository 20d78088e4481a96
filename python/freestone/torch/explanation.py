"""What compiles of a model, and what does not."""

from __future__ import annotations

import collections
import dataclasses
import html
import uuid
from collections.abc import Callable
from typing import Any, NoReturn

import torch

from freestone import _freestone
from freestone.torch.backend import autograd
from freestone.torch.compiled import CompiledGraph, obtain
from freestone.torch.lowering import lower
from freestone.torch.partition import Fallbacks, compile_parts
from freestone.torch.signature import Signature


def _calls(module: torch.fx.GraphModule) -> list[str]:
    return [str(node.target) for node in module.graph.nodes if isinstance(node.target, torch._ops.OpOverload)]


def _counted(calls: collections.Counter[str]) -> str:
    return ", ".join(f"{name} {count}" if count > 1 else name for name, count in sorted(calls.items()))


@dataclasses.dataclass
class GraphReport:
    """One graph of ATen's operators."""

    nodes: int
    compiled: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    """By name, the number of calls that are compiled."""
    own: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    """By name, the number of calls that run as PyTorch's own."""
    refused: dict[str, str] = dataclasses.field(default_factory=dict)
    """Why: by the name of an operator, or "a graph" or "a part of a graph" where it is none of an operator."""

    @property
    def operators(self) -> int:
        """Calls of operators."""
        return self.compiled.total() + self.own.total()

    def __str__(self) -> str:
        lines = [f"{self.operators} calls of operators, {self.compiled.total()} compiled"]
        if self.compiled:
            lines.append(f"  compiled: {_counted(self.compiled)}")
        if self.own:
            lines.append(f"  PyTorch's own: {_counted(self.own)}")
        return "\n".join(lines + [f"  {name}: {reason}" for name, reason in self.refused.items()])


@dataclasses.dataclass
class Explanation:
    """What `explain` returns; it shows itself as text and, in notebooks, as a table."""

    graphs: list[GraphReport]
    breaks: list[str]
    """Why Dynamo broke the model into several graphs."""

    def __str__(self) -> str:
        lines = [f"{len(self.graphs)} graphs"]
        lines += [f"graph {number}: {graph}" for number, graph in enumerate(self.graphs)]
        return "\n".join(lines + [f"break: {reason}" for reason in self.breaks])

    def _repr_html_(self) -> str:
        def row(number: int, graph: GraphReport) -> str:
            reasons = "<br>".join(html.escape(f"{name}: {reason}") for name, reason in graph.refused.items())
            cells = number, graph.operators, html.escape(_counted(graph.compiled)), html.escape(_counted(graph.own)), reasons
            return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"

        heads = "graph", "calls", "compiled", "run as PyTorch's own", "why"
        return ("<table><tr>" + "".join(f"<th>{head}</th>" for head in heads) + "</tr>"
                + "".join(row(number, graph) for number, graph in enumerate(self.graphs)) + "</table>")


class _Listed(Fallbacks):
    def __init__(self, report: GraphReport):
        self.report = report

    def operator(self, node: torch.fx.Node, reason: str) -> None:
        if isinstance(node.target, torch._ops.OpOverload):
            self.report.own[str(node.target)] += 1
        self.report.refused[str(node.target)] = reason

    def graph(self, what: str, module: torch.fx.GraphModule, reason: str) -> None:
        self.report.own.update(_calls(module))
        self.report.refused[what] = reason


class _Built(Exception):
    """A graph was built, which is all that was asked."""


def _build(module: torch.fx.GraphModule) -> CompiledGraph:
    """Raises `Unlowered` where an operator can't be built."""
    signature = Signature(module)

    def build(builder: _freestone.Graph) -> NoReturn:
        lower(signature, builder)
        raise _Built

    if signature.results:
        try:
            obtain(f"explanation {uuid.uuid4()}", build)  # of no program in the cache
        except _Built:
            pass
    return CompiledGraph(lambda arguments: module(*arguments))


def explain(model: Callable[..., object], *inputs: Any, **keywords: Any) -> Explanation:
    """Traces a model with these inputs, builds what would be compiled, and tells for every graph, of both directions where
    gradients are asked for, which operators are in it and which can't be. Compiles no code; what only code generation
    would refuse is not seen.

    Calls the model, whose errors it raises, and resets Dynamo: what `torch.compile` has made in this process is made
    anew.
    """
    graphs: list[GraphReport] = []

    def compiler(module: torch.fx.GraphModule, example_inputs: object) -> CompiledGraph:
        report = GraphReport(len(module.graph.nodes))
        compile_parts(module, _build, False, _Listed(report))
        report.compiled = collections.Counter(_calls(module)) - report.own
        graphs.append(report)
        return CompiledGraph(lambda arguments: module(*arguments))

    from torch._dynamo.utils import counters

    torch._dynamo.reset()
    before = dict(counters["graph_break"])
    with torch._functorch.config.patch(force_non_lazy_backward_lowering=True, enable_autograd_cache=False):
        torch.compile(model, backend=autograd(compiler))(*inputs, **keywords)
    torch._dynamo.reset()
    return Explanation(graphs, [reason for reason, count in counters["graph_break"].items()
                                if count > before.get(reason, 0)])
