"""Patterns of fusion, off and on, in turns: fusion.py [--only PART] [--target TARGET] [--peer].

Each pattern is a small model, compiled as it is and without the switches that fuse it. CPU time of one thread in
milliseconds, the minimum of all runs; the bytes that the programs of a run move, and that each level of memory fetches,
as `freestone inspect --tiles` plans them, in megabytes, off → on. A pattern whose counters do not change is not fused:
the last columns say how large the intermediates are, and how long a copy of them takes beside the run, which is about the
most that fusion could save of it.
"""

import argparse
import json
import pathlib
import re
import subprocess
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import freestone_runtime
from turns import measure

node, FLOAT, INT64 = helper.make_node, TensorProto.FLOAT, TensorProto.INT64
GRADIENT = {"domain": "ai.onnx.preview.training"}


class Pattern:
    """Nodes of a model; shapes of its inputs and weights; switches; what lies between its operators, as shapes."""

    def __init__(self, nodes, inputs, weights, switches, between, outputs=("y",), integers=()):
        self.nodes, self.inputs, self.weights, self.switches = nodes, inputs, weights, switches
        self.between, self.outputs, self.integers = between, outputs, dict(integers)


def convolve(name, source, weight, result, groups=1, pads=0, act=None):
    nodes = [node("Conv", [source, weight], [f"{name}_c" if act else result], group=groups, pads=[pads] * 4)]
    return nodes + ([node("Clip", [f"{name}_c", "zero", "six"], [result])] if act else [])


def attention(length, gradients=False):
    inputs = {name: (1, 6, length, 64) for name in "qkv"}
    nodes = [node("Attention", ["q", "k", "v"], ["y"])]
    if not gradients:
        return Pattern(nodes, inputs, {}, "connect,reassociate", [(6, length, length)] * 2)
    nodes += [node("Mul", ["y", "g"], ["p"]), node("ReduceSum", ["p"], ["s"], keepdims=0),
              node("Gradient", list("qkv"), ["dq", "dk", "dv"], xs=list("qkv"), y="s", **GRADIENT)]
    return Pattern(nodes, inputs | {"g": inputs["q"]}, {}, "connect,reassociate", [(6, length, length)] * 4, ("y", "dq", "dk", "dv"))


def mlp(rows, width, middle, given=False):
    nodes = [node("MatMul", ["x", "a"], ["h"]), node("Gelu", ["h"], ["g"]), node("MatMul", ["g", "b"], ["y"])]
    weights, inputs = {"a": (width, middle), "b": (middle, width)}, {"x": (rows, width)}
    return Pattern(nodes, inputs | weights if given else inputs, {} if given else weights, "connect", [(rows, middle)])


def inverted(channels, wide, size):
    nodes = [*convolve("e", "x", "a", "h", act=1), *convolve("d", "h", "b", "g", wide, 1, act=1), *convolve("p", "g", "c", "y")]
    weights = {"a": (wide, channels, 1, 1), "b": (wide, 1, 3, 3), "c": (channels, wide, 1, 1)}
    return Pattern(nodes, {"x": (1, channels, size, size)}, weights, "chains", [(wide, size, size)] * 2)


def expansion(channels, wide, size, stride=1):
    nodes = [*convolve("e", "x", "a", "h", act=1), node("Conv", ["h", "b"], ["g"], group=wide, pads=[1] * 4, strides=[stride] * 2),
             node("Clip", ["g", "zero", "six"], ["y"])]
    weights = {"a": (wide, channels, 1, 1), "b": (wide, 1, 3, 3)}
    return Pattern(nodes, {"x": (1, channels, size, size)}, weights, "chains", [(wide, size, size)])


def stem(out, size):
    nodes = [node("Conv", ["x", "w"], ["c"], pads=[3] * 4, strides=[2, 2]), node("Relu", ["c"], ["h"]),
             node("MaxPool", ["h"], ["y"], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)]
    return Pattern(nodes, {"x": (1, 3, size, size)}, {"w": (out, 3, 7, 7)}, "chains", [(out, size // 2, size // 2)])


def separable(channels, out, size):
    nodes = [*convolve("d", "x", "b", "g", channels, 1, act=1), *convolve("p", "g", "c", "y")]
    return Pattern(nodes, {"x": (1, channels, size, size)}, {"b": (channels, 1, 3, 3), "c": (out, channels, 1, 1)}, "chains", [(channels, size, size)])


def make_patterns():
    epilogue = [node("MatMul", ["x", "w"], ["h"]), node("Add", ["h", "b"], ["i"]), node("Gelu", ["i"], ["g"]), node("Add", ["g", "r"], ["y"])]
    norm = [node("LayerNormalization", ["x", "scale"], ["h"])]
    backward = [node("MatMul", ["x", "w"], ["h"]), node("Gelu", ["h"], ["g"]), node("MatMul", ["g", "v"], ["y"]), node("Mul", ["y", "r"], ["p"]),
                node("ReduceSum", ["p"], ["s"], keepdims=0), node("Gradient", ["x", "w"], ["dx", "dw"], xs=["x", "w"], y="s", **GRADIENT)]
    loss = [node("MatMul", ["x", "w"], ["z"]), node("SoftmaxCrossEntropyLoss", ["z", "labels"], ["y"]),
            node("Gradient", ["x", "w"], ["dx", "dw"], xs=["x", "w"], y="y", **GRADIENT)]
    return {
        "contraction, bias, gelu, residual": Pattern(epilogue, {"x": (1024, 384), "r": (1024, 1536)}, {"w": (384, 1536), "b": (1536,)}, "epilogues", [(1024, 1536)] * 3),
        "softmax": Pattern([node("Softmax", ["x"], ["y"])], {"x": (4096, 1024)}, {}, "rows", [(4096, 1024)]),
        "layer norm": Pattern(norm + [node("Neg", ["h"], ["y"])], {"x": (4096, 768)}, {"scale": (768,)}, "rows", [(4096, 768)]),
        "attention, 512": attention(512),
        "attention, 2048": attention(2048),
        "attention and gradients, 1024": attention(1024, True),
        "gelu's gradient between contractions": Pattern(backward, {"x": (1024, 256), "w": (256, 1024), "v": (1024, 256), "r": (1024, 256)}, {}, "epilogues,inline", [(1024, 1024)] * 3, ("dx", "dw")),
        "contraction, softmax cross-entropy, gradients": Pattern(loss, {"x": (512, 256), "w": (256, 8192)}, {}, "overwrite", [(512, 8192)] * 2, ("y", "dx", "dw"), {"labels": (512,)}),
        "convolution, pool": Pattern([*convolve("c", "x", "w", "h", pads=1), node("MaxPool", ["h"], ["y"], kernel_shape=[2, 2], strides=[2, 2])], {"x": (1, 32, 112, 112)}, {"w": (64, 32, 3, 3)}, "pools", [(64, 112, 112)]),
        "two contractions, weights": mlp(1024, 256, 1024),
        "two contractions, inputs": mlp(1024, 256, 1024, True),
        "two contractions, inputs, narrow": mlp(4096, 64, 256, True),
        "two contractions, 96 to 384": mlp(3136, 96, 384),
        "norm, contraction": Pattern(norm + [node("MatMul", ["h", "w"], ["y"])], {"x": (1024, 384)}, {"scale": (384,), "w": (384, 1152)}, "connect", [(1024, 384)]),
        "embedding, norm": Pattern([node("Gather", ["table", "ids"], ["e"]), node("LayerNormalization", ["e", "scale"], ["y"])], {}, {"table": (8192, 384), "scale": (384,)}, "inline,rows", [(1024, 384)], integers={"ids": (1024,)}),
        "1x1, depthwise, 1x1, 16 to 96 x 112 x 112": inverted(16, 96, 112),
        "1x1, depthwise, 1x1, 32 to 192 x 28 x 28": inverted(32, 192, 28),
        "1x1, depthwise, 16 to 96 x 112 x 112": expansion(16, 96, 112),
        "1x1, depthwise of stride 2, 16 to 96 x 112 x 112": expansion(16, 96, 112, 2),
        "1x1, depthwise, 24 to 144 x 56 x 56": expansion(24, 144, 56),
        "1x1, depthwise, 1x1, 24 to 144 x 56 x 56": inverted(24, 144, 56),
        "7x7, pool, 64 x 112 x 112": stem(64, 224),
        "depthwise, pointwise, 32 to 64 x 112 x 112": separable(32, 64, 112),
        "depthwise, pointwise, 64 to 128 x 56 x 56": separable(64, 128, 56),
        "depthwise, pointwise, 32 to 16 x 112 x 112": separable(32, 16, 112),
        "depthwise, pointwise, 512 x 14 x 14": separable(512, 512, 14),
        "convolution, convolution, 16 x 224 x 224": Pattern([*convolve("c", "x", "w", "h", pads=1, act=1), *convolve("d", "h", "v", "y", pads=1)], {"x": (1, 3, 224, 224)}, {"w": (16, 3, 3, 3), "v": (16, 16, 3, 3)}, "chains", [(16, 224, 224)]),
    }


def save(pattern, path):
    declare = lambda kind: lambda name, shape: helper.make_tensor_value_info(name, kind, shape)
    random = np.random.default_rng(1)
    weights = [numpy_helper.from_array(random.normal(size=shape).astype(np.float32), name) for name, shape in pattern.weights.items()]
    weights += [numpy_helper.from_array(np.float32(value), name) for name, value in (("zero", 0), ("six", 6)) if any(name in each.input for each in pattern.nodes)]
    inputs = [declare(FLOAT)(*value) for value in pattern.inputs.items()] + [declare(INT64)(*value) for value in pattern.integers.items()]
    graph = helper.make_graph(pattern.nodes, "pattern", inputs, [declare(FLOAT)(name, None) for name in pattern.outputs], weights)
    opsets = [helper.make_opsetid("", 23), helper.make_opsetid("ai.onnx.preview.training", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), path)
    feeds = {name: random.normal(size=shape).astype(np.float32) for name, shape in pattern.inputs.items()}
    return feeds | {name: random.integers(0, 1000, shape) for name, shape in pattern.integers.items()}


def peer(path, feeds):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, feeds)


def compile_and_plan(model, artifact, options):
    """The programs, and the megabytes that they move and that L1, L2 and L3 fetch."""
    tool = freestone_runtime.freestone()
    done = subprocess.run([tool, "compile", "--no-cache", model, "-o", artifact, "--json", *options], check=True, capture_output=True)
    text = subprocess.run([tool, "inspect", "--tiles", model, *options], check=True, capture_output=True, text=True).stdout
    found = re.findall(r"moves (\d+); fetches into L1 (\d+), L2 (\d+), L3 (\d+)", text)
    return json.loads(done.stdout)["counters"], [sum(map(int, each)) / 1e6 for each in zip(*found)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="host")
    parser.add_argument("--seconds", type=float, default=1, help="for each pattern")
    parser.add_argument("--only", default="", help="patterns whose names have this in them")
    parser.add_argument("--peer", action="store_true", help="beside ONNX Runtime, in the same turns")
    arguments = parser.parse_args()
    print("| | switches | programs | off | on | ratio | moves | L1 | L2 | L3 | between, MB | copied, of a run |" + " ONNX Runtime |" * arguments.peer)
    print("|---|---|---|---|---|---|---|---|---|---|---|---|" + "---|" * arguments.peer)
    for name, pattern in make_patterns().items():
        if arguments.only not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            model, loaded, planned, programs = pathlib.Path(folder) / "model.onnx", [], [], []
            feeds = save(pattern, model)
            for switches in (["--disable", pattern.switches], []):
                artifact = model.with_suffix(f".{len(switches)}.stone")
                counters, megabytes = compile_and_plan(model, artifact, ["--target", arguments.target, *switches])
                planned.append(megabytes)
                programs.append((counters["programs"], [counters[key] for key in ("connected", "chained", "epilogues", "rows", "pools", "overwritten")]))
                loaded.append(freestone_runtime.Model(artifact))
                loaded[-1].run(feeds)
            between = sum(4 * int(np.prod(shape)) for shape in pattern.between)
            # Both are written before they are timed.
            source, target = np.ones(between // 4, np.float32), np.ones(between // 4, np.float32)
            runs = [each.run_bound for each in loaded] + [lambda: np.copyto(target, source)]
            if arguments.peer:
                runs.append(peer(model, feeds))
            off, on, copy, *others = measure(runs, arguments.seconds)
            for each in loaded:
                each.close()
        isFused = programs[0] != programs[1]
        levels = " | ".join(f"{before:.1f} → {after:.1f}" if isFused else f"{after:.1f}" for before, after in zip(*planned))
        cells = [name, f"`{pattern.switches}`" if isFused else "not fused", f"{programs[0][0]} → {programs[1][0]}" if isFused else f"{programs[1][0]}",
                 f"{off:.3f}" if isFused else "", f"{on:.3f}", f"{on / off:.2f}" if isFused else "", levels, f"{between / 1e6:.1f}", "" if isFused else f"{copy / on:.2f}"] + [f"{other:.3f}" for other in others]
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
