"""What --recompute computes again has the same bits: recomputed.py FREESTONE FOLDER.

An LSTM in both directions with peepholes, a wide one, a GRU of either kind, a scan within a scan with a branch in it, and one
whose steps read their state twice.
Each is trained with what its iterations computed kept and computed again, on one worker and more: losses and trained weights are
equal bit for bit, the losses fall.
"""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from command import Command

STEPS, INNER, WIDTH, HIDDEN, WIDE, BATCH = 11, 3, 6, 8, 128, 16
info, node = helper.make_tensor_value_info, helper.make_node


def recurrent(random, op, directions, hidden=HIDDEN, **attributes):
    """Nodes from "steps" [t, n, INNER * WIDTH] to "features" [n, directions * hidden], and weights."""
    gates = {"LSTM": 4, "GRU": 3}[op]
    draw = lambda *shape: (random.standard_normal(shape) / 3).astype(np.float32)
    weights = {"w": draw(directions, gates * hidden, INNER * WIDTH), "r": draw(directions, gates * hidden, hidden), "b": draw(directions, 2 * gates * hidden)}
    inputs = ["steps", "w", "r", "b"]
    if op == "LSTM":
        weights["p"] = draw(directions, 3 * hidden)
        inputs += ["", "", "", "p"]
    direction = "bidirectional" if directions == 2 else "reverse"
    nodes = [node(op, inputs, ["", "last"], hidden_size=hidden, direction=direction, **attributes), node("Transpose", ["last"], ["turned"], perm=[1, 0, 2]),
             node("Reshape", ["turned", "flat"], ["features"])]
    return nodes, {**weights, "flat": np.int64([0, -1])}


def nested(random):
    """As `recurrent`; the inner scan goes over parts of a step, and data choose what the outer one makes of it."""
    inner = helper.make_graph(
        [node("MatMul", ["deep", "r"], ["a"]), node("Add", ["a", "part"], ["c"]), node("Tanh", ["c"], ["deeper"])], "inner",
        [info("deep", TensorProto.FLOAT, ["n", WIDTH]), info("part", TensorProto.FLOAT, ["n", WIDTH])], [info("deeper", TensorProto.FLOAT, ["n", WIDTH])])
    sides = [helper.make_graph([node(op, ["end"], [op])], op, [], [info(op, TensorProto.FLOAT, ["n", WIDTH])]) for op in ("Sin", "Sigmoid")]
    outer = helper.make_graph(
        [node("Reshape", ["step", "shape"], ["wide"]), node("Transpose", ["wide"], ["parts"], perm=[1, 0, 2]),
         node("Scan", ["h", "parts"], ["end"], body=inner, num_scan_inputs=1), node("ReduceMean", ["end"], ["mean"], keepdims=0),
         node("Greater", ["mean", "none"], ["chooses"]), node("If", ["chooses"], ["next"], then_branch=sides[0], else_branch=sides[1])], "outer",
        [info("h", TensorProto.FLOAT, ["n", WIDTH]), info("step", TensorProto.FLOAT, ["n", INNER * WIDTH])], [info("next", TensorProto.FLOAT, ["n", WIDTH])])
    nodes = [node("Slice", ["x", "zero", "one", "one", "one"], ["start"]), node("Squeeze", ["start", "one"], ["flat"]),
             node("Slice", ["flat", "zero", "width", "one"], ["h0"]), node("Scan", ["h0", "steps"], ["features"], body=outer, num_scan_inputs=1)]
    weights = {"r": (random.standard_normal((WIDTH, WIDTH)) / 2).astype(np.float32)}
    sizes = {"zero": [0], "one": [1], "width": [WIDTH], "shape": [0, INNER, WIDTH]}
    return nodes, {**weights, "none": np.float32(0), **{name: np.int64(value) for name, value in sizes.items()}}


def carried(random):
    """As `recurrent`, of what a scan collects: products of its state before and behind each step."""
    body = helper.make_graph(
        [node("MatMul", ["s", "r"], ["a"]), node("Add", ["a", "step"], ["c"]), node("Tanh", ["c"], ["next"]), node("Mul", ["next", "s"], ["both"])], "body",
        [info("s", TensorProto.FLOAT, ["n", WIDTH]), info("step", TensorProto.FLOAT, ["n", WIDTH])],
        [info("next", TensorProto.FLOAT, ["n", WIDTH]), info("both", TensorProto.FLOAT, ["n", WIDTH])])
    nodes = [node("Slice", ["steps", "zero", "width", "two"], ["narrow"]), node("Gather", ["narrow", "first"], ["h0"]),
             node("Scan", ["h0", "narrow"], ["", "all"], body=body, num_scan_inputs=1), node("ReduceSum", ["all", "zero"], ["features"], keepdims=0)]
    sizes = {"zero": np.int64([0]), "width": np.int64([WIDTH]), "two": np.int64([2]), "first": np.int64(0)}
    return nodes, {"r": (random.standard_normal((WIDTH, WIDTH)) / 2).astype(np.float32), **sizes}


def make_model(path, random, nodes, values, width):
    values["v"] = (random.standard_normal((width, 3)) / 2).astype(np.float32)
    nodes = [node("Transpose", ["x"], ["steps"], perm=[1, 0, 2]), *nodes, node("MatMul", ["features", "v"], ["logits"])]
    graph = helper.make_graph(nodes, "recomputed", [info("x", TensorProto.FLOAT, ["n", "t", INNER * WIDTH])], [info("logits", TensorProto.FLOAT, ["n", 3])],
                              [numpy_helper.from_array(np.asarray(value), name) for name, value in values.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)


def main():
    tool, random = Command(*sys.argv[1:]), np.random.default_rng(0)
    x = random.standard_normal((4 * BATCH, STEPS, INNER * WIDTH)).astype(np.float32)
    np.savez(tool.folder / "data.npz", x=x, y=(x.mean(1) @ random.standard_normal((INNER * WIDTH, 3))).argmax(1))
    # Without this machine's rates, by which gradients outside of loops may be summed in other blocks.
    common = ["--target", "x86-64-v3", "--data", "data.npz", "--labels", "y", "--optimizer", "adamw", "--lr", 0.02, "--batch", BATCH, "--no-shuffle", "--epochs", 3]
    models = {"lstm": (*recurrent(random, "LSTM", 2), 2 * HIDDEN), "wide lstm": (*recurrent(random, "LSTM", 1, WIDE), WIDE),
              "gru": (*recurrent(random, "GRU", 1, linear_before_reset=0), HIDDEN),
              "gru, linear before reset": (*recurrent(random, "GRU", 2, linear_before_reset=1), 2 * HIDDEN),
              "nested scans": (*nested(random), WIDTH), "carried": (*carried(random), WIDTH)}
    for name, model in models.items():
        make_model(tool.folder / "model.onnx", random, *model)
        for workers in (1, 3):
            bits = []
            for recompute in ("none", "blocks"):
                tool.remove("run")
                tool.train("model.onnx", *common, "--recompute", recompute, "--threads", workers, "--out", "run")
                losses = tool.metrics("run")
                assert np.mean(losses[-4:]) < np.mean(losses[:4]), (name, losses)
                bits.append((losses, tool.model("run")))
            assert bits[0] == bits[1], f"{name}, {workers} workers: what is computed again has other bits"
        print(f"{name}: {len(losses)} steps")


main()
