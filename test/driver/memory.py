"""Memory of training steps: memory.py FREESTONE FOLDER.

What `--plan` tells before the first step is what the process then takes: its peak grows from a small batch to a large one by
as much as the plan, within 5 % and 2 MiB of pages. `--recompute` keeps less, which the compiler's counter and the plan show,
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

# Calls a command, and prints the kibibytes that it took at most.
MEASURE = """import os, resource, sys
if os.spawnvp(os.P_WAIT, sys.argv[1], sys.argv[1:]):
    sys.exit(1)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"""

LAYERS, WIDTH, LARGE, SMALL = 6, 256, 4096, 8


def make_model(path):
    """x [n, 16] → LAYERS times (MatMul, h·sigmoid(h), Dropout) → logits [n, 4]."""
    random = np.random.default_rng(1)
    weights = [numpy_helper.from_array(np.float32(0.1), "ratio")]
    nodes, value = [], "x"
    for layer, (rows, columns) in enumerate([(16, WIDTH)] + [(WIDTH, WIDTH)] * (LAYERS - 1)):
        scaled = random.normal(scale=1 / np.sqrt(rows), size=(rows, columns)).astype(np.float32)
        weights.append(numpy_helper.from_array(scaled, f"w{layer}"))
        nodes += [
            helper.make_node("MatMul", [value, f"w{layer}"], [f"h{layer}"]),
            helper.make_node("Sigmoid", [f"h{layer}"], [f"s{layer}"]),
            helper.make_node("Mul", [f"h{layer}", f"s{layer}"], [f"a{layer}"]),
            helper.make_node("Dropout", [f"a{layer}", "ratio"], [f"d{layer}"]),
        ]
        value = f"d{layer}"
    head = random.normal(scale=0.1, size=(WIDTH, 4)).astype(np.float32)
    weights.append(numpy_helper.from_array(head, "head"))
    nodes.append(helper.make_node("MatMul", [value, "head"], ["logits"]))
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "model", [info("x", TensorProto.FLOAT, ["n", 16])],
                              [info("logits", TensorProto.FLOAT, ["n", 4])], weights)
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

    def peak(self, step, batch, run, *options):
        """Bytes that a training takes at most, and its losses."""
        words = [self.path, "train", step, "--data", "data.npz", "--batch", str(batch), "--steps", "3", "--epochs", "3", "--out", run,
                 "--threads", "1", "--no-shuffle", *options]
        # Between the two stands a small process: a peak counts from that of the process which forks, and this one is large.
        done = subprocess.run([sys.executable, "-S", "-c", MEASURE, *words], cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
        assert done.returncode == 0, words
        most = int(done.stdout.splitlines()[-1]) * 1024
        lines = (self.folder / run / "metrics.jsonl").read_text().splitlines()
        return most, [json.loads(line)["loss"] for line in lines]


def main():
    folder = pathlib.Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    make_model(folder / "model.onnx")
    random = np.random.default_rng(2)
    np.savez(folder / "data.npz", x=random.normal(size=(LARGE, 16)).astype(np.float32), y=random.integers(0, 4, LARGE))
    tool = Tool(sys.argv[1], folder)

    kept, losses = {}, {}
    for recompute in ("none", "blocks", "auto:40M"):
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
    assert kept["blocks"] <= kept["auto:40M"] <= kept["none"], kept
    for recompute in ("blocks", "auto:40M"):
        assert np.allclose(losses[recompute], losses["none"], rtol=1e-6, atol=0), losses


main()
