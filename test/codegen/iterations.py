"""Iterations that begin before the one before has ended: iterations.py FOLDER.

Loops whose states stay with their workers, loops with a part that does not depend on the state, which has a second
slice of memory, and such that data end or that hold a branch: no step, one, an odd number, the limit and an early exit. On
one to eight workers the bits are those of one worker and of `--disable double-buffer` and `overlap-iterations`, whose
counters are 0; all agree with the interpreter.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import freestone_runtime
import numpy as np
import onnx
from interpreted import run

COMMON = "keep = Constant<value_float = 0.75>() more = Constant<value_float = 0.5>() "
# Name → text, and the number of loops that overlap.
MODELS = {
    "own": ("""(float[n] x, int64 m) => (float[n] y, float[n] z) {
        y, z = Loop<body = b (int64 i, bool c, float[n] p, float[n] q) => (bool d, float[n] r, float[n] s) {
            d = Identity(c) e = Sin(p) r = Mul(e, keep) f = Cos(q) s = Add(f, r) }>(m, , x, x)
    }""", 1),
    "beside": ("""(float[t, n, 64] x, float[n, 64] h, float[64, 64] w, float[64, 64] v) => (float[n, 64] y, float[t, n, 64] all) {
        y, all = Scan<num_scan_inputs = 1, body = b (float[n, 64] p, float[n, 64] s) => (float[n, 64] r, float[n, 64] u) {
            a = Exp(s) k = MatMul(a, w) g = Tanh(k) j = MatMul(p, v) o = Add(j, g) r = Tanh(o) u = Mul(g, keep) }>(h, x)
    }""", None),
    "ended": ("""(float[n] x, int64 m) => (float[n] y, float[k, n] all) {
        y, all = Loop<body = b (int64 i, bool c, float[n] p) => (bool d, float[n] q, float[n] v) {
            q = Mul(p, more) v = Sin(p) t = ReduceMean<keepdims = 0>(q) d = Less(least, t) }>(m, , x)
    }""", None),
    "branch": ("""(float[n] x, int64 m) => (float[n] y) {
        y = Loop<body = b (int64 i, bool c, float[n] p) => (bool d, float[n] q) {
            d = Identity(c) t = ReduceMean<keepdims = 0>(p) o = Less(t, more)
            q = If(o) <then_branch = l () => (float[n] f) { a = Sin(p) f = Add(a, more) },
                       else_branch = r () => (float[n] g) { g = Mul(p, more) }> }>(m, , x)
    }""", None),
}


def drawn(*shape):
    return np.random.default_rng(sum(shape)).random(shape, dtype=np.float32)


def feeds_of(name):
    if name == "beside":
        for steps, rows in ((0, 3), (1, 1), (7, 40), (32, 5)):
            yield {"x": drawn(steps, rows, 64), "h": drawn(rows, 64), "w": drawn(64, 64) / 8 - 0.05, "v": drawn(64, 64) / 8 - 0.05}
    else:
        for steps, count in ((0, 5), (1, 1), (7, 20000), (32, 300), (100, 3)):
            yield {"x": drawn(count), "m": np.array(steps)}


def check(folder, name, text, loops):
    constants = COMMON + "least = Constant<value_float = 0.05>() "
    head, body = text.split("{", 1)
    model, counted = folder / f"{name}.onnx", []
    onnx.save(onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["": 20]>\n{name} {head} {{ {constants} {body}'), model)
    # Products with columns packed before the loop are waited for by windows, without a second slice.
    for number, off in enumerate(("pack-in-loops", "pack-in-loops,overlap-iterations", "pack-in-loops,double-buffer")):
        counters = freestone_runtime.compile_model(model, folder / f"{name}.{number}.stone", "--disable", off)
        counted.append(counters["overlapped"])
        assert counters["double_buffered"] == (name == "beside" and number == 0), (name, number, counters)
    assert counted[1] == 0 and loops in (None, counted[0]) and counted[2] == counted[0], (name, counted)
    for feeds in feeds_of(name):
        np.savez(folder / "feeds.npz", **feeds)
        expected, bits = run(folder, model, "--interpret"), None
        for number in range(3):
            for workers in (1, 2, 3, 8):
                results = run(folder, folder / f"{name}.{number}.stone", "--threads", str(workers))
                for result, value in zip(results, expected, strict=True):
                    np.testing.assert_allclose(result, value, rtol=1e-4, atol=1e-5, err_msg=f"{name}, {workers} workers")
                bits = bits or [result.tobytes() for result in results]
                assert bits == [result.tobytes() for result in results], (name, workers, number)
    return counted[0]


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    print({name: check(folder, name, *model) for name, model in MODELS.items()}, "loops without a meeting")


if __name__ == "__main__":
    main()
