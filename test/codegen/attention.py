"""Attention, compiled as one program: attention.py FOLDER; the environment names the build.

Scores that are masked by tensors or by positions, at lengths with one block of columns and with many, rows that are masked
wholly or in their first blocks, also where these give 0 (`guarded`), heads in several orders, and merged with the batch. Results have the same bits for every number of workers, are as
near to numpy's in fp64 as without connection, and take memory that grows with the length alone; for the processor's
widest vectors and for narrow ones.
"""

import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / folder) for folder in ("bench", "test/training")]

import freestone_runtime
import numpy as np

from graphs import BOOL, FLOAT, constant, node, save
from targets import distinct

TARGETS = distinct("host", "x86-64-v3")
WORKERS = (1, 2, 3)
HEADS = 2
LOWEST = np.finfo(np.float32).min
# Rows and columns of scores: one block and several, with and without a rest; none at all.
LENGTHS = [(1, 1), (9, 9), (33, 33), (100, 100), (5, 700), (700, 5), (450, 450), (3, 0), (0, 3)]


def is_guarded(name):
    return name == "guarded"


def get_weights(name, q, k, mask):
    """In fp64, of [batch, heads, length, depth]; the mask is added to the scores. Rows that are masked wholly are NaN, or 0."""
    with np.errstate(invalid="ignore"):
        scores = q @ np.swapaxes(k, 2, 3) / 8 + mask
        weights = np.exp(scores - np.max(scores, -1, keepdims=True, initial=-np.inf))
        weights /= weights.sum(-1, keepdims=True)
    return np.nan_to_num(weights) if is_guarded(name) else weights


def get_core(middle, keys="k", values="v", guard=()):
    """The nodes from q, k and v [batch, heads, length, depth] to z, with `middle` from scores "s" to masked ones "t", and
    `guard` from weights "p" to others "w"."""
    return [node("Transpose", [keys], ["kt"], perm=[0, 1, 3, 2]), node("MatMul", ["q", "kt"], ["r"]), node("Mul", ["r", "eighth"], ["s"]),
            *middle, node("Softmax", ["t"], ["p"], axis=-1), *guard, node("MatMul", ["w" if guard else "p", values], ["z"])]


def repeat(tensor):
    """Nodes that give every head of the one in `tensor`, as "tensor_each"."""
    return [node("Unsqueeze", [tensor, "two_axis"], [f"{tensor}_one"]), node("Expand", [f"{tensor}_one", "heads"], [f"{tensor}_all"]),
            node("Reshape", [f"{tensor}_all", "merged"], [f"{tensor}_each"])]


def get_positions():
    """Nodes for the numbers of rows and columns of the scores, as "m" [length, 1] and "n" [1, length]."""
    return [node("Shape", ["s"], ["rows"], start=2, end=3), node("Shape", ["s"], ["columns"], start=3),
            node("Squeeze", ["rows"], ["last_m"]), node("Squeeze", ["columns"], ["last_n"]),
            node("Range", ["none", "last_m", "one"], ["ms"]), node("Range", ["none", "last_n", "one"], ["n"]),
            node("Unsqueeze", ["ms", "one_axis"], ["m"])]


def get_merged():
    """Nodes from q, k and v to z, whose products are of merged batches and heads, while the mask "a" is added to each text's."""
    merge = [each for key in "qkv" for each in (
        node("Shape", [key], [f"{key}_rows"], start=2), node("Concat", ["minus_one", f"{key}_rows"], [f"{key}_shape"], axis=0),
        node("Reshape", [key, f"{key}_shape"], [f"{key}_merged"]))]
    return [*merge, node("Transpose", ["k_merged"], ["kt"], perm=[0, 2, 1]), node("MatMul", ["q_merged", "kt"], ["r"]),
            node("Mul", ["r", "eighth"], ["scaled"]), node("Shape", ["q"], ["texts"], end=3), node("Shape", ["k"], ["columns"], start=2, end=3),
            node("Concat", ["texts", "columns"], ["split"], axis=0), node("Reshape", ["scaled", "split"], ["s"]), node("Add", ["s", "a"], ["t"]),
            node("Softmax", ["t"], ["p"], axis=-1), node("Shape", ["r"], ["joined"]), node("Reshape", ["p", "joined"], ["w"]),
            node("MatMul", ["w", "v_merged"], ["y"]), node("Shape", ["q"], ["whole"]), node("Reshape", ["y", "whole"], ["z"])]


def get_cases():
    """Name → nodes, further inputs (name → type and shape), the mask in numpy of rows, columns and inputs, and whether
    rows and columns are as many."""
    cases = {}
    cases["plain"] = get_core([node("Identity", ["s"], ["t"])]), {}, lambda rows, columns: 0, False
    grouped = [*repeat("k"), *repeat("v"), *get_core([node("Identity", ["s"], ["t"])], "k_each", "v_each")]
    cases["grouped"] = grouped, {}, lambda rows, columns: 0, False
    mask = {"a": (FLOAT, [1, 1, "l", "c"])}
    cases["added"] = get_core([node("Add", ["s", "a"], ["t"])]), mask, lambda rows, columns, a: a, False
    # As PyTorch exports its attention with masks.
    guard = [node("IsNaN", ["p"], ["hidden"]), node("Where", ["hidden", "zero", "p"], ["w"])]
    cases["guarded"] = get_core([node("Add", ["s", "a"], ["t"])], guard=guard), mask, lambda rows, columns, a: a, False
    bias = {"a": (FLOAT, ["b", HEADS, 1, "c"])}
    cases["bias"] = get_core([node("Add", ["s", "a"], ["t"])]), bias, lambda rows, columns, a: a, False
    cases["merged"] = get_merged(), {"a": (FLOAT, ["b", 1, 1, "c"])}, lambda rows, columns, a: a, False
    chosen = {"a": (BOOL, [1, 1, "l", "c"])}
    where = [node("Where", ["a", "s", "minus"], ["t"])]
    cases["chosen"] = get_core(where), chosen, lambda rows, columns, a: np.where(a, 0, -np.inf), False
    for name, lowest in (("infinite", "minus"), ("finite", "lowest")):
        causal = [*get_positions(), node("LessOrEqual", ["n", "m"], ["seen"]), node("Where", ["seen", "zero", lowest], ["a"]),
                  node("Add", ["s", "a"], ["t"])]
        cases[f"causal-{name}"] = get_core(causal), {}, lambda rows, columns: np.where(columns <= rows, 0, -np.inf), True
    window = [*get_positions(), node("Sub", ["m", "n"], ["distance"]), node("Less", ["distance", "width"], ["near"]),
              node("LessOrEqual", ["n", "m"], ["before"]), node("And", ["near", "before"], ["seen"]),
              node("Where", ["seen", "s", "minus"], ["t"])]
    cases["window"] = get_core(window), {}, lambda rows, columns: np.where((columns <= rows) & (rows - columns < 30), 0, -np.inf), True
    later = [*get_positions(), node("Less", ["n", "m"], ["hidden"]), node("Where", ["hidden", "minus", "s"], ["t"])]
    cases["later"] = get_core(later), {}, lambda rows, columns: np.where(columns < rows, -np.inf, 0), True
    return cases


def get_key_heads(name):
    return 1 if name == "grouped" else HEADS


def get_initializers(nodes, depth):
    known = {"eighth": constant("eighth", 1 / 8), "minus": constant("minus", -np.inf), "lowest": constant("lowest", LOWEST),
             "zero": constant("zero", 0), "none": constant("none", 0, np.int64), "one": constant("one", 1, np.int64), "minus_one": constant("minus_one", [-1], np.int64),
             "one_axis": constant("one_axis", [1], np.int64), "two_axis": constant("two_axis", [2], np.int64), "width": constant("width", 30, np.int64), "merged": constant("merged", [0, HEADS, -1, depth], np.int64),
             "heads": constant("heads", [1, 1, HEADS, 1, 1], np.int64)}
    used = {name for each in nodes for name in each.input}
    return [tensor for name, tensor in known.items() if name in used]


def compile_case(folder, name, target, nodes, inputs, depth, *options):
    """The artifact, and how many pairs of contractions were connected."""
    path = folder / f"{name}-{target}-{depth}{'-apart' * bool(options)}"
    model = path.with_suffix(".onnx")
    columns = "l" if any("Range" == each.op_type for each in nodes) else "c"
    heads = get_key_heads(name)
    shapes = {"q": (FLOAT, ["b", HEADS, "l", depth]), **{key: (FLOAT, ["b", heads, columns, depth]) for key in "kv"}, **inputs}
    save(model, nodes, [(key, *value) for key, value in shapes.items()], [("z", FLOAT, ["b", HEADS, "l", depth])],
         get_initializers(nodes, depth))
    counters = freestone_runtime.compile_model(model, path.with_suffix(".stone"), "--target", target, *options)
    return path.with_suffix(".stone"), counters["connected"]


def draw(random, kind, shape):
    if kind == BOOL:
        return random.random(shape) < 0.7
    values = random.normal(size=shape).astype(np.float32)
    # Some rows are masked in their first blocks, one wholly.
    if len(shape) == 4 and shape[:2] == (1, 1):
        values[:, :, 1::3, : shape[3] // 2] = -np.inf
        values[:, :, 2:3] = -np.inf
    return values


def check(folder, name, target, depth, case, random):
    nodes, inputs, get_mask, is_square = case
    artifact, connected = compile_case(folder, name, target, nodes, inputs, depth)
    assert connected == 1, (name, target, connected)
    if switch := {"guarded": "row-guards", "merged": "split-batches"}.get(name):
        _, unconnected = compile_case(folder, name, target, nodes, inputs, depth, "--disable", switch)
        assert unconnected == 0, (name, target)
    apart, none = compile_case(folder, name, target, nodes, inputs, depth, "--disable", "connect")
    assert none == 0, name
    models = [freestone_runtime.Model(artifact, workers) for workers in WORKERS]
    reference = freestone_runtime.Model(apart, 2)
    for rows, columns in LENGTHS:
        if is_square and rows != columns:
            continue
        sizes = {"b": 2, "l": rows, "c": columns}
        feeds = {key: random.normal(size=(2, HEADS if key == "q" else get_key_heads(name), rows if key == "q" else columns, depth)).astype(np.float32)
                 for key in "qkv"}
        feeds |= {key: draw(random, kind, tuple(sizes.get(extent, extent) for extent in shape)) for key, (kind, shape) in inputs.items()}
        mask = get_mask(np.arange(rows)[:, None], np.arange(columns), *(feeds[key] for key in inputs))
        q, k, v = (feeds[key].astype(np.float64) for key in "qkv")
        right = get_weights(name, q, k, mask) @ v
        first, *others = [model.run(feeds)[0] for model in models]
        for workers, other in zip(WORKERS[1:], others, strict=True):
            assert first.tobytes() == other.tobytes(), f"{name} for {target}, {rows}x{columns}: {workers} workers have other bits than one"
        assert first.shape == right.shape and (np.isnan(first) == np.isnan(right)).all(), (name, target, rows, columns)
        error = np.nanmax(np.abs(first - right), initial=0)
        before = np.nanmax(np.abs(reference.run(feeds)[0] - right), initial=0)
        unit = np.finfo(np.float32).eps * np.nanmax(np.abs(right), initial=0)
        assert error <= max(2 * before, 8 * unit), (name, target, rows, columns, error, before, unit)
        if rows * columns > 100000:
            # Scratch of a worker grows with the length, scores with its square.
            counters = [model.counters().arena_bytes for model in (models[0], reference)]
            assert counters[0] < 2 * HEADS * rows * columns * 4 < counters[1], (name, target, counters)
        print(f"{name} for {target}, {rows}x{columns}: error {error:.1e}, apart {before:.1e}")
    for model in models + [reference]:
        model.close()


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    # Programs with a missing edge between phases fail, even if the workers happen to run in the right order.
    freestone_runtime.check_order()
    random = np.random.default_rng(4)
    for target in TARGETS:
        for name, case in get_cases().items():
            check(folder, name, target, 64, case, random)
        check(folder, "plain", target, 20, get_cases()["plain"], random)


if __name__ == "__main__":
    main()
