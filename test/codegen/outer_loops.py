"""Normalizations of channels and what goes with them channel by channel, against numpy: outer_loops.py FOLDER [COUNT [SEED]].

BatchNormalization by a batch's statistics, between windows of single channels, pools and activations, is one program
whose stages go through blocks of channels. One artifact for all sizes, which are symbols: no pictures, pictures of one
pixel, rows shorter and longer than a vector, more and fewer channels than a block. For this machine and for AVX2, on
one to four workers, whose bits are the same; the numbers beside those of fp64. First a case by hand, and training beside
a step whose programs stay apart, then COUNT random ones.
"""

import json
import pathlib
import random
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import freestone_runtime
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from targets import distinct

WORKERS = (1, 2, 3, 4)
SIZES = [(1, 1, 1), (2, 7, 7), (3, 14, 14), (0, 9, 9), (2, 33, 17), (1, 5, 64)]


class Window:
    """A depthwise convolution, or the largest of a window where it is none."""

    def __init__(self, kernel, stride, isConvolution=True):
        self.kernel, self.stride, self.isConvolution = kernel, stride, isConvolution

    def __repr__(self):
        return f"Window({self.kernel}, {self.stride}, {self.isConvolution})"

    def node(self, number, source, channels, weights, draws):
        pads = [self.kernel // 2] * 4
        shape = {"kernel_shape": [self.kernel] * 2, "strides": [self.stride] * 2, "pads": pads}
        if not self.isConvolution:
            return helper.make_node("MaxPool", [source], [f"w{number}"], **shape)
        weights[f"k{number}"] = draws.standard_normal((channels, 1, self.kernel, self.kernel), dtype=np.float32)
        return helper.make_node("Conv", [source, f"k{number}"], [f"w{number}"], group=channels, **shape)

    def compute(self, x, filters):
        n, c, h, w = x.shape
        border = self.kernel // 2
        fill = 0.0 if self.isConvolution else -np.inf
        padded = np.pad(x, ((0, 0), (0, 0), (border, border), (border, border)), constant_values=fill)
        views = np.lib.stride_tricks.sliding_window_view(padded, (self.kernel, self.kernel), axis=(2, 3))
        views = views[:, :, :: self.stride, :: self.stride]
        if not self.isConvolution:
            return views.max(axis=(4, 5), initial=-np.inf)
        return np.einsum("nchwij,cij->nchw", views, filters[:, 0])


def make_model(channels, windows, activation, draws):
    """BatchNormalization, activation and window, again and again, with another normalization at the end."""
    weights, nodes, source = {}, [], "x"
    for number in range(len(windows) + 1):
        for name, low in (("s", 0.5), ("b", -1.0)):
            weights[f"{name}{number}"] = draws.uniform(low, low + 1, channels).astype(np.float32)
        weights[f"m{number}"], weights[f"v{number}"] = np.zeros(channels, np.float32), np.ones(channels, np.float32)
        operands = [source] + [f"{name}{number}" for name in "sbmv"]
        nodes.append(helper.make_node("BatchNormalization", operands, [f"n{number}", f"rm{number}", f"rv{number}"],
                                      training_mode=1, epsilon=1e-3))
        nodes.append(helper.make_node(activation, [f"n{number}"], [f"a{number}"]))
        source = f"a{number}"
        if number < len(windows):
            nodes.append(windows[number].node(number, source, channels, weights, draws))
            source = f"w{number}"
    nodes[-1].output[0] = "y"
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", channels, f"{name}h", f"{name}w"])
    results = [value("y")] + [helper.make_tensor_value_info(f"rm{len(windows)}", TensorProto.FLOAT, [channels])]
    graph = helper.make_graph(nodes, "channels", [value("x")], results,
                              [numpy_helper.from_array(array, name) for name, array in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10), weights


def compute(x, weights, windows, activation):
    x = x.astype(np.float64)
    for number in range(len(windows) + 1):
        mean, variance = x.mean(axis=(0, 2, 3), keepdims=True), x.var(axis=(0, 2, 3), keepdims=True)
        scale, shift = (weights[f"{name}{number}"].astype(np.float64)[:, None, None] for name in "sb")
        x = (x - mean) / np.sqrt(variance + 1e-3) * scale + shift
        x = np.maximum(x, 0) if activation == "Relu" else 1 / (1 + np.exp(-x)) if activation == "Sigmoid" else np.tanh(x)
        if number < len(windows):
            x = windows[number].compute(x, weights.get(f"k{number}"))
    return x


def run(artifact, x, workers):
    model = freestone_runtime.Model(artifact, workers)
    y, means = model.run({"x": x})
    model.close()
    return y, means


def check(folder, channels, windows, activation, sizes, targets, draws):
    """Returns the edges under outer loops, of all targets."""
    model, weights = make_model(channels, windows, activation, draws)
    onnx.save(model, folder / "m.onnx")
    edges = 0
    for target in targets:
        edges += freestone_runtime.compile_model(folder / "m.onnx", folder / "m.stone", "--target", target)["outer_loops"]
        for batch, height, width in sizes:
            x = draws.standard_normal((batch, channels, height, width), dtype=np.float32) * 3 + 1
            case = f"{channels} channels, {windows}, {activation}, {x.shape}, {target}"
            (y, means), *others = (run(folder / "m.stone", x, workers) for workers in WORKERS)
            expected = compute(x, weights, windows, activation) if x.size else np.empty_like(y)
            assert y.shape == expected.shape, f"{case}: {y.shape}, not {expected.shape}"
            np.testing.assert_allclose(y, expected, rtol=2e-4, atol=2e-4, err_msg=case)
            for other in others:
                assert [each.tobytes() for each in other] == [y.tobytes(), means.tobytes()], f"{case}: workers change bits"
    return edges


def check_training(folder, draws):
    """A step of which most is under outer loops, forward and backward, beside one whose programs stay apart."""
    channels, windows = 64, [Window(3, 1), Window(3, 2), Window(5, 1)]
    model, _ = make_model(channels, windows, "Relu", draws)
    graph = model.graph
    graph.node.append(helper.make_node("ReduceMean", ["y"], ["logits"], axes=[2, 3], keepdims=0))
    del graph.output[:], graph.input[:]
    graph.input.append(helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", channels, 19, 23]))
    graph.output.append(helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", channels]))
    onnx.save(model, folder / "t.onnx")
    np.savez(folder / "t.npz", x=draws.standard_normal((24, channels, 19, 23), dtype=np.float32), labels=draws.integers(0, channels, 24))
    losses = {}
    for target in distinct("host", "x86-64-v3"):
        for options in ([], ["--recompute", "none"], ["--disable", "outer-loops"]):
            command = [freestone_runtime.freestone(), "train", folder / "t.onnx", "--data", folder / "t.npz", "--optimizer", "sgd", "--lr",
                       "0.05", "--batch", "8", "--epochs", "3", "--target", target, "--out", folder / "run", "--no-cache", *options]
            shutil.rmtree(folder / "run", ignore_errors=True)
            subprocess.run(command, check=True, capture_output=True)
            lines = (folder / "run" / "metrics.jsonl").read_text().splitlines()
            losses[target, *options] = [json.loads(line)["loss"] for line in lines if '"loss"' in line]
    first, *others = losses.values()
    for other in others:
        np.testing.assert_allclose(other, first, rtol=2e-5)


def draw_case(draw):
    windows = [Window(draw.choice([1, 3, 3, 5]), draw.choice([1, 1, 2]), draw.random() < 0.75) for _ in range(draw.choice([1, 2, 3]))]
    return draw.choice([32, 33, 48, 100]), windows, draw.choice(["Relu", "Sigmoid", "Tanh"])


def main():
    folder, count, seed = pathlib.Path(sys.argv[1]), int((sys.argv[2:] or [6])[0]), int((sys.argv[3:] or [1])[0])
    folder.mkdir(parents=True, exist_ok=True)
    targets = distinct("host", "x86-64-v3")
    edges = check(folder, 48, [Window(3, 1), Window(3, 2)], "Relu", SIZES, targets, np.random.default_rng(0))
    assert edges >= 3 * len(targets), f"only {edges} edges are under outer loops"
    apart = freestone_runtime.compile_model(folder / "m.onnx", folder / "apart.stone", "--disable", "outer-loops")
    assert apart["outer_loops"] == 0, "programs are fused that are to stay apart"
    check_training(folder, np.random.default_rng(1))
    for number in range(seed, seed + count):
        draw = random.Random(number)
        check(folder, *draw_case(draw), draw.sample(SIZES, 3), [targets[number % len(targets)]], np.random.default_rng(number))


main()
