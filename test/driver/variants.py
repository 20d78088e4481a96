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
    chosen = re.search(r"#tile\.tree<.*>", tool.explain()).group()
    rows, lanes = (int(re.search(rf"\b{name} = (\d+)", chosen).group(1)) for name in ("rows", "lanes"))

    def tiling(text, **numbers):
        for name, value in numbers.items():
            # Vectors are together as well, and panels that are packed.
            text, count = re.subn(rf"(?<!lanes = {lanes}, )(?<!in_place = {rows}, )\b{name} = \d+", f"{name} = {value}", text)
            assert count == 1, (name, text)
        return text

    def divide(text, depth):
        return re.sub(r"axis = 3, step = \d+", f"axis = 3, step = {depth}", text)

    few = divide(tiling(chosen, elements=64, most_rows=rows, together=1), 16)
    few = re.sub(r", kept = \d, most = \d+", "", few)
    shallow = divide(tiling(chosen, together=2), 32)
    shallow = re.sub(r"kept = 2, most = \d+", f"kept = 2, most = {1 << 30}", shallow)
    assert chosen.count("kept = ") == 2 and few.count("kept = ") == 0, chosen
    path = tool.folder / "tilings"
    path.write_text(f"p0 #tile.choice<[<size = s0, most = 4, tiling = {few}>, <size = s0*s2, most = 600, tiling = {shallow}>], "
                    f"otherwise = {chosen}>\n")
    tool.compile(GRAPH, target, "--tilings", path)
    for m, n, k in itertools.product((0, 1, 4, 5, 20), (0, 1, 40, 100), (0, 1, 30, 31, 120, 121, 300)):
        expect_product(tool, random, m, n, k, f"with given variants for {target}")


if __name__ == "__main__":
    check_targets(sys.argv[1], check_chosen, check_given)
    print("variants: as NumPy on both sides of each condition")
