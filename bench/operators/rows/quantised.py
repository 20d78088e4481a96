"""Quantised numbers."""

from row import Row, fixed, values, weights

SIZES = ("64x1024", "4096x1024")


def scale(number):
    return fixed(number, "float32")


def eight(shape, dtype="uint8", constant=False):
    return values(shape, *((0, 256) if dtype == "uint8" else (-128, 128)), dtype, constant)


def product(shape, filters):
    return [eight(shape), scale(0.02), fixed(128, "uint8"), eight(filters, "int8", True), scale(0.01), fixed(0, "int8"),
            scale(0.1), fixed(128, "uint8")]


def pair(shape):
    return [eight(shape), scale(0.02), fixed(128, "uint8"), eight(shape), scale(0.03), fixed(120, "uint8"), scale(0.05),
            fixed(125, "uint8")]


def runtime(operator, cases, **attributes):
    """An operator of ONNX Runtime's own."""
    return Row(operator, cases, attributes=attributes, domain="com.microsoft")


PARAMETERS = [scale(0.02), fixed(128, "uint8"), scale(0.03), fixed(125, "uint8")]
MATRICES = (("64x256", "256x256"), ("512x1024", "1024x1024"))
PICTURES = ("1x64x56x56", "16x128x28x28")
ROWS = [
    Row("QuantizeLinear", [[size, scale(0.02), fixed(128, "uint8")] for size in SIZES]),
    Row("QuantizeLinear", [[size, weights("1024", low=0.01, high=0.05), fixed([0] * 1024, "int8")] for size in SIZES],
        variant="by channel", attributes={"axis": 1}),
    Row("DequantizeLinear", [[eight(size), scale(0.02), fixed(128, "uint8")] for size in SIZES]),
    Row("DequantizeLinear", [[eight(size, "int8"), weights("1024", low=0.01, high=0.05), fixed([0] * 1024, "int8")]
                             for size in SIZES], variant="by channel", attributes={"axis": 1}),
    Row("DynamicQuantizeLinear", [[size] for size in SIZES], outputs=3),
    Row("MatMulInteger", [[eight("64x256"), eight("256x256", "int8", True), fixed(128, "uint8"), fixed(0, "int8")],
                          [eight("512x1024"), eight("1024x1024", "int8", True), fixed(128, "uint8"), fixed(0, "int8")]]),
    Row("QLinearMatMul", [product("64x256", "256x256"), product("512x1024", "1024x1024")]),
    Row("ConvInteger", [[eight("1x32x28x28"), eight("32x32x3x3", "int8", True), fixed(128, "uint8")],
                        [eight("4x64x56x56"), eight("64x64x3x3", "int8", True), fixed(128, "uint8")]],
        attributes={"pads": [1, 1, 1, 1]}),
    Row("QLinearConv", [product("1x32x28x28", "32x32x3x3"), product("4x64x56x56", "64x64x3x3")],
        attributes={"pads": [1, 1, 1, 1]}),
    *(runtime(operator, [pair(size) for size in SIZES]) for operator in ("QLinearAdd", "QLinearMul")),
    runtime("QLinearConcat", [[scale(0.05), fixed(125, "uint8"), *pair(size)[:6]] for size in SIZES], axis=1),
    *(runtime(operator, [[eight(size), *PARAMETERS] for size in SIZES])
      for operator in ("QLinearSigmoid", "QLinearLeakyRelu")),
    runtime("QLinearSoftmax", [[eight(size), *PARAMETERS] for size in SIZES], opset=13),
    runtime("QLinearAveragePool", [[eight(size), *PARAMETERS] for size in PICTURES], kernel_shape=[2, 2], strides=[2, 2]),
    runtime("QLinearGlobalAveragePool", [[eight(size), *PARAMETERS] for size in PICTURES]),
    runtime("QLinearReduceMean", [[eight(size), *PARAMETERS] for size in SIZES], axes=[1]),
    runtime("QGemm", [[*product(*shapes)[:6], None, *product(*shapes)[6:]] for shapes in MATRICES]),
    runtime("MatMulIntegerToFloat", [[eight(left), eight(right, "int8", True), scale(0.02), scale(0.01),
                                      fixed(128, "uint8"), fixed(0, "int8")] for left, right in MATRICES]),
    runtime("DynamicQuantizeMatMul", [[left, eight(right, "int8", True), scale(0.01)] for left, right in MATRICES]),
]
