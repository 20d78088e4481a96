"""Loops that data end are trained: loops.py FREESTONE FOLDER.

h becomes tanh(h w) again and again, while it is large in the mean, at most so often as the limit says; batches end after
different numbers of iterations, and one at the limit. Losses follow those of gradients that are computed by hand in fp64,
with a limit of the model's own, be it that the loop counts, and asks for the rest in a branch, and with --max-trip, also
where data determine the limit, on one worker and more; what --recompute computes again has the same bits. Without a limit the
loop is refused by name.
"""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from command import Command

LIMIT, THRESHOLD, RATE, BATCH = 7, 0.25, 0.2, 32


def make_model(path, weights, ends):
    """x [n, 8] → a loop of tanh(h w) → logits [n, 3]. It ends at a limit of its own, one of data, by a count, or by data alone."""
    info, node, scalar = helper.make_tensor_value_info, helper.make_node, []
    counts, states = ends in ("count", "branch"), [info("h", TensorProto.FLOAT, ["n", 8])]
    outputs = [info("goes", TensorProto.BOOL, scalar), info("next", TensorProto.FLOAT, ["n", 8])]
    steps = [node("MatMul", ["h", "w"], ["p"]), node("Tanh", ["p"], ["next"]), node("Abs", ["next"], ["a"]),
             node("ReduceMean", ["a"], ["mean"], keepdims=0), node("Greater", ["mean", "threshold"], ["large" if counts else "goes"])]
    if counts:
        states.append(info("count", TensorProto.INT64, scalar))
        outputs.append(info("counted", TensorProto.INT64, scalar))
        steps += [node("Add", ["count", "one"], ["counted"]), node("Less", ["counted", "limit"], ["few"])]
    if ends == "count":
        steps.append(node("And", ["large", "few"], ["goes"]))
    if ends == "branch":
        sides = [helper.make_graph([node("Identity", [of], [side])], side, [], [info(side, TensorProto.BOOL, scalar)])
                 for side, of in (("more", "large"), ("less", "no"))]
        steps.append(node("If", ["few"], ["goes"], then_branch=sides[0], else_branch=sides[1]))
    body = helper.make_graph(steps, "body", [info("i", TensorProto.INT64, scalar), info("c", TensorProto.BOOL, scalar), *states], outputs)
    # The greatest of eight places is 7 at most.
    nodes = [node("ArgMax", ["x"], ["places"], axis=1), node("ReduceMax", ["places"], ["place"], keepdims=0), node("Max", ["place", "limit"], ["data"])] \
        if ends == "data" else []
    first = {"limit": "limit", "data": "data"}.get(ends, "")
    nodes += [node("Loop", [first, "", "x", *(["zero"] if counts else [])], ["last", *(["count"] if counts else [])], name="again", body=body),
              node("MatMul", ["last", "v"], ["logits"])]
    numbers = {"threshold": np.float32(THRESHOLD), "limit": np.int64(LIMIT), "zero": np.int64(0), "one": np.int64(1), "no": np.bool_(False)}
    graph = helper.make_graph(nodes, "loops", [info("x", TensorProto.FLOAT, ["n", 8])], [info("logits", TensorProto.FLOAT, ["n", 3])],
                              [numpy_helper.from_array(np.asarray(value), name) for name, value in {**weights, **numbers}.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)


def train_by_hand(weights, x, y, steps):
    """The losses of steps of gradient descent, and the numbers of iterations."""
    w, v = (np.float64(weights[name]) for name in ("w", "v"))
    losses, trips = [], []
    for step in range(steps):
        rows = slice(step * BATCH % len(x), step * BATCH % len(x) + BATCH)
        states = [np.float64(x[rows])]
        while len(states) <= LIMIT:
            states.append(np.tanh(states[-1] @ w))
            if not np.abs(states[-1]).mean() > THRESHOLD:
                break
        trips.append(len(states) - 1)
        logits = states[-1] @ v
        shares = np.exp(logits - logits.max(1, keepdims=True))
        shares /= shares.sum(1, keepdims=True)
        losses.append(-np.log(shares[np.arange(BATCH), y[rows]]).mean())
        shares[np.arange(BATCH), y[rows]] -= 1
        gradient = shares / BATCH @ v.T
        of_v, of_w = states[-1].T @ (shares / BATCH), 0
        for before, after in zip(states[-2::-1], states[:0:-1]):
            gradient = gradient * (1 - after**2)
            of_w = of_w + before.T @ gradient
            gradient = gradient @ w.T
        w, v = w - RATE * of_w, v - RATE * of_v
    return losses, trips


def main():
    tool, random = Command(*sys.argv[1:]), np.random.default_rng(0)
    weights = {"w": (random.standard_normal((8, 8)) / 2.6).astype(np.float32), "v": (random.standard_normal((8, 3)) / 2).astype(np.float32)}
    scale = np.repeat([0.3, 1, 0.6, 2], BATCH)[:, None]
    x = (scale * random.standard_normal((4 * BATCH, 8))).astype(np.float32)
    y = (x @ random.standard_normal((8, 3))).argmax(1)
    np.savez(tool.folder / "data.npz", x=x, y=y)
    expected, trips = train_by_hand(weights, x, y, 16)
    assert min(trips) < max(trips) == LIMIT and len(set(trips)) > 2, trips
    for ends in ("limit", "count", "branch", "data", "endless"):
        make_model(tool.folder / f"{ends}.onnx", weights, ends)
    common = ["--data", "data.npz", "--labels", "y", "--optimizer", "sgd", "--lr", RATE, "--batch", BATCH, "--no-shuffle", "--epochs", 4]
    for workers in (1, 3):
        bits = []
        for model, *options in (["limit.onnx"], ["limit.onnx", "--recompute", "blocks"], ["count.onnx"], ["branch.onnx"],
                                ["data.onnx", "--max-trip", LIMIT], ["endless.onnx", "--max-trip", LIMIT]):
            tool.remove("run")
            tool.train(model, *common, *options, "--threads", workers, "--out", "run")
            np.testing.assert_allclose(tool.metrics("run"), expected, rtol=2e-4, err_msg=f"{model} {options} {workers} workers")
            bits.append(tool.model("run"))
        assert bits[0] == bits[1], f"{workers} workers: what is computed again has other bits"
    for ends in ("data", "endless"):
        tool.refuse(["again", "--max-trip"], f"{ends}.onnx", *common, "--out", "refused")
    print(f"{len(expected)} steps of {min(trips)} to {max(trips)} iterations")


main()
