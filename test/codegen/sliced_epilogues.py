"""Computes that read several slices of a product's columns together: sliced_epilogues.py FOLDER.

Gates of a recurrent layer in a loop, a gated layer whose product is a result as well, weights that are inputs, sums of
several blocks, and slices that are no whole panels, which stay apart. For few rows and many, on one to three workers the
bits are those of one worker; all agree with the interpreter, as do those of `--disable sliced-epilogues`, whose counter is
0.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

from interpreted import check, drawn
from targets import distinct

# Name → text, products with sliced epilogues, and its weights, which are inputs where the text says so.
MODELS = {
    "gates": ("""(float[t, n, 96] x, float[n, 24] h, float[n, 24] c) => (float[t, n, 24] all, float[n, 24] last) {
        hl, last, all = Scan<num_scan_inputs = 1, body = b (float[n, 24] p, float[n, 24] q, float[n, 96] s) => (float[n, 24] r, float[n, 24] u, float[n, 24] v) {
            k = MatMul(p, w) z = Add(k, s) i, o, f, g = Split<axis = 1, num_outputs = 4>(z) si = Sigmoid(i) so = Sigmoid(o) sf = Sigmoid(f)
            tg = Tanh(g) a = Mul(si, tg) e = Mul(sf, q) u = Add(a, e) tu = Tanh(u) r = Mul(so, tu) v = Identity(r) }>(h, c, x)
    }""", 0, {"w": (24, 96)}),
    "wide gates": ("""(float[t, n, 384] x, float[n, 96] h, float[n, 96] c) => (float[t, n, 96] all, float[n, 96] last) {
        hl, last, all = Scan<num_scan_inputs = 1, body = b (float[n, 96] p, float[n, 96] q, float[n, 384] s) => (float[n, 96] r, float[n, 96] u, float[n, 96] v) {
            k = MatMul(p, w) z = Add(k, s) i, o, f, g = Split<axis = 1, num_outputs = 4>(z) si = Sigmoid(i) so = Sigmoid(o) sf = Sigmoid(f)
            tg = Tanh(g) a = Mul(si, tg) e = Mul(sf, q) u = Add(a, e) tu = Tanh(u) r = Mul(so, tu) v = Identity(r) }>(h, c, x)
    }""", 1, {"w": (96, 384)}),
    "reset gates": ("""(float[t, n, 192] x, float[n, 64] h) => (float[t, n, 64] all) {
        hl, all = Scan<num_scan_inputs = 1, body = b (float[n, 64] p, float[n, 192] s) => (float[n, 64] r, float[n, 64] v) {
            k = MatMul(p, w) i, o, g = Split<axis = 1, num_outputs = 3>(k) xi, xo, xg = Split<axis = 1, num_outputs = 3>(s)
            ai = Add(i, xi) ao = Add(o, xo) si = Sigmoid(ai) so = Sigmoid(ao) rg = Mul(so, g) ag = Add(rg, xg) tg = Tanh(ag)
            d = Sub(p, tg) e = Mul(si, d) r = Add(tg, e) v = Identity(r) }>(h, x)
    }""", 1, {"w": (64, 192)}),
    "gated": ("""(float[n, 1000] x) => (float[n, 128] y, float[n, 256] z) {
        k = MatMul(x, w) z = Add(k, b) u, v = Split<axis = 1, num_outputs = 2>(z) s = Sigmoid(v) y = Mul(u, s)
    }""", 1, {"w": (1000, 256), "b": (256,)}),
    "given weights": ("""(float[n, 700] x, float[700, 192] w) => (float[n, 64] y) {
        k = MatMul(x, w) u, v, r = Split<axis = 1, num_outputs = 3>(k) s = Sigmoid(v) m = Mul(u, s) y = Sub(m, r)
    }""", 1, {}),
    "no slice of all": ("""(float[n, 300] x) => (float[n, 64] y) {
        k = MatMul(x, w) u, v, r, q = Split<axis = 1, num_outputs = 4>(k) s = Sigmoid(v) y = Mul(q, s)
    }""", 1, {"w": (300, 256)}),
}


SETTINGS = ((), ("--disable", "sliced-epilogues"), *(("--target", target) for target in distinct("host", "x86-64-v3")[1:]), ("--disable", "pack-weights,pack-in-loops"),
            ("--disable", "split-products"))


def feeds_of(inputs):
    for rows, steps in ((1, 5), (3, 2), (16, 3), (17, 1), (100, 2), (300, 1), (0, 1)):
        sizes = {"n": rows, "t": steps}
        yield {
            value.name: drawn(*(sizes.get(dim.dim_param, dim.dim_value) for dim in value.type.tensor_type.shape.dim)) / (9 if value.name == "w" else 1)
            for value in inputs
        }


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    print({name: check(folder, name, text, weights, SETTINGS, "sliced-epilogues", "sliced_epilogues", products, feeds_of)
           for name, (text, products, weights) in MODELS.items()}, "products with sliced epilogues")


if __name__ == "__main__":
    main()
