"""Softmax cross-entropy of a product, and what else may lie over its operand: cross_entropy.py FOLDER; the environment
names the build.

The gradient of the logits lies over the logits, rows that are normalised over what they were made of. Results have the
same bits as where they do not, for every number of workers, take that much less memory, and are as near to numpy's in
fp64 as rounding allows; for the processor's widest vectors and for narrow ones.
"""

import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / folder) for folder in ("bench", "test/training")]

import freestone_runtime
import numpy as np

from graphs import FLOAT, INT64, node, save
from targets import distinct

TARGETS = distinct("host", "x86-64-v3")
WORKERS = (1, 2, 3)
DEPTH = 24
# The arena grows by whole pages.
PAGE = 4096
# Rows and classes: less than a vector, with a rest, rows of many cache lines, and none.
SIZES = [(1, 1), (3, 5), (7, 100), (70, 1000), (33, 5003), (0, 40)]


def get_loss(x, w, labels):
    """The loss and its gradients with respect to x and w."""
    logits = x @ w
    weights = np.exp(logits - logits.max(-1, keepdims=True, initial=-np.inf))
    sums = weights.sum(-1, keepdims=True)
    chosen = np.eye(w.shape[1])[labels]
    loss = (np.log(sums)[:, 0] - np.sum((logits - logits.max(-1, keepdims=True, initial=-np.inf)) * chosen, -1)).sum()
    slope = weights / sums - chosen
    return [loss, slope @ w.T, x.T @ slope]


def normalise(x, w, labels):
    """Rows of x w, normalised thrice: by their mean and deviation, by the sum of magnitudes and as a softmax."""
    rows = x @ w
    rows = (rows - rows.mean(-1, keepdims=True)) / np.sqrt(rows.var(-1, keepdims=True) + 1e-5)
    rows = rows / np.maximum(np.abs(rows).sum(-1, keepdims=True), 1e-12)
    weights = np.exp(rows - rows.max(-1, keepdims=True, initial=-np.inf))
    return [weights / weights.sum(-1, keepdims=True)]


# Name → nodes, outputs (name → shape), and what they are in fp64.
CASES = {
    "loss": ([node("MatMul", ["x", "w"], ["logits"]),
              node("SoftmaxCrossEntropyLoss", ["logits", "labels"], ["loss"], reduction="sum"),
              node("Gradient", ["x", "w"], ["dx", "dw"], domain="ai.onnx.preview.training", xs=["x", "w"], y="loss")],
             {"loss": [], "dx": ["n", DEPTH], "dw": [DEPTH, "c"]}, get_loss),
    "norms": ([node("MatMul", ["x", "w"], ["product"]), node("MeanVarianceNormalization", ["product"], ["normal"], axes=[1]),
               node("LpNormalization", ["normal"], ["shares"], axis=1, p=1), node("Softmax", ["shares"], ["y"], axis=1)],
              {"y": ["n", "c"]}, normalise),
}


def compile_case(folder, name, target, *options):
    """The artifact, and how many results lie over operands."""
    nodes, made, _ = CASES[name]
    path = folder / f"{name}-{target}{'-apart' * bool(options)}"
    inputs = [("x", FLOAT, ["n", DEPTH]), ("w", FLOAT, [DEPTH, "c"])] + [("labels", INT64, ["n"])] * (name == "loss")
    save(path.with_suffix(".onnx"), nodes, inputs, [(key, FLOAT, shape) for key, shape in made.items()])
    counters = freestone_runtime.compile_model(path.with_suffix(".onnx"), path.with_suffix(".stone"), "--target", target, *options)
    return path.with_suffix(".stone"), counters["overwritten"]


def check(folder, name, target, random):
    artifact, overwritten = compile_case(folder, name, target)
    apart, none = compile_case(folder, name, target, "--disable", "overwrite")
    assert overwritten > 0 and none == 0, (name, target, overwritten, none)
    models = [freestone_runtime.Model(artifact, workers) for workers in WORKERS]
    reference = freestone_runtime.Model(apart, 1)
    _, made, compute = CASES[name]
    for rows, classes in SIZES:
        feeds = {"x": random.normal(size=(rows, DEPTH)), "w": random.normal(size=(DEPTH, classes))}
        feeds = {key: value.astype(np.float32) for key, value in feeds.items()}
        labels = random.integers(0, classes, rows)
        expected = reference.run(feeds | {"labels": labels})
        for workers, model in zip(WORKERS, models, strict=True):
            for key, one, other in zip(made, model.run(feeds | {"labels": labels}), expected, strict=True):
                assert one.tobytes() == other.tobytes(), (name, target, rows, classes, workers, key)
        for key, one, right in zip(made, expected, compute(*(each.astype(np.float64) for each in feeds.values()), labels), strict=True):
            unit = np.finfo(np.float32).eps * np.max(np.abs(right), initial=1e-6)
            error = np.max(np.abs(one - right), initial=0)
            assert error <= 60 * unit, (name, target, rows, classes, key, error / unit)
        less = reference.counters().arena_bytes - models[0].counters().arena_bytes
        if rows * classes > 100000:
            assert less > 4 * rows * classes - PAGE, (name, target, less)
            print(f"{name} for {target}, {rows}x{classes}: {overwritten} overwritten, {less} of {reference.counters().arena_bytes} bytes less")


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(6)
    for target in TARGETS:
        for name in CASES:
            check(folder, name, target, random)


main()
