"""Two products whose intermediate leaves the cache otherwise: connected_products.py FOLDER.

Blocks of a network with weights and with matrices that are inputs, with what is computed between and behind, and of sizes
that fill no vectors; an intermediate that is a result as well, and a product of many steps, are left apart. For none, one
and two samples, on one to three workers the bits are those of one worker; all agree with the interpreter, as do those of
`--disable connect`, whose counter is 0.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import numpy as np
from interpreted import check, drawn
from targets import distinct

# Name → text, connections, and its weights, which are inputs where the text says so.
MODELS = {
    "block": ("""(float[n, 9001, 32] x) => (float[n, 9001, 32] y) {
        h = MatMul(x, a) i = Add(h, c) g = Gelu(i) p = MatMul(g, b) q = Add(p, d) y = Add(q, x)
    }""", 1, {"a": (32, 128), "c": (128,), "b": (128, 32), "d": (32,)}),
    "given": ("(float[n, 9001, 48] x, float[48, 160] a, float[160, 24] b) => (float[n, 9001, 24] y) { h = MatMul(x, a) g = Tanh(h) y = MatMul(g, b) }", 1, {}),
    "odd": ("""(float[n, 30011, 17] x) => (float[n, 30011, 9] y) {
        h = MatMul(x, a) i = Add(h, c) g = Relu(i) y = MatMul(g, b)
    }""", 1, {"a": (17, 53), "c": (53,), "b": (53, 9)}),
    "batch": ("(float[n, 3, 4003, 16] x, float[n, 3, 16, 100] a, float[n, 3, 100, 40] b) => (float[n, 3, 4003, 40] y) { h = MatMul(x, a) g = Sigmoid(h) y = MatMul(g, b) }",
              1, {}),
    "stored": ("(float[n, 9001, 32] x) => (float[n, 9001, 32] y, float[n, 9001, 128] g) { h = MatMul(x, a) g = Relu(h) y = MatMul(g, b) }", 0,
               {"a": (32, 128), "b": (128, 32)}),
    "deep": ("(float[n, 4001, 160] x) => (float[n, 4001, 160] y) { h = MatMul(x, a) g = Relu(h) y = MatMul(g, b) }", 0, {"a": (160, 640), "b": (640, 160)}),
}
SETTINGS = (), ("--disable", "connect"), *(("--target", target) for target in distinct("host", "x86-64-v3")[1:]), ("--disable", "pack-weights"), ("--disable", "split-products")


def feed(value, samples):
    shape = [dim.dim_value if dim.HasField("dim_value") else samples for dim in value.type.tensor_type.shape.dim]
    return drawn(*shape) / np.float32(1 if value.name == "x" else shape[-2] ** 0.5)


def feeds_of(inputs):
    return ({value.name: feed(value, samples) for value in inputs} for samples in (0, 1, 2))


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    print({name: check(folder, name, text, weights, SETTINGS, "connect", "connected", connections, feeds_of)
           for name, (text, connections, weights) in MODELS.items()}, "connections of products")


if __name__ == "__main__":
    main()
