"""What an evaluation on a text tells: evaluation.py FREESTONE FOLDER.

Windows of the longest length lie side by side and a short one ends the text, whatever lengths are drawn for training: each
token but the first counts once, and the size of a batch changes the loss by rounding alone.
"""

import math
import sys

import numpy as np

from command import Command
from graphs import FLOAT, INT64, constant, draw, node, save, tensors

KINDS, LONGEST = 9, 24


def make_model(path):
    """tokens i64[b, s] → table, plus the mean of the window, so that its bounds matter, projection → logits f32[b, s, 9]."""
    save(path,
         [node("Gather", ["table", "tokens"], ["e"]), node("ReduceMean", ["e", "axes"], ["m"]),
          node("Add", ["e", "m"], ["a"]), node("MatMul", ["a", "head"], ["logits"])],
         [("tokens", INT64, ["b", "s"])], [("logits", FLOAT, ["b", "s", KINDS])],
         [*draw(1, {"table": (KINDS, 16), "head": (16, KINDS)}, scale=1), constant("axes", [1], np.int64)])


def expect(weights, text):
    """The mean loss, and the share of tokens that were predicted."""
    table, head = (weights[name].astype(np.float64) for name in ("table", "head"))
    losses, right = [], []
    for begin in range(0, len(text) - 1, LONGEST):
        tokens = text[begin:begin + LONGEST + 1]
        embedded = table[tokens[:-1]]
        logits = (embedded + embedded.mean(0)) @ head
        losses.extend(np.log(np.exp(logits).sum(1)) - logits[np.arange(len(logits)), tokens[1:]])
        right.extend(logits.argmax(1) == tokens[1:])
    assert len(losses) == len(text) - 1
    return np.mean(losses), np.mean(right)


def main():
    tool = Command(*sys.argv[1:])
    folder = tool.folder
    make_model(folder / "model.onnx")
    weights = tensors(folder / "model.onnx")
    texts = np.random.default_rng(2).integers(0, KINDS, 4000)
    np.save(folder / "text.npy", texts[:2500])
    for size in (1000, LONGEST * 10 + 1, LONGEST * 10 + 2, LONGEST + 1):
        np.save(folder / f"held{size}.npy", texts[-size:])
        loss, accuracy = expect(weights, texts[-size:])
        for batch in (1, 7, 64):
            run = f"run{size}-{batch}"
            tool.train("model.onnx", "--data", "text.npy", "--eval-data", f"held{size}.npy", "--window", f"4:{LONGEST}",
                       "--batch", batch, "--steps", 1, "--lr", 0, "--weight-decay", 0, "--seed", batch, "--out", run)
            [told] = tool.lines(run, "evaluations")
            assert math.isclose(told["loss"], loss, rel_tol=1e-5), (run, told, loss)
            assert math.isclose(told["accuracy"], accuracy, rel_tol=1e-9), (run, told, accuracy)
            assert math.isclose(told["perplexity"], math.exp(told["loss"]), rel_tol=1e-12), (run, told)


main()
