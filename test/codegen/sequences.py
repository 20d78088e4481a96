"""Sequences and optionals as inputs and outputs, through `freestone run`, against known results: sequences.py FOLDER.

Elements differ in size; places, branches and lengths depend on data. Each program runs by the interpreter and by 1 to 3
workers, and what does not fit is refused in one sentence.
"""

import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import freestone_runtime
import numpy as np
import onnx
import onnx.parser

RANDOM = np.random.default_rng(1)


def rows(*counts):
    return [RANDOM.standard_normal((count, 2), dtype=np.float32) for count in counts]


def i64(*values):
    return np.array(values, np.int64)


SEQUENCE, LONGER, EMPTY = rows(3, 1, 2), rows(2, 0, 5, 1), []
X, Y = rows(4, 6)
PLACE = "(seq(float[r, 2]) s, int64 p, float[n, 2] x)"


def without(sequence, place):
    return [element for index, element in enumerate(sequence) if index != place % len(sequence)]


def with_inserted(sequence, place, x):
    place = place + len(sequence) if place < 0 else place
    return [*sequence[:place], x, *sequence[place:]]


def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True)) if x.size else x
    return e / e.sum(1, keepdims=True)


# A graph, and what it must give for some inputs.
CASES = {
    # Places that data determine.
    f"at {PLACE} => (float[k, 2] y, int64 l) {{ y = SequenceAt(s, p) l = SequenceLength(s) }}": [
        ({"s": s, "p": i64(p)[0], "x": X}, {"y": s[p], "l": i64(len(s))[0]})
        for s, p in ((SEQUENCE, 0), (SEQUENCE, -1), (LONGER, 1), (LONGER, 2))
    ],
    f"insert {PLACE} => (seq(float[k, 2]) y) {{ y = SequenceInsert(s, x, p) }}": [
        ({"s": s, "p": i64(p)[0], "x": x}, {"y": with_inserted(s, p, x)})
        for s, p, x in ((SEQUENCE, 0, X), (SEQUENCE, 3, X), (LONGER, -1, Y), (EMPTY, 0, X))
    ],
    f"erase {PLACE} => (seq(float[k, 2]) y) {{ y = SequenceErase(s, p) }}": [
        ({"s": s, "p": i64(p)[0], "x": X}, {"y": without(s, p)}) for s, p in ((SEQUENCE, 0), (SEQUENCE, -1), (LONGER, 2))
    ],
    # Along the dimension in which elements differ.
    "join (seq(float[r, 2]) s) => (float[k, 2] y) { y = ConcatFromSequence<axis = 0>(s) }": [
        ({"s": s}, {"y": np.concatenate(s)}) for s in (SEQUENCE, LONGER, rows(4))
    ],
    # Elements of one size, in place.
    "stack (seq(float[3]) s) => (float[k, 3] y, seq(float[3]) t) { y = ConcatFromSequence<axis = 0, new_axis = 1>(s) t = Identity(s) }": [
        ({"s": list(np.ones((2, 3), np.float32))}, {"y": np.ones((2, 3)), "t": list(np.ones((2, 3)))}),
        ({"s": []}, {"y": np.ones((0, 3)), "t": []}),
    ],
    # Each element by itself.
    "map (seq(float[r, 2]) s, float[2, 4] w) => (seq(float[r, 4]) y) { y = SequenceMap<body = b (float[r, 2] e) => (float[r, 4] f) { g = MatMul(e, w) f = Softmax<axis = 1>(g) }>(s) }": [
        ({"s": s, "w": w}, {"y": [softmax(e @ w) for e in s]})
        for s, w in ((SEQUENCE, RANDOM.standard_normal((2, 4), dtype=np.float32)), (LONGER, np.ones((2, 4), np.float32)), (EMPTY, np.ones((2, 4), np.float32)))
    ],
    # Sizes of one name are equal at the same place.
    "both (seq(float[r, 2]) s, seq(float[r, 2]) t) => (seq(float[r, 2]) y) { y = SequenceMap<body = b (float[r, 2] e, float[r, 2] f) => (float[r, 2] g) { g = Add(e, f) }>(s, t) }": [
        ({"s": s, "t": [2 * e for e in s]}, {"y": [3 * e for e in s]}) for s in (SEQUENCE, LONGER)
    ],
    # A sum over all elements, and as many as the limit says.
    "sum (seq(float[r, 2]) s, int64 m) => (float[2] y) { zero = Constant<value_floats = [0.0, 0.0]>() axis = Constant<value_ints = [0]>() y = Loop<body = b (int64 i, bool c, float[2] a) => (bool d, float[2] e) { d = Identity(c) f = SequenceAt(s, i) g = ReduceSum<keepdims = 0>(f, axis) e = Add(a, g) }>(m, , zero) }": [
        ({"s": s, "m": i64(m)[0]}, {"y": sum((e.sum(0) for e in s[:m]), np.zeros(2))}) for s, m in ((SEQUENCE, 3), (LONGER, 2), (LONGER, 0))
    ],
    # A branch decides how many elements there are, and of what sizes.
    "branch (bool c, seq(float[r, 2]) s, float[n, 2] x) => (seq(float[k, 2]) y) { y = If<then_branch = a () => (seq(float[k, 2]) t) { t = SequenceConstruct(x, x) }, else_branch = b () => (seq(float[k, 2]) u) { u = SequenceInsert(s, x) }>(c) }": [
        ({"c": np.array(c), "s": SEQUENCE, "x": X}, {"y": [X, X] if c else [*SEQUENCE, X]}) for c in (True, False)
    ],
    # Elements that are known while importing, read where data say.
    "known (float[n, 2] x, float[m, 2] z, int64 p) => (float[k, 2] y) { s = SequenceConstruct(x, z) y = SequenceAt(s, p) }": [
        ({"x": X, "z": Y, "p": i64(p)[0]}, {"y": (X, Y)[p]}) for p in (0, 1, -2)
    ],
    # Elements that grow in a loop, whose number data determine.
    "grow (float[6, 2] x, int64 m) => (seq(float[k, 2]) y) { empty = SequenceEmpty() zero = Constant<value_ints = [0]>() one = Constant<value_ints = [1]>() y = Loop<body = b (int64 i, bool c, seq(float[k, 2]) s) => (bool d, seq(float[k, 2]) t) { d = Identity(c) j = Add(i, one) e = Slice(x, zero, j) t = SequenceInsert(s, e) }>(m, , empty) }": [
        ({"x": Y, "m": i64(m)[0]}, {"y": [Y[: i + 1] for i in range(m)]}) for m in (0, 1, 5, 8)
    ],
    # What a loop inserts is of another size than what is there before.
    "mixed (float[n, 2] x, float[l, 2] z, int64 m) => (seq(float[k, 2]) y) { s = SequenceConstruct(x) y = Loop<body = b (int64 i, bool c, seq(float[k, 2]) s) => (bool d, seq(float[k, 2]) t) { d = Identity(c) t = SequenceInsert(s, z) }>(m, , s) }": [
        ({"x": x, "z": z, "m": i64(m)[0]}, {"y": [x, *[z] * m]}) for x, z in ((X, Y), (Y, X)) for m in (0, 3)
    ],
    # A branch within a loop chooses what is inserted.
    "chosen (float[n, 2] x, float[l, 2] z, int64 m) => (seq(float[k, 2]) y) { empty = SequenceEmpty() two = Constant<value_int = 2>() zero = Constant<value_int = 0>() y = Loop<body = b (int64 i, bool c, seq(float[k, 2]) s) => (bool d, seq(float[k, 2]) t) { d = Identity(c) r = Mod(i, two) even = Equal(r, zero) e = If<then_branch = p () => (float[k, 2] u) { u = Identity(x) }, else_branch = q () => (float[k, 2] v) { v = Neg(z) }>(even) t = SequenceInsert(s, e) }>(m, , empty) }": [
        ({"x": X, "z": Y, "m": i64(m)[0]}, {"y": [-Y if i % 2 else X for i in range(m)]}) for m in (0, 3)
    ],
    # As many parts as a size and a number say.
    "parts (float[n, 2] x, int64 l) => (seq(float[k, 2]) y) { y = SplitToSequence<axis = 0>(x, l) }": [
        ({"x": Y, "l": i64(l)[0]}, {"y": [Y[i : i + l] for i in range(0, 6, l)]}) for l in (1, 4, 6, 9)
    ],
    # Elements of several ranks, at a place that data determine, and of any rank.
    "ranks (seq(float) s, float[n, 2] x, int64 p) => (seq(float[]) y) { t = SequenceInsert(s, x, p) z = Constant<value_int = 0>() y = SequenceErase(t, z) }": [
        ({"s": s, "x": X, "p": i64(p)[0]}, {"y": with_inserted(s, p, X)[1:]}) for s, p in (([X[0, 0], X[1, 1]], 1), ([X[0, 0]], 0), ([], 0))
    ],
    "any (seq(float[]) s, int64 p, float[n, 2] x) => (seq(float[]) y, int64 l) { v = Neg(x) y = SequenceInsert(s, v, p) l = SequenceLength(s) }": [
        ({"s": s, "p": i64(1)[0], "x": X}, {"y": with_inserted(s, 1, -X), "l": i64(len(s))[0]})
        for s in ([X[0], X[0, 0]], [Y[None], X, Y[:, 0], Y[0, 0]], [np.ones((1, 2, 3, 1, 2), np.float32), np.ones((0, 3), np.float32)])
    ],
    "single (float[n, 2] x) => (seq(float[2]) y) { y = SplitToSequence<axis = 0, keepdims = 0>(x) }": [({"x": Y}, {"y": list(Y)})],
}
# These are no text of ONNX's parser: optional inputs.
OPTIONAL = """opt (optional(float[n]) o, float[n] x) => (float[n] y, bool h) {
    h = OptionalHasElement(o)
    y = If<then_branch = a () => (float[n] t) { v = OptionalGetElement(o) t = Add(v, x) },
           else_branch = b () => (float[n] u) { u = Neg(x) }>(h)
}"""
VECTOR = X[:, 0].copy()
CASES[OPTIONAL] = [
    ({"o": [VECTOR], "x": VECTOR}, {"y": 2 * VECTOR, "h": np.array(True)}),
    ({"o": None, "x": VECTOR}, {"y": -VECTOR, "h": np.array(False)}),
]


# What a loop carries begins as an optional sequence, and gets elements of a greater rank.
CASES["""begun (int64 m, optional(seq(float)) o) => (seq(float[]) y) {
    y = Loop<body = b (int64 i, bool c, optional(seq(float)) p) => (bool d, seq(float[]) t) {
        d = Identity(c) h = OptionalHasElement(p)
        s = If<then_branch = a () => (seq(float) v) { v = OptionalGetElement(p) },
               else_branch = e () => (seq(float) u) { z = Constant<value_float = 7.0>() u = SequenceConstruct(z) }>(h)
        five = Constant<value_floats = [1.0, 2.0, 3.0, 4.0, 5.0]>() one = Constant<value_ints = [1]>()
        zero = Constant<value_ints = [0]>() j = Add(i, one) f = Slice(five, zero, j) t = SequenceInsert(s, f)
    }>(m, , o)
}"""] = [
    ({"m": i64(m)[0], "o": o}, {"y": [*(o or [np.float32(7)] * (o is None)), *(np.arange(1, min(i + 2, 6)) for i in range(m))]})
    for m, o in ((3, None), (6, [np.float32(2), np.float32(3)]), (1, []), (0, [np.float32(2)]))
]


def arguments(folder, inputs):
    """Arguments of --input: a sequence is an archive."""
    given = []
    for name, value in inputs.items():
        path = folder / (f"{name}.npz" if isinstance(value, list) else f"{name}.npy")
        if isinstance(value, list):
            np.savez(path, *value)
        elif value is not None:
            np.save(path, value)
        given += [] if value is None else ["--input", f"{name}={path}"]
    return given


def written(folder, names):
    """The outputs, of which a sequence is several arrays."""
    with np.load(folder / "out.npz") as archive:
        return {name: archive[name] if name in archive else [archive[f"{name}/{i}"] for i in range(sum(entry.startswith(f"{name}/") for entry in archive))] for name in names}


def close(actual, expected):
    if isinstance(expected, list):
        return len(actual) == len(expected) and all(map(close, actual, expected))
    return np.shape(actual) == np.shape(expected) and np.allclose(actual, expected, rtol=1e-5, atol=1e-6)


def check(folder, text, cases):
    model, artifact = folder / "m.onnx", folder / "m.stone"
    onnx.save(onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 20]> {text}'), model)
    freestone_runtime.compile_model(model, artifact)
    for inputs, expected in cases:
        given = arguments(folder, inputs)
        for options in ([model, "--interpret"], *([artifact, "--threads", str(workers)] for workers in (1, 2, 3))):
            command = [freestone_runtime.freestone(), "run", *options, *given, "--outputs", folder / "out.npz"]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            results = written(folder, expected)
            for name, value in expected.items():
                assert close(results[name], value), f"{text}\n{inputs}\n{options}: {name} is {results[name]}, not {value}"


def refuse(folder, text, inputs, sentence, interpreted=None):
    """Ends with this sentence, or the interpreter with its own."""
    model = folder / "m.onnx"
    onnx.save(onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 20]> {text}'), model)
    for options in ([], ["--interpret"]):
        command = [freestone_runtime.freestone(), "run", model, *options, *arguments(folder, inputs)]
        result = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        expected = interpreted if options and interpreted else sentence
        assert result.returncode in (1, 2) and expected in result.stderr, f"{text} {options}: {result.returncode} {result.stderr}"


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    freestone_runtime.check_order()
    for text, cases in CASES.items():
        check(folder, text, cases)
    at = next(text for text in CASES if text.startswith("at "))
    insert = next(text for text in CASES if text.startswith("insert "))
    both = next(text for text in CASES if text.startswith("both "))
    refuse(folder, at, {"s": SEQUENCE, "p": i64(3)[0], "x": X}, "index")
    refuse(folder, at, {"s": EMPTY, "p": i64(0)[0], "x": X}, "an empty sequence or optional has no element", "the index 0 is out of range")
    refuse(folder, insert, {"s": SEQUENCE, "p": i64(4)[0], "x": X}, "index")
    refuse(folder, insert, {"s": [*SEQUENCE, VECTOR], "p": i64(0)[0], "x": X}, "element 3 of input 's' must have rank 2, but has rank 1")
    refuse(folder, insert, {"s": [*SEQUENCE, X.astype(np.int64)], "p": i64(0)[0], "x": X}, "must be f32, but is i64")
    refuse(folder, insert, {"s": [X.T.copy()], "p": i64(0)[0], "x": X}, "dimension 1 of element 0 of input 's' must be 2, but is 4")
    refuse(folder, both, {"s": rows(2, 3), "t": rows(2, 4)}, "dimension 0 of element 1 of input 't', r, must be 3 as dimension 0 in input 's', but is 4")
    square = "square (seq(float[n, n]) s) => (seq(float[n, n]) y) { y = SequenceMap<body = b (float[n, n] e) => (float[n, n] f) { f = Add(e, e) }>(s) }"
    check(folder, square, [({"s": [np.ones((2, 2), np.float32), np.ones((3, 3), np.float32)]}, {"y": [np.full((2, 2), 2), np.full((3, 3), 2)]})])
    refuse(folder, square, {"s": rows(2, 3)}, "dimension 0 of element 1 of input 's', n, must be 2 as dimension 1 in input 's', but is 3")
    refuse(folder, OPTIONAL, {"o": [VECTOR, VECTOR], "x": VECTOR}, "takes one tensor or none, not 2")
    larger = "larger (float[n] x, int64 m) => (seq(float[k]) y) { s = SequenceConstruct(x) last = Constant<value_int = -1>() y = Loop<body = b (int64 i, bool c, seq(float[k]) s) => (bool d, seq(float[k]) t) { d = Identity(c) e = SequenceAt(s, last) f = Concat<axis = 0>(e, x) t = SequenceInsert(s, f) }>(m, , s) }"
    refuse(folder, larger, {"x": VECTOR, "m": i64(3)[0]}, "gets larger elements in each iteration")
    anything = next(text for text in CASES if text.startswith("any "))
    refuse(folder, anything, {"s": [np.ones((1,) * 6, np.float32)], "p": i64(0)[0], "x": X}, "element 0 of input 's' must have 0 to 5 dimensions, but has 6")
    print(f"{len(CASES)} graphs give what they should")


if __name__ == "__main__":
    main()
