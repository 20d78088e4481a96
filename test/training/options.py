"""What options of `freestone train` mean: options.py FREESTONE FOLDER.

The dimension of the classes; schedules by PyTorch's numbers, and which options they take; optimizers by another name; what
`--plan` lists, with and without data.
"""

import json
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

VOCABULARY = 16


def save(path, nodes, inputs, output, weights):
    random = np.random.default_rng(1)
    initializers = [numpy_helper.from_array(random.normal(scale=0.3, size=shape).astype(np.float32), name)
                    for name, shape in weights.items()]
    graph = helper.make_graph([helper.make_node(*node[:3], **(node[3] if len(node) > 3 else {})) for node in nodes], "model",
                              [helper.make_tensor_value_info(*inputs)], [helper.make_tensor_value_info(*output)], initializers)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)


def make_models(folder):
    """tokens [b, s] → logits [b, s, 16]; image [n, 2, h, w] → logits [n, 3, h, w]; rows [n, 6] → logits [n, 6, 6]."""
    save(folder / "language.onnx", [("Gather", ["table", "tokens"], ["e"]), ("MatMul", ["e", "head"], ["logits"])],
         ("tokens", TensorProto.INT64, ["b", "s"]), ("logits", TensorProto.FLOAT, ["b", "s", VOCABULARY]),
         {"table": (VOCABULARY, 8), "head": (8, VOCABULARY)})
    save(folder / "pictures.onnx", [("Conv", ["image", "k", "c"], ["logits"], {"pads": [1, 1, 1, 1]})],
         ("image", TensorProto.FLOAT, ["n", 2, "h", "w"]), ("logits", TensorProto.FLOAT, ["n", 3, "h", "w"]),
         {"k": (3, 2, 3, 3), "c": (3,)})
    save(folder / "square.onnx", [("Unsqueeze", ["rows", "axis"], ["r"]), ("Mul", ["r", "scale"], ["logits"])],
         ("rows", TensorProto.FLOAT, ["n", 6]), ("logits", TensorProto.FLOAT, ["n", 6, 6]), {"scale": (6, 6)})
    model = onnx.load(folder / "square.onnx")
    model.graph.initializer.append(numpy_helper.from_array(np.array([1]), "axis"))
    onnx.save(model, folder / "square.onnx")


def make_data(folder):
    random = np.random.default_rng(2)
    for length in (VOCABULARY, 5):
        np.savez(folder / f"text{length}.npz", tokens=random.integers(0, VOCABULARY, (24, length)),
                 labels=random.integers(0, VOCABULARY, (24, length)))
    np.savez(folder / "pictures.npz", image=random.normal(size=(24, 2, 3, 3)).astype(np.float32),
             labels=random.integers(0, 3, (24, 3, 3)))
    np.savez(folder / "square.npz", rows=random.normal(size=(24, 6)).astype(np.float32), labels=random.integers(0, 6, (24, 6)))


class Tool:
    def __init__(self, path, folder):
        self.path, self.folder = path, folder

    def call(self, *options):
        command = [str(word) for word in (self.path, "train", *options)]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True)

    def train(self, *options, key="loss"):
        """That of each step."""
        shutil.rmtree(self.folder / "run", ignore_errors=True)
        result = self.call(*options, "--batch", 8, "--threads", 1, "--seed", 1)
        assert result.returncode == 0, (options, result.stderr)
        return [json.loads(line)[key] for line in (self.folder / "run/metrics.jsonl").read_text().splitlines()]

    def plan(self, *options):
        result = self.call(*options, "--plan")
        assert result.returncode == 0, (options, result.stderr)
        return result.stdout

    def expect_usage(self, parts, *options):
        result = self.call(*options)
        assert result.returncode == 2, (options, result)
        for part in parts:
            assert part in result.stderr, (part, result.stderr)


LANGUAGE = ["language.onnx", "--data", "text5.npz"]


def check_class_axis(tool):
    for data in ("text16.npz", "text5.npz"):  # as many tokens as there are classes, or others
        found = tool.train("language.onnx", "--data", data)
        assert found == tool.train("language.onnx", "--data", data, "--class-axis", 2), data
        # Without data the shape of the output tells.
        shutil.rmtree(tool.folder / "step.stone", ignore_errors=True)
        assert tool.call("language.onnx", "--compile-only", "-o", "step.stone").returncode == 0
        assert found == tool.train("step.stone", "--data", data)
    found = tool.train("pictures.onnx", "--data", "pictures.npz")
    assert found == tool.train("pictures.onnx", "--data", "pictures.npz", "--class-axis", -3)

    for data in (["--data", "square.npz"], ["--compile-only", "-o", "square.stone"]):
        tool.expect_usage(["[n, 6, 6]", "more than one", "--class-axis"], "square.onnx", *data)
    first, last = (tool.train("square.onnx", "--data", "square.npz", "--class-axis", axis) for axis in (1, 2))
    assert first != last


def check_schedules(tool):
    def rates(*options):
        return tool.train(*LANGUAGE, "--epochs", 2, "--lr", 0.1, *options, key="lr")

    # torch.optim.lr_scheduler's, of 6 steps.
    one_cycle = ["--schedule", "one-cycle", "--pct-start", 0.5, "--div-factor", 10, "--final-div-factor", 100]
    for options, expected in [
            (["--schedule", "linear", "--end-factor", 0.4], [0.1, 0.09, 0.08, 0.07, 0.06, 0.05]),
            (["--schedule", "cosine", "--eta-min", 0.02], [0.1, 0.0946410162, 0.08, 0.06, 0.04, 0.0253589838]),
            (["--schedule", "step", "--step-size", 2, "--gamma", 0.3], [0.1, 0.1, 0.03, 0.03, 0.009, 0.009]),
            (["--warmup", 4, "--start-factor", 0.25], [0.025, 0.04375, 0.0625, 0.08125, 0.1, 0.1]),
            (one_cycle, [0.01, 0.055, 0.1, 0.075025, 0.025075, 0.0001])]:
        np.testing.assert_allclose(rates(*options), expected, rtol=1e-6, err_msg=str(options))

    for parts, options in [
            (["'cosine'", "gamma", "eta_min"], ["--schedule", "cosine", "--gamma", 0.5]),
            (["'one-cycle'", "step_size", "pct_start", "max_momentum"], ["--schedule", "one-cycle", "--step-size", 5]),
            (["'constant'", "nothing"], ["--end-factor", 0.5]),
            (["start_factor", "--warmup"], ["--start-factor", 0.5]),
            (["step_size"], ["--schedule", "step"]),
            (["pct_start", "1.5"], ["--schedule", "one-cycle", "--pct-start", 1.5]),
            (["'polynomial'", "one-cycle"], ["--schedule", "polynomial"])]:
        tool.expect_usage(parts, *LANGUAGE, *options)


def check_momentum(tool):
    """A schedule that moves the momentum is not given one besides."""
    sgd = [*LANGUAGE, "--optimizer", "sgd", "--schedule", "one-cycle", "--lr", 1]
    for options in (["--momentum", 0.9], ["--betas", 0.9, 0.99], ["--number", "beta1=0.8"], ["--group", "head:momentum=0.5"]):
        tool.expect_usage(["one-cycle", "--no-cycle-momentum"], *sgd, *options)
    kept = tool.train(*sgd, "--momentum", 0.9, "--no-cycle-momentum")
    pinned = tool.train(*sgd, "--base-momentum", 0.9, "--max-momentum", 0.9)
    assert kept == pinned, (kept, pinned)
    moved, none = tool.train(*sgd), tool.train(*sgd, "--no-cycle-momentum")
    assert len({tuple(losses) for losses in (kept, moved, none)}) == 3, (kept, moved, none)

    adam = [*LANGUAGE, "--schedule", "one-cycle", "--lr", 0.1]
    assert tool.train(*adam, "--betas", 0.5, 0.999, "--no-cycle-momentum") != tool.train(*adam)
    result = tool.call(*LANGUAGE, "--schedule", "one-cycle", "--optimizer", "adagrad")
    assert result.returncode == 1 and "--no-cycle-momentum" in result.stderr, result


def check_amsgrad(tool):
    plain, named, flag = (tool.train(*LANGUAGE, "--epochs", 3, "--lr", 0.1, "--optimizer", *optimizer)
                          for optimizer in (["adam"], ["amsgrad"], ["adam", "--amsgrad"]))
    assert named == flag != plain


def check_plan(tool):
    options = ["--group", "head:lr=0.01", "--no-decay", "table"]
    whole = tool.plan(*LANGUAGE, *options)
    lines = {line.split()[0]: line.split(maxsplit=1)[1] for line in whole.splitlines() if len(line.split()) > 1}
    assert lines["table"] == "128  trained, no decay  table of an embedding", lines
    assert lines["head"] == "128  trained, group 'head'  factor of a contraction", lines
    assert float(lines["code"].split()[0]) > 0, whole

    frozen = tool.plan(*LANGUAGE, "--freeze", "he*").splitlines()
    assert next(line for line in frozen if line.startswith("head")).split(maxsplit=3)[1:] == ["128", "kept", "frozen by 'he*'"], frozen
    square = tool.plan("square.onnx", "--class-axis", 1).splitlines()
    assert any(line.startswith("scale") and "trained" in line for line in square), square
    assert any(line.startswith("  together") for line in square), "only the batch is unknown, and --batch tells it"

    # What the memory follows from is not known: everything else is told all the same.
    without = tool.plan("language.onnx", *options)
    assert without.startswith(whole[:whole.index("memory:")]), without
    assert "together" not in without and without.splitlines()[-1].count("'s'") == 1, without
    assert all(word in without.splitlines()[-1] for word in ("memory", "--data", "--window")), without
    assert "together" in tool.plan("language.onnx", *options, "--window", 12, "--data", "text.npy")


def main():
    folder = pathlib.Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    make_models(folder)
    make_data(folder)
    np.save(folder / "text.npy", np.arange(500) % VOCABULARY)
    tool = Tool(sys.argv[1], folder)
    check_class_axis(tool)
    check_schedules(tool)
    check_momentum(tool)
    check_amsgrad(tool)
    check_plan(tool)


main()
