"""Trainings over ranks that lose some of them: faults.py FOLDER [--kills 200] [--stops 20] [--damages 40].

Each training is disturbed once, at a random moment: a rank is killed (every other time while a checkpoint is written), a rank
is stopped, or all are killed and the newest checkpoint is damaged, before the training is resumed. Each must end with the
bytes and the steps of the undisturbed one, and leave no process. Prints how long it took until the ranks were started again.
"""

import argparse
import os
import pathlib
import random
import re
import signal
import statistics
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/training"))
from command import Command
from graphs import FLOAT, draw, fan_in, node, save

import numpy as np

BUILD = pathlib.Path(os.environ.get("FREESTONE_BUILD", ROOT / "build"))
RANKS, STEPS, SAMPLES, WIDTHS = 3, 300, 96, (64, 256, 256, 256, 256, 10)
RANK = re.compile(rb"\b(OMPI_COMM_WORLD|PMI)_RANK=")


def make_model(folder):
    layers = list(zip(WIDTHS, WIDTHS[1:]))
    nodes = []
    for i, _ in enumerate(layers):
        nodes += [node("Gemm", [f"r{i}" if i else "x", f"w{i}"], [f"h{i}"], transB=1), node("Tanh", [f"h{i}"], [f"r{i + 1}"])]
    save(folder / "model.onnx", nodes, [("x", FLOAT, ["n", WIDTHS[0]])], [(f"r{len(layers)}", FLOAT, ["n", WIDTHS[-1]])],
         draw(1, {f"w{i}": (outputs, inputs) for i, (inputs, outputs) in enumerate(layers)}, fan_in))
    x = np.random.default_rng(1).normal(size=(SAMPLES, WIDTHS[0])).astype(np.float32)
    np.savez(folder / "data.npz", x=x, y=np.arange(SAMPLES) % WIDTHS[-1])


def words(*options):
    return ["train", "model.onnx", "--data", "data.npz", "--labels", "y", "--epochs", 1000, "--steps", STEPS, "--threads", 1,
            "--batch", 8, "--micro-batches", 4, "--save-every", 5, *options]


class Job:
    """A training that was started; the times of what it says."""

    def __init__(self, tool, *options):
        self.folder, self.said = tool.folder, []
        self.process = subprocess.Popen([tool.path, *map(str, words(*options))], cwd=tool.folder, env=tool.environment, text=True,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stderr:
            self.said.append((time.monotonic(), line))

    def text(self):
        return "".join(line for _, line in self.said)

    def restarted(self):
        """When the supervisor has started the ranks again; None: never."""
        return next((when for when, line in self.said if "starting all ranks again" in line), None)

    def wait_for(self, path, moment=0.0):
        """Until a path is there and some time more, or the end."""
        while self.process.poll() is None and not any((self.folder / "run").glob(path)):
            time.sleep(0.0005)
        time.sleep(moment)

    def end(self):
        self.process.wait(timeout=200)
        self.reader.join()
        return self.process.returncode


def find_ranks(folder):
    found = []
    for process in pathlib.Path("/proc").iterdir():
        try:
            if (process.name.isdigit() and RANK.search((process / "environ").read_bytes())
                    and os.readlink(process / "cwd") == str(folder)):
                found.append(int(process.name))
        except OSError:
            pass  # it has ended, or is another user's
    return found


def check(tool, job, expected):
    assert tool.model("run") == expected, job.text()
    assert tool.metrics("run", "step") == list(range(1, STEPS + 1)), job.text()
    deadline = time.monotonic() + 10
    while find_ranks(tool.folder):
        assert time.monotonic() < deadline, find_ranks(tool.folder)
        time.sleep(0.05)


def undisturbed(tool, expected):
    """Seconds from the first step on."""
    tool.remove("run")
    job = Job(tool, "--ranks", RANKS, "--out", "run")
    job.wait_for("metrics.jsonl")
    begin = time.monotonic()
    assert job.end() == 0, job.text()
    check(tool, job, expected)
    return time.monotonic() - begin


def disturb(tool, expected, kind, chance, longest, meets_checkpoint):
    """Seconds until the ranks were started again; None: the training had ended before."""
    tool.remove("run")
    job = Job(tool, "--ranks", RANKS, "--out", "run")
    job.wait_for("metrics.jsonl", chance.uniform(0, longest))
    if meets_checkpoint:
        job.wait_for("checkpoints/.step-*")
    ranks, sent = find_ranks(tool.folder), time.monotonic()
    if ranks:
        try:
            os.kill(chance.choice(ranks), kind)
        except ProcessLookupError:
            pass
    assert job.end() == 0, job.text()
    check(tool, job, expected)
    return job.restarted() - sent if job.restarted() else None


def damage(tool, expected, chance, longest):
    """A training that ended without warning, and whose newest checkpoint has lost bytes, or a bit."""
    tool.remove("run")
    job = Job(tool, "--ranks", RANKS, "--out", "run")
    job.wait_for("checkpoints/step-*", chance.uniform(0, longest))
    job.process.kill()
    job.end()
    while find_ranks(tool.folder):
        time.sleep(0.01)
    steps = sorted((tool.folder / "run/checkpoints").glob("step-*"))
    if len(steps) < 2:
        return False
    file = chance.choice(sorted(steps[-1].iterdir()))
    content = bytearray(file.read_bytes())
    place = chance.randrange(len(content))
    if chance.random() < 0.5:
        file.write_bytes(content[:place])
    else:
        content[place] ^= 1 << chance.randrange(8)
        file.write_bytes(content)
    again = Job(tool, "--ranks", RANKS, "--resume", "run")
    assert again.end() == 0, (file, again.text())
    check(tool, again, expected)
    return True


def describe(times):
    came = sorted(seconds for seconds in times if seconds is not None)
    if not came:
        return f"{len(times)}, none in time"
    return f"{len(times)}, {len(came)} in time; started again after {came[0]:.2f} to {came[-1]:.2f} s, median {statistics.median(came):.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--stops", type=int, default=20)
    parser.add_argument("--damages", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    tool = Command(BUILD / "bin/freestone", options.folder)
    chance = random.Random(options.seed)
    make_model(tool.folder)
    tool.run(*words("--ranks", 1, "--out", "one"))
    expected = tool.model("one")
    longest = min(undisturbed(tool, expected) for _ in range(3))
    print(f"undisturbed: {longest:.2f} s from the first step on", flush=True)
    for name, kind, count in (("kills", signal.SIGKILL, options.kills), ("stops", signal.SIGSTOP, options.stops)):
        times = []
        for i in range(count):
            times.append(disturb(tool, expected, kind, chance, 0.8 * longest, i % 2 == 1))
            if i % 20 == 19 or i + 1 == count:
                print(f"{name}: {describe(times)}", flush=True)
    damaged = sum(damage(tool, expected, chance, 0.5 * longest) for _ in range(options.damages))
    print(f"damaged checkpoints: {options.damages}, {damaged} with an older one to go back to", flush=True)


if __name__ == "__main__":
    main()
