"""Products of few rows and few columns, which read operands in place, against numpy: products_in_place.py FOLDER.

Dot products of bf16 and 8-bit integers of all signs, and products of f32 and f64, each operand transposed or not, batches, an epilogue; numbers of rows and columns up
to and beyond those that are read in place, odd, short and long sums of several blocks of k, none at all. One artifact of
each form for all sizes, and some with known columns; on one and two workers, with each switch off too.
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

# Rows, steps of k, columns.
SIZES = [(1, 300, 1), (1, 64, 200), (1, 63, 2100), (1, 4300, 70), (2, 33, 65), (3, 2500, 97), (4, 7, 4133), (4, 129, 31),
         (5, 64, 64), (1, 0, 40), (37, 0, 3), (1, 1, 1), (150, 65, 1), (37, 129, 2), (290, 33, 3), (70, 9000, 5), (33, 300, 7),
         (9, 512, 10), (150, 2100, 16), (7, 600, 17), (64, 12, 2), (129, 31, 4), (6, 61, 9), (13, 131, 37), (16, 1030, 45),
         (31, 311, 70), (32, 320, 33), (33, 400, 64), (29, 1024, 8), (40, 2048, 19), (130, 1024, 5), (2, 9001, 2),
         (3, 5000, 16), (45, 256, 200), (133, 4104, 250), (69, 4500, 129)]
TYPES = {"bf16": ml_dtypes.bfloat16, "u8": np.uint8, "s8": np.int8, "f32": np.float32, "f64": np.float64}
# The rounding of a product of few steps, and of one that is stored.
ROUNDING = {"bf16": (1e-4, 0.008), "f32": (3e-6, 1e-6), "f64": (2e-14, 1e-15)}
KINDS = {"bf16": TensorProto.BFLOAT16, "u8": TensorProto.UINT8, "s8": TensorProto.INT8, "f32": TensorProto.FLOAT,
         "f64": TensorProto.DOUBLE}
SIGNS = [("bf16", "bf16"), ("u8", "s8"), ("s8", "s8"), ("s8", "u8"), ("u8", "u8")]


class Form:
    def __init__(self, types, left=False, right=False, batch=False, epilogue=False, columns=None):
        self.types, self.left, self.right, self.batch, self.epilogue, self.columns = types, left, right, batch, epilogue, columns

    def __repr__(self):
        return f"Form{tuple(vars(self).items())}"

    def model(self):
        nodes, outer = [], ["o"] if self.batch else []
        n = self.columns or "n"
        shapes = {"a": outer + (["k", "m"] if self.left else ["m", "k"]), "b": outer + ([n, "k"] if self.right else ["k", n])}
        names = []
        for name, transposed in (("a", self.left), ("b", self.right)):
            names.append(f"{name}t" if transposed else name)
            if transposed:
                nodes.append(helper.make_node("Transpose", [name], names[-1:], perm=[0, 2, 1] if self.batch else [1, 0]))
        is_float = self.types[0] in ROUNDING
        nodes.append(helper.make_node("MatMul" if is_float else "MatMulInteger", names, ["c"]))
        if self.epilogue:
            shapes["d"] = [n]
            nodes += [helper.make_node("Add", ["c", "d"], ["y"])]
        of_result = KINDS[self.types[0]] if is_float else TensorProto.INT32
        of_inputs = {"a": KINDS[self.types[0]], "b": KINDS[self.types[1]], "d": of_result}
        info = helper.make_tensor_value_info
        graph = helper.make_graph(nodes, "product", [info(name, of_inputs[name], shape) for name, shape in shapes.items()],
                                  [info("y" if self.epilogue else "c", of_result, [*outer, "m", n])])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])

    def draw(self, m, k, n):
        """Inputs, the result, and the numbers that it is rounded among."""
        draws, outer = np.random.default_rng((m, k, n)), (3,) if self.batch else ()

        def make(kind, shape):
            if kind in ROUNDING:
                return draws.standard_normal(shape).astype(TYPES[kind])
            values = np.array([np.iinfo(TYPES[kind]).min, np.iinfo(TYPES[kind]).max, 1, 77], TYPES[kind])
            return values[draws.integers(0, 4, shape, np.uint8)]

        feeds = {"a": make(self.types[0], outer + ((k, m) if self.left else (m, k))),
                 "b": make(self.types[1], outer + ((n, k) if self.right else (k, n)))}
        a, b = (feeds[name].astype(np.float64) for name in "ab")
        result = (np.swapaxes(a, -1, -2) if self.left else a) @ (np.swapaxes(b, -1, -2) if self.right else b)
        size = np.abs(result)
        if self.epilogue:
            feeds["d"] = make(self.types[0], (n,)) if self.types[0] in ROUNDING else draws.integers(-9, 9, n).astype(np.int32)
            result = result + feeds["d"].astype(np.float64)
            size = size + np.abs(feeds["d"].astype(np.float64))
        return feeds, result, size


def compile_form(form, folder, target, *options):
    onnx.save(form.model(), folder / "m.onnx")
    return freestone_runtime.compile_model(folder / "m.onnx", folder / "m.stone", "--target", target, *options)


def check(form, folder, target, *options):
    counters = compile_form(form, folder, target, *options)
    models = [freestone_runtime.Model(folder / "m.stone", workers) for workers in (1, 2)]
    of_products, of_result = ROUNDING.get(form.types[0], (0, 0))
    for m, k, n in SIZES:
        feeds, expected, size = form.draw(m, k, form.columns or n)
        allowed = of_result * (size + 1) + of_products * k**0.5
        for workers, model in enumerate(models, 1):
            result = np.asarray(model.run(feeds)[0]).astype(np.float64)
            assert result.shape == expected.shape, (form, target, result.shape)
            assert (np.abs(result - expected) <= allowed).all(), (form, target, options, workers, (m, k, n))
    for model in models:
        model.close()
    return counters


def check_neighbours(folder):
    """A row's last word may have what follows in memory, which counts for nothing: no number, or infinity."""
    compile_form(Form(SIGNS[0]), folder, "host")
    draws, model = np.random.default_rng(3), freestone_runtime.Model(folder / "m.stone", 1)
    for m, k, n in ((300, 27, 32), (257, 33, 200), (150, 1, 40), (33, 2049, 20)):
        a, b = (draws.standard_normal(shape).astype(ml_dtypes.bfloat16) for shape in ((m, k), (k, n)))
        a[1::4], a[3::4] = np.nan, np.inf
        (result,) = model.run({"a": a, "b": b})
        expected = a[::2].astype(np.float64) @ b.astype(np.float64)
        assert np.abs(np.asarray(result[::2]).astype(np.float64) - expected).max() <= 0.02 * k**0.5, (m, k, n)
    model.close()


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for target in distinct("x86-64-v3", "host"):
        for types in SIGNS:
            check(Form(types), folder, target)
            check(Form(types, right=True, batch=True), folder, target)
            check(Form(types, epilogue=True, columns=2), folder, target)
            check(Form(types, columns=200), folder, target)
            check(Form(types, right=True, epilogue=True, columns=130), folder, target)
        for types in SIGNS[:3]:
            check(Form(types, left=True, epilogue=True), folder, target)
            check(Form(types, left=True, right=True), folder, target)
            check(Form(types, columns=1), folder, target)
        for kind in ("f32", "f64"):
            for form in (Form((kind, kind), right=True), Form((kind, kind), right=True, batch=True, epilogue=True),
                         Form((kind, kind)), Form((kind, kind), batch=True, epilogue=True)):
                counters = check(form, folder, target)
                assert counters["streamed_columns"] == counters["streamed_rows"] == 1, (form, target)
            for columns, streamed in ((3, 1), (13, 1), (65, 0)):
                counters = check(Form((kind, kind), epilogue=True, columns=columns), folder, target)
                assert counters["streamed_rows"] == streamed, (columns, target)
            check(Form((kind, kind), right=True, columns=3), folder, target)
            assert check(Form((kind, kind), left=True, right=True), folder, target)["streamed_rows"] == 0
    check_neighbours(folder)
    # Three filters of a picture, which are stored in strips.
    filters, picture = (np.random.default_rng(1).integers(-128, 128, shape, np.int8) for shape in ((3, 70), (70, 100)))
    info, node = helper.make_tensor_value_info, helper.make_node("MatMulInteger", ["a", "b"], ["c"])
    graph = helper.make_graph([node], "product", [info("b", TensorProto.INT8, [70, "n"])], [info("c", TensorProto.INT32, [3, "n"])],
                              [onnx.numpy_helper.from_array(filters, "a")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]), folder / "m.onnx")
    freestone_runtime.compile_model(folder / "m.onnx", folder / "m.stone")
    model = freestone_runtime.Model(folder / "m.stone", 1)
    np.testing.assert_array_equal(model.run({"b": picture})[0], filters.astype(int) @ picture.astype(int))
    model.close()
    # Beside a matrix unit, vectors that multiply bf16 read operands in place; sums of tiles go to scratch.
    for unit, types, streamed in (("+avx512bf16", SIGNS[0], 1), ("+avx512vnni", SIGNS[2], 1), ("+amx-bf16", SIGNS[0], 1),
                                  ("+avx512vnni,+amx-int8", SIGNS[2], 0)):
        counters = compile_form(Form(types), folder, f"x86-64-v4,{unit}")
        assert (counters["dot_products"], counters["streamed_rows"]) == (1, streamed), (unit, counters)
        assert counters["streamed_columns"] == counters["streamed_rows"], (unit, counters)
        assert counters["direct_results"] == ("amx" not in unit), (unit, counters)
        assert compile_form(Form(types, epilogue=True), folder, f"x86-64-v4,{unit}")["direct_results"] == 0
        for switch, counter in (("stream-rows", "streamed_rows"), ("stream-columns", "streamed_columns"),
                                ("direct-results", "direct_results")):
            assert compile_form(Form(types), folder, f"x86-64-v4,{unit}", "--disable", switch)[counter] == 0
    for switch in ("stream-rows", "stream-columns", "direct-results"):
        for types in (SIGNS[0], SIGNS[2]):
            check(Form(types), folder, "host", "--disable", switch)
            check(Form(types, epilogue=True), folder, "host", "--disable", switch)
    for switch in ("stream-rows", "stream-columns"):
        check(Form(("f32", "f32"), right=True), folder, "host", "--disable", switch)
    print("products of few rows and columns are right")


if __name__ == "__main__":
    main()
