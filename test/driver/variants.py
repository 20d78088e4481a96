"""Tilings that are chosen at run time: variants.py FREESTONE.

Contractions are bit-identical to NumPy at sizes on both sides of each condition, with the variants that the compiler
chooses and with those of a file, on any number of workers; for AVX2 and for this machine.
"""

import itertools
import re
import sys

import numpy as np
from text_models import check_targets

GRAPH = "g (float[m, k] a, float[k, n] b, float[m, n] c) => (float[m, n] y) { p = MatMul(a, b) y = Add(p, c) }"
# Of the symbols' sizes, those that no condition asks for.
OTHERS = {"s0": (3, 50), "s1": (40,), "s2": (70,)}


def expect_product(tool, random, m, n, k, what):
    # Sums of small integers are exact in any order.
    a, b, c = (random.integers(-4, 5, shape).astype("float32") for shape in ((m, k), (k, n), (m, n)))
    tool.expect({"a": a, "b": b, "c": c}, a @ b + c, f"{m} x {k} x {n} {what}")


def check_chosen(tool, random, target):
    assert tool.compile(GRAPH, target, "--disable", "variants")["variants"] == 0
    assert tool.compile(GRAPH, target)["variants"] == 1
    ends = dict(OTHERS)
    for size, most in re.findall(r"size = (.*?), most = (\d+)", tool.explain()):
        for symbol in re.findall(r"s\d", size):
            ends[symbol] = tuple(sorted({*ends[symbol], int(most), int(most) + 1}))
    assert ends != OTHERS, ends
    for m, n, k in itertools.product(*(ends[size] for size in ("s0", "s1", "s2"))):
        expect_product(tool, random, m, n, k, f"for {target}")


def check_given(tool, random, target):
    """Several conditions, whose tilings differ in tiles, scratch and what they keep."""
    tool.compile(GRAPH, target, "--disable", "variants")
    chosen = re.search(r"#tile\.contraction<.*>", tool.explain()).group()
    rows = int(re.search(r"<rows = (\d+)", chosen).group(1))

    def tiling(**numbers):
        return re.sub(r"\b(\w+) = (\d+)(?=, (?!vectors|lanes|unroll))", lambda at: f"{at[1]} = {numbers.get(at[1], at[2])}", chosen)

    few = tiling(row_elements=64, most_rows=rows, panels=1, depth=16, kept_rows=0, kept_columns=0)
    shallow = tiling(panels=2, depth=32, kept_columns=1 << 30)
    path = tool.folder / "tilings"
    path.write_text(f"p0 #tile.choice<[<size = s0, most = 4, tiling = {few}>, <size = s0*s2, most = 600, tiling = {shallow}>], "
                    f"otherwise = {chosen}>\n")
    tool.compile(GRAPH, target, "--tilings", path)
    for m, n, k in itertools.product((0, 1, 4, 5, 20), (0, 1, 40, 100), (0, 1, 30, 31, 120, 121, 300)):
        expect_product(tool, random, m, n, k, f"with given variants for {target}")


if __name__ == "__main__":
    check_targets(sys.argv[1], check_chosen, check_given)
    print("variants: as NumPy on both sides of each condition")
