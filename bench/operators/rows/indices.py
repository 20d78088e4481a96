"""Operators whose indices are data."""

from row import Row, fixed, values

ALL = ("float32", "int64", "bfloat16")
SIZES = (("64x1024", 1024), ("2048x1024", 1024))


def elements(axis):
    """Data and as many indices along an axis."""
    return [[size, values(size, 0, int(size.split("x")[axis]), "int64")] for size, _ in SIZES]


def scatter(reduction):
    return Row("ScatterElements", [[*operands, operands[0]] for operands in elements(1)], variant=reduction,
               attributes={"axis": 1, "reduction": reduction} if reduction else {"axis": 1})


def scatter_rows(reduction):
    """Rows that are no two the same, so that all orders give the same result."""
    return Row("ScatterND", [["1000x256", values("64x1", 0, 1000, "int64"), "64x256"],
                             ["50000x256", values("4096x1", 0, 50000, "int64"), "4096x256"]],
               variant=reduction, attributes={"reduction": reduction} if reduction else {}, compared=bool(reduction))


ROWS = [
    Row("Gather", [["1000x256", values("64", 0, 1000, "int64")], ["50000x768", values("8x512", 0, 50000, "int64")]], ALL),
    Row("Gather", [["64x1000", values("256", 0, 1000, "int64")], ["1024x1000", values("4096", 0, 1000, "int64")]],
        variant="of columns", attributes={"axis": 1}),
    *(Row("GatherElements", elements(axis), variant=variant, attributes={"axis": axis})
      for axis, variant in ((0, "of columns"), (1, "of rows"))),
    Row("GatherND", [["64x64x32", values("256x2", 0, 64, "int64")], ["512x512x32", values("16384x2", 0, 512, "int64")]]),
    Row("GatherND", [["256x256", values("4096x2", 0, 256, "int64")], ["1024x1024", values("262144x2", 0, 1024, "int64")]],
        variant="of elements"),
    scatter(""),
    scatter("add"),
    scatter("max"),
    scatter_rows(""),
    scatter_rows("add"),
    Row("Scatter", [[*operands, operands[0]] for operands in elements(1)], attributes={"axis": 1}, opset=9),
    Row("TensorScatter", [["4x8x128x64", "4x8x1x64", values("4", 0, 128, "int64")],
                          ["16x16x1024x64", "16x16x1x64", values("16", 0, 1024, "int64")]]),
    Row("OneHot", [[values("256", 0, 100, "int64"), fixed(100), fixed([0, 1], "float32")],
                   [values("8192", 0, 1000, "int64"), fixed(1000), fixed([0, 1], "float32")]]),
    Row("Compress", [["1024x256", values("1024", dtype="bool")], ["16384x256", values("16384", dtype="bool")]],
        attributes={"axis": 0}),
    *(Row("NonMaxSuppression", [[values(f"1x{boxes}x4", 0.0, 100.0), values(f"1x{classes}x{boxes}", 0.0, 1.0), fixed([100]),
                                 fixed([0.5], "float32"), fixed([threshold], "float32")]
                                for boxes, classes in ((1000, 1), (8400, 80))], variant=variant,
          attributes={"center_point_box": 1})
      for threshold, variant in ((0.9, "of few boxes"), (0.0, "of all boxes"))),
    Row("NonZero", [[values("64x1024", dtype="bool")], [values("2048x1024", dtype="bool")]]),
]
