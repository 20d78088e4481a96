"""Checks that tilings follow the machine: imagined_tiles.py FOLDER PRODUCT CONVOLUTION WINDOWS MOBILENET.

The first three models are of one operator each; descriptions of machines are written into the folder.
"""

import json
import pathlib
import re
import subprocess
import sys

folder, product, convolution, windows, mobilenet = sys.argv[1:]
MACHINE = {
    "triple": "x86_64-unknown-linux-gnu",
    "cpu": "x86-64-v3",
    "features": "",
    "units": 4,
    "memory_levels": [{"bytes": 64 << 10}, {"bytes": 2 << 20}, {"bytes": 32 << 20}],
    "vector_bytes": 32,
    "vector_registers": 16,
    "rates": {"levels": [3e11, 1.5e11, 3e10], "memory_read": 1e10, "multiply_adds": 5e10},
}


def inspect(name, model, **changes):
    path = pathlib.Path(folder) / f"{name}.json"
    path.write_text(json.dumps(MACHINE | changes))
    return subprocess.check_output(["freestone", "inspect", "--tiles", model, "--device", path], text=True)


def explain(name, model=product, kind="tree", **changes):
    """The numbers of the chosen tiling, of variants the last one, and the predicted parts of the largest run in percent."""
    text = inspect(name, model, **changes)
    tiling = re.search(rf"^\w+ (?:#tile\.choice<.*otherwise = )?#tile\.{kind}<(.*)>$", text, re.MULTILINE).group(1)
    numbers = {number: int(value) for number, value in re.findall(r"(\w+) = (\d+)", tiling)}
    if kind == "tree":
        numbers["depth"] = int(re.search(r"axis = 3, step = (\d+)", tiling).group(1))
    largest = re.findall(r"^    \* .*$", text, re.MULTILINE)[-1]
    parts = {part: float(value) for part, value in re.findall(r"(\w+) ([\d.]+)%", largest)}
    return numbers, parts


def levels(l1, l2):
    return {"memory_levels": [{"bytes": l1}, {"bytes": l2}, {"bytes": 32 << 20}]}


def get_transfers(parts):
    return sum(parts[level] for level in ("L2", "L3", "memory"))


WIDE = {"vector_bytes": 64, "rates": MACHINE["rates"] | {"multiply_adds": 1e11}}
FAST = {"rates": {"levels": [3e12, 1.5e12, 3e11], "memory_read": 1e11, "multiply_adds": 5e10}}
tiles, parts = explain("machine")
small, _ = explain("small", **levels(8 << 10, 128 << 10))
wide, _ = explain("wide", **WIDE)
_, faster = explain("fast", **FAST)
many, _ = explain("many", units=64)

assert small["depth"] < tiles["depth"], (small, tiles)
assert small["elements"] < tiles["elements"], (small, tiles)
assert wide["lanes"] == 2 * tiles["lanes"] and wide["depth"] <= tiles["depth"], (wide, tiles)
assert many["least_tiles"] > tiles["least_tiles"], (many, tiles)
assert get_transfers(faster) < get_transfers(parts) / 2, (parts, faster)

# Smaller caches hold no more channels in and pixels, and small ones fewer; wide vectors leave a panel fewer channels.
tiles, parts = explain("machine", convolution, "convolution")
half, _ = explain("half", convolution, "convolution", **levels(32 << 10, 1 << 20))
small, _ = explain("small", convolution, "convolution", **levels(4 << 10, 64 << 10))
wide, _ = explain("wide", convolution, "convolution", **WIDE)
_, faster = explain("fast", convolution, "convolution", **FAST)
assert half["channels"] <= tiles["channels"] and half["in_place"] < tiles["in_place"], (half, tiles)
assert small["channels"] < tiles["channels"], (small, tiles)
assert small["area"] <= tiles["area"] and small["in_place"] < tiles["in_place"], (small, tiles)
assert wide["lanes"] == 2 * tiles["lanes"] and wide["channels"] <= tiles["channels"], (wide, tiles)
assert get_transfers(faster) < get_transfers(parts) / 2, (parts, faster)

# Smaller caches hold a smaller copy of what windows see.
tiles, _ = explain("machine", windows, "window")
small, _ = explain("small", windows, "window", **levels(8 << 10, 64 << 10))
wide, _ = explain("wide", windows, "window", **WIDE)
assert small["copy"] < tiles["copy"], (small, tiles)
assert wide["lanes"] == 2 * tiles["lanes"], (wide, tiles)

# Rows of chains stay in L2: in a smaller one there are fewer of the widest pictures, and nowhere more.
rows, fewer = (
    [int(unit) for unit in re.findall(r"row_unit = (\d+)", inspect("chains", mobilenet, **levels(32 << 10, size)))]
    for size in (4 << 20, 512 << 10)
)
assert len(rows) == len(fewer) > 8, (rows, fewer)
assert all(few <= many for few, many in zip(fewer, rows)) and fewer[1] < rows[1], (rows, fewer)
