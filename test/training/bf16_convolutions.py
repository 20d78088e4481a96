"""Convolutions in bf16 and their gradients: bf16_convolutions.py FREESTONE FOLDER.

Two convolutions of small integers and a loss whose gradient is -1, 0 or 1 times a number, so that sums are exact in
whatever order, and rounded to bf16 alike. One step of gradient descent tells the gradients of both kernels, that of the
first through the picture of the second; they are numpy's in fp64. Strides, borders, dilation, odd sizes, one dimension and
several blocks and parts of sums; compiled once for any batch, on one to three workers; by tiles of AMX and by vectors where the machine
has them, and by f32. With transformed filters, sums are as exact as those of f32, also where these take less time than dot
products.
"""

import json
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / folder) for folder in ("bench", "test/codegen")]

import numpy as np

from command import Command
from graphs import FLOAT, constant, node, save
from targets import distinct

RATE, BATCHES, WORKERS = 1000.0, (1, 2, 7), (1, 2, 3)
# Channels and picture; kernel and attributes of the first convolution, and of the second.
CASES = [((13, 19, 23), (20, 3, 3), {"pads": [1] * 4}, (24, 3, 3), {"pads": [1] * 4}),
         ((3, 33, 30), (36, 7, 7), {"pads": [3] * 4, "strides": [2, 2]}, (8, 5, 3), {"pads": [2, 1, 4, 1], "dilations": [2, 1]}),
         ((70, 15, 14), (40, 1, 1), {"strides": [2, 2]}, (20, 3, 3), {"pads": [1] * 4, "strides": [2, 2]}),
         ((24, 45, 50), (33, 3, 3), {}, (28, 1, 3), {"pads": [0, 1, 0, 1]}),
         ((9, 130), (40, 5), {"pads": [2, 2]}, (16, 3), {"pads": [0, 2], "strides": [2]}),
         # Sums over pictures are split, and nothing is left over.
         ((16, 40, 48), (24, 1, 1), {"strides": [2, 2]}, (5, 1, 1), {}),
         # Filters may be transformed, of both convolutions and of the gradient of the second one's picture.
         ((16, 31, 34), (32, 3, 3), {"pads": [1] * 4}, (32, 3, 3), {"pads": [1] * 4})]
# Options → the part of the greatest number by which gradients of both kernels may be wrong. That of the second one's picture
# is rounded to bf16, of ties either way where sums are not exact.
DIRECT, TRANSFORMED = (["--disable", "winograd"], (1e-6, 1e-6)), ([], (2**-8, 1e-5))
VECTORS = "x86-64-v4,+avx512bf16"


def to_bf16(x):
    """Rounded to the nearest, of ties to the even one."""
    bits = x.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32).astype(np.float64)


class Convolution:
    def __init__(self, x, kernel, attributes):
        rank = x.ndim - 2
        pads = attributes.get("pads", [0] * 2 * rank)
        steps, apart = (attributes.get(name, [1] * rank) for name in ("strides", "dilations"))
        self.kernel, self.border = kernel, [(0, 0), (0, 0), *zip(pads[:rank], pads[rank:])]
        self.padded = np.pad(x, self.border)
        counts = [(size - (taps - 1) * far - 1) // step + 1
                  for size, taps, far, step in zip(self.padded.shape[2:], kernel.shape[2:], apart, steps)]
        self.taps = {tap: (slice(None), slice(None), *(slice(i * far, i * far + (count - 1) * step + 1, step)
                                                       for i, far, count, step in zip(tap, apart, counts, steps)))
                     for tap in np.ndindex(*kernel.shape[2:])}

    def forward(self):
        return sum(np.einsum("nc...,oc->no...", self.padded[at], self.kernel[:, :, *tap], optimize=True)
                   for tap, at in self.taps.items())

    def backward(self, given):
        """The gradients of the picture and of the kernel."""
        of_padded, of_kernel = np.zeros_like(self.padded), np.zeros_like(self.kernel)
        for tap, at in self.taps.items():
            of_padded[at] += np.einsum("no...,oc->nc...", given, self.kernel[:, :, *tap], optimize=True)
            flat = [x.reshape(*x.shape[:2], -1) for x in (given, self.padded[at])]
            of_kernel[:, :, *tap] = np.einsum("nop,ncp->oc", *flat, optimize=True)
        inside = tuple(slice(low, size - high) for (low, high), size in zip(self.border, of_padded.shape))
        return of_padded[inside], of_kernel


def differentiate(x, kernels, attributes, random):
    """Labels that differ from the results by -1, 0 or 1, and the gradients of the kernels."""
    first = Convolution(x, kernels[0], attributes[0])
    between = first.forward()
    assert np.array_equal(between, to_bf16(between)), "the test's numbers are too large"
    second = Convolution(between, kernels[1], attributes[1])
    y = to_bf16(second.forward())
    signs = random.integers(-1, 2, y.shape)
    unit = to_bf16(np.float32(2) / np.float32(y.size).reshape(1))[0]
    of_picture, of_second = second.backward(signs * unit)
    return (y - signs).astype(np.float32), (first.backward(to_bf16(of_picture))[1], of_second)


def targets(tool):
    """Targets that this machine runs → whether they have dot products of bf16; None where its rates decide."""
    has = set(tool.run("machine").stdout.split())
    known = {"host": "amx-bf16" in has or None, "x86-64-v3": False}
    found = {target: known[target] for target in distinct("x86-64-v3", "host", tool=tool.path)}
    return found | ({VECTORS: True} if "avx512bf16" in has else {})


def count(tool, *options):
    """The counters of the step that is compiled with these options: `step.stone`."""
    tool.train("model.onnx", "--compile-only", "-o", "step.stone", "--optimizer", "sgd", "--loss", "mse", "--data", "1.npz",
               "--precision", "bf16", "--recompute", "none", *options)
    return json.loads(tool.run("inspect", "step.stone", "--json").stdout)["statistics"]


def main():
    tool = Command(*sys.argv[1:])
    random, known = np.random.default_rng(11), targets(tool)
    for number, (shape, first, ofFirst, second, ofSecond) in enumerate(CASES):
        kernels = [random.integers(-1, 2, (first[0], shape[0], *first[1:])), random.integers(-1, 2, (second[0], first[0], *second[1:]))]
        attributes = ofFirst, ofSecond
        # Most are zero, so that sums of both stay below the numbers that bf16 has all of; of transformed ones also the
        # results, which would be rounded otherwise where they are nearly between two numbers.
        may_transform = number + 1 == len(CASES)
        kernels = [(k * (random.random(k.shape) < (0.1 if may_transform else 0.4))).astype(np.float64) for k in kernels]
        # Every second case has pictures of any size and gives channels last, whose gradients are summed in other programs.
        is_last = number % 2 == 1
        rank, names = len(shape) - 1, [f"d{axis}" for axis in range(1, len(shape))]
        picture = [f"p{axis}" for axis in range(rank)] if is_last else shape[1:]
        nodes = [node("Conv", ["x", "k1"], ["c"], **ofFirst), node("Conv", ["c", "k2"], ["r"], **ofSecond),
                 node("Transpose", ["r"], ["y"], perm=[0, *range(2, rank + 2), 1]) if is_last else node("Identity", ["r"], ["y"])]
        save(tool.folder / "model.onnx", nodes, [("x", FLOAT, ["n", shape[0], *picture])],
             [("y", FLOAT, ["n", *names, second[0]] if is_last else ["n", second[0], *names])],
             [constant("k1", kernels[0]), constant("k2", kernels[1])])
        expected = {}
        for batch in BATCHES:
            x = random.integers(-1, 2, (batch, *shape)).astype(np.float64)
            labels, expected[batch] = differentiate(x, kernels, attributes, random)
            np.savez(tool.folder / f"{batch}.npz", x=x.astype(np.float32), labels=np.moveaxis(labels, 1, -1) if is_last else labels)
        for target, has_words in known.items():
            for options, most in (DIRECT, TRANSFORMED) if may_transform else (DIRECT,):
                counters = count(tool, "--target", target, *options)
                # Equal programs count once.
                words, others, widened = (counters[name] for name in ("dot_products", "weight_gradients", "widened"))
                if options and has_words is not None:
                    assert words > 2 and others == widened == 0 if has_words else words == 0, (number, target, counters)
                elif has_words is not None and target != "host":  # the rate of a matrix unit decides
                    assert widened == 3 and counters["transformed"] > 3, (number, target, counters)
                    assert count(tool, "--target", target, "--disable", "widen-pictures")["widened"] == 0
                    count(tool, "--target", target, *options)
                for batch in BATCHES:
                    models = set()
                    for workers in WORKERS:
                        tool.remove("run")
                        tool.train("step.stone", "--data", f"{batch}.npz", "--batch", batch, "--lr", RATE, "--steps", 1,
                                   "--threads", workers, "--no-shuffle", "--out", "run")
                        models.add(tool.model("run"))
                    assert len(models) == 1, f"{target}, {batch} pictures: workers give other bytes"
                    after = tool.weights("run")
                    for name, kernel, wanted, part in zip(("k1", "k2"), kernels, expected[batch], most):
                        found = (kernel - after[name].astype(np.float64)) / RATE
                        # Of the parameter, which is rounded to f32.
                        bound = part * (np.abs(wanted).max() + 1 / RATE)
                        assert np.abs(found - wanted).max() <= bound, (number, target, batch, name, np.abs(found - wanted).max() / bound)
                print(f"case {number}, {target}: within {most[1]:.0e}, {words} by dot products, {widened} widened")


main()
