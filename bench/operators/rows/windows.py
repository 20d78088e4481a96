"""Convolutions, pools, and what samples pictures."""

from row import Row, fixed, values, weights

PICTURES = ("1x64x56x56", "16x64x112x112")


def convolution(operator, variant, *cases, **attributes):
    """Cases are a picture and filters in one word."""
    return Row(operator, [[picture, weights(filters)] for picture, filters in map(str.split, cases)], variant=variant,
               attributes=attributes)


def pool(operator, variant="", **attributes):
    return Row(operator, [[size] for size in PICTURES], variant=variant, attributes=attributes)


def resize(variant, scales, **attributes):
    return Row("Resize", [[size, None, fixed(scales, "float32")] for size in ("1x32x32x32", "4x64x64x64")],
               variant=variant, attributes=attributes)


def sample(mode):
    return Row("GridSample", [["1x32x64x64", values("1x64x64x2", -1.0, 1.0)], ["4x64x128x128", values("4x128x128x2", -1.0, 1.0)]],
               variant=mode, attributes={"mode": mode})


def regions(count, size):
    """Corners of regions in a picture of this size."""
    return values(f"{count}x4", 0.0, float(size))


def deformed(picture, filters, offsets, mask):
    return [picture, weights(filters), offsets, None, values(mask, 0.0, 1.0)]


SAME = {"pads": [1, 1, 1, 1]}
ROWS = [
    convolution("Conv", "3x3", "1x64x56x56 64x64x3x3", "16x128x28x28 128x128x3x3", **SAME),
    convolution("Conv", "1x1", "1x64x56x56 256x64x1x1", "16x256x28x28 128x256x1x1"),
    convolution("Conv", "7x7 in steps of 2", "1x3x224x224 64x3x7x7", "8x3x224x224 64x3x7x7", strides=[2, 2], pads=[3] * 4),
    convolution("Conv", "by channel", "1x96x56x56 96x1x3x3", "16x96x112x112 96x1x3x3", group=96, **SAME),
    convolution("Conv", "of groups", "1x64x56x56 64x16x3x3", "16x128x28x28 128x32x3x3", group=4, **SAME),
    convolution("Conv", "of signals", "1x64x1024 64x64x5", "16x128x4096 128x128x5", pads=[2, 2]),
    convolution("Conv", "of volumes", "1x16x16x32x32 16x16x3x3x3", "2x32x16x56x56 32x32x3x3x3", pads=[1] * 6),
    convolution("ConvTranspose", "2x2 in steps of 2", "1x64x28x28 64x32x2x2", "8x128x56x56 128x64x2x2", strides=[2, 2]),
    convolution("ConvTranspose", "4x4 in steps of 2", "1x64x28x28 64x32x4x4", "8x128x56x56 128x64x4x4", strides=[2, 2],
                **SAME),
    Row("CausalConvWithState", [["1x256x128", weights("256x1x4"), weights("256"), "1x256x3"],
                                ["8x1024x512", weights("1024x1x4"), weights("1024"), "8x1024x3"]], outputs=2),
    pool("MaxPool", kernel_shape=[2, 2], strides=[2, 2]),
    pool("MaxPool", "3x3 in steps of 2", kernel_shape=[3, 3], strides=[2, 2], **SAME),
    pool("AveragePool", kernel_shape=[2, 2], strides=[2, 2]),
    pool("AveragePool", "3x3", kernel_shape=[3, 3], **SAME),
    pool("LpPool", kernel_shape=[2, 2], strides=[2, 2]),
    *(pool(operator) for operator in ("GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool")),
    resize("nearest", [1, 1, 2, 2], mode="nearest"),
    resize("linear", [1, 1, 2, 2], mode="linear"),
    resize("linear to half", [1, 1, 0.5, 0.5], mode="linear"),
    resize("cubic", [1, 1, 2, 2], mode="cubic"),
    Row("Upsample", [[size, fixed([1, 1, 2, 2], "float32")] for size in ("1x32x32x32", "4x64x64x64")], opset=9),
    Row("Resize", [[size, None, fixed([1, 1, 0.4, 0.4], "float32")] for size in ("1x3x224x224", "4x3x640x480")],
        variant="linear with antialiasing", attributes={"mode": "linear", "antialias": 1}),
    Row("RoiAlign", [["1x64x50x50", regions(50, 50), values("50", 0, 1, "int64")],
                     ["2x256x50x50", regions(512, 50), values("512", 0, 2, "int64")]],
        attributes={"output_height": 7, "output_width": 7, "sampling_ratio": 2}),
    Row("MaxRoiPool", [["1x64x50x50", values("50x5", 0, 1, "float32")], ["1x256x50x50", values("512x5", 0, 1, "float32")]],
        attributes={"pooled_shape": [7, 7]}),
    Row("DeformConv", [deformed("1x32x28x28", "32x32x3x3", "1x18x28x28", "1x9x28x28"),
                       deformed("2x64x56x56", "64x64x3x3", "2x18x56x56", "2x9x56x56")], attributes=SAME),
    Row("Col2Im", [["1x288x784", fixed([28, 28]), fixed([3, 3])], ["8x576x3136", fixed([56, 56]), fixed([3, 3])]],
        attributes=SAME),
    Row("MaxUnpool", [[size, values(size, 0, 2, "int64")] for size in ("1x32x28x28", "8x64x56x56")],
        attributes={"kernel_shape": [2, 2], "strides": [2, 2]}, compared=False),
    *(sample(mode) for mode in ("linear", "nearest", "cubic")),
    Row("AffineGrid", [["1x2x3", fixed([1, 3, 224, 224])], ["16x2x3", fixed([16, 3, 224, 224])]]),
]
