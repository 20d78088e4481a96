"""Gives a model that was exported without weights its weights, from a seed: fill.py IN.onnx OUT.onnx [--seed N].

Element i of tensor `name` is scale * u + offset, u uniform in [-1, 1) with 24 bits, from SplitMix64 over (seed,
name, i): the same on every machine and in every language. Matrices and filters keep the variance of what flows through
them.
"""

import argparse
import math

import numpy as np
import onnx

GAMMA = 0x9E3779B97F4A7C15
MASK = (1 << 64) - 1


def key(seed, name):
    """FNV-1a of the name, with the seed mixed in."""
    hash = 0xCBF29CE484222325
    for byte in name.encode():
        hash = ((hash ^ byte) * 0x100000001B3) & MASK
    return (hash + seed * GAMMA) & MASK


def uniform(seed, name, count):
    """f32[count] in [-1, 1)."""
    z = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(GAMMA) + np.uint64(key(seed, name))
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(40)).astype(np.float32) / np.float32(1 << 23) - np.float32(1)


def scale_and_offset(name, shape):
    if len(shape) >= 2:
        fan_in = math.prod(shape[1:]) if len(shape) > 2 else max(shape)
        return math.sqrt(3.0 / fan_in), 0.0
    if name.endswith("running_var"):
        return 0.5, 1.0
    if name.endswith("weight"):
        return 0.1, 1.0
    return 0.1, 0.0


def is_stripped(tensor):
    """True when the tensor has elements but no data."""
    empty = not tensor.raw_data and not tensor.float_data and tensor.data_location != onnx.TensorProto.EXTERNAL
    return tensor.data_type == onnx.TensorProto.FLOAT and empty and math.prod(tensor.dims) > 0


def fill(model, seed=0):
    """Fills the model in place and returns it."""
    for tensor in model.graph.initializer:
        if is_stripped(tensor):
            scale, offset = scale_and_offset(tensor.name, tensor.dims)
            values = uniform(seed, tensor.name, math.prod(tensor.dims)) * np.float32(scale) + np.float32(offset)
            tensor.raw_data = values.astype("<f4").tobytes()
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input")
    parser.add_argument("output")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    onnx.save(fill(onnx.load(arguments.input), arguments.seed), arguments.output)


if __name__ == "__main__":
    main()
