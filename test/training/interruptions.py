"""A training that is stopped goes on as if it had not been: interruptions.py FREESTONE FOLDER.

Ctrl-C writes a checkpoint and says how to go on; kill -9 at any moment loses at most the steps since the last checkpoint.
Parameters, moments, the order of the data, random numbers and the loss scale are then the same bits, with accumulation and in fp16
too. On a terminal there is a bar, elsewhere there are lines. FREESTONE_TEST_KILLS is the number of kills, 210 by default.
"""

import collections
import json
import os
import pathlib
import pty
import random
import re
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

STEPS = 1200
SAVE_EVERY = 5, 40
KILLS = int(os.environ.get("FREESTONE_TEST_KILLS", 210))


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

    def command(self, model, run, *options, resume=False, steps=STEPS, save_every=5):
        words = [self.path, "train", model, "--data", "text.npy", "--window", "4:24", "--batch", "6", "--epochs", "100", "--lr",
                 "0.01", "--schedule", "cosine", "--warmup", "5", "--seed", "7", "--threads", "2", "--steps", steps, "--save-every",
                 save_every, "--resume" if resume else "--out", run, *options]
        return [str(word) for word in words]

    def call(self, command):
        result = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
        return result.stderr

    def train(self, model, run, *options, **more):
        return self.call(self.command(model, run, *options, **more))

    def checkpoints(self, run):
        """The steps that there is one of, and how many were being written when the writer was killed."""
        folder = self.folder / run / "checkpoints"
        names = [path.name for path in folder.iterdir()] if folder.exists() else []
        return [int(name[5:]) for name in names if name.startswith("step-")], sum(name.endswith(".tmp") for name in names)

    def told(self, run):
        """The last step in metrics.jsonl, which has every one before it. Its last line may be torn."""
        path = self.folder / run / "metrics.jsonl"
        lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
        if lines:
            assert json.loads(lines[-1])["step"] == len(lines), (run, lines[-1])
        return len(lines)

    def saved(self, run):
        """All that the last checkpoint holds, the trained model and what was told on the way."""
        root = self.folder / run
        last = max((root / "checkpoints").iterdir())
        files = {path.name: path.read_bytes() for path in last.iterdir() if path.suffix == ".safetensors"}
        lines = [json.loads(line) for line in (root / "metrics.jsonl").read_text().splitlines()]
        for line in lines:
            del line["samples_per_s"], line["tokens_per_s"]
        return last.name, files, (root / "model.onnx").read_bytes(), lines


class Start:
    """A training that runs beside the test."""

    def __init__(self, tool, command):
        self.begin = time.monotonic()
        self.process = subprocess.Popen(command, cwd=tool.folder, stderr=subprocess.PIPE, text=True)
        self.message = ""

    def first_step(self):
        """Waits for a step to be told, and returns its number; 0 where the training ends without."""
        for line in self.process.stderr:
            self.message += line
            if step := re.search(r" step (\d+)/", line):
                return int(step[1])
        return 0

    def end(self, signal_number):
        self.process.send_signal(signal_number)  # it may have ended
        self.message += self.process.communicate()[1]
        return self.process.returncode


def check_interrupts(tool, whole, run, options):
    for resume in (False, True, True):
        start = Start(tool, tool.command(f"{run}.stone", f"{run}-interrupted", *options, resume=resume))
        start.first_step()
        time.sleep(random.uniform(0, 0.2))
        assert start.end(signal.SIGINT) == 0, start.message
        done = tool.told(f"{run}-interrupted")
        if done < STEPS:
            assert f"stopped after step {done}" in start.message and f"--resume {run}-interrupted" in start.message, start.message
            assert max(tool.checkpoints(f"{run}-interrupted")[0]) == done
    tool.train(f"{run}.stone", f"{run}-interrupted", *options, resume=True)
    assert tool.saved(f"{run}-interrupted") == whole, run


def check_kills(tool, whole, name, options, counts):
    """Kills one training after the other, each time where it has come to, until there were enough kills."""
    run, model = f"{name}-killed", f"{name}.stone"
    last, startup, kills = 0, 0.05, 0
    while kills < KILLS / 3:
        if not last:
            shutil.rmtree(tool.folder / run, ignore_errors=True)
        save_every = random.choice(SAVE_EVERY)
        start = Start(tool, tool.command(model, run, *options, resume=last > 0, save_every=save_every))
        shown = 0
        if random.random() < 0.2:
            time.sleep(random.uniform(0, startup))
        else:
            shown = start.first_step()
            startup = time.monotonic() - start.begin
            time.sleep(random.uniform(0, 0.12))
        status = start.end(signal.SIGKILL)
        assert status in (0, -signal.SIGKILL), start.message
        if status == 0:
            assert tool.saved(run) == whole, name
            counts["ended"] += 1
            last = 0
            continue
        kills += 1
        steps, torn = tool.checkpoints(run)
        left, told = max(steps, default=0), tool.told(run)
        if last and "going on" in start.message:
            assert f"step-{last:06}\n" in start.message, (last, start.message)
        # A checkpoint is begun when the one before is there, so at most one was under way besides the steps since the last.
        # Where this start has told nothing, the lines are of one before.
        assert last <= left <= told and told - left < 2 * (save_every if shown else max(SAVE_EVERY)), (last, left, told, save_every)
        assert told >= shown, "a step that was shown is not in metrics.jsonl"
        counts["kills"] += 1
        counts["stepping"] += told > last and shown > 0
        counts["checkpoint torn"] += torn > 0
        counts["steps lost"] += told - left
        last = left
    if last:
        tool.train(model, run, *options, resume=True)
        assert tool.saved(run) == whole, name
        assert tool.checkpoints(run)[1] == 0, "what a killed writer left is still there"


def check_terminal(tool):
    leader, follower = pty.openpty()
    process = subprocess.Popen(tool.command("model.onnx", "terminal", steps=240), cwd=tool.folder, stderr=follower, env={**os.environ, "COLUMNS": "160"})
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
    lines = tool.train("model.onnx", "lines", steps=240)
    assert "\r" not in lines and f"step 240/240" in lines and "samples/s" in lines, lines
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
    # What is compiled in, and what each start is told.
    variants = {"plain": ([], []), "summed": (["--accumulate", "3"], ["--accumulate", "3"]),
                "narrow": (["--precision", "fp16", "--moments", "bf16"], ["--growth-interval", "4", "--init-scale", "1e6"])}
    counts = collections.Counter()
    for name, (compiled, told) in variants.items():
        tool.call([tool.path, "train", "model.onnx", "--window", "4:24", "--compile-only", "-o", f"{name}.stone", *compiled])
        message = tool.train(f"{name}.stone", name, *told)
        assert ("  scale " in message) == (name == "narrow"), message
        whole = tool.saved(name)
        check_interrupts(tool, whole, name, told)
        check_kills(tool, whole, name, told, counts)
    print(dict(counts))
    assert counts["kills"] >= KILLS and counts["stepping"] > counts["kills"] / 2, counts
    assert counts["checkpoint torn"] > counts["kills"] / 20, counts
    check_terminal(tool)


main()
