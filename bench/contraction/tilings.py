"""The tiling that the compiler chooses for a contraction against a sweep of all aligned tilings, on one thread.

Every shape is measured with each tiling of a grid (steps of k, rows, panels), then the fastest of them and the chosen
ones in turns. `symbolic` is the choice for a run-time number of rows (for two inputs: run-time sizes), `single` that
without variants, `bound` that for the sizes at hand. Regret is how much longer a choice takes than the fastest tiling; the rank correlation is Spearman's,
between the model's predictions and the measured times of the grid, where these differ by more than a percent.
"""

import argparse
import concurrent.futures
import itertools
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import freestone_runtime  # noqa: E402
from contraction import contraction_model  # noqa: E402
from trees import with_sizes  # noqa: E402

# (m, k, n): B is a weight, or an input
WEIGHTS = (
    "64x64x64 256x256x256 512x512x512 1024x1024x1024 509x511x513 4x1024x1024 16x1024x1024 64x3136x128 1024x1024x64 "
    "2048x32x2048 128x768x3072 1000x100x50"
)
INPUTS = (
    "1x1x1 5x7x3 17x17x17 64x64x64 128x128x128 192x192x192 256x256x256 384x384x384 512x512x512 768x768x768 1024x1024x1024 "
    "127x131x137 509x511x513 4x1024x1024 16x1024x1024 49x512x512 64x3136x128 64x64x1024 1024x1024x64 3136x64x64 "
    "2048x32x2048 32x4096x32 128x768x768 128x3072x768 1000x100x50 7x300x300 197x768x197 300x1024x17 2000x64x8 96x2000x96"
)
DEPTHS = (64, 128, 256, 512, 1024, 2048)
BLOCKS = (1, 2, 4, 8, 18)
PANELS = (1, 8, 64)


def parse_shapes(text):
    return [tuple(map(int, shape.split("x"))) for shape in re.split("[ ,]+", text) if shape]


class Contraction:
    """One product, and its artifacts by tiling."""

    def __init__(self, form, shape, target, folder):
        self.form, self.shape, self.target, self.folder = form, shape, target, folder
        self.m, self.k, self.n = shape
        weight = form == "weight"
        self.name = f"{form}-{self.k}x{self.n}" if weight else form
        self.path = f"{folder}/{self.name}.onnx"
        if not os.path.exists(self.path):
            onnx.save(contraction_model(self.k if weight else "k", self.n if weight else "n", weight), self.path)
        self.bounds = [f"--bind=m={self.m}"] + ([] if weight else [f"--bind=k={self.k}", f"--bind=n={self.n}"])
        generator = np.random.default_rng(2)
        self.feeds = {"a": generator.standard_normal((self.m, self.k), dtype=np.float32)}
        if not weight:
            self.feeds["b"] = generator.standard_normal((self.k, self.n), dtype=np.float32)

    def get_operations(self):
        return 2 * math.prod(self.shape)

    def write(self, tiling):
        path = f"{self.folder}/{abs(hash(tiling))}.tilings"
        pathlib.Path(path).write_text(f"p0 {tiling}\n")
        return path

    def explain(self, bound, tiling=None, disable=None):
        """The tiling of the contraction and the cycles that are predicted for it."""
        options = ["--target", self.target] + (self.bounds if bound else []) + (["--disable", disable] if disable else [])
        if tiling:
            options += ["--tilings", self.write(tiling)]
        command = [freestone_runtime.freestone(), "inspect", "--tiles", self.path, *options]
        text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        chosen = re.search(r"^p0 (#tile\.(?:tree|choice)<.*>)$", text, re.MULTILINE)
        cycles = re.search(r"\* .*: +(\d+) cycles", text)
        return (chosen.group(1), float(cycles.group(1))) if chosen else (None, None)

    def artifact(self, tiling):
        path = f"{self.folder}/{self.target}-{self.name}-{abs(hash(tiling))}.stone"
        if not os.path.exists(path):
            options = ["--target", self.target, "--tilings", self.write(tiling)]
            freestone_runtime.compile_model(self.path, path, *options)
        return path

    def grid(self, like):
        """Aligned tilings that differ at this shape; with the kernel of another tiling, and as much kept packed."""
        rows, width = int(re.search(r"<rows = (\d+)", like).group(1)), 2 * int(re.search(r"lanes = (\d+)", like).group(1))
        found = {}
        for depth, blocks, panels in itertools.product(DEPTHS, BLOCKS, PANELS):
            geometry = (min(depth, -(-self.k // 64) * 64), min(blocks, -(-self.m // rows)), min(panels, -(-self.n // width)))
            found.setdefault(geometry, with_sizes(like, rows, blocks, panels, depth))
        return list(found.values())


def time_runs(model, seconds, operations):
    """The fastest of many runs, in seconds of this thread; short runs are timed together."""
    together = max(1, int(2e7 / max(operations, 1)))
    times, end = [], time.perf_counter() + seconds
    # The first runs meet memory that is new to them.
    while len(times) < 4 or time.perf_counter() < end:
        begin = time.process_time()
        for _ in range(together):
            model.run_bound()
        times.append((time.process_time() - begin) / together)
    return min(times)


def measure(contraction, tilings, rounds, seconds):
    """The seconds of a run with each tiling, in turns."""
    times = {tiling: math.inf for tiling in tilings}
    operations, everywhere = contraction.get_operations(), os.sched_getaffinity(0)
    os.sched_setaffinity(0, [max(everywhere)])
    for _ in range(rounds):
        for tiling in tilings:
            model = freestone_runtime.Model(contraction.artifact(tiling), threads=1)
            model.bind(contraction.feeds)
            model.run_bound()
            times[tiling] = min(times[tiling], time_runs(model, seconds, operations))
            model.close()
    os.sched_setaffinity(0, everywhere)
    return times


def rank_correlation(predicted, measured):
    """Spearman's, where times that differ by less than a percent are equal; none if all are."""

    def rank(values):
        order = sorted(range(len(values)), key=lambda i: values[i])
        ranks, begin = [0.0] * len(values), 0
        for end in range(1, len(values) + 1):
            if end == len(values) or values[order[end]] > values[order[begin]] * 1.01:
                for i in order[begin:end]:
                    ranks[i] = (begin + end - 1) / 2
                begin = end
        return np.array(ranks)

    lhs, rhs = rank(predicted), rank(measured)
    return None if lhs.std() == 0 or rhs.std() == 0 else float(np.corrcoef(lhs, rhs)[0, 1])


def run(contraction, seconds, pool, sweeps):
    """A row of results."""
    symbolic, bound = contraction.explain(False)[0], contraction.explain(True)[0]
    single = contraction.explain(False, disable="variants")[0]
    # A product that is no contraction in a micro-kernel has nothing to choose here.
    if not symbolic or not bound:
        return None
    tilings, choices = contraction.grid(bound) if sweeps else [], [symbolic, single, bound]
    list(pool.map(contraction.artifact, dict.fromkeys(tilings + choices)))
    predicted = list(pool.map(lambda tiling: contraction.explain(True, tiling)[1], tilings))
    times = measure(contraction, tilings, 3, seconds)
    best = sorted(tilings, key=times.get)[:8]
    again = measure(contraction, list(dict.fromkeys(best + choices)), 6, seconds)
    fastest = min(again.values())
    return {
        "form": contraction.form,
        "shape": contraction.shape,
        "target": contraction.target,
        "tilings": tilings,
        "predicted": predicted,
        "measured": [times[tiling] for tiling in tilings],
        "fastest": min(again, key=again.get),
        "seconds": fastest,
        "symbolic": again[symbolic] / fastest,
        "single": again[single] / fastest,
        "bound": again[bound] / fastest,
        "correlation": rank_correlation(predicted, [times[tiling] for tiling in tilings]) if sweeps else None,
    }


def summarise(rows, key):
    regrets = [row[key] for row in rows]
    mean = math.exp(sum(map(math.log, regrets)) / len(regrets))
    worst = max(rows, key=lambda row: row[key])
    shape = "x".join(map(str, worst["shape"]))
    return f"{key}: geometric mean {mean - 1:.1%}, worst {worst[key] - 1:.1%} ({worst['form']} {shape})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="host")
    parser.add_argument("--weights", default=WEIGHTS, help="shapes m x k x n where B is a weight: 64x64x64,…")
    parser.add_argument("--inputs", default=INPUTS, help="shapes where B is an input")
    parser.add_argument("--chosen", action="store_true", help="measures the choices alone, without the sweep")
    parser.add_argument("--seconds", type=float, default=0.02, help="of one measurement")
    parser.add_argument("--json", help="a file for all that was measured")
    arguments = parser.parse_args()
    cases = [("weight", shape) for shape in parse_shapes(arguments.weights)]
    cases += [("inputs", shape) for shape in parse_shapes(arguments.inputs)]
    rows = []
    print("| form | m x k x n | tilings | fastest, GFLOP/s | symbolic | single | bound | rank correlation |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        for form, shape in cases:
            row = run(Contraction(form, shape, arguments.target, folder), arguments.seconds, pool, not arguments.chosen)
            name = "x".join(map(str, shape))
            if not row:
                print(f"| {form} | {name} | not in a micro-kernel | | | | | |", flush=True)
                continue
            rows.append(row)
            speed = 2 * math.prod(shape) / row["seconds"] * 1e-9
            correlation = "–" if row["correlation"] is None else f"{row['correlation']:.2f}"
            print(
                f"| {form} | {name} | {len(row['tilings'])} | {speed:.1f} | {row['symbolic']:.3f} | {row['single']:.3f} "
                f"| {row['bound']:.3f} | {correlation} |",
                flush=True,
            )
            if form == "weight":
                for path in pathlib.Path(folder).glob("*weight*.stone"):
                    path.unlink()
    print()
    for key in ("symbolic", "single", "bound"):
        print(summarise(rows, key))
    correlations = [row["correlation"] for row in rows if row["correlation"] is not None]
    if correlations:
        print(f"rank correlation: median {np.median(correlations):.2f}, least {min(correlations):.2f}")
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(rows))


if __name__ == "__main__":
    sys.exit(main())
