"""Trainings by a pipeline whose ranks are processes of mpirun's: pipeline_ranks.py FREESTONE FOLDER [LAUNCHER].

They give the bytes of one process, also when a rank is killed or stopped on the way; what differs between ranks is refused.
With a LAUNCHER, such as another MPI's `mpirun.mpich`, that one starts the ranks. Skipped without it.
"""

import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

import numpy as np

from command import Command
from graphs import FLOAT, draw, fan_in, node, save

CLASSES, SAMPLES, STEPS, RANKS = 10, 48, 200, 3
RANK = re.compile(rb"\b(?:OMPI_COMM_WORLD|PMI)_RANK=(\d+)")


def make_models(folder):
    for name, widths in (("model", (30, 40, 50, 60, CLASSES)), ("other", (30, 40, 50, 64, CLASSES))):
        layers = list(zip(widths, widths[1:]))
        nodes = []
        for i, _ in enumerate(layers):
            last = i + 1 == len(layers)
            nodes.append(node("Gemm", [f"x{i}" if i else "x", f"w{i}"], ["logits" if last else f"h{i}"], transB=1))
            if not last:
                nodes.append(node("Relu", [f"h{i}"], [f"x{i + 1}"]))
        save(folder / f"{name}.onnx", nodes, [("x", FLOAT, ["n", widths[0]])], [("logits", FLOAT, ["n", CLASSES])],
             draw(1, {f"w{i}": (outputs, inputs) for i, (inputs, outputs) in enumerate(layers)}, fan_in))
    generator = np.random.default_rng(1)
    x = generator.normal(size=(SAMPLES, 30)).astype(np.float32)
    np.savez(folder / "data.npz", x=x, y=(x @ generator.normal(size=(30, CLASSES))).argmax(1))


def words(run, *options, model="model.onnx", save_every=10):
    return ["train", model, "--data", "data.npz", "--labels", "y", "--lr", 0.001, "--epochs", 1000, "--threads", 1, "--steps",
            STEPS, "--batch", 8, "--micro-batches", 4, "--save-every", save_every, "--out", run, *options]


def start(tool, *options):
    return subprocess.Popen([tool.path, *map(str, options)], cwd=tool.folder, env=tool.environment, text=True,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def find_ranks(folder):
    """The processes of ranks that train in a folder: process → rank."""
    found = {}
    for process in pathlib.Path("/proc").iterdir():
        try:
            rank = RANK.search((process / "environ").read_bytes()) if process.name.isdigit() else None
            if rank and os.readlink(process / "cwd") == str(folder):
                found[int(process.name)] = int(rank[1])
        except OSError:
            pass  # it has ended, or is another user's
    return found


def disturb(tool, expected, kind, chance, delay, *options, ranks=range(RANKS), told="starting all ranks again"):
    """One of `ranks` gets a signal on the way, maybe while it writes a checkpoint; the training must end as if nothing had
    been. Whether it told so."""
    tool.remove("disturbed")
    process = start(tool, *words("disturbed", "--ranks", RANKS, *options, save_every=chance.choice((1, 10))))
    while process.poll() is None and not (tool.folder / "disturbed/metrics.jsonl").exists():
        time.sleep(0.01)
    time.sleep(delay)
    found = [process for process, rank in find_ranks(tool.folder).items() if rank in ranks]
    if found:
        os.kill(chance.choice(found), kind)
    said = process.communicate(timeout=120)[1]
    assert process.returncode == 0, said
    assert tool.model("disturbed") == expected, said
    assert tool.metrics("disturbed", "step") == list(range(1, STEPS + 1)), said
    return told in said


def refuse(tool, part, *jobs, second="."):
    """Jobs of one rank each that do not belong together: one clear error, and no process stays. The second one's folder
    may be another one."""
    arguments = []
    for job, folder in zip(jobs, (".", second)):
        arguments += [":"] * bool(arguments) + ["-n", "1", "--wdir", str(tool.folder / folder), str(tool.path), *map(str, job)]
    result = subprocess.run(["mpirun", *arguments], cwd=tool.folder, env=tool.environment, text=True,
                            capture_output=True, timeout=100)
    assert result.returncode != 0 and part in result.stderr, result.stderr
    assert not find_ranks(tool.folder)


def choose(tool, launcher):
    """Makes a launcher the first `mpirun` of PATH. It must be called where it stands, beside what it needs."""
    folder = tool.folder / "launcher"
    folder.mkdir()
    script = folder / "mpirun"
    script.write_text(f'#!/bin/sh\nexec {shutil.which(launcher)} "$@"\n')
    script.chmod(0o755)
    tool.environment["PATH"] = f"{folder}{os.pathsep}{tool.environment['PATH']}"


def main():
    launcher = sys.argv[3] if len(sys.argv) > 3 else "mpirun"
    if not shutil.which(launcher):
        sys.exit(77)
    tool = Command(*sys.argv[1:3])
    tool.environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                         "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    isOther = launcher != "mpirun"
    if isOther:
        choose(tool, launcher)
    make_models(tool.folder)
    tool.run(*words("one", "--ranks", 1))
    expected = tool.model("one")
    for schedule, variable in (("gpipe", "FREESTONE_NONE"), ("zb-h1", "FREESTONE_MPI_SYNCHRONOUS")):
        tool.remove("several")
        tool.environment[variable] = "1"
        said = tool.run(*words("several", "--ranks", RANKS, "--pipeline-schedule", schedule)).stderr
        del tool.environment[variable]
        assert tool.model("several") == expected, schedule
        assert tool.timeless("several") == tool.timeless("one"), schedule
        assert "WARN" not in said, said

    chance = random.Random(1)
    survived = [disturb(tool, expected, signal.SIGKILL, chance, chance.uniform(0, 0.5)) for _ in range(3 if isOther else 4)]
    assert any(survived), "no kill came in time"
    if isOther:
        return
    # On a busy machine, a training may end before the signal comes.
    assert any(disturb(tool, expected, signal.SIGSTOP, chance, 0) for _ in range(3))
    assert any(disturb(tool, expected, signal.SIGSTOP, chance, 0, "--rank-patience", 2, ranks=[2],
                       told="nothing has moved for 2.0 s: rank") for _ in range(3))

    refuse(tool, "another model", words("refused"), words("refused", model="other.onnx"))
    refuse(tool, "mpirun has started 2", words("refused", "--ranks", 3), words("refused", "--ranks", 3))
    # As on machines without a file system that they share.
    (tool.folder / "elsewhere").mkdir()
    for file in ("model.onnx", "data.npz"):
        shutil.copy(tool.folder / file, tool.folder / "elsewhere" / file)
    refuse(tool, "does not see what rank 0 writes to 'refused/checkpoints'", words("refused"), words("refused"),
           second="elsewhere")
    (tool.folder / "elsewhere/data.npz").unlink()
    refuse(tool, f"rank 1 of 2: on {socket.gethostname()}: --data: ", words("refused"), words("refused"), second="elsewhere")


main()
