"""A program of a user's, which scripts/wheel checks by `mypy --strict`: the types that the package tells are those that
it gives, and what the checker must refuse, which an unused `type: ignore` would show, is also refused in a run."""

from __future__ import annotations

import collections
import sys

try:
    import torch
    from typing_extensions import assert_type
except ImportError:
    sys.exit(77)

import freestone
from freestone.torch import Explanation, GraphReport, Step, borrow_threads, compile_step, counters, explain


class Scaled(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 3)

    def forward(self, x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        scaled: torch.Tensor = self.linear(x) * scale
        return scaled


def distance(found: torch.Tensor, expected: torch.Tensor) -> torch.Tensor:
    return (found - expected).abs().mean()


borrow_threads(True)
model = Scaled()
step = assert_type(compile_step(model, distance, torch.optim.SGD(model.parameters(), lr=0.1)), Step)
x, scale, expected = torch.randn(5, 4), torch.ones(5, 1), torch.zeros(5, 3)
for loss in step((x, scale), expected), step({"x": x, "scale": scale}, expected):
    assert assert_type(loss, torch.Tensor).shape == () and not loss.requires_grad
assert assert_type(counters, collections.Counter[str])["steps"] == 2

try:
    step((x, 1), expected)  # type: ignore[arg-type]
    raise AssertionError("a step took a number")
except freestone.InvalidArgument:
    pass
try:
    compile_step(distance, distance, torch.optim.SGD(model.parameters()))  # type: ignore[arg-type]
    raise AssertionError("a step was made of a function")
except freestone.InvalidArgument:
    pass

explained = assert_type(explain(model, x, scale=scale), Explanation)
graph = assert_type(explained.graphs[0], GraphReport)
assert assert_type(graph.compiled, collections.Counter[str]).total() == assert_type(graph.operators, int) > 0
assert not assert_type(graph.refused, dict[str, str]) and not assert_type(explained.breaks, list[str])
