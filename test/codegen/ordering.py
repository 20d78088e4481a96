"""TopK, Unique, ArgMax and ArgMin, compiled: ordering.py FOLDER; the environment names the build.

Lines of all lengths around a block of elements and around vectors, ascending and descending ones, with many equals, infinities and
NaN, against numpy: NaN is larger than every number, of equals the first one comes first, and the first NaN is both the largest
and the smallest element. By one worker and by two, in turns.
"""

import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / folder) for folder in ("bench", "test/training")]

import freestone_runtime
import numpy as np
from onnx import helper

from graphs import INT64, constant, node, save
from targets import distinct

LENGTHS = (1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 41, 42, 43, 65, 100, 1000)
# Lengths of lines that are known when they are compiled, and types of their elements.
KNOWN, KNOWN_TYPES = (1, 7, 17, 65), ("float32", "float16", "uint8")
TYPES = ("float32", "float64", "float16", "int32", "int64", "uint8", "uint64")


def rows(length, dtype, random):
    """[12, length]: sorted both ways, random, with few distinct values, and with NaN and infinities."""
    limits = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
    wide = random.normal(size=(2, length)) * 40 if dtype.kind == "f" else random.integers(limits.min, limits.max, (2, length), dtype)
    few = random.integers(0, 4, (2, length))
    ends = random.choice(np.array([limits.min, limits.max, 0], dtype), (1, length))
    values = [np.sort(wide[:1]), np.sort(wide[:1])[:, ::-1], wide, few, ends, np.zeros((1, length))]
    values = np.concatenate([value.astype(dtype) for value in values])
    special = values[:4].copy()
    if dtype.kind == "f":
        choices = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, limits.max], dtype)
        special[:2] = random.choice(choices, (2, length))
        special[2, random.integers(0, length, 3)] = np.nan
        special[3] = -np.inf
    return np.concatenate([values, special])


def ranks(x):
    """The rank of every element among the distinct ones; NaN ranks last."""
    return np.unique(x, return_inverse=True)[1].reshape(x.shape).astype(np.int64)


def top(x, k, axis, largest):
    order = np.argsort(-ranks(x) if largest else ranks(x), axis=axis, kind="stable").take(range(k), axis)
    return np.take_along_axis(x, order, axis), order


def extreme(x, takes_max, last):
    """Along the last axis."""
    place = ranks(x) if takes_max else -ranks(x)
    index = place.shape[-1] - 1 - place[:, ::-1].argmax(-1) if last else place.argmax(-1)
    isnan = np.isnan(x) if x.dtype.kind == "f" else np.zeros(x.shape, bool)
    return np.where(isnan.any(-1), isnan.argmax(-1), index)


def different(x, axis, ordered):
    values, first, inverse, counts = np.unique(x, True, True, True, axis)
    if not ordered:
        order = np.argsort(first)
        place = np.argsort(order)
        values, first, inverse, counts = values.take(order, axis or 0), first[order], place[inverse], counts[order]
    return values, first, inverse.ravel(), counts


class Models:
    """Compiled models by name, made on first use."""

    def __init__(self, folder):
        self.folder, self.threads, self.compiled, self.models = folder, 1, set(), {}
        self.folder.mkdir(parents=True, exist_ok=True)

    def run(self, name, nodes, x, feeds, outputs, shape=("m", "n"), initializers=(), target="host"):
        path = self.folder / name
        if name not in self.compiled:
            self.compiled.add(name)
            dtype = helper.np_dtype_to_tensor_dtype(x.dtype)
            inputs = [("x", dtype, shape)] + [(key, INT64, value.shape) for key, value in feeds.items()]
            results = [(output, INT64 if is_index else dtype, [f"{output}{dim}" for dim in range(rank)])
                       for output, is_index, rank in outputs]
            save(path.with_suffix(".onnx"), nodes, inputs, results, initializers)
            freestone_runtime.compile_model(path.with_suffix(".onnx"), path.with_suffix(".stone"), "--target", target)
        key = name, self.threads
        if key not in self.models:
            self.models[key] = freestone_runtime.Model(path.with_suffix(".stone"), self.threads)
        return self.models[key].run({"x": x, **feeds})


def expect(actual, expected, *what):
    for result, right in zip(actual, expected, strict=True):
        assert result.shape == right.shape, (*what, result.shape, right.shape)
        same = (result == right) | ((result != result) & (right != right))
        assert same.all(), (*what, result[~same][:5], right[~same][:5])


def check_top(models, x, random):
    length = x.shape[1]
    for axis in (0, 1):
        for largest in (0, 1):
            for k in sorted({0, 1, min(10, x.shape[axis]), int(random.integers(1, x.shape[axis] + 1)), x.shape[axis]}):
                name = f"top-{x.dtype}-{axis}-{largest}"
                nodes = [node("TopK", ["x", "k"], ["y", "i"], axis=axis, largest=largest)]
                actual = models.run(name, nodes, x, {"k": np.array([k])}, [("y", 0, 2), ("i", 1, 2)])
                expect(actual, top(x, k, axis, largest), name, length, k)
    if length >= 10:
        # A constant k; positions alone.
        nodes = [node("TopK", ["x", "k"], ["v", "i"])]
        actual = models.run(f"ten-{x.dtype}", nodes, x, {}, [("i", 1, 2)], initializers=[constant("k", [10], np.int64)])
        expect(actual, top(x, 10, 1, True)[1:], "ten", x.dtype, length)


def check_extremes(models, x):
    """Of any length, and of a length that is known: positions have fewer bits then."""
    for op in ("ArgMax", "ArgMin"):
        for last in (0, 1):
            name = f"{op}-{x.dtype}-{last}"
            nodes = [node(op, ["x"], ["i"], axis=1, keepdims=0, select_last_index=last)]
            right = [extreme(x, op == "ArgMax", last)]
            expect(models.run(name, nodes, x, {}, [("i", 1, 1)]), right, name, x.shape[1])
            is_known = x.shape[1] in KNOWN and x.dtype in KNOWN_TYPES and (op == "ArgMax") != last
            for target in distinct("x86-64-v3", "host") if is_known else ():
                known = models.run(f"{name}-{x.shape[1]}-{target}", nodes, x, {}, [("i", 1, 1)], x.shape, target=target)
                expect(known, right, name, x.shape[1], target)


def check_different(models, x):
    for ordered in (0, 1):
        outputs = ["y", "f", "i", "c"]
        flat = models.run(f"flat-{x.dtype}-{ordered}", [node("Unique", ["x"], outputs, sorted=ordered)], x.ravel(), {},
                          [(name, name != "y", 1) for name in outputs], shape=["n"])
        expect(flat, different(x.ravel(), None, ordered), "flat", x.dtype, x.shape, ordered)
        if x.dtype.kind == "f":
            continue
        name = f"slices-{x.dtype}-{ordered}"
        few = x[[3, 4, 3, 3, 4, 0, 0]]
        slices = models.run(name, [node("Unique", ["x"], outputs, axis=0, sorted=ordered)], few, {},
                            [(name, name != "y", 2 if name == "y" else 1) for name in outputs])
        expect(slices, different(few, 0, ordered), name, x.shape)


def check_long_lists(models, random):
    """Lists of several parts: random, with few distinct values, with one, sorted both ways, and with NaN."""
    for length in (4095, 4096, 8191, 8192, 50000, 200000):
        wide = random.integers(-length, length, length)
        lists = [wide, random.integers(0, 5, length), np.zeros(length, int), np.sort(wide), np.sort(wide)[::-1]]
        for ordered in (0, 1):
            outputs = ["y", "f", "i", "c"]
            for number, values in enumerate(lists):
                x = values.astype(np.float32 if number % 2 else np.int64)
                if number == 1:
                    x[random.integers(0, length, 3)] = np.nan
                found = models.run(f"flat-{x.dtype}-{ordered}", [node("Unique", ["x"], outputs, sorted=ordered)], x, {},
                                   [(name, name != "y", 1) for name in outputs], shape=["n"])
                expect(found, different(x, None, ordered), "long", number, length, ordered)


def check_ends(models):
    """Empty lines, and k beyond the number of elements."""
    nodes = [node("TopK", ["x", "k"], ["y", "i"], axis=1)]
    outputs = [("y", 0, 2), ("i", 1, 2)]
    for shape in ((3, 0), (0, 3), (0, 0)):
        empty = models.run("ends", nodes, np.zeros(shape, np.float32), {"k": np.array([0])}, outputs)
        assert [result.shape for result in empty] == [(shape[0], 0)] * 2, (shape, empty)
    for length in (0, 1, 40):
        try:
            models.run("ends", nodes, np.zeros((2, length), np.float32), {"k": np.array([length + 1])}, outputs)
        except RuntimeError as error:
            assert "more" in str(error), error
        else:
            assert False, f"{length + 1} of {length} elements were taken"
    none = models.run("none", [node("Unique", ["x"], ["y", "f", "i", "c"])], np.zeros(0, np.float32), {},
                      [(name, name != "y", 1) for name in ("y", "f", "i", "c")], shape=["n"])
    assert [result.shape for result in none] == [(0,)] * 4, none


def main():
    folder = pathlib.Path(sys.argv[1])
    random = np.random.default_rng(1)
    models = Models(folder)
    check_ends(models)
    for dtype in TYPES:
        for length in LENGTHS:
            models.threads = 3 - models.threads
            x = rows(length, np.dtype(dtype), random)
            check_top(models, x, random)
            check_extremes(models, x)
            check_different(models, x)
    for models.threads in (1, 2):
        check_long_lists(models, random)


main()
