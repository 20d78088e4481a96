"""The last vectors of rows of pixels, which begin within those before where masks are slow: overlapping_vectors.py FOLDER.

Convolutions and windows of rows that end within a vector, at it, or before the first one does, beside fp64 and bit by bit
beside the same code with masks; what follows on the elements, also where results lie over an operand, whose last
elements are computed once.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import freestone_runtime
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from targets import distinct, instructions

WIDTHS = (1, 3, 7, 8, 9, 13, 16, 17, 31, 57)
# Channels in and out, groups, taps, stride, and what follows.
CASES = [
    (24, 24, 24, 3, 1, "Relu"),
    (24, 24, 24, 3, 2, "HardSwish"),
    (24, 24, 24, 5, 1, "Add"),
    (16, 32, 1, 1, 1, "Relu"),
    (16, 24, 1, 3, 1, "HardSwish"),
    (16, 32, 1, 3, 2, "Relu"),
    (16, 32, 1, 3, 1, "Add"),
    (16, 16, 0, 3, 2, "Relu"),
]


def make_model(channels, out, groups, taps, stride, following, weights):
    """A convolution, or without groups a pool, and what follows; a sum with a tensor that nothing else reads."""
    pads = [taps // 2] * 4
    value = lambda name, count, letter: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", count, f"{letter}0", f"{letter}1"])
    if groups:
        nodes = [helper.make_node("Conv", ["x", "w"], ["c"], group=groups, pads=pads, strides=[stride] * 2)]
    else:
        nodes = [helper.make_node("MaxPool", ["x"], ["c"], kernel_shape=[taps] * 2, pads=pads, strides=[stride] * 2)]
    inputs = [value("x", channels, "s")]
    if following == "Add":
        inputs.append(value("r", out, "t"))
        nodes += [helper.make_node("Sin", ["r"], ["sin"]), helper.make_node("Add", ["c", "sin"], ["sum"]),
                  helper.make_node("ReduceMax", ["sum", "axis"], ["most"]), helper.make_node("Sub", ["sum", "most"], ["y"])]
    else:
        nodes.append(helper.make_node(following, ["c"], ["y"]))
    tensors = [numpy_helper.from_array(weights, "w"), numpy_helper.from_array(np.array([3]), "axis")]
    graph = helper.make_graph(nodes, "rows", inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=10)


def expect(x, residual, out, groups, taps, stride, following, weights):
    pad = taps // 2
    padded = np.pad(x.astype(np.float64), [(0, 0), (0, 0), (pad, pad), (pad, pad)], constant_values=0 if groups else -np.inf)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (taps, taps), axis=(2, 3))[:, :, ::stride, ::stride]
    if groups:
        grouped = windows.reshape(len(x), groups, x.shape[1] // groups, *windows.shape[2:])
        filters = weights.astype(np.float64).reshape(groups, out // groups, -1, taps, taps)
        result = np.einsum("ngchwij,gocij->ngohw", grouped, filters).reshape(len(x), out, *windows.shape[2:4])
    else:
        result = windows.max(axis=(4, 5))
    if following == "Add":
        result = result + np.sin(residual(result.shape).astype(np.float64))
        return result - result.max(axis=3, keepdims=True)
    return np.maximum(result, 0) if following == "Relu" else result * np.clip(result / 6 + 0.5, 0, 1)


def check(folder, target, case):
    channels, out, groups, taps, stride, following = case
    weights = np.random.default_rng(2).standard_normal((out, channels // max(groups, 1), taps, taps), dtype=np.float32)
    onnx.save(make_model(*case, weights), folder / "m.onnx")
    has_masks = target == "host" and "avx512f" in instructions()
    artifacts = {}
    # Reductions of rows stay apart, and both tilings are the same.
    for disabled in ("channel-vectors,rows,construct", "channel-vectors,rows,construct,overlap-vectors"):
        path = folder / f"{disabled}.stone"
        counters = freestone_runtime.compile_model(folder / "m.onnx", path, "--target", target, "--disable", disabled)
        expected = 0 if has_masks or "overlap" in disabled else int(following != "Add")
        assert counters.get("overlapped_vectors", 0) == expected, (case, target, disabled, counters)
        artifacts[disabled] = path
    for workers in (1, 3):
        overlapping, masked = (freestone_runtime.Model(path, workers) for path in artifacts.values())
        for batch, height, width in [(2, 5, width) for width in WIDTHS] + [(0, 4, 9), (1, 19, 23)]:
            draws = np.random.default_rng(width)
            x = draws.standard_normal((batch, channels, height, width), dtype=np.float32)
            feeds, drawn = {"x": x}, []

            def residual(shape):
                drawn.append(draws.standard_normal(shape, dtype=np.float32))
                return drawn[0]

            expected = expect(x, residual, out, groups, taps, stride, following, weights)
            if drawn:
                feeds["r"] = drawn[0]
            found = overlapping.run(feeds)[0]
            np.testing.assert_allclose(found, expected, rtol=3e-6, atol=1e-4, err_msg=f"{case} {target} {width}")
            np.testing.assert_array_equal(found, masked.run(feeds)[0], err_msg=f"{case} {target} {width}")
        overlapping.close()
        masked.close()


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for target in distinct("host", "x86-64-v3"):
        for case in CASES:
            check(folder, target, case)


main()
