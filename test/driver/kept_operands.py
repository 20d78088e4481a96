"""Branches keep operands that one of their sides returns unchanged: kept_operands.py FOLDER.

A network that leaves out blocks, on either side of its branches, with computes between and operands that are read again.
In each combination of blocks, at several sizes, on one worker and more, results are those of NumPy, and the same bits as
with copies. The order of phases is proved for all sizes when the model is compiled.
"""

import itertools
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import freestone_runtime
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

BLOCKS, HIDDEN = 6, 96
# Blocks whose first side is the one that is left out; whose result goes through a Tanh; whose operand is read again.
LEFT_OUT_FIRST, BETWEEN, AGAIN = {2, 4}, 3, 4


def make_model(path, weights):
    """x [n, 96], gates [6] → x behind all blocks; with what block 4 read added."""
    node, values, nodes, value, again = helper.make_node, {"zero": np.float32(0)}, [], "x", None
    for block in range(BLOCKS):
        values |= {f"w{block}": weights[block], f"i{block}": np.array(block)}
        output = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
        made = [node("MatMul", [value, f"w{block}"], [f"m{block}"]), node("Relu", [f"m{block}"], [f"a{block}"]),
                node("Add", [f"a{block}", value], [f"t{block}"])]
        sides = [helper.make_graph(made, f"made{block}", [], [output(f"t{block}")]),
                 helper.make_graph([node("Identity", [value], [f"e{block}"])], f"kept{block}", [], [output(f"e{block}")])]
        if block in LEFT_OUT_FIRST:
            sides.reverse()
        again = value if block == AGAIN else again
        nodes += [node("Gather", ["gates", f"i{block}"], [f"g{block}"], axis=0), node("Greater", [f"g{block}", "zero"], [f"c{block}"]),
                  node("If", [f"c{block}"], [f"v{block}"], then_branch=sides[0], else_branch=sides[1])]
        value = f"v{block}"
        if block == BETWEEN:
            nodes.append(node("Tanh", [value], ["between"]))
            value = "between"
    nodes += [node("Add", [value, again], ["sum"])]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "blocks", [info("x", TensorProto.FLOAT, ["n", HIDDEN]), info("gates", TensorProto.FLOAT, [BLOCKS])],
        [info("sum", TensorProto.FLOAT, ["n", HIDDEN])],
        [numpy_helper.from_array(np.asarray(each), name) for name, each in values.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)


def compute(x, gates, weights):
    value = np.float64(x)
    for block in range(BLOCKS):
        again = value if block == AGAIN else None if block < AGAIN else again
        if (gates[block] > 0) != (block in LEFT_OUT_FIRST):
            value = np.maximum(value @ weights[block], 0) + value
        value = np.tanh(value) if block == BETWEEN else value
    return value + again


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    freestone_runtime.check_order()
    random = np.random.default_rng(0)
    weights = random.standard_normal((BLOCKS, HIDDEN, HIDDEN)).astype(np.float32) / HIDDEN**0.5
    path = folder / "blocks.onnx"
    make_model(path, weights)
    kept = freestone_runtime.compile_model(path, folder / "kept.stone")
    copied = freestone_runtime.compile_model(path, folder / "copied.stone", "--disable", "keep-operands")
    late = freestone_runtime.compile_model(path, folder / "late.stone", "--disable", "schedule")
    # Block 0 reads the input, and block 4 what is read again.
    assert (kept["kept"], copied["kept"]) == (BLOCKS - 2, 0) and kept["selected_branches"] == 0, (kept, copied)
    # Conditions of all blocks but the first come before earlier branches.
    assert (kept["early_conditions"], late.get("early_conditions", 0)) == (BLOCKS - 1, 0), (kept, late)
    assert kept["order_proved"] > 0 and kept.get("order_sampled", 0) == 0, kept
    runs = 0
    for workers in (1, 2, 3):
        models = [freestone_runtime.Model(folder / f"{name}.stone", workers) for name in ("kept", "copied", "late")]
        for rows in (1, 7, 50):
            x = random.standard_normal((rows, HIDDEN)).astype(np.float32)
            for gates in itertools.product((-1, 1), repeat=BLOCKS):
                feeds = {"x": x, "gates": np.array(gates, np.float32)}
                one, *others = (model.run(feeds)[0] for model in models)
                for other in others:
                    np.testing.assert_array_equal(one, other, err_msg=f"{workers} workers, {rows} rows, {gates}")
                np.testing.assert_allclose(one, compute(x, gates, weights), rtol=1e-3, atol=1e-4)
                runs += 1
        for model in models:
            model.close()
    print(f"{kept['kept']} of {BLOCKS} branches keep their operands; {runs} runs as with copies, and with late conditions")


main()
