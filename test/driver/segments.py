"""Columns in segments, and indices in pieces: segments.py FREESTONE.

What pads, joins and crops, and gathers by constant indices, is bit-identical to NumPy with segments and without, on any
number of workers; for AVX2 and for this machine.
"""

import sys

import numpy as np
from text_models import check_targets

# Also NumPy's names.
MODES = ("reflect", "edge", "wrap", "constant")
# Less than a vector, a vector and its border, several, and more columns than indices are constants for.
WIDTHS = (5, 17, 56, 130, 1100)


def constant(name, values):
    return f"int64[{len(values)}] {name} = {{{', '.join(map(str, values))}}}"


def compile_both(tool, graph, target):
    """Yields the options of each compilation; both have the same results."""
    counters = tool.compile(graph, target, "--disable", "segments")
    assert counters["segments"] == 0, counters
    yield "without segments", counters
    yield "", tool.compile(graph, target)


def check_pads(tool, random, target):
    for mode in MODES:
        for width in WIDTHS:
            shape, pads = (2, 3, 6, width), ((0, 0), (0, 0), (2, 1), (1, 3))
            flat = [low for low, _ in pads] + [high for _, high in pads]
            graph = (f"g (float[2, 3, 6, {width}] x) => (float[2, 3, 9, {width + 4}] y) <{constant('p', flat)}> "
                     f"{{ y = Pad<mode = \"{mode}\">(x, p) }}")
            x = random.standard_normal(shape).astype("float32")
            for what, counters in compile_both(tool, graph, target):
                assert what or width != 56 or counters["segments"] == 1, (mode, counters)
                tool.expect({"x": x}, np.pad(x, pads, mode=mode), f"Pad {mode} of {width} columns for {target} {what}")
        graph = (f"g (float[a, b] x) => (float[p, q] y) <{constant('p', [1, 2, 0, 3])}> {{ y = Pad<mode = \"{mode}\">(x, p) }}")
        for what, _ in compile_both(tool, graph, target):
            for shape in ((4, 4), (3, 70), (2, 16)):
                x = random.standard_normal(shape).astype("float32")
                tool.expect({"x": x}, np.pad(x, ((1, 0), (2, 3)), mode=mode),
                            f"Pad {mode} of {shape}, known at run time, for {target} {what}")


def check_made_pieces(tool, random, target):
    """Joined results of maps, which the segments compute; also of no columns."""
    graph = ("g (float[n, a] x, int32[n, b] k, float[n] v) => (float[n, c] y) <int64[1] one = {1}> "
             "{ w = Unsqueeze(v, one) p = Mul(x, w) m = Mul(k, k) q = Cast<to = 1>(m) y = Concat<axis = 1>(p, q) }")
    for what, counters in compile_both(tool, graph, target):
        assert counters["programs"] == 1, (what, counters)
        for rows, left, right in ((0, 3, 4), (1, 0, 5), (5, 1, 0), (2, 0, 0), (1, 1, 1), (3, 17, 40), (40, 33, 64)):
            x = random.standard_normal((rows, left)).astype("float32")
            k = random.integers(-99, 99, (rows, right)).astype("int32")
            v = random.standard_normal(rows).astype("float32")
            tool.expect({"x": x, "k": k, "v": v}, np.concatenate([x * v[:, None], (k * k).astype("float32")], 1),
                        f"maps of {left} and {right} columns joined, for {target} {what}")


def check_cropped(tool, random, target):
    """A crop and a pad with a fill, of contiguous pixels."""
    for shape, sizes in (((40, 30, 3), (24, 21)), ((20, 12, 3), (14, 19)), ((9, 50, 16), (12, 33))):
        graph = (f"g (float[{', '.join(map(str, shape))}] x) => (float[p, q, r] y) <{constant('s', sizes)}> "
                 "{ y = CenterCropPad<axes = [0, 1]>(x, s) }")
        x = random.standard_normal(shape).astype("float32")
        expected = x
        for axis, size in enumerate(sizes):
            extent = shape[axis]
            if size < extent:
                expected = expected.take(range((extent - size) // 2, (extent - size) // 2 + size), axis)
            else:
                low = (size - extent) // 2
                expected = np.pad(expected, [(low, size - extent - low) if dim == axis else (0, 0) for dim in range(3)])
        for what, _ in compile_both(tool, graph, target):
            tool.expect({"x": x}, expected, f"CenterCropPad of {shape} to {sizes} for {target} {what}")


def check_joined(tool, random, target):
    for widths in ((40, 40), (3, 64, 1), (33, 7, 90, 2), (5,) * 9):
        names = [f"x{number}" for number in range(len(widths))]
        takes = ", ".join(f"float[7, {width}] {name}" for name, width in zip(names, widths))
        graph = f"g ({takes}) => (float[7, n] y) {{ j = Concat<axis = 1>({', '.join(names)}) y = Abs(j) }}"
        feeds = {name: random.standard_normal((7, width)).astype("float32") for name, width in zip(names, widths)}
        for what, _ in compile_both(tool, graph, target):
            tool.expect(feeds, np.abs(np.concatenate(list(feeds.values()), 1)), f"Concat of {widths} for {target} {what}")


def check_joined_at_run_time(tool, random, target):
    """The place of the second operand is a size that only a run knows."""
    graph = "g (float[b, 2, 31] x) => (float[p, q, r] y) { t = Transpose<perm = [1, 2, 0]>(x) y = Concat<axis = 2>(t, t) }"
    for what, _ in compile_both(tool, graph, target):
        for columns in (0, 1, 3, 16, 40):
            x = random.random((columns, 2, 31), "float32")
            t = x.transpose(1, 2, 0)
            tool.expect({"x": x}, np.concatenate([t, t], 2), f"Concat of {columns} columns twice for {target} {what}")


def check_repeated(tool, random, target):
    """An operand that repeats along the row beside one that begins and ends within it."""
    for left, right, period in ((3, 0, 2), (1, 2, 4), (17, 5, 8), (16, 16, 16), (0, 7, 1)):
        width = 112 - left - right
        graph = (f"g (float[n, {width}] a, float[n, {period}] b) => (float[n, 112] y) "
                 f"<{constant('p', [0, left, 0, right])}, {constant('t', [1, 112 // period])}> "
                 "{ c = Pad(a, p) d = Tile(b, t) y = Add(c, d) }")
        feeds = {"a": random.random((5, width), "float32"), "b": random.random((5, period), "float32")}
        expected = np.pad(feeds["a"], ((0, 0), (left, right))) + np.tile(feeds["b"], (1, 112 // period))
        for what, counters in compile_both(tool, graph, target):
            assert what or counters["segments"] == 1, counters
            tool.expect(feeds, expected, f"{period} columns repeated, beside {left} + {right} of padding, for {target} {what}")


def check_gathers(tool, random, target):
    tables = {"repeated": [k // 2 for k in range(44)], "thrice": [k // 3 for k in range(66)], "backwards": list(range(21, -1, -1)),
              "every other": list(range(1, 22, 2)), "from the end": [-1, *range(22), -22], "in no order": [3, 1, 20, 4, 4, 0],
              "many": [*range(22)] * 3}
    x = random.standard_normal((5, 22, 22)).astype("float32")
    for name, table in tables.items():
        for axis in (1, 2):
            graph = (f"g (float[5, 22, 22] x) => (float[p, q, r] y) <{constant('i', table)}> "
                     f"{{ y = Gather<axis = {axis}>(x, i) }}")
            for what, _ in compile_both(tool, graph, target):
                tool.expect({"x": x}, np.take(x, table, axis), f"Gather of indices {name} along {axis} for {target} {what}")
        graph = (f"g (float[5, 22, 22] x) => (float[p, q, r] y) <{constant('i', table)}> "
                 "{ a = Gather<axis = 1>(x, i) y = Gather<axis = 2>(a, i) }")
        for what, _ in compile_both(tool, graph, target):
            tool.expect({"x": x}, np.take(np.take(x, table, 1), table, 2), f"Gather of indices {name} twice for {target} {what}")
    graph = f"g (float[5, 22] x) => (float[p, q] y) <{constant('i', [0, 22])}> {{ y = Gather<axis = 1>(x, i) }}"
    tool.compile(graph, target)
    tool.expect_failure({"x": x[0, :5]}, "an index is outside of its axis")


check_targets(sys.argv[1], check_pads, check_made_pieces, check_cropped, check_joined, check_joined_at_run_time, check_repeated, check_gathers)
