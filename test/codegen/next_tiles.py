"""Windows and gradients of weights that prefetch the next tile, beside fp64 sums: next_tiles.py FOLDER.

Depthwise convolutions with strides, dilations and borders, rows that fill no vectors, whole pictures and parts as tiles, what
follows on the elements; pools, of bytes too; gradients of single taps, of neither as many channels as the micro-kernel's rows nor as many
positions as lines have, and of 3x3 taps. For this machine with small caches, where these operands are large, on one to three
workers. Without the switch nothing is prefetched, and all numbers are the same.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import freestone_runtime
import numpy as np
import onnx
import small_caches
from convolution_sums import convolve
from onnx import TensorProto, helper, numpy_helper

# Channels, taps, strides, dilations, border, rows and columns, pictures.
WINDOWS = [
    (24, 3, 1, 1, 1, (56, 56), (0, 1, 3)),
    (17, 3, 2, 1, 1, (61, 47), (1, 2)),
    (16, 5, 1, 2, 4, (40, 33), (1, 2)),
    (40, 3, 2, 1, 0, (35, 70), (2,)),
    (8, 3, 1, 1, 1, (130, 130), (1,)),
]

# Channels in and out, taps, rows and columns, pictures.
GRADIENTS = [(16, 96, 1, (28, 28), (1, 3)), (100, 24, 1, (17, 16), (2,)), (33, 40, 1, (14, 14), (1, 5)), (24, 40, 3, (14, 14), (2,)),
             (70, 130, 1, (5, 290), (2,)), (3, 16, 3, (30, 31), (3,))]


def save(folder, nodes, inputs, weights=None, dtype=TensorProto.FLOAT):
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "tiles", [info(name, dtype, shape) for name, shape in inputs.items()], [info("y", dtype, None)],
                              [numpy_helper.from_array(value, name) for name, value in (weights or {}).items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10), folder / "m.onnx")


def check(folder, counter, runs, *options):
    """The same bits with and without the switch, near what is expected."""
    results = []
    for switch, brings in ([], True), (["--disable", "bring-tiles"], False):
        counters = freestone_runtime.compile_model(
            folder / "m.onnx", folder / "m.stone", "--device", folder / "small.json", *options, *switch)
        assert counters[counter] == 1 and counters["tiles_brought"] == brings, (runs[0][1].shape, counters)
        for workers in (1, 2, 3):
            model = freestone_runtime.Model(folder / "m.stone", workers)
            results.append([model.run(feeds)[0].copy() for feeds, _ in runs])
            model.close()
    for each in results:
        for result, first, (_, expected) in zip(each, results[0], runs):
            np.testing.assert_array_equal(result, first)
            np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max(initial=1))


def check_window(folder, channels, taps, stride, dilation, border, size, pictures, follows):
    draws = np.random.default_rng(channels)
    k = draws.standard_normal((channels, 1, taps, taps), dtype=np.float32)
    nodes = [helper.make_node("Conv", ["x", "k"], ["c" if follows else "y"], group=channels, strides=[stride] * 2,
                              dilations=[dilation] * 2, pads=[border] * 4)]
    inputs = {"x": ("n", channels, *size)}
    if follows:
        nodes += [helper.make_node("Relu", ["c"], ["r"]), helper.make_node("Add", ["r", "a"], ["y"])]
        inputs["a"] = ("n", channels, *((length + 2 * border - dilation * (taps - 1) - 1) // stride + 1 for length in size))
    save(folder, nodes, inputs, {"k": k})
    runs = []
    for count in pictures:
        feeds = {name: draws.standard_normal((count, *shape[1:]), dtype=np.float32) for name, shape in inputs.items()}
        each = [convolve(feeds["x"][:, [c]], k[[c]], [stride] * 2, [dilation] * 2, [border] * 4) for c in range(channels)]
        expected = np.concatenate(each, axis=1)
        runs.append((feeds, np.maximum(expected, 0) + feeds["a"] if follows else expected))
    check(folder, "windows", runs)


def check_pool(folder, x, dtype, least):
    nodes = [helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)]
    save(folder, nodes, {"x": ("n", *x.shape[1:])}, dtype=dtype)
    padded = np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)], constant_values=least)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))[:, :, ::2, ::2]
    check(folder, "windows", [({"x": x}, windows.max(axis=(4, 5)))])


def check_gradient(folder, channels, out, taps, size, pictures):
    """A convolution whose picture has the images as channels in, and whose weights are the gradient of its result."""
    draws = np.random.default_rng(channels)
    for images in pictures:
        x = draws.standard_normal((channels, images, *size), dtype=np.float32)
        g = draws.standard_normal((out, images, *size), dtype=np.float32)
        border = taps // 2
        save(folder, [helper.make_node("Conv", ["x", "g"], ["y"], pads=[border] * 4)], {"x": x.shape, "g": g.shape})
        padded = np.pad(x.astype(np.float64), [(0, 0), (0, 0), (border, border), (border, border)])
        windows = np.lib.stride_tricks.sliding_window_view(padded, size, axis=(2, 3))
        expected = np.einsum("ciabxy,oixy->coab", windows, g.astype(np.float64), optimize=True)
        for disabled in ("pack-in-runs", "pack-in-runs,winograd,channels-apart"):
            check(folder, "weight_gradients", [({"x": x, "g": g}, expected)], "--disable", disabled)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    small_caches.describe(folder, 32 << 10, 32 << 10, 64 << 10)
    for number, window in enumerate(WINDOWS):
        check_window(folder, *window, follows=number % 2 == 0)
    draws = np.random.default_rng(1)
    check_pool(folder, draws.standard_normal((3, 12, 75, 44), dtype=np.float32), TensorProto.FLOAT, -np.inf)
    check_pool(folder, draws.integers(0, 256, (3, 30, 75, 44), dtype=np.uint8), TensorProto.UINT8, 0)
    for gradient in GRADIENTS:
        check_gradient(folder, *gradient)
    print(f"{len(WINDOWS)} windows, two pools and {len(GRADIENTS)} gradients: right")


if __name__ == "__main__":
    main()
