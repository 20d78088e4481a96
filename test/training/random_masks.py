"""What is drawn at random, by compiled programs: random_masks.py FREESTONE FOLDER; the environment names the build.

Dropout keeps as many as it says and scales them, its mask agrees with its output, one key gives one mask, on one worker and
on three; Bernoulli draws by the probability of each element. While a model is trained a mask is that of its seed, step and
batch, and the gradient passes where the value did.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import freestone_runtime
import numpy as np

from command import Command
from graphs import BOOL, FLOAT, constant, node, save

WORKERS = (1, 3)


def run_compiled(folder, nodes, inputs, outputs, *feeds):
    """The outputs for each of `feeds`, which do not depend on the number of workers nor on the run."""
    model, artifact = folder / "model.onnx", folder / "model.stone"
    save(model, nodes, inputs, outputs)
    freestone_runtime.compile_model(model, artifact)
    results = []
    for workers in (*WORKERS, WORKERS[-1]):
        compiled = freestone_runtime.Model(artifact, workers)
        results.append([compiled.run(feed) for feed in feeds])
        compiled.close()
    for others in results[1:]:
        for one, other in zip(results[0], others):
            assert all(np.array_equal(a, b) for a, b in zip(one, other)), f"{outputs}: workers draw differently"
    return results[0]


def expect_rate(kept, rate, what):
    """Four standard deviations."""
    allowed = 4 * np.sqrt(rate * (1 - rate) / kept.size)
    assert abs(kept.mean() - rate) <= allowed, (what, kept.mean(), rate)


def check_dropout(folder):
    names = {"a": {"seed": 3}, "b": {"seed": 3}, "c": {"seed": 4}, "d": {}, "e": {}}
    nodes = [node("Dropout", ["x", "ratio", "trains"], [f"y{name}", f"z{name}"], **seed) for name, seed in names.items()]
    outputs = [(kind + name, type, ["n", "m"]) for name in names for kind, type in (("y", FLOAT), ("z", BOOL))]
    x = np.random.default_rng(1).uniform(1, 2, (2000, 101)).astype(np.float32)
    cases = [(0.25, True), (0.75, True), (0.0, True), (1.0, True), (0.5, False)]
    feeds = [{"x": x, "ratio": np.float32(ratio), "trains": np.bool_(trains)} for ratio, trains in cases]
    inputs = [("x", FLOAT, ["n", "m"]), ("ratio", FLOAT, []), ("trains", BOOL, [])]
    for (ratio, trains), results in zip(cases, run_compiled(folder, nodes, inputs, outputs, *feeds)):
        drops = trains and ratio > 0
        scale = np.float32(1 / (1 - ratio)) if drops and ratio < 1 else np.float32(1)
        masks = results[1::2]
        for y, mask in zip(results[::2], masks):
            np.testing.assert_allclose(y, np.where(mask, x * scale, 0), rtol=1e-6)
            expect_rate(mask, 1 - ratio if drops else 1.0, (ratio, trains))
        same = [[np.array_equal(one, other) for other in masks] for one in masks]
        assert same[0][1], "one seed gives two masks"
        if 0 < ratio < 1 and trains:
            expected = np.eye(5, dtype=bool)
            expected[:2, :2] = True
            assert np.array_equal(same, expected), same
            for one, other in ((0, 2), (0, 3), (3, 4)):
                expect_rate(masks[one] & masks[other], (1 - ratio)**2, "masks of two keys together")
        # Neighbours are independent too, along either dimension.
        if drops and ratio < 1:
            for pair in (masks[0][:, 1:] & masks[0][:, :-1], masks[0][1:] & masks[0][:-1]):
                expect_rate(pair, (1 - ratio)**2, "neighbours")


def check_bernoulli(folder):
    nodes = [node("Bernoulli", ["p"], ["y"], seed=5.0), node("Bernoulli", ["p"], ["again"], seed=5.0),
             node("Bernoulli", ["p"], ["other"])]
    rates = (0.0, 0.2, 0.7, 1.0)
    p = np.repeat(np.float32(rates), 20000)
    outputs = [(name, FLOAT, ["n"]) for name in ("y", "again", "other")]
    [[y, again, other]] = run_compiled(folder, nodes, [("p", FLOAT, ["n"])], outputs, {"p": p})
    assert np.isin(y, (0, 1)).all() and np.array_equal(y, again) and not np.array_equal(y, other)
    for drawn in (y, other):
        for rate, part in zip(rates, drawn.reshape(len(rates), -1)):
            expect_rate(part, rate, "Bernoulli")


ROWS, COLUMNS, RATIO = 60, 130, 0.3


def train(tool, run, *options):
    """Masks f64[60, 130] of each step, read off the gradients: what it takes from the weights, 4 before the first."""
    tool.remove(run)
    tool.train("masked.onnx", "--data", "one.npz", "--batch", 1, "--loss", "output:loss", "--optimizer", "sgd", "--lr", RATE,
               "--epochs", 100, "--steps", 4, "--save-every", 1, "--keep", 100, "--out", run, *options)
    weights, masks = np.full((ROWS, COLUMNS), 4.0), []
    for step, loss in enumerate(tool.metrics(run), 1):
        after = np.frombuffer(tool.checkpoint(run, step)["w"].content, np.float32).reshape(ROWS, COLUMNS).astype(np.float64)
        gradient = (weights - after) / RATE
        masks.append(gradient)
        if "--accumulate" not in options:
            # The loss is the sum of what is kept, so that it tells the mask of the values.
            assert np.isclose((gradient * weights).sum(), loss, rtol=1e-5), (run, step)
        weights = after
    return masks


RATE = 2.0**-4


def check_training(tool):
    save(tool.folder / "masked.onnx",
         [node("ReduceMean", ["x"], ["one"], keepdims=0), node("Mul", ["w", "one"], ["a"]),
          node("Dropout", ["a", "ratio"], ["d"]), node("ReduceSum", ["d"], ["loss"], keepdims=0)],
         [("x", FLOAT, ["n", 1])], [("loss", FLOAT, [])],
         [constant("w", np.full((ROWS, COLUMNS), 4)), constant("ratio", RATIO)])
    np.savez(tool.folder / "one.npz", x=np.ones((8, 1), np.float32))
    first = train(tool, "first", "--seed", 3, "--threads", WORKERS[0])
    for gradient in first:
        kept = gradient > 0.5
        np.testing.assert_allclose(gradient, kept / (1 - RATIO), atol=1e-4)
        expect_rate(kept, 1 - RATIO, "training")
    for one in range(len(first)):
        for other in range(one):
            expect_rate((first[one] > 0.5) & (first[other] > 0.5), (1 - RATIO)**2, "two steps")
    for workers in WORKERS:
        again = train(tool, "again", "--seed", 3, "--threads", workers)
        assert all(np.array_equal(one, other) for one, other in zip(first, again)), workers
    other = train(tool, "other", "--seed", 4, "--threads", WORKERS[0])
    expect_rate((first[0] > 0.5) & (other[0] > 0.5), (1 - RATIO)**2, "two seeds")
    # Each batch of a step drops anew: the mean of two masks.
    means = train(tool, "summed", "--seed", 3, "--threads", WORKERS[1], "--accumulate", 2)
    for gradient in means:
        counts = np.rint(gradient * 2 * (1 - RATIO))
        np.testing.assert_allclose(gradient * 2 * (1 - RATIO), counts, atol=1e-3)
        for count, rate in enumerate((RATIO**2, 2 * RATIO * (1 - RATIO), (1 - RATIO)**2)):
            expect_rate(counts == count, rate, "two batches of a step")


def main():
    tool = Command(*sys.argv[1:])
    check_dropout(tool.folder)
    check_bernoulli(tool.folder)
    check_training(tool)


main()
