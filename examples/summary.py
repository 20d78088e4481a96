"""What a training came to, from the files of its run: summary.py RUN."""

import json
import pathlib
import sys


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def count(number, word):
    return f"{number} {word}{'' if number == 1 else 's'}"


def main():
    run = pathlib.Path(sys.argv[1])
    steps, evaluation = read(run / "metrics.jsonl"), read(run / "evaluations.jsonl")[-1]
    counters = json.loads((run / "counters.json").read_text())
    seen = count(counters["batch_sizes"], "batch size")
    if steps[0].get("tokens_per_s"):
        lengths = {round(step["tokens_per_s"] / step["samples_per_s"]) for step in steps}
        seen += f" and {count(counters['lengths'], 'length')} from {min(lengths)} to {max(lengths)}"
    before = "" if counters["compiles"] else ": the step was compiled before"
    print(f"{count(counters['steps'], 'step')} with {seen}, {count(counters['compiles'], 'compilation')}{before}")
    print(f"held out: loss {evaluation['loss']:.3f}, {100 * evaluation['accuracy']:.2f} % right")


if __name__ == "__main__":
    main()
