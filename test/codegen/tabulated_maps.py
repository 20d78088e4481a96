"""Functions of 8-bit integers that are looked up in tables, against NumPy in f64: tabulated_maps.py FOLDER.

For AVX-512 with and without permutations of bytes, where the machine has it, with vectors that are half of these, and AVX2; at
sizes of nothing, of less than a vector, of whole vectors, and with a rest; and beside numbers of 32 bits.
"""

import json
import math
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import freestone_runtime
import numpy as np
import onnx
from targets import distinct, instructions

SIZES = ("0", "1", "31", "64", "256", "1000", "3,5", "5,301", "64,96")
# ONNX's text of a function of x, and the function.
FUNCTIONS = {
    "Sigmoid(x)": lambda x: 1 / (1 + np.exp(-x)),
    "Tanh(x)": np.tanh,
    "HardSwish(x)": lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
    "Gelu(x)": lambda x: 0.5 * x * (1 + np.vectorize(math.erf, otypes=[float])(x / math.sqrt(2))),
    "LeakyRelu<alpha = 0.1>(x)": lambda x: np.where(x < 0, 0.1 * x, x),
    "Exp(x)": np.exp,
    "Sqrt(x)": lambda x: np.sqrt(np.where(x < 0, 0, x)),
}
SCALE, TO_SCALE = 0.0303, 0.0217


def zero_of(dtype):
    return 100 if dtype == "uint8" else -3


def make_text(cases):
    """For each case x dequantised, the function, and its quantised result."""
    inputs, outputs, nodes = [], [], []
    for number, (name, dtype, size) in enumerate(cases):
        inputs.append(f"{dtype}[{size}] a{number}")
        outputs.append(f"{dtype}[{size}] y{number}")
        function = name.replace("(x)", f"(x{number})")
        dequantised = f"d{number}" if name.startswith("Sqrt") else f"x{number}"
        nodes.append(f"{dequantised} = DequantizeLinear(a{number}, s, {dtype})")
        if dequantised.startswith("d"):
            nodes.append(f"x{number} = Relu(d{number})")
        nodes += [f"f{number} = {function}", f"y{number} = QuantizeLinear(f{number}, t, {dtype})"]
    constants = ", ".join(f"{dtype} {dtype} = {{{zero_of(dtype)}}}" for dtype in ("uint8", "int8"))
    return f"""<ir_version: 10, opset_import: ["" : 22]> g ({', '.join(inputs)}) => ({', '.join(outputs)})
        <float s = {{{SCALE}}}, float t = {{{TO_SCALE}}}, {constants}> {{ {' '.join(nodes)} }}"""


def make_input(size, dtype):
    """Every number in turn."""
    shape = tuple(map(int, size.split(",")))
    info = np.iinfo(dtype)
    return (np.arange(math.prod(shape)) * 7 % 256 + info.min).astype(dtype).reshape(shape)


def compile_model(folder, text, target, *options):
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(onnx.parser.parse_model(text), folder / "m.onnx")
    place = "--device" if isinstance(target, pathlib.Path) else "--target"
    counters = freestone_runtime.compile_model(folder / "m.onnx", folder / "m.stone", place, target, *options)
    return freestone_runtime.Model(folder / "m.stone", 1), counters["tabulated_maps"]


def check(result, exact, zero):
    """Integers next to the exact number, where that is not the middle of two."""
    info = np.iinfo(result.dtype)
    number = np.clip(exact / TO_SCALE + zero, info.min, info.max)
    difference = np.abs(result - number)
    assert (difference <= 0.5 + 1e-4).all(), (number[difference > 0.5001][:4], result[difference > 0.5001][:4])


def check_functions(folder, target):
    cases = [(name, dtype, size) for dtype in ("uint8", "int8") for name in FUNCTIONS for size in SIZES]
    inputs = [make_input(size, dtype) for _, dtype, size in cases]
    for options in ((), ("--disable", "tabulated-maps")):
        model, tabulated = compile_model(folder, make_text(cases), target, *options)
        results = model.run({f"a{number}": feed for number, feed in enumerate(inputs)})
        model.close()
        assert tabulated == (0 if options else len(cases)), (target, tabulated)
        for (name, dtype, _), feed, result in zip(cases, inputs, results):
            zero = zero_of(dtype)
            check(result, FUNCTIONS[name]((feed.astype(np.float64) - zero) * np.float64(np.float32(SCALE))), zero)


def check_wide(folder, target):
    """A table's numbers are added to floats, and summed, in vectors of those."""
    text = f"""<ir_version: 10, opset_import: ["" : 22]>
        g (uint8[7, 301] a, float[7, 301] b) => (float[7, 301] y, float[7] sum)
        <float s = {{{SCALE}}}, uint8 z = {{100}}, float t = {{{TO_SCALE}}}, int64[1] last = {{1}}> {{
          x = DequantizeLinear(a, s, z)
          f = Tanh(x)
          q = QuantizeLinear(f, t, z)
          r = DequantizeLinear(q, t, z)
          y = Add(r, b)
          sum = ReduceSum<keepdims = 0>(r, last)
        }}"""
    feed = make_input("7,301", "uint8")
    other = np.random.default_rng(1).standard_normal((7, 301)).astype(np.float32)
    model, _ = compile_model(folder, text, target)
    result, total = model.run({"a": feed, "b": other})
    model.close()
    step = np.float64(np.float32(TO_SCALE))
    exact = np.rint(np.tanh((feed - 100.0) * np.float64(np.float32(SCALE))) / step) * step
    np.testing.assert_allclose(result, exact + other, atol=1e-5)
    np.testing.assert_allclose(total, exact.sum(1), atol=1e-4)


def make_narrow(path):
    """This machine with vectors of 32 bytes, as far as the compiler is told."""
    device = json.loads(subprocess.check_output([freestone_runtime.freestone(), "machine", "--json"], text=True))
    path.write_text(json.dumps(device | {"vector_bytes": 32, "vector_registers": 16, "pair_unit": "none", "quad_unit": "none"}))
    return path


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    # x86-64-v4 has AVX-512 without permutations of bytes.
    others = ("x86-64-v4", make_narrow(folder / "narrow.json")) if "avx512f" in instructions() else ()
    for number, target in enumerate((*distinct("host", "x86-64-v3"), *others)):
        check_functions(folder / str(number), target)
        check_wide(folder / str(number), target)
        print(f"{target}: {2 * len(FUNCTIONS)} functions are looked up")


if __name__ == "__main__":
    sys.exit(main())
