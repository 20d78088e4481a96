"""The tiling that the compiler chooses for a convolution against a sweep of aligned tilings, on one thread.

Every shape is measured with each tiling of a grid (rows and pixels of a tile, channels in, panels of channels out), then
the fastest of them and the chosen ones in turns. `symbolic` is the choice for a run-time number of pictures, `bound` that
for the number at hand, `plain` that of `--disable construct`. See tilings.py for the words. `idle` is the part of two and
of four workers' time for which some have no tile: of the choice, and of the fastest tiling.
"""

import argparse
import concurrent.futures
import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import freestone_runtime  # noqa: E402
from tilings import measure, rank_correlation, summarise  # noqa: E402

# pictures x channels in x rows x pixels x channels out x taps x stride
SHAPES = (
    "1x64x56x56x64x1x1 1x256x56x56x64x1x1 1x128x28x28x512x1x1 1x1024x14x14x256x1x1 1x512x7x7x2048x1x1 1x256x56x56x512x1x2 "
    "1x3x224x224x64x7x2 1x128x56x56x128x3x2 1x512x14x14x512x3x2 1x64x56x56x64x3x1 1x128x28x28x128x3x1 1x256x14x14x256x3x1 "
    "1x512x7x7x512x3x1 1x48x35x35x64x5x1 1x96x27x27x256x5x1 8x128x28x28x32x3x1 4x16x100x100x32x3x1"
)
ROWS = (1, 2, 4, 7, 8, 14, 28, 56)
PIXELS = (28, 56, 112, 224, 448, 896)
STEPS = (144, 288, 576, 1152)
PANELS = (1, 2, 8)


def ceil(lhs, rhs):
    return -(-lhs // rhs)


class Convolution:
    """One convolution, and its artifacts by tiling."""

    form = "convolution"

    def __init__(self, shape, target, folder, disable):
        self.shape, self.target, self.folder = shape, target, folder
        self.n, self.inputs, self.height, self.width, self.outputs, self.taps, self.stride = shape
        self.rows, self.pixels = ceil(self.height, self.stride), ceil(self.width, self.stride)
        self.switches = ["--disable", disable] if disable else []
        self.name = "x".join(map(str, shape))
        self.path = f"{folder}/{self.name}.onnx"
        generator = np.random.default_rng(2)
        weights = generator.standard_normal((self.outputs, self.inputs, self.taps, self.taps), dtype=np.float32)
        before = (self.taps - 1) // 2
        after = max(0, (self.rows - 1) * self.stride + self.taps - self.height - before)
        node = helper.make_node("Conv", ["x", "w"], ["y"], strides=[self.stride] * 2, pads=[before] * 2 + [after] * 2)
        values = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", *sizes])
            for name, sizes in (("x", (self.inputs, self.height, self.width)), ("y", (self.outputs, self.rows, self.pixels)))
        ]
        graph = helper.make_graph([node], "convolution", values[:1], values[1:], [numpy_helper.from_array(weights, "w")])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]), self.path)
        self.feeds = {"x": generator.standard_normal((self.n, self.inputs, self.height, self.width), dtype=np.float32)}

    def get_operations(self):
        return 2 * self.n * self.outputs * self.rows * self.pixels * self.inputs * self.taps**2

    def write(self, tiling):
        path = f"{self.folder}/{abs(hash(tiling))}.tilings"
        pathlib.Path(path).write_text(f"{self.program} {tiling}\n" if tiling else "")
        return path

    def explain(self, bound, tiling=None, disable=None):
        """The tiling, and the cycles that are predicted for it."""
        switches = self.switches + (["--disable", disable] if disable else [])
        options = ["--target", self.target, *switches] + ([f"--bind=n={self.n}"] if bound else [])
        if tiling:
            options += ["--tilings", self.write(tiling)]
        command = [freestone_runtime.freestone(), "inspect", "--tiles", self.path, *options]
        text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        chosen = re.search(r"^(\w+) (#tile\.convolution<.*>)$", text, re.MULTILINE)
        if not chosen:
            return None, None
        self.program = chosen.group(1)
        cycles = [float(cycles) for cycles in re.findall(r"^ +\* .*: +(\d+) cycles", text, re.MULTILINE)]
        return chosen.group(2), cycles[0]

    def artifact(self, tiling):
        path = f"{self.folder}/{self.target}-{self.name}-{abs(hash(tiling))}.stone"
        if not pathlib.Path(path).exists():
            options = ["--target", self.target, "--tilings", self.write(tiling), *self.switches]
            freestone_runtime.compile_model(self.path, path, *options)
        return path

    def get_blocks(self, tiling):
        """The geometry of a tiling: blocks of channels in, rows and pixels of a tile, panels (see ConvolutionTiles)."""
        numbers = {name: int(value) for name, value in re.findall(r"(\w+) = (\d+)", tiling)}
        width = numbers["vectors"] * numbers["lanes"]
        outputs, rows, pixels = self.get_squares(tiling), self.rows, self.pixels
        if self.taps == 1 and self.stride == 1:
            rows, pixels = 1, rows * pixels
        steps = ceil(self.inputs, ceil(self.inputs, numbers["channels"]))
        unit = max(1, outputs)
        pixel_step = ceil(ceil(pixels, unit), ceil(ceil(pixels, unit), max(1, numbers["pixels"] // unit))) * unit
        area = numbers["area"]
        if outputs:
            values = (outputs + 2) ** 2
            area = max(numbers["rows"], numbers["transformed"] // (steps * values)) * outputs**2
        most = max(1, area // (pixel_step * unit))
        row_step = ceil(ceil(rows, unit), ceil(ceil(rows, unit), most)) * unit
        others = self.n * ceil(rows, row_step) * ceil(pixels, pixel_step)
        panels = ceil(self.outputs, width)
        count = ceil(panels, max(1, min(numbers["panels"], panels * others // numbers["least_tiles"])))
        return steps, row_step, pixel_step, ceil(panels, count)

    def get_squares(self, tiling):
        """The width of the squares of transformed filters: their tiles' rows of pixels are four or two blocks."""
        transformed = "transformed" in tiling
        kernel = int(re.search(r"<rows = (\d+)", tiling).group(1))
        pixels = int(re.search(r"pixels = (\d+)", tiling).group(1))
        return (4 if pixels % (4 * kernel) == 0 else 2) if transformed else 0

    def get_idle(self, tiling, workers):
        """The part of the time of so many workers for which some have no tile."""
        _, row_step, pixel_step, panel_step = self.get_blocks(tiling)
        rows, pixels = self.rows, self.pixels
        if self.taps == 1 and self.stride == 1:
            rows, pixels = 1, rows * pixels
        panels = ceil(self.outputs, 32 if "lanes = 16" in tiling else 16)

        def parts(extent, step):
            return [min(step, extent - begin) for begin in range(0, extent, step)]

        tiles = [c * r * p for _ in range(self.n) for c in parts(panels, panel_step) for r in parts(rows, row_step)
                 for p in parts(pixels, pixel_step)]
        ends = [len(tiles) * worker // workers for worker in range(workers + 1)]
        busiest = max(sum(tiles[begin:end]) for begin, end in itertools.pairwise(ends))
        return 1 - sum(tiles) / workers / busiest

    def grid(self, like):
        """Aligned tilings that differ at this shape; with the kernel of another tiling."""
        outputs, found = self.get_squares(like), {}
        flat = self.taps == 1 and self.stride == 1
        steps = [max(1, steps // self.taps**2) for steps in STEPS]
        if outputs:
            steps = [min(self.inputs, steps) for steps in (64, 128, 256, 512)]
        places = [(pixels, pixels) for pixels in PIXELS]
        if not flat:
            rows = [rows for rows in ROWS if rows <= self.rows or rows == 1]
            places = [(r, min(self.pixels, p)) for r in rows for p in ((56, 112, 224) if not outputs else (56, 112))]
        for (r, p), channels, panels in itertools.product(places, steps, PANELS):
            text = like
            step = min(channels, self.inputs)
            area = r if flat else r * p
            numbers = {"pixels": max(p, outputs), "area": max(area, p), "channels": channels, "panels": panels, "least_tiles": 1}
            if outputs:
                numbers["pixels"] = numbers["area"] = {56: 14, 112: 28}.get(p, 14) * outputs
                numbers["transformed"] = max(1, r * p // outputs**2) * step * (outputs + 2) ** 2
            for name, value in numbers.items():
                text = re.sub(rf"\b{name} = \d+", f"{name} = {value}", text)
            blocks = self.get_blocks(text)
            # What no level of a cache holds need not be tried.
            if blocks[1] * blocks[2] <= 4096:
                found.setdefault(blocks, text)
        return list(found.values())


def run(convolution, seconds, pool, sweeps, most):
    """A row of results."""
    symbolic, bound = convolution.explain(False)[0], convolution.explain(True)[0]
    if not symbolic:
        return None
    plain = convolution.explain(False, disable="construct")[0]
    choices, tilings = [symbolic, bound, plain], convolution.grid(bound) if sweeps else []
    if len(tilings) > most:
        order = np.random.default_rng(1).permutation(len(tilings))
        tilings = [tilings[i] for i in sorted(order[:most])]
    list(pool.map(convolution.artifact, dict.fromkeys(tilings + choices)))
    predicted = list(pool.map(lambda tiling: convolution.explain(True, tiling)[1], tilings))
    times = measure(convolution, tilings, 2, seconds)
    best = sorted(tilings, key=times.get)[:6]
    again = measure(convolution, list(dict.fromkeys(best + choices)), 6, seconds)
    fastest = min(again, key=again.get)
    return {
        "form": convolution.form,
        "shape": convolution.shape,
        "target": convolution.target,
        "tilings": tilings,
        "predicted": predicted,
        "measured": [times[tiling] for tiling in tilings],
        "fastest": fastest,
        "seconds": again[fastest],
        "blocks": {name: convolution.get_blocks(each) for name, each in
                   (("symbolic", symbolic), ("bound", bound), ("plain", plain), ("fastest", fastest))},
        "idle": [[convolution.get_idle(each, workers) for workers in (2, 4)] for each in (symbolic, plain, fastest)],
        "symbolic": again[symbolic] / again[fastest],
        "bound": again[bound] / again[fastest],
        "plain": again[plain] / again[fastest],
        "correlation": rank_correlation(predicted, [times[tiling] for tiling in tilings]) if sweeps else None,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="host")
    parser.add_argument("--shapes", default=SHAPES, help="pictures x channels in x rows x pixels x channels out x taps x stride")
    parser.add_argument("--chosen", action="store_true", help="measures the choices alone, without the sweep")
    parser.add_argument("--disable", help="switches for all tilings, such as winograd")
    parser.add_argument("--seconds", type=float, default=0.02, help="of one measurement")
    parser.add_argument("--most", type=int, default=1000, help="tilings of a sweep, drawn by chance")
    parser.add_argument("--json", help="a file for all that was measured")
    arguments = parser.parse_args()
    rows = []
    print("| shape | tilings | fastest, GFLOP/s | symbolic | bound | plain | rank correlation | idle: choice, plain, fastest |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name in arguments.shapes.split():
            shape = tuple(map(int, name.split("x")))
            convolution = Convolution(shape, arguments.target, folder, arguments.disable)
            row = run(convolution, arguments.seconds, pool, not arguments.chosen, arguments.most)
            if not row:
                print(f"| {name} | no convolution with panels | | | | | | |", flush=True)
                continue
            rows.append(row)
            speed = convolution.get_operations() / row["seconds"] * 1e-9
            correlation = "–" if row["correlation"] is None else f"{row['correlation']:.2f}"
            idle = ", ".join(" ".join(f"{part:.0%}" for part in each) for each in row["idle"])
            print(
                f"| {name} | {len(row['tilings'])} | {speed:.1f} | {row['symbolic']:.3f} | {row['bound']:.3f} "
                f"| {row['plain']:.3f} | {correlation} | {idle} |",
                flush=True,
            )
            for path in pathlib.Path(folder).glob("*.stone"):
                path.unlink()
    print()
    for key in ("symbolic", "bound", "plain"):
        print(summarise(rows, key))
    correlations = [row["correlation"] for row in rows if row["correlation"] is not None]
    if correlations:
        print(f"rank correlation: median {np.median(correlations):.2f}, least {min(correlations):.2f}")
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(rows))


if __name__ == "__main__":
    sys.exit(main())
