"""A sample of the table of operators (see operator_table.py): one of every family agrees with PyTorch; and numbers at the
ends of types, which the table has not."""

import math

import networks  # noqa: F401, ends the test where PyTorch is missing
from operator_table import check, op_db, torch

SAMPLE = ["add", "div", "floor_divide", "remainder", "hypot", "pow", "clamp", "where", "exp", "log2", "erfc", "lgamma", "fill", "cat", "expand", "diagonal", "flip", "index_select", "scatter_add",
          "index_put", "sum", "var", "argmax", "cumsum", "sort", "softmax", "mm", "baddbmm", "nn.functional.conv2d",
          "nn.functional.conv_transpose2d", "nn.functional.max_pool2d", "nn.functional.avg_pool2d",
          "nn.functional.layer_norm", "nn.functional.embedding", "nn.functional.cross_entropy"]

torch.set_num_threads(1)
for op in op_db:
    if op.name in SAMPLE and not op.variant_test_name:
        for gradient in (False, True):
            outcome = check(op, torch.float32, gradient, 2)
            assert outcome.startswith("agrees") or outcome == "no gradient", f"{op.name}: {outcome}"


def same(function, *arguments):
    """With the signs of zeros."""
    torch._dynamo.reset()
    actual = torch.compile(function, backend="freestone", fullgraph=True)(*arguments)
    expected = function(*arguments)
    assert torch.allclose(actual, expected, rtol=1e-6, atol=0, equal_nan=True), (arguments, actual, expected)
    if expected.is_floating_point():
        assert torch.equal(actual.signbit() & ~actual.isnan(), expected.signbit() & ~expected.isnan()), (actual, expected)


def ends_of_types():
    powers = torch.tensor([8.0, 1024.0, 2.0**-20])
    assert torch.equal(torch.compile(torch.log2, backend="freestone")(powers), torch.tensor([3.0, 10.0, -20.0]))
    same(torch.erfc, torch.tensor([2.0, 5.0, 9.0, -3.0, math.inf]))
    same(torch.sign, torch.tensor([-0.0, 0.0, math.nan, -3.0]))
    for divisor in (math.inf, -math.inf, 3.0, -0.0):
        same(lambda x: x // divisor, torch.tensor([1.0, -1.0, -0.0, 0.0, 7.5, -7.5, math.inf, math.nan]))
    same(lambda x: 3.0 // x, torch.tensor([math.inf, -math.inf, -0.0, 2.0, -2.0]))
    for integer in (torch.int8, torch.int32, torch.int64):
        limits = torch.iinfo(integer)
        x = torch.tensor([limits.min, limits.min + 1, limits.max, -1, 0, 7], dtype=integer)
        same(lambda x: x // 3, x)
        same(lambda x: x // -3, x)
        same(lambda x: x % -3, x)
        same(lambda x: (x << 3) + (x >> 2) + (x >> 100), x)
    image = torch.ones(1, 1, 5, 7)
    image[0, 0, 0, 0] = math.inf
    same(lambda x: torch.nn.functional.adaptive_avg_pool2d(x, (2, 3)), image)


def truth_values_as_numbers():
    """True is 1 of the tensor's type; every number but 0 is true."""
    def cases(x):
        yield x + True
        yield x * 1.5 + True
        yield torch.fill(x, True)
        yield torch.full_like(x, False)
        yield torch.where(x > 0, True, x)
        yield x.masked_fill(x > 0, True)
        yield x == True  # noqa: E712
        yield torch.clamp(x, False, True)
        yield torch.full((4,), 2, dtype=torch.bool) & (x > 0)

    for dtype in (torch.float32, torch.bfloat16, torch.float64, torch.int32, torch.uint8):
        x = torch.tensor([-2, 0, 1, 3]).to(dtype)
        torch._dynamo.reset()
        found = torch.compile(lambda x: list(cases(x)), backend="freestone", fullgraph=True)(x)
        for actual, expected in zip(found, cases(x), strict=True):
            assert actual.dtype == expected.dtype and torch.equal(actual, expected), (dtype, actual, expected)


def integer_divisors():
    """A divisor that may be zero is PyTorch's own, which raises an error."""
    torch._dynamo.reset()
    divide = torch.compile(lambda x, y: (x + 1) // y, backend="freestone")
    x = torch.arange(4)
    assert torch.equal(divide(x, x + 1), torch.ones(4, dtype=torch.int64))
    try:
        divide(x, x)
        raise AssertionError("a quotient by zero")
    except RuntimeError as error:
        assert "ZeroDivision" in str(error), error


ends_of_types()
integer_divisors()
truth_values_as_numbers()
