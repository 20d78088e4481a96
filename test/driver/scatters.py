"""Scatters are bit-identical to NumPy's, one update after the other, on any number of workers: scatters.py FREESTONE.

Sizes with less than a vector and more, with one tile and many, of every element type that is computed in another way;
for AVX2 and for this machine. What is not needed any more is written where it lies, which counters and the buffers of
the phases tell.
"""

import sys

import numpy as np
from text_models import check_targets

# Types whose ONNX name differs from NumPy's.
ONNX_TYPES = {"float32": "float", "float64": "double"}
COMBINE = {"none": lambda old, new: new, "add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}

# The operand's shape, the number of leading dimensions that an index vector covers, and the number of vectors.
ND_SIZES = [
    ((1, 1), 1, 3),
    ((7, 5), 1, 40),
    ((7, 5), 2, 90),
    ((2, 768), 1, 500),
    ((1000, 37), 1, 300),
    ((4099, 96), 1, 700),
    ((300, 64, 16), 2, 200),
    ((700, 300), 2, 5000),
    ((0, 16), 1, 0),
    ((600, 130), 1, 0),
]

# The shapes of the operand and of the indices, and the axis.
ELEMENTS_SIZES = [
    ((9, 70), (9, 30), 1),
    ((9, 700), (5, 90), 1),
    ((50, 7), (90, 7), 0),
    ((50, 200), (80, 133), 0),
    ((6, 40, 150), (4, 60, 130), 1),
    ((6, 0, 150), (6, 0, 150), 1),
]


def draw(random, shape, dtype):
    if dtype == "bool":
        return random.integers(0, 2, shape).astype(bool)
    values = random.standard_normal(shape) * 4
    return np.abs(values).astype(dtype) if dtype == "uint8" else values.astype(dtype)


def scatter_nd(x, indices, updates, combine):
    result = x.copy()
    for place in np.ndindex(indices.shape[:-1]):
        target = tuple(indices[place])
        result[target] = combine(result[target], updates[place])
    return result


def scatter_elements(x, indices, updates, axis, combine):
    result = x.copy()
    for place in np.ndindex(indices.shape):
        target = list(place)
        target[axis] = indices[place]
        result[tuple(target)] = combine(result[tuple(target)], updates[place])
    return result


def draw_indices(random, shape, extent):
    """Many duplicates, and some indices from the end."""
    indices = np.minimum(random.integers(0, max(extent, 1), shape), random.integers(0, max(extent, 1), shape))
    return np.where(random.random(shape) < 0.3, indices - extent, indices)


def dims(prefix, rank):
    return ", ".join(f"{prefix}{dim}" for dim in range(rank))


def check_nd(tool, random, target, dtype, kind, sizes):
    graphs = {}
    for shape, depth, count in sizes:
        graphs.setdefault((len(shape), depth), []).append((shape, count))
    for (rank, depth), cases in graphs.items():
        kept = ", ".join(f"a{dim}" for dim in range(depth, rank))
        element = ONNX_TYPES.get(dtype, dtype)
        tool.compile(f"g ({element}[{dims('a', rank)}] x, int64[n, {depth}] i, {element}[n{', ' if kept else ''}{kept}] u) => "
                     f"({element}[{dims('p', rank)}] y) {{ y = ScatterND<reduction = \"{kind}\">(x, i, u) }}", target)
        for shape, count in cases:
            x, updates = draw(random, shape, dtype), draw(random, (count, *shape[depth:]), dtype)
            indices = np.stack([draw_indices(random, (count,), extent) for extent in shape[:depth]], axis=-1)
            tool.expect({"x": x, "i": indices, "u": updates}, scatter_nd(x, indices, updates, COMBINE[kind]),
                        f"ScatterND {kind} of {count} vectors of {depth} into {dtype}{list(shape)} for {target}")


def check_elements(tool, random, target, dtype, kind):
    graphs = {}
    for shape, updated, axis in ELEMENTS_SIZES:
        graphs.setdefault((len(shape), axis), []).append((shape, updated))
    for (rank, axis), cases in graphs.items():
        element = ONNX_TYPES.get(dtype, dtype)
        tool.compile(f"g ({element}[{dims('a', rank)}] x, int64[{dims('b', rank)}] i, {element}[{dims('b', rank)}] u) => "
                     f"({element}[{dims('p', rank)}] y) {{ y = ScatterElements<axis = {axis}, reduction = \"{kind}\">(x, i, u) }}",
                     target)
        for shape, updated in cases:
            x, updates = draw(random, shape, dtype), draw(random, updated, dtype)
            indices = draw_indices(random, updated, shape[axis])
            tool.expect({"x": x, "i": indices, "u": updates}, scatter_elements(x, indices, updates, axis, COMBINE[kind]),
                        f"ScatterElements {kind} of {list(updated)} into {dtype}{list(shape)} along {axis} for {target}")


def check_gradient(tool, random, target):
    """The operand is all zeros, which need not be copied."""
    tool.compile("g (float[2000, 72] x, int64[n] i, float[n, 72] w) => (float[2000, 72] y) { r = Gather(x, i) m = Mul(r, w) "
                 "s = ReduceSum<keepdims = 0>(m) y = ai.onnx.preview.training.Gradient<xs = [\"x\"], y = \"s\">(x) }", target)
    x, weights = draw(random, (2000, 72), "float32"), draw(random, (900, 72), "float32")
    indices = draw_indices(random, (900,), 2000)
    expected = scatter_nd(np.zeros_like(x), indices[:, None], weights, np.add)
    tool.expect({"x": x, "i": indices, "w": weights}, expected, f"the gradient of an embedding for {target}")


def tensor_scatter(cache, update, start, axis, circular):
    result, places = cache.copy(), cache.shape[axis]
    for batch, first in enumerate(start):
        for step in range(update.shape[axis]):
            place = (first + step) % places if circular else first + step
            taken, written = [slice(None)] * cache.ndim, [slice(None)] * cache.ndim
            taken[0] = written[0] = batch
            taken[axis], written[axis] = step, place
            result[tuple(written)] = update[tuple(taken)]
    return result


def check_caches(tool, random, target):
    """Rows of keys and values go into their places; in a circle the last of several for one place stays."""
    for shape, axis, mode in (((3, 50, 20), 1, "linear"), ((2, 4, 300, 64), -2, "linear"), ((2, 4, 30, 5), 2, "circular"),
                              ((5, 8, 40), -1, "circular")):
        names = list(dims("a", len(shape)).split(", "))
        updated = names.copy()
        updated[axis] = "s"
        tool.compile(f"g (float[{', '.join(names)}] x, float[{', '.join(updated)}] u, int64[a0] i) => (float[{dims('p', len(shape))}] y) "
                     f"{{ y = TensorScatter<axis = {axis}, mode = \"{mode}\">(x, u, i) }}", target)
        for count in (1, 7, shape[axis] + 3 if mode == "circular" else shape[axis]):
            update = list(shape)
            update[axis] = count
            cache, rows = draw(random, shape, "float32"), draw(random, update, "float32")
            highest = shape[axis] * 3 if mode == "circular" else shape[axis] - count + 1
            start = random.integers(0, highest, shape[0])
            tool.expect({"x": cache, "u": rows, "i": start}, tensor_scatter(cache, rows, start, axis, mode == "circular"),
                        f"TensorScatter of {count} into {list(shape)} along {axis} {mode} for {target}")
        if mode == "linear":
            tool.expect_failure({"x": cache, "u": rows, "i": np.full(shape[0], -1)}, "an index is outside of its axis")
            tool.expect_failure({"x": cache, "u": rows, "i": np.full(shape[0], 1)}, "an index is outside of its axis")


def check_in_place(tool, random, target):
    """Of a chain of scatters into a product, none copies the table: phases of updates write what they take, and nothing
    but the product itself is of the table's size."""
    graph = ("g (float[v, 40] x, int64[n, 1] i, float[n, 40] u, int64[m, 40] j, float[m, 40] w) => (float[v, 40] y) "
             "{ d = Neg(x) a = ScatterND<reduction = \"add\">(d, i, u) b = ScatterElements<axis = 0, reduction = \"max\">(a, j, w) "
             "y = ScatterND(b, i, u) }")
    x, u, w = (draw(random, (rows, 40), "float32") for rows in (5000, 60, 9))
    i, j = draw_indices(random, (60, 1), 5000), draw_indices(random, (9, 40), 5000)
    expected = scatter_elements(scatter_nd(-x, i, u, np.add), j, w, 0, np.maximum)
    expected = scatter_nd(expected, i, u, lambda old, new: new)
    # Copies would lie over what they copy, where nothing reads it any more.
    for disabled, in_place, copies in (("overwrite", 3, 0), ("overwrite,scatters-in-place", 0, 3)):
        options = ("--disable", disabled)
        counters = tool.compile(graph, target, *options)
        assert counters["scatters_in_place"] == in_place, counters
        tool.expect({"x": x, "i": i, "u": u, "j": j, "w": w}, expected, f"a chain of scatters {' '.join(options)} for {target}")
        spaces = tool.spaces()
        assert sum(set(taken) & set(written) != set() for taken, written in spaces) == 3, spaces
        assert len(spaces) == 4 + copies, spaces
    cache = "(float[a, b, c, d] x, float[a, b, s, d] u, int64[a] i) => (float[p, q, r, t] y)"
    counters = tool.compile(f"g {cache} {{ k = Neg(x) y = TensorScatter(k, u, i) }}", target)
    assert counters["scatters_in_place"] == 1, counters
    counters = tool.compile(f"g {cache} {{ y = TensorScatter(x, u, i) }}", target)
    assert counters["scatters_in_place"] == 0, "a caller's cache is not to be written"


def check_scatters(tool, random, target):
    check_nd(tool, random, target, "float32", "add", ND_SIZES)
    for dtype, kind in (("float32", "none"), ("float64", "max"), ("float16", "add"), ("int64", "mul"), ("int8", "min"),
                        ("uint8", "max"), ("bool", "none")):
        check_nd(tool, random, target, dtype, kind, ND_SIZES[1:6:2])
    check_elements(tool, random, target, "float32", "add")
    check_elements(tool, random, target, "bool", "none")
    check_gradient(tool, random, target)
    check_caches(tool, random, target)
    check_in_place(tool, random, target)


check_targets(sys.argv[1], check_scatters)
