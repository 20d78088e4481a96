"""A description of this machine with small caches, for which small operands are large ones."""

import json
import subprocess

import freestone_runtime


def describe(folder, *sizes):
    """The path of a file; `sizes` are bytes of the caches from L1 on."""
    text = subprocess.check_output([freestone_runtime.freestone(), "machine", "--json"], text=True)
    device = json.loads(text)
    for level, size in zip(device["memory_levels"], sizes):
        level["bytes"] = size
    path = folder / "small.json"
    path.write_text(json.dumps(device))
    return path
