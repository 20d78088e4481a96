"""Convolutions whose taps read a border of zeros alone, beside fp64 sums: skipped_taps.py FOLDER.

One artifact of each for all sizes: dilations beyond the picture, strides, uneven borders, one axis, volumes, chains of several;
f32 and bf16, this machine and AVX2, one to three workers. Numbers are those of fp64, and of the program without the switch.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import freestone_runtime
import ml_dtypes
import numpy as np
import onnx
from convolution_sums import convolve
from onnx import TensorProto, helper
from targets import distinct


# Channels in and out, taps, strides, dilations, borders before and behind; batches and sizes of pictures.
CASES = [
    (40, 64, [3, 3], [1, 1], [24, 24], [24] * 4, [(2, 5, 6), (1, 30, 25), (0, 5, 6), (1, 1, 1), (1, 60, 70)]),
    (40, 64, [3, 3], [1, 1], [4, 12], [4, 12, 4, 12], [(3, 7, 8), (1, 3, 40), (1, 40, 3)]),
    (70, 60, [5, 5], [2, 1], [2, 1], [4, 2, 4, 2], [(2, 7, 8), (1, 4, 4), (1, 29, 31)]),
    (24, 64, [3, 3], [2, 2], [1, 1], [1, 1, 0, 2], [(2, 7, 8), (1, 13, 16), (1, 3, 2)]),
    (24, 64, [5, 3], [1, 3], [6, 2], [9, 1, 15, 6], [(2, 9, 8), (1, 14, 30)]),
    (300, 64, [7, 7], [1, 1], [1, 1], [3] * 4, [(2, 4, 4), (1, 3, 20), (1, 15, 9)]),
    (24, 64, [1, 3], [1, 1], [1, 8], [0, 8, 0, 8], [(2, 7, 5), (1, 3, 40)]),
    (24, 64, [3, 1], [3, 1], [8, 1], [8, 0, 8, 0], [(2, 7, 5), (1, 40, 3)]),
    (24, 64, [3], [1], [20], [20, 20], [(2, 7), (1, 50), (1, 1)]),
    (16, 64, [3, 3, 3], [1, 1, 1], [1, 6, 6], [1, 6, 6] * 2, [(2, 2, 5, 6), (1, 1, 9, 20), (1, 5, 3, 3)]),
    (16, 64, [5, 3, 3], [2, 2, 1], [1, 1, 1], [2, 1, 1] * 2, [(2, 2, 5, 6), (1, 5, 8, 8)]),
]


def make_model(weights, strides, dilations, pads, element_type):
    """A convolution of each of the weights, one after the other, and a ReLU."""
    axes = weights[0].ndim - 2
    value = lambda name, channels, letter: helper.make_tensor_value_info(
        name, element_type, ["n", channels, *(f"{letter}{axis}" for axis in range(axes))])
    nodes, name = [], "x"
    for number, _ in enumerate(weights):
        nodes.append(helper.make_node("Conv", [name, f"w{number}"], [f"c{number}"], strides=strides, dilations=dilations, pads=pads))
        name = f"c{number}"
    nodes.append(helper.make_node("Relu", [name], ["y"]))
    tensors = []
    for number, w in enumerate(weights):
        tensors.append(helper.make_tensor(f"w{number}", element_type, w.shape, w.tobytes(), raw=True))
    graph = helper.make_graph(nodes, "taps", [value("x", weights[0].shape[1], "s")], [value("y", len(weights[-1]), "t")], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)


def compile_model(folder, *options):
    return freestone_runtime.compile_model(folder / "m.onnx", folder / "m.stone", *options)


def check(folder, case, target, element_type, depth=1):
    channels, out, taps, strides, dilations, pads, sizes = case
    draws = np.random.default_rng(channels)
    weights = [draws.standard_normal((out, channels if number == 0 else out, *taps), dtype=np.float32) /
               np.float32((channels * np.prod(taps)) ** 0.5) for number in range(depth)]
    dtype = ml_dtypes.bfloat16 if element_type == TensorProto.BFLOAT16 else np.float32
    weights = [w.astype(dtype) for w in weights]
    onnx.save(make_model(weights, strides, dilations, pads, element_type), folder / "m.onnx")
    results = []
    for options in ([], ["--disable", "skip-taps"])[: 2 if target == "host" else 1]:
        # Transformed filters have no taps to skip.
        counters = compile_model(folder, "--target", target, *(options or ["--disable", "winograd"]))
        if element_type == TensorProto.FLOAT:
            assert bool(counters["skipped_taps"]) == (not options), (case, target, counters["skipped_taps"])
        for workers in (1, 2, 3)[:1 if options else 3]:
            model = freestone_runtime.Model(folder / "m.stone", workers)
            for batch, *size in sizes:
                x = np.random.default_rng(batch + sum(size)).standard_normal((batch, channels, *size)).astype(dtype)
                expected = x
                for w in weights:
                    expected = convolve(expected, w, strides, dilations, pads)
                expected = np.maximum(expected, 0)
                actual = model.run({"x": x})[0].astype(np.float32)
                limit = 2e-5 if element_type == TensorProto.FLOAT else 2e-2
                assert actual.shape == expected.shape, (case, target, batch, size, actual.shape)
                np.testing.assert_allclose(actual, expected, rtol=limit, atol=limit, err_msg=f"{case} {target} {batch} {size} {options}")
            model.close()


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for target in distinct("host", "x86-64-v3"):
        for case in CASES:
            check(folder, case, target, TensorProto.FLOAT)
        # Stages of a chain read the rows that others leave in the cache.
        check(folder, (32, 32, [3, 3], [1, 1], [2, 2], [2] * 4, [(2, 7, 8), (1, 3, 3), (1, 30, 33)]), target, TensorProto.FLOAT, depth=2)
    check(folder, CASES[0], "host", TensorProto.BFLOAT16)


main()
