"""Gradients of attention, compiled as two programs: attention_gradients.py FOLDER; the environment names the build.

The cases of attention.py, where every row sees something, or gives 0: results and gradients of queries, keys and values have the same
bits for every number of workers, are as near to numpy's in fp64 as without connection, and take memory that grows with
the length alone; for the processor's widest vectors and for narrow ones.
"""

import pathlib
import sys

import numpy as np

from attention import FLOAT, HEADS, LENGTHS, TARGETS, WORKERS, get_cases, get_initializers, get_key_heads, get_weights, is_guarded
from graphs import node, save
import freestone_runtime

DEPTH = 64


def differentiate(name, q, k, v, mask, g):
    """The result and the gradients in fp64; heads of keys that serve several queries are summed."""
    q, k, v, g = (x.astype(np.float64) for x in (q, k, v, g))
    weights = get_weights(name, q, k, mask)
    slope = g @ np.swapaxes(v, 2, 3)
    slope = weights * (slope - np.sum(slope * weights, -1, keepdims=True)) / 8
    gradients = [slope @ k, np.swapaxes(slope, 2, 3) @ q, np.swapaxes(weights, 2, 3) @ g]
    return [weights @ v, gradients[0], *(each.sum(1, keepdims=True) if k.shape[1] == 1 else each for each in gradients[1:])]


def compile_case(folder, name, target, nodes, inputs, *options):
    """The artifact, and the counters of the compilation."""
    path = folder / f"{name}-{target}{'-apart' * bool(options)}"
    columns = "l" if any("Range" == each.op_type for each in nodes) else "c"
    own = {key: ["b", get_key_heads(name), columns, DEPTH] for key in "kv"} | {"q": ["b", HEADS, "l", DEPTH]}
    nodes = [*nodes, node("Mul", ["z", "g"], ["products"]), node("ReduceSum", ["products"], ["loss"], keepdims=0),
             node("Gradient", list("qkv"), ["dq", "dk", "dv"], domain="ai.onnx.preview.training", xs=list("qkv"), y="loss")]
    given = {**{key: (FLOAT, own[key]) for key in "qkv"}, **inputs, "g": (FLOAT, own["q"])}
    made = {"z": own["q"], **{f"d{key}": own[key] for key in "qkv"}}
    save(path.with_suffix(".onnx"), nodes, [(key, *value) for key, value in given.items()],
         [(key, FLOAT, shape) for key, shape in made.items()], get_initializers(nodes, DEPTH))
    counters = freestone_runtime.compile_model(path.with_suffix(".onnx"), path.with_suffix(".stone"), "--target", target, *options)
    return path.with_suffix(".stone"), counters


def draw(random, kind, shape):
    if kind != FLOAT:
        chosen = random.random(shape) < 0.7
        chosen[..., :1] = True
        return chosen
    values = random.normal(size=shape).astype(np.float32)
    values[..., 1::3, 1 : shape[-1] // 2] = -np.inf
    return values


def check(folder, name, target, case, random):
    nodes, inputs, get_mask, is_square = case
    artifact, counters = compile_case(folder, name, target, nodes, inputs)
    assert (counters["connected"], counters["reassociated"]) == (2, 1), (name, target, counters)
    apart, counters = compile_case(folder, name, target, nodes, inputs, "--disable", "connect,reassociate")
    assert (counters["connected"], counters["reassociated"]) == (0, 0), (name, counters)
    models = [freestone_runtime.Model(artifact, workers) for workers in WORKERS]
    reference = freestone_runtime.Model(apart, 2)
    for rows, columns in LENGTHS:
        if is_square and rows != columns:
            continue
        sizes = {"b": 2, "l": rows, "c": columns}
        shape = {"q": (2, HEADS, rows, DEPTH), "g": (2, HEADS, rows, DEPTH), "k": (2, get_key_heads(name), columns, DEPTH)}
        feeds = {key: random.normal(size=shape.get(key, shape["k"])).astype(np.float32) for key in "qkvg"}
        feeds |= {key: draw(random, kind, tuple(sizes.get(extent, extent) for extent in dims)) for key, (kind, dims) in inputs.items()}
        if is_guarded(name):
            feeds["a"][..., 2:3, :] = -np.inf
        mask = get_mask(np.arange(rows)[:, None], np.arange(columns), *(feeds[key] for key in inputs))
        right = differentiate(name, feeds["q"], feeds["k"], feeds["v"], mask, feeds["g"])
        results = [model.run(feeds) for model in models]
        before = reference.run(feeds)
        for number, expected in enumerate(right):
            first, *others = [result[number] for result in results]
            for workers, other in zip(WORKERS[1:], others, strict=True):
                assert first.tobytes() == other.tobytes(), f"{name} for {target}, {rows}x{columns}: {workers} workers have other bits than one"
            assert first.shape == expected.shape and np.isfinite(first).all(), (name, target, rows, columns, number)
            error = np.max(np.abs(first - expected), initial=0)
            apart_error = np.max(np.abs(before[number] - expected), initial=0)
            unit = np.finfo(np.float32).eps * np.max(np.abs(expected), initial=0)
            # Of a few columns the gradients of queries and keys nearly vanish.
            size = np.finfo(np.float32).eps * np.sqrt(rows + columns)
            assert error <= max(2 * apart_error, 8 * unit, 16 * size), (name, target, rows, columns, number, error, apart_error, unit)
        if rows * columns > 100000:
            counters = [model.counters().arena_bytes for model in (models[0], reference)]
            assert counters[0] < 2 * HEADS * rows * columns * 4 < counters[1], (name, target, counters)
        print(f"{name} for {target}, {rows}x{columns}: error of the last {error:.1e}, apart {apart_error:.1e}")
    for model in models + [reference]:
        model.close()


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    # Programs with a missing edge between phases fail, even if the workers happen to run in the right order.
    freestone_runtime.check_order()
    random = np.random.default_rng(5)
    for target in TARGETS:
        for name, case in get_cases().items():
            check(folder, name, target, case, random)


main()
