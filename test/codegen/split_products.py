"""Products of f32 by the matrix unit for bf16, as three parts each: split_products.py FOLDER.

Beside numpy in fp64, and beside the same products by multiply-adds (`--disable split-products`): errors are no larger, at
sizes around strips, panels, groups and blocks of k, either factor transposed, as a weight in panels or an input, with an
epilogue, with steps of k that are two loops, on one to three workers; sums of infinite and huge elements, and of none, are the same; so are those of elements
of all magnitudes. So are states of a loop, whose matrix is packed in parts before it where the batch repays them. On a machine without such a unit, what is compiled for another one is all that is tested.
"""

import json
import pathlib
import subprocess
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / folder) for folder in ("bench", "test/training")]

import freestone_runtime
import numpy as np
import onnx

from graphs import FLOAT, constant, node, save

WORKERS = (1, 2, 3)
# Rows, steps of k, columns of a weight; rows are a run's.
ROWS = (3, 56, 72, 113, 128, 144, 145, 175, 300, 520, 777)
WEIGHTS = ((768, 200), (77, 300), (300, 256), (1000, 1056))
# States of loops: their batches, and widths, whose parts fill groups of steps and panels, and don't.
BATCHES = (1, 11, 12, 16, 17, 32, 33, 40, 50)
WIDTHS = (128, 200)
# Of two inputs.
INPUTS = ((144, 72, 144), (150, 130, 150), (96, 257, 513), (600, 400, 144), (513, 800, 520))


def compile_for(path, stone, *options):
    return freestone_runtime.compile_model(path, stone, *options)["split_products"]


class Product:
    """c = relu(a · b + d) where `weight` is given, else a · b with factors stored as they are or transposed; with `inner`,
    the steps of k are of two dimensions, of which this one is the inner one of a and the outer one of b."""

    def __init__(self, folder, name, weight=None, left=False, right=False, inner=0):
        self.weight, self.left, self.right, self.inner = weight, left, right, inner
        path = folder / f"{name}.onnx"
        if weight is not None:
            steps, columns = weight.shape
            self.bias = np.linspace(-1, 1, columns, dtype=np.float32)
            nodes = [node("MatMul", ["a", "b"], ["p"]), node("Add", ["p", "d"], ["s"]), node("Relu", ["s"], ["c"])]
            save(path, nodes, [("a", FLOAT, ["m", steps])], [("c", FLOAT, ["m", columns])],
                 [constant("b", weight), constant("d", self.bias)])
        elif inner:
            save(path, [node("Einsum", ["a", "b"], ["c"], equation="tbm,btn->mn")],
                 [("a", FLOAT, ["t", inner, "m"]), ("b", FLOAT, [inner, "t", "n"])], [("c", FLOAT, ["m", "n"])])
        else:
            names = []
            nodes = []
            for factor, transposed in (("a", left), ("b", right)):
                names.append(f"{factor}t" if transposed else factor)
                if transposed:
                    nodes.append(node("Transpose", [factor], [names[-1]], perm=[1, 0]))
            nodes.append(node("MatMul", names, ["c"]))
            save(path, nodes, [("a", FLOAT, ["k", "m"] if left else ["m", "k"]), ("b", FLOAT, ["n", "k"] if right else ["k", "n"])],
                 [("c", FLOAT, ["m", "n"])])
        split, apart = path.with_suffix(".split.stone"), path.with_suffix(".apart.stone")
        self.count = compile_for(path, split)
        assert compile_for(path, apart, "--disable", "split-products") == 0
        assert compile_for(path, path.with_suffix(".amx.stone"), "--target", "x86-64-v4,+amx-bf16", "--strip-weights") == 1
        assert compile_for(path, path.with_suffix(".v3.stone"), "--target", "x86-64-v3") == 0
        self.models = [freestone_runtime.Model(split, workers) for workers in WORKERS]
        self.reference = freestone_runtime.Model(apart, 1)

    def feeds(self, a, b):
        if self.inner:
            steps = (len(b) // self.inner, self.inner)
            return {"a": np.ascontiguousarray(a.T.reshape(*steps, -1)),
                    "b": np.ascontiguousarray(b.reshape(*steps, -1).swapaxes(0, 1))}
        feeds = {"a": np.ascontiguousarray(a.T) if self.left else a}
        return feeds if self.weight is not None else feeds | {"b": np.ascontiguousarray(b.T) if self.right else b}

    def run(self, a, b):
        """The results of all numbers of workers, which have the same bits, and that by multiply-adds."""
        feeds = self.feeds(a, b)
        first, *others = [model.run(feeds)[0].copy() for model in self.models]
        assert all(first.tobytes() == other.tobytes() for other in others), (a.shape, b.shape)
        return first, self.reference.run(feeds)[0].copy()

    def check(self, a, b):
        split, apart = self.run(a, b)
        right = a.astype(np.float64) @ b.astype(np.float64)
        if self.weight is not None:
            right = np.maximum(right + self.bias, 0)
        errors = [np.sqrt(np.mean((result - right) ** 2)) for result in (split, apart)]
        # Short sums are all rounding of their results.
        assert errors[0] <= 1.1 * errors[1] + 1e-7 * np.abs(right).max(), (a.shape, b.shape, errors)
        return errors[0] / errors[1] if errors[1] else 1

    def check_extremes(self, a, b):
        """What is no number, and what is infinite, is so by multiply-adds."""
        split, apart = self.run(a, b)
        np.testing.assert_array_equal(np.isnan(split), np.isnan(apart))
        np.testing.assert_array_equal(np.where(np.isinf(split), split, 0), np.where(np.isinf(apart), apart, 0))
        finite = np.isfinite(apart)
        np.testing.assert_allclose(split[finite], apart[finite], rtol=1e-4, atol=1e-4 * np.abs(apart[finite]).max(initial=1))

    def close(self):
        for model in (*self.models, self.reference):
            model.close()


LOOP = """<ir_version: 9, opset_import: ["": 20]>
states (float[t, b, %d] x, float[b, %d] h, float[%d, %d] w) => (float[b, %d] last, float[t, b, %d] all) {
  last, all = Scan<num_scan_inputs = 1, body = step (float[b, %d] h, float[b, %d] s) => (float[b, %d] n, float[b, %d] m) {
    p = MatMul(h, w) n = Add(p, s) m = Identity(n)
  }>(h, x)
}"""


def check_loop(folder, width, random, expected):
    """States n = h · w + s of a loop, for all batches, beside numpy in fp64 and multiply-adds."""
    path = folder / f"loop-{width}.onnx"
    onnx.save(onnx.parser.parse_model(LOOP % ((width,) * 10)), path)
    split, apart = path.with_suffix(".split.stone"), path.with_suffix(".apart.stone")
    assert compile_for(path, split) == expected and compile_for(path, apart, "--disable", "split-products") == 0
    assert compile_for(path, path.with_suffix(".v3.stone"), "--target", "x86-64-v3") == 0
    models, reference = [freestone_runtime.Model(split, workers) for workers in WORKERS], freestone_runtime.Model(apart, 1)
    for batch in BATCHES:
        x, h = (random.standard_normal(shape, dtype=np.float32) for shape in ((5, batch, width), (batch, width)))
        w = random.standard_normal((width, width), dtype=np.float32) / np.float32(width**0.5)
        state, right = h.astype(np.float64), []
        for each in x:
            state = state @ w.astype(np.float64) + each
            right.append(state)
        results = [model.run({"x": x, "h": h, "w": w})[1].copy() for model in (*models, reference)]
        assert all(result.tobytes() == results[0].tobytes() for result in results[:-1]), batch
        errors = [np.sqrt(np.mean((result - np.array(right)) ** 2)) for result in (results[0], results[-1])]
        assert errors[0] <= 1.1 * errors[1], (width, batch, errors)
        # Infinite elements, and one that is rounded to an infinite part.
        w[3, 5], w[40, 70], h[0] = np.inf, -3.4028235e38, 0
        split_state, apart_state = (model.run({"x": x[:1], "h": h, "w": w})[0].copy() for model in (models[0], reference))
        np.testing.assert_array_equal(np.isnan(split_state), np.isnan(apart_state))
        np.testing.assert_allclose(split_state, apart_state, rtol=1e-4, atol=1e-4)
    for model in (*models, reference):
        model.close()


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    text = subprocess.check_output([freestone_runtime.freestone(), "machine", "--json"], text=True)
    expected = int(json.loads(text)["pair_unit"] == "tiles")
    random = np.random.default_rng(6)

    def draw(*shape):
        return random.standard_normal(shape, dtype=np.float32)

    ratios = []
    for steps, columns in WEIGHTS:
        weight = draw(steps, columns)
        product = Product(folder, f"weight-{steps}-{columns}", weight)
        assert product.count == expected, product.count
        ratios += [product.check(draw(rows, steps), weight) for rows in ROWS]
        # Of one sign, where errors of rounding to one side would add up.
        product.check(np.abs(draw(160, steps)), weight)
        product.close()
    for left, right, inner in ((False, False, 0), (True, False, 0), (False, True, 0), (True, True, 0), (False, False, 20)):
        product = Product(folder, f"inputs-{left}-{right}-{inner}", left=left, right=right, inner=inner)
        assert product.count == expected, product.count
        for rows, steps, columns in INPUTS:
            steps -= steps % max(1, inner)
            ratios.append(product.check(draw(rows, steps), draw(steps, columns)))
            product.check(np.abs(draw(rows, steps)), np.abs(draw(steps, columns)))
        a, b = draw(300, 400), draw(400, 200)
        product.check(a * np.exp2(random.integers(-40, 40, (300, 1)).astype(np.float32)), b)
        # Products of huge elements stay finite: where sums pass the range depends on their order.
        a, b = a / 1024, b / 1024
        a[7, 3], a[60, 2], a[61, 399], a[150, 200], a[299, 0] = np.inf, -np.inf, np.nan, 3.4e38, -3.4028235e38
        b[11, 5], b[399, 199] = np.inf, -3.4028235e38
        a[200], b[:, 40] = 0, 0
        product.check_extremes(a, b)
        product.close()
    for width in WIDTHS:
        check_loop(folder, width, random, expected)
    print(f"{len(ratios)} products: errors {np.exp(np.mean(np.log(np.maximum(ratios, 1e-3)))):.2f} of those of multiply-adds")


main()
