"""Short rows that are computed together, and rows that are prefetched: rows_together.py FOLDER.

Softmax, its logarithm, layer normalization with its gradients, sums and extremes of rows, masks, bf16, and rows of several
loops, compiled once for rows of any number and length. Lengths are whole vectors and others, numbers of rows such that
some go together and some are left. The results have the same bits on one to three workers, and are as close to numpy's in
fp64 as those of rows one by one; for the processor's widest vectors and for narrow ones.
"""

import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / folder) for folder in ("bench", "test/training")]

import freestone_runtime
import numpy as np

from graphs import BFLOAT16, BOOL, FLOAT, constant, node, save
from targets import distinct

TARGETS, WORKERS = distinct("host", "x86-64-v3"), (1, 2, 3)
LENGTHS, ROWS = (1, 7, 15, 16, 17, 33, 40, 64, 100, 129, 512), (0, 1, 3, 4, 5, 9, 90)
LONG = [(3, 50257), (1, 5000)]
EPSILON = 1e-5


def softmax(x):
    with np.errstate(invalid="ignore"):
        power = np.exp(x - x.max(-1, keepdims=True))
        return power / power.sum(-1, keepdims=True)


def normalize(x):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + EPSILON)


def gradients(x, g):
    """Of the sum of normalize(x) * g: with respect to x."""
    y, deviation = normalize(x), np.sqrt(x.var(-1, keepdims=True) + EPSILON)
    return (g - g.mean(-1, keepdims=True) - y * (g * y).mean(-1, keepdims=True)) / deviation


def get_cases():
    """Name → nodes and initializers, inputs with their types and shapes, numpy's results of wide inputs, the error allowed."""
    rows, axis = ["n", "c"], constant("axis", [1], np.int64)
    scale = [node("Shape", ["x"], ["width"], start=1), node("ConstantOfShape", ["width"], ["ones"], value=constant("one", [1.0]))]
    loss = [node("Mul", ["y", "g"], ["products"]), node("ReduceSum", ["products"], ["loss"], keepdims=0),
            node("Gradient", ["x"], ["z"], domain="ai.onnx.preview.training", xs=["x"], y="loss")]
    reduced = [node(op, ["x", "axis"], [name]) for op, name in (("ReduceMax", "most"), ("ReduceMean", "mean"), ("ReduceL2", "norm"))]
    floats = {"x": (FLOAT, rows)}
    narrow = [node("Cast", ["x"], ["b"], to=BFLOAT16), node("Softmax", ["b"], ["s"]), node("Cast", ["s"], ["z"], to=FLOAT)]
    masked = [node("Where", ["m", "x", "hidden"], ["visible"]), node("Softmax", ["visible"], ["z"])]
    hide = lambda x, m: softmax(np.where(m, x, -np.inf))
    return {
        "softmax": ([node("Softmax", ["x"], ["z"])], [], floats, {"z": softmax}, 2e-7),
        "logarithm": ([node("LogSoftmax", ["x"], ["z"])], [], floats, {"z": lambda x: np.log(softmax(x))}, 3e-6),
        "norm": ([*scale, node("LayerNormalization", ["x", "ones"], ["z"], epsilon=EPSILON)], [], floats, {"z": normalize}, 5e-6),
        "gradients": ([*scale, node("LayerNormalization", ["x", "ones"], ["y"], epsilon=EPSILON), *loss], [], floats | {"g": (FLOAT, rows)},
                      {"z": gradients}, 2e-5),
        "reduced": (reduced, [axis], floats, {"most": lambda x: x.max(1, keepdims=True), "mean": lambda x: x.mean(1, keepdims=True),
                                             "norm": lambda x: np.sqrt((x * x).sum(1, keepdims=True))}, 2e-5),
        "bf16": (narrow, [], floats, {"z": softmax}, 8e-3),
        "masked": (masked, [constant("hidden", -np.inf)], floats | {"m": (BOOL, rows)}, {"z": hide}, 2e-7),
        "loops": ([node("Add", ["x", "m"], ["sum"]), node("Softmax", ["sum"], ["z"])], [],
                  {"x": (FLOAT, ["b", "n", "c"]), "m": (FLOAT, ["b", 1, "c"])}, {"z": lambda x, m: softmax(x + m)}, 2e-7),
    }


def draw(random, inputs, sizes):
    drawn = {}
    for name, (kind, shape) in inputs.items():
        extents = [sizes.get(extent, extent) for extent in shape]
        drawn[name] = random.random(extents) < 0.6 if kind == BOOL else random.normal(1, 2, extents).astype(np.float32)
        if kind == BOOL and extents[-1]:
            drawn[name][..., 0] = True
    return drawn


def compile_case(path, target, options=()):
    stone = path.with_suffix(f".{target}{len(options)}.stone")
    return stone, freestone_runtime.compile_model(path, stone, "--target", target, *options)


def measure(results, right):
    return max(np.abs(result - expected).max(initial=0) for result, expected in zip(results, right, strict=True))


def check_numbers(folder, target):
    """What is no number makes its own row none, and no other; what is hidden has no share."""
    stone, _ = compile_case(folder / "softmax.onnx", target)
    model = freestone_runtime.Model(stone, 1)
    for length in (3, 16, 33, 100, 700):
        x = np.random.default_rng(length).normal(size=(9, length)).astype(np.float32)
        x[1, length // 2] = np.nan
        x[2, 0] = -np.inf
        x[4, -1] = np.inf
        x[5] = -np.inf
        x[7, -1] = -200
        x[8] = np.nan
        result, right = model.run({"x": x})[0], softmax(x.astype(np.float64))
        assert (np.isnan(result) == np.isnan(right)).all(), (target, length)
        assert np.nanmax(np.abs(result - right)) <= 2e-7 and result[2, 0] == 0 and result[7, -1] == 0, (target, length)
    model.close()


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    # Programs with a missing edge between phases fail, even if the workers happen to run in the right order.
    freestone_runtime.check_order()
    random = np.random.default_rng(7)
    for name, (nodes, initializers, inputs, outputs, allowed) in get_cases().items():
        path = folder / f"{name}.onnx"
        save(path, nodes, [(key, *value) for key, value in inputs.items()],
             [(key, FLOAT, [f"{key}{dim}" for dim in range(3 if name == "loops" else 2)]) for key in outputs], initializers)
        sizes = [{"n": rows, "c": length, "b": 3} for length in LENGTHS for rows in ROWS]
        sizes += [{"n": rows, "c": length, "b": 1} for rows, length in LONG]
        for target in TARGETS:
            stone, counters = compile_case(path, target)
            assert counters["rows_together"], (name, target, counters)
            assert counters["rows_prefetched"] == (name not in ("norm", "gradients", "reduced")), (name, target, counters)
            alone, without = compile_case(path, target, ["--disable", "rows-together,prefetch-rows"])
            assert not without["rows_together"] and not without["rows_prefetched"], (name, target, without)
            models = [freestone_runtime.Model(stone, workers) for workers in WORKERS]
            reference = freestone_runtime.Model(alone, 1)
            for at in sizes:
                feeds = draw(random, inputs, at)
                first, *others = [model.run(feeds) for model in models]
                for other in others:
                    assert all(one.tobytes() == two.tobytes() for one, two in zip(first, other, strict=True)), (name, target, at)
                if not at["n"]:
                    continue
                wide = [value if value.dtype == bool else value.astype(np.float64) for value in feeds.values()]
                right = [of(*wide) for of in outputs.values()]
                error, before = measure(first, right), measure(reference.run(feeds), right)
                assert error <= max(2 * before, allowed), (name, target, at, error, before)
            for model in [*models, reference]:
                model.close()
            print(f"{name} for {target}: right", flush=True)
    for target in TARGETS:
        check_numbers(folder, target)


main()
