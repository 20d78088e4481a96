"""A loss and an optimizer as ONNX graphs of the user's: own_graphs.py FREESTONE FOLDER.

Graphs of what is built in train as what is built in: cross entropy and AdamW, elementwise and by norms, with accumulation,
groups and resuming. A loss may take inputs of the model, and weights of its own. What does not fit is told by names.
"""

import json
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64, DOUBLE = TensorProto.FLOAT, TensorProto.INT64, TensorProto.DOUBLE
value, node = helper.make_tensor_value_info, helper.make_node


def save(path, nodes, inputs, outputs, initializers=()):
    graph = helper.make_graph(nodes, "graph", [value(*i) for i in inputs], [value(*o) for o in outputs], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    onnx.checker.check_model(model)
    onnx.save(model, path)


def make_models(folder):
    random = np.random.default_rng(1)

    def weight(name, *shape):
        return numpy_helper.from_array(random.normal(scale=0.3, size=shape).astype(np.float32), name)

    save(folder / "classifier.onnx",
         [node("Gemm", ["x", "w1", "b1"], ["h"]), node("Relu", ["h"], ["r"]), node("Gemm", ["r", "w2", "b2"], ["logits"])],
         [("x", FLOAT, ["batch", 12])], [("logits", FLOAT, ["batch", 5])],
         [weight("w1", 12, 40), weight("b1", 40), weight("w2", 40, 5), weight("b2", 5)])
    save(folder / "autoencoder.onnx", [node("MatMul", ["x", "down"], ["h"]), node("MatMul", ["h", "up"], ["image"])],
         [("x", FLOAT, ["batch", 12])], [("image", FLOAT, ["batch", 12])], [weight("down", 12, 6), weight("up", 6, 12)])
    x = random.normal(size=(200, 12)).astype(np.float32)
    y = (x @ random.normal(size=(12, 5))).argmax(1)
    np.savez(folder / "data.npz", x=x, y=np.where(np.arange(200) % 7 == 3, -100, y))
    np.savez(folder / "x.npz", x=x)


def make_losses(folder):
    """Its sizes have other names than the model's."""
    scores, labels = ("scores", FLOAT, ["N", "C"]), ("y", INT64, ["N"])
    attributes = dict(reduction="mean", ignore_index=-100)
    save(folder / "mean.onnx", [node("SoftmaxCrossEntropyLoss", ["scores", "y"], ["loss"], **attributes)],
         [scores, labels], [("loss", FLOAT, [])])
    save(folder / "counted.onnx",
         [node("SoftmaxCrossEntropyLoss", ["scores", "y"], ["sum"], reduction="sum", ignore_index=-100),
          node("Equal", ["y", "none"], ["ignored"]), node("Not", ["ignored"], ["counts"]),
          node("Cast", ["counts"], ["ones"], to=FLOAT), node("ReduceSum", ["ones"], ["count"], keepdims=0)],
         [scores, labels], [("sum", FLOAT, []), ("count", FLOAT, [])],
         [numpy_helper.from_array(np.int64(-100), "none")])
    save(folder / "reconstruction.onnx",
         [node("Sub", ["image", "x"], ["d"]), node("Mul", ["d", "importance"], ["e"]), node("Mul", ["e", "d"], ["s"]),
          node("ReduceMean", ["s"], ["loss"], keepdims=0)],
         [("image", FLOAT, ["n", 12]), ("x", FLOAT, ["n", 12])], [("loss", FLOAT, [])],
         [numpy_helper.from_array(np.ones(12, np.float32), "importance")])
    save(folder / "vector.onnx", [node("Abs", ["scores"], ["loss"])], [scores], [("loss", FLOAT, ["N", "C"])])
    save(folder / "narrow.onnx", [node("SoftmaxCrossEntropyLoss", ["logits", "y"], ["loss"])],
         [("logits", FLOAT, ["N", 7]), labels], [("loss", FLOAT, [])])


def make_optimizers(folder):
    def constant(name, number, type=np.float64):
        return numpy_helper.from_array(type(number), name)

    tensors = ["parameter", "gradient", "state/m", "state/v"]

    def adamw(path, numbers, extra=(), outputs=("parameter_new", "state/m_new", "state/v_new"), sizes=("n",)):
        """With corrections in double, as the built-in one."""
        nodes = [node("Cast", ["step"], ["t"], to=DOUBLE),
                 node("Pow", ["beta1", "t"], ["p1"]), node("Sub", ["one", "p1"], ["c1"]),
                 node("Pow", ["beta2", "t"], ["p2"]), node("Sub", ["one", "p2"], ["c2"]),
                 node("Sub", ["one", "beta1"], ["r1"]), node("Cast", ["r1"], ["r1f"], to=FLOAT),
                 node("Sub", ["one", "beta2"], ["r2"]), node("Cast", ["r2"], ["r2f"], to=FLOAT),
                 node("Cast", ["beta2"], ["b2f"], to=FLOAT),
                 node("Sub", ["gradient", "state/m"], ["d"]), node("Mul", ["d", "r1f"], ["dm"]),
                 node("Add", ["state/m", "dm"], ["state/m_new"]),
                 node("Mul", ["gradient", "gradient"], ["g2"]), node("Mul", ["g2", "r2f"], ["gv"]),
                 node("Mul", ["state/v", "b2f"], ["vv"]), node("Add", ["vv", "gv"], ["state/v_new"]),
                 node("Sqrt", ["c2"], ["sc2"]), node("Cast", ["sc2"], ["sc2f"], to=FLOAT),
                 node("Sqrt", ["state/v_new"], ["sv"]), node("Div", ["sv", "sc2f"], ["root"]),
                 node("Add", ["root", "eps"], ["den"]), node("Div", ["learning_rate", "c1"], ["rate"]),
                 node("Cast", ["rate"], ["ratef"], to=FLOAT), node("Div", ["state/m_new", "den"], ["q"]),
                 node("Mul", ["q", "ratef"], ["u"]), node("Mul", ["learning_rate", "weight_decay"], ["wd"]),
                 node("Sub", ["one", "wd"], ["keep"]), node("Cast", ["keep"], ["keepf"], to=FLOAT),
                 node("Mul", ["parameter", "keepf"], ["p"]), node("Sub", ["p", "u"], ["parameter_new"]), *extra]
        save(path, nodes,
             [(name, FLOAT, sizes) for name in tensors] + [("learning_rate", DOUBLE, []), ("step", INT64, [])] +
             [(name, DOUBLE, []) for name in numbers], [(name, FLOAT, sizes) for name in outputs],
             [constant("one", 1), constant("eps", 1e-8, np.float32)] +
             [constant(name, number) for name, number in (("beta1", 0.9), ("beta2", 0.999), ("weight_decay", 0.01))
              if name not in numbers])

    adamw(folder / "adamw.onnx", ["weight_decay"])
    adamw(folder / "fixed.onnx", [])
    adamw(folder / "no_state.onnx", [], outputs=("parameter_new", "state/m_new"))
    adamw(folder / "matrices.onnx", [], sizes=("rows", "columns"))
    # Steps of the length that the parameter has: not elementwise.
    save(folder / "normalised.onnx",
         [node("ReduceL2", ["parameter"], ["np"], keepdims=0), node("ReduceL2", ["gradient"], ["ng"], keepdims=0),
          node("Div", ["np", "ng"], ["ratio"]), node("Mul", ["ratio", "learning_rate"], ["r"]),
          node("Mul", ["gradient", "r"], ["u"]), node("Sub", ["parameter", "u"], ["parameter_new"])],
         [("parameter", FLOAT, ["n"]), ("gradient", FLOAT, ["n"]), ("learning_rate", FLOAT, [])],
         [("parameter_new", FLOAT, ["n"])])


class Tool:
    def __init__(self, path, folder):
        self.path, self.folder = path, folder

    def call(self, model, *options, data="data.npz"):
        command = [self.path, "train", model, "--data", data, "--batch", "32", "--seed", "3", "--epochs", "100", "--threads",
                   "2", *(() if "--lr" in options else ("--lr", "0.01")), *options]
        return subprocess.run([str(word) for word in command], cwd=self.folder, capture_output=True, text=True)

    def train(self, run, *options, model="classifier.onnx", data="data.npz"):
        options = (*options, *(() if "--loss" in options else ("--labels", "y")))
        steps = () if "--steps" in options else ("--steps", "40")
        result = self.call(model, *steps, "--out", run, *options, data=data)
        assert result.returncode == 0, result.stderr
        lines = (self.folder / run / "metrics.jsonl").read_text().splitlines()
        return np.array([json.loads(line)["loss"] for line in lines])

    def weights(self, run):
        return {t.name: numpy_helper.to_array(t) for t in onnx.load(self.folder / run / "model.onnx").graph.initializer}

    def refused(self, words, *options):
        result = self.call("classifier.onnx", "--labels", "y", "--out", "refused", *options)
        assert result.returncode != 0, options
        for word in words:
            assert word in result.stderr, (word, result.stderr)


def expect_same(tool, one, other, tolerance=1e-6):
    first, second = tool.weights(one), tool.weights(other)
    for name, tensor in first.items():
        difference = np.abs(tensor - second[name]).max() / np.abs(tensor).max()
        assert difference <= tolerance, (one, other, name, difference)


def check_losses(tool):
    built_in = tool.train("built-in")
    for name in ("mean", "counted"):
        losses = tool.train(name, "--loss", f"file:{name}.onnx")
        np.testing.assert_allclose(losses, built_in, rtol=1e-6)
        expect_same(tool, "built-in", name, 2e-5)
    # Batches of other sizes and with other counts are one mean only where the loss counts.
    summed = tool.train("summed", "--accumulate", "3")
    np.testing.assert_allclose(tool.train("counted-summed", "--accumulate", "3", "--loss", "file:counted.onnx"), summed,
                               rtol=1e-6)
    assert np.abs(tool.train("mean-summed", "--accumulate", "3", "--loss", "file:mean.onnx") - summed).max() > 1e-4
    for run in ("counted", "mean"):
        command = ["--eval-data", "data.npz", "--loss", f"file:{run}.onnx", "--steps", "1"]
        assert tool.call("classifier.onnx", *command, "--out", f"{run}-evaluated").returncode == 0
    counted, mean = (json.loads((tool.folder / f"{run}-evaluated" / "evaluations.jsonl").read_text())["loss"]
                     for run in ("counted", "mean"))
    assert 0 < abs(counted - mean) < 0.1 * mean, (counted, mean)


def check_models_input(tool):
    losses = tool.train("reconstruction", "--loss", "file:reconstruction.onnx", model="autoencoder.onnx", data="x.npz")
    assert losses[-1] < 0.8 * losses[0], losses


def check_optimizers(tool):
    tool.train("adamw-graph", "--optimizer", "file:fixed.onnx")
    expect_same(tool, "built-in", "adamw-graph")
    options = ["--no-decay", "b*", "--group", "w2:lr=0.001,weight_decay=0.2"]
    tool.train("groups", "--weight-decay", "0.1", *options)
    tool.train("groups-graph", "--optimizer", "file:adamw.onnx", "--weight-decay", "0.1", *options)
    expect_same(tool, "groups", "groups-graph")
    tool.train("no-groups", "--weight-decay", "0.1", "--no-decay", "b*")
    assert np.abs(tool.weights("groups")["w2"] - tool.weights("no-groups")["w2"]).max() > 1e-3

    half = ["--labels", "y", "--optimizer", "file:fixed.onnx"]
    assert tool.call("classifier.onnx", *half, "--steps", "17", "--out", "parts").returncode == 0
    assert tool.call("classifier.onnx", *half, "--steps", "40", "--resume", "parts").returncode == 0
    assert (tool.folder / "parts/model.onnx").read_bytes() == (tool.folder / "adamw-graph/model.onnx").read_bytes()

    tool.train("normalised", "--optimizer", "file:normalised.onnx", "--lr", "0.1", "--steps", "1")
    after = tool.weights("normalised")
    for tensor in onnx.load(tool.folder / "classifier.onnx").graph.initializer:
        start = numpy_helper.to_array(tensor)
        step = np.linalg.norm(after[tensor.name] - start) / np.linalg.norm(start)
        assert abs(step - 0.1) < 1e-4, (tensor.name, step)


def check_messages(tool):
    tool.refused(["missing.onnx"], "--loss", "file:missing.onnx")
    tool.refused(["'loss'", "[batch, 5]", "one float"], "--loss", "file:vector.onnx")
    tool.refused(["'logits'", "[N, 7]", "[batch, 5]", "5 is not 7"], "--loss", "file:narrow.onnx")
    tool.refused(["missing.onnx"], "--optimizer", "file:missing.onnx")
    tool.refused(["'b1'", "rank 2", "rank 1", "--freeze"], "--optimizer", "file:matrices.onnx")
    tool.refused(["'state/v_new'"], "--optimizer", "file:no_state.onnx")
    tool.refused(["'weight_decay'", "--number"], "--optimizer", "file:adamw.onnx")
    tool.refused(["'rho'", "'parameter'"], "--optimizer", "file:fixed.onnx", "--number", "rho=1")
    tool.refused(["'parameter' and 'gradient'"], "--optimizer", "file:mean.onnx", "--number", "scores=1")
    tool.refused(["nothing.*"], "--group", "nothing.*:lr=1")
    tool.refused(["'w1'", "'rho'"], "--group", "w1:rho=1")
    tool.refused(["NAME=VALUE"], "--group", "w1:lr")


def main():
    folder = pathlib.Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    make_models(folder)
    make_losses(folder)
    make_optimizers(folder)
    tool = Tool(sys.argv[1], folder)
    check_losses(tool)
    check_models_input(tool)
    check_optimizers(tool)
    check_messages(tool)


main()
