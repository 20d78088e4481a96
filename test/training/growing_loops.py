"""Loops in which sizes grow from iteration to iteration are trained: growing_loops.py FREESTONE FOLDER.

A state attends to a cache that grows by what it asks for; a trace, all of it computed anew in each iteration, grows by
an element; so does a sequence. Losses follow those of gradients that are computed by hand in fp64, with the limit a
constant, a size and --max-trip, where data end the loop and where nothing does, on one worker and more. What is kept of
iterations and what --recompute computes again has the same bits. Loops without a limit, and those whose sizes depend on
data, are refused by name.
"""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from command import Command

MANY, FEW, THRESHOLD, RATE, BATCH, WIDTH = 70, 9, 0.35, 0.1, 16, 8


def make_model(path, weights, limit, ends=True, by_data=False):
    """x [n, 8] → a loop over (state [n, 8], cache [n, t, 8], trace [n, t], sequence of t tensors [n, 8]) → logits [n, 3].

    limit: a number, None, or "columns": as many iterations as a second input has. by_data: data decide whether the trace
    grows."""
    info, node = helper.make_tensor_value_info, helper.make_node
    rows = ["n", WIDTH]
    mark = [node("ReduceMean", ["q", "one"], ["mark"], keepdims=1)]
    if by_data:
        mark = [node("ReduceMean", ["q", "one"], ["any"], keepdims=1), node("ReduceMax", ["any"], ["most"], keepdims=0),
                node("Greater", ["most", "threshold"], ["whether"]), node("Unsqueeze", ["whether", "zero"], ["chosen"]),
                node("Compress", ["any", "chosen"], ["mark"], axis=1)]
    body = helper.make_graph(
        [node("MatMul", ["h", "w"], ["q"]), node("Unsqueeze", ["q", "one"], ["row"]), node("Concat", ["cache", "row"], ["longer"], axis=1),
         node("Unsqueeze", ["q", "two"], ["column"]), node("MatMul", ["longer", "column"], ["scores"]), node("Softmax", ["scores"], ["shares"], axis=1),
         node("Mul", ["shares", "longer"], ["weighted"]), node("ReduceSum", ["weighted", "one"], ["seen"], keepdims=0), node("Tanh", ["seen"], ["next"]),
         node("Sin", ["trace"], ["faded"]), *mark, node("Concat", ["faded", "mark"], ["marked"], axis=1),
         node("SequenceInsert", ["all", "q"], ["more"]), node("Abs", ["next"], ["size"]), node("ReduceMean", ["size"], ["mean"], keepdims=0),
         node("Greater", ["mean", "threshold"], ["goes"]) if ends else node("Identity", ["c"], ["goes"])],
        "body",
        [info("i", TensorProto.INT64, []), info("c", TensorProto.BOOL, []), info("h", TensorProto.FLOAT, rows), info("cache", TensorProto.FLOAT, ["n", "t", WIDTH]),
         info("trace", TensorProto.FLOAT, ["n", "t"]), helper.make_tensor_sequence_value_info("all", TensorProto.FLOAT, rows)],
        [info("goes", TensorProto.BOOL, []), info("next", TensorProto.FLOAT, rows), info("longer", TensorProto.FLOAT, ["n", "u", WIDTH]),
         info("marked", TensorProto.FLOAT, ["n", "u"]), helper.make_tensor_sequence_value_info("more", TensorProto.FLOAT, rows)])
    loop = node("Loop", ["limit" if limit else "", "", "x", "cache0", "trace0", "all0"], ["last", "keys", "marks", "parts"], name="again", body=body)
    nodes = [node("Unsqueeze", ["x", "one"], ["cache0"]), node("ReduceMean", ["x", "one"], ["trace0"], keepdims=1), node("SequenceConstruct", ["x"], ["all0"]),
             loop, node("ConcatFromSequence", ["parts"], ["stacked"], axis=0, new_axis=1), node("ReduceMean", ["stacked", "zero"], ["of_parts"], keepdims=0),
             node("ReduceMean", ["keys", "one"], ["of_keys"], keepdims=0), node("ReduceSum", ["marks", "one"], ["of_marks"], keepdims=1),
             node("Add", ["last", "of_parts"], ["a"]), node("Add", ["a", "of_keys"], ["b"]), node("Add", ["b", "of_marks"], ["d"]), node("MatMul", ["d", "v"], ["logits"])]
    inputs = [info("x", TensorProto.FLOAT, rows)]
    values = {**weights, "threshold": np.float32(THRESHOLD), "zero": np.int64([0]), "one": np.int64([1]), "two": np.int64([2])}
    if limit == "columns":
        inputs.append(info("z", TensorProto.FLOAT, ["n", "m"]))
        nodes[:0] = [node("Shape", ["z"], ["shape"], start=1), node("Squeeze", ["shape"], ["limit"])]
    elif limit:
        values["limit"] = np.int64(limit)
    graph = helper.make_graph(nodes, "growing", inputs, [info("logits", TensorProto.FLOAT, ["n", 3])],
                              [numpy_helper.from_array(np.asarray(value), name) for name, value in values.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)


def differentiate(x, y, w, v, limit, ends):
    """The loss of a batch, its gradients, and the number of iterations."""
    h, cache, trace, parts, kept = x, x[:, None], x.mean(1, keepdims=True), [x], []
    while len(kept) < limit:
        q = h @ w
        cache = np.concatenate([cache, q[:, None]], 1)
        shares = np.exp(np.einsum("ntd,nd->nt", cache, q))
        shares /= shares.sum(1, keepdims=True)
        following = np.tanh(np.einsum("nt,ntd->nd", shares, cache))
        kept.append((h, q, shares, trace, following))
        h, trace = following, np.concatenate([np.sin(trace), q.mean(1, keepdims=True)], 1)
        parts.append(q)
        if ends and not np.abs(h).mean() > THRESHOLD:
            break
    gathered = h + np.mean(parts, 0) + cache.mean(1) + trace.sum(1, keepdims=True)
    logits = gathered @ v
    chosen = np.exp(logits - logits.max(1, keepdims=True))
    chosen /= chosen.sum(1, keepdims=True)
    loss = -np.log(chosen[np.arange(len(x)), y]).mean()
    chosen[np.arange(len(x)), y] -= 1
    of_logits = chosen / len(x)
    of_v, of_h = gathered.T @ of_logits, of_logits @ v.T
    of_parts = of_h / len(parts)
    of_cache = np.repeat(of_h[:, None] / cache.shape[1], cache.shape[1], 1)
    of_trace = np.repeat(of_h.sum(1, keepdims=True), trace.shape[1], 1)
    of_w = np.zeros_like(w)
    for state, q, shares, trace, following in kept[::-1]:
        seen = of_h * (1 - following**2)
        of_shares = np.einsum("nd,ntd->nt", seen, cache)
        of_scores = shares * (of_shares - (of_shares * shares).sum(1, keepdims=True))
        of_cache = of_cache + shares[..., None] * seen[:, None] + of_scores[..., None] * q[:, None]
        of_q = np.einsum("nt,ntd->nd", of_scores, cache) + of_cache[:, -1] + of_parts + of_trace[:, -1:] / WIDTH
        of_w += state.T @ of_q
        of_h, of_cache, cache, of_trace = of_q @ w.T, of_cache[:, :-1], cache[:, :-1], of_trace[:, :-1] * np.cos(trace)
    return loss, of_w, of_v, len(kept)


def train_by_hand(weights, x, y, steps, limit, ends):
    w, v = (np.float64(weights[name]) for name in ("w", "v"))
    losses, trips = [], []
    for step in range(steps):
        rows = slice(step * BATCH % len(x), step * BATCH % len(x) + BATCH)
        loss, of_w, of_v, count = differentiate(np.float64(x[rows]), y[rows], w, v, limit, ends)
        w, v = w - RATE * of_w, v - RATE * of_v
        losses.append(loss)
        trips.append(count)
    return losses, trips


def main():
    tool, random = Command(*sys.argv[1:]), np.random.default_rng(0)
    weights = {"w": (random.standard_normal((WIDTH, WIDTH)) / 2.8).astype(np.float32), "v": (random.standard_normal((WIDTH, 3)) / 2).astype(np.float32)}
    scale = np.repeat([0.3, 1, 0.6, 2], BATCH)[:, None]
    x = (scale * random.standard_normal((4 * BATCH, WIDTH))).astype(np.float32)
    y = (x @ random.standard_normal((WIDTH, 3))).argmax(1)
    np.savez(tool.folder / "data.npz", x=x, y=y)
    np.savez(tool.folder / "columns.npz", x=x, y=y, z=np.zeros((len(x), FEW), np.float32))
    common = ["--labels", "y", "--optimizer", "sgd", "--lr", RATE, "--batch", BATCH, "--no-shuffle", "--epochs", 2]
    plain, columns = ["--data", "data.npz", *common], ["--data", "columns.npz", *common]
    for limit, ends, given, options in ((MANY, True, MANY, plain), (MANY, False, MANY, plain), (FEW, True, None, [*plain, "--max-trip", FEW]),
                                        (FEW, True, "columns", columns), (FEW, False, "columns", columns)):
        expected, trips = train_by_hand(weights, x, y, 8, limit, ends)
        assert not ends or min(trips) < max(trips) and len(set(trips)) > 2, trips
        make_model(tool.folder / "model.onnx", weights, given, ends)
        for workers in (1, 3):
            bits = []
            for recompute in ([], ["--recompute", "blocks"]):
                tool.remove("run")
                tool.train("model.onnx", *options, *recompute, "--threads", workers, "--out", "run")
                np.testing.assert_allclose(tool.metrics("run"), expected, rtol=5e-4, err_msg=f"{given} {ends} {recompute} {workers} workers")
                bits.append(tool.model("run"))
            assert bits[0] == bits[1], f"{given} {ends}: what is computed again has other bits"
        print(f"limit {given}: {len(expected)} steps of {min(trips)} to {max(trips)} iterations")
    make_model(tool.folder / "endless.onnx", weights, None)
    tool.refuse(["again", "--max-trip"], "endless.onnx", *plain, "--out", "refused")
    make_model(tool.folder / "by_data.onnx", weights, MANY, by_data=True)
    tool.refuse(["again", "depend on data", "at most 64 iterations", "--max-trip does not help"], "by_data.onnx", *plain, "--out", "refused")


main()
