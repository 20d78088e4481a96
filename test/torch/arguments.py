"""Arguments that are numbers of Python's, and sizes that PyTorch rounds from real numbers: compiled once for all of them."""

import math

from networks import assert_close, nn, torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv

from freestone.torch import counters
from freestone.torch.backend import compile_graph
from freestone.torch.partition import compile_parts


def programs():
    return counters["programs_compiled"] + counters["programs_from_cache"]


def same(function, calls, most=1, **options):
    """With at most so many programs, none of whose parts is PyTorch's own."""
    torch._dynamo.reset()
    run = torch.compile(function, backend="freestone", fullgraph=True, **options)
    before, fallbacks = programs(), counters["fallbacks"]
    for arguments in calls:
        assert_close(run(*arguments), function(*arguments), arguments[1:])
    assert programs() <= before + most, programs() - before
    assert counters["fallbacks"] == fallbacks


def integers():
    """Of both signs, as numbers and as sizes; Dynamo makes a number a symbol when it meets a second one."""
    x = torch.randn(7, 4)
    numbers = [(x, n) for n in (3, 5, -8, -9, 2**40)]
    same(lambda x, n: x * n, numbers, dynamic=True)
    same(lambda x, n: x * n, numbers, most=2)
    same(lambda x, n: x * (n // 3) + n % 3 - n, numbers[:4], dynamic=True)
    same(lambda x, n: torch.roll(x, n, 0), numbers[:4], dynamic=True)
    same(lambda x, n: torch.arange(n + x.shape[0]) * x.sum(), [(x, n) for n in (3, -5, 8)], dynamic=True)
    same(lambda x, n: x.expand(n, 7, 4) * 1.5, [(x, n) for n in (3, 5, 8)], dynamic=True)


def reals():
    x = torch.randn(7, 4)
    same(lambda x, s: torch.sin(x * s) + s, [(x, s) for s in (0.5, -0.25, 100.0)], dynamic=True)


def rounded_sizes():
    """Quotients of sizes, and products with numbers whose roundings only PyTorch's arithmetic gives: 0.7 * 10 is 7."""
    rows = [(torch.randn(n, 3),) for n in (10, 16, 20, 30, 100)]
    for function in (lambda x: x[:int(x.shape[0] * 1.5) - x.shape[0]] * 2, lambda x: x[:int(x.shape[0] / 3)] * 2,
                     lambda x: x[:int(x.shape[0] * 0.7)] * 2, lambda x: x[:-int(x.shape[0] * 0.7)] * 2,
                     lambda x: x[:round(x.shape[0] * 0.3)] * 2, lambda x: x[:math.ceil(x.shape[0] * 0.3)] * 2,
                     lambda x: torch.arange(0, x.shape[0], 0.1) * x.sum(), lambda x: x * int(x.shape[0] * 0.5 - 12),
                     lambda x: x * round(x.shape[0] * 0.25 - 7), lambda x: x.new_ones(int(x.shape[0] * 1.1)) * x.sum()):
        same(function, rows, dynamic=True)
    pictures = [(torch.randn(2, 3, h, w),) for h, w in ((6, 8), (7, 10), (20, 9))]
    for scale in (1.5, 0.7):
        for mode in ("nearest", "bilinear"):
            same(lambda x: nn.functional.interpolate(x, scale_factor=scale, mode=mode), pictures, dynamic=True)


def gradients_of_rounded_sizes():
    torch._dynamo.reset()

    def function(x):
        return nn.functional.interpolate(x, scale_factor=0.7).square() * int(x.shape[2] * 1.1)

    run = torch.compile(function, backend="freestone", fullgraph=True, dynamic=True)
    before = programs()
    for h, w in ((6, 8), (7, 10), (20, 9)):
        x = torch.randn(2, 3, h, w, requires_grad=True)
        assert_close(*(torch.autograd.grad(f(x).sum(), x)[0] for f in (run, function)), "a gradient")
    assert programs() == before + 2


def numbers_of_graphs():
    """A symbolic float that is an argument of ATen's graph, which Dynamo seldom leaves there, is an input."""
    environment = ShapeEnv()
    source = torch._dynamo.source.ConstantSource("s")
    symbol = environment.create_unspecified_symbol(0.5, source=source, dynamic_dim=DimDynamic.DYNAMIC)
    number = environment.create_symfloatnode(symbol, hint=0.5, source=source)
    mode = FakeTensorMode(shape_env=environment)
    x = mode.from_tensor(torch.randn(3, 4), static_shapes=True)
    graph = make_fx(lambda x, s: [torch.ops.aten.mul.Tensor(x, s * 2), torch.ops.aten.add.Tensor(x, s)],
                    tracing_mode="real")(x, number)
    assert any(isinstance(node.meta["val"], torch.SymFloat) for node in graph.graph.nodes if node.op == "placeholder")
    run = compile_parts(graph, compile_graph, whole=True)
    x = torch.randn(3, 4)
    for s in (0.5, -3.0):
        doubled, added = run([x, s])
        assert_close(doubled, x * (s * 2), "a product")
        assert_close(added, x + s, "a sum")


integers()
reals()
rounded_sizes()
gradients_of_rounded_sizes()
numbers_of_graphs()
