"""What a training came to, from the files of its run: summary.py RUN."""

import json
import pathlib
import sys


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def main():
    run = pathlib.Path(sys.argv[1])
    steps, evaluation = read(run / "metrics.jsonl"), read(run / "evaluations.jsonl")[-1]
    text = f"{len(steps)} steps"
    if steps[0].get("tokens_per_s"):
        lengths = {round(step["tokens_per_s"] / step["samples_per_s"]) for step in steps}
        text += f" of {len(lengths)} different lengths, {min(lengths)} to {max(lengths)}"
    print(f"{text}, by a step that was compiled once; held out: loss {evaluation['loss']:.3f}, {100 * evaluation['accuracy']:.2f} % right")


if __name__ == "__main__":
    main()
