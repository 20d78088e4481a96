"""The tilings that the compiler chooses against sweeps of aligned ones, for some 200 shapes, on one thread.

Contractions (B a weight, an input, stored transposed; A transposed; batches), convolutions (single taps, strides, larger
and transformed filters, groups, one and three dimensions), windows (depthwise, pooling, few channels), reductions, softmax
and normalization. Of the grid of a family's aligned tilings, `--sample` are drawn by chance, for all of its shapes; the
choices of the other shapes of the family are tried at each one as well. Tilings that are the same at a shape, as the model
sees them, are measured once; the fastest ones and the choices are measured again, in turns.

`symbolic` is the choice for sizes that a run brings, `bound` that for the sizes at hand; both are measured in code for
sizes that a run brings, so that nothing but the tiling differs. `rank` is Spearman's correlation of predicted and measured
times, where those within a percent are equal: it says something where the measured ones differ by 10 % at least. `repeated` is that of
the times of every other turn with those of the turns between: what noise leaves. `workers` is the better of the two where what runs of 2 and 4
workers wait for the one with most to do counts, as it does for the choice of convolutions: tilings with few tiles are no
better ones. `--time` prints what the choice itself takes. All shapes of a family are in one artifact: those that are not measured have no rows
or pictures.
"""

import argparse
import dataclasses
import itertools
import json
import math
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import freestone_runtime  # noqa: E402
from tilings import rank_correlation  # noqa: E402
from trees import get_leaves, with_sizes  # noqa: E402

SQUARES = "1x1x1 17x17x17 64x64x64 128x128x128 256x256x256 512x512x512 127x131x137 "
TRANSPOSED = SQUARES + (
    "4x1024x1024 1024x1024x64 64x3136x128 2048x32x2048 32x4096x32 768x128x768 300x1024x17 1000x100x50 64x64x1024"
)


@dataclasses.dataclass
class Family:
    """Operators of one kind, whose programs are equal but for their sizes."""

    # The graph's nodes and inputs of one shape: `make(shape, weight)` gives nodes, inputs, the output's rank and the
    # name of the size that counts rows or pictures; inputs' sizes are pairs of names and numbers.
    make: callable
    shapes: str
    # Tilings made of a chosen one.
    grid: callable
    # Whether all sizes are those of a run: the shapes are one operator then.
    symbolic: bool = False
    disable: str = ""

    def parse(self):
        return [tuple(map(int, shape.split("x"))) for shape in self.shapes.split()]


def product(form):
    """m x k x n, or outer x m x k x n."""

    def make(shape, suffix):
        *outer, m, k, n = shape
        sizes = {"m": m, "k": k, "n": n} | ({"o": outer[0]} if outer else {})
        a, b = ("km" if form == "lhs" else "mk"), ("nk" if form == "rhs" else "kn")
        if outer:
            a, b = "o" + a, "o" + b
        nodes, names = [], {"lhs": "a", "rhs": "b"}
        for side in ("lhs", "rhs"):
            if form == side:
                nodes.append(helper.make_node("Transpose", [names[side] + suffix], [side + suffix], perm=[1, 0]))
                names[side] = side
        nodes.append(helper.make_node("MatMul", [names["lhs"] + suffix, names["rhs"] + suffix], ["y" + suffix]))
        return nodes, {"a": a, "b": b}, sizes, len(a)

    return make


def convolution(taps, strides=1, dimensions=2, groups=None, depth=1):
    """pictures x channels in x rows x pixels x channels out; groups: those of depthwise convolutions are the channels."""

    def make(shape, suffix):
        n, channels, *sizes, outputs = shape
        spatial = sizes if dimensions == 3 else sizes * dimensions
        group = {None: 1, "all": channels}.get(groups, groups)
        padding = [taps // 2] * dimensions
        node = helper.make_node("Conv", ["x" + suffix, "w" + suffix], ["y" + suffix], group=group,
                                strides=[strides] * dimensions, pads=padding * 2)
        return [node], {"x": ("n", channels, *spatial), "w": (outputs, channels // group, *[taps] * dimensions)}, {"n": n}, 2 + dimensions

    return make


def pool(shape, suffix):
    n, channels, size = shape
    node = helper.make_node("MaxPool", ["x" + suffix], ["y" + suffix], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    return [node], {"x": ("n", channels, size, size)}, {"n": n}, 4


def rows(kind):
    def make(shape, suffix):
        m, k = shape
        if kind == "softmax":
            node, rank = helper.make_node("Softmax", ["x"], ["y"], axis=-1), 2
        elif kind == "normalization":
            node, rank = helper.make_node("LayerNormalization", ["x", "s"], ["y"], axis=-1), 2
        else:
            node, rank = helper.make_node("ReduceSum", ["x", "axes"], ["y"], keepdims=0), 1
        return [node], {"x": "mk"} | ({"s": "k"} if kind == "normalization" else {}), {"m": m, "k": k}, rank

    return make


def replace(text, **numbers):
    for name, value in numbers.items():
        text = re.sub(rf"\b{name} = \d+", f"{name} = {value}", text)
    return text


def read(text, name):
    return int(re.search(rf"\b{name} = (\d+)", text).group(1))


def grid_contraction(like):
    height = int(re.search(r"<rows = (\d+)", like).group(1))
    unit = read(like, "unit") if "unit = " in like else 1
    for depth, blocks, panels in itertools.product((64, 128, 256, 512, 1024, 2048), (1, 2, 4, 8, 18), (1, 8, 64)):
        if depth % unit == 0:
            yield with_sizes(like, height, blocks, panels, depth)


def grid_convolution(taps):
    def grid(like):
        height = int(re.search(r"<rows = (\d+)", like).group(1))
        places = itertools.product((4, 8, 16), (1, 2, 4, 8, 16, 32, 64, 128))
        for (row, blocks), steps, panels in itertools.product(places, (144, 288, 576, 1152, 2304), (1, 2, 4, 8, 16)):
            # Rows of a tile have at most so many pixels, and a tile has at least one.
            if blocks >= row or row == 4:
                yield replace(like, pixels=min(row, blocks) * height, area=blocks * height,
                              channels=max(1, steps // taps), panels=panels, least_tiles=1)

    return grid


def grid_transformed(outputs, depth):
    def grid(like):
        height = int(re.search(r"<rows = (\d+)", like).group(1))
        values = (outputs + 2) ** 2
        for row, blocks, channels, panels in itertools.product((1, 2), (1, 2, 4, 8, 16), (32, 64, 128, 256, 512), (1, 2, 4, 8)):
            pixels = row * height * outputs
            yield replace(like, pixels=pixels, area=pixels, channels=channels, panels=panels, least_tiles=1,
                          transformed=blocks * height * values * channels * depth)

    return grid


def grid_window(like):
    for vectors, count, copy in itertools.product((1, 2, 4, 8), (1, 2, 3, 4, 6, 7, 8), (3072, 6144, 12288, 65536, 131072)):
        sums = read(like, "rows") * read(like, "vectors")
        if vectors * count <= max(8, sums):
            yield replace(like, rows=count, vectors=vectors, copy=copy)


def grid_rows(like):
    for elements, vectors in itertools.product((1024, 4096, 8192, 32768, 131072), (1, 2, 4, 8)):
        text = re.sub(r"max\(\d+ floordiv", f"max({elements} floordiv", like)
        accumulators = re.search(r"accumulators = \[(.*?)\]", text)
        if accumulators:
            several = [str(vectors) if int(each) > 1 else each for each in accumulators.group(1).split(", ")]
            text = text.replace(accumulators.group(0), f"accumulators = [{', '.join(several)}]")
        yield replace(text, vectors=vectors)


FAMILIES = {
    "product with a weight": Family(product("weight"),
        SQUARES.removeprefix("1x1x1 ") + "1x256x512 1x1024x1024 4x1024x1024 16x1024x1024 768x768x768 960x768x1024 509x511x513 64x3136x128 "
        "1024x1024x64 2048x32x2048 128x768x3072 128x3072x768 1000x100x50 7x300x300 197x768x768 49x2048x512 8x4096x64 "
        "32x17x1000 3x5x7 100x1x100 2000x64x8 300x1024x17 64x512x10", grid_contraction),
    "product of inputs": Family(product("inputs"),
        SQUARES + "5x7x3 16x16x16 33x33x33 96x96x96 192x192x192 320x320x320 384x384x384 640x640x640 768x768x768 960x960x960 "
        "255x257x255 509x511x513 1x512x512 2x2048x64 4x1024x1024 16x1024x1024 24x768x768 49x512x512 64x3136x128 "
        "64x64x1024 8x8x4096 1024x1024x64 3136x64x64 2048x32x2048 32x4096x32 128x768x768 128x3072x768 1000x100x50 "
        "1000x8x1000 7x300x300 197x768x197 300x1024x17 2000x64x8 96x2000x96", grid_contraction, symbolic=True),
    "product, A transposed": Family(product("lhs"), TRANSPOSED, grid_contraction, symbolic=True),
    "product, B transposed": Family(product("rhs"), TRANSPOSED, grid_contraction, symbolic=True),
    "batch of products": Family(product("batch"),
        "12x128x64x128 12x128x128x64 64x16x16x16 256x8x8x8 1000x4x4x4 16x64x64x64 32x100x64x100 8x256x64x256 8x256x256x64 "
        "4x512x64x512 96x32x32x32 16x1x64x128 16x128x64x1 48x49x32x49 100x20x20x20 6x197x64x197 2x300x300x300 512x16x4x16",
        grid_contraction, symbolic=True),
    "convolution 1": Family(convolution(1),
        "1x64x56x64 1x256x56x64 1x64x56x256 1x128x28x512 1x512x28x128 1x1024x14x256 4x256x14x1024 1x512x7x2048 4x2048x7x512 "
        "1x32x112x16 1x96x20x576 1x3x100x40 8x240x13x40", grid_convolution(1)),
    "convolution 1, stride 2": Family(convolution(1, 2),
        "1x256x56x512 1x512x28x1024 2x1024x14x2048 4x64x55x128", grid_convolution(1)),
    "convolution 3": Family(convolution(3),
        "1x64x56x64 1x128x28x128 1x256x14x256 1x512x7x512 4x3x64x32 1x16x100x32 4x32x33x48 8x24x17x160", grid_convolution(9),
        disable="winograd"),
    "convolution 3, transformed to 4": Family(convolution(3), "1x64x56x64 1x32x112x32 1x128x28x128 1x48x50x96",
        grid_transformed(4, 1)),
    "convolution 3, transformed to 2": Family(convolution(3), "1x256x14x256 1x128x14x256 1x192x14x160", grid_transformed(2, 1)),
    "convolution 3, stride 2": Family(convolution(3, 2),
        "1x128x56x128 1x256x28x256 1x512x14x512 1x64x112x64 1x3x224x32 4x32x33x64", grid_convolution(9)),
    "convolution 5": Family(convolution(5), "1x48x35x64 1x96x27x256 8x16x28x32", grid_convolution(25)),
    "convolution 7, stride 2": Family(convolution(7, 2), "1x3x224x64 1x16x56x64", grid_convolution(49)),
    "convolution 3, 4 groups": Family(convolution(3, groups=4), "1x128x28x128 4x256x14x256 1x64x56x128 8x512x7x512",
        grid_convolution(9)),
    "convolution 3 of lines": Family(convolution(3, dimensions=1), "1x128x128x128 4x64x1000x64 1x256x400x256 1x80x3000x80",
        grid_convolution(3)),
    "convolution 3 of volumes": Family(convolution(3, dimensions=3), "1x32x8x28x28x32 1x16x16x32x32x32 1x64x4x14x14x64",
        grid_convolution(27), disable="winograd"),
    "convolution 3 of volumes, transformed": Family(convolution(3, dimensions=3), "1x32x8x28x28x32 1x16x16x32x32x32",
        grid_transformed(4, 3)),
    "depthwise 3": Family(convolution(3, groups="all"), "1x32x112x32 1x144x56x144 1x192x28x192 1x384x14x384 8x960x7x960 1x64x33x64",
        grid_window),
    "depthwise 3, stride 2": Family(convolution(3, 2, groups="all"), "1x96x112x96 1x144x56x144 4x576x14x576", grid_window),
    "depthwise 5": Family(convolution(5, groups="all"), "1x120x28x120 4x672x14x672", grid_window),
    "pool 3, stride 2": Family(pool, "1x64x112 8x192x35", grid_window),
    "softmax": Family(rows("softmax"), "1x10 16x1000 128x128 1000x64 3072x197 8x50000 64x4096 12288x16", grid_rows, symbolic=True),
    "sum of rows": Family(rows("sum"), "1x1000000 128x1024 10000x32 64x50000 1000x7", grid_rows, symbolic=True),
    "sum of columns": Family(rows("columns"), "1000x64 64x10000 50000x3 512x512", grid_rows, symbolic=True),
    "normalization": Family(rows("normalization"), "128x768 3072x64 16x4096", grid_rows, symbolic=True),
}


class Sweep:
    """A family for a target, with its models and artifacts."""

    def __init__(self, name, target, folder, options):
        self.name, self.family, self.target, self.options = name, FAMILIES[name], target, options
        self.folder = pathlib.Path(folder)
        self.shapes = self.family.parse()
        self.weights = "b" if name.startswith("product") else "w"
        self.joint = self.save("joint", self.shapes[:1] if self.family.symbolic else self.shapes)
        self.models, self.programs = {}, {}
        kinds = {"product": "tree|choice|rows", "batch": "tree|choice|rows", "convolution": "convolution",
                 "depthwise": "window", "pool": "window"}
        self.kinds = "tree|choice" if name == "product with a weight" else kinds.get(re.match(r"\w+", name).group(0), "rows|map")
        self.explain(self.joint, [])

    def save(self, name, shapes):
        """A model of operators that do not depend on each other."""
        nodes, inputs, outputs, weights = [], [], [], []
        generator = np.random.default_rng(1)
        for number, shape in enumerate(shapes):
            suffix = "" if self.family.symbolic else str(number)
            made, tensors, sizes, rank = self.family.make(shape, suffix)
            nodes += made
            for tensor, axes in tensors.items():
                values = [sizes.get(axis, axis) for axis in axes]
                if not self.family.symbolic and tensor == self.weights:
                    weights.append(numpy_helper.from_array(generator.standard_normal(values, dtype=np.float32), tensor + suffix))
                    continue
                names = [axis + suffix if axis in ("m", "n", "k", "o") and self.is_symbol(axis) else size
                         for axis, size in zip(axes, values)]
                inputs.append(helper.make_tensor_value_info(tensor + suffix, TensorProto.FLOAT, names))
            outputs.append(helper.make_tensor_value_info("y" + suffix, TensorProto.FLOAT, [None] * rank))
        if self.name.startswith("sum of"):
            weights.append(numpy_helper.from_array(np.array([1 if self.name.endswith("rows") else 0]), "axes"))
        graph = helper.make_graph(nodes, "sweep", inputs, outputs, weights)
        path = f"{self.folder}/{name}.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]), path)
        return path

    def is_symbol(self, axis):
        """Whether only a run brings the size: of weights, rows and pictures alone."""
        return self.family.symbolic or axis == ("m" if self.name.startswith("product") else "n")

    def get_bounds(self, shape, suffix):
        sizes = self.family.make(shape, suffix)[2]
        return [f"--bind={axis}{suffix}={size}" for axis, size in sizes.items() if self.is_symbol(axis)]

    def get_switches(self):
        return ["--target", self.target] + (["--disable", self.family.disable] if self.family.disable else [])

    def feed(self, shape):
        """The inputs of a run: none for the other shapes of the family."""
        generator, feeds = np.random.default_rng(2), {}
        for number, each in enumerate([shape] if self.family.symbolic else self.shapes):
            suffix = "" if self.family.symbolic else str(number)
            _, tensors, sizes, _ = self.family.make(each, suffix)
            for tensor, axes in tensors.items():
                if not self.family.symbolic and tensor == self.weights:
                    continue
                values = [0 if each != shape and axis == axes[0] else sizes.get(axis, axis) for axis in axes]
                feeds[tensor + suffix] = generator.standard_normal(values, dtype=np.float32)
        return feeds

    def explain(self, path, bounds, tiling=None):
        """The tiling of the program, and the cycles that are predicted for it by cause, as far as there are such."""
        options = self.get_switches() + bounds
        if tiling and path not in self.programs:
            return None, None
        if tiling:
            options += ["--tilings", self.write(self.programs[path], tiling)]
        command = [freestone_runtime.freestone(), "inspect", "--tiles", path, *options]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode and not tiling:
            raise RuntimeError(done.stderr)
        chosen = re.search(rf"^(\w+) (#tile\.(?:{self.kinds})<.*>)$", done.stdout, re.MULTILINE)
        cycles = re.search(r"^    \* .*: +(\d+) cycles;(.*)$", done.stdout, re.MULTILINE)
        if not chosen:
            return None, None
        self.programs[path] = chosen.group(1)
        if not cycles:
            return chosen.group(2), None
        causes = {name: float(part) for name, part in re.findall(r"(\w+) ([\d.]+)%", cycles.group(2))}
        return chosen.group(2), {"cycles": float(cycles.group(1)), "waiting": get_waiting(chosen.group(2), done.stdout), **causes}

    def write(self, program, tiling):
        path = f"{self.folder}/{abs(hash((program, tiling)))}.tilings"
        pathlib.Path(path).write_text(f"{program} {tiling}\n")
        return path

    def get_artifact(self, tiling):
        return f"{self.folder}/{abs(hash(tiling))}.stone"

    def load(self, tiling):
        """An instance of all shapes; none if the compiler refuses the tiling."""
        if tiling not in self.models:
            path = self.get_artifact(tiling)
            command = [freestone_runtime.freestone(), "compile", "--no-cache", self.joint, "-o", path, *self.get_switches(),
                       "--tilings", self.write(self.programs[self.joint], tiling)]
            done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            if done.returncode:
                print(f"{self.name}: {done.stderr.strip()}", file=sys.stderr)
            self.models[tiling] = None if done.returncode else freestone_runtime.Model(path, threads=1)
        return self.models[tiling]

    def move(self, tilings):
        """Loads artifacts again, from other pages of memory: which sets of a cache weights share is chance."""
        for tiling in tilings:
            path = self.get_artifact(tiling)
            self.models[tiling].close()
            shutil.copyfile(path, path + ".copy")
            os.replace(path + ".copy", path)
            self.models[tiling] = freestone_runtime.Model(path, threads=1)
        return {tiling: self.models[tiling] for tiling in tilings}

    def time_choice(self, path, bounds):
        """Milliseconds that the pass which chooses the tilings of all programs takes: the least of some."""
        with tempfile.TemporaryDirectory() as trees:
            command = [freestone_runtime.freestone(), "inspect", "--tiles", path, *self.get_switches(), *bounds]
            subprocess.run([*command, "--mlir-print-ir-tree-dir", trees], check=True, stdout=subprocess.DEVNULL)
            before = next(pathlib.Path(trees).rglob("*_tile-outline.mlir"))
            command = [freestone_runtime.build_folder() / "bin" / "freestone-opt", before, "-o", "/dev/null", "--mlir-timing",
                       f"--tile-choose-tiles=target={self.target}"]
            times = [re.search(r"([\d.]+) \(.*ChooseTiles", subprocess.run(command, check=True, text=True, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE).stderr) for _ in range(5)]
        return 1000 * min(float(found.group(1)) for found in times)

    def close(self):
        for model in filter(None, self.models.values()):
            model.close()


def get_waiting(tiling, text):
    """How much longer 1, 2 and 4 workers take than equal shares of a convolution's tiles, in the geometric mean."""
    sizes = re.search(r"^  (\d+) x (\d+) x (\d+) x (\d+) x \d+ \(outer, channels out, rows", text, re.MULTILINE)
    steps = re.search(r"^    \* channels .*tiles +\d+ of +(\d+) x +(\d+)  panels +(\d+)", text, re.MULTILINE)
    if not sizes or not steps:
        return 1.0
    outer, columns, rows, pixels = map(int, sizes.groups())
    extents = (-(-columns // (read(tiling, "vectors") * read(tiling, "lanes"))), rows, pixels)
    row_step, pixel_step, panel_step = map(int, steps.groups())
    parts = [[min(step, extent - begin) for begin in range(0, extent, step)]
             for extent, step in zip(extents, (panel_step, row_step, pixel_step))]
    tiles = [math.prod(tile) for tile in itertools.product(*parts)] * outer
    before, waiting = [0, *itertools.accumulate(tiles)], 0.0
    for workers in (1, 2, 4):
        ends = [len(tiles) * worker // workers for worker in range(workers + 1)]
        waiting += math.log(max(before[end] - before[begin] for begin, end in itertools.pairwise(ends)) * workers / before[-1])
    return math.exp(waiting / 3)


def measure(of, tilings, feeds, rounds):
    """The seconds of a run with each tiling, in turns: the least of each turn."""
    times, order = {tiling: [] for tiling in tilings}, list(tilings)
    for _ in range(rounds):
        models = of.move(order)
        for model in models.values():
            model.bind(feeds)
            model.run_bound()
        random.shuffle(order)
        for tiling in order:
            run, known = models[tiling].run_bound, min(times[tiling], default=math.inf)
            run()
            together = 1 if known == math.inf else max(1, min(200, int(1e-3 / max(known, 1e-7))))
            times[tiling].append(math.inf)
            for _ in range(2):
                begin = time.process_time()
                for _ in range(together):
                    run()
                times[tiling][-1] = min(times[tiling][-1], (time.process_time() - begin) / together)
    return times


def least(turns):
    return {tiling: min(times) for tiling, times in turns.items()}


def sweep(name, target, options, report):
    with tempfile.TemporaryDirectory() as folder:
        of = Sweep(name, target, folder, options)
        choices, paths, bounds = {}, {}, {}
        for number, shape in enumerate(of.shapes):
            paths[shape] = of.joint if of.family.symbolic else of.save(f"single{number}", [shape])
            bounds[shape] = of.get_bounds(shape, "" if of.family.symbolic else "0")
            chosen = {"symbolic": of.explain(paths[shape], [])[0], "bound": of.explain(paths[shape], bounds[shape])[0]}
            choices[shape] = {key: text for key, text in chosen.items() if text}
        # Variants have sizes of their program alone, but what they choose from suits others as well.
        others = [text for each in choices.values() for whole in each.values() for text in get_leaves(whole)]
        others = list(dict.fromkeys(others))
        # Of rows, one whose number follows from a run's sizes.
        like = max((text for text in reversed(others) if "block_rows" not in text), key=lambda text: "floordiv" in text)
        drawn, chance = list(dict.fromkeys(of.family.grid(like))), random.Random(1)
        everything = len(drawn)
        chance.shuffle(drawn)
        drawn = drawn[: options.sample]
        for shape in of.shapes:
            chance.shuffle(others)
            if options.shape and "x".join(map(str, shape)) not in options.shape:
                continue
            predicted = {}
            for tiling in dict.fromkeys([*choices[shape].values(), *drawn, *others[: options.others]]):
                cycles = of.explain(paths[shape], bounds[shape], tiling)[1]
                # Tilings with equal times are the same at this shape.
                if tiling in choices[shape].values() or cycles is None or cycles not in predicted.values():
                    predicted[tiling] = cycles
            models = {tiling: model for tiling in predicted if (model := of.load(tiling))}
            own = {key: text for key, text in choices[shape].items() if text in models}
            if "symbolic" not in own:
                print(f"| {name} | {'x'.join(map(str, shape))} | not such a program | | | | | | |", flush=True)
                continue
            feeds = of.feed(shape)
            turns = measure(of, models, feeds, options.rounds)
            times = least(turns)
            weighed = {tiling: time * (predicted[tiling] or {}).get("waiting", 1) for tiling, time in times.items()}
            best = sorted(times, key=times.get)[:4] + sorted(weighed, key=weighed.get)[:4]
            again = least(measure(of, dict.fromkeys(best + list(own.values())), feeds, options.rounds))
            fastest = min(again, key=again.get)
            ranked = [tiling for tiling in times if predicted[tiling] is not None]
            rank = repeated = None
            if len(ranked) > 4:
                rank = rank_correlation([predicted[t]["cycles"] for t in ranked], [times[t] for t in ranked])
                repeated = rank_correlation(*([min(turns[t][begin::2]) for t in ranked] for begin in (0, 1)))
            report({"family": name, "shape": "x".join(map(str, shape)), "target": target, "tilings": len(times),
                    "grid": everything, "seconds": again[fastest],
                    "symbolic": again[own["symbolic"]] / again[fastest],
                    "bound": again[own.get("bound", own["symbolic"])] / again[fastest],
                    "workers": min(again[own[key]] * weighed[own[key]] / times[own[key]] for key in own)
                    / min(again[tiling] * weighed[tiling] / times[tiling] for tiling in again),
                    "rank": rank, "repeated": repeated, "spread": max(times.values()) / min(times.values()),
                    "choices": own, "fastest": fastest, "again": again,
                    "measured": {tiling: [predicted[tiling], times[tiling]] for tiling in times}})
        of.close()


def time_choices(name, target, options):
    """Prints what the choice takes for each shape, of sizes that a run brings and at hand."""
    with tempfile.TemporaryDirectory() as folder:
        of, times = Sweep(name, target, folder, options), []
        for number, shape in enumerate(of.shapes[:1] if of.family.symbolic else of.shapes):
            path = of.joint if of.family.symbolic else of.save(f"single{number}", [shape])
            bounds = of.get_bounds(shape, "" if of.family.symbolic else "0")
            times += [of.time_choice(path, []), of.time_choice(path, bounds)]
    print(f"| {name} | {len(times)} | {statistics.median(times):.1f} | {max(times):.1f} |", flush=True)
    return times


def summarise(rows):
    for key in ("symbolic", "bound", "workers"):
        mean = statistics.geometric_mean([row[key] for row in rows])
        worst = max(rows, key=lambda row: row[key])
        far = sum(row[key] > 1.2 for row in rows)
        print(f"{key}: geometric mean {mean - 1:.1%}, worst {worst[key] - 1:.1%} ({worst['family']} {worst['shape']}), "
              f"{far} of {len(rows)} above 20 %")
    for key in ("rank", "repeated"):
        ranks = [row[key] for row in rows if row.get(key) is not None and row["spread"] >= 1.1]
        if ranks:
            print(f"{key}: mean {statistics.mean(ranks):.2f}, median {statistics.median(ranks):.2f}, {sum(r >= 0.8 for r in ranks)} "
                  f"of {len(ranks)} at 0.8 or above")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="host")
    parser.add_argument("--family", nargs="+", default=list(FAMILIES), choices=FAMILIES, metavar="NAME")
    parser.add_argument("--shape", nargs="+", help="shapes that are measured, of those of the families; else all")
    parser.add_argument("--sample", type=int, default=16, help="tilings of a family's grid")
    parser.add_argument("--others", type=int, default=5, help="choices of other shapes that are tried at each")
    parser.add_argument("--rounds", type=int, default=6, help="turns, each with all artifacts in other pages of memory")
    parser.add_argument("--cpu", type=int, default=max(os.sched_getaffinity(0)), help="where all of it runs")
    parser.add_argument("--json", help="a file to which results are added, and that is summarised")
    parser.add_argument("--time", action="store_true", help="what choosing takes, instead")
    parser.add_argument("--summarise", action="store_true", help="measures nothing")
    arguments = parser.parse_args()
    os.sched_setaffinity(0, [arguments.cpu])
    rows = []

    def report(row):
        rows.append(row)
        rank, repeated = ("–" if row[key] is None else f"{row[key]:.2f}" for key in ("rank", "repeated"))
        print(f"| {row['family']} | {row['shape']} | {row['tilings']} | {row['seconds'] * 1e6:.1f} | {row['symbolic']:.3f} "
              f"| {row['bound']:.3f} | {row['workers']:.3f} | {rank} | {repeated} | {row['spread']:.2f} |", flush=True)
        if arguments.json:
            with open(arguments.json, "a") as file:
                file.write(json.dumps(row) + "\n")

    if arguments.time:
        print("| family | choices | median, ms | most, ms |\n|---|---|---|---|")
        times = [each for name in arguments.family for each in time_choices(name, arguments.target, arguments)]
        print(f"median {statistics.median(times):.1f} ms, most {max(times):.1f} ms")
    elif not arguments.summarise:
        print("| family | shape | tilings | fastest, µs | symbolic | bound | workers | rank | repeated | slowest / fastest |")
        print("|---|---|---|---|---|---|---|---|---|---|")
        for name in arguments.family:
            sweep(name, arguments.target, arguments, report)
    else:
        rows = [json.loads(line) for line in open(arguments.json)]
    for target in dict.fromkeys(row["target"] for row in rows):
        print(f"\n{target}")
        for family in dict.fromkeys(row["family"] for row in rows):
            print(f"-- {family}")
            summarise([row for row in rows if row["family"] == family and row["target"] == target])
        print("-- all")
        summarise([row for row in rows if row["target"] == target])


if __name__ == "__main__":
    sys.exit(main())
