"""Products of 8-bit integers are exact, for every order of operands and on every target: integer_products.py FOLDER.

They use dot products of words where the target has them, else pair products, as the counters show. Among them are odd
and empty numbers of steps, several blocks, extreme elements of all signs, zero points of all, of rows and of columns,
batches and vectors, and weights, whose words are packed when the model is compiled.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import freestone_runtime
import numpy as np
import onnx
from onnx import helper, numpy_helper
from targets import distinct

SIZES = [(2, 1, 3), (5, 33, 7), (16, 64, 32), (37, 129, 71), (64, 1, 40), (130, 1500, 50), (300, 70, 300),
         (3, 4200, 70), (290, 130, 33), (7, 9, 0), (6, 0, 5)]
# Whether A and B come transposed.
ORDERS = [(False, False), (True, False), (False, True), (True, True)]
SIGNS = [(left, right) for left in (np.uint8, np.int8) for right in (np.uint8, np.int8)]
WITHOUT_WORDS = "host,-amx-int8,-avx512vnni"


def make_model(a, b, zeros, flips, is_weight):
    nodes, names = [], []
    for name, flip in zip("ab", flips):
        names.append(f"{name}t" if flip else name)
        if flip:
            nodes.append(helper.make_node("Transpose", [name], [names[-1]], perm=[1, 0]))
    zero = {name: array for name, array in zip(("za", "zb"), zeros) if array is not None}
    nodes.append(helper.make_node("MatMulInteger", [*names, *(name if name in zero else "" for name in ("za", "zb"))], ["y"]))
    constants = zero | ({"b": b} if is_weight else {})
    inputs = [(name, array) for name, array in (("a", a), ("b", b)) if name not in constants]
    graph = helper.make_graph(
        nodes,
        "products",
        [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype),
                                       [f"{name}{axis}" for axis in range(x.ndim)]) for name, x in inputs],
        [helper.make_tensor_value_info("y", onnx.TensorProto.INT32, None)],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
    return onnx.shape_inference.infer_shapes(model), dict(inputs)


def compile_model(model, folder, target, *options):
    """The artifact, how many products use dot products and pair products, and how many of these read words of weights."""
    path, artifact = folder / "m.onnx", folder / "m.stone"
    onnx.save(model, path)
    counters = freestone_runtime.compile_model(path, artifact, "--target", target, *options)
    return artifact, (counters.get("dot_products", 0), counters.get("pair_products", 0)), counters.get("packed_words", 0)


class Products:
    """Checks products for one target; `words` has the counts of its dot products and pair products."""

    def __init__(self, folder, target, words, *options):
        self.folder, self.target, self.words, self.options = folder, target, words, options

    def check(self, shapes, types, zeros="all", flips=(False, False), is_weight=False, extreme=False):
        """Zero points are of `all`, of `rows`, `none`, of `columns` alone, or of the rows of a `batch`."""
        generator = np.random.default_rng(sum(map(sum, shapes)))

        def draw(shape, dtype):
            low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
            if extreme:
                return generator.choice([low, high], shape).astype(dtype)
            return generator.integers(low, high, shape, endpoint=True).astype(dtype)

        a, b = draw(shapes[0], types[0]), draw(shapes[1], types[1])
        of_a = {"all": (), "rows": shapes[0][-2:-1], "batch": (*shapes[0][:-1], 1)}.get(zeros)
        of_b = {"all": (), "rows": shapes[1][-1:], "columns": shapes[1][-1:], "batch": (*shapes[1][:-2], 1, shapes[1][-1])}.get(zeros)
        zero = [None if shape is None else draw(shape, dtype) for shape, dtype in zip((of_a, of_b), types)]
        left, right = a.astype(np.int64), b.astype(np.int64)
        if zero[0] is not None:
            left = left - (zero[0].astype(np.int64).reshape(-1, 1) if zeros == "rows" else zero[0].astype(np.int64))
        if zero[1] is not None:
            right = right - zero[1].astype(np.int64)
        stored = [np.ascontiguousarray(array.T if flip else array) for array, flip in zip((a, b), flips)]
        model, feeds = make_model(*stored, zero, flips, is_weight)
        artifact, words, packed = compile_model(model, self.folder, self.target, *self.options)
        what = f"{self.target} {shapes} {flips} {[x.__name__ for x in types]} {zeros}"
        # Of a single row, weights in words are multiplied so too. Vectors multiply rows without signs by columns with signs.
        wanted = (packed, 0) if self.words == (0, 0) and is_weight else self.words
        assert words == wanted if wanted else sum(words) == 1, (what, words)
        assert packed == (is_weight and words[0]) or (is_weight and types[0] == types[1]), (what, words, packed)
        for threads in (1, 2):
            model = freestone_runtime.Model(artifact, threads)
            (y,) = model.run(feeds)
            model.close()
            np.testing.assert_array_equal(y, left @ right, what)

    def check_all(self):
        for number, (m, k, n) in enumerate(SIZES):
            self.check([(m, k), (k, n)], SIGNS[number % 4], flips=ORDERS[number // 2 % 4])
        middle = [(37, 129), (129, 71)]
        for flips in ORDERS:
            self.check(middle, (np.uint8, np.uint8), flips=flips, extreme=True)
        for signs in SIGNS:
            for zeros in ("none", "rows"):
                self.check(middle, signs, zeros, extreme=True)
            self.check([(70, 4300), (4300, 65)], signs, "columns")
        for number, (m, k, n) in enumerate([(64, 258, 96), (1, 1, 2), (3, 7, 33), (17, 100, 65), (33, 128, 64), (5, 4200, 31), (300, 64, 1)]):
            self.check([(m, k), (k, n)], (np.uint8, np.int8), is_weight=n > 1)
            self.check([(m, k), (k, n)], SIGNS[number % 4], flips=ORDERS[number % 4], is_weight=n > 1)
        self.check([(3, 20, 70), (3, 70, 33)], (np.int8, np.int8), "batch")
        self.check([(3, 20, 70), (70, 33)], (np.uint8, np.uint8), "rows")
        self.check([(20, 70), (3, 70, 33)], (np.int8, np.uint8))


def check_rows(folder, target):
    """A product of a single row reads the matrix in place."""
    rows = Products(folder, target, (0, 0), "--bind", "a0=1")
    for number, (k, n) in enumerate([(1, 1), (33, 7), (129, 71), (1500, 50), (4200, 130), (70, 0), (0, 5)]):
        for zeros in ("all", "none", "rows"):
            rows.check([(1, k), (k, n)], SIGNS[number % 4], zeros)
    for signs in SIGNS:
        rows.check([(1, 300), (300, 96)], signs, extreme=True)
        rows.check([(1, 300), (300, 96)], signs, flips=(False, True), extreme=True)
    rows.check([(1, 258), (258, 96)], (np.uint8, np.int8), is_weight=True)
    batches = Products(folder, target, (0, 0), "--bind", "a1=1")
    batches.check([(3, 1, 70), (3, 70, 33)], (np.int8, np.int8), "batch")
    batches.check([(3, 1, 70), (3, 70, 33)], (np.uint8, np.int8))


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for target in distinct(WITHOUT_WORDS, "x86-64-v3", "host"):
        Products(folder, target, None if target == "host" else (0, 1)).check_all()
        check_rows(folder, target)
    without = Products(folder, "host", (0, 0), "--disable", "dot-products,pair-products")
    without.check([(37, 129), (129, 71)], (np.uint8, np.int8))
    for shapes in ([(129,), (129, 71)], [(37, 129), (129,)], [(129,), (129,)]):
        model, feeds = make_model(*(np.full(shape, 200, np.uint8) for shape in shapes), [np.uint8(9), np.uint8(130)], (False, False), False)
        artifact, *_ = compile_model(model, folder, "host")
        model = freestone_runtime.Model(artifact, 2)
        (y,) = model.run(feeds)
        model.close()
        np.testing.assert_array_equal(y, np.full(shapes[0], 191) @ np.full(shapes[1], 70), f"{shapes}")
    model, _ = make_model(np.zeros((3, 4), np.uint8), np.zeros((4, 5), np.int8), [None, None], (False, False), False)
    for unit in ("+avx512vnni", "+amx-int8"):
        _, words, _ = compile_model(model, folder, f"x86-64-v4,{unit}")
        assert words == (1, 0), (unit, words)
    print("products of integers are exact")


if __name__ == "__main__":
    main()
