"""The licence texts of this machine, and a GPT for characters: prepare.py FOLDER [--network SIZE] [--seed N] [--texts FOLDER].

Writes train.npy and test.npy (the last tenth, held out) with one byte a character, and gpt.onnx.
"""

import argparse
import dataclasses
import math
import pathlib
import sys

import numpy as np
from onnx import TensorProto

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from network import Network

CHARACTERS, LONGEST = 128, 128
DEVIATION = 0.02


@dataclasses.dataclass
class Size:
    layers: int
    width: int
    heads: int

    def products(self):
        """Multiplications a character, but for those of attention: what a step takes is about in proportion."""
        return 12 * self.layers * self.width**2 + self.width * CHARACTERS


SIZES = {"large": Size(4, 192, 6), "medium": Size(2, 128, 4), "small": Size(2, 96, 3)}


def load_text(folder):
    """All files by name, links left out: several names of one text would be learnt by heart."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and not path.is_symlink())
    text = "".join(path.read_text(encoding="utf-8", errors="ignore") for path in files)
    return files, np.frombuffer(text.encode("ascii", "ignore"), np.uint8)


def normalise(net, name, x, width):
    scale, bias = net.weight(f"{name}.scale", np.ones(width)), net.weight(f"{name}.bias", np.zeros(width))
    return net.node("LayerNormalization", x, scale, bias, axis=-1)


def block(net, name, x, size):
    """Attention and a perceptron, each added to what comes in; what they add begins small, so that the sum keeps its variance."""
    width, residual = size.width, DEVIATION / math.sqrt(2 * size.layers)
    h = normalise(net, f"{name}.norm1", x, width)
    parts = [net.linear(f"{name}.{part}", h, width, width, DEVIATION) for part in ("query", "key", "value")]
    h = net.node("Attention", *parts, q_num_heads=size.heads, kv_num_heads=size.heads, is_causal=1)
    x = net.node("Add", x, net.linear(f"{name}.project", h, width, width, residual))
    h = normalise(net, f"{name}.norm2", x, width)
    h = net.node("Gelu", net.linear(f"{name}.widen", h, width, 4 * width, DEVIATION))
    return net.node("Add", x, net.linear(f"{name}.narrow", h, 4 * width, width, residual))


def waves(width):
    """Positions to begin with, as sines of many lengths: those that only long windows reach are not strange then."""
    angles = np.arange(LONGEST)[:, None] / 10000 ** (np.arange(0, width, 2) / width)
    return DEVIATION * math.sqrt(2) * np.concatenate([np.sin(angles), np.cos(angles)], axis=1)


def build(path, size, seed):
    net = Network("gpt", seed)
    tokens = net.input("tokens", TensorProto.INT64, ["batch", "length"])
    length = net.node("Squeeze", net.node("Shape", tokens, start=1, end=2))
    zero, one = net.weight("zero", np.int64(0)), net.weight("one", np.int64(1))
    positions = net.node("Range", zero, length, one)
    x = net.node("Gather", net.normal("characters", (CHARACTERS, size.width), DEVIATION), tokens)
    x = net.node("Add", x, net.node("Gather", net.weight("positions", waves(size.width)), positions))
    for layer in range(size.layers):
        x = block(net, f"layer{layer}", x, size)
    x = normalise(net, "norm", x, size.width)
    logits = net.node("MatMul", x, net.normal("head", (size.width, CHARACTERS), DEVIATION))
    return net.save(path, logits, ["batch", "length", CHARACTERS])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--network", choices=SIZES, default="large")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--texts", type=pathlib.Path, default="/usr/share/common-licenses")
    arguments = parser.parse_args()
    files, text = load_text(arguments.texts)
    cut = len(text) * 9 // 10
    np.save(arguments.folder / "train.npy", text[:cut])
    np.save(arguments.folder / "test.npy", text[cut:])
    parameters = build(arguments.folder / "gpt.onnx", SIZES[arguments.network], arguments.seed)
    kinds = len(np.unique(text))
    print(f"{len(files)} texts, {len(text):,} characters of {kinds} kinds, the last tenth held out; a network of {parameters:,} numbers")


if __name__ == "__main__":
    main()
