"""Operators of single elements."""

from row import Row, fixed, values

TYPICAL, LARGE = "64x1024", "4096x1024"
ONE = [[TYPICAL], [LARGE]]
TWO = [[TYPICAL] * 2, [LARGE] * 2]
BOTH = ("float32", "bfloat16")
NUMBERS = ("float32", "int64", "bfloat16")


def within(low, high, dtype=None):
    """One operand of numbers between two."""
    return [[values(TYPICAL, low, high, dtype)], [values(LARGE, low, high, dtype)]]


def pairs(low, high, dtype=None):
    return [[values(size, low, high, dtype)] * 2 for size in (TYPICAL, LARGE)]


ACTIVATIONS = ("Celu", "Elu", "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu", "Mish", "Relu", "Selu", "Shrink",
               "Sigmoid", "Softplus", "Softsign", "Swish", "Tanh", "ThresholdedRelu")
FUNCTIONS = ("Asinh", "Atan", "Cos", "Cosh", "Erf", "Exp", "Sin", "Sinh", "Tan", "Ceil", "Floor", "Round")
BOOLEANS = ("And", "Or", "Xor")
COMPARISONS = ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")

ROWS = [
    *(Row(operator, ONE, BOTH if operator in ("Gelu", "Relu", "Sigmoid", "Tanh") else ("float32",))
      for operator in ACTIVATIONS),
    Row("Gelu", ONE, variant="tanh", attributes={"approximate": "tanh"}),
    *(Row(operator, ONE, BOTH if operator in ("Erf", "Exp") else ("float32",)) for operator in FUNCTIONS),
    *(Row(operator, ONE, ("float32", "int64")) for operator in ("Abs", "Neg", "Sign")),
    *(Row(operator, within(-0.99, 0.99)) for operator in ("Acos", "Asin", "Atanh")),
    Row("Acosh", within(1.0, 9.0)),
    *(Row(operator, within(0.1, 9.0)) for operator in ("Log", "Reciprocal", "Sqrt")),
    *(Row(operator, TWO, NUMBERS) for operator in ("Add", "Mul", "Sub")),
    *(Row(operator, [[TYPICAL, "1024"], [LARGE, "1024"]], variant="of rows") for operator in ("Add", "Mul")),
    Row("Add", [["64x1024", "64x1"], ["4096x1024", "4096x1"]], variant="of columns"),
    Row("Add", [["1024", "64x1x1024"], ["8x128x1024", "8x1x1024"]], variant="of batches"),
    *(Row(operator, TWO, ("float32", "int64")) for operator in ("Max", "Min")),
    *(Row(operator, [[size] * 3 for size in (TYPICAL, LARGE)]) for operator in ("Mean", "Sum")),
    Row("Div", TWO, BOTH),
    Row("Div", pairs(1, 1000, "int64"), ("int64",)),
    Row("Div", [[values(size, 1, 1000), fixed(7)] for size in (TYPICAL, LARGE)], ("int64",), variant="by a constant"),
    Row("Mod", pairs(1, 1000, "int64"), ("int64",)),
    Row("Mod", [[values(size, 1, 1000), fixed(7)] for size in (TYPICAL, LARGE)], ("int64",), variant="by a constant"),
    Row("Mod", pairs(1.0, 9.0), variant="fmod", attributes={"fmod": 1}),
    Row("Pow", [[values(size, 0.1, 3.0), values(size, -2.0, 2.0)] for size in (TYPICAL, LARGE)]),
    Row("Pow", [[size, fixed(2.0, "float32")] for size in (TYPICAL, LARGE)], variant="2"),
    Row("Pow", [[values(size, 0.1, 3.0), fixed(1.5, "float32")] for size in (TYPICAL, LARGE)], variant="1.5"),
    Row("PRelu", [[TYPICAL, "1024"], [LARGE, "1024"]]),
    Row("Clip", [[size, fixed(-1.0, "float32"), fixed(1.0, "float32")] for size in (TYPICAL, LARGE)]),
    Row("Clip", [[size, fixed(-10), fixed(10)] for size in (TYPICAL, LARGE)], ("int64",)),
    *(Row(operator, TWO, ("bool",)) for operator in BOOLEANS),
    Row("Not", ONE, ("bool",)),
    *(Row(operator, TWO, ("float32", "int64")) for operator in COMPARISONS),
    Row("IsInf", ONE),
    Row("IsNaN", ONE),
    *(Row(operator, pairs(0, 1000), ("int32",)) for operator in ("BitwiseAnd", "BitwiseOr", "BitwiseXor")),
    Row("BitwiseNot", ONE, ("int32",)),
    Row("BitShift", [[values(size, 0, 1000), values(size, 0, 8)] for size in (TYPICAL, LARGE)], ("uint32",),
        attributes={"direction": "LEFT"}),
    Row("Where", [[values(size, dtype="bool"), size, size] for size in (TYPICAL, LARGE)], NUMBERS),
    Row("Cast", ONE, variant="to bfloat16", attributes={"to": 16}),
    Row("Cast", ONE, variant="to float16", attributes={"to": 10}),
    Row("Cast", ONE, variant="to int64", attributes={"to": 7}),
    Row("Cast", ONE, variant="to int8", attributes={"to": 3}),
    Row("Cast", ONE, ("int64", "bfloat16"), variant="to float32", attributes={"to": 1}),
    Row("Cast", ONE, ("float32",), variant="to bool", attributes={"to": 9}),
    Row("CastLike", [[size, fixed([0], "int32")] for size in (TYPICAL, LARGE)]),
    Row("Dropout", ONE),
    Row("SwiGLU", TWO),
]
