"""What is trained and what is tied, as a user sees it: what_is_trained.py FREESTONE FOLDER.

The lines of `--plan` and at the start; the exported model, whose nodes got initializers of their own, computes in ONNX
Runtime what the command computes; and what is tied stays so.
"""

import sys

import numpy as np
import onnx
import onnxruntime

from command import Command
from graphs import FLOAT, constant, draw, node, save, tensors

WIDTH = 6
DATA = ("--data", "data.npz", "--labels", "t", "--loss", "mse", "--batch", 8, "--no-shuffle", "--threads", 1)


def write_norms(path, **options):
    """Two normalizations of one scale and one shift, between them a product and its gate, a mask and a single number."""
    random = np.random.default_rng(2)
    mask = np.where(np.arange(WIDTH) == 2, -1e9, 0)
    save(path,
         [node("LayerNormalization", ["x", "scale", "shift"], ["a"], name="first"),
          node("MatMul", ["a", "layer.w"], ["b"]), node("Tanh", ["layer.gate"], ["g"]), node("Mul", ["b", "g"], ["c"]),
          node("Mul", ["c", "layer.factor"], ["d"]), node("Add", ["d", "mask"], ["e"]), node("Softmax", ["e"], ["f"]),
          node("LayerNormalization", ["f", "scale", "shift"], ["h"], name="second"),
          node("MatMul", ["h", "layer.w"], ["k"]), node("Max", ["k", "limit"], ["l"]), node("Add", ["l", "val_9"], ["y"])],
         [("x", FLOAT, ["n", WIDTH])], [("y", FLOAT, ["n", WIDTH])],
         [*draw(random, {"layer.w": (WIDTH, WIDTH), "layer.gate": (WIDTH,), "limit": (WIDTH,), "val_9": (WIDTH,)}),
          constant("scale", np.ones(WIDTH)), constant("shift", np.zeros(WIDTH)), constant("mask", mask),
          constant("layer.factor", 2)], **options)


def plan_of(tool, model, *options):
    """Name → what the plan says of it."""
    lines = tool.train(model, *DATA, *options, "--plan").stdout.splitlines()
    return {line.split()[0]: " ".join(line.split()[2:]) for line in lines if "trained  " in line or "kept  " in line}


def check_plan(tool):
    plan = plan_of(tool, "norms.onnx")
    assert plan == {
        "scale": "trained scale", "shift": "trained bias",
        "second.weight": "trained scale; untied from 'scale'", "second.bias": "trained bias; untied from 'shift'",
        "layer.w": "trained factor of a contraction; tied, taken by 'b', 'k': only vectors are untied by themselves",
        "layer.gate": "trained reaches the loss by 'g'", "limit": "trained reaches the loss by 'l'",
        "layer.factor": "kept a single number", "mask": "kept a mask", "val_9": "kept computed by the exporter"}, plan
    plan = plan_of(tool, "norms.onnx", "--tie", "s*", "--untie", "*.w", "--train", "val_9", "layer.factor")
    assert plan["scale"] == "trained scale; tied, taken by 'first', 'second': tied by 's*'", plan
    assert "second.weight" not in plan and plan["val_9"] == "trained chosen by 'val_9'", plan
    assert plan["layer.factor"] == "trained chosen by 'layer.factor'", plan
    assert plan["k.w"] == "trained factor of a contraction; untied from 'layer.w'", plan
    for option in ("--tie", "--untie"):
        tool.refuse(["'head.*' matches no float weight"], "norms.onnx", *DATA, option, "head.*", "--plan")


def check_export(tool, model):
    run = f"{model}.run"
    tool.remove(run)
    told = tool.train(model, *DATA, "--epochs", 3, "--out", run).stderr
    for kept in ("not trained (a mask): 'mask'; to train it: --train 'mask'",
                 "not trained (a single number): 'layer.factor'; to train it: --train 'layer.factor'",
                 "not trained (computed by the exporter): 'val_9'; to train it: --train 'val_9'"):
        assert told.count(kept) == 1, told
    before, after = tensors(tool.folder / model), tool.weights(run)
    assert set(after) == {*before, "second.weight", "second.bias"}, set(after)
    for name in ("mask", "layer.factor", "val_9"):
        assert np.array_equal(before[name], after[name]), name
    for name in ("scale", "shift", "layer.w", "layer.gate", "limit"):
        assert not np.array_equal(before[name], after[name]), name
    assert np.abs(after["scale"] - after["second.weight"]).max() > 1e-4
    assert np.abs(after["shift"] - after["second.bias"]).max() > 1e-4
    path = tool.folder / run / "model.onnx"
    onnx.checker.check_model(path, full_check=True)
    x = np.load(tool.folder / "data.npz")["x"][:5]
    expected, = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, {"x": x})
    np.save(tool.folder / "x.npy", x)
    tool.run("run", f"{run}/model.stone", "--input", "x=x.npy", "--output", "y=y.npy")
    np.testing.assert_allclose(np.load(tool.folder / "y.npy"), expected, rtol=1e-5, atol=1e-6)
    # The exported model trains on as it is: what was untied has initializers now.
    plan = plan_of(tool, f"{run}/model.onnx")
    assert plan["second.weight"] == "trained scale" and plan["scale"] == "trained scale", plan


def check_transposed_copy(tool):
    """A table and the matrix that an exporter has made of it are one parameter, in the exported model too."""
    words = np.random.default_rng(4).normal(size=(9, 4)).astype(np.float32)
    save(tool.folder / "tied.onnx", [node("Gather", ["words", "i"], ["a"]), node("MatMul", ["a", "val_3"], ["y"])],
         [("i", onnx.TensorProto.INT64, ["n", 5])], [("y", FLOAT, ["n", 5, 9])],
         [constant("words", words), constant("val_3", words.T)])
    i = np.random.default_rng(5).integers(0, 9, size=(16, 5))
    np.savez(tool.folder / "words.npz", i=i, t=(i + 1) % 9)
    told = tool.train("tied.onnx", "--data", "words.npz", "--labels", "t", "--batch", 8, "--lr", 0.01, "--out", "tied.run")
    assert "not trained" not in told.stderr, told.stderr
    after = tool.weights("tied.run")
    assert not np.array_equal(after["words"], words) and np.array_equal(after["words"].T, after["val_3"])
    tool.train("tied.onnx", "--data", "words.npz", "--labels", "t", "--batch", 8, "--lr", 0.01, "--out", "untied.run",
               "--untie", "val_3")
    after = tool.weights("untied.run")
    assert np.abs(after["words"].T - after["val_3"]).max() > 1e-3


def main():
    tool = Command(*sys.argv[1:])
    random = np.random.default_rng(1)
    x = random.normal(size=(32, WIDTH)).astype(np.float32)
    np.savez(tool.folder / "data.npz", x=x, t=np.roll(x, 1, axis=1))
    write_norms(tool.folder / "norms.onnx")
    check_plan(tool)
    check_export(tool, "norms.onnx")
    check_transposed_copy(tool)


main()
