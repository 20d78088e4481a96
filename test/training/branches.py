"""Branches whose sides give other sizes are trained: branches.py FREESTONE FOLDER.

Data choose whether rows are doubled by products with w, or get a bias. Losses follow those of gradients that are computed by
hand in fp64, on one worker and more, with AVX2 code too; batches take either side.
"""

import sys

import numpy as np
import onnx
import onnx.parser
from onnx import numpy_helper

from command import Command

RATE, BATCH, WIDTH = 0.05, 16, 8
TEXT = """<ir_version: 9, opset_import: ["": 20]> branches (float[n, 8] x) => (float loss) {
    none = Constant<value_float = 0.0>() two = Constant<value_float = 2.0>()
    sum = ReduceSum<keepdims = 0>(x) isPositive = Greater(sum, none)
    rows = If<then_branch = doubled () => (float[p, 8] f) { a = MatMul(x, w) b = Mul(a, two) f = Concat<axis = 0>(a, b) },
              else_branch = biased () => (float[q, 8] g) { g = Add(x, bias) }>(isPositive)
    waves = Sin(rows) squares = Mul(waves, waves) loss = ReduceSum<keepdims = 0>(squares)
}"""


def train_by_hand(weights, x):
    """The losses of steps of gradient descent."""
    w, bias = (np.float64(weights[name]) for name in ("w", "bias"))
    losses = []
    for start in range(0, len(x), BATCH):
        rows = np.float64(x[start:start + BATCH])
        if rows.sum() > 0:
            a = rows @ w
            losses.append((np.sin(a)**2).sum() + (np.sin(2 * a)**2).sum())
            w = w - RATE * rows.T @ (np.sin(2 * a) + 2 * np.sin(4 * a))
        else:
            losses.append((np.sin(rows + bias)**2).sum())
            bias = bias - RATE * np.sin(2 * (rows + bias)).sum(0)
    return losses


def main():
    tool, random = Command(*sys.argv[1:]), np.random.default_rng(0)
    weights = {"w": (random.standard_normal((WIDTH, WIDTH)) / 3).astype(np.float32), "bias": random.standard_normal(WIDTH).astype(np.float32)}
    model = onnx.parser.parse_model(TEXT)
    model.graph.initializer.extend(numpy_helper.from_array(value, name) for name, value in weights.items())
    onnx.save(model, tool.folder / "model.onnx")
    signs = np.repeat([1, -1, -1, 1, 1, -1], BATCH)[:, None]
    x = (signs * np.abs(random.standard_normal((len(signs), WIDTH))) / 5).astype(np.float32)
    np.savez(tool.folder / "data.npz", x=x)
    expected = train_by_hand(weights, x)
    for options in (["--threads", 1], ["--threads", 3], ["--threads", 2, "--recompute", "blocks"], ["--threads", 2, "--target", "x86-64-v3"]):
        tool.remove("run")
        tool.train("model.onnx", "--data", "data.npz", "--loss", "output:loss", "--optimizer", "sgd", "--lr", RATE, "--batch", BATCH,
                   "--no-shuffle", "--epochs", 1, *options, "--out", "run")
        np.testing.assert_allclose(tool.metrics("run"), expected, rtol=2e-4, err_msg=f"{options}")
    print(f"{len(expected)} steps")


main()
