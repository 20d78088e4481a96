"""A loss that the model computes itself: model_loss.py FREESTONE FOLDER.

A graph that ends in ONNX's SoftmaxCrossEntropyLoss trains, through `--loss output:NAME`, as the graph without that node does by
`--loss softmax-cross-entropy`: ignored labels, weights of classes, pictures of labels, accumulation, narrow products, and what
evaluations tell. A label that is no class ends the training in a sentence, in either.
"""

import json
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT32, INT64 = TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64
CLASSES, SAMPLES = 5, 192
value, node = helper.make_tensor_value_info, helper.make_node


def make_models(folder):
    """Each as it is, and with a node of its own for the loss: NAME.onnx and NAME-loss.onnx."""
    random = np.random.default_rng(1)

    def weight(name, *shape):
        return numpy_helper.from_array(random.normal(scale=0.3, size=shape).astype(np.float32), name)

    def save(name, nodes, input, output, weights, labels, also=(), **attributes):
        rank = len(output)
        loss = node("SoftmaxCrossEntropyLoss", ["logits", "y", *(["importance"] if "importance" in also else [])], ["loss"],
                    name="cross-entropy", **attributes)
        importance = [numpy_helper.from_array(IMPORTANCE, "importance")] if "importance" in also else []
        without = helper.make_graph(nodes, "model", [input], [value("logits", FLOAT, output)], weights)
        within = helper.make_graph([*nodes, loss], "model", [input, value("y", labels, [output[0], *output[2:rank]])],
                                   [value("loss", FLOAT, [])], weights + importance)
        for suffix, graph in (("", without), ("-loss", within)):
            model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
            onnx.checker.check_model(model)
            onnx.save(model, folder / f"{name}{suffix}.onnx")

    nodes = [node("Gemm", ["x", "w1", "b1"], ["h"]), node("Relu", ["h"], ["r"]), node("Dropout", ["r", "ratio"], ["d"]),
             node("Gemm", ["d", "w2", "b2"], ["logits"])]
    weights = [weight("w1", 12, 40), weight("b1", 40), weight("w2", 40, CLASSES), weight("b2", CLASSES),
               numpy_helper.from_array(np.float32(0.1), "ratio")]
    x = value("x", FLOAT, ["n", 12])
    save("plain", nodes, x, ["n", CLASSES], weights, INT64)
    save("ignoring", nodes, x, ["n", CLASSES], weights, INT64, ignore_index=-100, reduction="mean")
    save("weighing", nodes, x, ["n", CLASSES], weights, INT32, also=("importance",), ignore_index=-100)
    save("pictures", [node("Conv", ["x", "k"], ["logits"], pads=[1, 1, 1, 1])], value("x", FLOAT, ["n", 2, "h", "w"]),
         ["n", CLASSES, "h", "w"], [weight("k", CLASSES, 2, 3, 3)], INT64, ignore_index=-100)


IMPORTANCE = np.array([1, 2, 0.5, 0.1, 3], np.float32)


def make_data(folder):
    random = np.random.default_rng(3)
    x = random.normal(size=(SAMPLES, 12)).astype(np.float32)
    y = (x @ random.normal(size=(12, CLASSES))).argmax(1)
    ignored = np.where(np.arange(SAMPLES) % 7 == 3, -100, y)
    np.savez(folder / "all.npz", x=x, y=y)
    np.savez(folder / "some.npz", x=x, y=ignored)
    np.savez(folder / "narrow.npz", x=x, y=ignored.astype(np.int32))
    images = random.normal(size=(SAMPLES, 2, 6, 7)).astype(np.float32)
    classes = random.integers(0, CLASSES, (SAMPLES, 6, 7))
    np.savez(folder / "images.npz", x=images, y=np.where(random.random(classes.shape) < 0.2, -100, classes))
    for label in WRONG:
        np.savez(folder / f"wrong{label}.npz", x=x, y=np.where(np.arange(SAMPLES) == 77, label, ignored))


WRONG = (CLASSES, -1, -CLASSES, -101, 2**40)


class Tool:
    def __init__(self, path, folder):
        self.path, self.folder = path, folder

    def call(self, model, run, data, *options):
        shutil.rmtree(self.folder / run, ignore_errors=True)
        loss = ["--loss", "output:loss"] if "-loss" in model else ["--loss", "softmax-cross-entropy", "--labels", "y"]
        command = [self.path, "train", model, "--data", data, "--batch", "32", "--seed", "3", "--epochs", "100", "--threads", "2",
                   "--lr", "0.01", "--steps", "30", "--out", run, *loss, *options]
        return subprocess.run([str(word) for word in command], cwd=self.folder, capture_output=True, text=True)

    def train(self, model, run, data, *options):
        result = self.call(f"{model}.onnx", run, data, *options)
        assert result.returncode == 0, result.stderr
        return np.array([[step["loss"], step["grad_norm"]] for step in self.lines(run, "metrics")])

    def lines(self, run, name):
        return [json.loads(line) for line in (self.folder / run / f"{name}.jsonl").read_text().splitlines()]

    def weights(self, run):
        return {t.name: numpy_helper.to_array(t) for t in onnx.load(self.folder / run / "model.onnx").graph.initializer}


def check_same(tool):
    # Steps of equal batches: a loss that the model computes is one number of each.
    importance = ["--class-weights", "importance.npy"]
    np.save(tool.folder / "importance.npy", IMPORTANCE)
    for model, data, built_in, options in (
            ("plain", "all.npz", [], []), ("ignoring", "some.npz", [], []), ("ignoring", "some.npz", [], ["--precision", "bf16"]),
            ("weighing", "narrow.npz", importance, []), ("pictures", "images.npz", [], []),
            ("plain", "all.npz", [], ["--accumulate", "3"])):
        expected = tool.train(model, "expected", data, *built_in, *options)
        given = tool.train(f"{model}-loss", "given", data, *options)
        assert len(expected) == 30 and expected[-1, 0] < expected[0, 0], (model, expected)
        np.testing.assert_allclose(given, expected, rtol=1e-5 if "bf16" not in options else 1e-3, err_msg=f"{model} {options}")
        if "bf16" in options:
            continue
        there, here = tool.weights("expected"), tool.weights("given")
        for name in there:
            assert np.abs(there[name] - here[name]).max() <= 2e-5 * np.abs(there[name]).max(), (model, options, name)


def check_evaluation(tool):
    """Also what ONNX Runtime makes of the exported model, which takes the labels as well; nothing is dropped."""
    options = ["--eval-data", "all.npz"]
    tool.train("plain", "expected", "all.npz", *options)
    tool.train("plain-loss", "given", "all.npz", *options)
    expected, given = (tool.lines(run, "evaluations")[-1]["loss"] for run in ("expected", "given"))
    assert abs(given / expected - 1) < 1e-5, (given, expected)
    with np.load(tool.folder / "all.npz") as data:
        session = onnxruntime.InferenceSession(str(tool.folder / "given/model.onnx"), providers=["CPUExecutionProvider"])
        assert abs(session.run(None, dict(data))[0] / given - 1) < 1e-5


def check_accumulation(tool):
    """Of batches that count differently, a mean of means is another number than the mean: the first step tells."""
    options = ["--accumulate", "3", "--no-shuffle", "--no-dropout"]
    expected = tool.train("ignoring", "expected", "some.npz", *options)[0, 0]
    given = tool.train("ignoring-loss", "given", "some.npz", *options)[0, 0]
    with np.load(tool.folder / "some.npz") as data:
        model = onnxruntime.InferenceSession(str(tool.folder / "ignoring-loss.onnx"), providers=["CPUExecutionProvider"])
        losses, counts = zip(*((float(model.run(None, {"x": data["x"][at:at + 32], "y": data["y"][at:at + 32]})[0]),
                                (data["y"][at:at + 32] != -100).sum()) for at in (0, 32, 64)))
    assert abs(given / np.mean(losses) - 1) < 1e-5, (given, losses)
    assert abs(expected / np.average(losses, weights=counts) - 1) < 1e-5, (expected, losses)


def check_wrong_labels(tool):
    for label in WRONG:
        result = tool.call("ignoring.onnx", "wrong", f"wrong{label}.npz")
        assert result.returncode == 1 and "'y', sample 77" in result.stderr and str(label) in result.stderr, (label, result)
        result = tool.call("ignoring-loss.onnx", "wrong", f"wrong{label}.npz")
        assert result.returncode == 1, f"label {label} is taken: {result.stderr}"
        assert "step " in result.stderr and "'cross-entropy'" in result.stderr and "index is outside" in result.stderr, result
        result = tool.call("ignoring-loss.onnx", "wrong", "some.npz", "--eval-data", f"wrong{label}.npz")
        assert result.returncode == 1 and "'cross-entropy'" in result.stderr, (label, result)
        assert not (tool.folder / "wrong/model.onnx").exists()
    # -100 is a class of no model that does not ignore it.
    result = tool.call("plain-loss.onnx", "wrong", "some.npz")
    assert result.returncode == 1 and "'cross-entropy'" in result.stderr, result


def main():
    folder = pathlib.Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    make_models(folder)
    make_data(folder)
    tool = Tool(sys.argv[1], folder)
    check_same(tool)
    check_evaluation(tool)
    check_accumulation(tool)
    check_wrong_labels(tool)


main()
