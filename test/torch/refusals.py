"""Operators that can't be compiled run as PyTorch's own, said once; fullgraph=True refuses them; explain lists them."""

import unittest.mock
import warnings

from networks import assert_close, torch

from freestone.torch import counters, explain, partition


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

explanation = explain(function, x)
assert len(explanation.graphs) == 1 and list(explanation.graphs[0].refused) == ["aten.cummax.default"]
assert "aten.cummax.default" in str(explanation) and "<table>" in explanation._repr_html_()


def compiler_refusals():
    """What the compiler refuses of inputs, results or the whole program is said, and is PyTorch's own."""
    from freestone import Unsupported
    from freestone.torch import backend, lowering

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
