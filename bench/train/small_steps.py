"""What reading each step's loss costs: small_steps.py [--batches 8,32,128,512] [--rounds N].

The same compiled step of the MLP, trained with a host that waits for every loss before it begins the next step
(`--read-each-step`), and with one that reads them when they are there. Samples a second, medians over all steps but the
first tenth; both take turns.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import engines
import numpy as np


def train(stone, data, folder, batch, steps, threads, options):
    run = pathlib.Path(tempfile.mkdtemp(dir=folder)) / "run"
    command = [engines.freestone_runtime.freestone(), "train", stone, "--data", data, "--labels", "y", "--out", run]
    command += ["--batch", batch, "--steps", steps, "--epochs", steps, "--save-every", steps, "--threads", threads, *options]
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    speeds = [json.loads(line)["samples_per_s"] for line in (run / "metrics.jsonl").read_text().splitlines()]
    reads = json.loads((run / "counters.json").read_text())["host_reads"]
    return speeds[len(speeds) // 10 :], reads


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batches", default="8,32,128,512")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--threads", type=int, default=1)
    default = engines.freestone_runtime.build_folder() / "models"
    parser.add_argument("--models", default=default, help="where filled models are")
    arguments = parser.parse_args()
    print("| batch | read each step, samples/s (reads) | sync-free, samples/s (reads) | ratio |")
    print("|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        stone, data = folder / "step.stone", folder / "data.npz"
        engines.compile_step("mlp", "fp32", arguments.models, stone)
        x, y = engines.make_batches("mlp", (4096,), 1)[0]
        np.savez(data, x=x, y=y)
        for batch in map(int, arguments.batches.split(",")):
            speeds, reads = {"read": [], "free": []}, {}
            for _ in range(arguments.rounds):
                for kind, options in (("read", ["--read-each-step"]), ("free", [])):
                    times, reads[kind] = train(stone, data, folder, batch, arguments.steps, arguments.threads, options)
                    speeds[kind] += times
            read, free = statistics.median(speeds["read"]), statistics.median(speeds["free"])
            print(f"| {batch} | {read:.0f} ({reads['read']}) | {free:.0f} ({reads['free']}) | {free / read:.2f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
