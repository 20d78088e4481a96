"""A loss and an optimizer as ONNX graphs of the user's: own_graphs.py FREESTONE FOLDER.

Graphs of what is built in train as what is built in: cross entropy and AdamW, elementwise and by norms, with accumulation,
groups and resuming. A loss may take inputs of the model, and weights of its own. What does not fit is told by names.
"""

import sys

import numpy as np

from command import Command
from graphs import DOUBLE, FLOAT, INT64, constant, draw, node, save, tensors


def make_models(folder):
    """classifier: x f32[batch, 12] → logits f32[batch, 5]; autoencoder: x → image f32[batch, 12]. And their data."""
    random = np.random.default_rng(1)
    save(folder / "classifier.onnx",
         [node("Gemm", ["x", "w1", "b1"], ["h"]), node("Relu", ["h"], ["r"]), node("Gemm", ["r", "w2", "b2"], ["logits"])],
         [("x", FLOAT, ["batch", 12])], [("logits", FLOAT, ["batch", 5])],
         draw(random, {"w1": (12, 40), "b1": (40,), "w2": (40, 5), "b2": (5,)}))
    save(folder / "autoencoder.onnx", [node("MatMul", ["x", "down"], ["h"]), node("MatMul", ["h", "up"], ["image"])],
         [("x", FLOAT, ["batch", 12])], [("image", FLOAT, ["batch", 12])], draw(random, {"down": (12, 6), "up": (6, 12)}))
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
         [constant("none", -100, np.int64)])
    save(folder / "reconstruction.onnx",
         [node("Sub", ["image", "x"], ["d"]), node("Mul", ["d", "importance"], ["e"]), node("Mul", ["e", "d"], ["s"]),
          node("ReduceMean", ["s"], ["loss"], keepdims=0)],
         [("image", FLOAT, ["n", 12]), ("x", FLOAT, ["n", 12])], [("loss", FLOAT, [])],
         [constant("importance", np.ones(12))])
    save(folder / "vector.onnx", [node("Abs", ["scores"], ["loss"])], [scores], [("loss", FLOAT, ["N", "C"])])
    save(folder / "narrow.onnx", [node("SoftmaxCrossEntropyLoss", ["logits", "y"], ["loss"])],
         [("logits", FLOAT, ["N", 7]), labels], [("loss", FLOAT, [])])


def make_optimizers(folder):
    fixed = {"one": 1, "beta1": 0.9, "beta2": 0.999, "weight_decay": 0.01}

    def adamw(path, numbers, outputs=("parameter_new", "state/m_new", "state/v_new"), sizes=("n",)):
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
                 node("Mul", ["parameter", "keepf"], ["p"]), node("Sub", ["p", "u"], ["parameter_new"])]
        save(path, nodes,
             [*((name, FLOAT, sizes) for name in ("parameter", "gradient", "state/m", "state/v")),
              ("learning_rate", DOUBLE, []), ("step", INT64, []), *((name, DOUBLE, []) for name in numbers)],
             [(name, FLOAT, sizes) for name in outputs],
             [constant("eps", 1e-8), *(constant(name, number, np.float64) for name, number in fixed.items()
                                       if name not in numbers)])

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


def words(*options, model="classifier.onnx", data="data.npz"):
    """Those of a training's command, of 40 steps at a rate of 0.01 where the options do not say otherwise."""
    defaults = [word for option in (["--steps", 40], ["--lr", 0.01]) if option[0] not in options for word in option]
    return [model, "--data", data, "--batch", 32, "--seed", 3, "--epochs", 100, "--threads", 2, *defaults, *options]


def train(tool, run, *options, **more):
    """The losses: f64[steps]."""
    labels = [] if "--loss" in options else ["--labels", "y"]
    tool.train(*words("--out", run, *labels, *options, **more))
    return np.array(tool.metrics(run))


def expect_same(tool, one, other, tolerance=1e-6):
    first, second = tool.weights(one), tool.weights(other)
    for name, tensor in first.items():
        difference = np.abs(tensor - second[name]).max() / np.abs(tensor).max()
        assert difference <= tolerance, (one, other, name, difference)


def check_losses(tool):
    built_in = train(tool, "built-in")
    for name in ("mean", "counted"):
        losses = train(tool, name, "--loss", f"file:{name}.onnx")
        np.testing.assert_allclose(losses, built_in, rtol=1e-6)
        expect_same(tool, "built-in", name, 2e-5)
    # Batches of other sizes and with other counts are one mean only where the loss counts.
    summed = train(tool, "summed", "--accumulate", "3")
    counted = train(tool, "counted-summed", "--accumulate", "3", "--loss", "file:counted.onnx")
    np.testing.assert_allclose(counted, summed, rtol=1e-6)
    assert np.abs(train(tool, "mean-summed", "--accumulate", "3", "--loss", "file:mean.onnx") - summed).max() > 1e-4
    for run in ("counted", "mean"):
        train(tool, f"{run}-evaluated", "--eval-data", "data.npz", "--loss", f"file:{run}.onnx", "--steps", 1)
    [counted], [mean] = ([line["loss"] for line in tool.lines(f"{run}-evaluated", "evaluations")]
                         for run in ("counted", "mean"))
    assert 0 < abs(counted - mean) < 0.1 * mean, (counted, mean)


def check_models_input(tool):
    losses = train(tool, "reconstruction", "--loss", "file:reconstruction.onnx", model="autoencoder.onnx", data="x.npz")
    assert losses[-1] < 0.8 * losses[0], losses


def check_optimizers(tool):
    train(tool, "adamw-graph", "--optimizer", "file:fixed.onnx")
    expect_same(tool, "built-in", "adamw-graph")
    options = ["--no-decay", "b*", "--group", "w2:lr=0.001,weight_decay=0.2"]
    train(tool, "groups", "--weight-decay", "0.1", *options)
    train(tool, "groups-graph", "--optimizer", "file:adamw.onnx", "--weight-decay", "0.1", *options)
    expect_same(tool, "groups", "groups-graph")
    train(tool, "no-groups", "--weight-decay", "0.1", "--no-decay", "b*")
    assert np.abs(tool.weights("groups")["w2"] - tool.weights("no-groups")["w2"]).max() > 1e-3

    train(tool, "parts", "--optimizer", "file:fixed.onnx", "--steps", 17)
    tool.train(*words("--labels", "y", "--optimizer", "file:fixed.onnx", "--resume", "parts"))
    assert tool.model("parts") == tool.model("adamw-graph")

    train(tool, "normalised", "--optimizer", "file:normalised.onnx", "--lr", "0.1", "--steps", "1")
    after = tool.weights("normalised")
    for name, start in tensors(tool.folder / "classifier.onnx").items():
        step = np.linalg.norm(after[name] - start) / np.linalg.norm(start)
        assert abs(step - 0.1) < 1e-4, (name, step)


def check_messages(tool):
    def refuse(parts, *options):
        tool.refuse(parts, *words("--labels", "y", "--out", "refused", *options))

    refuse(["missing.onnx"], "--loss", "file:missing.onnx")
    refuse(["'loss'", "[batch, 5]", "one float"], "--loss", "file:vector.onnx")
    refuse(["'logits'", "[N, 7]", "[batch, 5]", "5 is not 7"], "--loss", "file:narrow.onnx")
    refuse(["missing.onnx"], "--optimizer", "file:missing.onnx")
    refuse(["'b1'", "rank 2", "rank 1", "--freeze"], "--optimizer", "file:matrices.onnx")
    refuse(["'state/v_new'"], "--optimizer", "file:no_state.onnx")
    refuse(["'weight_decay'", "--number"], "--optimizer", "file:adamw.onnx")
    refuse(["'rho'", "'parameter'"], "--optimizer", "file:fixed.onnx", "--number", "rho=1")
    refuse(["'parameter' and 'gradient'"], "--optimizer", "file:mean.onnx", "--number", "scores=1")
    refuse(["nothing.*"], "--group", "nothing.*:lr=1")
    refuse(["'w1'", "'rho'"], "--group", "w1:rho=1")
    refuse(["NAME=VALUE"], "--group", "w1:lr")


def main():
    tool = Command(*sys.argv[1:])
    make_models(tool.folder)
    make_losses(tool.folder)
    make_optimizers(tool.folder)
    check_losses(tool)
    check_models_input(tool)
    check_optimizers(tool)
    check_messages(tool)


main()
