"""`freestone train` as a user runs it: end_to_end.py FREESTONE FOLDER.

What is trained learns; a training that is stopped and resumed gives the same bytes as one that was not; the exported model
opens in ONNX Runtime and computes what the evaluation saw; a compiled step trains the same; a window of tokens may draw
another length in each step; faults of the user get a sentence.
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

CLASSES = 5


def initializer(name, shape, random):
    values = random.normal(scale=1 / np.sqrt(shape[-1] if len(shape) > 1 else 10), size=shape).astype(np.float32)
    return numpy_helper.from_array(values, name)


def save(path, nodes, inputs, outputs, initializers):
    graph = helper.make_graph(nodes, "model", inputs, outputs, initializers)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)


def make_classifier(path):
    """x [n, 12] → Gemm, BatchNormalization, Relu, Dropout, Gemm → logits [n, 5]."""
    random = np.random.default_rng(1)
    weights = [initializer("w1", (16, 12), random), initializer("b1", (16,), random)]
    weights += [numpy_helper.from_array(np.full(16, value, np.float32), name) for name, value in
                (("scale", 1), ("shift", 0), ("mean", 0), ("variance", 1))]
    weights += [initializer("w2", (CLASSES, 16), random), initializer("b2", (CLASSES,), random)]
    weights += [numpy_helper.from_array(np.float32(0.1), "ratio")]
    nodes = [
        helper.make_node("Gemm", ["x", "w1", "b1"], ["h"], transB=1),
        helper.make_node("BatchNormalization", ["h", "scale", "shift", "mean", "variance"], ["n"], momentum=0.9),
        helper.make_node("Relu", ["n"], ["r"]),
        helper.make_node("Dropout", ["r", "ratio"], ["d"]),
        helper.make_node("Gemm", ["d", "w2", "b2"], ["logits"], transB=1),
    ]
    value = helper.make_tensor_value_info
    save(path, nodes, [value("x", TensorProto.FLOAT, ["n", 12])], [value("logits", TensorProto.FLOAT, ["n", CLASSES])], weights)


def make_language_model(path):
    """tokens [b, s] → embedding, tanh, projection → logits [b, s, 8]."""
    random = np.random.default_rng(2)
    weights = [initializer("table", (8, 16), random), initializer("head", (16, 8), random)]
    nodes = [
        helper.make_node("Gather", ["table", "tokens"], ["e"]),
        helper.make_node("Tanh", ["e"], ["t"]),
        helper.make_node("MatMul", ["t", "head"], ["logits"]),
    ]
    value = helper.make_tensor_value_info
    save(path, nodes, [value("tokens", TensorProto.INT64, ["b", "s"])], [value("logits", TensorProto.FLOAT, ["b", "s", 8])], weights)


def make_data(folder):
    random = np.random.default_rng(3)
    x = random.normal(size=(300, 12)).astype(np.float32)
    y = (x @ random.normal(size=(12, CLASSES))).argmax(1)
    np.savez(folder / "train.npz", x=x[:250], y=y[:250])
    np.savez(folder / "test.npz", x=x[250:], y=y[250:])
    np.savez(folder / "wrong.npz", x=x[:250], y=np.where(np.arange(250) == 77, 9, y[:250]))
    np.savez(folder / "short.npz", x=x[:250, :11], y=y[:250])
    text = [0]
    for _ in range(4000):
        text.append((3 * text[-1] + random.integers(0, 2)) % 8)
    np.save(folder / "text.npy", np.array(text, np.int32))


class Tool:
    def __init__(self, path, folder):
        self.path, self.folder = path, folder

    def train(self, model, *options):
        command = [self.path, "train", self.folder / model, *options]
        subprocess.run([str(word) for word in command], cwd=self.folder, check=True, stderr=subprocess.PIPE)

    def error(self, model, *options):
        command = [self.path, "train", self.folder / model, *options]
        result = subprocess.run([str(word) for word in command], cwd=self.folder, capture_output=True, text=True)
        assert result.returncode in (1, 2), result
        return result.stderr

    def losses(self, run):
        lines = (self.folder / run / "metrics.jsonl").read_text().splitlines()
        return [json.loads(line)["loss"] for line in lines]


BASE = ["--labels", "y", "--batch", "64", "--lr", "0.01", "--seed", "5", "--epochs", "100", "--threads", "2"]


def check_resume_and_export(tool):
    data = ["--data", "train.npz", "--eval-data", "test.npz"]
    tool.train("classifier.onnx", *data, *BASE, "--steps", "60", "--out", "whole")
    losses = tool.losses("whole")
    assert len(losses) == 60 and np.mean(losses[-5:]) < 0.5 * losses[0], losses

    tool.train("classifier.onnx", *data, *BASE, "--steps", "23", "--out", "parts")
    tool.train("classifier.onnx", *data, *BASE, "--steps", "60", "--resume", "parts")
    whole, parts = (tool.folder / run / "model.onnx" for run in ("whole", "parts"))
    assert whole.read_bytes() == parts.read_bytes(), "a resumed training gives other bits"
    assert tool.losses("parts") == losses

    tool.train("classifier.onnx", "--compile-only", "-o", "step.stone", "--labels", "y", "--data", "train.npz")
    tool.train("step.stone", *data, *BASE, "--steps", "60", "--out", "compiled")
    assert (tool.folder / "compiled" / "model.onnx").read_bytes() == whole.read_bytes()

    before, after = (onnx.load(path).graph for path in (tool.folder / "classifier.onnx", whole))
    assert before.node == after.node and [t.name for t in before.initializer] == [t.name for t in after.initializer]
    for old, new in zip(before.initializer, after.initializer):
        assert (old == new) == (old.name == "ratio"), f"{old.name} is trained, or is not"
    session = onnxruntime.InferenceSession(str(whole), providers=["CPUExecutionProvider"])
    with np.load(tool.folder / "test.npz") as test:
        logits = session.run(None, {"x": test["x"]})[0].astype(np.float64)
        labels = test["y"]
    log_sum = np.log(np.exp(logits).sum(1))
    loss = (log_sum - logits[np.arange(len(labels)), labels]).mean()
    last = json.loads((tool.folder / "whole" / "evaluations.jsonl").read_text().splitlines()[-1])
    assert abs(last["loss"] - loss) < 1e-5 * abs(loss), (last, loss)
    assert abs(last["accuracy"] - (logits.argmax(1) == labels).mean()) < 1e-9, last


def check_frozen(tool):
    tool.train("classifier.onnx", "--data", "train.npz", *BASE, "--steps", "3", "--freeze", "w1", "--freeze-norm",
               "--no-dropout", "--optimizer", "sgd", "--momentum", "0.9", "--out", "frozen")
    weights = [{t.name: numpy_helper.to_array(t) for t in onnx.load(path).graph.initializer}
               for path in (tool.folder / "classifier.onnx", tool.folder / "frozen" / "model.onnx")]
    same = {name for name in weights[0] if np.array_equal(weights[0][name], weights[1][name])}
    assert same == {"w1", "mean", "variance", "ratio"}, same


def check_tokens(tool):
    tool.train("language.onnx", "--data", "tokens=text.npy", "--window", "4:32", "--batch", "8", "--lr", "0.03",
               "--steps", "60", "--epochs", "100", "--out", "language")
    losses = tool.losses("language")
    assert np.mean(losses[-5:]) < 1.1 < losses[0], losses


def check_counters(tool):
    """One compilation serves all batches and lengths; there is none where the step was compiled before."""
    options = ["--data", "tokens=text.npy", "--window", "4:32", "--batch", "8", "--steps", "40", "--epochs", "100"]
    tool.train("language.onnx", "--compile-only", "-o", "language.stone", "--window", "4:32")
    for run, model, switch, compiles in (("compiled", "language.onnx", ["--no-cache"], 1), ("kept", "language.onnx", [], 0),
                                         ("from-stone", "language.stone", [], 0)):
        tool.train(model, *options, *switch, "--out", f"counters-{run}")
        folder = tool.folder / f"counters-{run}"
        steps = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
        lengths = {round(step["tokens_per_s"] / step["samples_per_s"]) for step in steps}
        counters = json.loads((folder / "counters.json").read_text())
        expected = {"steps": 40, "compiles": compiles, "batch_sizes": 2, "lengths": len(lengths)}
        assert len(lengths) > 10 and {name: counters[name] for name in expected} == expected, counters


def check_evaluations(tool):
    tool.train("classifier.onnx", "--data", "train.npz", "--eval-data", "test.npz", *BASE, "--steps", "11", "--eval-every", "3",
               "--out", "evaluated")
    lines = (tool.folder / "evaluated" / "evaluations.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in lines] == [3, 6, 9, 11], lines


def check_messages(tool):
    def expect(words, *options):
        message = tool.error("classifier.onnx", *options)
        for word in words:
            assert word in message, (word, message)

    expect(["--data"], "--labels", "y")
    expect(["'y'", "77", "9"], "--data", "wrong.npz", *BASE, "--out", "bad")
    expect(["'x'", "12", "11"], "--data", "short.npz", *BASE, "--out", "bad")
    expect(["nothing.*", "no float weight"], "--data", "train.npz", *BASE, "--freeze", "nothing.*", "--out", "bad")
    expect(["no output 'other'", "'logits'"], "--data", "train.npz", *BASE, "--logits", "other", "--out", "bad")
    expect(["'x'", "--labels"], "--data", "train.npz", "--labels", "x", "--out", "bad")
    model = onnx.load(tool.folder / "classifier.onnx")
    model.graph.initializer[0].name = model.graph.node[0].input[1] = "loss_scale"
    onnx.save(model, tool.folder / "taken.onnx")
    message = tool.error("taken.onnx", "--data", "train.npz", *BASE, "--out", "bad")
    assert "'loss_scale'" in message and "rename" in message, message
    expect(["'whole'", "already"], "--data", "train.npz", *BASE, "--out", "whole")
    expect(["seed 5", "not 6"], "--data", "train.npz", *BASE[:6], "--seed", "6", "--resume", "whole")
    expect(["no number 'momentum'", "beta1"], "--data", "train.npz", *BASE, "--momentum", "0.9", "--out", "bad")
    assert "--optimizer" in tool.error("step.stone", "--data", "train.npz", *BASE, "--optimizer", "sgd", "--out", "bad")
    expect(["no parameter", "--train"], "--data", "train.npz", *BASE, "--freeze", "*", "--out", "bad")


def main():
    folder = pathlib.Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    tool = Tool(sys.argv[1], folder)
    make_classifier(folder / "classifier.onnx")
    make_language_model(folder / "language.onnx")
    make_data(folder)
    check_resume_and_export(tool)
    check_frozen(tool)
    check_tokens(tool)
    check_counters(tool)
    check_evaluations(tool)
    check_messages(tool)


main()
