"""Parameters in panels train as row-major ones do, bit by bit: layouts.py FREESTONE FOLDER.

A training, its checkpoints and its model are the same with and without `--disable=state-layouts`; a checkpoint of one goes
on in the other; widths that fill no panels, and tables that are gathered from as well, are among them. Where the order of
elements matters, they agree but for rounding.
"""

import sys

import numpy as np

from command import Command
from graphs import FLOAT, INT64, draw, node, save, tensors

FEATURES, NARROW, HIDDEN, CLASSES, SAMPLES, WORDS = 24, 3, 96, 5, 200, 64


def make_models(folder):
    """layers and deep: x f32[n, 24], narrow: x f32[n, 3] → logits f32[n, 5]; tied: x i64[n] → logits f32[n, 64]."""
    random = np.random.default_rng(1)
    # Columns are the second dimension of w1, the first of w2 and w3; those of w3 fill no panel.
    save(folder / "layers.onnx",
         [node("MatMul", ["x", "w1"], ["h"]), node("Add", ["h", "b1"], ["a"]), node("Relu", ["a"], ["r"]),
          node("Gemm", ["r", "w2", "b2"], ["i"], transB=1), node("Tanh", ["i"], ["t"]),
          node("Gemm", ["t", "w3", "b3"], ["logits"], transB=1)],
         [("x", FLOAT, ["n", FEATURES])], [("logits", FLOAT, ["n", CLASSES])],
         draw(random, {"w1": (FEATURES, HIDDEN), "b1": (HIDDEN,), "w2": (64, HIDDEN), "b2": (64,), "w3": (CLASSES, 64),
                       "b3": (CLASSES,)}, scale=0.1))
    # The gradients of so few rows are updates of many columns at once where these are not in panels.
    save(folder / "narrow.onnx",
         [node("Gemm", ["x", "w1", "b1"], ["h"], transB=1), node("Relu", ["h"], ["r"]),
          node("Gemm", ["r", "w2", "b2"], ["logits"], transB=1)],
         [("x", FLOAT, ["n", NARROW])], [("logits", FLOAT, ["n", CLASSES])],
         draw(random, {"w1": (384, NARROW), "b1": (384,), "w2": (CLASSES, 384), "b2": (CLASSES,)}, scale=0.1))
    # Gradients of activations are inner products by the panels of a parameter, where a batch is small.
    save(folder / "deep.onnx",
         [node("MatMul", ["x", "w1"], ["h"]), node("Tanh", ["h"], ["t"]), node("Gemm", ["t", "w2", "b2"], ["i"], transB=1),
          node("Tanh", ["i"], ["u"]), node("MatMul", ["u", "w3"], ["j"]), node("Tanh", ["j"], ["v"]),
          node("Gemm", ["v", "w4", "b4"], ["logits"], transB=1)],
         [("x", FLOAT, ["n", FEATURES])], [("logits", FLOAT, ["n", CLASSES])],
         draw(random, {"w1": (FEATURES, 352), "w2": (320, 352), "b2": (320,), "w3": (320, 64), "w4": (CLASSES, 64),
                       "b4": (CLASSES,)}, scale=0.1))
    # A table that the logits are made with, too.
    save(folder / "tied.onnx",
         [node("Gather", ["table", "x"], ["e"]), node("MatMul", ["e", "w"], ["h"]), node("Tanh", ["h"], ["t"]),
          node("Transpose", ["table"], ["tt"], perm=[1, 0]), node("MatMul", ["t", "tt"], ["logits"])],
         [("x", INT64, ["n"])], [("logits", FLOAT, ["n", WORDS])],
         draw(random, {"table": (WORDS, 32), "w": (32, 32)}, scale=0.1))
    np.savez(folder / "layers.npz", x=random.normal(size=(SAMPLES, FEATURES)).astype(np.float32),
             y=random.integers(0, CLASSES, SAMPLES))
    np.savez(folder / "narrow.npz", x=random.normal(size=(SAMPLES, NARROW)).astype(np.float32),
             y=random.integers(0, CLASSES, SAMPLES))
    np.savez(folder / "deep.npz", x=random.normal(size=(SAMPLES, FEATURES)).astype(np.float32),
             y=random.integers(0, CLASSES, SAMPLES))
    np.savez(folder / "tied.npz", x=random.integers(0, WORDS, SAMPLES), y=random.integers(0, WORDS, SAMPLES))


def main():
    tool, off = Command(*sys.argv[1:]), ["--disable", "state-layouts"]
    make_models(tool.folder)

    def train(model, run, *options, batch=40):
        tool.train(f"{model}.onnx", "--data", f"{model}.npz", "--labels", "y", "--out", run, "--batch", batch, "--threads", 2,
                   *options)

    def expect_close(run, other):
        ours, rows = (tensors(tool.folder / each / "model.onnx") for each in (run, other))
        for key, value in rows.items():
            np.testing.assert_allclose(ours[key], value, rtol=1e-5, atol=1e-5, err_msg=f"{run}: {key}")

    def last_checkpoint(run):
        step = max(tool.checkpoints(run))
        return step, tool.checkpoint(run, step)

    cases = {"adamw": ["--optimizer", "adamw"], "sgd": ["--optimizer", "sgd", "--momentum", 0.9],
             "adagrad": ["--optimizer", "adagrad"], "batches": ["--accumulate", 2]}
    for model in ("layers", "tied"):
        for name, options in cases.items():
            run = f"{model}-{name}"
            train(model, run, "--epochs", 2, *options)
            train(model, f"{run}-rows", "--epochs", 2, *options, *off)
            assert last_checkpoint(run) == last_checkpoint(f"{run}-rows"), run
            start, ours, rows = (tensors(tool.folder / path)
                                 for path in (f"{model}.onnx", f"{run}/model.onnx", f"{run}-rows/model.onnx"))
            assert all(np.array_equal(ours[key], rows[key]) for key in rows), run
            for key in start:
                assert ours[key].shape == start[key].shape and not np.array_equal(ours[key], start[key]), (run, key)

    # On in the layout that it was not begun in: the same bits as a training that never stopped.
    for first, second in ((), off), (off, ()), ((), ()):
        run = f"resumed-{len(first)}-{len(second)}"
        train("layers", run, "--epochs", 1, *first)
        train("layers", run, "--epochs", 2, "--resume", run, *second)
        train("layers", f"{run}-whole", "--epochs", 2)
        assert last_checkpoint(run) == last_checkpoint(f"{run}-whole"), run

    # What depends on the order of elements: a norm, and the noise that moments in bf16 are rounded with.
    for name, tolerance, options in ("clipped", 1e-6, ["--clip-norm", 0.1]), ("moments", 1e-3, ["--moments", "bf16"]):
        train("layers", name, "--epochs", 2, *options)
        train("layers", f"{name}-rows", "--epochs", 2, *options, *off)
        assert np.allclose(tool.metrics(name), tool.metrics(f"{name}-rows"), rtol=tolerance), name
    # And the sums of a few rows.
    for run, options in ("narrow", []), ("narrow-rows", off):
        train("narrow", run, "--epochs", 2, *cases["sgd"], *options)
    expect_close("narrow", "narrow-rows")
    for batch in (6, 31):
        run = f"deep-{batch}"
        for name, options in (run, []), (f"{run}-packed", ["--disable", "stream-columns"]), (f"{run}-rows", off):
            train("deep", name, "--steps", 8, *cases["sgd"], *options, batch=batch)
        expect_close(run, f"{run}-packed")
        expect_close(run, f"{run}-rows")
    print("ok")


main()
