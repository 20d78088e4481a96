"""`freestone train` as a user runs it: end_to_end.py FREESTONE FOLDER.

What is trained learns; a training that is stopped and resumed gives the same bytes as one that was not; the exported model
opens in ONNX Runtime and computes what the evaluation saw; a compiled step trains the same; a window of tokens may draw
another length in each step; faults of the user get a sentence.
"""

import sys

import numpy as np
import onnx
import onnxruntime

from command import Command
from graphs import FLOAT, INT64, constant, draw, fan_in, node, normalization, save, tensors

CLASSES = 5


def make_classifier(path):
    """x f32[n, 12] → Gemm, BatchNormalization, Relu, Dropout, Gemm → logits f32[n, 5]."""
    random = np.random.default_rng(1)
    save(path,
         [node("Gemm", ["x", "w1", "b1"], ["h"], transB=1),
          node("BatchNormalization", ["h", "scale", "shift", "mean", "variance"], ["n"], momentum=0.9),
          node("Relu", ["n"], ["r"]), node("Dropout", ["r", "ratio"], ["d"]),
          node("Gemm", ["d", "w2", "b2"], ["logits"], transB=1)],
         [("x", FLOAT, ["n", 12])], [("logits", FLOAT, ["n", CLASSES])],
         [*draw(random, {"w1": (16, 12), "b1": (16,)}, fan_in), *normalization(16),
          *draw(random, {"w2": (CLASSES, 16), "b2": (CLASSES,)}, fan_in), constant("ratio", 0.1)])


def make_language_model(path):
    """tokens i64[b, s] → embedding, tanh, projection → logits f32[b, s, 8]."""
    save(path,
         [node("Gather", ["table", "tokens"], ["e"]), node("Tanh", ["e"], ["t"]), node("MatMul", ["t", "head"], ["logits"])],
         [("tokens", INT64, ["b", "s"])], [("logits", FLOAT, ["b", "s", 8])],
         draw(2, {"table": (8, 16), "head": (16, 8)}, fan_in))


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


BASE = ["--labels", "y", "--batch", "64", "--lr", "0.01", "--seed", "5", "--epochs", "100", "--threads", "2"]


def check_resume_and_export(tool):
    data = ["--data", "train.npz", "--eval-data", "test.npz"]
    tool.train("classifier.onnx", *data, *BASE, "--steps", "60", "--out", "whole")
    losses = tool.metrics("whole")
    assert len(losses) == 60 and np.mean(losses[-5:]) < 0.5 * losses[0], losses

    tool.train("classifier.onnx", *data, *BASE, "--steps", "23", "--out", "parts")
    tool.train("classifier.onnx", *data, *BASE, "--steps", "60", "--resume", "parts")
    assert tool.model("parts") == tool.model("whole"), "a resumed training gives other bits"
    assert tool.metrics("parts") == losses

    tool.train("classifier.onnx", "--compile-only", "-o", "step.stone", "--labels", "y", "--data", "train.npz")
    tool.train("step.stone", *data, *BASE, "--steps", "60", "--out", "compiled")
    assert tool.model("compiled") == tool.model("whole")

    whole = tool.folder / "whole/model.onnx"
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
    last = tool.lines("whole", "evaluations")[-1]
    assert abs(last["loss"] - loss) < 1e-5 * abs(loss), (last, loss)
    assert abs(last["accuracy"] - (logits.argmax(1) == labels).mean()) < 1e-9, last


def check_frozen(tool):
    tool.train("classifier.onnx", "--data", "train.npz", *BASE, "--steps", "3", "--freeze", "w1", "--freeze-norm",
               "--no-dropout", "--optimizer", "sgd", "--momentum", "0.9", "--out", "frozen")
    before, after = (tensors(tool.folder / path) for path in ("classifier.onnx", "frozen/model.onnx"))
    same = {name for name in before if np.array_equal(before[name], after[name])}
    assert same == {"w1", "mean", "variance", "ratio"}, same


def check_tokens(tool):
    tool.train("language.onnx", "--data", "tokens=text.npy", "--window", "4:32", "--batch", "8", "--lr", "0.03",
               "--steps", "60", "--epochs", "100", "--out", "language")
    losses = tool.metrics("language")
    assert np.mean(losses[-5:]) < 1.1 < losses[0], losses


def check_counters(tool):
    """One compilation serves all batches and lengths; there is none where the step was compiled before."""
    options = ["--data", "tokens=text.npy", "--window", "4:32", "--batch", "8", "--steps", "40", "--epochs", "100"]
    tool.train("language.onnx", "--compile-only", "-o", "language.stone", "--window", "4:32")
    for run, model, switch, compiles in (("compiled", "language.onnx", ["--no-cache"], 1), ("kept", "language.onnx", [], 0),
                                         ("from-stone", "language.stone", [], 0)):
        tool.train(model, *options, *switch, "--out", f"counters-{run}")
        lengths = {round(step["tokens_per_s"] / step["samples_per_s"]) for step in tool.lines(f"counters-{run}")}
        assert len(lengths) > 10, lengths
        tool.expect_counters(f"counters-{run}", steps=40, compiles=compiles, batch_sizes=2, lengths=len(lengths))


def check_evaluations(tool):
    tool.train("classifier.onnx", "--data", "train.npz", "--eval-data", "test.npz", *BASE, "--steps", "11", "--eval-every",
               "3", "--out", "evaluated")
    steps = [line["step"] for line in tool.lines("evaluated", "evaluations")]
    assert steps == [3, 6, 9, 11], steps


def check_messages(tool):
    def expect(parts, *options):
        tool.refuse(parts, "classifier.onnx", *options)

    expect(["--data"], "--labels", "y")
    expect(["'y'", "77", "9"], "--data", "wrong.npz", *BASE, "--out", "bad")
    expect(["'x'", "12", "11"], "--data", "short.npz", *BASE, "--out", "bad")
    expect(["nothing.*", "no float weight"], "--data", "train.npz", *BASE, "--freeze", "nothing.*", "--out", "bad")
    expect(["no output 'other'", "'logits'"], "--data", "train.npz", *BASE, "--logits", "other", "--out", "bad")
    expect(["'x'", "--labels"], "--data", "train.npz", "--labels", "x", "--out", "bad")
    model = onnx.load(tool.folder / "classifier.onnx")
    model.graph.initializer[0].name = model.graph.node[0].input[1] = "loss_scale"
    onnx.save(model, tool.folder / "taken.onnx")
    tool.refuse(["'loss_scale'", "rename"], "taken.onnx", "--data", "train.npz", *BASE, "--out", "bad")
    expect(["'whole'", "already"], "--data", "train.npz", *BASE, "--out", "whole")
    expect(["seed 5", "not 6"], "--data", "train.npz", *BASE[:6], "--seed", "6", "--resume", "whole")
    expect(["no number 'momentum'", "beta1"], "--data", "train.npz", *BASE, "--momentum", "0.9", "--out", "bad")
    tool.refuse(["--optimizer"], "step.stone", "--data", "train.npz", *BASE, "--optimizer", "sgd", "--out", "bad")
    expect(["no parameter", "--train"], "--data", "train.npz", *BASE, "--freeze", "*", "--out", "bad")


def main():
    tool = Command(*sys.argv[1:])
    make_classifier(tool.folder / "classifier.onnx")
    make_language_model(tool.folder / "language.onnx")
    make_data(tool.folder)
    check_resume_and_export(tool)
    check_frozen(tool)
    check_tokens(tool)
    check_counters(tool)
    check_evaluations(tool)
    check_messages(tool)


main()
