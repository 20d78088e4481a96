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


def make_model(cases):
    """A quantization of an input of its own for each case."""
    inputs, outputs, constants, nodes = [], [], [], []
    for number, (scale, zero, dtype, x) in enumerate(cases):
        inputs.append(f"float[{len(x)}] x{number}")
        outputs.append(f"{dtype}[{len(x)}] y{number}")
        constants.append(f"float s{number} = {{{float(scale)!r}}}, {dtype} z{number} = {{{zero}}}")
        nodes.append(f"y{number} = QuantizeLinear(x{number}, s{number}, z{number})")
    return onnx.parser.parse_model(f"""<ir_version: 10, opset_import: ["" : 21]>
        g ({', '.join(inputs)}) => ({', '.join(outputs)}) <{', '.join(constants)}> {{ {' '.join(nodes)} }}""")


def quantize(scale, zero, dtype, x):
    info = np.iinfo(dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        bounded = np.clip(np.rint(x / scale) + np.float32(zero), info.min, info.max)
        return np.where(np.isnan(x), 0, bounded).astype(dtype)


def check(folder, target, cases, *options):
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(make_model(cases), folder / "m.onnx")
    counters = freestone_runtime.compile_model(folder / "m.onnx", folder / "m.stone", "--target", target, *options)
    model = freestone_runtime.Model(folder / "m.stone", 1)
    results = model.run({f"x{number}": case[-1] for number, case in enumerate(cases)})
    model.close()
    for case, result in zip(cases, results):
        expected, x = quantize(*case), case[-1]
        wrong = result != expected
        assert not wrong.any(), (target, options, case[:3], x[wrong][:4], result[wrong][:4], expected[wrong][:4])
    return counters["rounded_products"]


def main():
    folder, cases = pathlib.Path(sys.argv[1]), []
    for scale in SCALES:
        for dtype, zero in (("uint8", 128), ("int8", 0), ("uint8", 3), ("int8", -7)):
            info = np.iinfo(dtype)
            cases.append((scale, zero, dtype, make_inputs(scale, info.min - zero, info.max - zero)))
    for target in distinct("host", "x86-64-v3"):
        rounded = check(folder / target, target, cases)
        # Where the bound of a scale is not finite, quotients stay.
        assert rounded == len(cases) * (len(SCALES) - 1) // len(SCALES), (target, rounded)
        assert check(folder / target, target, cases, "--disable", "rounded-products") == 0
        print(f"{target}: {rounded} quantizations round products")


if __name__ == "__main__":
    sys.exit(main())
