"""Compiled programs draw exactly the generator's numbers: words.py FOLDER; the environment names the build.
the build.

However a draw is computed, by whole vectors from any place on, transposed, one by one or as an operand of something else, for
the processor's widest vectors and for narrow ones: element i is word i of the stream of its node.
"""

import pathlib
import sys

import numpy as np

from drawing import (BFLOAT, DOUBLE, FLOAT, HALF, SEED, draw, node, run_compiled, stream, uniform, wide_stream)
from targets import distinct


def fractions(shape, dtype):
    count = int(np.prod(shape))
    bits = wide_stream(count) >> np.uint64(11) if dtype == DOUBLE else stream(count) >> np.uint64(8)
    return (bits * (2.0**-53 if dtype == DOUBLE else 2.0**-24)).reshape(shape)


def check_places(folder):
    """Directly, through other loops, and as part of sums."""
    for target in distinct("host", "x86-64-v3"):
        for dtype in (FLOAT, DOUBLE):
            for shape in ([1], [3], [1003], [37, 101], [5, 1], [9, 4, 6], [2, 3, 7, 5]):
                rank = len(shape)
                drawn = node("RandomUniform", [], ["drawn"], shape=shape, dtype=dtype, seed=SEED)
                nodes, outputs = [drawn], [("drawn", dtype, shape)]
                if rank > 1:
                    order = list(range(rank))[::-1]
                    nodes += [node("RandomUniform", [], ["again"], shape=shape, dtype=dtype, seed=SEED),
                              node("Transpose", ["again"], ["turned"], perm=order),
                              node("RandomUniform", [], ["third"], shape=shape, dtype=dtype, seed=SEED),
                              node("ReduceMax", ["third"], ["most"], keepdims=0)]
                    outputs += [("turned", dtype, shape[::-1]), ("most", dtype, [])]
                name = f"{target}-{dtype}-{'x'.join(map(str, shape))}"
                results = run_compiled(folder, name, nodes, outputs, options=("--target", target))
                expected = fractions(shape, dtype)
                assert np.array_equal(results[0], expected), name
                if rank > 1:
                    assert np.array_equal(results[1], expected.T), name
                    assert results[2] == expected.max(), name


def check_ends(folder):
    """Rounded once and never `high`, also where the range is narrow or its ends are no numbers of the type."""
    count = 200000
    ends = [(0, 1), (-1, 3), (0.1, 0.2), (1, 1.03125), (-1e-6, 1e-6), (-3e4, 3e4), (1000, 1000.5)]
    for dtype in (BFLOAT, HALF, FLOAT, DOUBLE):
        for low, high in ends + [(-3e38, 3e38)] * (dtype != HALF):
            low, high = float(np.float32(low)), float(np.float32(high))
            drawn = draw(folder, "RandomUniform", dtype, count, low=low, high=high).astype(np.float64)
            assert np.all((drawn >= low) & (drawn < high)), (dtype, low, high, drawn.min(), drawn.max())
            expected = uniform(fractions([count], dtype), low, high, dtype)
            assert np.array_equal(drawn, expected), (dtype, low, high)
        # The type has no number inside: `low`.
        assert set(draw(folder, "RandomUniform", dtype, 100, low=2.0, high=2.0)) == {2}


def check_normal(folder):
    """By Box and Muller from two draws, of all bits: with 24 bits there would be nothing beyond 5.77."""
    count = 1 << 20
    for dtype, words, unit in ((FLOAT, stream, 2.0**-32), (DOUBLE, wide_stream, 2.0**-64)):
        radius = np.sqrt(-2 * np.log(np.maximum(words(count, 0) * unit, unit / 2)))
        expected = radius * np.cos(words(count, 1) * (2 * np.pi * unit))
        drawn = draw(folder, "RandomNormal", dtype, count)
        # The words are rounded to the type's digits: affects the angle directly, and a small radius by its square.
        digit = 2.0**-24 if dtype == FLOAT else 2.0**-53
        assert np.all(np.abs(drawn - expected) < digit * (60 + 4 / np.maximum(radius, np.sqrt(digit)))), dtype
        tail = np.abs(expected) > 3.5
        assert tail.sum() > 100
        digits = np.exp2(24) * np.exp(-np.square(radius[tail]) / 2)
        assert np.mean(np.abs(digits - np.rint(digits)) < 1e-3) < 0.5, "the tail has no more than 24 bits"


def main():
    folder = pathlib.Path(sys.argv[1])
    check_places(folder)
    check_ends(folder)
    check_normal(folder)


main()
