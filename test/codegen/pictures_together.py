"""Convolutions of pictures that go together in a tile, beside fp64 sums: pictures_together.py FOLDER.

One artifact of each for all batches: one picture, fewer than a tile has, several tiles, the last of which has fewer. One
to three axes, strides, dilations, borders, groups, taps along the depth, what follows on the elements;
this machine and AVX2, with estimated rates, one to three workers. Without the switch numbers are the same but for rounding.
"""

import itertools
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import freestone_runtime
import numpy as np
import onnx
from convolution_sums import convolve
from onnx import TensorProto, helper
from targets import distinct

BATCHES = [0, 1, 2, 5, 16, 19]

# Channels in and out, taps, strides, dilations, borders before and behind, a picture; groups, and what follows.
CASES = [
    (200, 136, [3, 3], [1, 1], [1, 1], [1] * 4, [3, 3], 1, "Relu"),
    (200, 136, [3, 3], [1, 1], [1, 1], [1] * 4, [3, 3], 1, "Add"),
    (272, 256, [3, 3], [2, 2], [1, 1], [1] * 4, [6, 6], 1, "Relu"),
    (136, 128, [3, 3], [2, 3], [1, 1], [1, 0, 2, 1], [7, 5], 1, "Relu"),
    (136, 128, [3, 3], [1, 1], [2, 4], [2, 4, 2, 4], [4, 5], 1, "Relu"),
    (272, 256, [5, 1], [1, 2], [1, 1], [2, 0, 2, 0], [6, 7], 1, "Relu"),
    (272, 256, [3, 3], [1, 1], [1, 1], [0] * 4, [5, 6], 1, "MaxPool"),
    (272, 256, [5], [1], [1], [2, 2], [7], 1, "Relu"),
    (136, 128, [3], [2], [1], [1, 1], [9], 1, "Relu"),
    (136, 128, [1, 3, 3], [1, 1, 1], [1, 1, 1], [0, 1, 1] * 2, [4, 3, 3], 1, "Add"),
    (272, 256, [1, 3, 3], [1, 2, 2], [1, 1, 1], [0, 1, 1] * 2, [4, 6, 5], 1, "Relu"),
    (72, 128, [3, 3, 3], [1, 1, 1], [1, 1, 1], [1] * 6, [3, 3, 3], 1, "Relu"),
    (72, 128, [3, 3, 3], [2, 2, 2], [1, 1, 1], [1] * 6, [4, 5, 6], 1, "Relu"),
    (72, 128, [1, 3, 3], [1, 1, 1], [1, 1, 1], [1] * 6, [3, 3, 3], 1, "Relu"),
    (192, 192, [3, 3], [1, 1], [1, 1], [1] * 4, [4, 4], 2, "Relu"),
    (300, 130, [1, 1], [1, 1], [1, 1], [0] * 4, [4, 4], 1, "Relu"),
    (300, 130, [1, 1], [2, 2], [1, 1], [0] * 4, [7, 7], 1, "Relu"),
]


def make_model(w, strides, dilations, pads, groups, following, size, shape):
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"], strides=strides, dilations=dilations, pads=pads, group=groups)]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", w.shape[1] * groups, *size])]
    if following == "Add":
        nodes.append(helper.make_node("Add", ["c", "r"], ["y"]))
        inputs.append(helper.make_tensor_value_info("r", TensorProto.FLOAT, ["n", *shape]))
    elif following == "MaxPool":
        nodes.append(helper.make_node("MaxPool", ["c"], ["y"], kernel_shape=[2, 2], strides=[2, 2]))
    else:
        nodes.append(helper.make_node("Relu", ["c"], ["y"]))
    graph = helper.make_graph(nodes, "together", inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                              [helper.make_tensor("w", TensorProto.FLOAT, w.shape, w.tobytes(), raw=True)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)


def follow(sums, following, residual):
    if following == "Add":
        return sums + residual
    if following == "MaxPool":
        rows, pixels = (extent // 2 for extent in sums.shape[2:])
        sums = sums[:, :, : 2 * rows, : 2 * pixels].reshape(*sums.shape[:2], rows, 2, pixels, 2)
        return sums.max((3, 5), initial=-np.inf)
    return np.maximum(sums, 0)


def describe(folder, target):
    """Writes the device with estimated rates: measured ones decide whether pictures go together."""
    command = [freestone_runtime.freestone(), "machine", "--json", "--target", target]
    device = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout) | {"rates": {}}
    (folder / f"{target}.json").write_text(json.dumps(device))


def check(folder, case, target, switch):
    """Returns whether pictures go together; without the switch results are the same."""
    channels, out, taps, strides, dilations, pads, size, groups, following = case
    draws = np.random.default_rng(channels + out)
    w = draws.standard_normal((out, channels // groups, *taps), dtype=np.float32) / np.float32((channels * np.prod(taps)) ** 0.5)
    convolve_groups = lambda x: np.concatenate([convolve(part, of, strides, dilations, pads) for part, of in
                                                zip(np.split(x, groups, 1), np.split(w, groups))], 1)
    expected = []
    for batch in BATCHES:
        x = draws.standard_normal((batch, channels, *size), dtype=np.float32)
        sums = convolve_groups(x)
        residual = draws.standard_normal(sums.shape, dtype=np.float32)
        expected.append((x, residual, follow(sums, following, residual)))
    onnx.save(make_model(w, strides, dilations, pads, groups, following, size, sums.shape[1:]), folder / "m.onnx")
    together, results = 0, {}
    for options in ([], ["--disable", switch]):
        counters = freestone_runtime.compile_model(folder / "m.onnx", folder / "m.stone", "--device", folder / f"{target}.json",
                                                   "--disable", "winograd", *options)
        if "pictures-together" in options:
            assert counters["pictures_together"] == 0, (case, target)
        together += counters["pictures_together"]
        for workers in (1, 2, 3):
            model = freestone_runtime.Model(folder / "m.stone", workers)
            for batch, (x, residual, y) in zip(BATCHES, expected):
                (actual,) = model.run({"x": x, "r": residual} if following == "Add" else {"x": x})
                np.testing.assert_allclose(actual, y, rtol=2e-5, atol=2e-5, err_msg=f"{case} {target} {batch} {workers} {options}")
                # Tiles are the same on any number of workers.
                if workers == 1:
                    results[batch] = actual
                np.testing.assert_array_equal(actual, results[batch])
            model.close()
    return together > 0


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for target in distinct("host", "x86-64-v3"):
        describe(folder, target)
        together = [check(folder, case, target, switch)
                    for case, switch in zip(CASES, itertools.cycle(("pictures-together", "skip-taps")))]
        print(target, together)
        assert sum(together) >= len(CASES) // 3, (target, together)


main()
