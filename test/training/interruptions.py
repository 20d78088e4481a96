"""A training that is stopped goes on as if it had not been: interruptions.py FREESTONE FOLDER.

Ctrl-C writes a checkpoint and says how to go on; kill -9 at any moment loses at most the steps since the last checkpoint.
Parameters, moments, the order of the data, random numbers and the loss scale are then the same bits, with accumulation and in fp16
too. On a terminal there is a bar, elsewhere there are lines.
"""

import json
import os
import pathlib
import pty
import random
import shutil
import signal
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

STEPS = 240


def make_model(path):
    """tokens [b, s] → table, Dropout, Gelu, projection → logits [b, s, 11]."""
    generator = np.random.default_rng(1)
    weights = [numpy_helper.from_array(generator.normal(scale=0.3, size=shape).astype(np.float32), name)
               for name, shape in (("table", (11, 48)), ("w", (48, 48)), ("head", (48, 11)))]
    weights.append(numpy_helper.from_array(np.float32(0.2), "ratio"))
    node = helper.make_node
    nodes = [node("Gather", ["table", "tokens"], ["e"]), node("Dropout", ["e", "ratio"], ["d"]), node("MatMul", ["d", "w"], ["h"]),
             node("Gelu", ["h"], ["g"]), node("MatMul", ["g", "head"], ["logits"])]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "model", [value("tokens", TensorProto.INT64, ["b", "s"])],
                              [value("logits", TensorProto.FLOAT, ["b", "s", 11])], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)


class Tool:
    def __init__(self, path, folder):
        self.path, self.folder = path, folder

    def command(self, run, *options, resume=False):
        words = [self.path, "train", "model.onnx", "--data", "text.npy", "--window", "4:24", "--batch", "6", "--epochs", "100", "--lr",
                 "0.01", "--schedule", "cosine", "--warmup", "5", "--seed", "7", "--threads", "2", "--steps", STEPS, "--save-every", "8",
                 "--resume" if resume else "--out", run, *options]
        return [str(word) for word in words]

    def train(self, run, *options, **more):
        result = subprocess.run(self.command(run, *options, **more), cwd=self.folder, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
        return result.stderr

    def saved(self, run):
        """All that the last checkpoint holds, the trained model and what was told on the way."""
        root = self.folder / run
        last = max((root / "checkpoints").iterdir())
        files = {path.name: path.read_bytes() for path in last.iterdir() if path.suffix == ".safetensors"}
        lines = [json.loads(line) for line in (root / "metrics.jsonl").read_text().splitlines()]
        for line in lines:
            del line["samples_per_s"], line["tokens_per_s"]
        return last.name, files, (root / "model.onnx").read_bytes(), lines


def start(tool, run, options, resume):
    return subprocess.Popen(tool.command(run, *options, resume=resume), cwd=tool.folder, stderr=subprocess.PIPE, text=True)


def steps_of(tool, run):
    path = tool.folder / run / "metrics.jsonl"
    return path.read_text().count("\n") if path.exists() else 0


def wait_for(process, condition):
    while not condition() and process.poll() is None:
        pass
    return process.poll() is None


def check_interrupt(tool, whole, name, options):
    run = f"{name}-interrupted"
    process = start(tool, run, options, resume=False)
    wait_for(process, lambda: steps_of(tool, run) > 10)
    process.send_signal(signal.SIGINT)  # on a busy machine it may have ended
    message = process.communicate()[1]
    assert process.returncode == 0, message
    done = steps_of(tool, run)
    if done < STEPS:
        assert f"stopped after step {done}" in message and f"--resume {run}" in message, message
    tool.train(run, *options, resume=True)
    assert tool.saved(run) == whole, name


def check_kills(tool, whole, name, options):
    run = f"{name}-killed"
    for kill in range(12):
        checkpoints = tool.folder / run / "checkpoints"
        exists = checkpoints.exists() and any(path.name.startswith("step-") for path in checkpoints.iterdir())
        if not exists:
            shutil.rmtree(tool.folder / run, ignore_errors=True)
        before = max((int(path.name[5:]) for path in checkpoints.iterdir() if path.name.startswith("step-")), default=0) if exists else 0
        process = start(tool, run, options, resume=exists)
        more = random.randrange(1, 30)
        wait_for(process, lambda: steps_of(tool, run) >= before + more)
        process.kill()
        process.communicate()
        told = steps_of(tool, run)
        left = max((int(path.name[5:]) for path in checkpoints.iterdir() if path.name.startswith("step-")), default=0)
        # One checkpoint may have been under way, besides the steps since the last one.
        assert told - left <= 2 * 8 + 1, (told, left)
        if left == STEPS:
            break
    tool.train(run, *options, resume=True)
    assert tool.saved(run) == whole, name


def check_terminal(tool):
    leader, follower = pty.openpty()
    process = subprocess.Popen(tool.command("terminal"), cwd=tool.folder, stderr=follower, env={**os.environ, "COLUMNS": "160"})
    os.close(follower)
    text = b""
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:
            break
        if not part:
            break
        text += part
    assert process.wait() == 0
    assert b"\r" in text and b"step" in text and b"lr" in text, text[-500:]
    lines = tool.train("lines")
    assert "\r" not in lines and f"step {STEPS}/{STEPS}" in lines and "samples/s" in lines, lines
    folder = tool.folder / "lines"
    assert (folder / "loss.svg").read_text().startswith("<svg") and (folder / "model.stone").stat().st_size > 0
    step = json.loads((folder / "metrics.jsonl").read_text().splitlines()[-1])
    assert step.keys() >= {"step", "loss", "grad_norm", "lr", "scale", "skipped", "samples_per_s"}, step


def main():
    folder = pathlib.Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    make_model(folder / "model.onnx")
    text = np.cumsum(np.random.default_rng(2).integers(0, 3, 30000)) % 11
    np.save(folder / "text.npy", text.astype(np.uint16))
    tool = Tool(sys.argv[1], folder)
    variants = {"plain": [], "summed": ["--accumulate", "3"],
                "narrow": ["--precision", "fp16", "--growth-interval", "4", "--init-scale", "1e6", "--moments", "bf16"]}
    for name, options in variants.items():
        tool.train(name, *options)
        whole = tool.saved(name)
        check_interrupt(tool, whole, name, options)
        check_kills(tool, whole, name, options)
    check_terminal(tool)


main()
