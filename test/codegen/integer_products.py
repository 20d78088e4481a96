"""Products of 8-bit integers are exact, for every order of operands and on every target: integer_products.py FOLDER.

They use pair products, as the counter shows. Among them are odd numbers of steps, several blocks, extreme elements, and
zero points of rows and columns.
"""

import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import freestone_runtime
import numpy as np
import onnx
from onnx import helper, numpy_helper

SIZES = [(2, 1, 3), (5, 33, 7), (16, 64, 32), (37, 129, 71), (64, 1, 40), (130, 1500, 50), (300, 70, 300)]
# Whether A and B come transposed.
ORDERS = [(False, False), (True, False), (False, True), (True, True)]


def make_model(a, b, zeros, flips, is_weight):
    nodes, names = [], []
    for name, flip in zip("ab", flips):
        names.append(f"{name}t" if flip else name)
        if flip:
            nodes.append(helper.make_node("Transpose", [name], [names[-1]], perm=[1, 0]))
    nodes.append(helper.make_node("MatMulInteger", [*names, *(("za", "zb") if zeros else ())], ["y"]))
    constants = {"za": zeros[0], "zb": zeros[1]} if zeros else {}
    if is_weight:
        constants["b"] = b
    inputs = [(name, array) for name, array in (("a", a), ("b", b)) if name not in constants]
    graph = helper.make_graph(
        nodes,
        "products",
        [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), [f"{name}0", f"{name}1"])
         for name, x in inputs],
        [helper.make_tensor_value_info("y", onnx.TensorProto.INT32, None)],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
    return onnx.shape_inference.infer_shapes(model), dict(inputs)


def check(folder, target, sizes, flips, types, zeros, is_weight=False, extreme=False):
    m, k, n = sizes
    generator = np.random.default_rng(m + k + n)

    def draw(shape, dtype):
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        if extreme:
            return generator.choice([low, high], shape).astype(dtype)
        return generator.integers(low, high, shape, endpoint=True).astype(dtype)

    a, b = draw((m, k), types[0]), draw((k, n), types[1])
    zero = [draw((m,) if zeros == "rows" else (), types[0]), draw((n,) if zeros == "rows" else (), types[1])]
    left, right = a.astype(np.int64), b.astype(np.int64)
    if zeros:
        left = left - zero[0].astype(np.int64).reshape(-1, 1)
        right = right - zero[1].astype(np.int64)
    stored = [np.ascontiguousarray(array.T if flip else array) for array, flip in zip((a, b), flips)]
    model, feeds = make_model(*stored, zero if zeros else None, flips, is_weight)
    path, artifact = folder / "m.onnx", folder / "m.stone"
    onnx.save(model, path)
    command = [freestone_runtime.freestone(), "compile", path, "-o", artifact, "--target", target, "--json"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert json.loads(done.stdout)["counters"].get("pair_products" if target == "x86-64-v3" else "dot_products", 0) == 1, (target, sizes, types, zeros)
    model = freestone_runtime.Model(artifact)
    (y,) = model.run(feeds)
    model.close()
    np.testing.assert_array_equal(y, left @ right, f"{target} {sizes} {flips} {types} {zeros}")


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for target in ("host", "x86-64-v3"):
        for number, sizes in enumerate(SIZES):
            check(folder, target, sizes, ORDERS[number % 4], (np.uint8, np.int8), "all")
        for flips in ORDERS:
            check(folder, target, (37, 129, 71), flips, (np.uint8, np.uint8), "all", extreme=True)
        check(folder, target, (37, 129, 71), (False, False), (np.int8, np.int8), None, extreme=True)
        check(folder, target, (37, 129, 71), (False, False), (np.uint8, np.uint8), None, extreme=True)
        check(folder, target, (37, 129, 71), (False, False), (np.uint8, np.int8), "rows")
        check(folder, target, (64, 258, 96), (False, False), (np.uint8, np.int8), "all", is_weight=True)
    print("products of integers are exact")


if __name__ == "__main__":
    main()
