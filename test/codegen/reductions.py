"""Long reductions of few results, compiled: reductions.py FOLDER; the environment names the build.

Contractions, sums of columns and of everything, extremes, positions and variances, of lengths that are whole parts and of
others, with sizes that are known and that a run brings. Results have the same bits for every number of workers, and are
no farther from numpy's in fp64 than without parts; for the processor's widest vectors and for narrow ones.
"""

import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / folder) for folder in ("bench", "test/training")]

import freestone_runtime
import numpy as np

from graphs import FLOAT, INT64, constant, node, save
from targets import distinct

TARGETS = distinct("host", "x86-64-v3")
WORKERS = (1, 2, 3, 8)


def reduce(op, axes, **attributes):
    """Nodes and initializers of a reduction of x."""
    return [node(op, ["x", "axes"], ["z"], **{"keepdims": 0, **attributes})], [constant("axes", axes, np.int64)]


def product(x, y):
    return x.astype(np.float64) @ y.astype(np.float64)


def get_cases():
    """Name → nodes and initializers, shapes of inputs with names for sizes that a run brings, those sizes, numpy's result."""
    cases = {}
    multiply = [node("MatMul", ["x", "y"], ["z"])], []
    weights = [node("Transpose", ["x"], ["t"], perm=[1, 0]), node("MatMul", ["t", "y"], ["z"])], []
    relu = [node("MatMul", ["x", "y"], ["p"]), node("Add", ["p", "bias"], ["s"]), node("Relu", ["s"], ["z"])], [constant("bias", np.arange(24), np.float32)]
    for name, depth in (("equal", 65536), ("rest", 40009)):
        cases[f"product-{name}"] = multiply, {"x": (24, depth), "y": (depth, 40)}, [depth], product
        cases[f"weights-{name}"] = weights, {"x": (depth, 32), "y": (depth, 24)}, [depth], lambda x, y: product(x.T, y)
    # Batches of sequences, with run-time sizes.
    batches = [(50, 1001), (64, 1024), (10, 100), (1, 3), (1, 1), (0, 7)]
    flatten = [node("Reshape", ["x", "rows"], ["u"]), node("Reshape", ["y", "columns"], ["v"]), node("Transpose", ["u"], ["t"], perm=[1, 0]),
               node("MatMul", ["t", "v"], ["z"])], [constant("rows", [-1, 32], np.int64), constant("columns", [-1, 24], np.int64)]
    cases["weights-run"] = (flatten, {"x": ("b", "s", 32), "y": ("b", "s", 24)}, batches,
                            lambda x, y: product(x.reshape(-1, 32).T, y.reshape(-1, 24)))
    cases["columns-run"] = reduce("ReduceSum", [0, 1]), {"x": ("b", "s", 20)}, batches, lambda x: x.astype(np.float64).sum((0, 1))
    cases["largest-run"] = reduce("ReduceMax", [0, 1]), {"x": ("b", "s", 8)}, batches[:-1], lambda x: x.max((0, 1))
    cases["epilogue-equal"] = relu, {"x": (16, 65536), "y": (65536, 24)}, [65536], lambda x, y: np.maximum(product(x, y) + np.arange(24), 0)
    cases["epilogue-rest"] = relu, {"x": (16, 65537), "y": (65537, 24)}, [65537], lambda x, y: np.maximum(product(x, y) + np.arange(24), 0)
    wide = lambda x: x.astype(np.float64)
    for name, length in (("equal", 64000), ("rest", 50023)):
        cases[f"columns-{name}"] = reduce("ReduceSum", [0]), {"x": (length, 20)}, [length], lambda x: wide(x).sum(0)
        cases[f"largest-{name}"] = reduce("ReduceMax", [0]), {"x": (length, 3)}, [length], lambda x: x.max(0)
        cases[f"position-{name}"] = ([node("ArgMax", ["x"], ["z"], axis=0, keepdims=0)], []), {"x": (length, 2)}, [length], lambda x: x.argmax(0)
    for name, length in (("equal", 640000), ("rest", 500029), ("run", "n")):
        sizes = [length] if length != "n" else [500029, 640000, 9000, 1]
        cases[f"sum-{name}"] = reduce("ReduceSum", [0]), {"x": (length,)}, sizes, lambda x: wide(x).sum()
        cases[f"norm-{name}"] = reduce("ReduceL2", [0]), {"x": (length,)}, sizes, lambda x: np.sqrt((wide(x)**2).sum())
        cases[f"exponents-{name}"] = reduce("ReduceLogSumExp", [0]), {"x": (length,)}, sizes, lambda x: np.log(np.exp(wide(x)).sum())
        cases[f"least-{name}"] = ([node("ArgMin", ["x"], ["z"], axis=0, keepdims=0)], []), {"x": (length,)}, sizes, lambda x: x.argmin(0)
        means, axes = reduce("ReduceMean", [0], keepdims=1)
        variance = [node("ReduceMean", ["x", "axes"], ["m"]), node("Sub", ["x", "m"], ["d"]), node("Mul", ["d", "d"], ["q"]),
                    node("ReduceMean", ["q", "axes"], ["z"], keepdims=0)], axes
        cases[f"variance-{name}"] = variance, {"x": (length,)}, sizes, lambda x: wide(x).var()
        cases[f"rows-{name}"] = reduce("ReduceSum", [1]), {"x": (3, length)}, sizes, lambda x: wide(x).sum(1)
    return cases


def compile_case(folder, name, target, case, *options):
    """The artifact, and how many reductions were split."""
    (nodes, initializers), inputs, _, _ = case
    path = folder / f"{name}-{target}{'-whole' * bool(options)}"
    model = path.with_suffix(".onnx")
    kind = INT64 if nodes[-1].op_type.startswith("Arg") else FLOAT
    rank = {"product": 2, "weights": 2, "epilogue": 2, "columns": 1, "largest": 1, "position": 1, "rows": 1}.get(name.split("-")[0], 0)
    save(model, nodes, [(key, FLOAT, shape) for key, shape in inputs.items()], [("z", kind, [f"z{dim}" for dim in range(rank)])],
         initializers)
    counters = freestone_runtime.compile_model(model, path.with_suffix(".stone"), "--target", target, *options)
    return path.with_suffix(".stone"), counters["split_reductions"]


def check(folder, name, target, case, random):
    _, inputs, sizes, expect = case
    split, count = compile_case(folder, name, target, case)
    assert count > 0, (name, target)
    models = [freestone_runtime.Model(split, workers) for workers in WORKERS]
    reference = None
    if target == TARGETS[0]:
        whole, none = compile_case(folder, name, target, case, "--disable", "split-reductions")
        assert none == 0, name
        reference = freestone_runtime.Model(whole, 2)
    for size in sizes:
        values = dict(zip("bs", size) if isinstance(size, tuple) else [("n", size)])
        feeds = {key: random.normal(0.1, 1, [values.get(extent, extent) for extent in shape]).astype(np.float32)
                 for key, shape in inputs.items()}
        right = expect(*feeds.values())
        first, *others = [model.run(feeds)[0] for model in models]
        for workers, other in zip(WORKERS[1:], others, strict=True):
            assert first.tobytes() == other.tobytes(), f"{name} for {target}, {size}: {workers} workers have other bits than one"
        error = np.max(np.abs(first - right), initial=0)
        before = np.max(np.abs(reference.run(feeds)[0] - right), initial=0) if reference else 0
        unit = np.finfo(np.float32).eps * np.max(np.abs(right), initial=0)
        assert first.shape == np.shape(right) and error <= max(before, 8 * unit), (name, target, size, error, before, unit)
        print(f"{name} for {target}, {size}: error {error:.1e}, without parts {before:.1e}")
    for model in models + [reference] * bool(reference):
        model.close()


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    # Programs with a missing edge between phases fail, even if the workers happen to run in the right order.
    freestone_runtime.check_order()
    random = np.random.default_rng(2)
    for target in TARGETS:
        for name, case in get_cases().items():
            check(folder, name, target, case, random)


main()
