"""Operators that move elements, or make them of sizes."""

from row import Row, fixed, values

SIZES = ("64x1024", "4096x1024")
PICTURES = ("1x64x56x56", "16x64x112x112")
ALL = ("float32", "int64", "bfloat16")


def transpose(order, *sizes, dtypes=("float32",)):
    return Row("Transpose", [[size] for size in sizes], dtypes, variant=" ".join(map(str, order)),
               attributes={"perm": order})


def blocks(operator):
    return Row(operator, [[size] for size in PICTURES], attributes={"blocksize": 2})


ROWS = [
    transpose([1, 0], "256x256", "1000x777", "4096x1024", dtypes=ALL),
    transpose([0, 2, 1, 3], "1x128x12x64", "8x512x12x64"),
    transpose([0, 2, 3, 1], *PICTURES),
    transpose([0, 3, 1, 2], "1x56x56x64", "16x112x112x64"),
    transpose([2, 1, 0], "32x64x32", "128x256x128"),
    *(Row("Concat", [[size] * 2 for size in SIZES], variant=variant, attributes={"axis": axis})
      for axis, variant in ((0, "of rows"), (1, "of columns"))),
    Row("Split", [[size] for size in SIZES], variant="of columns", outputs=2, attributes={"axis": 1, "num_outputs": 2}),
    Row("Slice", [[size, fixed([1, 3]), fixed([-1, -3])] for size in SIZES]),
    Row("Slice", [[size, fixed([0]), fixed([1024]), fixed([1]), fixed([2])] for size in SIZES], variant="every other"),
    Row("Slice", [[size, fixed([-1]), fixed([-2000]), fixed([1]), fixed([-1])] for size in SIZES], variant="backwards"),
    *(Row("Pad", [[size, fixed([0, 0, 1, 1, 0, 0, 1, 1])] for size in PICTURES], variant=mode, attributes={"mode": mode})
      for mode in ("constant", "edge", "reflect")),
    Row("Expand", [["64x1", fixed([64, 1024])], ["4096x1", fixed([4096, 1024])]]),
    Row("Expand", [["1x1024", fixed([64, 1024])], ["1x1024", fixed([4096, 1024])]], variant="of a row"),
    Row("Tile", [["64x256", fixed([2, 4])], ["1024x256", fixed([4, 4])]]),
    blocks("DepthToSpace"),
    blocks("SpaceToDepth"),
    Row("Trilu", [["128x128"], ["8x1024x1024"]], ("float32", "int64")),
    Row("ReverseSequence", [["64x32x64", values("32", 1, 64, "int64")], ["256x64x256", values("64", 1, 256, "int64")]]),
    Row("CenterCropPad", [["256x256x3", fixed([224, 224])], ["1024x1024x3", fixed([896, 1200])]],
        attributes={"axes": [0, 1]}),
    Row("Identity", [[size] for size in SIZES]),
    Row("Reshape", [[size, fixed([-1, 256])] for size in SIZES]),
    Row("Flatten", [[size] for size in PICTURES]),
    Row("Squeeze", [[f"1x{size}", fixed([0])] for size in SIZES]),
    Row("Unsqueeze", [[size, fixed([0])] for size in SIZES]),
    Row("ConstantOfShape", [[values("2", 256, 257, "int64")], [values("2", 2048, 2049, "int64")]]),
    Row("EyeLike", [["256x256"], ["2048x2048"]]),
    Row("Range", [[fixed(0), values("", 65536, 65537), fixed(1)], [fixed(0), values("", 4194304, 4194305), fixed(1)]],
        ("int64",)),
    *(Row(f"{name}Window", [[values("", size, size + 1, "int64")] for size in (1024, 1048576)]) for name in ("Blackman", "Hamming", "Hann")),
]
