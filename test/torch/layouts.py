"""Tensors whose memory has another order are read and written in place; those with gaps are copied, and counted."""

from networks import assert_close, convolutional, perceptron, torch

from freestone.torch import counters


def compiled(function):
    torch._dynamo.reset()
    return torch.compile(function, backend="freestone", dynamic=False, fullgraph=True)


def reading():
    before = counters["copied_inputs"]
    with torch.no_grad():
        model = convolutional().eval()
        x = torch.randn(2, 3, 16, 20).to(memory_format=torch.channels_last)
        assert_close(compiled(model)(x), model(x), "channels_last")
        x = torch.randn(20, 6).t()
        model = perceptron()
        assert_close(compiled(model)(x), model(x), "transposed")
        assert counters["copied_inputs"] == before
        x = torch.randn(6, 40)[:, ::2]
        assert_close(compiled(model)(x), model(x), "with gaps")
        assert counters["copied_inputs"] == before + 1


def writing():
    function = compiled(lambda x: ((x * 2).to(memory_format=torch.channels_last), x.transpose(1, 3) + 1))
    x = torch.randn(2, 3, 4, 5)
    twice, moved = function(x)
    assert twice.is_contiguous(memory_format=torch.channels_last)
    assert_close(twice, x * 2, "a result in another order")
    assert_close(moved, x.transpose(1, 3) + 1, "a transposed result")
    assert moved.stride() == (x.transpose(1, 3) + 1).stride()


def aliases():
    def function(x, y):
        y.add_(1)
        return x, x[1:], y * 2

    x, y = torch.randn(4, 3), torch.zeros(3)
    same, part, double = compiled(function)(x, y)
    assert same.data_ptr() == x.data_ptr() and part.data_ptr() == x[1:].data_ptr()
    assert (y == 1).all() and (double == 2).all(), "arguments are written"


def views():
    """Of arguments and of other results, with sizes that are symbols."""
    functions = {
        "a part": lambda x: x[:, :x.shape[0]],
        "repeated": lambda x: x[:, None].expand(-1, x.shape[0] - 2, -1),
        "of a result": lambda x: (lambda y: (y, y[1:, :x.shape[0]]))(x * 2),
        "of a slice": lambda x: x[1:, 2:].t(),
    }
    for name, function in functions.items():
        for is_trained in (False, True):
            torch._dynamo.reset()
            run = torch.compile(function, backend="freestone", dynamic=True, fullgraph=True)
            for rows, columns in ((6, 9), (4, 7)):
                x = torch.randn(rows, columns, requires_grad=is_trained)
                for actual, expected in zip(*(found if isinstance(found, tuple) else (found,)
                                              for found in (run(x), function(x)))):
                    assert torch.equal(actual, expected) and actual.stride() == expected.stride(), name
                    assert (actual.data_ptr() == x.data_ptr()) == (expected.data_ptr() == x.data_ptr()), name


def means():
    """A mean of pictures whose channels come last: PyTorch gives it that order, and its gradient, by strides."""
    torch._dynamo.reset()
    before = counters["fallbacks"]
    block = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 1), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Conv2d(8, 4, 1))
    run = torch.compile(block, backend="freestone", dynamic=True)
    for batch, height, width in ((2, 6, 9), (4, 7, 5)):
        x = torch.randn(batch, height, width, 3).permute(0, 3, 1, 2).requires_grad_()
        gradients = [torch.autograd.grad(function(x).square().sum(), [x, *block.parameters()]) for function in (run, block)]
        for actual, expected in zip(*gradients):
            assert_close(actual, expected, "gradients of a mean")
    assert counters["fallbacks"] == before


def nothing():
    """Tensors without elements, numbers, a graph without operators."""
    x = torch.empty(0, 20)
    with torch.no_grad():
        assert compiled(perceptron())(x).shape == (0, 10)
    assert_close(compiled(lambda x: x * 3)(torch.tensor(2.0)), torch.tensor(6.0), "rank 0")
    assert compiled(lambda x: x)(x) is not None


reading()
writing()
aliases()
views()
means()
nothing()
