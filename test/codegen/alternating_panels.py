"""Products of loops that go through panels of weights backwards in odd iterations: alternating_panels.py FOLDER.

Gates of a recurrent layer, whose slices are evaluated behind the last panel of a run, a cell whose last panel has few
columns and whose sum has several blocks, and a loop within a loop. No step, one and several, of few rows and many: on one
to three workers the bits are those of one worker, and agree with the interpreter, as do those of `--disable alternate`,
whose counter is 0.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

from interpreted import check, drawn
from targets import distinct

# Name → text, products that alternate, and its weights.
MODELS = {
    "gates": ("""(float[t, n, 384] x, float[n, 96] h, float[n, 96] c) => (float[t, n, 96] all, float[n, 96] last) {
        hl, last, all = Scan<num_scan_inputs = 1, body = b (float[n, 96] p, float[n, 96] q, float[n, 384] s) => (float[n, 96] r, float[n, 96] u, float[n, 96] v) {
            k = MatMul(p, w) z = Add(k, s) i, o, f, g = Split<axis = 1, num_outputs = 4>(z) si = Sigmoid(i) so = Sigmoid(o) sf = Sigmoid(f)
            tg = Tanh(g) a = Mul(si, tg) e = Mul(sf, q) u = Add(a, e) tu = Tanh(u) r = Mul(so, tu) v = Identity(r) }>(h, c, x)
    }""", 1, {"w": (96, 384)}),
    "cell": ("""(float[t, n, 1100] x, float[n, 1100] h) => (float[t, n, 1100] all) {
        hl, all = Scan<num_scan_inputs = 1, body = b (float[n, 1100] p, float[n, 1100] s) => (float[n, 1100] r, float[n, 1100] v) {
            k = MatMul(p, w) z = Add(k, s) r = Tanh(z) v = Identity(r) }>(h, x)
    }""", 1, {"w": (1100, 1100)}),
    "nested": ("""(float[t, n, 100] x, float[n, 100] h) => (float[t, n, 100] all) {
        hl, all = Scan<num_scan_inputs = 1, body = b (float[n, 100] p, float[n, 100] s) => (float[n, 100] r, float[n, 100] v) {
            trips = Constant<value_int = 3>()
            y = Loop<body = l (int64 i, bool c, float[n, 100] q) => (bool d, float[n, 100] o) {
                d = Identity(c) k = MatMul(q, w) z = Add(k, s) o = Tanh(z) }>(trips, , p)
            m = MatMul(y, u) r = Sin(m) v = Identity(r) }>(h, x)
    }""", 2, {"w": (100, 100), "u": (100, 100)}),
}
SETTINGS = ((), ("--disable", "alternate"), *(("--target", target) for target in distinct("host", "x86-64-v3")[1:]))


def feeds_of(inputs):
    for steps, rows in ((0, 2), (1, 1), (2, 1), (7, 1), (4, 3), (3, 40)):
        sizes = {"t": steps, "n": rows}
        yield {each.name: drawn(*(sizes.get(size.dim_param) if size.dim_param else size.dim_value
                                  for size in each.type.tensor_type.shape.dim)) for each in inputs}


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    print({name: check(folder, name, text, weights, SETTINGS, "alternate", "alternating", products, feeds_of)
           for name, (text, products, weights) in MODELS.items()}, "products that alternate")


if __name__ == "__main__":
    main()
