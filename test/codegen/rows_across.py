"""Normalizations of the channels of each pixel, whose neighbours are other pixels': rows_across.py FOLDER.

Layer normalization whose result has channels innermost. It is compiled once for any number of pictures, and runs on one
to eight workers, to the same bytes, as close to numpy's in fp64 as without copies of rows; for the processor's widest
vectors and for narrow ones.
"""

import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / folder) for folder in ("bench", "test/training")]

import freestone_runtime
import numpy as np

from graphs import FLOAT, constant, node, save
from targets import distinct

TARGETS, WORKERS, BATCHES = distinct("host", "x86-64-v3"), (1, 2, 3, 8), (1, 3, 5, 0)
# Channels, pixels: whole vectors, and rests of either.
SIZES = (96, 784), (33, 37)


def normalize(x):
    wide = x.astype(np.float64)
    centered = wide - wide.mean(1, keepdims=True)
    return (centered / np.sqrt(wide.var(1, keepdims=True) + 1e-5)).transpose(0, 2, 1)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    # Programs with a missing edge between phases fail, even if the workers happen to run in the right order.
    freestone_runtime.check_order()
    random = np.random.default_rng(4)
    for channels, pixels in SIZES:
        path = folder / f"norm-{channels}.onnx"
        nodes = [node("Transpose", ["x"], ["t"], perm=[0, 2, 1]), node("LayerNormalization", ["t", "s", "b"], ["y"], axis=-1)]
        save(path, nodes, [("x", FLOAT, ["n", channels, pixels])], [("y", FLOAT, ["n", pixels, channels])],
             [constant("s", np.ones(channels)), constant("b", np.zeros(channels))])
        for target in TARGETS:
            stones = {}
            for kind, options, count in (("whole", [], 1), ("apart", ["--disable", "rows-across"], 0)):
                stones[kind] = path.with_suffix(f".{kind}.stone")
                counters = freestone_runtime.compile_model(path, stones[kind], "--target", target, *options)
                assert counters["rows_across"] == count, (channels, target, kind, counters)
            models = [freestone_runtime.Model(stones["whole"], workers) for workers in WORKERS]
            reference = freestone_runtime.Model(stones["apart"], 2)
            for batch in BATCHES:
                x = random.normal(3, 1, (batch, channels, pixels)).astype(np.float32)
                first, *others = [model.run({"x": x})[0] for model in models]
                assert all(first.tobytes() == other.tobytes() for other in others), (channels, target, batch)
                right = normalize(x)
                assert first.shape == right.shape
                error = np.abs(first - right).max(initial=0)
                before = np.abs(reference.run({"x": x})[0] - right).max(initial=0)
                assert error <= max(before, 1e-6), (channels, target, batch, error, before)
            for model in [*models, reference]:
                model.close()
            print(f"{channels} channels and {pixels} pixels for {target}: right")


main()
