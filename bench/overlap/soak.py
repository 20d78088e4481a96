"""A training of a million tiny steps, and what it keeps in memory: soak.py [--steps N] [--threads N].

A small MLP in batches of 64, evaluated after every 1,000 steps, a checkpoint after every 5,000. Twenty times, in equal
distances of steps, what the process holds is printed. It takes some ten minutes, and so is no test; the tests have a shorter
one without files (`Queue.ManyTinyStepsNeedNoMoreMemory`).
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import freestone_runtime

SAMPLES, BATCH, WIDTHS = 64_000, 64, (32, 128, 128, 10)


def make_model(path, random):
    """x [n, 32] → MatMul and Relu, again and again → logits [n, 10]."""
    weights, nodes, value = [], [], "x"
    for layer, shape in enumerate(zip(WIDTHS, WIDTHS[1:])):
        scaled = (random.normal(size=shape) / np.sqrt(shape[0])).astype(np.float32)
        weights.append(numpy_helper.from_array(scaled, f"w{layer}"))
        nodes.append(helper.make_node("MatMul", [value, f"w{layer}"], [f"h{layer}"]))
        nodes.append(helper.make_node("Relu", [f"h{layer}"], [f"a{layer}"]))
        value = f"a{layer}"
    nodes[-1] = helper.make_node("Identity", [f"h{layer}"], ["logits"])
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "model", [info("x", TensorProto.FLOAT, ["n", WIDTHS[0]])],
                              [info("logits", TensorProto.FLOAT, ["n", WIDTHS[-1]])], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)


def write_data(folder, random):
    x = random.normal(size=(SAMPLES, WIDTHS[0])).astype(np.float32)
    y = (x @ random.normal(size=(WIDTHS[0], WIDTHS[-1]))).argmax(1)
    np.savez(folder / "data.npz", x=x, y=y)
    np.savez(folder / "test.npz", x=x[: 10 * BATCH], y=y[: 10 * BATCH])


def memory_of(process):
    """Kibibytes by the names of /proc/PID/status; nothing of a process that has ended."""
    try:
        lines = pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines()
    except FileNotFoundError:
        return {}
    return {name: int(rest.split()[0]) for name, rest in (line.split(":", 1) for line in lines) if rest.endswith(" kB")}


def last_step(metrics):
    """The step of the last whole line; 0: none yet."""
    if not metrics.exists():
        return 0
    with open(metrics, "rb") as file:
        file.seek(0, 2)
        file.seek(max(0, file.tell() - 1000))
        lines = file.read().split(b"\n")
    return int(lines[-2].split(b'"step":')[1].split(b",")[0]) if len(lines) > 2 else 0


def soak(folder, steps, threads):
    options = {"batch": BATCH, "steps": steps, "epochs": steps, "save-every": 5000, "lr": "1e-4", "threads": threads}
    command = [freestone_runtime.freestone(), "train", "model.onnx", "--data", "data.npz", "--eval-data", "test.npz"]
    command += ["--labels", "y", "--out", "run", *(f"--{name}={value}" for name, value in options.items())]
    begin = time.monotonic()
    with open(folder / "log.txt", "w") as log:
        process = subprocess.Popen([str(word) for word in command], cwd=folder, stdout=log, stderr=log)
    print("| steps | s | resident KiB | of these of no file | address space of data, KiB |\n|---|---|---|---|---|", flush=True)
    upcoming = 1
    while process.poll() is None:
        time.sleep(0.2)
        step, memory = last_step(folder / "run" / "metrics.jsonl"), memory_of(process)
        if step < upcoming or "VmRSS" not in memory:
            continue
        upcoming += max(steps // 20, 1)
        print(f"| {step} | {time.monotonic() - begin:.0f} | {memory['VmRSS']} | {memory['RssAnon']} | {memory['VmData']} |", flush=True)
    print(f"\n{steps} steps in {time.monotonic() - begin:.0f} s")
    if process.returncode != 0:
        sys.exit((folder / "log.txt").read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    random = np.random.default_rng(1)
    with tempfile.TemporaryDirectory(prefix="freestone-soak-") as name:
        folder = pathlib.Path(name)
        make_model(folder / "model.onnx", random)
        write_data(folder, random)
        soak(folder, arguments.steps, arguments.threads)


if __name__ == "__main__":
    main()
