"""Bags of rows of a table are trained, by loops over parts whose sizes data determine: bags.py FREESTONE FOLDER.

Bag i is the rows of a table that elements offsets[i] to offsets[i + 1] of one list name, weighted, and none where these are
equal: PyTorch's EmbeddingBag, as both of its exporters write it. One collects a sum in each iteration. The other puts a sum, a
mean or a maximum of what one of two branches takes into a sequence, and zeros where there is nothing. Losses and tables follow
gradients that are computed by hand in fp64, over more iterations than are unrolled, on one worker and more; what --recompute
computes again has the same bits.
"""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from command import Command

ROWS, WIDTH, LENGTH, BAGS, STEPS, RATE = 30, 8, 200, 75, 4, 0.5
info, node = helper.make_tensor_value_info, helper.make_node


def collecting():
    """The loop that collects sums, as the exporter of TorchScript writes it."""
    scalar = []
    body = helper.make_graph(
        [node("Gather", ["ends", "i"], ["first"]), node("Gather", ["behind", "i"], ["last"]), node("Unsqueeze", ["first", "zero"], ["from"]),
         node("Unsqueeze", ["last", "zero"], ["to"]), node("Slice", ["list", "from", "to", "zero"], ["names"]), node("Gather", ["table", "names"], ["rows"]),
         node("Slice", ["shares", "from", "to", "zero"], ["part"]), node("Unsqueeze", ["part", "one"], ["column"]), node("Mul", ["rows", "column"], ["weighted"]),
         node("ReduceSum", ["weighted", "zero"], ["sum"], keepdims=0), node("Identity", ["c"], ["goes"])],
        "body", [info("i", TensorProto.INT64, scalar), info("c", TensorProto.BOOL, scalar)], [info("goes", TensorProto.BOOL, scalar), info("sum", TensorProto.FLOAT, [WIDTH])])
    return [node("Slice", ["ends", "one", "far", "zero"], ["behind"]), node("Size", ["behind"], ["count"]), node("Loop", ["count", "yes"], ["bags"], name="again", body=body)]


def inserting(mode):
    """The loop that puts bags into a sequence, as the exporter of torch.export writes it."""
    scalar, row = [], [1, WIDTH]
    sides = [helper.make_graph([node("Slice", ["weighted", "from", to, "zero"], [to + "_rows"])], to, [], [info(to + "_rows", TensorProto.FLOAT, None)]) for to in ("end", "to")]
    some = [node("Equal", ["number", "highest"], ["is_last"]), node("If", ["is_last"], ["part"], then_branch=sides[0], else_branch=sides[1])]
    some.append(node("ReduceMax" if mode == "max" else "ReduceMean" if mode == "mean" else "ReduceSum", ["part", "zero"], ["made"], keepdims=1))
    body = helper.make_graph(
        [node("Reshape", ["number", "minus"], ["from_place"]), node("Add", ["from_place", "one"], ["to_place"]), node("Add", ["to_place", "one"], ["to_end"]),
         node("Slice", ["ends", "from_place", "to_place"], ["from"]), node("Slice", ["ends", "to_place", "to_end"], ["to"]), node("Equal", ["from", "to"], ["are_equal"]),
         node("Squeeze", ["are_equal", "zero"], ["is_empty"]),
         node("If", ["is_empty"], ["bag"], then_branch=helper.make_graph([node("ConstantOfShape", ["row"], ["zeros"])], "nothing", [], [info("zeros", TensorProto.FLOAT, row)]),
              else_branch=helper.make_graph(some, "something", [], [info("made", TensorProto.FLOAT, row)])),
         node("SequenceInsert", ["bags_before", "bag"], ["bags_behind"]), node("Add", ["number", "unit"], ["next"]), node("Less", ["next", "count"], ["goes"])],
        "body", [info("i", TensorProto.INT64, scalar), info("c", TensorProto.BOOL, scalar), info("number", TensorProto.INT64, scalar),
                 helper.make_tensor_sequence_value_info("bags_before", TensorProto.FLOAT, None)],
        [info("goes", TensorProto.BOOL, scalar), info("next", TensorProto.INT64, scalar), helper.make_tensor_sequence_value_info("bags_behind", TensorProto.FLOAT, None)])
    return [node("Gather", ["table", "list"], ["rows"]), node("Unsqueeze", ["shares", "one"], ["columns"]), node("Mul", ["rows", "columns"], ["weighted"]),
            node("Shape", ["list"], ["end"]), node("Size", ["ends"], ["places"]), node("Sub", ["places", "unit"], ["count"]), node("Sub", ["count", "unit"], ["highest"]),
            node("SequenceEmpty", [], ["nothing"], dtype=TensorProto.FLOAT), node("Less", ["start", "count"], ["begins"]),
            node("Loop", ["", "begins", "start", "nothing"], ["", "all"], name="again", body=body), node("ConcatFromSequence", ["all"], ["bags"], axis=0)]


def make_model(path, weights, nodes):
    """A sample is a list, its ends and shares."""
    numbers = {"zero": [0], "one": [1], "minus": [-1], "far": [2**62], "unit": 1, "start": 0, "row": [1, WIDTH]}
    values = {**weights, "yes": np.bool_(True), **{name: np.int64(value) for name, value in numbers.items()}}
    inputs = {"list": (TensorProto.INT64, "l"), "ends": (TensorProto.INT64, "e"), "shares": (TensorProto.FLOAT, "l")}
    nodes = [*(node("Reshape", [f"sample_{name}", "minus"], [name]) for name in inputs), *nodes, node("MatMul", ["bags", "v"], ["logits"]),
             node("Unsqueeze", ["logits", "zero"], ["out"])]
    graph = helper.make_graph(nodes, "bags", [info(f"sample_{name}", type, [1, size]) for name, (type, size) in inputs.items()],
                              [info("out", TensorProto.FLOAT, [1, "bags", 3])], [numpy_helper.from_array(np.asarray(value), name) for name, value in values.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)


def train_by_hand(weights, samples, mode):
    """The losses of all steps, and the table behind them."""
    table, v = (np.float64(weights[name]) for name in ("table", "v"))
    losses = []
    for names, ends, shares, y in zip(*samples.values()):
        rows, bags, of_rows = table[names] * shares[:, None], np.zeros((len(ends) - 1, WIDTH)), np.zeros((len(names), WIDTH))
        pairs = [slice(*pair) for pair in zip(ends, ends[1:])]
        for bag, part in zip(bags, pairs):
            if part.start < part.stop:
                bag[:] = {"sum": np.sum, "mean": np.mean, "max": np.max}[mode](rows[part], axis=0)
        difference = bags @ v - y
        losses.append((difference**2).mean())
        of_logits = 2 * difference / difference.size
        for of_bag, part in zip(of_logits @ v.T, pairs):
            if part.start < part.stop:
                taken = {"sum": 1, "mean": 1 / (part.stop - part.start), "max": rows[part] == rows[part].max(0)}[mode]
                of_rows[part] = of_bag * taken
        of_table = np.zeros_like(table)
        np.add.at(of_table, names, of_rows * shares[:, None])
        table, v = table - RATE * of_table, v - RATE * (bags.T @ of_logits)
    return losses, table


def main():
    tool, random = Command(*sys.argv[1:]), np.random.default_rng(0)
    weights = {"table": random.standard_normal((ROWS, WIDTH)).astype(np.float32), "v": (random.standard_normal((WIDTH, 3)) / 2).astype(np.float32)}
    ends = np.sort(random.integers(0, LENGTH, (STEPS, BAGS + 1)), 1)
    ends[:, 0], ends[:, -1] = 0, LENGTH
    assert (np.diff(ends) == 0).any() and BAGS > 64
    samples = {"sample_list": random.integers(0, ROWS, (STEPS, LENGTH)), "sample_ends": ends,
               "sample_shares": random.random((STEPS, LENGTH), np.float32), "y": random.standard_normal((STEPS, BAGS, 3)).astype(np.float32)}
    np.savez(tool.folder / "data.npz", **samples)
    common = ["model.onnx", "--data", "data.npz", "--labels", "y", "--loss", "mse", "--optimizer", "sgd", "--lr", RATE, "--batch", 1, "--no-shuffle"]
    for mode, nodes in (("sum", collecting()), ("sum", inserting("sum")), ("mean", inserting("mean")), ("max", inserting("max"))):
        make_model(tool.folder / "model.onnx", weights, nodes)
        losses, table = train_by_hand(weights, samples, mode)
        bits = []
        for workers, recompute in ((1, []), (3, []), (1, ["--recompute", "blocks"]), (3, ["--recompute", "blocks"])):
            tool.remove("run")
            tool.train(*common, *recompute, "--threads", workers, "--out", "run")
            np.testing.assert_allclose(tool.metrics("run"), losses, rtol=1e-4, err_msg=f"{mode} {recompute} {workers} workers")
            bits.append(tool.model("run"))
        trained = {each.name: numpy_helper.to_array(each) for each in onnx.load(tool.folder / "run" / "model.onnx").graph.initializer}
        np.testing.assert_allclose(trained["table"], table, rtol=1e-4, atol=1e-5)
        assert all(each == bits[0] for each in bits), f"{mode}: workers, or what is computed again, give other bits"
        print(f"{mode}: {len(losses)} steps of {BAGS} bags")


main()
