"""QuantizeLinear against NumPy where products are rounded instead of quotients: rounded_products.py FOLDER.

For AVX-512 where the machine has it, and AVX2: every number near the middle of two integers, what is beyond the bounds,
infinities and NaN, for scales that are powers of two, near them, and others.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import freestone_runtime
import numpy as np
import onnx
from targets import distinct

SCALES = np.array([0.05, 1 / 3, 0.1, 1.0, 0.0078125, 1 - 2**-24, 1 + 2**-23, 3.7e-5, 119.3, 2e-30, 7e30], "float32")


def make_inputs(scale, lowest, highest):
    middles = (np.arange(lowest - 1, highest + 1) + 0.5) * np.float64(scale)
    near = middles.astype("float32")
    below, above = [near], [near]
    for _ in range(4):
        below.append(np.nextafter(below[-1], np.float32(-np.inf)))
        above.append(np.nextafter(above[-1], np.float32(np.inf)))
    # Beyond 3.4e38, quotients are still in bounds where the scale is large.
    with np.errstate(over="ignore"):
        extremes = np.array([0.0, -0.0, 1e-40, -1e-40, np.inf, -np.inf, np.nan, 3e38, -3e38], "float32")
    return np.concatenate([*below, *above, extremes])


def check(folder, target, scale, zero, dtype):
    info = np.iinfo(dtype)
    x = make_inputs(scale, info.min - zero, info.max - zero)
    text = f"""<ir_version: 10, opset_import: ["" : 21]>
        g (float[{len(x)}] x) => ({np.dtype(dtype).name}[{len(x)}] y)
        <float s = {{{scale!r}}}, {np.dtype(dtype).name} z = {{{zero}}}> {{ y = QuantizeLinear(x, s, z) }}"""
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(onnx.parser.parse_model(text.replace("np.float32(", "").replace(")}", "}")), folder / "m.onnx")
    results, counts = [], []
    for options in ([], ["--disable", "rounded-products"]):
        counters = freestone_runtime.compile_model(folder / "m.onnx", folder / "m.stone", "--target", target, *options)
        model = freestone_runtime.Model(folder / "m.stone", 1)
        results.append(model.run({"x": x})[0])
        model.close()
        counts.append(counters["rounded_products"])
    with np.errstate(over="ignore", invalid="ignore"):
        expected = np.clip(np.rint(x / scale) + np.float32(zero), info.min, info.max)
        expected = np.where(np.isnan(x), 0, expected).astype(dtype)
    for what, result in zip(("products", "quotients"), results):
        wrong = result != expected
        assert not wrong.any(), (target, what, scale, zero, dtype, x[wrong][:4], result[wrong][:4], expected[wrong][:4])
    assert counts[1] == 0, counts
    return counts[0]


def main():
    folder = pathlib.Path(sys.argv[1])
    for target in distinct("host", "x86-64-v3"):
        rounded = sum(check(folder / target, target, scale, zero, dtype)
                      for scale in SCALES for dtype, zero in (("uint8", 128), ("int8", 0), ("uint8", 3)))
        # Where the bound of a scale is not finite, quotients stay.
        assert rounded == 3 * (len(SCALES) - 1), (target, rounded)
        print(f"{target}: {rounded} quantizations round products")


if __name__ == "__main__":
    sys.exit(main())
