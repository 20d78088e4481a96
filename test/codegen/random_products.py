"""Random matrix products against numpy: random_products.py FOLDER [COUNT [SEED]].

Of f32, f64, bf16 and 8-bit integers of all signs; operands transposed or not, a weight on either side or on none, batches of
either or both; each size known when the model is compiled, or brought by a run; biases, activations and zero points behind
and before. On one worker and on two, for this machine and for AVX2.
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

# Below and above what is read in place, fills panels, words and blocks of k, and is divided into parts.
EXTENTS = [1, 2, 3, 4, 7, 8, 13, 16, 31, 32, 33, 40, 63, 64, 65, 100, 128, 200, 256, 300, 512, 640, 1000, 1024, 1100, 1500,
           2048, 3000, 4100]
MOST_PRODUCTS = 6e7
KINDS = {np.dtype(np.uint8): TensorProto.UINT8, np.dtype(np.int8): TensorProto.INT8, np.dtype(np.float32): TensorProto.FLOAT,
         np.dtype(np.float64): TensorProto.DOUBLE, np.dtype(ml_dtypes.bfloat16): TensorProto.BFLOAT16}
# Types of both operands, and errors relative to the largest magnitude.
TYPES = [((np.float32,) * 2, 2e-5), ((np.float32,) * 2, 2e-5), ((np.float64,) * 2, 1e-12), ((ml_dtypes.bfloat16,) * 2, 0.012),
         ((np.uint8, np.int8), 0), ((np.int8, np.int8), 0), ((np.uint8, np.uint8), 0), ((np.int8, np.uint8), 0)]


def draw(random, dtype, shape):
    if dtype.kind in "iu":
        return random.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype, endpoint=True)
    return random.standard_normal(shape).astype(dtype)


class Product:
    """A random product: its model, what a run gives it, and the result."""

    def __init__(self, seed):
        self.random = random = np.random.default_rng(seed)
        while True:
            m, k, n = (int(extent) for extent in random.choice(EXTENTS, 3))
            if m * k * n <= MOST_PRODUCTS:
                break
        types, self.allowed = TYPES[random.integers(len(TYPES))]
        types = [np.dtype(dtype) for dtype in types]
        self.isInteger = types[0].kind in "iu" and types[0].itemsize == 1
        batch = int(random.choice([0, 0, 0, 1, 3]))
        self.weight = random.choice(["", "a", "b"])
        batched = {"a": batch and self.weight != "a", "b": batch and self.weight != "b" and random.random() < 0.5}
        if batch and not any(batched.values()):
            batched["b"] = True
        known = dict(zip("mkn", random.random(3) < 0.6))
        # The sizes of a weight are known.
        known |= {axis: True for axis in {"": "", "a": "mk", "b": "kn"}[self.weight]}
        self.nodes, self.constants, self.inputs, self.feeds = [], [], [], {}
        self.operands = {}
        extents = {"m": m, "k": k, "n": n}
        for name, axes, dtype in zip("ab", ("mk", "kn"), types):
            if random.random() < 0.3:
                axes = axes[::-1]
            self.add_operand(name, axes, dtype, extents, known, batch if batched[name] else 0)
        self.types, self.bias_shape = types, (n,)
        self.description = (seed, [str(dtype) for dtype in types], extents, known, batched, self.weight)

    def add_constant(self, name, array):
        self.constants.append(helper.make_tensor(name, KINDS[array.dtype], array.shape, array.tobytes(), raw=True))

    def add_operand(self, name, axes, dtype, extents, known, batch):
        outer = (batch,) if batch else ()
        array = draw(self.random, dtype, outer + tuple(extents[axis] for axis in axes))
        read = name
        if axes in ("km", "nk"):
            read = f"{name}t"
            order = [*range(len(outer)), len(outer) + 1, len(outer)]
            self.nodes.append(helper.make_node("Transpose", [name], [read], perm=order))
        if name == self.weight:
            self.add_constant(name, array)
        else:
            shape = [*outer, *(extents[axis] if known[axis] else axis for axis in axes)]
            self.inputs.append(helper.make_tensor_value_info(name, KINDS[dtype], shape))
            self.feeds[name] = array
        self.operands[name] = (read, np.swapaxes(array, -1, -2) if read != name else array)

    def make(self):
        """The model, and the result in f64."""
        names, (a, b) = [read for read, _ in self.operands.values()], (array.astype(np.float64) for _, array in self.operands.values())
        result = KINDS[self.types[0]]
        if self.isInteger:
            result = TensorProto.INT32
            zeros = [draw(self.random, dtype, ()) for dtype in self.types][:self.random.integers(3)]
            for name, zero in zip(("za", "zb"), zeros):
                self.add_constant(name, np.asarray(zero))
                names.append(name)
            a, b = (array - (float(zeros[number]) if number < len(zeros) else 0) for number, array in enumerate((a, b)))
        self.nodes.append(helper.make_node("MatMulInteger" if self.isInteger else "MatMul", names, ["c"]))
        expected, last = a @ b, "c"
        behind = "" if self.isInteger else self.random.choice(["", "", "bias", "Relu"])
        if behind == "bias":
            bias = draw(self.random, self.types[0], self.bias_shape)
            self.add_constant("bias", bias)
            self.nodes.append(helper.make_node("Add", ["c", "bias"], ["y"]))
            expected, last = expected + bias.astype(np.float64), "y"
        elif behind:
            self.nodes.append(helper.make_node(behind, ["c"], ["y"]))
            expected, last = np.maximum(expected, 0), "y"
        graph = helper.make_graph(self.nodes, "product", self.inputs, [helper.make_tensor_value_info(last, result, None)],
                                  self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
        return onnx.shape_inference.infer_shapes(model), expected


def check(seed, folder, targets):
    product = Product(seed)
    model, expected = product.make()
    onnx.save(model, folder / "m.onnx")
    for target in targets:
        freestone_runtime.compile_model(folder / "m.onnx", folder / "m.stone", "--target", target)
        for workers in (1, 2):
            program = freestone_runtime.Model(folder / "m.stone", workers)
            result = np.asarray(program.run(product.feeds)[0]).astype(np.float64)
            program.close()
            assert result.shape == expected.shape, (target, product.description, result.shape)
            error = np.abs(result - expected).max(initial=0)
            assert error <= product.allowed * np.abs(expected).max(initial=0), (target, workers, product.description, error)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    targets = distinct("x86-64-v3", "host")
    for seed in range(first, first + count):
        check(seed, folder, targets)
    print(f"{count} random products are right")


if __name__ == "__main__":
    main()
