"""Roundings of f32 to integers within bounds, against numpy's: quantised_maps.py FOLDER.

QuantizeLinear to integers of 8 and 16 bits, by zero points that are even, odd and at the ends; of halves, which go to even
numbers, of what lies beyond the bounds, of infinities, and of any numbers. For this machine and for AVX2, in vectors and in
rests of them, which are a single lane where the size is known.
"""

import itertools
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import freestone_runtime
import numpy as np
import onnx
from targets import distinct

ZERO_POINTS = {"uint8": (0, 1, 128, 255), "int8": (-128, -3, 0, 127), "uint16": (0, 32767, 65535), "int16": (-32768, 5, 32767)}
SCALES = (1, 0.5, 0.037)
ONE_BEYOND = 81  # vectors


def draw(random, scale):
    halves = np.arange(-70000, 70000, 0.5) * scale
    beyond = [np.inf, -np.inf, 1e30, -1e30, 2.0**31, -2.0**31, 2.0**23, 2.0**24 + 2, -0.0]
    return np.concatenate([beyond, halves, np.nextafter(halves.astype(np.float32), np.float32(0)), random.normal(size=1001) * 100]).astype(np.float32)


def main():
    folder, random = pathlib.Path(sys.argv[1]), np.random.default_rng(0)
    folder.mkdir(parents=True, exist_ok=True)
    cases = [(dtype, zero, scale) for dtype, zeros in ZERO_POINTS.items() for zero in zeros for scale in SCALES]
    outputs = ", ".join(f"{dtype}[SIZE] y{number}" for number, (dtype, _, _) in enumerate(cases))
    constants = ", ".join(f"float s{number} = {{{scale}}}, {dtype} z{number} = {{{zero}}}" for number, (dtype, zero, scale) in enumerate(cases))
    nodes = " ".join(f"y{number} = QuantizeLinear(x, s{number}, z{number})" for number in range(len(cases)))
    text = f'<ir_version: 10, opset_import: ["" : 21]> g (float[SIZE] x) => ({outputs}) <{constants}> {{ {nodes} }}'
    for target, size in itertools.product(distinct("host", "x86-64-v3"), ("n", ONE_BEYOND)):
        onnx.save(onnx.parser.parse_model(text.replace("SIZE", str(size))), folder / "m.onnx")
        freestone_runtime.compile_model(folder / "m.onnx", folder / "m.stone", "--target", target)
        model = freestone_runtime.Model(folder / "m.stone", 2)
        drawn = [draw(random, scale) for scale in SCALES]
        for given in [*drawn, drawn[0][:3]] if size == "n" else [values[:size] for values in drawn]:
            for (dtype, zero, scale), found in zip(cases, model.run({"x": given})):
                limits = np.iinfo(dtype)
                expected = np.clip(np.rint(given / np.float32(scale)) + np.float32(zero), limits.min, limits.max).astype(dtype)
                differs = found != expected
                assert not differs.any(), (target, dtype, zero, scale, given[differs][:3], found[differs][:3], expected[differs][:3])
        model.close()
        print(f"{target}, {size} elements: integers are numpy's")


if __name__ == "__main__":
    sys.exit(main())
