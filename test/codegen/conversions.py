"""Compiled conversions to floats round once: conversions.py FOLDER; the environment names the build.

Every number is compared with the nearest of its type, computed in 64 digits: around all numbers of bf16 that an integer of its
type can be, around the halves between them, and random ones. One by one and in vectors.
"""

import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / folder) for folder in ("bench", "test/training")]

import freestone_runtime
import numpy as np
from onnx import TensorProto, helper

from graphs import DOUBLE, FLOAT, node, save

HALF, BFLOAT = TensorProto.FLOAT16, TensorProto.BFLOAT16
# Digits, exponent of the smallest normal number, and exponent beyond the largest number.
FORMATS = {BFLOAT: (8, -126, 128), HALF: (11, -14, 16), FLOAT: (24, -126, 128), DOUBLE: (53, -1022, 1024)}


def nearest(numbers, dtype):
    """Ties to even, as f64. A long double has 64 digits: every integer and every f64."""
    digits, smallest, beyond = FORMATS[dtype]
    fraction, exponent = np.frexp(numbers.astype(np.longdouble))
    kept = np.minimum(digits, exponent - smallest + digits - 1)
    rounded = np.ldexp(np.rint(np.ldexp(fraction, kept)), exponent - kept)
    infinite = np.abs(rounded) >= np.ldexp(np.longdouble(1), beyond)
    return np.where(infinite, np.copysign(np.longdouble(np.inf), rounded), rounded).astype(np.float64)


def around(digits, dtype, random):
    """Numbers of so many digits at every scale, the midpoints between them, and the neighbours of both."""
    width = 8 * dtype.itemsize
    found = []
    for exponent in range(width - digits):
        whole = random.integers(1 << digits - 1, 1 << digits, 40).astype(object) << exponent
        half = (1 << exponent) // 2
        for offset in (-1, 0, 1, half - 1, half, half + 1):
            found.extend(whole + offset)
    limits = np.iinfo(dtype)
    found += [0, 1, int(limits.max), int(limits.max) - 1, int(limits.min)]
    found += [-one for one in found]
    return np.array([one for one in found if limits.min <= one <= limits.max], dtype=dtype)


def doubles(random):
    """Around the numbers and the halves of bf16 and f16, denormal ones and the ends of f16's range included."""
    whole = np.ldexp(random.integers(1, 1 << 13, 20000).astype(np.float64), random.integers(-40, 20, 20000))
    wide = np.ldexp(random.integers(1, 1 << 9, 20000).astype(np.float64), random.integers(-120, 119, 20000))
    edges = np.array([65504, 65519.999999, 65520, 65536, 2.0**-24, 2.0**-25, 2.0**-14, 3e38, 3.39e38, 1e300, np.inf, 0])
    values = np.concatenate([whole, wide, edges])
    values = np.concatenate([values, np.nextafter(values, np.inf), np.nextafter(values, 0), values * (1 + 2.0**-30)])
    return np.concatenate([values, -values])


def compiled(folder, name, given, shape, wanted):
    """The casts of one input to all types of `wanted`; bf16 is returned as f32, which is exact."""
    nodes, outputs = [], []
    for dtype in wanted:
        nodes.append(node("Cast", ["x"], [f"narrow{dtype}"], to=dtype))
        comes = FLOAT if dtype == BFLOAT else dtype
        nodes.append(node("Cast", [f"narrow{dtype}"], [f"y{dtype}"], to=comes))
        outputs.append((f"y{dtype}", comes, shape))
    folder.mkdir(parents=True, exist_ok=True)
    save(folder / f"{name}.onnx", nodes, [("x", given, shape)], outputs)
    freestone_runtime.compile_model(folder / f"{name}.onnx", folder / f"{name}.stone")
    return freestone_runtime.Model(folder / f"{name}.stone", 1)


def check(folder, values, wanted):
    given = helper.np_dtype_to_tensor_dtype(values.dtype)
    vectors = compiled(folder, f"{values.dtype}-vectors", given, ["n"], wanted)
    scalars = compiled(folder, f"{values.dtype}-scalars", given, [], wanted)
    results = vectors.run({"x": values})
    one_by_one = [scalars.run({"x": value}) for value in values[::7]]
    for index, dtype in enumerate(wanted):
        expected = nearest(values, dtype)
        # The processor's conversion to bf16 flushes denormals to zero.
        regular = (np.abs(expected) >= 2.0**-126) | (dtype != BFLOAT)
        for actual, right, use in ((results[index], expected, regular),
                                   (np.array([one[index] for one in one_by_one]), expected[::7], regular[::7])):
            wrong = (actual.astype(np.float64) != right) & use
            assert not wrong.any(), (values.dtype, dtype, wrong.sum(), actual[wrong][:3], right[wrong][:3])


def main():
    folder = pathlib.Path(sys.argv[1])
    random = np.random.default_rng(1)
    for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
        dtype = np.dtype(name)
        values = np.unique(np.concatenate([around(digits, dtype, random) for digits in (8, 11, 24) if digits < 8 * dtype.itemsize]
                                          or [np.arange(np.iinfo(dtype).min, np.iinfo(dtype).max + 1, dtype=dtype)]))
        check(folder, values, (BFLOAT, HALF, FLOAT, DOUBLE))
    check(folder, doubles(random), (BFLOAT, HALF, FLOAT))


main()
