"""Products of matrices of random sizes against numpy in fp64: products.py FOLDER [COUNT [SEED]].

One artifact of each form for all sizes: batches, either factor transposed, sums over two dimensions, an epilogue; f32,
f64 and i32. Sizes lie around the blocks of micro-kernels, few rows, a single column and whole pages included. For this machine, for
one with caches so small that groups of panels stay packed rather than all, and for AVX2, on one to three workers.
"""

import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import freestone_runtime
import numpy as np
import onnx
import small_caches
from onnx import TensorProto, helper
from targets import distinct

TYPES = {TensorProto.FLOAT: np.float32, TensorProto.DOUBLE: np.float64, TensorProto.INT32: np.int32}
SIZES = [0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 13, 14, 15, 16, 17, 31, 32, 33, 47, 64, 65, 96, 100, 127, 200, 257, 300, 520, 1024]
WORKERS = (1, 2, 3)
TOLERANCES = {np.float32: 1e-6, np.float64: 1e-14, np.int32: 0}


class Form:
    """c = a · b, or relu(a · b + d); sizes of dimensions are symbols unless they are bound. With `apart`, what is summed
    is two dimensions, which lie in another order in b than in a."""

    def __init__(self, dtype=TensorProto.FLOAT, batch=False, left=False, right=False, epilogue=False, apart=False, bound=""):
        self.dtype, self.batch, self.left, self.right, self.apart = dtype, batch, left, right, apart
        self.epilogue, self.bound = epilogue, dict(pair.split("=") for pair in bound.split())

    def __repr__(self):
        return f"Form{tuple(vars(self).items())}"

    def shapes(self, outer, m, k, n):
        if self.apart:
            p, q = ("p", "q") if k == "k" else (k // 5, 5)
            return {"a": [p, q, m], "b": [q, p, n]}
        outer = [outer] if self.batch else []
        return {"a": outer + ([k, m] if self.left else [m, k]), "b": outer + ([n, k] if self.right else [k, n])}

    def model(self):
        nodes = []

        def read(name, transposed):
            if not transposed:
                return name
            order = [0, 2, 1] if self.batch else [1, 0]
            nodes.append(helper.make_node("Transpose", [name], [f"{name}t"], perm=order))
            return f"{name}t"

        if self.apart:
            nodes.append(helper.make_node("Einsum", ["a", "b"], ["c"], equation="pqm,qpn->mn"))
        else:
            nodes.append(helper.make_node("MatMul", [read("a", self.left), read("b", self.right)], ["c"]))
        shapes = self.shapes("o", "m", "k", "n")
        if self.epilogue:
            shapes["d"] = ["n"]
            nodes += [helper.make_node("Add", ["c", "d"], ["s"]), helper.make_node("Relu", ["s"], ["y"])]
        info = helper.make_tensor_value_info
        inputs = [info(name, self.dtype, shape) for name, shape in shapes.items()]
        outputs = [info("y" if self.epilogue else "c", self.dtype, (["o"] if self.batch else []) + ["m", "n"])]
        graph = helper.make_graph(nodes, "product", inputs, outputs)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)

    def draw(self, draws, sizes):
        """Inputs of these sizes, and the result in fp64."""
        dtype, shapes = TYPES[self.dtype], self.shapes(*sizes) | ({"d": [sizes[3]]} if self.epilogue else {})
        feeds = {name: (draws.standard_normal(shape) * 4).astype(dtype) for name, shape in shapes.items()}
        a, b = (feeds[name].astype(np.float64) for name in "ab")
        if self.apart:
            result = np.einsum("pqm,qpn->mn", a, b)
        else:
            result = (np.swapaxes(a, -1, -2) if self.left else a) @ (np.swapaxes(b, -1, -2) if self.right else b)
        return feeds, np.maximum(result + feeds["d"], 0) if self.epilogue else result


def check(form, folder, rounds, choice):
    model = folder / "product.onnx"
    onnx.save(form.model(), model)
    bound = [f"--bind={name}={size}" for name, size in form.bound.items()]
    targets = {target: [f"--target={target}"] for target in distinct("host", "x86-64-v3")} | {"small": ["--device", small_caches.describe(folder, 4 << 10, 16 << 10, 64 << 10)]}
    artifacts = {}
    for target, options in targets.items():
        artifacts[target] = folder / f"product.{target}.stone"
        freestone_runtime.compile_model(model, artifacts[target], *options, *bound)
    models = {(target, workers): freestone_runtime.Model(artifact, workers)
              for target, artifact in artifacts.items() for workers in WORKERS}
    for number in range(rounds):
        sizes = [choice.choice([0, 1, 2, 5])] + [choice.choice(SIZES) for _ in range(3)]
        sizes = [int(form.bound.get(name, size)) for name, size in zip("omkn", sizes)]
        feeds, expected = form.draw(np.random.default_rng(number), sizes)
        allowed = TOLERANCES[TYPES[form.dtype]] * 16 * 8 * max(1, sizes[2]) ** 0.5
        for key, loaded in models.items():
            (result,) = loaded.run(feeds)
            assert result.shape == expected.shape, (form, sizes, key, result.shape)
            error = np.abs(result - expected).max(initial=0)
            assert error <= allowed, (form, sizes, key, error, allowed)
    for loaded in models.values():
        loaded.close()


def check_switch(folder, switch, counter, form, sizes):
    """Without it, its counter is 0, and the numbers are the same."""
    onnx.save(form.model(), folder / "m.onnx")
    bound = [f"--bind={name}={size}" for name, size in form.bound.items()]
    feeds, expected = form.draw(np.random.default_rng(1), sizes)
    for options, count in (([], 1), (["--disable", switch], 0)):
        counters = freestone_runtime.compile_model(folder / "m.onnx", folder / "m.stone", *bound, *options)
        assert counters[counter] == count, counters
        loaded = freestone_runtime.Model(folder / "m.stone", 1)
        np.testing.assert_allclose(loaded.run(feeds)[0], expected, rtol=1e-4, atol=2e-3)
        loaded.close()


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 25
    choice = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    forms = [Form(), Form(batch=True), Form(right=True), Form(left=True), Form(batch=True, left=True, right=True),
             Form(epilogue=True), Form(batch=True, epilogue=True), Form(dtype=TensorProto.DOUBLE), Form(dtype=TensorProto.INT32),
             Form(bound="n=1"), Form(bound="n=1", left=True), Form(bound="n=1", epilogue=True), Form(bound="m=1"),
             Form(bound="m=3 n=300"), Form(bound="n=5", epilogue=True), Form(bound="n=18", batch=True),
             Form(bound="m=2", right=True, epilogue=True), Form(bound="k=300", batch=True, right=True),
             Form(apart=True), Form(apart=True, bound="m=520 n=300")]
    check_switch(folder, "stream-columns", "streamed_columns", Form(), (0, 3, 100, 77))
    check_switch(folder, "pack-together", "packed_together", Form(), (0, 40, 300, 2048))
    check_switch(folder, "inner-products", "inner_products", Form(bound="n=1"), (0, 64, 3000, 1))
    check_switch(folder, "strips", "strips", Form(batch=True, epilogue=True), (2, 150, 24, 1100))
    check_switch(folder, "bring-results", "results_brought", Form(epilogue=True), (0, 800, 60, 900))
    for form in forms:
        check(form, folder, rounds, choice)
    print(f"{len(forms)} forms at {rounds} sizes each: right")


if __name__ == "__main__":
    main()
