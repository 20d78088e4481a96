"""Chooses the network that this machine can train within SECONDS: pace.py RUN.

Reads the metrics of a short training of the small network with its own batch. Prints the name of the largest network
that can do enough steps, its batch, and the number of steps.
"""

import dataclasses
import json
import pathlib
import sys

from prepare import SIZES

SECONDS = 75


@dataclasses.dataclass
class Plan:
    """The batch, and enough steps: more improve the text little, and three quarters of them already give words."""

    batch: int
    enough: int


PLANS = {"large": Plan(24, 400), "medium": Plan(8, 1200), "small": Plan(8, 1200)}


def seconds_of_step(run):
    """The mean of the later half: the first steps meet memory that nobody has touched."""
    steps = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    later = steps[len(steps) // 2 :]
    return sum(PLANS["small"].batch / step["samples_per_s"] for step in later) / len(later)


def work(name):
    return PLANS[name].batch * SIZES[name].products()


def choose(seconds):
    """The largest network of which three quarters of enough steps fit, or else the smallest; and the steps that fit."""
    for name, plan in PLANS.items():
        fitting = int(SECONDS / (seconds * work(name) / work("small")))
        if fitting >= plan.enough * 3 // 4:
            break
    return name, max(1, min(fitting, plan.enough))


def main():
    seconds = seconds_of_step(pathlib.Path(sys.argv[1]))
    name, steps = choose(seconds)
    size = SIZES[name]
    print(
        f"{1000 * seconds:.0f} ms a step of the small network on this machine: so {steps} steps of the {name} one "
        f"({size.layers} layers of {size.width}), to end within two minutes",
        file=sys.stderr,
    )
    print(name, PLANS[name].batch, steps)


if __name__ == "__main__":
    main()
