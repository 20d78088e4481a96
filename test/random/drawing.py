"""Compiled models with random numbers, and the expected numbers in numpy."""

import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / folder) for folder in ("bench", "test/codegen", "test/training")]

import freestone_runtime
import numpy as np
from onnx import TensorProto

from graphs import DOUBLE, FLOAT, node, save

HALF, BFLOAT = TensorProto.FLOAT16, TensorProto.BFLOAT16
SEED = 7.0


def run_compiled(folder, name, nodes, outputs, feed=None, inputs=(), initializers=(), options=()):
    """The outputs of a model on one worker."""
    folder.mkdir(parents=True, exist_ok=True)
    model, artifact = folder / f"{name}.onnx", folder / f"{name}.stone"
    save(model, nodes, inputs, outputs, initializers, opset=22)
    freestone_runtime.compile_model(model, artifact, *options)
    compiled = freestone_runtime.Model(artifact, 1)
    results = compiled.run(feed or {})
    compiled.close()
    return results


def draw(folder, kind, dtype, count, **attributes):
    """`count` numbers of one node; bf16 is returned as f32, which is exact."""
    comes = FLOAT if dtype == BFLOAT else dtype
    nodes = [node(kind, [], ["drawn"], shape=[count], dtype=dtype, seed=SEED, **attributes),
             node("Cast", ["drawn"], ["y"], to=comes)]
    return run_compiled(folder, f"{kind}-{dtype}", nodes, [("y", comes, [count])])[0]


def stream(words, draw=0, seed=SEED):
    """The first words of a node's draw: Philox4x32-10, all four words of every block."""
    blocks = -(-words // 4)
    number = np.arange(blocks, dtype=np.uint64)
    low = np.uint64(0xFFFFFFFF)
    counter = [number & low, number >> np.uint64(32), np.zeros(blocks, np.uint64), np.full(blocks, draw, np.uint64)]
    key = [int(np.float32(seed).view(np.uint32)), 0]
    for _ in range(10):
        first, second = np.uint64(0xD2511F53) * counter[0], np.uint64(0xCD9E8D57) * counter[2]
        counter = [second >> np.uint64(32) ^ counter[1] ^ np.uint64(key[0]), second & low,
                   first >> np.uint64(32) ^ counter[3] ^ np.uint64(key[1]), first & low]
        key = [key[0] + 0x9E3779B9 & 0xFFFFFFFF, key[1] + 0xBB67AE85 & 0xFFFFFFFF]
    return np.stack(counter, axis=1).reshape(-1)[:words]


def wide_stream(count, draw=0):
    """The stream as words of 64 bits."""
    words = stream(2 * count, draw)
    return words[0::2] | words[1::2] << np.uint64(32)


def round_to(values, dtype):
    """f64 to the nearest of a type, ties to even, as f64."""
    if dtype != BFLOAT:
        return values.astype({HALF: np.float16, FLOAT: np.float32, DOUBLE: np.float64}[dtype]).astype(np.float64)
    fraction, exponent = np.frexp(values)
    # Normal numbers have eight digits; the last digit of denormals is 2^-133.
    digits = np.minimum(8, exponent + 133)
    return np.ldexp(np.rint(np.ldexp(fraction, digits)), exponent - digits)


def neighbours(value, dtype):
    """The nearest number of a type, and those on its sides."""
    if dtype == BFLOAT:
        bits = int(np.float32(round_to(np.array([value]), dtype)[0]).view(np.uint32)) >> 16
        # Magnitudes grow with their bits; zero has the smallest number on both sides.
        around = [bits, bits + 1, bits - 1] if bits & 0x7FFF else [0, 1, 0x8001]
        return [float(np.uint32(one << 16).view(np.float32)) for one in around]
    nearest = {HALF: np.float16, FLOAT: np.float32, DOUBLE: np.float64}[dtype](value)
    return [float(one) for one in (nearest, np.nextafter(nearest, -np.inf, dtype=nearest.dtype),
                                   np.nextafter(nearest, np.inf, dtype=nearest.dtype))]


def uniform(fractions, low, high, dtype):
    """RandomUniform's result for fractions of 24 or 53 digits: rounded once, and kept inside."""
    first = min(one for one in neighbours(low, dtype) if one >= low)
    last = max(one for one in neighbours(high, dtype) if one < high)
    return np.clip(round_to(fractions * (high - low) + low, dtype), first, last)
