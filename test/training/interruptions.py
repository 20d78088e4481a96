"""A training that is stopped goes on as if it had not been: interruptions.py FREESTONE FOLDER.

Ctrl-C writes a checkpoint and says how to go on; kill -9 at any moment loses at most the steps since the last checkpoint.
Parameters, moments, the order of the data, random numbers and the loss scale are then the same bits, with accumulation and
in fp16 too. On a terminal there is a bar, elsewhere there are lines. FREESTONE_TEST_KILLS is the number of kills, 210 by
default.
"""

import collections
import json
import os
import pty
import random
import re
import signal
import subprocess
import sys
import time

import numpy as np

from command import Command
from graphs import FLOAT, INT64, constant, draw, node, save

STEPS = 1200
SAVE_EVERY = 5, 40
RARELY = SAVE_EVERY[1]  # where nothing stops a training
KILLS = int(os.environ.get("FREESTONE_TEST_KILLS", 210))


def make_model(path):
    """tokens i64[b, s] → table, Dropout, Gelu, projection → logits f32[b, s, 11]."""
    save(path,
         [node("Gather", ["table", "tokens"], ["e"]), node("Dropout", ["e", "ratio"], ["d"]),
          node("MatMul", ["d", "w"], ["h"]), node("Gelu", ["h"], ["g"]), node("MatMul", ["g", "head"], ["logits"])],
         [("tokens", INT64, ["b", "s"])], [("logits", FLOAT, ["b", "s", 11])],
         [*draw(1, {"table": (11, 48), "w": (48, 48), "head": (48, 11)}), constant("ratio", 0.2)])


def words(model, run, *options, resume=False, steps=STEPS, save_every=5):
    """Those of a training's command."""
    return [model, "--data", "text.npy", "--window", "4:24", "--batch", 6, "--epochs", 100, "--lr", 0.01, "--schedule",
            "cosine", "--warmup", 5, "--seed", 7, "--threads", 2, "--steps", steps, "--save-every", save_every,
            "--resume" if resume else "--out", run, *options]


def last_told(tool, run):
    """The last step in metrics.jsonl, which has every one before it. Its last line may be torn."""
    path = tool.folder / run / "metrics.jsonl"
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    if lines:
        assert json.loads(lines[-1])["step"] == len(lines), (run, lines[-1])
    return len(lines)


def checkpoints(tool, run):
    """The steps that there is one of, and how many were being written when the writer was killed."""
    folder = tool.folder / run / "checkpoints"
    names = [path.name for path in folder.iterdir()] if folder.exists() else []
    return [int(name[5:]) for name in names if name.startswith("step-")], sum(name.endswith(".tmp") for name in names)


def saved(tool, run):
    """All that the last checkpoint holds, the trained model and what was told on the way."""
    last = max((tool.folder / run / "checkpoints").iterdir())
    files = {path.name: path.read_bytes() for path in last.glob("*.safetensors")}
    return last.name, files, tool.model(run), tool.timeless(run)


class Start:
    """A training that runs beside the test."""

    def __init__(self, tool, *arguments, **more):
        self.begin = time.monotonic()
        command = [tool.path, "train", *map(str, words(*arguments, **more))]
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
        start = Start(tool, f"{run}.stone", f"{run}-interrupted", *options, resume=resume)
        start.first_step()
        time.sleep(random.uniform(0, 0.2))
        assert start.end(signal.SIGINT) == 0, start.message
        done = last_told(tool, f"{run}-interrupted")
        if done < STEPS:
            for part in (f"stopped after step {done}", f"--resume {run}-interrupted"):
                assert part in start.message, start.message
            assert max(checkpoints(tool, f"{run}-interrupted")[0]) == done
    tool.train(*words(f"{run}.stone", f"{run}-interrupted", *options, resume=True, save_every=RARELY))
    assert saved(tool, f"{run}-interrupted") == whole, run


def check_kills(tool, whole, name, options, counts):
    """Kills one training after the other, each time where it has come to, until there were enough kills."""
    run, model = f"{name}-killed", f"{name}.stone"
    last, startup, kills = 0, 0.05, 0
    while kills < KILLS / 3:
        if not last:
            tool.remove(run)
        save_every = random.choice(SAVE_EVERY)
        start = Start(tool, model, run, *options, resume=last > 0, save_every=save_every)
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
            assert saved(tool, run) == whole, name
            counts["ended"] += 1
            last = 0
            continue
        kills += 1
        steps, torn = checkpoints(tool, run)
        left, told = max(steps, default=0), last_told(tool, run)
        if last and "going on" in start.message:
            assert f"step-{last:06}\n" in start.message, (last, start.message)
        # A checkpoint is begun when the one before is there, so at most one was under way besides the steps since the last.
        # Where this start has told nothing, the lines are of one before.
        lost = told - left
        assert last <= left <= told and lost < 2 * (save_every if shown else max(SAVE_EVERY)), (last, left, told, save_every)
        assert told >= shown, "a step that was shown is not in metrics.jsonl"
        counts["kills"] += 1
        counts["stepping"] += told > last and shown > 0
        counts["checkpoint torn"] += torn > 0
        counts["steps lost"] += lost
        last = left
    if last:
        tool.train(*words(model, run, *options, resume=True, save_every=RARELY))
        assert saved(tool, run) == whole, name
        assert checkpoints(tool, run)[1] == 0, "what a killed writer left is still there"


def check_terminal(tool):
    leader, follower = pty.openpty()
    process = subprocess.Popen([tool.path, "train", *map(str, words("model.onnx", "terminal", steps=240))], cwd=tool.folder,
                               stderr=follower, env={**os.environ, "COLUMNS": "160"})
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
    lines = tool.train(*words("model.onnx", "lines", steps=240)).stderr
    assert "\r" not in lines and f"step 240/240" in lines and "samples/s" in lines, lines
    folder = tool.folder / "lines"
    assert (folder / "loss.svg").read_text().startswith("<svg") and (folder / "model.stone").stat().st_size > 0
    step = tool.lines("lines")[-1]
    assert step.keys() >= {"step", "loss", "grad_norm", "lr", "scale", "skipped", "samples_per_s"}, step


def main():
    tool = Command(*sys.argv[1:])
    make_model(tool.folder / "model.onnx")
    text = np.cumsum(np.random.default_rng(2).integers(0, 3, 30000)) % 11
    np.save(tool.folder / "text.npy", text.astype(np.uint16))
    # What is compiled in, and what each start is told.
    variants = {"plain": ([], []), "summed": (["--accumulate", "3"], ["--accumulate", "3"]),
                "narrow": (["--precision", "fp16", "--moments", "bf16"], ["--growth-interval", "4", "--init-scale", "1e6"])}
    counts = collections.Counter()
    for name, (compiled, told) in variants.items():
        tool.train("model.onnx", "--window", "4:24", "--compile-only", "-o", f"{name}.stone", *compiled)
        message = tool.train(*words(f"{name}.stone", name, *told, save_every=RARELY)).stderr
        assert ("  scale " in message) == (name == "narrow"), message
        whole = saved(tool, name)
        check_interrupts(tool, whole, name, told)
        check_kills(tool, whole, name, told, counts)
    print(dict(counts))
    assert counts["kills"] >= KILLS and counts["stepping"] > counts["kills"] / 2, counts
    assert counts["checkpoint torn"] > counts["kills"] / 20, counts
    check_terminal(tool)


main()
