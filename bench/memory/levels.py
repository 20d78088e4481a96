"""Bytes that each level of memory fetches: planned (`freestone inspect --tiles`) beside measured by cachegrind.

Models are compiled for a target that valgrind knows (no AVX-512) and run by `freestone run` under valgrind, whose caches
have the sizes of the target's device: once with its L2 as the last level, once with its L3. Runs are subtracted from more
runs, so that what is left is a run whose caches are as the one before left them. Lines that are only written count as
fetched, and nothing counts when it is written back, on both sides. Columns are megabytes; `moves` is what the programs
read and write, each element once.
"""

import argparse
import concurrent.futures
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import freestone_runtime  # noqa: E402

LINE = 64


class Case:
    """A model of nodes whose inputs have these shapes, and options of the compiler."""

    def __init__(self, nodes, shapes, weights=None, options=(), opset=20):
        self.nodes, self.shapes, self.weights, self.options, self.opset = nodes, shapes, weights or {}, options, opset

    def save(self, path):
        declare = lambda name, dims: helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)
        weights = [numpy_helper.from_array(np.full(dims, 0.5, np.float32), name) for name, dims in self.weights.items()]
        inputs = [declare(name, dims) for name, dims in self.shapes.items()]
        graph = helper.make_graph(self.nodes, "levels", inputs, [declare("y", None)], weights)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=10), path)

    def inputs(self):
        return [f"--input={name}={'x'.join(map(str, dims))}xf32=0.5" for name, dims in self.shapes.items()]


def product(m, k, n, weight=False):
    node = helper.make_node("MatMul", ["a", "b"], ["y"])
    return Case([node], {"a": (m, k)}, {"b": (k, n)}) if weight else Case([node], {"a": (m, k), "b": (k, n)})


def attention(length, *options, heads=2, depth=64):
    node = helper.make_node("Attention", ["q", "k", "v"], ["y"])
    return Case([node], {name: (1, heads, length, depth) for name in "qkv"}, options=options, opset=24)


def convolution(channels_in, channels_out, size):
    node = helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1])
    return Case([node], {"x": (1, channels_in, size, size)}, {"w": (channels_out, channels_in, 3, 3)})


APART = ("--disable", "connect,reassociate")
CASES = {
    "256 x 256 x 256": product(256, 256, 256),
    "512 x 512 x 512": product(512, 512, 512),
    "768 x 768 x 768": product(768, 768, 768),
    "1024 x 1024 x 1024": product(1024, 1024, 1024),
    "1024 x 1024 x 1024, weight": product(1024, 1024, 1024, weight=True),
    "509 x 511 x 513": product(509, 511, 513),
    "16 x 1024 x 1024": product(16, 1024, 1024),
    "3136 x 64 x 64": product(3136, 64, 64),
    "32 x 4096 x 32": product(32, 4096, 32),
    "2048 x 32 x 2048": product(2048, 32, 2048),
    "2048 x 32 x 2064": product(2048, 32, 2064),
    "128 x 768 x 3072, weight": product(128, 768, 3072, weight=True),
    "sum of two, 1024 x 1024": Case([helper.make_node("Add", ["a", "b"], ["y"])], {"a": (1024, 1024), "b": (1024, 1024)}),
    "gelu, 128 x 512": Case([helper.make_node("Gelu", ["a"], ["y"])], {"a": (128, 512)}),
    "transposition, 1024 x 1024": Case([helper.make_node("Transpose", ["a"], ["y"])], {"a": (1024, 1024)}),
    "transposition, 1000 x 1000": Case([helper.make_node("Transpose", ["a"], ["y"])], {"a": (1000, 1000)}),
    "softmax, 512 x 1024": Case([helper.make_node("Softmax", ["a"], ["y"])], {"a": (512, 1024)}),
    "softmax, 32 x 32768": Case([helper.make_node("Softmax", ["a"], ["y"])], {"a": (32, 32768)}),
    "3x3, 64 x 56 x 56": convolution(64, 64, 56),
    "attention, 256": attention(256),
    "attention, 256, apart": attention(256, *APART),
    "attention, 512": attention(512),
    "attention, 512, apart": attention(512, *APART),
    "attention, 1024": attention(1024),
    "attention, 1024, apart": attention(1024, *APART),
}


def get_ways(size):
    """As many as make a power of two of sets, which cachegrind wants."""
    lines = size // LINE
    odd = lines // (lines & -lines)
    return next(odd << shift for shift in range(12) if odd << shift >= 8)


def describe(size):
    return f"{size},{get_ways(size)},{LINE}"


def count_misses(artifact, inputs, levels, last, runs):
    """Of a process with so many runs: lines that L1 fetches, and lines that the last level does."""
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=yes", "--cachegrind-out-file=/dev/null"]
    command += [f"--I1={describe(levels[0])}", f"--D1={describe(levels[0])}", f"--LL={describe(last)}"]
    command += [freestone_runtime.freestone(), "run", artifact, "--threads=1", f"--repeat={runs}", *inputs]
    text = subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True).stderr
    return [int(re.search(rf"{name} +misses: +([\d,]+)", text).group(1).replace(",", "")) for name in ("D1", "LLd")]


def measure(artifact, inputs, levels, runs):
    """Bytes that L1, L2 and L3 fetch in a run."""
    fetched = []
    for last in levels[1:]:
        few, many = (count_misses(artifact, inputs, levels, last, number) for number in (1, 1 + runs))
        each = [LINE * (high - low) / runs for low, high in zip(few, many)]
        fetched += each if not fetched else each[1:]
    return fetched


def plan(model, options):
    """Bytes that a run's programs move, and that L1, L2 and L3 fetch; every program runs once."""
    command = [freestone_runtime.freestone(), "inspect", "--tiles", model, *options]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    found = re.findall(r"moves (\d+); fetches into L1 (\d+), L2 (\d+), L3 (\d+)", text)
    return [sum(map(int, each)) for each in zip(*found)]


def compare(name, case, target, levels, runs, folder):
    stem = f"{folder}/{re.sub('[^a-z0-9]', '_', name)}"
    case.save(f"{stem}.onnx")
    options = ["--target", target, *case.options]
    freestone_runtime.compile_model(f"{stem}.onnx", f"{stem}.stone", *options)
    moved, *planned = plan(f"{stem}.onnx", options)
    measured = measure(f"{stem}.stone", case.inputs(), levels, runs)
    cells = [f"{moved / 1e6:.2f}"]
    for expected, found in zip(planned, measured):
        # What is left of a start is some kilobytes.
        ratio = f"{expected / found:.2f}" if max(expected, found) > 50e3 else ""
        cells += [f"{expected / 1e6:.2f}", f"{found / 1e6:.2f}", ratio]
    return f"| {name} | {' | '.join(cells)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="x86-64-v3", help="a target without AVX-512")
    parser.add_argument("--only", default="", help="a part of the names of the cases")
    parser.add_argument("--runs", type=int, default=1, help="runs that are subtracted from one more")
    parser.add_argument("--jobs", type=int, default=1, help="cases at once: counts do not depend on the time")
    arguments = parser.parse_args()
    if not shutil.which("valgrind"):
        parser.error("valgrind is not there: install it, and try again")
    command = [freestone_runtime.freestone(), "machine", "--target", arguments.target, "--json"]
    device = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    levels = [level["bytes"] // level["shared_by"] for level in device["memory_levels"]]
    print("L1, L2, L3: " + ", ".join(f"{size >> 10} KiB" for size in levels) + ", megabytes\n")
    heads = "".join(f" L{level} planned | measured | ratio |" for level in (1, 2, 3))
    print(f"| | moves |{heads}\n|---|---|{'---|' * 9}")
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        chosen = [(name, case) for name, case in CASES.items() if arguments.only in name]
        rows = [pool.submit(compare, name, case, arguments.target, levels, arguments.runs, folder) for name, case in chosen]
        for row in rows:
            print(row.result(), flush=True)


if __name__ == "__main__":
    main()
