"""What goes on beside the steps of a training changes nothing that comes out: overlap.py FREESTONE FOLDER.

With the overlap switched off, metrics, checkpoints and the trained model are the same bytes; so they are without donated
states, which are a switch of the compiler. A trace shows steps, data, metrics and checkpoints on one line of time. Faults
in the midst of a training name their step, and what was done before is there.
"""

import collections
import json
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

STEPS, SAVE_EVERY = 60, 7


def make_model(path):
    """x [n, 12] → Gemm, Relu, Gemm → logits [n, 5]; `table` [4, 12] is added to x by `row`."""
    random = np.random.default_rng(1)
    weights = [numpy_helper.from_array(random.normal(scale=0.3, size=shape).astype(np.float32), name)
               for name, shape in (("table", (4, 12)), ("w1", (12, 64)), ("w2", (64, 5)))]
    nodes = [
        helper.make_node("Gather", ["table", "row"], ["r"], name="rows"),
        helper.make_node("Add", ["x", "r"], ["a"]),
        helper.make_node("MatMul", ["a", "w1"], ["h"]),
        helper.make_node("Relu", ["h"], ["p"]),
        helper.make_node("MatMul", ["p", "w2"], ["logits"]),
    ]
    value = helper.make_tensor_value_info
    inputs = [value("x", TensorProto.FLOAT, ["n", 12]), value("row", TensorProto.INT64, ["n"])]
    graph = helper.make_graph(nodes, "model", inputs, [value("logits", TensorProto.FLOAT, ["n", 5])], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)


class Tool:
    def __init__(self, path, folder):
        self.path, self.folder = path, folder

    def call(self, *words):
        return subprocess.run([self.path, *map(str, words)], cwd=self.folder, capture_output=True, text=True)

    def train(self, model, *options):
        result = self.call("train", model, "--labels", "y", "--batch", "16", "--seed", "3", "--epochs", "100", "--no-shuffle",
                           "--threads", "2", *options)
        assert result.returncode == 0, result.stderr
        return result.stderr

    def metrics(self, run):
        lines = (self.folder / run / "metrics.jsonl").read_text().splitlines()
        return [{key: value for key, value in json.loads(line).items() if key != "samples_per_s"} for line in lines]

    def files(self, run):
        """Name → bytes of the model and of all checkpoints."""
        root = self.folder / run
        paths = [root / "model.onnx", *sorted((root / "checkpoints").rglob("*.*"))]
        return {str(path.relative_to(root)): path.read_bytes() for path in paths if path.is_file()}


def check_same_with_and_without(tool):
    options = ["--data", "data.npz", "--eval-data", "data.npz", "--steps", STEPS, "--save-every", SAVE_EVERY, "--keep", "100"]
    tool.train("model.onnx", *options, "--out", "on")
    tool.train("model.onnx", *options, "--out", "off", "--switch-off", "overlap")
    tool.train("model.onnx", *options, "--out", "quiet", "--switch-off", "spin,moves")
    assert [line["step"] for line in tool.metrics("on")] == list(range(1, STEPS + 1))
    steps = sorted(path.name for path in (tool.folder / "on/checkpoints").iterdir())
    assert steps == [f"step-{step:06}" for step in sorted({*range(SAVE_EVERY, STEPS, SAVE_EVERY), STEPS})], steps
    for other in ("off", "quiet"):
        assert tool.metrics("on") == tool.metrics(other)
        assert tool.files("on") == tool.files(other), other
    # Resumed from the midst, too.
    for path in (tool.folder / "off/checkpoints").iterdir():
        if path.name > "step-000030":
            shutil.rmtree(path)
    tool.train("model.onnx", *options, "--resume", "off")
    assert tool.files("on")["model.onnx"] == tool.files("off")["model.onnx"]
    assert tool.metrics("on") == tool.metrics("off")


def check_donation(tool):
    """States in place, or copied: the counter tells, the numbers do not."""
    counters = {}
    for name, switch in (("donated", []), ("copied", ["--disable", "donate"])):
        tool.train("model.onnx", "--compile-only", "-o", f"{name}.stone", "--data", "data.npz", *switch)
        described = json.loads(tool.call("inspect", f"{name}.stone", "--json").stdout)
        counters[name] = described["statistics"]["donated"]
        tool.train(f"{name}.stone", "--data", "data.npz", "--steps", "20", "--out", name)
    assert counters["donated"] > 0 and counters["copied"] == 0, counters
    assert tool.metrics("donated") == tool.metrics("copied")
    assert tool.files("donated")["model.onnx"] == tool.files("copied")["model.onnx"]


def check_trace(tool):
    tool.train("model.onnx", "--data", "data.npz", "--eval-data", "data.npz", "--steps", "30", "--save-every", "10", "--out",
               "traced", "--trace", "trace.json")
    assert tool.metrics("traced") == tool.metrics("on")[:30]
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
    tool.train("model.onnx", "--data", "data.npz", "--steps", "9", "--out", "nine")
    for data, reasons in (("wrong", ["step 10: run 10 of entry 'main': program '", "rows"]), ("broken", ["step 10: ", "NaN"])):
        for switch in ([], ["--switch-off", "overlap"]):
            run = f"{data}{len(switch)}"
            result = tool.call("train", "model.onnx", "--labels", "y", "--batch", "16", "--seed", "3", "--epochs", "100",
                               "--no-shuffle", "--threads", "2", "--data", f"{data}.npz", "--steps", STEPS, "--out", run, *switch)
            assert result.returncode == 1, result
            for reason in reasons:
                assert reason in result.stderr, result.stderr
            assert tool.metrics(run) == tool.metrics("nine")
    assert tool.call("train", "model.onnx", "--switch-off", "everything").returncode == 2


def main():
    folder = pathlib.Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    make_model(folder / "model.onnx")
    random = np.random.default_rng(2)
    x = random.normal(size=(320, 12)).astype(np.float32)
    y = (x @ random.normal(size=(12, 5))).argmax(1)
    np.savez(folder / "data.npz", x=x, row=random.integers(0, 4, 320), y=y)
    tool = Tool(sys.argv[1], folder)
    for check in (check_same_with_and_without, check_donation, check_trace, check_faults):
        check(tool)


if __name__ == "__main__":
    main()
