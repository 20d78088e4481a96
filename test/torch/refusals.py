"""Operators that can't be compiled run as PyTorch's own, said once; fullgraph=True refuses them; explain lists them."""

import warnings

from networks import assert_close, torch

from freestone.torch import counters, explain


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
