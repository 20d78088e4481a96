"""NonZero and Compress give what NumPy gives, on any number of workers: selections.py FREESTONE.

With fewer elements than a word of bits, many words and many tiles; where nothing, everything or some of it is selected;
of every kind of element, with negative zeros and NaNs; for AVX2 and for this machine.
"""

import sys

import numpy as np
from text_models import check_targets

ONNX_TYPES = {"float32": "float", "float64": "double"}
SIZES = [0, 1, 63, 64, 65, 1000, 16384 * 3, 200001]


def draw(random, size, dtype, share):
    values = (random.random(size) < share) * random.integers(1, 100, size)
    if dtype == "bool":
        return values > 0
    result = values.astype(dtype)
    if dtype.startswith("float"):
        result[random.random(size) < 0.1] = -0.0
        result[random.random(size) < 0.01] = np.nan
    return result


def check_selections(tool, random, target):
    for dtype in ("bool", "float32", "float64", "float16", "int8", "int64"):
        tool.compile(f"g ({ONNX_TYPES.get(dtype, dtype)}[n] x) => (int64[1, k] y) {{ y = NonZero(x) }}", target)
        for size, share in zip(SIZES if dtype in ("bool", "float32") else SIZES[-3:], (0.5, 1, 0, 0.1, 1, 0.9, 0.01, 0.5)):
            x = draw(random, size, dtype, share)
            tool.expect({"x": x}, np.stack(np.nonzero(x)), f"NonZero of {size} elements of {dtype} for {target}")
    tool.compile("g (float[a, b, 3] x) => (int64[3, k] y) { y = NonZero(x) }", target)
    x = draw(random, (300, 70, 3), "float32", 0.4)
    tool.expect({"x": x}, np.stack(np.nonzero(x)), f"NonZero of {list(x.shape)} for {target}")
    tool.compile("g (float[n, 5] x, bool[m] c) => (float[k, 5] y) { y = Compress<axis = 0>(x, c) }", target)
    for rows, length in ((10, 3), (100, 100), (100000, 99999)):
        x, chosen = draw(random, (rows, 5), "float32", 0.5), random.random(length) < 0.3
        tool.expect({"x": x, "c": chosen}, np.compress(chosen, x, axis=0), f"Compress of {rows} rows by {length} for {target}")


check_targets(sys.argv[1], check_selections)
