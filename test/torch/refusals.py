"""Operators that can't be compiled run as PyTorch's own, said once; fullgraph=True refuses them; explain lists them."""

import subprocess
import sys
import unittest.mock
import warnings

from networks import assert_close, nn, torch

from freestone import Unsupported
from freestone.torch import backend, counters, explain, lowering, partition


def function(x):
    return torch.cummax(x * 2, 1).values.sin() + 1


x = torch.randn(4, 6)
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    compiled = torch.compile(function, backend="freestone")
    assert_close(compiled(x), function(x), "parts")
    assert counters["fallbacks"] > 0 and counters["programs_compiled"] + counters["programs_from_cache"] == 2
    torch._dynamo.reset()
    torch.compile(function, backend="freestone")(x)
texts = [str(warning.message) for warning in said if "freestone" in str(warning.message)]
assert len(texts) == 1 and "aten.cummax.default" in texts[0], texts

torch._dynamo.reset()
try:
    torch.compile(function, backend="freestone", fullgraph=True)(x)
    raise AssertionError("fullgraph=True must refuse")
except torch._dynamo.exc.BackendCompilerFailed as error:
    assert "aten.cummax.default is not among the operators" in str(error), error


def explanations():
    """What is refused by its name, and what only building finds; calls are counted."""
    report, = explain(function, x).graphs
    assert list(report.refused) == ["aten.cummax.default"] and report.own == {"aten.cummax.default": 1}
    assert report.compiled == {"aten.mul.Tensor": 1, "aten.sin.default": 1, "aten.add.Tensor": 1} and report.operators == 4

    def twice(x, y):
        return (x // y).sin() + ((x * 2) // (y + 1)).sin() + nn.functional.adaptive_max_pool2d(z, 5).sum()

    z = torch.randn(1, 2, 7, 7)
    x3 = torch.arange(6)
    explanation = explain(twice, x3, x3 + 1)
    report, = explanation.graphs
    divided = next(name for name in report.own if "div" in name or "floor" in name)
    assert report.own[divided] == 2 and "divides integers by a tensor" in report.refused[divided], report
    assert any("adaptive_max_pool2d" in name for name in report.refused), report
    assert report.compiled["aten.sin.default"] == 2 and report.operators == report.compiled.total() + 3, report
    assert f"{divided} 2" in str(explanation) and "<td>" in explanation._repr_html_()

    def refuse(*arguments):
        raise Unsupported("a program of this kind")

    with unittest.mock.patch.object(lowering, "declare_symbols", refuse):
        report, = explain(lambda x: x.sin() * 2, x).graphs
    assert report.refused == {"a graph": "a program of this kind"} and report.own.total() == 2 and not report.compiled
    before = dict(counters)
    explain(function, x)
    assert dict(counters) == before, "nothing is compiled, and nothing falls back"


def other_versions():
    """Of PyTorch, are refused in one sentence, when the backend is first used."""
    program = """
import torch
torch.__version__ = "2.14.1+cpu"
try:
    torch.compile(torch.sin, backend="freestone")(torch.ones(3))
except Exception as error:
    print(type(error).__name__, error)
"""
    found = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.splitlines()[-1]
    assert found == "Incompatible freestone.torch is for PyTorch 2.15, and this is 2.14.1+cpu: install torch==2.15.*", found


def compiler_refusals():
    """What the compiler refuses of inputs, results or the whole program is said, and is PyTorch's own."""
    def refuse(*arguments):
        raise Unsupported("a program of this kind")

    for module, name in ((backend, "obtain"), (lowering, "declare_symbols")):
        for parts in (False, True):
            with unittest.mock.patch.object(module, name, refuse), warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                partition._said.clear()
                again = (lambda x: torch.cummax(x * 2, 1).values.sin()) if parts else (lambda x: x.sin() * 2)
                torch._dynamo.reset()
                assert_close(torch.compile(again, backend="freestone")(x), again(x), name)
                texts = [str(warning.message) for warning in said if "a program of this kind" in str(warning.message)]
                assert len(texts) == 1 and ("a part of a graph" if parts else "a graph runs") in texts[0], texts
                torch._dynamo.reset()
                if not parts:
                    try:
                        torch.compile(again, backend="freestone", fullgraph=True)(x)
                        raise AssertionError("fullgraph=True must refuse")
                    except torch._dynamo.exc.BackendCompilerFailed as error:
                        assert "a program of this kind" in str(error), error


compiler_refusals()
explanations()
other_versions()
