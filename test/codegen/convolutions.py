"""Convolutions and products with a weight on the left, beside ONNX Runtime: convolutions.py FOLDER [COUNT [SEED]].

One artifact of each for all sizes: maps narrower than a vector, rows that end within a block, no images, one and several;
strides, dilations, borders, groups; what follows on the elements. For this machine and for AVX2, on one to three workers.
First some cases by hand, then COUNT random ones.
"""

import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import freestone_runtime
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from targets import distinct

FOLLOWING = ["nothing", "Relu", "Clip", "Swish", "HardSwish", "Transpose", "Add", "Pool"]
CHANNELS_IN = [1, 3, 8, 16, 17, 24, 48, 100, 300]
CHANNELS_OUT = [1, 4, 13, 16, 24, 27, 32, 40, 64, 96, 130]
SIZES = [5, 7, 8, 9, 14, 16, 28, 30, 45, 112, 150]
WORKERS = (1, 2, 3)


class Case:
    """Sizes of pictures are symbols; `weight` is [out, in / groups, taps…], or [out, in] of a product; where it is
    `given`, an input."""

    def __init__(self, channels_in, channels_out, kernel=None, strides=None, dilations=None, pads=None, groups=1, following="nothing",
                 given=False):
        self.out, self.spatial = channels_out, len(kernel) if kernel else 1
        self.channels, self.kernel, self.following = channels_in, kernel, following
        self.strides, self.dilations = strides or [1] * self.spatial, dilations or [1] * self.spatial
        self.pads, self.groups, self.given = pads or [0] * 2 * self.spatial, groups, given

    def __repr__(self):
        return f"Case{tuple(vars(self).items())}"

    def extents(self, sizes):
        """The sizes of the result; nothing if it is empty."""
        if not self.kernel:
            return sizes
        reach = [d * (k - 1) + 1 for d, k in zip(self.dilations, self.kernel)]
        padded = [size + self.pads[i] + self.pads[i + self.spatial] for i, size in enumerate(sizes)]
        least = 2 if self.following == "Pool" else 1
        extents = [(p - r) // s + 1 for p, r, s in zip(padded, reach, self.strides)]
        return extents if min(extents) >= least else None

    def weight_shape(self):
        return (self.out, self.channels // self.groups, *(self.kernel or []))

    def model(self, draws):
        depth = self.weight_shape()[1:]
        weights = {"w": draws.standard_normal((self.out, *depth), dtype=np.float32) / np.float32(np.prod(depth) ** 0.5)}
        if self.kernel:
            weights["b"] = draws.standard_normal(self.out, dtype=np.float32)
            nodes = [helper.make_node("Conv", ["x", "w", "b"], ["c"], strides=self.strides, dilations=self.dilations,
                                      pads=self.pads, group=self.groups)]
        else:
            nodes = [helper.make_node("MatMul", ["w", "x"], ["c"])]
        if self.following == "Clip":
            weights |= {"low": np.float32(0), "high": np.float32(0.5)}
            nodes.append(helper.make_node("Clip", ["c", "low", "high"], ["y"]))
        elif self.following == "Swish":
            nodes += [helper.make_node("Sigmoid", ["c"], ["s"]), helper.make_node("Mul", ["c", "s"], ["y"])]
        elif self.following == "Add":
            nodes += [helper.make_node("Add", ["c", "r"], ["s"]), helper.make_node("Relu", ["s"], ["y"])]
        elif self.following == "Pool":
            nodes.append(helper.make_node("MaxPool", ["c"], ["y"], kernel_shape=[2] * self.spatial, strides=[2] * self.spatial))
        elif self.following == "Transpose":
            # Channels inside.
            nodes.append(helper.make_node("Transpose", ["c"], ["y"], perm=[0, *range(2, 2 + self.spatial), 1]))
        elif self.following != "nothing":
            nodes.append(helper.make_node(self.following, ["c"], ["y"]))
        nodes[-1].output[0] = "y"
        value = lambda name, channels, letter: helper.make_tensor_value_info(
            name, TensorProto.FLOAT, ["n", channels, *(f"{letter}{dim}" for dim in range(self.spatial))])
        inputs = [value("x", self.channels, "s")] + [value("r", self.out, "t")] * (self.following == "Add")
        if self.given:
            weights.pop("w")
            inputs.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, self.weight_shape()))
        graph = helper.make_graph(nodes, "convolution", inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                                  [numpy_helper.from_array(np.asarray(array), name) for name, array in weights.items()])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)


BY_HAND = [
    (Case(24, 64, [1, 1], following="Clip"), [(1, 7, 7), (0, 5, 9), (2, 56, 56), (1, 1, 1), (3, 14, 14)]),
    (Case(300, 96, [1, 1], following="Add"), [(1, 7, 7), (2, 28, 28), (1, 1, 3)]),
    (Case(17, 40, [1, 1], strides=[2, 2]), [(1, 7, 7), (2, 15, 30), (1, 1, 1)]),
    (Case(16, 32, [1, 1], pads=[1, 0, 2, 1], following="Relu"), [(1, 7, 7), (2, 15, 30)]),
    (Case(16, 64, [1, 3], strides=[3, 1], pads=[0, 1, 0, 1]), [(1, 7, 7), (2, 15, 30)]),
    (Case(48, 64, [3, 3], pads=[1] * 4, following="Add"), [(1, 7, 7), (2, 13, 27), (1, 1, 1), (0, 3, 3)]),
    (Case(3, 32, [3, 3], strides=[2, 2], pads=[1] * 4, following="Clip"), [(1, 224, 224), (2, 33, 35)]),
    (Case(24, 24, [3, 3], pads=[1] * 4, groups=24, following="Clip"), [(1, 7, 7), (2, 14, 14), (1, 15, 5), (1, 1, 1)]),
    (Case(24, 24, [5, 5], strides=[2, 2], pads=[2] * 4, groups=24), [(1, 7, 7), (2, 14, 14), (1, 15, 33)]),
    (Case(24, 24, [7, 7], pads=[3] * 4, groups=24, following="Transpose"), [(1, 7, 7), (2, 14, 14), (0, 5, 5), (1, 56, 3)]),
    (Case(32, 60, [3, 3], pads=[1] * 4, groups=2, following="Relu", given=True), [(1, 7, 7), (2, 13, 27), (1, 1, 1), (0, 3, 3)]),
    (Case(600, 64, [3, 3], pads=[1, 0, 2, 1], following="Pool"), [(1, 7, 7), (2, 14, 70), (1, 4, 300), (1, 1, 2)]),
    (Case(24, 64, [3, 3, 3], pads=[1] * 6, following="Add"), [(1, 4, 9, 13), (2, 3, 14, 14), (0, 3, 3, 3), (1, 1, 1, 1)]),
    (Case(5, 32, [3, 5, 3], strides=[2, 1, 2], pads=[1, 2, 1, 0, 2, 1], following="Relu"), [(1, 5, 9, 13), (2, 4, 30, 7)]),
    (Case(16, 40, [2, 3, 3], dilations=[1, 2, 1], given=True), [(1, 4, 9, 13), (2, 7, 8, 8)]),
    (Case(17, 64, [3, 3, 3], dilations=[2, 1, 1], pads=[2, 1, 1] * 2), [(1, 4, 9, 13)]),
    (Case(24, 52, [1, 1], following="Clip", given=True), [(1, 7, 7), (2, 28, 28), (1, 1, 1)]),
    (Case(64, 48), [(1, 7), (3, 100), (0, 4), (2, 1)]),
    (Case(40, 64, [1], following="HardSwish"), [(1, 7), (3, 100), (2, 1)]),
]


def draw_case(draw):
    kind = draw.choice(["convolution", "single", "depthwise", "product"])
    channels, out, spatial = draw.choice(CHANNELS_IN), draw.choice(CHANNELS_OUT), draw.choice([1, 2, 2, 3])
    following = draw.choice(FOLLOWING[:-1] if spatial == 1 or kind == "product" else FOLLOWING)
    if kind == "product":
        return Case(channels, out, following=following)
    kernel = [1 if kind == "single" else draw.choice([1, 2, 3, 5]) for _ in range(spatial)]
    is_dense = kind == "single" and draw.random() < 0.7
    strides, dilations = ([draw.choice(most) for _ in range(spatial)] for most in ([1, 1, 2, 3], [1, 1, 2]))
    pads = [draw.choice([0, 1, 2]) if draw.random() < 0.6 else 0 for _ in range(2 * spatial)]
    groups = draw.choice([1, 1, 1, 2, 4])
    channels, out = (max(groups, count // groups * groups) for count in (channels, out))
    if kind == "depthwise":
        groups = out = channels = draw.choice([1, 3, 16, 24])
    if is_dense:
        strides, pads = [1] * spatial, [0] * 2 * spatial
    return Case(channels, out, kernel, strides, dilations, pads, groups, following)


def check(folder, case, sizes, seed, target):
    draws, path = np.random.default_rng(seed), folder / "m.onnx"
    onnx.save(case.model(draws), path)
    freestone_runtime.compile_model(path, folder / "m.stone", "--target", target)
    models = [freestone_runtime.Model(folder / "m.stone", workers) for workers in WORKERS]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    for batch, *size in sizes:
        extents = case.extents(size)
        if extents is None:
            continue
        feeds = {"x": draws.standard_normal((batch, case.channels, *size), dtype=np.float32)}
        if case.following == "Add":
            feeds["r"] = draws.standard_normal((batch, case.out, *extents), dtype=np.float32)
        if case.given:
            feeds["w"] = draws.standard_normal(case.weight_shape(), dtype=np.float32)
        # ONNX Runtime refuses some convolutions of no images.
        expected = session.run(None, feeds)[0] if batch else None
        for model in models:
            (actual,) = model.run(feeds)
            if expected is not None:
                assert actual.shape == expected.shape, (case, target, batch, size, actual.shape)
                np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-4, err_msg=f"{case} {target} {batch} {size}")
            assert len(actual) == batch
    for model in models:
        model.close()


def check_switch(folder, switch, counter, case):
    """Without it, it counts nothing, and the numbers are the same."""
    draws = np.random.default_rng(0)
    onnx.save(case.model(draws), folder / "m.onnx")
    feeds, results = {"x": draws.standard_normal((2, 24, 9, 9), dtype=np.float32)}, []
    if case.given:
        feeds["w"] = draws.standard_normal(case.weight_shape(), dtype=np.float32)
    for options, most in (([], 1), (["--disable", switch], 0)):
        counters = freestone_runtime.compile_model(folder / "m.onnx", folder / "m.stone", *options)
        assert counters[counter] == most, counters
        results.append(freestone_runtime.Model(folder / "m.stone", 1).run(feeds)[0])
    np.testing.assert_allclose(*results, rtol=1e-5, atol=1e-5 * np.abs(results[1]).max())


# Taps along each axis, channels in and out, images, and positions: gradients of weights, whose sums are transformed, whose
# pictures are copied channel by channel, or neither.
GRADIENTS = [(3, 70, 40, 3, [28, 27]), (3, 32, 96, 2, [56, 58]), (3, 17, 33, 5, [14, 14]), (3, 24, 32, 2, [5, 9, 30]), (3, 3, 16, 2, [4, 17, 9]),
             (1, 70, 40, 3, [28, 27]), (1, 300, 33, 2, [14, 14]), (1, 24, 32, 2, [5, 9, 30]),
             (1, 130, 33, 3, [14, 14]), (1, 40, 64, 1, [3, 300])]


def check_gradient(folder, taps, channels, out, images, size, target):
    """A convolution whose picture has the images as channels in, and whose weights are the gradient of its result: the
    error of each way beside sums in fp64."""
    draws = np.random.default_rng(channels)
    x = draws.standard_normal((channels, images, *size), dtype=np.float32)
    g = draws.standard_normal((out, images, *size), dtype=np.float32)
    padded = np.pad(x.astype(np.float64), [(0, 0), (0, 0), *[(taps // 2, taps // 2)] * len(size)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, size, axis=tuple(range(2, 2 + len(size))))
    expected = np.einsum("ci...xyz,oixyz->co..." if len(size) == 3 else "ci...xy,oixy->co...", windows, g.astype(np.float64), optimize=True)
    value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    graph = helper.make_graph([helper.make_node("Conv", ["x", "g"], ["y"], pads=[taps // 2] * 2 * len(size))], "gradient",
                              [value("x", x.shape), value("g", g.shape)], [value("y", None)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10), folder / "m.onnx")
    counter, is_worth_it = ("transformed", channels > 3) if taps == 3 else ("channels_apart", size[-1] < 300)
    errors, counted = [], []
    for disabled in ("pack-in-runs", "pack-in-runs,winograd,channels-apart"):
        counters = freestone_runtime.compile_model(folder / "m.onnx", folder / "m.stone", "--target", target, "--disable", disabled)
        assert counters["weight_gradients"] == 1, (size, counters)
        counted.append(counters[counter])
        for workers in WORKERS:
            model = freestone_runtime.Model(folder / "m.stone", workers)
            (actual,) = model.run({"x": x, "g": g})
            model.close()
        errors.append(np.sqrt(np.mean((actual - expected) ** 2)) / np.sqrt(np.mean(expected**2)))
    assert counted == [int(is_worth_it), 0], (channels, size, counted)
    # Long sums round more than transforms do.
    assert errors[1] < 2e-6 and errors[0] < 4 * errors[1], (taps, channels, out, size, target, errors)


# Channels, images, positions, taps and the stride of depthwise convolutions, of whose filters gradients are.
DEPTHWISE = [(24, 3, [28, 20], 3, 1), (40, 2, [28, 28], 3, 2), (17, 3, [14, 13], 5, 2), (8, 1, [30, 19], 3, 3)]


def check_depthwise_gradient(folder, channels, images, size, taps, stride, target):
    """Sums over the positions of a picture, which is copied with its border, stride by stride, beside sums in fp64."""
    draws = np.random.default_rng(channels)
    border = taps // 2
    x = draws.standard_normal((channels, images, *((places - 1) * stride + taps - 2 * border for places in size)), dtype=np.float32)
    g = draws.standard_normal((channels, images, *size), dtype=np.float32)
    padded = np.pad(x.astype(np.float64), [(0, 0), (0, 0), (border, border), (border, border)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, (taps, taps), axis=(2, 3))[:, :, ::stride, ::stride]
    expected = np.einsum("cixyab,cixy->cab", windows, g.astype(np.float64), optimize=True)[None]
    value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    conv = helper.make_node("Conv", ["x", "g"], ["y"], group=channels, dilations=[stride] * 2, pads=[border] * 4)
    graph = helper.make_graph([conv], "depthwise", [value("x", (1, channels * images, *x.shape[2:])), value("g", g.shape)], [value("y", None)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10), folder / "m.onnx")
    for disabled, counted in (([], 1), (["--disable", "sum-blocks"], 0)):
        counters = freestone_runtime.compile_model(folder / "m.onnx", folder / "m.stone", "--target", target, *disabled)
        assert counters["sum_blocks"] == counted, (size, stride, counters)
        for workers in WORKERS:
            model = freestone_runtime.Model(folder / "m.stone", workers)
            (actual,) = model.run({"x": x.reshape(1, -1, *x.shape[2:]), "g": g})
            model.close()
            assert np.abs(actual - expected).max() < 4e-6 * np.abs(expected).max(), (channels, size, taps, stride, target)


def check_single_places(folder, size, target):
    """The gradient of depthwise filters, of pictures with one place along some axes: all other taps read the border."""
    draws, images, channels = np.random.default_rng(1), 4, 8
    x, g = (draws.standard_normal((images, channels, *size), dtype=np.float32) for _ in range(2))
    padded = np.pad(x.astype(np.float64), [(0, 0), (0, 0), (1, 1), (1, 1)])
    expected = np.einsum("icabxy,icxy->cab", np.lib.stride_tricks.sliding_window_view(padded, size, axis=(2, 3)), g.astype(np.float64))
    value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    nodes = [helper.make_node("Transpose", ["x"], ["turned"], perm=[1, 0, 2, 3]), helper.make_node("Reshape", ["turned", "shape"], ["merged"]),
             helper.make_node("Transpose", ["g"], ["kernel"], perm=[1, 0, 2, 3]),
             helper.make_node("Conv", ["merged", "kernel"], ["y"], group=channels, pads=[1] * 4)]
    shape = numpy_helper.from_array(np.array([1, channels * images, *size]), "shape")
    graph = helper.make_graph(nodes, "places", [value("x", x.shape), value("g", g.shape)], [value("y", None)], [shape])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10), folder / "m.onnx")
    freestone_runtime.compile_model(folder / "m.onnx", folder / "m.stone", "--target", target)
    model = freestone_runtime.Model(folder / "m.stone", 1)
    (actual,) = model.run({"x": x, "g": g})
    model.close()
    assert np.abs(actual[0] - expected).max() < 4e-6 * np.abs(expected).max(), (size, target)


# Taps and the stride of transposed convolutions, as gradients of pictures are: some results are of no tap, or of fewer.
TRANSPOSED = [(1, 3), (2, 3), (2, 5), (3, 4), (5, 2)]


def check_transposed(folder, taps, stride, target):
    """Results at distances of a stride, beside sums in fp64."""
    draws = np.random.default_rng(taps)
    border, rest = taps // 2, stride - 1
    w = draws.standard_normal((3, 5, taps, taps), dtype=np.float32)
    value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    transposed = helper.make_node("ConvTranspose", ["x", "w"], ["y"], strides=[stride] * 2, pads=[border] * 4, output_padding=[rest] * 2)
    graph = helper.make_graph([transposed], "transposed", [value("x", ("b", 3, "h", "v"))], [value("y", None)], [numpy_helper.from_array(w, "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10), folder / "m.onnx")
    freestone_runtime.compile_model(folder / "m.onnx", folder / "m.stone", "--target", target)
    for workers in WORKERS:
        model = freestone_runtime.Model(folder / "m.stone", workers)
        for images, *size in ((1, 1, 1), (2, 4, 7), (1, 9, 2)):
            x = draws.standard_normal((images, 3, *size), dtype=np.float32)
            whole = np.zeros((images, 5, *((places - 1) * stride + taps + rest for places in size)))
            for row, column in np.ndindex(taps, taps):
                at = [slice(tap, tap + (places - 1) * stride + 1, stride) for tap, places in zip((row, column), size, strict=True)]
                whole[:, :, at[0], at[1]] += np.einsum("bcij,co->boij", x.astype(np.float64), w[:, :, row, column])
            expected = whole[:, :, border : whole.shape[2] - border, border : whole.shape[3] - border]
            (actual,) = model.run({"x": x})
            assert actual.shape == expected.shape, (actual.shape, expected.shape, taps, stride)
            assert np.abs(actual - expected).max() < 4e-6 * np.abs(expected).max(), (taps, stride, size, workers, target)
        model.close()


def main():
    folder, count, seed = pathlib.Path(sys.argv[1]), int((sys.argv[2:] or [12])[0]), int((sys.argv[3:] or [1])[0])
    folder.mkdir(parents=True, exist_ok=True)
    check_switch(folder, "pictures-in-place", "pictures_in_place", Case(24, 64, [1, 1], following="Clip"))
    check_switch(folder, "pack-in-runs", "packed_in_runs", Case(24, 64, [3, 3], pads=[1] * 4, given=True))
    for given in (False, True):
        check_switch(folder, "winograd", "transformed", Case(24, 64, [3, 3], pads=[1] * 4, following="Pool", given=given))
    check_switch(folder, "share-rows", "shared_rows", Case(24, 24, [3, 3], pads=[1] * 4, groups=24))
    targets = distinct("host", "x86-64-v3")
    for target in targets:
        for gradient in GRADIENTS:
            check_gradient(folder, *gradient, target)
        for gradient in DEPTHWISE:
            check_depthwise_gradient(folder, *gradient, target)
        for size in ((1, 1), (1, 4), (4, 1)):
            check_single_places(folder, size, target)
        for transposed in TRANSPOSED:
            check_transposed(folder, *transposed, target)
        for case, sizes in BY_HAND:
            check(folder, case, sizes, 1, target)
    for number in range(seed, seed + count):
        draw = random.Random(number)
        case = draw_case(draw)
        sizes = [(draw.choice([0, 1, 1, 2, 3]), *(draw.choice(SIZES if case.spatial < 3 else SIZES[:5]) for _ in range(case.spatial))) for _ in range(3)]
        check(folder, case, sizes, number, targets[number % len(targets)])


main()
