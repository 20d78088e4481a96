"""What an evaluation on a text tells: evaluation.py FREESTONE FOLDER.

Windows of the longest length lie side by side and a short one ends the text, whatever lengths are drawn for training: each
token but the first counts once, and the size of a batch changes the loss by rounding alone.
"""

import json
import math
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

KINDS, LONGEST = 9, 24


def make_model(path):
    """tokens [b, s] → table, plus the mean over the window so that its bounds matter, projection → logits [b, s, 9]."""
    generator = np.random.default_rng(1)
    weights = {name: generator.normal(size=shape).astype(np.float32) for name, shape in (("table", (KINDS, 16)), ("head", (16, KINDS)))}
    nodes = [helper.make_node("Gather", ["table", "tokens"], ["e"]), helper.make_node("ReduceMean", ["e", "axes"], ["m"]),
             helper.make_node("Add", ["e", "m"], ["a"]), helper.make_node("MatMul", ["a", "head"], ["logits"])]
    initializers = [numpy_helper.from_array(array, name) for name, array in weights.items()]
    initializers.append(numpy_helper.from_array(np.array([1], np.int64), "axes"))
    value = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "model", [value("tokens", TensorProto.INT64, ["b", "s"])],
                              [value("logits", TensorProto.FLOAT, ["b", "s", KINDS])], initializers)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)
    return weights


def expect(weights, text):
    """The mean loss, and the share of tokens that were predicted."""
    table, head = (weights[name].astype(np.float64) for name in ("table", "head"))
    losses, right = [], []
    for begin in range(0, len(text) - 1, LONGEST):
        tokens = text[begin:begin + LONGEST + 1]
        embedded = table[tokens[:-1]]
        logits = (embedded + embedded.mean(0)) @ head
        losses.extend(np.log(np.exp(logits).sum(1)) - logits[np.arange(len(logits)), tokens[1:]])
        right.extend(logits.argmax(1) == tokens[1:])
    assert len(losses) == len(text) - 1
    return np.mean(losses), np.mean(right)


def main():
    freestone, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    weights = make_model(folder / "model.onnx")
    texts = np.random.default_rng(2).integers(0, KINDS, 4000)
    np.save(folder / "text.npy", texts[:2500])
    for size in (1000, LONGEST * 10 + 1, LONGEST * 10 + 2, LONGEST + 1):
        np.save(folder / f"held{size}.npy", texts[-size:])
        loss, accuracy = expect(weights, texts[-size:])
        for batch in (1, 7, 64):
            run = f"run{size}-{batch}"
            command = [freestone, "train", "model.onnx", "--data", "text.npy", "--eval-data", f"held{size}.npy", "--window", f"4:{LONGEST}",
                       "--batch", batch, "--steps", 1, "--lr", 0, "--weight-decay", 0, "--seed", batch, "--out", run]
            subprocess.run([str(word) for word in command], cwd=folder, check=True, stderr=subprocess.PIPE)
            told = json.loads((folder / run / "evaluations.jsonl").read_text())
            assert math.isclose(told["loss"], loss, rel_tol=1e-5), (run, told, loss)
            assert math.isclose(told["accuracy"], accuracy, rel_tol=1e-9), (run, told, accuracy)
            assert math.isclose(told["perplexity"], math.exp(told["loss"]), rel_tol=1e-12), (run, told)


main()
