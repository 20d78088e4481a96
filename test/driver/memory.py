"""Memory of training steps: memory.py FREESTONE FOLDER MODELS, a folder with the filled models.

What `--plan` tells before the first step is what the process then takes. The peak of the models, beside that of a model which needs
nothing, is what the plan tells together, within 5 %: on two threads, with accumulation and evaluations. From a small batch to a
large one a peak grows by as much as the plan, within 5 % and 2 MiB of pages. `--recompute` keeps less, which the compiler's counter and the plan show,
and gives the same losses; dropout drops the same.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# Calls a command, and prints its peak memory in KiB.
MEASURE = """import os, resource, sys
if os.spawnvp(os.P_WAIT, sys.argv[1], sys.argv[1:]):
    sys.exit(1)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"""

WIDTHS, LARGE, SMALL = (16, *(256, 64) * 8, 256), 4096, 8


def make_model(path):
    """x [n, 16] → for each further width (MatMul, h·sigmoid(h), Dropout) → logits [n, 4]."""
    random = np.random.default_rng(1)
    weights = [numpy_helper.from_array(np.float32(0.1), "ratio")]
    nodes, value = [], "x"
    for layer, (rows, columns) in enumerate(zip(WIDTHS, WIDTHS[1:])):
        scaled = random.normal(scale=1 / np.sqrt(rows), size=(rows, columns)).astype(np.float32)
        weights.append(numpy_helper.from_array(scaled, f"w{layer}"))
        nodes += [
            helper.make_node("MatMul", [value, f"w{layer}"], [f"h{layer}"]),
            helper.make_node("Sigmoid", [f"h{layer}"], [f"s{layer}"]),
            helper.make_node("Mul", [f"h{layer}", f"s{layer}"], [f"a{layer}"]),
            helper.make_node("Dropout", [f"a{layer}", "ratio"], [f"d{layer}"]),
        ]
        value = f"d{layer}"
    head = random.normal(scale=0.1, size=(WIDTHS[-1], 4)).astype(np.float32)
    weights.append(numpy_helper.from_array(head, "head"))
    nodes.append(helper.make_node("MatMul", [value, "head"], ["logits"]))
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "model", [info("x", TensorProto.FLOAT, ["n", 16])],
                              [info("logits", TensorProto.FLOAT, ["n", 4])], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)


def make_empty_model(path):
    """x [n, 1] → logits [n, 2], to measure the process's own memory."""
    info = helper.make_tensor_value_info
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["logits"])], "model", [info("x", TensorProto.FLOAT, ["n", 1])],
                              [info("logits", TensorProto.FLOAT, ["n", 2])],
                              [numpy_helper.from_array(np.ones((1, 2), np.float32), "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)


class Tool:
    def __init__(self, path, folder):
        self.path, self.folder = path, folder

    def call(self, *words):
        result = subprocess.run([self.path, *map(str, words)], cwd=self.folder, capture_output=True, text=True)
        assert result.returncode == 0, f"{words}: {result.stderr}"
        return result.stdout

    def compile(self, recompute):
        step = f"{recompute.replace(':', '_')}.stone"
        self.call("train", "model.onnx", "--labels", "y", "--data", "data.npz", "--batch", LARGE, "--recompute", recompute,
                  "--compile-only", "-o", step)
        return step

    def counters(self, step):
        return json.loads(self.call("inspect", step, "--json"))["statistics"]

    def plan(self, step, batch, *options):
        """Bytes by category."""
        text = self.call("train", step, "--data", "data.npz", "--plan", "--batch", batch, "--threads", 1,
                         *options)
        return {name: float(size) * 2**20 for name, size in re.findall(r"^  (\w+) +([\d.]+) MiB", text, re.MULTILINE)}

    def measure(self, words):
        """Peak memory of a command in bytes."""
        # Forked from a small process: a child's peak includes that of the parent, and this process is large.
        done = subprocess.run([sys.executable, "-S", "-c", MEASURE, *map(str, words)], cwd=self.folder, capture_output=True, text=True)
        assert done.returncode == 0, f"{words}: {done.stderr}"
        return int(done.stdout.splitlines()[-1]) * 1024

    def peak(self, step, batch, run, *options):
        """Peak memory of a training in bytes, and its losses."""
        most = self.measure([self.path, "train", step, "--data", "data.npz", "--batch", batch, "--steps", 3, "--epochs", 3, "--out",
                             run, "--threads", 1, "--no-shuffle", *options])
        lines = (self.folder / run / "metrics.jsonl").read_text().splitlines()
        return most, [json.loads(line)["loss"] for line in lines]


    def whole(self, model, data, batch, *options):
        """The planned total of a training on two threads, and its peak."""
        self.call("train", model, *data, "--batch", batch, *options, "--compile-only", "-o", "whole.stone")
        # Options that are compiled in are given once.
        pairs = zip(*[iter((*data, *options))] * 2)
        options = [word for pair in pairs if pair[0] not in ("--labels", "--moments") for word in pair]
        shutil.rmtree(self.folder / "whole", ignore_errors=True)
        text = self.call("train", "whole.stone", *options, "--plan", "--batch", batch, "--threads", 2)
        words = [self.path, "train", "whole.stone", *options, "--batch", batch, "--steps", 3, "--epochs", 9, "--threads", 2, "--out",
                 "whole"]
        return float(re.search(r"^  together +([\d.]+) MiB", text, re.MULTILINE)[1]), self.measure(words) / 2**20


def check_whole(tool, models):
    random = np.random.default_rng(3)
    pictures, text = ["--data", "pictures.npz", "--labels", "y"], ["--data", "tokens=text.npy", "--window", "64"]
    np.savez(tool.folder / "pictures.npz", x=random.normal(size=(512, 1, 28, 28)).astype(np.float32), y=random.integers(0, 10, 512))
    np.save(tool.folder / "text.npy", random.integers(0, 128, 4096).astype(np.int32))
    np.savez(tool.folder / "empty.npz", x=np.ones((8, 1), np.float32), y=np.zeros(8, np.int64))
    make_empty_model(tool.folder / "empty.onnx")
    _, nothing = tool.whole("empty.onnx", ["--data", "empty.npz", "--labels", "y"], 4)
    for name, data, batch, *options in (("cnn", pictures, 320), ("cnn", pictures, 320, "--eval-data", "pictures.npz"),
                                        ("gpt", text, 8, "--accumulate", "2"),
                                        ("gpt", text, 8, "--eval-data", "tokens=text.npy", "--moments", "bf16")):
        planned, peak = tool.whole(models / f"{name}.onnx", data, batch, *options)
        print(f"{name} {' '.join(options)}: planned {planned:.1f} MiB, measured {peak - nothing:.1f}", flush=True)
        assert planned >= 100 and abs(peak - nothing - planned) <= 0.05 * planned, (name, options, planned, peak - nothing)


def main():
    folder = pathlib.Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    make_model(folder / "model.onnx")
    random = np.random.default_rng(2)
    np.savez(folder / "data.npz", x=random.normal(size=(LARGE, 16)).astype(np.float32), y=random.integers(0, 4, LARGE))
    tool = Tool(sys.argv[1], folder)
    check_whole(tool, pathlib.Path(sys.argv[3]).resolve())

    kept, losses = {}, {}
    for recompute in ("none", "blocks", "auto:60M", "auto:10M"):
        step = tool.compile(recompute)
        name = step.removesuffix(".stone")
        recomputed = tool.counters(step).get("recomputed", 0)
        assert (recomputed > 0) == (recompute != "none"), recomputed
        large, small = tool.plan(step, LARGE), tool.plan(step, SMALL)
        peak, losses[recompute] = tool.peak(step, LARGE, f"{name}-large")
        least, _ = tool.peak(step, SMALL, f"{name}-small")
        planned, measured = large["together"] - small["together"], peak - least
        print(f"{recompute}: {recomputed} operators again; {large['intermediates'] / 2**20:.1f} MiB of intermediates; "
              f"planned {planned / 2**20:.1f} MiB more than with a small batch, measured {measured / 2**20:.1f}")
        assert abs(measured - planned) <= 0.05 * planned + 2 * 2**20, (measured, planned)
        kept[recompute] = large["intermediates"]

    evaluated = ("--eval-data", "data.npz")
    assert "evaluation" not in tool.plan("none.stone", LARGE)
    large, small = (tool.plan("none.stone", batch, *evaluated) for batch in (LARGE, SMALL))
    assert large["evaluation"] > 0, large
    planned = large["together"] - small["together"]
    measured = (tool.peak("none.stone", LARGE, "evaluated-large", *evaluated)[0]
                - tool.peak("none.stone", SMALL, "evaluated-small", *evaluated)[0])
    print(f"with evaluations: planned {planned / 2**20:.1f} MiB more than with a small batch, measured {measured / 2**20:.1f}")
    assert abs(measured - planned) <= 0.05 * planned + 2 * 2**20, (measured, planned)

    assert kept["blocks"] < 0.8 * kept["none"], kept
    assert kept["blocks"] <= kept["auto:60M"] <= kept["none"], kept
    # Few bytes take products of narrow layers again.
    assert kept["auto:10M"] < 0.8 * kept["blocks"], kept
    for recompute in ("blocks", "auto:60M", "auto:10M"):
        assert np.allclose(losses[recompute], losses["none"], rtol=1e-6, atol=0), losses


main()
