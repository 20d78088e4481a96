"""Products whose long sums are divided into parts, against numpy: divided_products.py FOLDER.

Sizes are known and results few, so that parts occupy more workers. Each part reads some steps of a weight that is stored
whole: in words of 8-bit integers and of bf16, in panels of f32. Weights that are rows, in strips, are not divided.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import freestone_runtime
import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper
from targets import distinct

# Rows, steps of k, columns: whole groups of words in each part, or not, and steps that are left.
SIZES = [(16, 1024, 64), (16, 1100, 40), (37, 3000, 33), (100, 4160, 70)]
KINDS = {np.uint8: TensorProto.UINT8, np.int8: TensorProto.INT8, ml_dtypes.bfloat16: TensorProto.BFLOAT16,
         np.float32: TensorProto.FLOAT}


def draw(random, dtype, shape):
    if dtype in (np.uint8, np.int8):
        return random.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype, endpoint=True)
    return random.standard_normal(shape).astype(dtype)


def make_model(given, weight, result, is_left):
    shape = (weight.shape[0], given.shape[1]) if is_left else (given.shape[0], weight.shape[1])
    operator = "MatMulInteger" if result == TensorProto.INT32 else "MatMul"
    node = helper.make_node(operator, ["w", "x"] if is_left else ["x", "w"], ["y"])
    initializer = helper.make_tensor("w", KINDS[weight.dtype.type], weight.shape, weight.tobytes(), raw=True)
    graph = helper.make_graph([node], "product",
                              [helper.make_tensor_value_info("x", KINDS[given.dtype.type], given.shape)],
                              [helper.make_tensor_value_info("y", result, shape)], [initializer])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])


def check(folder, target, size, types, is_left, allowed, *options):
    """The counters of the compilation; errors are at most `allowed` of the largest magnitude."""
    (m, k, n), random = size, np.random.default_rng(size)
    given = draw(random, types[0], (k, n) if is_left else (m, k))
    weight = draw(random, types[1], (m, k) if is_left else (k, n))
    result = TensorProto.INT32 if types[1] == np.int8 else KINDS[types[1]]
    onnx.save(make_model(given, weight, result, is_left), folder / "m.onnx")
    counters = freestone_runtime.compile_model(folder / "m.onnx", folder / "m.stone", "--target", target, *options)
    left, right = (weight, given) if is_left else (given, weight)
    expected = left.astype(np.float64) @ right.astype(np.float64)
    for workers in (1, 3):
        model = freestone_runtime.Model(folder / "m.stone", workers)
        error = np.abs(np.asarray(model.run({"x": given})[0]).astype(np.float64) - expected).max()
        model.close()
        assert error <= allowed * np.abs(expected).max(), (target, size, types, is_left, options, error)
    return counters


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    cases = (((np.uint8, np.int8), 0), ((ml_dtypes.bfloat16,) * 2, 0.008), ((np.float32,) * 2, 1e-5))
    for target in distinct("x86-64-v3", "host"):
        for types, allowed in cases:
            for is_left in (False, True):
                divided = [check(folder, target, size, types, is_left, allowed)["split_reductions"] for size in SIZES]
                assert is_left or any(divided), (target, types, divided)
    for types, allowed in cases:
        assert not check(folder, "host", SIZES[0], types, False, allowed, "--disable", "split-reductions")["split_reductions"]
    print("divided products are right")


if __name__ == "__main__":
    main()
