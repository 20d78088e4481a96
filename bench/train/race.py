"""A whole training step beside PyTorch, torch.compile and JAX: race.py [--precision P] [--threads 1,2] [--rounds N].

Every engine is a process of its own on the same CPUs; they take turns, so that whatever slows the machine slows all of
them. The figures are medians over all steps. With --limit, fails when Freestone is slower than FACTOR times the best
peer in any row.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys

import engines

WORKER = engines.ROOT / "bench" / "train" / "worker.py"
RACE = [("mlp", "128"), ("cnn", "64"), ("gpt", "8x128")]


class Runner:
    """An engine's process."""

    def __init__(self, engine, model, size, threads, precision, models):
        command = [sys.executable, WORKER, engine, model, size, threads, precision, models]
        self.process = subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.times = []
        answer = self.process.stdout.readline().strip()
        self.reason = "" if answer == "ready" else answer.removeprefix("unavailable ")
        if not answer:
            self.reason = (self.process.communicate()[1].strip() or "it ended").splitlines()[-1]

    def train(self, seconds):
        self.process.stdin.write(f"{seconds}\n")
        self.process.stdin.flush()
        self.times += json.loads(self.process.stdout.readline())

    def end(self):
        """Returns the peak of the process's memory in MiB."""
        return float(self.process.communicate()[0])


def race(names, model, size, threads, arguments):
    """Median seconds and MiB of each engine that can be had."""
    runners = {}
    for name in names:
        runner = Runner(name, model, size, threads, arguments.precision, arguments.models)
        if runner.reason:
            print(f"{name} left out: {runner.reason}", file=sys.stderr)
        else:
            runners[name] = runner
    for _ in range(arguments.rounds):
        for runner in runners.values():
            runner.train(arguments.block_seconds)
    return {name: (statistics.median(runner.times), runner.end()) for name, runner in runners.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--precision", choices=["fp32", "bf16"], default="fp32")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--block-seconds", type=float, default=0.5)
    parser.add_argument("--engines", default=",".join(engines.ENGINES))
    parser.add_argument("--only", default="", help="part of the name of a row, such as 'gpt 8x'")
    parser.add_argument("--limit", type=float, help="fail when a row is slower than so many times the best peer")
    default = engines.freestone_runtime.build_folder() / "models"
    parser.add_argument("--models", default=default, help="where filled models are")
    arguments = parser.parse_args()
    names, slow = arguments.engines.split(","), []
    print(f"| {arguments.precision} | threads | " + " | ".join(f"{name} ms (MiB)" for name in names) + " | against the best peer |")
    print("|---" * (len(names) + 3) + "|")
    for threads in map(int, arguments.threads.split(",")):
        if threads > len(os.sched_getaffinity(0)):
            sys.exit(f"{threads} threads, but only {len(os.sched_getaffinity(0))} CPUs may be used")
        for model, size in RACE:
            if arguments.only not in f"{model} {size}":
                continue
            results = race(names, model, size, threads, arguments)
            others = [seconds for name, (seconds, _) in results.items() if not name.startswith("freestone")]
            cells = [f"{results[n][0] * 1e3:.2f} ({results[n][1]:.0f})" if n in results else "-" for n in names]
            factor = results["freestone"][0] / min(others) if others and "freestone" in results else float("nan")
            print(f"| {model} {size} | {threads} | " + " | ".join(cells) + f" | {factor:.2f} |", flush=True)
            if arguments.limit and factor > arguments.limit:
                slow.append(f"{model} {size} on {threads} threads")
    if slow:
        print(f"slower than {arguments.limit} times the best peer: {', '.join(slow)}")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
