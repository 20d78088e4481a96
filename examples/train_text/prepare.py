"""The licence texts of this machine, and a GPT for characters: prepare.py FOLDER [--seed N] [--texts FOLDER].

Writes train.npy and test.npy (the last tenth, held out) with one byte a character, and gpt.onnx.
"""

import argparse
import math
import pathlib
import sys

import numpy as np
from onnx import TensorProto

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from network import Network

CHARACTERS = 128
LAYERS, WIDTH, HEADS, LONGEST = 4, 192, 6, 128
DEVIATION = 0.02


def load_text(folder):
    """All files by name, links left out: several names of one text would be learnt by heart."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and not path.is_symlink())
    text = "".join(path.read_text(encoding="utf-8", errors="ignore") for path in files)
    return files, np.frombuffer(text.encode("ascii", "ignore"), np.uint8)


def normalise(net, name, x):
    scale, bias = net.weight(f"{name}.scale", np.ones(WIDTH)), net.weight(f"{name}.bias", np.zeros(WIDTH))
    return net.node("LayerNormalization", x, scale, bias, axis=-1)


def block(net, name, x):
    """Attention and a perceptron, each added to what comes in; what they add begins small, so that the sum keeps its variance."""
    residual = DEVIATION / math.sqrt(2 * LAYERS)
    h = normalise(net, f"{name}.norm1", x)
    parts = [net.linear(f"{name}.{part}", h, WIDTH, WIDTH, DEVIATION) for part in ("query", "key", "value")]
    h = net.node("Attention", *parts, q_num_heads=HEADS, kv_num_heads=HEADS, is_causal=1)
    x = net.node("Add", x, net.linear(f"{name}.project", h, WIDTH, WIDTH, residual))
    h = normalise(net, f"{name}.norm2", x)
    h = net.node("Gelu", net.linear(f"{name}.widen", h, WIDTH, 4 * WIDTH, DEVIATION))
    return net.node("Add", x, net.linear(f"{name}.narrow", h, 4 * WIDTH, WIDTH, residual))


def waves():
    """Positions to begin with, as sines of many lengths: those that only long windows reach are not strange then."""
    angles = np.arange(LONGEST)[:, None] / 10000 ** (np.arange(0, WIDTH, 2) / WIDTH)
    return DEVIATION * math.sqrt(2) * np.concatenate([np.sin(angles), np.cos(angles)], axis=1)


def build(path, seed):
    net = Network("gpt", seed)
    tokens = net.input("tokens", TensorProto.INT64, ["batch", "length"])
    length = net.node("Squeeze", net.node("Shape", tokens, start=1, end=2))
    zero, one = net.weight("zero", np.int64(0)), net.weight("one", np.int64(1))
    positions = net.node("Range", zero, length, one)
    x = net.node("Gather", net.normal("characters", (CHARACTERS, WIDTH), DEVIATION), tokens)
    x = net.node("Add", x, net.node("Gather", net.weight("positions", waves()), positions))
    for layer in range(LAYERS):
        x = block(net, f"layer{layer}", x)
    x = normalise(net, "norm", x)
    logits = net.node("MatMul", x, net.normal("head", (WIDTH, CHARACTERS), DEVIATION))
    return net.save(path, logits, ["batch", "length", CHARACTERS])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--texts", type=pathlib.Path, default="/usr/share/common-licenses")
    arguments = parser.parse_args()
    files, text = load_text(arguments.texts)
    cut = len(text) * 9 // 10
    np.save(arguments.folder / "train.npy", text[:cut])
    np.save(arguments.folder / "test.npy", text[cut:])
    parameters = build(arguments.folder / "gpt.onnx", arguments.seed)
    kinds = len(np.unique(text))
    print(f"{len(files)} texts, {len(text):,} characters of {kinds} kinds, the last tenth held out; a network of {parameters:,} numbers")


if __name__ == "__main__":
    main()
