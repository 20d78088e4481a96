"""A GPT's steps over ranks beside their simulation: step.py FOLDER [--ranks 2] [--micro-batches 4] [--steps 40].

Trains the network of examples/train_text on this machine's licence texts, one thread a rank, by each schedule. A step is
measured from its first pass to the end of its last one, on whatever rank; the simulation has the mean times of the same
run's passes, with all ranks at work. Figures are medians over the steps but the first ones.
"""

import argparse
import collections
import json
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("FREESTONE_BUILD", ROOT / "build"))
LEFT_OUT = 5


def train(folder, options, out, *more):
    subprocess.run(["rm", "-rf", str(folder / out)], check=True)
    words = [BUILD / "bin/freestone", "train", folder / "gpt.onnx", "--data", f"tokens={folder}/train.npy", "--window", "128",
             "--batch", options.batch, "--epochs", 1000, "--steps", options.steps, "--threads", 1, "--seed", 1, "--out", folder / out,
             "--micro-batches", options.micro_batches, *more]
    subprocess.run([str(word) for word in words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def read_steps(path):
    """Lane → step → (begin, end) in ms over all ranks."""
    events = json.loads(path.read_text())["traceEvents"]
    threads = {(event["pid"], event["tid"]): event["args"]["name"] for event in events if event["name"] == "thread_name"}
    spans = collections.defaultdict(dict)
    for event in events:
        lane = threads.get((event["pid"], event["tid"]))
        if event["ph"] == "X" and lane in ("passes", "planned passes"):
            step, begin, end = event["args"]["run"], event["ts"] * 1e-3, (event["ts"] + event["dur"]) * 1e-3
            old = spans[lane].get(step, (begin, end))
            spans[lane][step] = min(begin, old[0]), max(end, old[1])
    return spans


def median_of(spans, first):
    return statistics.median(end - begin for step, (begin, end) in spans.items() if step > first)


def seconds_a_step(folder, out):
    lines = [json.loads(line) for line in (folder / out / "metrics.jsonl").read_text().splitlines()]
    return lines, statistics.median(1 / line["samples_per_s"] for line in lines[LEFT_OUT:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--micro-batches", type=int, default=4)
    parser.add_argument("--batch", type=int, default=24)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--schedules", default="gpipe,1f1b,eager-1f1b,zb-h1")
    options = parser.parse_args()
    options.folder = options.folder.resolve()
    options.folder.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, ROOT / "examples/train_text/prepare.py", options.folder, "--network", "large"], check=True,
                   stdout=subprocess.DEVNULL)
    train(options.folder, options, "one", "--ranks", 1)
    one = seconds_a_step(options.folder, "one")[1] * options.batch * 1e3
    print(f"one rank: {one:.1f} ms a step\n")
    print("| schedule | ranks | simulated ms | measured | ratio | of one rank | bubble | communication thread, of a CPU |")
    print("|---|---|---|---|---|---|---|---|")
    for schedule in options.schedules.split(","):
        for kind, more in (("threads", ["--in-process"]), ("processes", [])):
            trace = options.folder / "trace.json"
            train(options.folder, options, "run", "--ranks", options.ranks, "--pipeline-schedule", schedule, "--trace", trace, *more)
            spans = read_steps(trace)
            planned, measured = (median_of(spans[lane], LEFT_OUT) for lane in ("planned passes", "passes"))
            bubble = statistics.median(line["bubble"] for line in seconds_a_step(options.folder, "run")[0][LEFT_OUT:])
            counters = json.loads((options.folder / "run/counters.json").read_text())["ranks"]
            shares = " + ".join(f"{100 * rank['communication_cpu_share']:.1f} %" for rank in counters)
            print(f"| {schedule} | {options.ranks} {kind} | {planned:.1f} | {measured:.1f} | {measured / planned:.3f} | "
                  f"{measured / one:.2f} | {100 * bubble:.0f} % | {shares} |", flush=True)


if __name__ == "__main__":
    main()
