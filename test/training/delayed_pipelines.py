"""Trainings with gradients of older weights: delayed_pipelines.py FREESTONE FOLDER.

PipeDream's losses follow those that fp64 computes by hand with the version of weights that each stage uses, a weight of
two stages included; on one stage it is plain gradient descent, to the bit. Double-buffered weights are one step older whatever the number of ranks, so that
all have the same bits. Both go on from a checkpoint as if nothing had been.
"""

import json
import sys

import numpy as np

import pipelines
from command import Command, tensors
from graphs import FLOAT, draw, fan_in, node, save

RATE, BATCH, STEPS = 0.2, 8, 24


def make_chain(folder, name, widths, layers):
    """Layers that multiply by a weight as it is, or, where a weight is the last layer's again, by its transpose."""
    random = np.random.default_rng(5)
    nodes = []
    for i, (weight, isTurned) in enumerate(layers):
        last = i + 1 == len(layers)
        nodes.append(node("Gemm", [f"x{i}" if i else "x", weight], ["logits" if last else f"h{i}"], transB=int(not isTurned)))
        if not last:
            nodes.append(node("Tanh", [f"h{i}"], [f"x{i + 1}"]))
    shapes = {weight: (widths[i + 1], widths[i]) for i, (weight, isTurned) in enumerate(layers) if not isTurned}
    save(folder / f"{name}.onnx", nodes, [("x", FLOAT, ["n", widths[0]])], [("logits", FLOAT, ["n", widths[-1]])],
         draw(1, shapes, fan_in))
    x = random.normal(size=(BATCH * STEPS, widths[0])).astype(np.float32)
    y = (x @ random.normal(size=(widths[0], widths[-1]))).argmax(1)
    np.savez(folder / f"{name}.npz", x=x, y=y)
    return x.astype(np.float64), y


def descend(weights, layers, x, y, version):
    """Losses of steps of gradient descent whose gradients are of the weights that `version(step, name)` says."""
    history, losses = [weights], []
    for step in range(STEPS):
        old = {name: history[version(step, name)][name] for name in weights}
        matrices = [old[name].T if isTurned else old[name] for name, isTurned in layers]
        rows = slice(step * BATCH, (step + 1) * BATCH)
        inputs = [x[rows]]
        for matrix in matrices[:-1]:
            inputs.append(np.tanh(inputs[-1] @ matrix.T))
        logits = inputs[-1] @ matrices[-1].T
        shares = np.exp(logits - logits.max(1, keepdims=True))
        shares /= shares.sum(1, keepdims=True)
        losses.append(-np.log(shares[np.arange(BATCH), y[rows]]).mean())
        back = (shares - np.eye(logits.shape[1])[y[rows]]) / BATCH
        new = dict(history[-1])
        for i, (name, isTurned) in reversed(list(enumerate(layers))):
            gradient = back.T @ inputs[i]
            new[name] = new[name] - RATE * (gradient.T if isTurned else gradient)
            if i:
                back = back @ matrices[i] * (1 - inputs[i] ** 2)
        history.append(new)
    return np.array(losses)


def train(tool, run, name, *options):
    tool.remove(run)
    tool.train(f"{name}.onnx", "--data", f"{name}.npz", "--labels", "y", "--optimizer", "sgd", "--lr", RATE, "--steps", STEPS,
               "--epochs", 1, "--no-shuffle", "--batch", BATCH, "--threads", 1, "--in-process", "--out", run, *options)
    return np.array(tool.metrics(run))


def stages_of(tool, run):
    """The rank that keeps each weight, by the shards of the last checkpoint."""
    folder = tool.checkpoints(run)[max(tool.checkpoints(run))]
    found = {}
    for path in folder.glob("parameters-rank-*.safetensors"):
        content = path.read_bytes()
        names = json.loads(content[8:8 + int.from_bytes(content[:8], "little")])
        found |= {name: int(path.stem.rsplit("-", 1)[1]) for name in names if name != "__metadata__"}
    return found


def check_by_hand(tool, name, widths, layers):
    x, y = make_chain(tool.folder, name, widths, layers)
    weights = {weight: np.float64(array) for weight, array in tensors(tool.folder / f"{name}.onnx").items()}

    def expect(losses, version):
        expected = descend(weights, layers, x, y, version)
        assert np.allclose(losses, expected, rtol=2e-5), (name, losses / expected - 1)

    for ranks in 1, 2, 3, 4:
        losses = train(tool, "pipedream", name, "--pipeline-schedule", "pipedream", "--ranks", ranks)
        stage = stages_of(tool, "pipedream") if ranks > 1 else dict.fromkeys(weights, 0)
        expect(losses, lambda step, weight: max(0, step - (ranks - 1 - stage[weight])))
        double = train(tool, "double", name, "--pipeline-schedule", "pipedream-2bw", "--ranks", ranks, "--micro-batches", 4)
        expect(double, lambda step, weight: max(0, step - 1))
    # Replicas that take one micro-batch each are as far as a stage by itself.
    for stages, replicas in (2, 2), (1, 2), (2, 3):
        several = "--ranks", stages * replicas, "--replicas", replicas
        losses = train(tool, "pipedream", name, "--pipeline-schedule", "pipedream", *several, "--micro-batches", replicas)
        stage = {weight: rank // replicas for weight, rank in stages_of(tool, "pipedream").items()}
        expect(losses, lambda step, weight: max(0, step - (stages - 1 - stage[weight])))
        if BATCH % (2 * replicas) == 0:
            double = train(tool, "double", name, "--pipeline-schedule", "pipedream-2bw", *several, "--micro-batches", 2 * replicas)
            expect(double, lambda step, weight: max(0, step - 1))
    vertical = train(tool, "vertical", name, "--pipeline-schedule", "pipedream", "--ranks", 3, "--vertical-sync")
    expect(vertical, lambda step, weight: max(0, step - 2))
    expect(train(tool, "plain", name), lambda step, weight: step)


def check_bits(tool):
    for name, ranks in ("perceptron", 3), ("pictures", 2), ("language", 3):
        one = pipelines.train(tool, name, "one", "--steps", 10, "--batch", 8, "--micro-batches", 4, "--ranks", 1,
                              "--pipeline-schedule", "pipedream-2bw")
        pipelines.compare(tool, name, one, "--steps", 10, "--batch", 8, "--micro-batches", 4, "--ranks", ranks,
                          "--pipeline-schedule", "pipedream-2bw")
    # Epochs end with a batch of fewer micro-batches, between two flushes.
    ragged = "--steps", 17, "--batch", 7, "--micro-batches", 4, "--pipeline-schedule", "pipedream-2bw"
    pipelines.compare(tool, "branches", pipelines.train(tool, "branches", "one", *ragged, "--ranks", 1), *ragged, "--ranks", 3)
    # Without dropout, whose random numbers count micro-batches on.
    plain = pipelines.train(tool, "branches", "one", "--steps", 10, "--batch", 8, "--micro-batches", 1, "--ranks", 1)
    pipelines.compare(tool, "branches", plain, "--steps", 10, "--batch", 8, "--ranks", 1, "--pipeline-schedule", "pipedream")


def check_replicas(tool):
    """With one micro-batch for each replica, sums over replicas are those over micro-batches."""
    for name in "perceptron", "language":
        common = "--steps", 6, "--batch", 8, "--micro-batches", 4
        for schedule in "pipedream", "pipedream-2bw":
            one = pipelines.train(tool, name, "one", *common, "--ranks", 1, "--pipeline-schedule", schedule)
            pipelines.compare(tool, name, one, *common, "--ranks", 4, "--replicas", 4, "--pipeline-schedule", schedule)
    # Stages with as many replicas as the planner finds best.
    train(tool, "several", "chain", "--pipeline-schedule", "pipedream", "--ranks", 4, "--micro-batches", 2, "--replicate")


def check_resume(tool):
    """Checkpoints are flushes: a training that goes on has the bits of one that was not interrupted."""
    for options in (("pipedream",), ("pipedream-2bw", "--micro-batches", 4, "--clip-norm", 0.5)):
        common = ["perceptron.onnx", "--data", "perceptron.npz", "--labels", "y", "--lr", 0.01, "--epochs", 9, "--batch", 8,
                  "--ranks", 3, "--save-every", 5, "--seed", 7, "--threads", 1, "--in-process", "--pipeline-schedule", *options]
        for run in "whole", "begun":
            tool.remove(run)
            tool.train(*common, "--steps", 10 if run == "whole" else 5, "--out", run)
        tool.train(*common, "--steps", 10, "--resume", "begun")
        assert pipelines.left(tool, "begun") == pipelines.left(tool, "whole"), options


def check_refusals(tool):
    def refuse(parts, *options):
        tool.refuse(parts, "perceptron.onnx", "--data", "perceptron.npz", "--labels", "y", "--out", "refused", "--ranks", 2,
                    "--in-process", *options)

    refuse(["--clip-norm", "pipedream-2bw"], "--pipeline-schedule", "pipedream", "--clip-norm", 1)
    refuse(["loss", "bf16"], "--pipeline-schedule", "pipedream", "--precision", "fp16")
    refuse(["micro-batches", "1 are fewer than 2"], "--pipeline-schedule", "pipedream-2bw", "--micro-batches", 1)
    # Without the weights of their forward passes, backward passes give other gradients.
    options = "chain", "--pipeline-schedule", "pipedream", "--ranks", 3
    assert (train(tool, "loose", *options, "--no-weight-stashing") != train(tool, "stashed", *options)).any()
    refuse(["pipedream", "3 are no multiple of 2"], "--pipeline-schedule", "pipedream", "--replicas", 2, "--micro-batches", 3)
    refuse(["--read-each-step"], "--pipeline-schedule", "pipedream", "--read-each-step")


def main():
    tool = Command(*sys.argv[1:])
    pipelines.make_models(tool.folder)
    check_by_hand(tool, "chain", (12, 24, 20, 16, 5), [("a", False), ("b", False), ("c", False), ("d", False)])
    check_by_hand(tool, "tied", (12, 24, 20, 24, 12), [("a", False), ("b", False), ("c", False), ("a", True)])
    check_bits(tool)
    check_replicas(tool)
    check_resume(tool)
    check_refusals(tool)


main()
