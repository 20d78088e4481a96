"""Checks that tilings follow the machine: imagined_tiles.py MODEL FOLDER, where descriptions are written."""

import json
import pathlib
import re
import subprocess
import sys

model, folder = sys.argv[1:]
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


def explain(name, **changes):
    """The chosen tiling's numbers, and the predicted parts of the largest run in percent."""
    path = pathlib.Path(folder) / f"{name}.json"
    path.write_text(json.dumps(MACHINE | changes))
    text = subprocess.check_output(["freestone", "inspect", "--tiles", model, "--device", path], text=True)
    tiling = re.search(r"^p0 #tile\.contraction<(.*)>$", text, re.MULTILINE).group(1)
    numbers = {number: int(value) for number, value in re.findall(r"(\w+) = (\d+)", tiling)}
    largest = re.findall(r"^    \* .*$", text, re.MULTILINE)[-1]
    parts = {part: float(value) for part, value in re.findall(r"(\w+) ([\d.]+)%", largest)}
    return numbers, parts


def levels(l1, l2):
    return {"memory_levels": [{"bytes": l1}, {"bytes": l2}, {"bytes": 32 << 20}]}


tiles, parts = explain("machine")
small, _ = explain("small", **levels(8 << 10, 128 << 10))
wide, _ = explain("wide", vector_bytes=64, rates=MACHINE["rates"] | {"multiply_adds": 1e11})
rates = {"levels": [3e12, 1.5e12, 3e11], "memory_read": 1e11, "multiply_adds": 5e10}
_, faster = explain("fast", rates=rates)
many, _ = explain("many", units=64)

assert small["depth"] < tiles["depth"], (small, tiles)
assert small["row_elements"] < tiles["row_elements"], (small, tiles)
assert wide["lanes"] == 2 * tiles["lanes"] and wide["depth"] <= tiles["depth"], (wide, tiles)
assert many["least_tiles"] > tiles["least_tiles"], (many, tiles)
transfers = [sum(some[level] for level in ("L2", "L3", "memory")) for some in (parts, faster)]
assert transfers[1] < transfers[0] / 2, (parts, faster)
