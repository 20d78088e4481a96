"""What a training over ranks shows: pipeline_trace.py FREESTONE FOLDER.

One time line of all ranks, with each action of the schedule once a step, planned beside measured, and each transfer at both
ends; bubble and memory in the metrics. Ranks are threads, and processes where there is mpirun.
"""

import collections
import json
import shutil
import sys

import numpy as np

from command import Command
from graphs import FLOAT, draw, fan_in, node, save

# Layers of one size, so that each stage has one.
CLASSES, SAMPLES, STEPS, PARTS, WIDTHS = 64, 48, 6, 4, (64, 64, 64, 64, 64)


def make_model(folder):
    layers = list(zip(WIDTHS, WIDTHS[1:]))
    nodes = []
    for i, _ in enumerate(layers):
        nodes += [node("Gemm", [f"r{i}" if i else "x", f"w{i}"], [f"h{i}"], transB=1), node("Tanh", [f"h{i}"], [f"r{i + 1}"])]
    save(folder / "model.onnx", nodes, [("x", FLOAT, ["n", WIDTHS[0]])], [(f"r{len(layers)}", FLOAT, ["n", CLASSES])],
         draw(1, {f"w{i}": (outputs, inputs) for i, (inputs, outputs) in enumerate(layers)}, fan_in))
    x = np.random.default_rng(1).normal(size=(SAMPLES, WIDTHS[0])).astype(np.float32)
    np.savez(folder / "data.npz", x=x, y=np.arange(SAMPLES) % CLASSES)


def lanes_of(path, ranks):
    """(rank, lane) → events; times are in microseconds."""
    events = json.loads(path.read_text())["traceEvents"]
    names = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    assert names == {rank + 1: f"rank {rank} of {ranks}" for rank in range(ranks)}, names
    threads = {(event["pid"], event["tid"]): event["args"]["name"] for event in events if event["name"] == "thread_name"}
    lanes = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            assert event["ts"] >= 0 and event["dur"] >= 0, event
            lanes[event["pid"] - 1, threads[event["pid"], event["tid"]]].append(event)
    for (rank, lane), found in lanes.items():
        found.sort(key=lambda event: event["ts"])
        if lane != "host":
            for before, after in zip(found, found[1:]):
                assert before["ts"] + before["dur"] <= after["ts"] + 0.01, (rank, lane, before, after)
    return lanes


def check_actions(lanes, ranks):
    for rank in range(ranks):
        passes = [f"{letter}{rank}.{part}" for letter in "FB" for part in range(PARTS)]
        steps = range(1, STEPS + 1)
        expected = sorted((step, name) for step in steps for name in [*passes, f"U{rank}.{PARTS - 1}"])
        for lane in "passes", "planned passes":
            found = sorted((event["args"]["run"], event["name"]) for event in lanes[rank, lane])
            others = {name for _, name in found} - {name for _, name in expected}
            assert len(others) <= 1 and all(name.startswith("X") for name in others), (rank, lane, others)
            assert [action for action in found if action[1] not in others] == expected, (rank, lane, found)


def check_transfers(lanes, ranks):
    ends = {kind: {} for kind in "<>"}
    for (rank, lane), events in lanes.items():
        for event in events:
            for kind, verb in ("<", "receives from"), (">", "sends to"):
                if lane.startswith(verb) and kind in event["name"]:
                    stage, rest = event["name"].split(kind)
                    other, part = rest.split(".")
                    way = (stage, other) if kind == ">" else (other, stage)
                    assert int(stage) == rank and lane.split(" rank ")[1].split()[0] == other, (rank, lane, event)
                    assert ends[kind].setdefault((*way, part, event["args"]["run"]), event) is event, event
    assert ends["<"].keys() == ends[">"].keys() and len(ends["<"]) == 2 * (ranks - 1) * PARTS * STEPS
    passes = {(event["name"], event["args"]["run"]): event for rank in range(ranks) for event in lanes[rank, "passes"]}
    for (sender, receiver, part, step), sent in ends[">"].items():
        received = ends["<"][sender, receiver, part, step]
        letter = "F" if sender < receiver else "B"
        made, used = passes[f"{letter}{sender}.{part}", step], passes[f"{letter}{receiver}.{part}", step]
        times = made["ts"] + made["dur"], sent["ts"], received["ts"] + received["dur"], used["ts"]
        assert all(before <= after + 0.01 for before, after in zip(times, times[1:])), (sender, receiver, part, step, times)


def check(tool, ranks, *options):
    tool.remove("run")
    said = tool.train("model.onnx", "--data", "data.npz", "--labels", "y", "--steps", STEPS, "--epochs", 100, "--batch", 8,
                      "--threads", 1, "--micro-batches", PARTS, "--ranks", ranks, "--pipeline-schedule", "1f1b", "--out", "run",
                      "--trace", "trace.json", *options).stderr
    assert "bubble" in said and "memory" in said, said
    lanes = lanes_of(tool.folder / "trace.json", ranks)
    check_actions(lanes, ranks)
    check_transfers(lanes, ranks)
    assert all(lanes[rank, "waits"] for rank in range(ranks)), lanes.keys()
    for line in tool.lines("run"):
        assert 0 < line["bubble"] < 1 and len(line["rank_bytes"]) == ranks, line
        # The parameters with their gradients and moments, and more.
        assert sum(line["rank_bytes"]) > 4 * 4 * sum(a * b for a, b in zip(WIDTHS, WIDTHS[1:])), line
    counted = json.loads((tool.folder / "run/counters.json").read_text())["ranks"]
    assert len(counted) == ranks and all(0 < rank["communication_cpu_share"] <= 1 for rank in counted), counted


def main():
    tool = Command(*sys.argv[1:])
    make_model(tool.folder)
    check(tool, 2, "--in-process")
    check(tool, 4, "--in-process")
    if shutil.which("mpirun"):
        check(tool, 3)


main()
