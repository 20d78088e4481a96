"""Attention with dropout, trained as connected programs: attention_dropout.py FREESTONE FOLDER.

The same numbers are drawn with and without connection, in the forward and in the backward pass, for any number of
threads: the losses of some steps are the same but for rounding.
"""

import json
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / folder) for folder in ("bench", "test/codegen")]

import numpy as np

from command import Command
from graphs import FLOAT, constant, draw, fan_in, node, save
from targets import distinct

HEADS, DEPTH, CLASSES, LENGTH = 2, 24, 5, 45
WIDTH = HEADS * DEPTH
DATA = ["--data", "data.npz", "--labels", "y"]


def make_model(path):
    """x f32[n, s, WIDTH] → attention with dropout of its weights, and causal → times x → mean of the rows →
    logits f32[n, CLASSES]."""
    nodes = []
    for name, order in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3])):
        nodes += [node("MatMul", ["x", f"w{name}"], [f"{name}x"]), node("Reshape", [f"{name}x", "split"], [f"{name}s"]),
                  node("Transpose", [f"{name}s"], [name], perm=order)]
    nodes += [node("MatMul", ["q", "k"], ["raw"]), node("Mul", ["raw", "scale"], ["scores"]),
              node("Shape", ["raw"], ["rows"], start=2, end=3), node("Squeeze", ["rows"], ["row_count"]),
              node("Range", ["none", "row_count", "one"], ["columns"]), node("Unsqueeze", ["columns", "last"], ["lines"]),
              node("LessOrEqual", ["columns", "lines"], ["seen"]), node("Where", ["seen", "scores", "lowest"], ["masked"]),
              node("Softmax", ["masked"], ["weights"], axis=-1), node("Dropout", ["weights", "ratio"], ["dropped"]),
              node("MatMul", ["dropped", "v"], ["heads"]), node("Transpose", ["heads"], ["rows_of_heads"], perm=[0, 2, 1, 3]),
              node("Reshape", ["rows_of_heads", "joined"], ["mixed"]), node("Mul", ["mixed", "x"], ["products"]),
              node("ReduceMean", ["products", "one_axis"], ["mean"], keepdims=0),
              node("Gemm", ["mean", "head"], ["logits"])]
    save(path, nodes, [("x", FLOAT, ["n", "s", WIDTH])], [("logits", FLOAT, ["n", CLASSES])],
         [*draw(4, {**{f"w{name}": (WIDTH, WIDTH) for name in "qkv"}, "head": (WIDTH, CLASSES)}, fan_in),
          constant("split", [0, 0, HEADS, DEPTH], np.int64), constant("joined", [0, 0, WIDTH], np.int64),
          constant("scale", DEPTH**-0.5), constant("lowest", -np.inf), constant("ratio", 0.25), constant("none", 0, np.int64),
          constant("one", 1, np.int64), constant("last", [1], np.int64), constant("one_axis", [1], np.int64)])


def train(tool, threads, *options):
    """The losses, and how many connections the step has."""
    tool.train("model.onnx", "--compile-only", "-o", "step.stone", "--optimizer", "sgd", *DATA, *options)
    tool.remove("run")
    tool.train("step.stone", *DATA, "--batch", 8, "--lr", 0.3, "--seed", 5, "--steps", 6, "--epochs", 9, "--threads", threads, "--out", "run")
    connected = json.loads(tool.run("inspect", "step.stone", "--json").stdout)["statistics"]["connected"]
    return np.array(tool.metrics("run")), connected


def main():
    tool = Command(*sys.argv[1:])
    make_model(tool.folder / "model.onnx")
    random = np.random.default_rng(3)
    np.savez(tool.folder / "data.npz", x=random.normal(size=(24, LENGTH, WIDTH)).astype(np.float32), y=random.integers(0, CLASSES, 24))
    apart, none = train(tool, 1, "--disable", "connect,reassociate")
    assert none == 0
    for target in distinct("host", "x86-64-v3", tool=tool.path):
        for threads in (1, 2):
            losses, connected = train(tool, threads, "--target", target)
            assert connected >= 2, connected
            np.testing.assert_allclose(losses, apart, rtol=1e-5, err_msg=f"{target}, {threads} threads")
            print(f"{target}, {threads} threads: {connected} connections, losses {losses}")
    # Dropout does something.
    assert np.ptp(apart) > 0


main()
