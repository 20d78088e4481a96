"""Chains of convolutions and pools against the interpreter: chains.py FOLDER [COUNT [SEED]].

One artifact of each chain for all sizes, which are symbols: pictures smaller than a tile, of one row, of none, wider than a
vector; strides, dilations, borders that no row of the picture reaches, rows that no window reads; elements and residuals
that follow. For this machine and for AVX2, on one to four workers, with all stages connected and none. First some cases
by hand, then COUNT random ones.
"""

import itertools
import pathlib
import random
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import freestone_runtime
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from targets import distinct

WORKERS = (1, 2, 3, 4)
SIZES = [1, 2, 3, 5, 7, 8, 9, 14, 16, 17, 28, 33, 45, 64]


class Stage:
    """A convolution of `out` channels, or a pool where there are none; `follows` is what is computed of its elements."""

    def __init__(self, out, kernel, strides=(1, 1), pads=(0, 0, 0, 0), dilations=(1, 1), groups=1, follows=""):
        self.out, self.kernel, self.strides, self.pads = out, kernel, strides, pads
        self.dilations, self.groups, self.follows = dilations, groups, follows

    def __repr__(self):
        return f"Stage{tuple(vars(self).values())}"

    def extents(self, sizes):
        reach = [d * (k - 1) + 1 for d, k in zip(self.dilations, self.kernel)]
        padded = [size + self.pads[i] + self.pads[i + 2] for i, size in enumerate(sizes)]
        return [(p - r) // s + 1 for p, r, s in zip(padded, reach, self.strides)] if min(np.subtract(padded, reach)) >= 0 else None

    def nodes(self, number, source, channels, draws, weights, isLast):
        """What computes the stage, and the names of its result and channels."""
        name, windows = f"c{number}", {"kernel_shape": self.kernel, "strides": self.strides, "pads": self.pads, "dilations": self.dilations}
        if not self.out:
            return [helper.make_node("MaxPool", [source], [name], **windows)], name, channels
        depth = (channels // self.groups, *self.kernel)
        weights[f"w{number}"] = draws.standard_normal((self.out, *depth), dtype=np.float32) / np.float32(np.prod(depth) ** 0.5)
        weights[f"b{number}"] = draws.standard_normal(self.out, dtype=np.float32)
        nodes = [helper.make_node("Conv", [source, f"w{number}", f"b{number}"], [name], group=self.groups, **windows)]
        if self.follows == "residual":
            nodes.append(helper.make_node("Add", [name, "r"], [f"{name}r"]))
        elif self.follows == "Swish":
            nodes += [helper.make_node("Sigmoid", [name], [f"{name}s"]), helper.make_node("Mul", [name, f"{name}s"], [f"{name}m"])]
        elif self.follows:
            nodes.append(helper.make_node(self.follows, [name], [f"{name}f"]))
        return nodes, nodes[-1].output[0], self.out


def pointwise(out, follows="", strides=(1, 1)):
    return Stage(out, (1, 1), strides, follows=follows)


def depthwise(channels, follows="", kernel=3, stride=1, pads=None):
    return Stage(channels, (kernel, kernel), (stride, stride), pads or (kernel // 2,) * 4, groups=channels, follows=follows)


def make_model(channels, stages, draws):
    weights, nodes, source, count = {}, [], "x", channels
    for number, stage in enumerate(stages):
        more, source, count = stage.nodes(number, source, count, draws, weights, number + 1 == len(stages))
        nodes += more
    nodes[-1].output[0] = "y"
    value = lambda name, size, letter: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", size, f"{letter}h", f"{letter}w"])
    inputs = [value("x", channels, "")] + [value("r", count, "r")] * (stages[-1].follows == "residual")
    graph = helper.make_graph(nodes, "chain", inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(array, name) for name, array in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10), count


BY_HAND = [
    (16, [pointwise(96, "Relu"), depthwise(96, "Relu")], 1),
    (16, [pointwise(96, "Relu"), depthwise(96, stride=2)], 1),
    (24, [pointwise(160, "Relu"), depthwise(160, "Relu"), pointwise(32, "residual")], 2),
    (24, [pointwise(144, "Swish"), depthwise(144, "Swish", kernel=5), pointwise(20, "residual")], 1),
    (32, [depthwise(32, "Relu"), pointwise(64, "Relu"), depthwise(64, "Relu", stride=2), pointwise(128)], 3),
    (3, [Stage(64, (7, 7), (2, 2), (3, 3, 3, 3), follows="Relu"), Stage(0, (3, 3), (2, 2), (1, 1, 1, 1))], 1),
    (16, [Stage(32, (3, 3), pads=(1,) * 4, follows="Relu"), Stage(64, (3, 3), pads=(1,) * 4)], 1),
    (16, [Stage(32, (3, 3), (2, 1), (2, 0, 1, 2), (1, 2)), Stage(64, (2, 3), (3, 2), (1, 2, 0, 0), (2, 1), follows="Relu")], 1),
    (16, [pointwise(64), Stage(64, (2, 3), (3, 1), (0, 1, 1, 1), groups=64)], 1),
]
BY_HAND_SIZES = [(1, 7, 7), (2, 13, 27), (1, 1, 1), (0, 9, 9), (3, 14, 14), (1, 64, 45), (2, 33, 3)]


def draw_case(draw):
    channels = start = draw.choice([3, 8, 16, 17, 24, 32])
    stages = []
    for _ in range(draw.choice([2, 2, 3, 3, 4])):
        kind = draw.choice(["pointwise", "depthwise", "depthwise", "dense", "pool"])
        kernel = tuple(1 if kind == "pointwise" else draw.choice([2, 3, 3, 5]) for _ in range(2))
        strides = (1, 1) if kind == "pointwise" else tuple(draw.choice([1, 1, 2, 3]) for _ in range(2))
        dilations = tuple(1 if kind == "pointwise" else draw.choice([1, 1, 2]) for _ in range(2))
        most = [min(2, k - 1) for k in kernel] if kind == "pool" else [0, 0] if kind == "pointwise" else [2, 2]
        pads = tuple(draw.choice(range(bound + 1)) for bound in most * 2)
        out = 0 if kind == "pool" else channels if kind == "depthwise" else draw.choice([16, 24, 32, 64, 96])
        stages.append(Stage(out, kernel, strides, pads, dilations, channels if kind == "depthwise" else 1,
                            "" if kind == "pool" else draw.choice(["", "Relu", "Swish"])))
        channels = out or channels
    if stages[-1].out and draw.random() < 0.3:
        stages[-1].follows = "residual"
    return start, stages


def compile_model(folder, *options):
    """Without transformed filters, whose convolutions are no stages."""
    options = ("--disable", ",".join(["winograd", *options[1:]])) if options[:1] == ("--disable",) else ("--disable", "winograd", *options)
    return freestone_runtime.compile_model(folder / "m.onnx", folder / "m.stone", *options)["chained"]


def interpret(folder, feeds):
    np.savez(folder / "feeds.npz", **feeds)
    command = [freestone_runtime.freestone(), "run", folder / "m.onnx", "--input", folder / "feeds.npz", "--interpret",
               "--output", f"y={folder / 'y.npy'}"]
    subprocess.run(command, check=True, capture_output=True)
    return np.load(folder / "y.npy")


def check(folder, channels, stages, sizes, seed, targets, expected_edges=None):
    """Returns the edges within chains, of all targets."""
    draws, edges = np.random.default_rng(seed), 0
    model, out = make_model(channels, stages, draws)
    onnx.save(model, folder / "m.onnx")
    cases = []
    for batch, *size in sizes:
        extents = size
        for stage in stages:
            extents = extents and stage.extents(extents)
        if not extents:
            continue
        feeds = {"x": draws.standard_normal((batch, channels, *size), dtype=np.float32)}
        if stages[-1].follows == "residual":
            feeds["r"] = draws.standard_normal((batch, out, *extents), dtype=np.float32)
        cases.append((feeds, interpret(folder, feeds)))
    for target in targets:
        chained = compile_model(folder, "--target", target)
        assert expected_edges in (None, chained), (channels, stages, target, chained)
        edges += chained
        for workers in WORKERS:
            model = freestone_runtime.Model(folder / "m.stone", workers)
            for feeds, expected in cases:
                (actual,) = model.run(feeds)
                assert actual.shape == expected.shape, (channels, stages, target, workers, actual.shape, expected.shape)
                np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-4,
                                           err_msg=f"{channels} {stages} {target} {workers} {feeds['x'].shape}")
            model.close()
    return edges


def check_switch(folder):
    """Without it, nothing is chained, and the numbers are the same."""
    channels, stages, _ = BY_HAND[2]
    model, out = make_model(channels, stages, np.random.default_rng(0))
    onnx.save(model, folder / "m.onnx")
    draws, results = np.random.default_rng(1), []
    feeds = {"x": draws.standard_normal((1, channels, 30, 31), dtype=np.float32),
             "r": draws.standard_normal((1, out, 30, 31), dtype=np.float32)}
    for options, edges in ((["--disable", "chains"], 0), ([], 2)):
        assert compile_model(folder, *options) == edges
        model = freestone_runtime.Model(folder / "m.stone", 2)
        results.append(model.run(feeds)[0])
        model.close()
    np.testing.assert_allclose(*results, rtol=1e-5, atol=1e-5)


def check_choices(folder, target):
    """Of trees given by hand: a choice of stages, one of which is a choice itself."""
    channels, stages, _ = BY_HAND[0]
    model, _ = make_model(channels, stages, np.random.default_rng(0))
    onnx.save(model, folder / "m.onnx")
    command = [freestone_runtime.freestone(), "inspect", "--tiles", folder / "m.onnx", "--target", target, "--disable", "winograd"]
    explained = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    name, chosen = re.search(r"^(p\d+) (#tile\.stages<.*>)$", explained, re.MULTILINE).groups()
    window = re.search(r"#tile\.window<.*?>", chosen).group()
    # Narrow pictures, by the symbol of their width, have small blocks of their own; low ones other rows in a tile.
    narrow = f"#tile.choice<[<size = s2, most = 9, tiling = {re.sub(r'copy = [0-9]+', 'copy = 64', window)}>], otherwise = {window}>"
    low = re.sub(r"elements = \d+", "elements = 64", re.sub(r"row_unit = \d+", "row_unit = 1", chosen))
    path = folder / "tilings"
    path.write_text(f"{name} #tile.choice<[<size = s1, most = 13, tiling = {low}>], otherwise = {chosen.replace(window, narrow)}>\n")
    assert compile_model(folder, "--target", target, "--tilings", path) == 1
    draws = np.random.default_rng(1)
    for size in itertools.product((1, 13, 14, 40), (3, 9, 10, 33)):
        feeds = {"x": draws.standard_normal((2, channels, *size), dtype=np.float32)}
        expected = interpret(folder, feeds)
        for workers in WORKERS:
            model = freestone_runtime.Model(folder / "m.stone", workers)
            np.testing.assert_allclose(model.run(feeds)[0], expected, rtol=1e-4, atol=1e-4, err_msg=f"{target} {workers} {size}")
            model.close()


def main():
    folder, count, seed = pathlib.Path(sys.argv[1]), int((sys.argv[2:] or [10])[0]), int((sys.argv[3:] or [1])[0])
    folder.mkdir(parents=True, exist_ok=True)
    targets = distinct("host", "x86-64-v3")
    check_switch(folder)
    for target in targets:
        check_choices(folder, target)
    for channels, stages, edges in BY_HAND:
        check(folder, channels, stages, BY_HAND_SIZES, 1, targets, edges)
    edges = 0
    for number in range(seed, seed + count):
        draw = random.Random(number)
        channels, stages = draw_case(draw)
        sizes = [(draw.choice([0, 1, 1, 2, 3]), draw.choice(SIZES), draw.choice(SIZES)) for _ in range(4)]
        edges += check(folder, channels, stages, sizes, number, [targets[number % len(targets)]])
    assert edges >= count // 3, f"only {edges} edges of {count} random models are chained"


if __name__ == "__main__":
    main()
