"""The optimisations of training steps can be switched off: switches.py FREESTONE FOLDER.

A convolutional network trains with each of them and without: without, its counter is 0, with it it is not, and the losses
are the same but for rounding, which grows from step to step.
"""

import json
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# Switch → counter, options of the training, how far the first losses may be.
SWITCHES = {
    "siblings": ("siblings", [], 1e-4),
    "state-layouts": ("laid_out", [], 1e-4),
    "kernel-gradients": ("kernel_gradients", [], 1e-4),
    "shorten-lives": ("shortened", [], 1e-4),
    "keep-packed": ("kept_packed", [], 1e-4),
    "merge-phases": ("merged_phases", [], 1e-4),
    "donate": ("donated", [], 1e-4),
    "pairs": ("pairs", ["--precision", "bf16"], 1e-2),
}
FIRST, LATER = 4, 0.05
CLASSES = 5


def make_model(path):
    """image [n, 2, 20, 18] → Conv, BatchNormalization, Relu, MaxPool, Conv with steps of 2, Gemm, Relu, Gemm → logits [n, 5]."""
    random = np.random.default_rng(4)

    def weight(name, *shape):
        scale = 1 / np.sqrt(np.prod(shape[1:]) if len(shape) > 1 else 10)
        return numpy_helper.from_array(random.normal(scale=scale, size=shape).astype(np.float32), name)

    weights = [weight("k1", 16, 2, 3, 3), weight("c1", 16), weight("k2", 8, 16, 3, 3), weight("w1", 64, 8 * 5 * 5), weight("b1", 64),
               weight("w2", CLASSES, 64), weight("b2", CLASSES)]
    weights += [numpy_helper.from_array(np.full(16, value, np.float32), name) for name, value in
                (("scale", 1), ("shift", 0), ("mean", 0), ("variance", 1))]
    nodes = [
        helper.make_node("Conv", ["image", "k1", "c1"], ["a"], pads=[1, 1, 1, 1]),
        helper.make_node("BatchNormalization", ["a", "scale", "shift", "mean", "variance"], ["n"], momentum=0.9),
        helper.make_node("Relu", ["n"], ["r"]),
        helper.make_node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Conv", ["p", "k2"], ["b"], pads=[1, 1, 1, 1], strides=[2, 2]),
        helper.make_node("Flatten", ["b"], ["f"]),
        helper.make_node("Gemm", ["f", "w1", "b1"], ["g"], transB=1),
        helper.make_node("Relu", ["g"], ["h"]),
        helper.make_node("Gemm", ["h", "w2", "b2"], ["logits"], transB=1),
    ]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "pictures", [value("image", TensorProto.FLOAT, ["n", 2, 20, 18])],
                              [value("logits", TensorProto.FLOAT, ["n", CLASSES])], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)


def train(freestone, folder, options):
    """The counters of the step's compilation, and the losses."""
    data = ["--data", "data.npz", "--labels", "y"]

    def run(*words):
        return subprocess.run([freestone, *words], cwd=folder, check=True, capture_output=True).stdout

    # Not AdamW, which makes a whole step of a gradient that is all rounding.
    run("train", "model.onnx", "--compile-only", "-o", "step.stone", "--optimizer", "sgd", *data, *options)
    run("train", "step.stone", *data, "--batch", "64", "--lr", "0.05", "--seed", "5", "--epochs", "100", "--steps", "12", "--threads", "2",
        "--out", "run")
    lines = (folder / "run" / "metrics.jsonl").read_text().splitlines()
    shutil.rmtree(folder / "run")
    return json.loads(run("inspect", "step.stone", "--json"))["statistics"], [json.loads(line)["loss"] for line in lines]


def main():
    freestone, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    make_model(folder / "model.onnx")
    random = np.random.default_rng(3)
    images = random.normal(size=(100, 2, 20, 18)).astype(np.float32)
    np.savez(folder / "data.npz", image=images, y=(images.reshape(100, -1) @ random.normal(size=(720, CLASSES))).argmax(1))
    whole = {}
    for switch, (counter, options, tolerance) in SWITCHES.items():
        key = tuple(options)
        if key not in whole:
            whole[key] = train(freestone, folder, options)
            assert whole[key][1][-1] < 0.8 * whole[key][1][0], whole[key]
        counters, losses = whole[key]
        without, losses_without = train(freestone, folder, [*options, "--disable", switch])
        assert counters[counter] > 0, f"{switch} does nothing"
        assert without[counter] == 0, f"{switch}: {without}"
        np.testing.assert_allclose(losses_without[:FIRST], losses[:FIRST], rtol=tolerance, err_msg=switch)
        np.testing.assert_allclose(losses_without, losses, rtol=LATER, err_msg=switch)
        print(f"{switch}: {counter} {counters[counter]}, losses within {np.max(np.abs(np.divide(losses_without, losses) - 1)):.1e}")


main()
