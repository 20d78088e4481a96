"""Remainders of floats against numpy's, to the bit: remainders.py FOLDER.

Of dividends that are multiples of the divisor or next to one, of any bits, and of every pair of special numbers; quotients
short and long. For this machine and for AVX2.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import freestone_runtime
import numpy as np
import onnx
from targets import distinct

TYPES = {"float": np.float32, "double": np.float64, "float16": np.float16}
SIZE, ROUNDS = 5003, 12
SPECIAL = [0, -0.0, np.inf, -np.inf, np.nan, 1e-45, 6e-8, 1, -1, 3, 65504]


def draw_any(random, dtype):
    width = np.dtype(dtype).itemsize
    return random.integers(0, 256, SIZE * width, dtype=np.uint8).view(dtype)


def draw_near(random, dtype):
    """Dividends of quotients of some digits, and the divisors."""
    divisor = (random.normal(size=SIZE) * 10.0 ** random.integers(-2, 3)).astype(dtype)
    dividend = (divisor * random.integers(0, 2 ** random.integers(1, 40), SIZE)).astype(dtype)
    towards = np.array([-np.inf, 0, np.inf], dtype)[random.integers(0, 3, SIZE)]
    return np.where(random.integers(0, 2, SIZE), np.nextafter(dividend, towards), dividend), divisor


def check(model, x, y, what):
    (found,) = model.run({"x": x, "y": y})
    expected, bits = np.fmod(x, y), f"u{x.dtype.itemsize}"
    differs = (found.view(bits) != expected.view(bits)) & ~(np.isnan(found) & np.isnan(expected))
    assert not differs.any(), (what, x[differs][:3], y[differs][:3], found[differs][:3], expected[differs][:3])


def main():
    folder, random = pathlib.Path(sys.argv[1]), np.random.default_rng(0)
    folder.mkdir(parents=True, exist_ok=True)
    np.seterr(all="ignore")
    for target in distinct("host", "x86-64-v3"):
        for name, dtype in TYPES.items():
            text = f'<ir_version: 9, opset_import: ["" : 17]> g ({name}[n] x, {name}[n] y) => ({name}[n] z) {{ z = Mod<fmod = 1>(x, y) }}'
            onnx.save(onnx.parser.parse_model(text), folder / "m.onnx")
            freestone_runtime.compile_model(folder / "m.onnx", folder / "m.stone", "--target", target)
            model = freestone_runtime.Model(folder / "m.stone", 2)
            special = np.array(SPECIAL, dtype)
            check(model, np.repeat(special, len(special)), np.tile(special, len(special)), (target, name, "special"))
            for _ in range(ROUNDS):
                check(model, draw_any(random, dtype), draw_any(random, dtype), (target, name, "any"))
                check(model, *draw_near(random, dtype), (target, name, "near"))
            model.close()
        print(f"{target}: remainders are numpy's")


if __name__ == "__main__":
    sys.exit(main())
