"""What compiles of a model, and what does not."""

from __future__ import annotations

import dataclasses
import html

import torch

from freestone.torch.backend import autograd
from freestone.torch.compiled import CompiledGraph
from freestone.torch.partition import find_refused


@dataclasses.dataclass
class GraphReport:
    """One graph of ATen's operators."""

    nodes: int
    operators: int
    """Calls of operators in it."""
    refused: dict[str, str]
    """The operators that run as PyTorch's own, and why."""

    def __str__(self) -> str:
        parts = [f"{self.operators} operators, {self.operators - len(self.refused)} compiled"]
        return "\n".join(parts + [f"  {name} {reason}" for name, reason in self.refused.items()])


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
        rows = "".join(
            f"<tr><td>{number}</td><td>{graph.operators}</td><td>"
            + "<br>".join(html.escape(f"{name} {reason}") for name, reason in graph.refused.items()) + "</td></tr>"
            for number, graph in enumerate(self.graphs))
        return f"<table><tr><th>graph</th><th>operators</th><th>run as PyTorch's own</th></tr>{rows}</table>"


def explain(model, *inputs, **keywords) -> Explanation:
    """Traces a model with these inputs, and tells for every graph, of both directions where gradients are asked for,
    which operators can't be compiled. Compiles no code."""
    graphs: list[GraphReport] = []

    def compiler(module, example_inputs):
        calls = [node for node in module.graph.nodes if isinstance(node.target, torch._ops.OpOverload)]
        refused = find_refused(module)
        graphs.append(GraphReport(len(module.graph.nodes), len(calls),
                                  {str(node.target): reason for node, reason in refused.items()}))
        return CompiledGraph(lambda arguments: module(*arguments))

    from torch._dynamo.utils import counters

    torch._dynamo.reset()
    before = dict(counters["graph_break"])
    with torch._functorch.config.patch(force_non_lazy_backward_lowering=True, enable_autograd_cache=False):
        torch.compile(model, backend=autograd(compiler))(*inputs, **keywords)
    torch._dynamo.reset()
    return Explanation(graphs, [reason for reason, count in counters["graph_break"].items()
                                if count > before.get(reason, 0)])
