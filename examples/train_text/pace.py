"""What this machine trains within SECONDS: pace.py RUN NETWORK BATCH reads a short training of one network, and prints the name of
the largest network that can do enough steps, and how many."""

import json
import pathlib
import sys

from prepare import SIZES

SECONDS = 75
# From these on, more steps change little; three quarters of them write words.
ENOUGH = {"large": 400, "medium": 800, "small": 800}


def seconds_of_step(run, batch):
    """The mean of the later half: the first steps meet memory that nobody has touched."""
    steps = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    later = steps[len(steps) // 2 :]
    return sum(batch / step["samples_per_s"] for step in later) / len(later)


def choose(network, seconds):
    """The largest network of which three quarters of enough steps fit, or else the smallest; and the steps that fit."""
    for name, enough in ENOUGH.items():
        fitting = int(SECONDS / (seconds * SIZES[name].products() / SIZES[network].products()))
        if fitting >= enough * 3 // 4:
            break
    return name, max(1, min(fitting, enough))


def main():
    run, network, batch = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    seconds = seconds_of_step(run, batch)
    name, steps = choose(network, seconds)
    size = SIZES[name]
    print(
        f"{1000 * seconds:.0f} ms a step of the {network} network on this machine: so {steps} steps of the {name} one "
        f"({size.layers} layers of {size.width}), to end within two minutes",
        file=sys.stderr,
    )
    print(name, steps)


if __name__ == "__main__":
    main()
