"""Last panels of few columns or channels, beside fp64 sums: narrow_panels.py FOLDER.

Products with weights, and with columns that a run brings, and convolutions whose last panel fits one vector: few rows and
many, blocks of k that add to sums, what follows on the elements, skipped taps, pictures that go together, chains; and dot
products of bytes and of bf16, also of the columns of pictures. This machine and AVX2, one to three workers. Without the
switch no panel is narrow, and numbers are the same but for rounding.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import freestone_runtime
import numpy as np
import onnx
from convolution_sums import convolve
from onnx import TensorProto, helper, numpy_helper
from targets import distinct, instructions

COLUMNS = [1, 3, 5, 7, 8, 9, 16, 17, 24, 26, 36, 40, 48, 49, 71, 80, 100, 112]
ROWS = [0, 1, 2, 5, 6, 13, 14, 15, 100]

# Channels in and out, taps, strides, border, rows and pixels, pictures.
CONVOLUTIONS = [
    (24, 16, 1, 1, 0, (14, 9), (1, 2)),
    (40, 40, 1, 1, 0, (7, 7), (1, 3)),
    (96, 80, 1, 2, 0, (9, 9), (1, 5)),
    (24, 112, 3, 1, 1, (8, 11), (1, 4)),
    (200, 136, 3, 1, 1, (3, 3), (1, 7)),
    (24, 40, 3, 2, 1, (13, 13), (0, 1, 2)),
    (16, 48, 5, 1, 2, (6, 20), (1, 2)),
]


# Channels in and out, taps, pictures of so many rows and pixels, whose last panels have 4, 16, 17 and 1 columns.
PICTURES = [(32, 64, 3, (14, 14)), (3, 40, 3, (28, 28)), (17, 33, 1, (7, 7)), (24, 16, 3, (11, 3))]


def save(folder, nodes, inputs, weights, types=(TensorProto.FLOAT, TensorProto.FLOAT)):
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "narrow", [info(name, types[0], shape) for name, shape in inputs.items()],
                              [info("y", types[1], None)],
                              [numpy_helper.from_array(value, name) for name, value in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10), folder / "m.onnx")


def check(folder, runs, target, *options, tolerance=1e-4, without=False):
    """Returns the number of programs with narrow panels; `without` the switch there are none."""
    narrow = 0
    for switch in ([], ["--disable", "narrow-panels"])[:1 + without]:
        counters = freestone_runtime.compile_model(folder / "m.onnx", folder / "m.stone", "--target", target, *options, *switch)
        assert not switch or counters["narrow_panels"] == 0, counters
        narrow += counters["narrow_panels"]
        for workers in (1, 2, 3):
            model = freestone_runtime.Model(folder / "m.stone", workers)
            for feeds, expected in runs:
                np.testing.assert_allclose(model.run(feeds)[0], expected, rtol=tolerance, atol=tolerance)
            model.close()
    return narrow


def check_product(folder, target, columns, depth, is_weight, follows):
    draws = np.random.default_rng(columns)
    b = draws.standard_normal((depth, columns), dtype=np.float32) / np.float32(depth**0.5)
    bias = draws.standard_normal(columns, dtype=np.float32)
    nodes = [helper.make_node("MatMul", ["a", "b"], ["c" if follows else "y"])]
    if follows:
        nodes += [helper.make_node("Add", ["c", "d"], ["s"]), helper.make_node("Relu", ["s"], ["y"])]
    weights = {"d": bias} if follows else {}
    inputs = {"a": ["m", "k"]}
    if is_weight:
        weights["b"], inputs["a"] = b, ["m", depth]
    else:
        inputs["b"] = ["k", "n"]
    save(folder, nodes, inputs, weights)
    runs = []
    for rows in ROWS:
        a = draws.standard_normal((rows, depth), dtype=np.float32)
        product = a.astype(np.float64) @ b
        feeds = {"a": a} if is_weight else {"a": a, "b": b}
        runs.append((feeds, np.maximum(product + bias, 0) if follows else product))
    return check(folder, runs, target, without=columns in (8, 71))


def check_convolution(folder, target, case, chained):
    channels, out, taps, stride, border, size, pictures = case
    draws = np.random.default_rng(channels + out)

    def draw(*shape):
        return draws.standard_normal(shape, dtype=np.float32) / np.float32(np.prod(shape[1:]) ** 0.5)

    weights = {"w": draw(out, channels, taps, taps)}
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"], strides=[stride] * 2, pads=[border] * 4)]
    if chained:
        weights |= {"v": draw(out, 1, 3, 3), "u": draw(24, out, 1, 1)}
        nodes += [helper.make_node("Conv", ["c", "v"], ["e"], pads=[1] * 4, group=out),
                  helper.make_node("Conv", ["e", "u"], ["s"])]
    nodes.append(helper.make_node("Relu", ["s" if chained else "c"], ["y"]))
    save(folder, nodes, {"x": ["n", channels, *size]}, weights)
    runs = []
    for count in pictures:
        x = draws.standard_normal((count, channels, *size), dtype=np.float32)
        sums = convolve(x, weights["w"], [stride] * 2, [1, 1], [border] * 4)
        if chained:
            sums = np.concatenate([convolve(sums[:, [c]], weights["v"][[c]], [1, 1], [1, 1], [1] * 4) for c in range(out)], 1)
            sums = convolve(sums, weights["u"], [1, 1], [1, 1], [0] * 4)
        runs.append(({"x": x}, np.maximum(sums, 0)))
    return check(folder, runs, target, "--disable", "winograd", without=taps == 3)


def draw_integers(draws, shape, kind):
    return draws.integers(-8 if kind == np.int8 else 0, 9, shape).astype(kind)


def check_words(folder, target, columns, depth, kinds, is_weight):
    """Products of bytes of these signs, or, of floats, of bf16; elements are integers, so that sums are exact."""
    draws = np.random.default_rng(columns + depth)
    b = draw_integers(draws, (depth, columns), kinds[1])
    weights, inputs = ({"b": b}, {"a": ["m", depth]}) if is_weight else ({}, {"a": ["m", "k"], "b": ["k", "n"]})
    if kinds[0] == np.float32:
        nodes = [helper.make_node("Cast", [name], [name + "16"], to=TensorProto.BFLOAT16) for name in "ab"]
        nodes += [helper.make_node("MatMul", ["a16", "b16"], ["c"]), helper.make_node("Cast", ["c"], ["y"], to=TensorProto.FLOAT)]
        types = (TensorProto.FLOAT, TensorProto.FLOAT)
    else:
        nodes = [helper.make_node("MatMulInteger", ["a", "b"], ["y"])]
        types = (helper.np_dtype_to_tensor_dtype(np.dtype(kinds[0])), TensorProto.INT32)
        if kinds[0] != kinds[1] and not is_weight:
            return 0
    save(folder, nodes, inputs, weights, types)
    runs = []
    for rows in ROWS:
        a = draw_integers(draws, (rows, depth), kinds[0])
        runs.append(({"a": a} if is_weight else {"a": a, "b": b}, a.astype(np.float64) @ b))
    return check(folder, runs, target, tolerance=1e-2 if kinds[0] == np.float32 else 0, without=columns == 17)


def check_pictures_of_words(folder, target, case):
    channels, out, taps, size = case
    draws = np.random.default_rng(channels)
    w = draw_integers(draws, (out, channels, taps, taps), np.int8)
    nodes = [helper.make_node("ConvInteger", ["x", "w"], ["y"], pads=[taps // 2] * 4)]
    save(folder, nodes, {"x": ["n", channels, *size]}, {"w": w}, (TensorProto.UINT8, TensorProto.INT32))
    runs = []
    for count in (1, 3):
        x = draw_integers(draws, (count, channels, *size), np.uint8)
        runs.append(({"x": x}, convolve(x.astype(np.float64), w.astype(np.float64), [1, 1], [1, 1], [taps // 2] * 4)))
    return check(folder, runs, target, tolerance=0, without=case is PICTURES[0])


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for target in distinct("host", "x86-64-v3"):
        products = sum(check_product(folder, target, columns, depth, True, follows)
                       for columns in COLUMNS for depth, follows in ((20, False), (150, True)))
        products += sum(check_product(folder, target, columns, 2500, True, False) for columns in (8, 40))
        products += sum(check_product(folder, target, columns, 70, False, True) for columns in (3, 8, 41, 48))
        convolutions = sum(check_convolution(folder, target, case, chained) for case in CONVOLUTIONS for chained in (False, True))
        assert products > 20 and convolutions > 3, (target, products, convolutions)
        words = sum(check_words(folder, target, columns, depth, kinds, is_weight)
                    for columns in (3, 16, 17, 40) for depth, is_weight in ((20, True), (300, False))
                    for kinds in ((np.uint8, np.int8), (np.int8, np.int8), (np.float32, np.float32)))
        words += sum(check_pictures_of_words(folder, target, case) for case in PICTURES)
        # Panels of a matrix unit are whole tiles.
        has_tiles = target == "host" and "amx-int8" in instructions()
        assert words > 10 or has_tiles, (target, words)
        print(f"{target}: {products} products, {convolutions} convolutions and {words} of words with narrow panels: right")


if __name__ == "__main__":
    main()
