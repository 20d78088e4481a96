"""Losses of training step by step, beside PyTorch's, from the same weights and data: parity.py [--steps N] [--draws N] [--only TEXT].

Both see the same batches in the same order. For each model and optimizer it tells the largest relative difference of the
losses of the first 50 steps; what it may be, 1e-4 or ten times that between PyTorch on one and on two threads, which is
what rounding alone does; and the mean of the last ten losses of both. Fails when a difference is larger than it may be, or
when the means differ by more than 1 %. With --precision bf16 the other side is PyTorch's autocast, and the means alone are
held against each other, to 3 %. Where rounding alone moves the last losses of a run by more than that, `--draws` trains
on so many sets of data and takes the means over all of them.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import torch
from onnx import numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "models"))

import definitions
import freestone_runtime
import workloads

# model file, PyTorch's module, samples of a batch
MODELS = {
    "mlp": ("mlp", definitions.Mlp, 64),
    "cnn": ("cnn", definitions.Cnn, 32),
    "gpt": ("gpt_unoptimized", definitions.Gpt, 4),
}
OPTIMIZERS = {
    "sgd": (["--optimizer", "sgd", "--lr", "0.005", "--momentum", "0.9"], lambda p: torch.optim.SGD(p, 0.005, momentum=0.9)),
    "adamw": (["--optimizer", "adamw", "--lr", "0.0005"], lambda p: torch.optim.AdamW(p, 0.0005)),
}
WINDOW = 64


def make_data(name, samples, draw):
    """Something that can be learnt: a coarse pattern for each class under noise, a quarter of the labels wrong so that
    losses do not vanish, or a text of a random chain of characters."""
    random = np.random.default_rng(7 + draw)
    if name == "gpt":
        table = random.integers(0, 128, size=(128, 4))
        tokens = np.zeros(samples * WINDOW + 1, np.int64)
        for i in range(1, len(tokens)):
            tokens[i] = table[tokens[i - 1], random.integers(0, 4)]
        x = tokens[:-1].reshape(samples, WINDOW)
        return {"tokens": x, "y": tokens[1:].reshape(samples, WINDOW)}
    patterns = np.kron(random.normal(size=(10, 7, 7)), np.ones((4, 4)))
    y = random.integers(0, 10, size=samples)
    x = (random.normal(size=(samples, 28, 28)) + 0.2 * patterns[y]).astype(np.float32)
    y = np.where(random.random(samples) < 0.25, random.integers(0, 10, size=samples), y)
    return {"x": x.reshape((samples, 784) if name == "mlp" else (samples, 1, 28, 28)), "y": y}


def train_freestone(model, data, batch, steps, options, folder):
    np.savez(folder / "data.npz", **data)
    command = [freestone_runtime.freestone(), "train", model, "--data", folder / "data.npz", "--labels", "y"]
    command += ["--batch", str(batch), "--steps", str(steps), "--epochs", "1000", "--no-shuffle", "--out", folder / "run"]
    subprocess.run([*map(str, command), *options], check=True, stderr=subprocess.PIPE)
    lines = (folder / "run" / "metrics.jsonl").read_text().splitlines()
    return np.array([json.loads(line)["loss"] for line in lines])


def train_torch(module, model, data, batch, steps, make_optimizer, threads, precision):
    torch.set_num_threads(threads)
    network = module().train()
    initializers = {tensor.name: numpy_helper.to_array(tensor) for tensor in onnx.load(model).graph.initializer}
    state = {name: torch.tensor(initializers[name]) for name in network.state_dict() if name in initializers}
    network.load_state_dict(state, strict=False)
    optimizer = make_optimizer(network.parameters())
    names = [name for name in data if name != "y"]
    count, losses, start = len(data["y"]), [], 0
    for _ in range(steps):
        rows = slice(start, start + batch)
        start = 0 if start + batch >= count else start + batch
        labels = torch.from_numpy(data["y"][rows])
        with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16"):
            logits = network(torch.from_numpy(data[names[0]][rows]))
            loss = torch.nn.functional.cross_entropy(logits.flatten(0, -2), labels.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return np.array(losses)


def train_all(name, optimizer, arguments, draw):
    """The losses of Freestone, and of PyTorch on one and on two threads."""
    file, module, batch = MODELS[name]
    options, make_optimizer = OPTIMIZERS[optimizer]
    model = workloads.filled_model(file, arguments.models)
    data = make_data(name, 40 * batch + batch // 2, draw)
    with tempfile.TemporaryDirectory() as folder:
        options = [*options, "--precision", arguments.precision]
        ours = train_freestone(model, data, batch, arguments.steps, options, pathlib.Path(folder))
    return ours, *(train_torch(module, model, data, batch, arguments.steps, make_optimizer, threads, arguments.precision)
                   for threads in (1, 2))


def compare(name, optimizer, arguments):
    """Prints a row; whether it is as it must be."""
    # [draw, step] each.
    ours, one, two = (np.array(losses) for losses in zip(*(train_all(name, optimizer, arguments, draw)
                                                           for draw in range(arguments.draws))))
    difference = np.max(np.abs(ours - one)[:, :50] / np.abs(one)[:, :50])
    allowed = max(1e-4, 10 * np.max(np.abs(two - one)[:, :50] / np.abs(one)[:, :50]))
    last, reference, again = (losses[:, -10:].mean() for losses in (ours, one, two))
    apart, own = (abs(mean - reference) / abs(reference) for mean in (last, again))
    print(f"| {name} {optimizer} | {difference:.1e} | {allowed:.1e} | {last:.4f} | {reference:.4f} | {apart:.2%} | {own:.2%} |", flush=True)
    if arguments.precision == "bf16":
        return apart <= 0.03
    return difference <= allowed and apart <= 0.01


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--draws", type=int, default=1, help="sets of data that a row trains on")
    parser.add_argument("--only", default="", help="part of the name of a row, such as 'mlp adamw'")
    parser.add_argument("--precision", choices=("fp32", "bf16"), default="fp32")
    parser.add_argument("--models", default=freestone_runtime.build_folder() / "models", help="where filled models are")
    arguments = parser.parse_args()
    print("| model | first 50 losses differ by | they may by | last losses | PyTorch's | apart | PyTorch from itself |")
    print("|---|---|---|---|---|---|---|")
    rows = [(name, optimizer) for name in MODELS for optimizer in OPTIMIZERS if arguments.only in f"{name} {optimizer}"]
    failed = [" ".join(row) for row in rows if not compare(*row, arguments)]
    if failed:
        print(f"too far apart: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
