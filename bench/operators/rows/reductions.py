"""Reductions, normalisations, and what accumulates along an axis."""

from row import Row, fixed, values, weights

SIZES = ("64x1024", "4096x1024")
PICTURES = ("1x64x56x56", "16x256x28x28")
PLAIN = ("ReduceL1", "ReduceL2", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceSum",
         "ReduceSumSquare")


def along(axis):
    return [[size, fixed([axis])] for size in SIZES]


def positive(axis):
    return [[values(size, 0.9, 1.1), fixed([axis])] for size in SIZES]


def channels(size, operands):
    """A picture, and vectors of its channels: a scale and a shift, then a mean and a variance."""
    count = size.split("x")[1]
    return [size, *(weights(count, low=0.5, high=1.5) for _ in range(operands))]


ROWS = [
    *(Row(operator, along(1), ("float32", "bfloat16") if operator in ("ReduceMax", "ReduceMean", "ReduceSum") else
          ("float32",)) for operator in PLAIN),
    *(Row(operator, along(0), variant="of columns") for operator in ("ReduceMax", "ReduceMean", "ReduceSum")),
    *(Row(operator, along(1), ("int64",)) for operator in ("ReduceMax", "ReduceSum")),
    Row("ReduceSum", [[size] for size in SIZES], variant="of all", attributes={"keepdims": 0}),
    Row("ReduceMean", [[size, fixed([2, 3])] for size in PICTURES], variant="of pictures"),
    Row("ReduceSum", [["64x32x64", fixed([1])], ["256x128x128", fixed([1])]], variant="in the middle"),
    *(Row(operator, positive(1)) for operator in ("ReduceLogSum", "ReduceProd")),
    *(Row(operator, [[size] for size in SIZES], ("float32", "int64"), attributes={"axis": 1})
      for operator in ("ArgMax", "ArgMin")),
    Row("ArgMax", [[size] for size in SIZES], variant="of columns", attributes={"axis": 0}),
    *(Row(operator, [[size] for size in SIZES], types, attributes={"axis": -1})
      for operator, types in (("Softmax", ("float32", "bfloat16")), ("LogSoftmax", ("float32",)),
                              ("Hardmax", ("float32",)))),
    Row("Softmax", [["1x64x32x32"], ["8x64x64x64"]], variant="of channels", attributes={"axis": 1}),
    Row("LayerNormalization", [["128x768", weights("768"), weights("768")], ["4096x768", weights("768"), weights("768")]],
        ("float32", "bfloat16")),
    Row("RMSNormalization", [["128x768", weights("768")], ["4096x768", weights("768")]]),
    Row("GroupNormalization", [channels(size, 2) for size in PICTURES], attributes={"num_groups": 32}),
    Row("InstanceNormalization", [channels(size, 2) for size in PICTURES]),
    Row("BatchNormalization", [channels(size, 4) for size in PICTURES]),
    Row("LpNormalization", [[size] for size in SIZES]),
    Row("LpNormalization", [[size] for size in SIZES], variant="L1", attributes={"p": 1}),
    Row("MeanVarianceNormalization", [[size] for size in PICTURES]),
    Row("LRN", [[size] for size in PICTURES], attributes={"size": 5}),
    Row("CumSum", [[size, fixed(1)] for size in SIZES], ("float32", "int64")),
    Row("CumSum", [[size, fixed(0)] for size in SIZES], variant="of columns"),
    Row("CumProd", [[values(size, 0.99, 1.01), fixed(1)] for size in SIZES]),
    Row("SoftmaxCrossEntropyLoss", [["64x1000", values("64", 0, 1000, "int64")],
                                    ["2048x10000", values("2048", 0, 10000, "int64")]]),
    Row("NegativeLogLikelihoodLoss", [["64x1000", values("64", 0, 1000, "int64")],
                                      ["2048x10000", values("2048", 0, 10000, "int64")]]),
]
