"""What options of `freestone train` mean: options.py FREESTONE FOLDER.

The dimension of the classes; schedules by PyTorch's numbers, and which options they take; optimizers by another name; what
`--plan` lists, with and without data.
"""

import json
import sys

import numpy as np

from command import Command
from graphs import FLOAT, INT64, constant, draw, node, save

VOCABULARY = 16


def make_models(folder):
    """tokens i64[b, s] → logits f32[b, s, 16]; image f32[n, 2, h, w] → logits f32[n, 3, h, w]; rows f32[n, 6] → logits
    f32[n, 6, 6]."""
    save(folder / "language.onnx", [node("Gather", ["table", "tokens"], ["e"]), node("MatMul", ["e", "head"], ["logits"])],
         [("tokens", INT64, ["b", "s"])], [("logits", FLOAT, ["b", "s", VOCABULARY])],
         draw(1, {"table": (VOCABULARY, 8), "head": (8, VOCABULARY)}))
    save(folder / "pictures.onnx", [node("Conv", ["image", "k", "c"], ["logits"], pads=[1, 1, 1, 1])],
         [("image", FLOAT, ["n", 2, "h", "w"])], [("logits", FLOAT, ["n", 3, "h", "w"])],
         draw(1, {"k": (3, 2, 3, 3), "c": (3,)}))
    save(folder / "square.onnx", [node("Unsqueeze", ["rows", "axis"], ["r"]), node("Mul", ["r", "scale"], ["logits"])],
         [("rows", FLOAT, ["n", 6])], [("logits", FLOAT, ["n", 6, 6])],
         [*draw(1, {"scale": (6, 6)}), constant("axis", [1], np.int64)])


def make_data(folder):
    random = np.random.default_rng(2)
    for length in (VOCABULARY, 5):
        np.savez(folder / f"text{length}.npz", tokens=random.integers(0, VOCABULARY, (24, length)),
                 labels=random.integers(0, VOCABULARY, (24, length)))
    np.savez(folder / "pictures.npz", image=random.normal(size=(24, 2, 3, 3)).astype(np.float32),
             labels=random.integers(0, 3, (24, 3, 3)))
    np.save(folder / "text.npy", np.arange(500) % VOCABULARY)
    np.savez(folder / "square.npz", rows=random.normal(size=(24, 6)).astype(np.float32),
             labels=random.integers(0, 6, (24, 6)))


def train(tool, *options, key="loss"):
    """That of each step."""
    tool.remove("run")
    tool.train(*options, "--batch", 8, "--threads", 1, "--seed", 1)
    return tool.metrics("run", key)


LANGUAGE = ["language.onnx", "--data", "text5.npz"]


def check_class_axis(tool):
    for data in ("text16.npz", "text5.npz"):  # as many tokens as there are classes, or others
        found = train(tool, "language.onnx", "--data", data)
        assert found == train(tool, "language.onnx", "--data", data, "--class-axis", 2), data
        # Without data the shape of the output tells.
        tool.remove("step.stone")
        tool.train("language.onnx", "--compile-only", "-o", "step.stone")
        assert found == train(tool, "step.stone", "--data", data)
    found = train(tool, "pictures.onnx", "--data", "pictures.npz")
    assert found == train(tool, "pictures.onnx", "--data", "pictures.npz", "--class-axis", -3)

    tool.remove("run")
    for data in (["--data", "square.npz"], ["--compile-only", "-o", "square.stone"]):
        tool.refuse(["[n, 6, 6]", "more than one", "--class-axis"], "square.onnx", *data, codes=[2])
    first, last = (train(tool, "square.onnx", "--data", "square.npz", "--class-axis", axis) for axis in (1, 2))
    assert first != last


def check_schedules(tool):
    def rates(*options):
        return train(tool, *LANGUAGE, "--epochs", 2, "--lr", 0.1, *options, key="lr")

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
            (["--pct-start 1.5", "from 0 to 1"], ["--schedule", "one-cycle", "--pct-start", 1.5]),
            (["--schedule polynomial", "one-cycle"], ["--schedule", "polynomial"])]:
        tool.remove("run")
        tool.refuse(parts, *LANGUAGE, *options, codes=[2])


def check_momentum(tool):
    """A schedule that moves the momentum is not given one besides."""
    sgd = [*LANGUAGE, "--optimizer", "sgd", "--schedule", "one-cycle", "--lr", 1]
    for options in (["--momentum", 0.9], ["--betas", 0.9, 0.99], ["--number", "beta1=0.8"],
                    ["--group", "head:momentum=0.5"]):
        tool.remove("run")
        tool.refuse(["one-cycle", "--no-cycle-momentum"], *sgd, *options, codes=[2])
    kept = train(tool, *sgd, "--momentum", 0.9, "--no-cycle-momentum")
    pinned = train(tool, *sgd, "--base-momentum", 0.9, "--max-momentum", 0.9)
    assert kept == pinned, (kept, pinned)
    moved, none = train(tool, *sgd), train(tool, *sgd, "--no-cycle-momentum")
    assert len({tuple(losses) for losses in (kept, moved, none)}) == 3, (kept, moved, none)

    adam = [*LANGUAGE, "--schedule", "one-cycle", "--lr", 0.1]
    assert train(tool, *adam, "--betas", 0.5, 0.999, "--no-cycle-momentum") != train(tool, *adam)
    tool.remove("run")
    tool.refuse(["--no-cycle-momentum"], *LANGUAGE, "--schedule", "one-cycle", "--optimizer", "adagrad", codes=[1])


def check_amsgrad(tool):
    plain, named, flag = (train(tool, *LANGUAGE, "--epochs", 3, "--lr", 0.1, "--optimizer", *optimizer)
                          for optimizer in (["adam"], ["amsgrad"], ["adam", "--amsgrad"]))
    assert named == flag != plain


def code_bytes(tool, *options):
    """How much of a compiled step lies before its first weight."""
    tool.train(*options, "--compile-only", "-o", "step.stone")
    weights = json.loads(tool.run("inspect", "step.stone", "--json").stdout)["weights"]
    return min(weight["offset"] for weight in weights if weight.get("offset", 0) > 0)


def check_plan(tool):
    def plan(*options):
        return tool.train(*options, "--plan").stdout

    options = ["--group", "head:lr=0.01", "--no-decay", "table"]
    whole = plan(*LANGUAGE, *options)
    lines = {line.split()[0]: line.split(maxsplit=1)[1] for line in whole.splitlines() if len(line.split()) > 1}
    assert lines["table"] == "128  trained, no decay  table of an embedding", lines
    assert lines["head"] == "128  trained, group 'head'  factor of a contraction", lines
    assert lines["code"].split()[:2] == [f"{code_bytes(tool, *LANGUAGE, *options) / 2**20:.1f}", "MiB"], whole

    frozen = plan(*LANGUAGE, "--freeze", "he*").splitlines()
    head = next(line for line in frozen if line.startswith("head"))
    assert head.split(maxsplit=3)[1:] == ["128", "kept", "frozen by 'he*'"], frozen
    square = plan("square.onnx", "--class-axis", 1).splitlines()
    assert any(line.startswith("scale") and "trained" in line for line in square), square
    assert any(line.startswith("  together") for line in square), "only the batch is unknown, and --batch tells it"

    # What the memory follows from is not known: everything else is told all the same.
    without = plan("language.onnx", *options)
    assert without.startswith(whole[:whole.index("memory:")]), without
    assert "together" not in without and without.splitlines()[-1].count("'s'") == 1, without
    assert all(word in without.splitlines()[-1] for word in ("memory", "--data", "--window")), without
    assert "together" in plan("language.onnx", *options, "--window", 12, "--data", "text.npy")


def main():
    tool = Command(*sys.argv[1:])
    make_models(tool.folder)
    make_data(tool.folder)
    check_class_axis(tool)
    check_schedules(tool)
    check_momentum(tool)
    check_amsgrad(tool)
    check_plan(tool)


main()
