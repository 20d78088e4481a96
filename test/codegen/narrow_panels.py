"""Last panels of few columns or channels, beside fp64 sums: narrow_panels.py FOLDER.

Products with weights, and with columns that a run brings, and convolutions whose last panel fits one vector: few rows and
many, blocks of k that add to sums, what follows on the elements, skipped taps, pictures that go together, chains. This
machine and AVX2, one to three workers. Without the switch no panel is narrow, and numbers are the same but for rounding.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import freestone_runtime
import numpy as np
import onnx
from convolution_sums import convolve
from onnx import TensorProto, helper, numpy_helper
from targets import distinct

COLUMNS = [1, 3, 5, 7, 8, 9, 16, 17, 24, 36, 40, 48, 71, 80, 100, 112]
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


def save(folder, nodes, inputs, weights):
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "narrow", [info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()],
                              [info("y", TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(value, name) for name, value in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10), folder / "m.onnx")


def check(folder, runs, target, *options):
    """Returns the number of programs with narrow panels."""
    narrow = 0
    for switch in ([], ["--disable", "narrow-panels"]):
        counters = freestone_runtime.compile_model(folder / "m.onnx", folder / "m.stone", "--target", target, *options, *switch)
        assert not switch or counters["narrow_panels"] == 0, counters
        narrow += counters["narrow_panels"]
        for workers in (1, 2, 3):
            model = freestone_runtime.Model(folder / "m.stone", workers)
            for feeds, expected in runs:
                np.testing.assert_allclose(model.run(feeds)[0], expected, rtol=1e-4, atol=1e-4)
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
    return check(folder, runs, target)


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
    return check(folder, runs, target, "--disable", "winograd")


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
        print(f"{target}: {products} products and {convolutions} convolutions with narrow panels: right")


if __name__ == "__main__":
    main()
