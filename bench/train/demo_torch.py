"""One of the demo's two trainings in PyTorch: demo_torch.py digits|text FOLDER OPTIONS THREADS, for demo.py.

FOLDER holds the data and the model that Freestone was given, whose weights are where the training begins, and its run; OPTIONS
are those of `freestone train`, as JSON. Writes what was held out came to, as JSON.
"""

import json
import math
import pathlib
import sys

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import nn
from torch.nn import functional as F

HEADS, LAYERS = 6, 4
# ONNX's names of a normalization's parts.
PARTS = {"scale": "weight", "mean": "running_mean", "var": "running_var"}


class Convolution(nn.Conv2d):
    def __init__(self, inputs, outputs):
        super().__init__(inputs, outputs, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(outputs)

    def forward(self, x):
        return F.relu(self.norm(super().forward(x)))


class Digits(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Convolution(1, 32), Convolution(32, 64)
        self.classes = nn.Linear(64 * 4 * 4, 10)

    def forward(self, x):
        x = F.max_pool2d(self.second(self.first(x)), 2)
        return self.classes(F.dropout(x.flatten(1), 0.3, self.training))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query, self.key, self.value, self.project = (nn.Linear(width, width) for _ in range(4))
        self.widen, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        h = self.norm1(x)
        heads = (part(h).unflatten(2, (HEADS, -1)).transpose(1, 2) for part in (self.query, self.key, self.value))
        h = F.scaled_dot_product_attention(*heads, is_causal=True).transpose(1, 2).flatten(2)
        x = x + self.project(h)
        return x + self.narrow(F.gelu(self.widen(self.norm2(x))))


class Text(nn.Module):
    def __init__(self, characters=128, longest=128, width=192):
        super().__init__()
        self.characters, self.positions = nn.Embedding(characters, width), nn.Embedding(longest, width)
        for layer in range(LAYERS):
            self.add_module(f"layer{layer}", Block(width))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, characters, bias=False)

    def forward(self, tokens):
        x = self.characters(tokens) + self.positions.weight[: tokens.shape[1]]
        for layer in range(LAYERS):
            x = self.get_submodule(f"layer{layer}")(x)
        return self.head(self.norm(x))


def load(network, model):
    """Gives the network the weights of the ONNX file, where every one of its own must be."""
    state = network.state_dict()
    missing = {name for name in state if not name.endswith("num_batches_tracked")}
    for tensor in onnx.load(model).graph.initializer:
        *path, part = tensor.name.split(".")
        name = ".".join([*path, PARTS.get(part, part)])
        name = name if name in state else f"{name}.weight"
        if name not in state:
            continue  # constants of the graph
        values = torch.from_numpy(numpy_helper.to_array(tensor).copy())
        isLinear = values.dim() == 2 and isinstance(network.get_submodule(name.rpartition(".")[0]), nn.Linear)
        state[name].copy_(values.T if isLinear else values)
        missing.remove(name)
    if missing:
        sys.exit(f"{model} has no {sorted(missing)}")


class DigitsData:
    def __init__(self, folder, options):
        self.batch = int(options["--batch"])
        (self.x, self.y), self.test = (self.read(folder / f"{name}.npz") for name in ("train", "test"))
        self.perEpoch = math.ceil(len(self.x) / self.batch)
        self.steps = self.perEpoch * int(options["--epochs"])

    @staticmethod
    def read(path):
        with np.load(path) as arrays:
            return torch.from_numpy(arrays["x"]), torch.from_numpy(arrays["y"])

    def epoch(self):
        return ((self.x[rows], self.y[rows]) for rows in torch.randperm(len(self.x)).split(self.batch))

    def heldOut(self):
        return [self.test]


class TextData:
    """Windows that lie side by side from a drawn character on, of the lengths that the steps of Freestone's run had."""

    def __init__(self, folder, options):
        self.batch, self.steps = int(options["--batch"]), int(options["--steps"])
        self.longest = int(options["--window"].split(":")[-1])
        self.train, self.test = (torch.from_numpy(np.load(folder / f"{name}.npy")).long() for name in ("train", "test"))
        steps = map(json.loads, (folder / "run" / "metrics.jsonl").read_text().splitlines())
        self.lengths = iter([round(step["tokens_per_s"] / step["samples_per_s"]) for step in steps])

    def windows(self, text, starts, length):
        rows = torch.stack([text[start : start + length + 1] for start in starts.tolist()])
        return rows[:, :-1], rows[:, 1:]

    def epoch(self):
        starts = len(self.train) - self.longest
        origin = torch.randint(starts, ())
        samples = torch.randperm((len(self.train) - 1) // self.longest)
        for part in samples.split(self.batch):
            yield self.windows(self.train, (part * self.longest + origin) % starts, next(self.lengths))

    def heldOut(self):
        """Windows of the longest length, and what is left after them."""
        count = len(self.test) - 1
        starts = torch.arange(count // self.longest) * self.longest
        parts = [self.windows(self.test, part, self.longest) for part in starts.split(self.batch)]
        left = count % self.longest
        return parts + ([self.windows(self.test, torch.tensor([count - left]), left)] if left else [])


def evaluate(network, data):
    network.eval()
    loss = right = count = 0
    with torch.no_grad():
        for x, y in data.heldOut():
            logits, labels = network(x).flatten(0, -2), y.flatten()
            loss += F.cross_entropy(logits, labels, reduction="sum").item()
            right += (logits.argmax(1) == labels).sum().item()
            count += len(labels)
    network.train()
    return {"loss": loss / count, "accuracy": right / count}


def train(network, data, options):
    """Evaluates after each epoch and at the end, as `freestone train` does."""
    rate, clip = float(options["--lr"]), options.get("--clip-norm")
    optimizer = torch.optim.AdamW(network.parameters(), rate, weight_decay=float(options.get("--weight-decay", 0.01)), foreach=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=data.steps)
    network.train()
    step = 0
    while True:
        for x, y in data.epoch():
            loss = F.cross_entropy(network(x).flatten(0, -2), y.flatten())
            optimizer.zero_grad()
            loss.backward()
            if clip:
                nn.utils.clip_grad_norm_(network.parameters(), float(clip))
            optimizer.step()
            schedule.step()
            step += 1
            if step == data.steps:
                return evaluate(network, data)
        evaluate(network, data)


def main():
    name, folder, options, threads = sys.argv[1], pathlib.Path(sys.argv[2]), json.loads(sys.argv[3]), int(sys.argv[4])
    torch.set_num_threads(threads)
    torch.manual_seed(int(options["--seed"]))
    network, data = (Digits(), DigitsData(folder, options)) if name == "digits" else (Text(), TextData(folder, options))
    load(network, folder / ("digits.onnx" if name == "digits" else "gpt.onnx"))
    print(json.dumps(train(network, data, options)))


if __name__ == "__main__":
    main()
