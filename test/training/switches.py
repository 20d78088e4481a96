"""The optimizations of training steps can be switched off: switches.py FREESTONE FOLDER.

A convolutional network trains with each of them and without: without, its counter is 0, with it it is not, and the losses
are the same but for rounding, which grows from step to step. What only some devices do is counted in a product that is
compiled for such a device, whether or not this machine is one.
"""

import json
import sys

import numpy as np

from command import Command
from graphs import BFLOAT16, FLOAT, draw, fan_in, node, normalization, save

FIRST, LATER = 4, 0.05
CLASSES = 5
DATA = ["--data", "data.npz", "--labels", "y"]


def make_model(path):
    """image f32[n, 2, 20, 18] → Conv, BatchNormalization, Relu, MaxPool, Conv with steps of 2, Gemm, Relu, Gemm → logits
    f32[n, 5]."""
    save(path,
         [node("Conv", ["image", "k1", "c1"], ["a"], pads=[1, 1, 1, 1]),
          node("BatchNormalization", ["a", "scale", "shift", "mean", "variance"], ["n"], momentum=0.9),
          node("Relu", ["n"], ["r"]), node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
          node("Conv", ["p", "k2"], ["b"], pads=[1, 1, 1, 1], strides=[2, 2]), node("Flatten", ["b"], ["f"]),
          node("Gemm", ["f", "w1", "b1"], ["g"], transB=1), node("Relu", ["g"], ["h"]),
          node("Gemm", ["h", "w2", "b2"], ["logits"], transB=1)],
         [("image", FLOAT, ["n", 2, 20, 18])], [("logits", FLOAT, ["n", CLASSES])],
         [*draw(4, {"k1": (16, 2, 3, 3), "c1": (16,), "k2": (8, 16, 3, 3), "w1": (64, 8 * 5 * 5), "b1": (64,),
                    "w2": (CLASSES, 64), "b2": (CLASSES,)}, fan_in), *normalization(16)])


def train(tool, options):
    """The losses; `step.stone` is the step."""
    # Not AdamW, which makes a whole step of a gradient that is all rounding.
    tool.train("model.onnx", "--compile-only", "-o", "step.stone", "--optimizer", "sgd", *DATA, *options)
    tool.remove("run")
    tool.train("step.stone", *DATA, "--batch", 64, "--lr", 0.05, "--seed", 5, "--epochs", 100, "--steps", 12, "--threads", 2,
               "--out", "run")
    return tool.metrics("run")


def count_step(tool, *options):
    """The counters of the step that was trained last."""
    return json.loads(tool.run("inspect", "step.stone", "--json").stdout)["statistics"]


def count_product(tool, *options):
    """The counters of a product of bf16 for a device that sums in pairs."""
    compiled = tool.run("compile", "product.onnx", "-o", "product.stone", "--target", "x86-64-v4,+amx-bf16", "--json", *options)
    return json.loads(compiled.stdout)["counters"]


# Switch → counter, where it is counted, options of the training, how far the first losses may be.
SWITCHES = {
    "siblings": ("siblings", count_step, [], 1e-4),
    "state-layouts": ("laid_out", count_step, [], 1e-4),
    "split-reductions": ("split_reductions", count_step, [], 1e-4),
    "residue-classes": ("residue_classes", count_step, [], 1e-4),
    "weight-gradients": ("weight_gradients", count_step, [], 1e-4),
    "windows": ("windows", count_step, [], 1e-4),
    "shorten-live-ranges": ("shortened", count_step, [], 1e-4),
    "keep-packed": ("kept_packed", count_step, [], 1e-4),
    "merge-phases": ("merged_phases", count_step, [], 1e-4),
    "donate": ("donated", count_step, [], 1e-4),
    "dot-products": ("dot_products", count_product, ["--precision", "bf16"], 1e-2),
}


def main():
    tool = Command(*sys.argv[1:])
    make_model(tool.folder / "model.onnx")
    save(tool.folder / "product.onnx", [node("MatMul", ["a", "b"], ["y"])],
         [("a", BFLOAT16, ["m", "k"]), ("b", BFLOAT16, ["k", "n"])], [("y", BFLOAT16, ["m", "n"])])
    random = np.random.default_rng(3)
    images = random.normal(size=(100, 2, 20, 18)).astype(np.float32)
    y = (images.reshape(100, -1) @ random.normal(size=(720, CLASSES))).argmax(1)
    np.savez(tool.folder / "data.npz", image=images, y=y)
    whole = {}
    for switch, (counter, count, options, tolerance) in SWITCHES.items():
        key = tuple(options), count
        if key not in whole:
            losses = train(tool, options)
            assert losses[-1] < 0.8 * losses[0], losses
            whole[key] = losses, count(tool)
        losses, counters = whole[key]
        losses_without = train(tool, [*options, "--disable", switch])
        without = count(tool, "--disable", switch)
        assert counters[counter] > 0, f"{switch} does nothing"
        assert without[counter] == 0, f"{switch}: {without}"
        np.testing.assert_allclose(losses_without[:FIRST], losses[:FIRST], rtol=tolerance, err_msg=switch)
        np.testing.assert_allclose(losses_without, losses, rtol=LATER, err_msg=switch)
        apart = np.max(np.abs(np.divide(losses_without, losses) - 1))
        print(f"{switch}: {counter} {counters[counter]}, losses within {apart:.1e}")


main()
