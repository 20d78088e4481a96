"""One compiled step serves every number of a training: one_compilation.py FREESTONE FOLDER.

Learning rate, its schedule, momentum, decay, betas, loss scale, groups, batch and sequence are inputs of the step: a
training with others finds the step of the first in the cache, and trains by them. What decides the step's structure compiles
another.
"""

import json
import sys

import numpy as np

from command import Command
from graphs import FLOAT, INT64, draw, node, save


def make_language_model(path):
    """tokens i64[b, s] → embedding, tanh, projection → logits f32[b, s, 8]."""
    save(path,
         [node("Gather", ["table", "tokens"], ["e"]), node("Tanh", ["e"], ["t"]), node("MatMul", ["t", "head"], ["logits"])],
         [("tokens", INT64, ["b", "s"])], [("logits", FLOAT, ["b", "s", 8])], draw(2, {"table": (8, 16), "head": (16, 8)}))


def train(tool, options):
    """Whether the step was compiled before, and the losses."""
    tool.remove("run")
    words = [word for name, value in options.items() for word in (name, *str(value).split())]
    told = tool.train("model.onnx", "--steps", 6, "--seed", 3, "--threads", 1, "--out", "run", *words).stderr
    return "compiled before" in told, tool.metrics("run")


def count_steps(tool):
    """How many whole steps the cache keeps."""
    return sum(entry["kind"] == "model" for entry in json.loads(tool.run("cache", "list", "--json").stdout))


BASE = {"--data": "tokens=text.npy", "--window": 16, "--batch": 8, "--lr": 0.03}


def check_arrays(tool):
    """Samples of any length, that of as many elements as there are classes among them."""
    text = np.load(tool.folder / "text.npy")
    steps = count_steps(tool)
    for number, length in enumerate((16, 5, 8)):
        rows = text[: 50 * (length + 1)].reshape(50, length + 1)
        np.savez(tool.folder / f"rows{length}.npz", tokens=rows[:, :-1].astype(np.int64), y=rows[:, 1:].astype(np.int64))
        was_kept, _ = train(tool, {"--data": f"rows{length}.npz", "--labels": "y", "--batch": 8})
        assert was_kept == (number > 0), f"samples of {length} compiled the step anew"
    assert count_steps(tool) == steps + 1


def check(tool, first, others):
    """Trainings with each of `others` go by the step that the first one compiled, and not as it did."""
    before = count_steps(tool)
    first = BASE | first
    was_kept, first_losses = train(tool, first)
    assert not was_kept and count_steps(tool) == before + 1
    for options in others:
        was_kept, losses = train(tool, first | options)
        assert was_kept, f"{options} compiled the step anew"
        assert losses != first_losses, f"{options} changed nothing"
    assert count_steps(tool) == before + 1, count_steps(tool)


def main():
    tool = Command(*sys.argv[1:])
    tool.environment["FREESTONE_CACHE_DIR"] = str(tool.folder / "cache")
    make_language_model(tool.folder / "model.onnx")
    random = np.random.default_rng(3)
    text = np.cumsum(random.integers(0, 3, 4000)) % 8
    np.save(tool.folder / "text.npy", text.astype(np.int32))

    run = [{"--batch": 5}, {"--window": 11}, {"--window": "4:32"}, {"--lr": 0.01}, {"--schedule": "cosine", "--warmup": 2},
           {"--clip-norm": 0.1}, {"--weight-decay": 0.3}]
    check(tool, {"--optimizer": "sgd", "--momentum": 0.9}, run + [{"--momentum": 0.5}, {"--dampening": 0.2}])
    check(tool, {"--optimizer": "adamw", "--group": "head:lr=0.01"}, run + [
        {"--betas": "0.5 0.9"}, {"--eps": 0.1}, {"--group": "head:lr=0.02"}])
    # Where the scale begins too high, its schedule decides which step is the first that counts.
    check(tool, {"--precision": "fp16", "--optimizer": "sgd", "--init-scale": 2.0**26}, [
        {"--backoff-factor": 2.0**-20}, {"--init-scale": 1024}])

    check_arrays(tool)

    plain = BASE | {"--optimizer": "sgd"}
    was_kept, losses = train(tool, plain)
    assert not was_kept, "a momentum is a state: without one the step is another"
    assert train(tool, plain | {"--momentum": 0}) == (True, losses)


main()
