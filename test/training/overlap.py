"""What goes on beside the steps of a training changes nothing that comes out: overlap.py FREESTONE FOLDER.

With the overlap switched off, metrics, checkpoints and the trained model are the same bytes; so they are without donated
states, which are a switch of the compiler. A trace shows steps, data, metrics and checkpoints on one line of time. Faults
in the midst of a training name their step, and what was done before is there.
"""

import collections
import json
import shutil
import sys

import numpy as np

from command import Command
from graphs import FLOAT, INT64, draw, node, save

STEPS, SAVE_EVERY = 60, 7
BASE = ["--labels", "y", "--batch", 16, "--seed", 3, "--epochs", 100, "--no-shuffle", "--threads", 2]


def make_model(path):
    """x f32[n, 12] → Gemm, Relu, Gemm → logits f32[n, 5]; `table` f32[4, 12] is added to x by `row` i64[n]."""
    save(path,
         [node("Gather", ["table", "row"], ["r"], name="rows"), node("Add", ["x", "r"], ["a"]),
          node("MatMul", ["a", "w1"], ["h"]), node("Relu", ["h"], ["p"]), node("MatMul", ["p", "w2"], ["logits"])],
         [("x", FLOAT, ["n", 12]), ("row", INT64, ["n"])], [("logits", FLOAT, ["n", 5])],
         draw(1, {"table": (4, 12), "w1": (12, 64), "w2": (64, 5)}))


def files(tool, run):
    """Name → bytes of the model and of all checkpoints."""
    root = tool.folder / run
    paths = [root / "model.onnx", *sorted((root / "checkpoints").rglob("*.*"))]
    return {str(path.relative_to(root)): path.read_bytes() for path in paths if path.is_file()}


def check_same_with_and_without(tool):
    options = [*BASE, "--data", "data.npz", "--eval-data", "data.npz", "--steps", STEPS, "--save-every", SAVE_EVERY,
               "--keep", 100]
    tool.train("model.onnx", *options, "--out", "on")
    tool.train("model.onnx", *options, "--out", "off", "--switch-off", "overlap")
    tool.train("model.onnx", *options, "--out", "quiet", "--switch-off", "spin,moves")
    assert [line["step"] for line in tool.timeless("on")] == list(range(1, STEPS + 1))
    assert list(tool.checkpoints("on")) == sorted({*range(SAVE_EVERY, STEPS, SAVE_EVERY), STEPS}), tool.checkpoints("on")
    for other in ("off", "quiet"):
        assert tool.timeless("on") == tool.timeless(other)
        assert files(tool, "on") == files(tool, other), other
    # Resumed from the midst, too.
    for step, path in tool.checkpoints("off").items():
        if step > 30:
            shutil.rmtree(path)
    tool.train("model.onnx", *options, "--resume", "off")
    assert tool.model("on") == tool.model("off")
    assert tool.timeless("on") == tool.timeless("off")


def check_donation(tool):
    """States in place, or copied: the counter tells, the numbers do not."""
    counters = {}
    for name, switch in (("donated", []), ("copied", ["--disable", "donate"])):
        tool.train("model.onnx", *BASE, "--compile-only", "-o", f"{name}.stone", "--data", "data.npz", *switch)
        described = json.loads(tool.run("inspect", f"{name}.stone", "--json").stdout)
        counters[name] = described["statistics"]["donated"]
        tool.train(f"{name}.stone", *BASE, "--data", "data.npz", "--steps", "20", "--out", name)
    assert counters["donated"] > 0 and counters["copied"] == 0, counters
    assert tool.timeless("donated") == tool.timeless("copied")
    assert tool.model("donated") == tool.model("copied")


def check_trace(tool):
    tool.train("model.onnx", *BASE, "--data", "data.npz", "--eval-data", "data.npz", "--steps", 30, "--save-every", 10,
               "--out", "traced", "--trace", "trace.json")
    assert tool.timeless("traced") == tool.timeless("on")[:30]
    events = json.loads((tool.folder / "trace.json").read_text())["traceEvents"]
    lanes = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    seen = collections.Counter((lanes[event["tid"]], event["name"]) for event in events if event["ph"] == "X")
    assert seen["data", "prepare the batch"] >= 30 and seen["host", "prepare"] == seen["host", "metrics"] == 30, seen
    # Every tenth step and the end of the first epoch of 20 steps.
    assert seen["checkpoint", "write the checkpoint"] == seen["checkpoint copy", "copy the state"] == 3, seen
    tasks = [event for event in events if event["ph"] == "X" and "tiles" in event["args"]]
    assert {lanes[event["tid"]] for event in tasks} >= {"worker 0", "evaluate: worker 0"}
    for event in tasks:
        arguments = event["args"]
        assert arguments["program"] and 0 < arguments["tiles"] <= arguments["of tiles"] and arguments["bytes"] >= 0, event
    # In order, none over another; the second worker of so small a model may only wait.
    for worker in ("worker 0", "worker 1"):
        own = [event for event in events if event["ph"] == "X" and lanes[event["tid"]] == worker]
        assert len({event["args"]["run"] for event in own}) == 30
        for before, after in zip(own, own[1:]):
            assert before["ts"] + before["dur"] <= after["ts"] + 0.002, (before, after)


def check_faults(tool):
    with np.load(tool.folder / "data.npz") as data:
        arrays = dict(data)
    wrong = {**arrays, "row": arrays["row"].copy()}
    wrong["row"][16 * 9 + 5] = 4  # out of the table, in step 10
    np.savez(tool.folder / "wrong.npz", **wrong)
    broken = {**arrays, "x": arrays["x"].copy()}
    broken["x"][16 * 9 + 5] = np.nan
    np.savez(tool.folder / "broken.npz", **broken)
    tool.train("model.onnx", *BASE, "--data", "data.npz", "--steps", "9", "--out", "nine")
    for data, reasons in (("wrong", ["step 10: run 10 of entry 'main': program '", "rows"]),
                          ("broken", ["step 10: ", "NaN"])):
        for switch in ([], ["--switch-off", "overlap"]):
            run = f"{data}{len(switch)}"
            tool.refuse(reasons, "model.onnx", *BASE, "--data", f"{data}.npz", "--steps", STEPS, "--out", run, *switch,
                        codes=[1])
            assert tool.timeless(run) == tool.timeless("nine")
    tool.refuse([], "model.onnx", "--switch-off", "everything", codes=[2])


def main():
    tool = Command(*sys.argv[1:])
    make_model(tool.folder / "model.onnx")
    random = np.random.default_rng(2)
    x = random.normal(size=(320, 12)).astype(np.float32)
    y = (x @ random.normal(size=(12, 5))).argmax(1)
    np.savez(tool.folder / "data.npz", x=x, row=random.integers(0, 4, 320), y=y)
    for check in (check_same_with_and_without, check_donation, check_trace, check_faults):
        check(tool)


main()
