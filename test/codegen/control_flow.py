"""Random programs of nested loops, branches and scans against the interpreter: control_flow.py FOLDER [COUNT [SEED]].

With a COUNT, programs are of any size; by default those of more than MOST values are left out, whose proofs take longest.
First, cases whose results are known. Data decide: integers, which are exact, end loops and choose branches. States are
matrices [n, 8] of any n, and matrices to which each iteration adds rows; scans go along [t, n, 8] for any t. Each program
runs for several sizes, 0 included, on one to eight workers with the same bits, enters its program once a run, and the order
of its phases is proved on the way.
"""

import itertools
import os
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import freestone_runtime
import numpy as np
import onnx
import onnx.parser
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
DEPTH = 3
MOST = 600
WORKERS = range(1, 9)
SIZES = [(1, 3), (5, 1), (17, 4), (2, 0), (0, 2)]


def info(name, kind):
    return helper.make_tensor_value_info(name, INT if kind == "i" else BOOL if kind == "b" else FLOAT, [] if kind in "ib" else None)


X = np.arange(3, dtype=np.float32)
MIXED = np.array([[1, 2], [-1, 1]], np.float32)


def wave(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape) % 7 - 3


def mix_in_turns(steps, turns):
    mixed = np.abs(np.where(turns[:, None, None], steps @ MIXED, -steps))
    return {"xs": steps, "turns": turns, "m": MIXED}, [mixed.sum(1), mixed @ MIXED]


ONES = np.ones((2, 3), np.float32)
KNOWN = {
    # What is carried changes places.
    """(float[n] x) => (float[n] y, float[n] z) {
        m = Constant<value_int = 3>() minus = Neg(x)
        y, z = Loop<body = b (int64 i, bool c, float[n] p, float[n] q) => (bool d, float[n] r, float[n] s) {
            d = Identity(c) r = Identity(q) s = Identity(p) }>(m, , x, minus)
    }""": [({"x": X}, [-X, X])],
    # A constant ends the loop behind its first iteration.
    """(float[n] x) => (float[n] y) {
        m = Constant<value_int = 5>()
        y = Loop<body = b (int64 i, bool c, float[n] p) => (bool d, float[n] q) {
            d = Constant<value = bool {0}>() q = Add(p, p) }>(m, , x)
    }""": [({"x": X}, [2 * X])],
    # Data end the loop, or its limit does: as many values are collected.
    """(float[n] x, int64 m) => (float[n] y, float[k, n] all) {
        one = Constant<value_float = 1.0>() most = Constant<value_float = 20.0>()
        y, all = Loop<body = b (int64 i, bool c, float[n] p) => (bool d, float[n] q, float[n] v) {
            q = Add(p, one) v = Identity(p) t = ReduceSum<keepdims = 0>(q) d = Less(t, most) }>(m, , x)
    }""": [
        ({"x": X, "m": np.array(50)}, [X + 6, X + np.arange(6)[:, None]]),
        ({"x": X, "m": np.array(2)}, [X + 2, X + np.arange(2)[:, None]]),
        ({"x": X, "m": np.array(0)}, [X, np.zeros((0, 3))]),
    ],
    # What grows in a few iterations is unrolled.
    """(float[n] x) => (float[k] y) {
        m = Constant<value_int = 2>()
        y = Loop<body = b (int64 i, bool c, float[p] s) => (bool d, float[q] t) { d = Identity(c) t = Concat<axis = 0>(s, x) }>(m, , x)
    }""": [({"x": X}, [np.tile(X, 3)])],
    # What grows otherwise than with the number of the iteration is unrolled too.
    """(float[n] x) => (float[k] y) {
        m = Constant<value_int = 6>()
        y = Loop<body = b (int64 i, bool c, float[p] s) => (bool d, float[q] t) { d = Identity(c) t = Concat<axis = 0>(s, s) }>(m, , x)
    }""": [({"x": X}, [np.tile(X, 64)])],
    # What grows, along its last dimension, until data end the loop, or the limit does.
    """(float[2, n] x, int64 m) => (float[2, k] y, float[l, 2] all) {
        most = Constant<value_float = 40.0>() axis = Constant<value_ints = [1]>() zero = Constant<value_ints = [0]>()
        y, all = Loop<body = b (int64 i, bool c, float[2, p] s) => (bool d, float[2, q] t, float[2] v) {
            e = ReduceSum(s, axis) t = Concat<axis = 1>(s, e) v = ReduceSum<keepdims = 0>(t, axis)
            r = ReduceSum<keepdims = 0>(v) d = Less(r, most) }>(m, , x)
    }""": [
        ({"x": ONES, "m": np.array(50)}, [np.repeat([[1, 1, 1, 3, 6, 12]], 2, 0), np.repeat([[6], [12], [24]], 2, 1)]),
        ({"x": ONES, "m": np.array(1)}, [np.repeat([[1, 1, 1, 3]], 2, 0), np.full((1, 2), 6)]),
        ({"x": ONES, "m": np.array(0)}, [ONES, np.zeros((0, 2))]),
    ],
    # What is carried shrinks as data decide, and holds the last elements of what grows.
    """(float[n] x, int64 m) => (float[k] y, float[l] z) {
        one = Constant<value_float = 1.0>() none = Constant<value_float = 0.0>()
        start = Constant<value_ints = [-2]>() end = Constant<value_ints = [1000]>() axis = Constant<value_ints = [0]>()
        y, z = Loop<body = b (int64 i, bool c, float[p] s, float[q] w) => (bool d, float[r] t, float[v] u) {
            d = Identity(c) less = Sub(s, one) isKept = Greater(less, none) t = Compress<axis = 0>(less, isKept)
            e = ReduceSum<keepdims = 1>(s) longer = Concat<axis = 0>(w, e) u = Slice(longer, start, end, axis) }>(m, , x, x)
    }""": [
        ({"x": np.array([1, 4, 2, 3], np.float32), "m": np.array(3)}, [np.array([1]), np.array([6, 3])]),
        ({"x": np.array([1, 4, 2, 3], np.float32), "m": np.array(7)}, [np.zeros(0), np.zeros(2)]),
        ({"x": np.array([1], np.float32), "m": np.array(1)}, [np.zeros(0), np.ones(2)]),
        ({"x": np.array([1, 4], np.float32), "m": np.array(0)}, [np.array([1, 4]), np.array([1, 4])]),
    ],
    # A sequence becomes longer, and shorter, until data end the loop; its elements are read from the end.
    """(float[n] x, int64 m) => (float[k, n] y, float[l] z, int64 length, float[n] sum) {
        empty = SequenceEmpty() first = Constant<value_int = 0>() last = Constant<value_int = -1>() none = Sub(x, x)
        most = Constant<value_float = 30.0>()
        s, sum = Loop<body = b (int64 i, bool c, seq(float[n]) p, float[n] v) => (bool d, seq(float[n]) t, float[n] w) {
            f = Cast<to = 1>(i) e = Add(x, f) q = SequenceInsert(p, e) r = SequenceInsert(q, x, first)
            t = SequenceErase(r) g = SequenceAt(r, last) w = Add(v, g)
            a = ReduceSum<keepdims = 0>(w) d = Less(a, most) }>(m, , empty, none)
        y = ConcatFromSequence<axis = 0, new_axis = 1>(s) z = ConcatFromSequence<axis = 0>(s) length = SequenceLength(s)
    }""": [
        ({"x": X, "m": np.array(3)}, [np.tile(X, (3, 1)), np.tile(X, 3), np.array(3), 3 * X + 3]),
        ({"x": X, "m": np.array(100)}, [np.tile(X, (4, 1)), np.tile(X, 4), np.array(4), 4 * X + 6]),
        ({"x": X, "m": np.array(0)}, [np.zeros((0, 3)), np.zeros(0), np.array(0), np.zeros(3)]),
    ],
    # Both sides of a branch give other sizes, in a loop that keeps them all.
    """(float[n] x, int64 m) => (float[k] y) {
        two = Constant<value_int = 2>() zero = Constant<value_int = 0>() none = Constant<value = float[0] {}>()
        y = Loop<body = b (int64 i, bool c, float[p] s) => (bool d, float[q] t) {
            d = Identity(c) rest = Mod(i, two) isEven = Equal(rest, zero)
            e = If<then_branch = left () => (float[r] f) { f = Concat<axis = 0>(x, x) },
                   else_branch = right () => (float[v] g) { g = Neg(x) }>(isEven)
            t = Concat<axis = 0>(s, e) }>(m, , none)
    }""": [
        ({"x": X, "m": np.array(3)}, [np.concatenate([X, X, -X, X, X])]),
        ({"x": X, "m": np.array(0)}, [np.zeros(0)]),
    ],
    # What is carried is collected too, and begins with another size.
    """(float[n] x, float[5] z, int64 m) => (float[k] y, float[t, 5] all) {
        y, all = Loop<body = b (int64 i, bool c, float[p] s) => (bool d, float[5] t, float[5] v) {
            d = Identity(c) a = ReduceSum<keepdims = 0>(s) t = Add(a, z) v = Identity(t) }>(m, , x)
    }""": [
        ({"x": X, "z": np.ones(5, np.float32), "m": np.array(3)}, [np.full(5, 106), np.repeat([[4], [21], [106]], 5, 1)]),
        ({"x": X, "z": np.ones(5, np.float32), "m": np.array(0)}, [X, np.zeros((0, 5))]),
    ],
    # Data alone end a loop that collects what it carries, and more.
    """(float[n] x, float most) => (float[n] y, float[k, n] all, float[k] sums) {
        one = Constant<value_float = 1.0>() yes = Constant<value = bool {1}>()
        y, all, sums = Loop<body = b (int64 i, bool c, float[n] p) => (bool d, float[n] q, float[n] v, float t) {
            q = Add(p, one) v = Identity(q) t = ReduceSum<keepdims = 0>(q) d = Less(t, most) }>(, yes, x)
    }""": [
        ({"x": X, "most": np.float32(most)}, [X + n, X + np.arange(1, n + 1)[:, None], np.arange(6, 3 * n + 4, 3)])
        for most, n in ((0, 1), (7, 2), (3e3, 999))
    ],
    # Data alone end a loop; both sides of a branch in it give sizes that double.
    """(float[n] x, int64 m) => (float[k] y) {
        one = Constant<value_int = 1>() two = Constant<value_int = 2>() zero = Constant<value_int = 0>() yes = Constant<value = bool {1}>()
        y = Loop<body = b (int64 i, bool c, float[p] s) => (bool d, float[q] t) {
            j = Add(i, one) d = Less(j, m) rest = Mod(i, two) isEven = Equal(rest, zero)
            t = If<then_branch = left () => (float[r] f) { f = Concat<axis = 0>(s, s, x) },
                   else_branch = right () => (float[v] g) { g = Neg(s) }>(isEven) }>(, yes, x)
    }""": [
        ({"x": X, "m": np.array(1)}, [np.tile(X, 3)]),
        ({"x": X, "m": np.array(2)}, [-np.tile(X, 3)]),
        ({"x": X, "m": np.array(3)}, [np.concatenate([-np.tile(X, 6), X])]),
        ({"x": X[:0], "m": np.array(5)}, [X[:0]]),
    ],
    # Neither of two loops within each other has a limit; the inner one begins with what the outer one has made.
    """(float[n] x, int64 m) => (float[k] y, float[l] sums) {
        one = Constant<value_int = 1>() yes = Constant<value = bool {1}>()
        y, sums = Loop<body = b (int64 i, bool c, float[p] s) => (bool d, float[q] t, float v) {
            j = Add(i, one) d = Less(j, m)
            e, f = Loop<body = inner (int64 a, bool go, float[u] w) => (bool h, float[z] r, float o) {
                h = Less(a, i) r = Concat<axis = 0>(w, x) o = ReduceSum<keepdims = 0>(r) }>(, yes, s)
            v = ReduceSum<keepdims = 0>(f) t = Concat<axis = 0>(e, x) }>(, yes, x)
    }""": [
        ({"x": X, "m": np.array(1)}, [np.tile(X, 3), np.array([6])]),
        ({"x": X, "m": np.array(3)}, [np.tile(X, 10), np.array([6, 12 + 15, 21 + 24 + 27])]),
        ({"x": X[:0], "m": np.array(3)}, [X[:0], np.zeros(3)]),
    ],
    # Conditions count: upwards, while something else holds too, and downwards by two, at least once.
    """(float[n] x, int64 m) => (float[n] y, int64 count, float[k, n] all, int64[l] counts) {
        zero = Constant<value_int = 0>() one = Constant<value_int = 1>() two = Constant<value_int = 2>() nine = Constant<value_int = 9>()
        most = Constant<value_float = 40.0>() yes = Constant<value = bool {1}>() begins = Less(zero, m)
        y, count, all = Loop<body = up (int64 i, bool c, float[n] p, int64 j) => (bool d, float[n] q, int64 k, float[n] v) {
            q = Add(p, p) v = Identity(p) k = Add(j, one) few = Less(k, m) t = ReduceSum<keepdims = 0>(q) small = Less(t, most) d = And(small, few) }>(, begins, x, zero)
        last, counts = Loop<body = down (int64 i, bool c, int64 j) => (bool d, int64 k, int64 v) {
            k = Sub(j, two) d = GreaterOrEqual(k, m) v = Identity(j) }>(, yes, nine)
    }""": [
        ({"x": X, "m": np.array(4)}, [16 * X, np.array(4), X * 2.0 ** np.arange(4)[:, None], np.array([9, 7, 5])]),
        ({"x": X, "m": np.array(8)}, [16 * X, np.array(4), X * 2.0 ** np.arange(4)[:, None], np.array([9])]),
        ({"x": X, "m": np.array(0)}, [X, np.array(0), np.zeros((0, 3)), np.array([9, 7, 5, 3, 1])]),
    ],
    # Sizes follow from the number of the iteration.
    """(float[n] x, int64 m) => (float y, float[k] all) {
        one = Constant<value_ints = [1]>() zero = Constant<value_ints = [0]>() none = Constant<value_float = 0.0>()
        y, all = Loop<body = b (int64 i, bool c, float p) => (bool d, float q, float v) {
            d = Identity(c) j = Add(i, one) part = Slice(x, zero, j) v = ReduceSum<keepdims = 0>(part) q = Add(p, v) }>(m, , none)
    }""": [
        ({"x": X, "m": np.array(5)}, [np.array(10), np.array([0, 1, 3, 3, 3])]),
        ({"x": X, "m": np.array(0)}, [np.array(0), np.zeros(0)]),
    ],
    # Who waits for one side of a branch, where the other one is taken, has waited for the iteration before.
    """(float[t, n, 2] xs, bool[t] turns, float[2, 2] m) => (float[t, 2] sums, float[t, n, 2] all) {
        axis = Constant<value_ints = [0]>()
        sums, all = Scan<num_scan_inputs = 2, body = b (float[n, 2] x, bool c) => (float[2] s, float[n, 2] v) {
            u = If<then_branch = left () => (float[n, 2] f) { f = MatMul(x, m) },
                   else_branch = right () => (float[n, 2] g) { g = Neg(x) }>(c)
            w = Abs(u) s = ReduceSum<keepdims = 0>(w, axis) v = MatMul(w, m) }>(xs, turns)
    }""": [
        mix_in_turns(wave(2, 3, 2), np.array([True, False])),
        mix_in_turns(wave(9, 7001, 2), np.arange(9) % 3 == 0),
        mix_in_turns(wave(0, 3, 2), np.zeros(0, bool)),
    ],
}
# A loop in a branch in a loop, both ended by data: nothing in it asks the host.
NESTED = """(float[n] x, int64 m) => (float[n] y, int64 j) {
    two = Constant<value_int = 2>() zero = Constant<value_int = 0>() most = Constant<value_float = 1000.0>() one = Constant<value_int = 1>()
    y, j = Loop<body = b (int64 i, bool c, float[n] p, int64 k) => (bool d, float[n] q, int64 l) {
        rest = Mod(k, two) isEven = Equal(rest, zero)
        q, l = If<then_branch = left () => (float[n] f, int64 u) { f = Add(p, x) u = Add(k, one) },
                  else_branch = right () => (float[n] g, int64 w) {
                    g, w = Loop<body = inner (int64 a, bool go, float[n] s, int64 h) => (bool on, float[n] t, int64 v) {
                        on = Identity(go) t = Add(s, s) v = Add(h, one) }>(k, , p, k) }>(isEven)
        e = ReduceSum<keepdims = 0>(q) d = Less(e, most) }>(m, , x, zero)
}"""
STEPS = np.arange(24, dtype=np.float32).reshape(3, 4, 2)
FIRST = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
#: Of operator set 8, whose Scan goes along the steps of each sample of a batch.
KNOWN_OF_8 = {
    """(float[b, 2] i, float[b, t, 2] x) => (float[b, 2] last, float[b, t, 2] all) {
        last, all = Scan<num_scan_inputs = 1, directions = [1], body = s (float[2] s, float[2] e) => (float[2] n, float[2] o) {
            n = Add(s, e) o = Identity(n) }>(, i, x)
    }""": [
        ({"i": FIRST, "x": STEPS}, [FIRST + STEPS.sum(1), FIRST[:, None] + np.cumsum(STEPS[:, ::-1], 1)]),
        ({"i": FIRST[:1], "x": STEPS[:1, :1]}, [FIRST[:1] + STEPS[:1, 0], FIRST[:1, None] + STEPS[:1, :1]]),
        ({"i": FIRST, "x": STEPS[:, :0]}, [FIRST, np.zeros((3, 0, 2))]),
        ({"i": FIRST[:0], "x": STEPS[:0]}, [FIRST[:0], STEPS[:0]]),
    ],
}


def require_one_entry(program, where):
    """No iteration and no branch goes back to the host, which has entered the program once a run."""
    counters = program.counters()
    if counters.entries != counters.runs or not counters.runs:
        sys.exit(f"{where}: {counters.entries} entries in {counters.runs} runs")


def check_known(folder):
    for opset, text, cases in [(20, *item) for item in KNOWN.items()] + [(8, *item) for item in KNOWN_OF_8.items()]:
        model = onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : {opset}]> g {text}')
        onnx.save(model, folder / "known.onnx")
        freestone_runtime.compile_model(folder / "known.onnx", folder / "known.stone")
        for workers in WORKERS:
            program = freestone_runtime.Model(folder / "known.stone", workers)
            for feeds, expected in cases:
                for actual, wanted in zip(program.run(feeds), expected):
                    if actual.shape != wanted.shape or not np.allclose(actual, wanted):
                        sys.exit(f"{text}: {actual} is not {wanted}")
            require_one_entry(program, text)
            program.close()


class Scope:
    """A graph under construction: its nodes, and the names of matrices (`h`), sequences (`s`) and integers (`i`) in sight."""

    def __init__(self, program, outer=None, depth=0):
        self.program, self.depth, self.nodes = program, depth, []
        self.names = {kind: list(names) for kind, names in outer.names.items()} if outer else {"h": [], "s": [], "i": []}

    def add(self, op, inputs, kind=None, count=1, **attributes):
        names = [self.program.fresh() for _ in range(count)]
        self.nodes.append(helper.make_node(op, inputs, names, **attributes))
        if kind:
            self.names[kind] += names
        return names[0] if count == 1 else names

    def constant(self, value, dtype):
        return self.add("Constant", [], value=numpy_helper.from_array(np.array(value, dtype)))

    def pick(self, kind):
        return self.program.random.choice(self.names[kind][-6:])

    def condition(self):
        """A bool that depends on data."""
        rest = self.add("Mod", [self.pick("i"), self.constant(self.program.random.randint(2, 4), np.int64)])
        return self.add("Equal", [rest, self.constant(self.program.random.randint(0, 1), np.int64)])

    def number(self):
        changed = self.add("Add", [self.pick("i"), self.constant(self.program.random.randint(1, 5), np.int64)])
        return self.add("Mod", [changed, self.constant(97, np.int64)], "i")

    def selected(self, rows):
        """The rows that data select."""
        sums = self.add("ReduceSum", [rows, self.constant([1], np.int64)], keepdims=0)
        return self.add("Compress", [rows, self.add("Greater", [sums, self.constant(0, np.float32)])], axis=0)

    def chosen(self, rows):
        """Some rows, or those that data select."""
        sides = []
        for make in (lambda side: side.selected(rows), lambda side: side.add("Tanh", [rows])):
            side = Scope(self.program, self, self.depth + 1)
            output = make(side)
            sides.append(helper.make_graph(side.nodes, self.program.fresh(), [], [info(output, "h")]))
        return self.add("If", [self.condition()], then_branch=sides[0], else_branch=sides[1])

    def matrix(self):
        choice = self.program.random.random()
        if choice < 0.3:
            return self.add("Tanh", [self.add("MatMul", [self.pick("h"), "w"])], "h")
        if choice < 0.5:
            return self.add("Tanh", [self.pick("h")], "h")
        if choice < 0.6:
            phase = self.add("Cast", [self.pick("i")], to=FLOAT)
            return self.add("Sin", [self.add("Add", [self.pick("h"), phase])], "h")
        mixed = self.add("Add", [self.pick("h"), self.pick("h")])
        return self.add("Mul", [mixed, self.constant(0.5, np.float32)], "h")

    def branch(self):
        sides = []
        for _ in range(2):
            side = Scope(self.program, self, self.depth + 1)
            side.fill()
            outputs = [side.matrix(), side.number()]
            graph = helper.make_graph(side.nodes, self.program.fresh(), [], [info(outputs[0], "h"), info(outputs[1], "i")])
            sides.append(graph)
        made, number = self.add("If", [self.condition()], count=2, then_branch=sides[0], else_branch=sides[1])
        self.names["h"].append(made)
        self.names["i"].append(number)

    def attend(self, rows):
        """A matrix that depends on each of any number of rows."""
        scores = self.add("MatMul", [self.pick("h"), self.add("Transpose", [rows], perm=[1, 0])])
        return self.add("Tanh", [self.add("MatMul", [self.add("Softmax", [scores], axis=1), rows])], "h")

    def first_rows(self, trip):
        """As many rows of a matrix as there have been iterations, at most all."""
        count = self.add("Reshape", [trip, self.constant([1], np.int64)])
        rows = self.add("Slice", [self.pick("h"), self.constant([0], np.int64), count, self.constant([0], np.int64)])
        return self.add("ReduceSum", [rows, self.constant([0], np.int64)], keepdims=1)

    def loop(self):
        draw = self.program.random
        body, collects, grows = Scope(self.program, self, self.depth + 1), draw.random() < 0.4, draw.random() < 0.4
        trip, going, state, number, rows = (self.program.fresh() for _ in range(5))
        body.names["h"].append(state)
        body.names["i"] += [trip, number]
        if grows:
            if draw.random() < 0.3:
                shortened = body.add("Tanh", [body.first_rows(trip)])
                body.add("Add", [body.pick("h"), shortened], "h")
            body.attend(rows)
        body.fill()
        next_state, next_number = body.matrix(), body.number()
        ends_early = draw.random() < 0.6
        goes_on = body.condition() if ends_early else body.add("Identity", [going])
        outputs = [info(goes_on, "b"), info(next_state, "h"), info(next_number, "i")]
        if collects:
            kept = body.add("Identity", [next_state]) if draw.random() < 0.5 else body.matrix()
            outputs.append(info(kept, "h"))
        inputs = [info(trip, "i"), info(going, "b"), info(state, "h"), info(number, "i")]
        if grows:
            more = [body.pick("h"), rows] if draw.random() < 0.3 else [rows, body.pick("h")]
            if draw.random() < 0.5:
                more.append(body.add("ReduceSum", [body.pick("h"), body.constant([0], np.int64)], keepdims=1))
            if draw.random() < 0.4:
                place = draw.randrange(len(more))
                more[place] = draw.choice([body.selected, body.chosen])(more[place])
            outputs.insert(3, info(body.add("Concat", more, axis=0), "h"))
            inputs.append(info(rows, "h"))
        graph = helper.make_graph(body.nodes, self.program.fresh(), inputs, outputs)
        most = 7 if grows else 4
        if draw.random() < 0.5:
            limit = self.constant(draw.randint(0, most), np.int64)
        else:
            limit = self.add("Mod", [self.pick("i"), self.constant(most + 1, np.int64)])
        first = self.condition() if draw.random() < 0.3 else ""
        carried = [self.pick("h"), self.pick("i")] + ([self.pick("h")] if grows else [])
        made = self.add("Loop", [limit, first, *carried], count=len(outputs) - 1, body=graph)
        self.names["h"].append(made[0])
        self.names["i"].append(made[1])
        if grows:
            self.attend(made[2])
        if collects:
            self.names["h"].append(self.add("ReduceSum", [made[-1], self.constant([0], np.int64)], keepdims=0))

    def scan(self):
        draw = self.program.random
        body = Scope(self.program, self, self.depth + 1)
        state, number, element = (self.program.fresh() for _ in range(3))
        body.names["h"] += [state, element]
        body.names["i"].append(number)
        body.fill()
        next_state, next_number = body.matrix(), body.number()
        kept = body.add("Identity", [next_state]) if draw.random() < 0.5 else body.matrix()
        inputs = [info(state, "h"), info(number, "i"), info(element, "h")]
        outputs = [info(next_state, "h"), info(next_number, "i"), info(kept, "h")]
        graph = helper.make_graph(body.nodes, self.program.fresh(), inputs, outputs)
        made = self.add("Scan", [self.pick("h"), self.pick("i"), self.pick("s")], count=3, body=graph, num_scan_inputs=1,
                        scan_input_directions=[draw.randint(0, 1)], scan_output_directions=[draw.randint(0, 1)])
        for kind, name in zip("his", made):
            self.names[kind].append(name)

    def fill(self):
        """Adds some operators, more the nearer they are to the outside."""
        for _ in range(self.program.random.randint(1, 4 if self.depth == 0 else 2)):
            choice = self.program.random.random()
            if self.depth == DEPTH or choice < 0.3:
                self.matrix()
            elif choice < 0.4:
                self.number()
            else:
                self.program.random.choice([self.branch, self.loop, self.scan])()


class Program:
    def __init__(self, seed):
        self.random, self.count = random.Random(seed), 0
        scope = Scope(self)
        scope.names = {"h": ["x"], "s": ["xs"], "i": ["k"]}
        for _ in range(3):
            scope.fill()
        outputs = [scope.matrix(), scope.pick("s"), scope.number()]
        outputs[1] = scope.add("Identity", [outputs[1]])
        tensor = helper.make_tensor_value_info
        inputs = [tensor("x", FLOAT, ["n", 8]), tensor("xs", FLOAT, ["t", "n", 8]), tensor("k", INT, [])]
        weight = numpy_helper.from_array(np.random.default_rng(seed).standard_normal((8, 8)).astype(np.float32) / 3, "w")
        results = [tensor(outputs[0], FLOAT, ["n", 8]), tensor(outputs[1], FLOAT, ["t", "n", 8]), tensor(outputs[2], INT, [])]
        graph = helper.make_graph(scope.nodes, "program", inputs, results, [weight])
        self.model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)

    def fresh(self):
        self.count += 1
        return f"v{self.count}"


def interpret(folder, model, feeds):
    np.savez(folder / "feeds.npz", **feeds)
    command = [freestone_runtime.freestone(), "run", model, "--input", folder / "feeds.npz", "--interpret"]
    subprocess.run([*command, "--outputs", folder / "expected.npz"], check=True, stdout=subprocess.DEVNULL)
    with np.load(folder / "expected.npz") as results:
        return [results[output.name] for output in onnx.load(model).graph.output]


def check_host_calls(folder):
    path = folder / "nested.onnx"
    onnx.save(onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : 20]> g {NESTED}'), path)
    freestone_runtime.compile_model(path, folder / "nested.stone")
    for workers in (1, 2):
        program = freestone_runtime.Model(folder / "nested.stone", workers)
        for most in (0, 1, 2, 3, 50):
            feeds = {"x": X, "m": np.array(most)}
            for actual, wanted in zip(program.run(feeds), interpret(folder, path, feeds)):
                if not np.array_equal(actual, wanted):
                    sys.exit(f"at most {most} iterations: {actual} is not {wanted}")
        require_one_entry(program, "nested loops")
        if calls := program.counters().host_calls:
            sys.exit(f"nested loops have called the host {calls} times")
        program.close()


def check_random(folder, seed, model):
    path, artifact = folder / "program.onnx", folder / "program.stone"
    onnx.save(model, path)
    freestone_runtime.compile_model(path, artifact)
    draws = np.random.default_rng(seed)
    programs = [freestone_runtime.Model(artifact, workers) for workers in WORKERS]
    for n, t in SIZES:
        feeds = {
            "x": draws.standard_normal((n, 8)).astype(np.float32),
            "xs": draws.standard_normal((t, n, 8)).astype(np.float32),
            "k": np.array(draws.integers(0, 10)),
        }
        expected = interpret(folder, path, feeds)
        where, alone = f"seed {seed}, n {n}, t {t}, k {feeds['k']}", None
        for workers, program in zip(WORKERS, programs):
            results = program.run(feeds)
            alone = alone or results
            for actual, wanted, first in zip(results, expected, alone):
                if not np.allclose(actual, wanted, rtol=1e-4, atol=1e-5):
                    sys.exit(f"{where}, {workers} workers: {actual} is not {wanted}")
                if actual.shape != first.shape or actual.tobytes() != first.tobytes():
                    sys.exit(f"{where}: the bits of {workers} workers are not those of one")
    for program in programs:
        require_one_entry(program, f"seed {seed}")
        program.close()


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    # Lesser machines have other vectors, and the same control flow.
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 8 if "FREESTONE_HOST" in os.environ else 24
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    drawn = ((seed, Program(seed)) for seed in itertools.count(first))
    programs = ((seed, program.model) for seed, program in drawn if len(sys.argv) > 2 or program.count <= MOST)
    freestone_runtime.check_order()
    check_known(folder)
    check_host_calls(folder)
    for seed, model in itertools.islice(programs, count):
        check_random(folder, seed, model)
    print(f"{count} programs agree")


if __name__ == "__main__":
    main()
