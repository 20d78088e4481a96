"""Sums along any axis against numpy's, forwards and backwards, with and without the element itself: cumulate.py FOLDER.

Sums along the innermost axis go line by line, others in blocks of neighbouring lines: with less than a vector, with
more than one block, and without elements.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import freestone_runtime
import ml_dtypes
import numpy as np
import onnx
from onnx import helper, numpy_helper

CASES = [((7, 33), 0), ((3, 5, 1030), 1), ((4, 6, 1), 1), ((2, 0, 5), 1), ((2, 5, 0), 1), ((300, 17), 0), ((5, 40), 1)]
TYPES = [np.float32, np.int64, ml_dtypes.bfloat16, np.uint32]


def compile_sum(folder, rank, axis, dtype, exclusive, reverse):
    """The compiled model, with symbolic sizes."""
    tensor_type = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    value = lambda name: helper.make_tensor_value_info(name, tensor_type, [f"n{dim}" for dim in range(rank)])
    node = helper.make_node("CumSum", ["x", "axis"], ["y"], exclusive=exclusive, reverse=reverse)
    axis = numpy_helper.from_array(np.array(axis), "axis")
    graph = helper.make_graph([node], "sums", [value("x")], [value("y")], [axis])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)]), folder / "m.onnx")
    freestone_runtime.compile_model(folder / "m.onnx", folder / "m.stone")
    return freestone_runtime.Model(folder / "m.stone", threads=2)


def get_expected(x, axis, exclusive, reverse):
    # The elements are integers, so that all sums are exact.
    elements = np.flip(x.astype(np.float64), axis) if reverse else x.astype(np.float64)
    sums = np.cumsum(elements, axis) - (elements if exclusive else 0)
    return (np.flip(sums, axis) if reverse else sums).astype(x.dtype)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    generator = np.random.default_rng(0)
    for number, (shape, axis) in enumerate(CASES):
        for exclusive, reverse in ((0, 0), (0, 1), (1, 0), (1, 1)):
            dtype = TYPES[(number + 2 * exclusive + reverse) % len(TYPES)]
            x = generator.integers(0, 4, shape).astype(dtype)
            model = compile_sum(folder, len(shape), axis, dtype, exclusive, reverse)
            (y,) = model.run({"x": x})
            model.close()
            expected = get_expected(x, axis, exclusive, reverse)
            np.testing.assert_array_equal(y, expected, f"{shape} {axis} {dtype} {exclusive} {reverse}")
    print("sums along axes are exact")


if __name__ == "__main__":
    main()
