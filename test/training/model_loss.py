"""A loss that the model computes itself: model_loss.py FREESTONE FOLDER.

A graph that ends in ONNX's SoftmaxCrossEntropyLoss trains, through `--loss output:NAME`, as the graph without that node does
by `--loss softmax-cross-entropy`: ignored labels, weights of classes, pictures of labels, accumulation, narrow products, and
what evaluations tell. A label that is no class ends the training in a sentence, in either.
"""

import sys

import numpy as np
import onnxruntime

from command import Command
from graphs import FLOAT, INT32, INT64, constant, draw, node, save

CLASSES, SAMPLES = 5, 192


def make_models(folder):
    """Each as it is, and with a node of its own for the loss: NAME.onnx and NAME-loss.onnx."""
    random = np.random.default_rng(1)

    def save_both(name, nodes, x, sizes, weights, labels, importance=(), **attributes):
        """Logits have a dimension of classes between the first and the other `sizes`, which are those of the labels."""
        save(folder / f"{name}.onnx", nodes, [x], [("logits", FLOAT, [sizes[0], CLASSES, *sizes[1:]])], weights)
        loss = node("SoftmaxCrossEntropyLoss", ["logits", "y", *(tensor.name for tensor in importance)], ["loss"],
                    name="cross-entropy", **attributes)
        save(folder / f"{name}-loss.onnx", [*nodes, loss], [x, ("y", labels, sizes)], [("loss", FLOAT, [])],
             [*weights, *importance])

    nodes = [node("Gemm", ["x", "w1", "b1"], ["h"]), node("Relu", ["h"], ["r"]), node("Dropout", ["r", "ratio"], ["d"]),
             node("Gemm", ["d", "w2", "b2"], ["logits"])]
    weights = draw(random, {"w1": (12, 40), "b1": (40,), "w2": (40, CLASSES), "b2": (CLASSES,)}) + [constant("ratio", 0.1)]
    x = ("x", FLOAT, ["n", 12])
    save_both("plain", nodes, x, ["n"], weights, INT64)
    save_both("ignoring", nodes, x, ["n"], weights, INT64, ignore_index=-100, reduction="mean")
    save_both("weighing", nodes, x, ["n"], weights, INT32, [constant("importance", IMPORTANCE)], ignore_index=-100)
    save_both("pictures", [node("Conv", ["x", "k"], ["logits"], pads=[1, 1, 1, 1])], ("x", FLOAT, ["n", 2, "h", "w"]),
              ["n", "h", "w"], draw(random, {"k": (CLASSES, 2, 3, 3)}), INT64, ignore_index=-100)


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


def words(model, run, data, *options):
    """Those of a training's command."""
    loss = ["--loss", "output:loss"] if "-loss" in model else ["--loss", "softmax-cross-entropy", "--labels", "y"]
    return [f"{model}.onnx", "--data", data, "--batch", 32, "--seed", 3, "--epochs", 100, "--threads", 2, "--lr", 0.01,
            "--steps", 30, "--out", run, *loss, *options]


def train(tool, model, run, data, *options):
    """Loss and norm of the gradient of each step: f64[steps, 2]."""
    tool.remove(run)
    tool.train(*words(model, run, data, *options))
    return np.transpose([tool.metrics(run, key) for key in ("loss", "grad_norm")])


def check_same(tool):
    # Steps of equal batches: a loss that the model computes is one number of each.
    importance = ["--class-weights", "importance.npy"]
    np.save(tool.folder / "importance.npy", IMPORTANCE)
    for model, data, built_in, options in (
            ("plain", "all.npz", [], []), ("ignoring", "some.npz", [], []),
            ("ignoring", "some.npz", [], ["--precision", "bf16"]),
            ("weighing", "narrow.npz", importance, []), ("pictures", "images.npz", [], []),
            ("plain", "all.npz", [], ["--accumulate", "3"])):
        expected = train(tool, model, "expected", data, *built_in, *options)
        given = train(tool, f"{model}-loss", "given", data, *options)
        assert len(expected) == 30 and expected[-1, 0] < expected[0, 0], (model, expected)
        tolerance = 1e-3 if "bf16" in options else 1e-5
        np.testing.assert_allclose(given, expected, rtol=tolerance, err_msg=f"{model} {options}")
        if "bf16" in options:
            continue
        there, here = (tool.weights(run) for run in ("expected", "given"))
        for name in there:
            assert np.abs(there[name] - here[name]).max() <= 2e-5 * np.abs(there[name]).max(), (model, options, name)


def check_evaluation(tool):
    """Also what ONNX Runtime makes of the exported model, which takes the labels as well; nothing is dropped."""
    options = ["--eval-data", "all.npz"]
    train(tool, "plain", "expected", "all.npz", *options)
    train(tool, "plain-loss", "given", "all.npz", *options)
    expected, given = (tool.lines(run, "evaluations")[-1]["loss"] for run in ("expected", "given"))
    assert abs(given / expected - 1) < 1e-5, (given, expected)
    with np.load(tool.folder / "all.npz") as data:
        session = onnxruntime.InferenceSession(str(tool.folder / "given/model.onnx"), providers=["CPUExecutionProvider"])
        assert abs(session.run(None, dict(data))[0] / given - 1) < 1e-5


def check_accumulation(tool):
    """Of batches that count differently, a mean of means is another number than the mean: the first step tells."""
    options = ["--accumulate", "3", "--no-shuffle", "--no-dropout"]
    expected = train(tool, "ignoring", "expected", "some.npz", *options)[0, 0]
    given = train(tool, "ignoring-loss", "given", "some.npz", *options)[0, 0]
    with np.load(tool.folder / "some.npz") as data:
        model = onnxruntime.InferenceSession(str(tool.folder / "ignoring-loss.onnx"), providers=["CPUExecutionProvider"])
        losses, counts = zip(*((float(model.run(None, {"x": data["x"][at:at + 32], "y": data["y"][at:at + 32]})[0]),
                                (data["y"][at:at + 32] != -100).sum()) for at in (0, 32, 64)))
    assert abs(given / np.mean(losses) - 1) < 1e-5, (given, losses)
    assert abs(expected / np.average(losses, weights=counts) - 1) < 1e-5, (expected, losses)


def check_wrong_labels(tool):
    def refuse(parts, model, data, *options):
        tool.remove("wrong")
        tool.refuse(parts, *words(model, "wrong", data, *options), codes=[1])

    for label in WRONG:
        refuse(["'y', sample 77", str(label)], "ignoring", f"wrong{label}.npz")
        refuse(["step ", "'cross-entropy'", "index is outside"], "ignoring-loss", f"wrong{label}.npz")
        refuse(["'cross-entropy'"], "ignoring-loss", "some.npz", "--eval-data", f"wrong{label}.npz")
        assert not (tool.folder / "wrong/model.onnx").exists()
    # -100 is a class of no model that does not ignore it.
    refuse(["'cross-entropy'"], "plain-loss", "some.npz")


def main():
    tool = Command(*sys.argv[1:])
    make_models(tool.folder)
    make_data(tool.folder)
    check_same(tool)
    check_evaluation(tool)
    check_accumulation(tool)
    check_wrong_labels(tool)


main()
