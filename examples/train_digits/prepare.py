"""The handwritten digits of scikit-learn, and a convolutional network for them: prepare.py FOLDER [--seed N].

Writes train.npz, test.npz (every fifth image, held out) and digits.onnx.
"""

import argparse
import importlib.util
import math
import pathlib
import sys

import numpy as np
from onnx import TensorProto

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from network import Network


def load_digits():
    """Images f32[1797, 1, 8, 8] in [0, 1] and labels i64[1797], from the package's own table: 64 gray values, then the digit."""
    package = pathlib.Path(importlib.util.find_spec("sklearn").origin).parent
    table = np.loadtxt(package / "datasets" / "data" / "digits.csv.gz", delimiter=",", dtype=np.int64)
    return (table[:, :-1].reshape(-1, 1, 8, 8) / 16).astype(np.float32), table[:, -1]


def convolution(net, name, x, inputs, outputs):
    """A 3×3 convolution, batch normalization and ReLU; Kaiming's initialization keeps the variance through it."""
    kernel = net.normal(f"{name}.weight", (outputs, inputs, 3, 3), math.sqrt(2 / (9 * inputs)))
    x = net.node("Conv", x, kernel, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    statistics = {"scale": np.ones, "bias": np.zeros, "mean": np.zeros, "var": np.ones}
    x = net.node("BatchNormalization", x, *[net.weight(f"{name}.norm.{part}", fill(outputs)) for part, fill in statistics.items()])
    return net.node("Relu", x)


def build(path, seed):
    net = Network("digits", seed)
    x = net.input("x", TensorProto.FLOAT, ["batch", 1, 8, 8])
    x = convolution(net, "first", x, 1, 32)
    x = convolution(net, "second", x, 32, 64)
    x = net.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = net.node("Flatten", x)
    x = net.node("Dropout", x, net.weight("dropout.ratio", np.float32(0.3)))
    logits = net.linear("classes", x, 64 * 4 * 4, 10, math.sqrt(1 / (64 * 4 * 4)))
    return net.save(path, logits, ["batch", 10])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    images, labels = load_digits()
    held_out = np.arange(len(labels)) % 5 == 4
    np.savez(arguments.folder / "train.npz", x=images[~held_out], y=labels[~held_out])
    np.savez(arguments.folder / "test.npz", x=images[held_out], y=labels[held_out])
    parameters = build(arguments.folder / "digits.onnx", arguments.seed)
    print(f"{(~held_out).sum()} images to learn from, {held_out.sum()} held out; a network of {parameters:,} numbers")


if __name__ == "__main__":
    main()
