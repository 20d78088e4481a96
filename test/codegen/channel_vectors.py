"""Windows of narrow pictures, with vectors along channels, beside fp64: channel_vectors.py FOLDER.

One artifact of each for all sizes, of which some are too wide: depthwise convolutions, groups of channels out, and pools;
strides, dilations, uneven borders, one axis, channels that end within a vector; taps in the opposite order, as those of
gradients; what follows on the elements, or writes them channel by channel; stages of chains.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import freestone_runtime
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from targets import distinct, instructions


class Window:
    """Of `kind` conv, transposed (depthwise), max, average (of all taps) or mean (of those within the picture), over `channels` in `groups`."""

    def __init__(self, kind, channels, taps, strides=None, dilations=None, pads=None, groups=None, out=None, following="Relu"):
        self.kind, self.channels, self.taps, self.axes = kind, channels, taps, len(taps)
        self.strides, self.dilations = strides or [1] * self.axes, dilations or [1] * self.axes
        self.pads, self.groups, self.out, self.following = pads or [0] * 2 * self.axes, groups or channels, out or channels, following
        self.weights = np.random.default_rng(channels).standard_normal((self.out, channels // self.groups, *taps), dtype=np.float32)

    def __repr__(self):
        return f"Window({ {k: v for k, v in vars(self).items() if k != 'weights'} })"

    def node(self, source, target):
        shared = dict(strides=self.strides, dilations=self.dilations, pads=self.pads)
        if self.kind == "conv":
            return helper.make_node("Conv", [source, "w"], [target], group=self.groups, **shared)
        if self.kind == "transposed":
            pads = [count - 1 - pad for count, pad in zip(self.taps * 2, self.pads)]
            return helper.make_node("ConvTranspose", [source, "w"], [target], group=self.groups, pads=pads)
        if self.kind == "max":
            return helper.make_node("MaxPool", [source], [target], kernel_shape=self.taps, **shared)
        return helper.make_node("AveragePool", [source], [target], kernel_shape=self.taps, count_include_pad=int(self.kind == "average"), **shared)

    def parts(self, x, fill):
        """For each tap, the elements that all windows read."""
        padded = np.pad(x, [(0, 0), (0, 0)] + [(self.pads[i], self.pads[self.axes + i]) for i in range(self.axes)], constant_values=fill)
        counts = [(padded.shape[2 + i] - self.dilations[i] * (self.taps[i] - 1) - 1) // self.strides[i] + 1 for i in range(self.axes)]
        for tap in np.ndindex(*self.taps):
            yield tap, padded[(..., *(slice(t * d, t * d + (n - 1) * s + 1, s) for t, d, n, s in zip(tap, self.dilations, counts, self.strides)))]

    def expected(self, x):
        x = x.astype(np.float64)
        if self.kind == "max":
            return np.maximum.reduce([part for _, part in self.parts(x, -np.inf)])
        if self.kind not in ("conv", "transposed"):
            total = sum(part for _, part in self.parts(x, 0.0))
            return total / (np.prod(self.taps) if self.kind == "average" else sum(part for _, part in self.parts(np.ones_like(x), 0.0)))
        weights = self.weights.astype(np.float64).reshape(self.groups, self.out // self.groups, -1, *self.taps)
        if self.kind == "transposed":
            weights = np.flip(weights, range(3, 3 + self.axes))
        result = 0
        for tap, part in self.parts(x, 0.0):
            grouped = part.reshape(len(x), self.groups, -1, *part.shape[2:])
            result = result + np.einsum("ngc...,goc->ngo...", grouped, weights[(..., *tap)])
        return result.reshape(len(x), self.out, *result.shape[3:])


# Batches and sizes of pictures: narrow ones, and some that are not.
SIZES = [(3, 3, 4), (2, 5, 7), (1, 7, 8), (0, 4, 4), (2, 14, 14), (1, 1, 1), (1, 9, 60), (1, 33, 3)]
CASES = [
    Window("conv", 40, [5, 5], pads=[2] * 4),
    Window("conv", 37, [3, 3], pads=[1] * 4, following="HardSwish"),
    Window("conv", 64, [3, 3], strides=[2, 2], pads=[1] * 4, following="Add"),
    Window("conv", 24, [5, 3], strides=[1, 2], dilations=[2, 1], pads=[3, 1, 4, 0], following="Transpose"),
    Window("conv", 19, [7, 7], pads=[3] * 4),
    Window("transposed", 40, [3, 3], pads=[1] * 4),
    Window("transposed", 37, [5, 3], pads=[2, 0, 3, 1], following="Channels"),
    Window("conv", 37, [3, 3], pads=[1] * 4, following="Channels"),
    Window("conv", 48, [3, 3], pads=[1] * 4, groups=3),
    Window("conv", 64, [3, 3], strides=[2, 2], pads=[1] * 4, groups=4, following="Add"),
    Window("conv", 36, [3, 3], strides=[1, 2], pads=[1, 0, 2, 1], groups=3, out=39, following="HardSwish"),
    Window("conv", 40, [1, 3], dilations=[1, 2], pads=[0, 2, 0, 2], groups=5),
    Window("max", 40, [3, 3], strides=[2, 2], pads=[1] * 4, following="Add"),
    Window("average", 33, [3, 3], pads=[1] * 4),
    Window("mean", 48, [3, 3], pads=[1] * 4),
]
LINES = [(3, 7), (2, 40), (0, 5), (1, 200)]
OF_LINES = [Window("conv", 40, [5], pads=[2, 2]), Window("conv", 32, [3], pads=[1, 1], groups=2)]


def make_model(window, leading):
    """The window, behind a convolution of single taps if it is a stage."""
    value = lambda name, channels, letter: helper.make_tensor_value_info(
        name, TensorProto.FLOAT, ["n", channels, *(f"{letter}{axis}" for axis in range(window.axes))])
    nodes, tensors = [window.node("x", "c")], [numpy_helper.from_array(window.weights, "w")]
    inputs = [value("x", window.channels, "s")]
    if leading is not None:
        nodes = [helper.make_node("Conv", ["x", "v"], ["l"]), window.node("l", "c")]
        tensors.append(numpy_helper.from_array(leading, "v"))
    if window.following == "Add":
        inputs.append(value("r", window.out, "t"))
        nodes.append(helper.make_node("Add", ["c", "r"], ["y"]))
    elif window.following == "Transpose":
        nodes.append(helper.make_node("Transpose", ["c"], ["y"], perm=[0, *range(2, 2 + window.axes), 1]))
    elif window.following == "Channels":
        nodes.append(helper.make_node("Transpose", ["c"], ["y"], perm=[1, 0, *range(2, 2 + window.axes)]))
    else:
        nodes.append(helper.make_node(window.following, ["c"], ["y"]))
    graph = helper.make_graph(nodes, "window", inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=10)


def follow(window, found, residual):
    if window.following == "Add":
        return found + residual
    if window.following == "Transpose":
        return np.moveaxis(found, 1, -1)
    if window.following == "Channels":
        return np.swapaxes(found, 0, 1)
    return np.maximum(found, 0) if window.following == "Relu" else found * np.clip(found / 6 + 0.5, 0, 1)


def check(folder, window, sizes, target, leading=None):
    onnx.save(make_model(window, leading), folder / "m.onnx")
    for disabled in ("split-reductions", "channel-vectors")[: 2 if target == "host" else 1]:
        counters = freestone_runtime.compile_model(folder / "m.onnx", folder / "m.stone", "--target", target, "--disable", disabled)
        # Groups of more channels out fill three quarters of a vector or of several: they are a convolution's.
        is_window = window.out // window.groups < (12 if target == "host" and "avx512f" in instructions() else 6)
        assert counters["channel_vectors"] == (is_window and disabled != "channel-vectors"), (window, target, counters)
        for workers in (1, 2, 3):
            model = freestone_runtime.Model(folder / "m.stone", workers)
            for batch, *size in sizes:
                draws = np.random.default_rng(batch + sum(size))
                x = draws.standard_normal((batch, window.channels, *size), dtype=np.float32)
                before = x if leading is None else np.einsum("nc...,oc->no...", x.astype(np.float64), leading.reshape(len(leading), -1))
                try:
                    found = window.expected(before)
                except ValueError:  # no window fits
                    continue
                if 0 in found.shape[2:]:
                    continue
                feeds, residual = {"x": x}, draws.standard_normal(found.shape, dtype=np.float32)
                if window.following == "Add":
                    feeds["r"] = residual
                expected = follow(window, found, residual)
                actual = model.run(feeds)[0]
                assert actual.shape == expected.shape, (window, target, batch, size, actual.shape)
                scale = np.abs(expected).max() if expected.size else 1
                np.testing.assert_allclose(actual, expected, rtol=2e-6, atol=4e-6 * scale, err_msg=f"{window} {target} {batch} {size} {disabled}")
            model.close()


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    leading = np.random.default_rng(1).standard_normal((40, 40, 1, 1), dtype=np.float32)
    for target in distinct("host", "x86-64-v3"):
        for window in CASES:
            check(folder, window, SIZES, target)
        for window in OF_LINES:
            check(folder, window, LINES, target)
        check(folder, CASES[0], SIZES, target, leading)
        check(folder, Window("conv", 40, [3, 3], strides=[2, 2], pads=[1] * 4, following="Add"), SIZES, target, leading)


main()
