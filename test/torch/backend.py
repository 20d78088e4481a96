"""Models forward and backward at several sizes, beside PyTorch, each compiled once for all sizes."""

from networks import MODELS, assert_close, gradients, nn, perceptron, torch

from freestone.torch import counters

def programs():
    return counters["programs_compiled"] + counters["programs_from_cache"]


def compare(name, make, batches):
    torch.manual_seed(0)
    torch._dynamo.reset()
    model = make()
    compiled = torch.compile(model, backend="freestone", dynamic=True, fullgraph=True)
    before = programs()
    model.eval()
    with torch.no_grad():
        for inputs in batches:
            assert_close(compiled(*inputs), model(*inputs), name)
    assert programs() == before + 1, f"{name}: one program for all sizes"
    model.train()
    for inputs in batches:
        expected, wanted = gradients(model, model, inputs)
        actual, found = gradients(model, compiled, inputs)
        assert_close(actual, expected, name)
        largest = max(g.abs().max().item() for g in wanted.values())
        for key, gradient in wanted.items():
            difference = (found[key] - gradient).abs().max().item()
            assert difference <= 1e-4 * largest, f"{name}: gradient of {key}: {difference} of {largest}"
    assert programs() == before + 3, f"{name}: two more for training"


def shared_heads():
    """Several heads of queries to one of keys and values, at every length."""
    def attend(q, k, v):
        return nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)

    for heads in (1, 2, 4):
        torch._dynamo.reset()
        run = torch.compile(attend, backend="freestone", dynamic=True, fullgraph=True)
        for batch, length in ((3, 7), (2, 9)):
            given = [torch.randn(batch, count, length, 8, requires_grad=True) for count in (4, heads, heads)]
            wanted = torch.autograd.grad(attend(*given).square().sum(), given)
            for actual, expected in zip(torch.autograd.grad(run(*given).square().sum(), given), wanted):
                assert_close(actual, expected, "heads")


def real_sizes():
    """PyTorch counts the elements of a range in real numbers."""
    torch._dynamo.reset()

    def count(x):
        numbers = torch.arange(x.shape[0], -x.shape[0], -1.0)
        return numbers * x.sum(), torch.arange(0, x.shape[0], 2.0) * x.sum()

    run = torch.compile(count, backend="freestone", dynamic=True, fullgraph=True)
    for size in (5, 8, 3):
        x = torch.ones(size)
        for actual, expected in zip(run(x), count(x), strict=True):
            assert_close(actual, expected, "range")


def becomes_dynamic():
    """Without dynamic=True, Dynamo makes a size a symbol when it meets a second one."""
    torch._dynamo.reset()
    model = perceptron()
    compiled = torch.compile(model, backend="freestone")
    before = programs()
    with torch.no_grad():
        for n in (3, 5, 8, 13, 21):
            x = torch.randn(n, 20)
            assert_close(compiled(x), model(x), "automatic")
    assert programs() == before + 2


def updates_are_seen():
    """Parameters are read in place: new values count at once, however they were written."""
    torch._dynamo.reset()
    model = perceptron()
    compiled = torch.compile(model, backend="freestone", dynamic=True)
    x = torch.randn(6, 20)
    with torch.no_grad():
        compiled(x)
        model[0].weight.mul_(2)
        assert_close(compiled(x), model(x), "an update in place")
        model[0].weight.data.mul_(0.25)
        assert_close(compiled(x), model(x), "an update of .data")
        model[0].weight.data = torch.randn(32, 20)
        assert_close(compiled(x), model(x), "another memory")


for name, (make, batches) in MODELS.items():
    compare(name, make, batches)
shared_heads()
real_sizes()
becomes_dynamic()
updates_are_seen()
