"""Quantised convolutions and products are those of integers: integer_convolutions.py FOLDER.

Convolutions of 8-bit integers are exact, with any zero points, strides, padding, dilation, batches and sizes, at run
time too. Convolutions and products of dequantised numbers become those of integers, with what follows up to the next
quantisation (biases for each channel, ReLU, sums), as the counters show; they agree with the floats they stand for to a
unit at ties, and with ONNX's reference. Channels by themselves are read as bytes and summed in f32. What has other
groups, or scales that vary along sums, stays in f32; so do windows of few products, and filters of several taps where
the target has no dot products of words. Maxima that are quantised as what they are taken of are those of the bytes. All
targets.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import freestone_runtime
import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from targets import distinct, instructions

WITHOUT_WORDS = "host,-avx512vnni,-amx-int8"
TARGETS = distinct("host", WITHOUT_WORDS, "x86-64-v3")


def model_of(nodes, inputs, constants, name="y", dims=None):
    """`dims` names sizes of inputs that the run states."""
    types = helper.np_dtype_to_tensor_dtype
    graph = helper.make_graph(
        [helper.make_node(kind, ins, outs, **attributes) for kind, ins, outs, attributes in nodes],
        "integers",
        [helper.make_tensor_value_info(key, types(x.dtype), (dims or {}).get(key, x.shape)) for key, x in inputs.items()],
        [helper.make_empty_tensor_value_info(name)],
        [numpy_helper.from_array(np.asarray(array), key) for key, array in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    return onnx.shape_inference.infer_shapes(model)


class Cases:
    def __init__(self, folder):
        self.folder = folder
        self.random = np.random.default_rng(7)

    def run(self, model, feeds, target, *options, threads=1):
        """The result, and the counters of the compilation."""
        path, artifact = self.folder / "m.onnx", self.folder / "m.stone"
        onnx.save(model, path)
        counters = freestone_runtime.compile_model(path, artifact, "--target", target, *options)
        loaded = freestone_runtime.Model(artifact, threads)
        (y,) = loaded.run(feeds)
        loaded.close()
        return y, counters

    def bytes(self, shape, dtype):
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        return self.random.integers(low, high, shape, endpoint=True).astype(dtype)

    def scales(self, *shape):
        return (self.random.random(shape) * 0.01 + 0.001).astype(np.float32)

    def exact(self, target, x, w, types=(np.uint8, np.int8), zeros=(True, "all"), at_run_time=False, threads=1, words=None,
              options=(), **attributes):
        """ConvInteger. Zero points of x (or none), and of w: none, one for all, or one for each filter."""
        left, right = self.bytes(x, types[0]), self.bytes(w, types[1])
        constants = {"w": right}
        if zeros[0]:
            constants["zx"] = self.bytes((), types[0])
        if zeros[1]:
            constants["zw"] = self.bytes({"all": (), "filters": w[:1]}[zeros[1]], types[1])
        names = ["x", "w", *(key if key in constants else "" for key in ("zx", "zw"))]
        while not names[-1]:
            names.pop()
        dims = {"x": ["n", x[1], *(f"d{axis}" for axis in range(2, len(x)))]} if at_run_time else None
        model = model_of([("ConvInteger", names, ["y"], attributes)], {"x": left}, constants, dims=dims)
        y, counters = self.run(model, {"x": left}, target, *options, threads=threads)
        # As numbers of f64, which are exact here.
        real = model_of([("Conv", ["x", "w"], ["y"], attributes)], {"x": left.astype(np.float64)}, {
            "w": right.astype(np.float64) - np.asarray(constants.get("zw", 0)).astype(np.float64).reshape(-1, *[1] * (len(w) - 1))})
        (expected,) = ReferenceEvaluator(real).run(None, {"x": left.astype(np.float64) - float(constants.get("zx", 0))})
        np.testing.assert_array_equal(y, expected, f"{target} {x} {w} {types} {zeros} {attributes}")
        if words is not None:
            found = counters["dot_products"], counters["pair_products"], counters.get("unfolded", 0)
            assert found == words, (target, x, w, attributes, found)

    def near(self, model, feeds, target, count, tolerance=1):
        """Against the model in floats and ONNX's reference; `count` products are of integers."""
        y, counters = self.run(model, feeds, target)
        assert counters["integer_products"] == count, (target, counters["integer_products"], count)
        plain, off = self.run(model, feeds, target, "--disable", "integer-products")
        assert off["integer_products"] == 0
        (expected,) = ReferenceEvaluator(model).run(None, feeds)
        for other in (plain, expected):
            if y.dtype == np.float32:
                np.testing.assert_allclose(y, other, rtol=1e-4, atol=1e-4 * np.max(np.abs(other)))
                continue
            apart = np.abs(y.astype(np.int64) - other.astype(np.int64))
            assert apart.max(initial=0) <= tolerance and np.mean(apart > 0) < 0.01, (target, apart.max(), np.mean(apart > 0))

    def dequantized_convolution(self, target, x, w, count=1, residual=False, relu=True, weight_zero=False, per_filter=True,
                                pooled=False, **attributes):
        types = (np.uint8, np.uint8) if weight_zero else (np.uint8, np.int8)
        filters = w[:1] if per_filter else ()
        picture = self.bytes(x, types[0])
        constants = {"sx": np.float32(0.02), "zx": np.uint8(117), "sw": self.scales(*filters), "zw": np.zeros(filters, types[1]),
                     "w": self.bytes(w, types[1]), "b": self.random.integers(-3000, 3000, w[0]).astype(np.int32),
                     "zb": np.zeros(filters, np.int32), "sy": np.float32(0.4), "zy": np.uint8(0 if relu else 120)}
        if weight_zero:
            constants["zw"] = self.bytes(filters, types[1])
        constants["sb"] = constants["sw"] * constants["sx"]
        feeds = {"x": picture}
        nodes = [("DequantizeLinear", ["x", "sx", "zx"], ["dx"], {}), ("DequantizeLinear", ["w", "sw", "zw"], ["dw"], {"axis": 0}),
                 ("DequantizeLinear", ["b", "sb", "zb"], ["db"], {"axis": 0}), ("Conv", ["dx", "dw", "db"], ["c"], attributes)]
        last = "c"
        if residual:
            shape = ReferenceEvaluator(model_of(nodes, feeds, constants, "c")).run(None, feeds)[0].shape
            feeds["r"] = self.bytes(shape, np.uint8)
            constants |= {"sr": np.float32(0.1), "zr": np.uint8(30)}
            nodes += [("QuantizeLinear", ["c", "sy", "zy"], ["qc"], {}), ("DequantizeLinear", ["qc", "sy", "zy"], ["dc"], {}),
                      ("DequantizeLinear", ["r", "sr", "zr"], ["dr"], {}), ("Add", ["dc", "dr"], ["s"], {})]
            last = "s"
        if relu:
            nodes.append(("Relu", [last], ["r0"], {}))
            last = "r0"
        nodes.append(("QuantizeLinear", [last, "sy", "zy"], ["y"], {}))
        if pooled:
            nodes[-1] = ("QuantizeLinear", [last, "sy", "zy"], ["q"], {})
            nodes += [("DequantizeLinear", ["q", "sy", "zy"], ["dq"], {}), ("MaxPool", ["dq"], ["m"], {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1] * 4}),
                      ("QuantizeLinear", ["m", "sy", "zy"], ["y"], {})]
        # Without dot products, filters of several places stay in f32.
        integers = max(w[2:]) == 1 or (x[1] > 1 and attributes.get("group") == x[1]) or (target == "host" and self.has_words())
        self.near(model_of(nodes, feeds, constants), feeds, target, count if integers else 0)

    def dequantized_product(self, target, a, b, count=1, kind="MatMul", scale_axis=None, is_weight=True, **attributes):
        left, right = self.bytes(a, np.uint8), self.bytes(b, np.int8 if is_weight else np.uint8)
        constants = {"sa": np.float32(0.02), "za": np.uint8(100), "sb": np.float32(0.01), "zb": right.dtype.type(0 if is_weight else 90),
                     "sy": np.float32(0.5), "zy": np.uint8(128)}
        axis = {}
        if scale_axis is not None:
            constants |= {"sb": self.scales(b[scale_axis]), "zb": np.zeros(b[scale_axis], right.dtype)}
            axis = {"axis": scale_axis}
        feeds = {"a": left}
        (constants if is_weight else feeds)["b"] = right
        nodes = [("DequantizeLinear", ["a", "sa", "za"], ["da"], {}), ("DequantizeLinear", ["b", "sb", "zb"], ["db"], axis)]
        inputs = ["da", "db"]
        if kind == "Gemm":
            columns = b[0] if attributes.get("transB") else b[1]
            constants["c"] = self.random.standard_normal(columns).astype(np.float32)
            inputs.append("c")
        nodes += [(kind, inputs, ["p"], attributes), ("QuantizeLinear", ["p", "sy", "zy"], ["y"], {})]
        self.near(model_of(nodes, feeds, constants), feeds, target, count)

    def check_exact(self, target):
        # Dot products, pair products, and convolutions that are unfolded.
        words = (1, 0, 0) if target == "host" and self.has_words() else (0, 1, 0)
        self.exact(target, (1, 16, 14, 14), (32, 16, 3, 3), pads=[1] * 4, words=words)
        self.exact(target, (2, 3, 23, 19), (10, 3, 7, 7), pads=[3] * 4, strides=[2, 2], words=words)
        self.exact(target, (1, 5, 9, 33), (7, 5, 3, 3), pads=[2, 1, 0, 3], dilations=[2, 2], strides=[1, 3],
                   types=(np.int8, np.int8), zeros=(True, "filters"))
        self.exact(target, (1, 70, 7, 7), (33, 70, 3, 3), pads=[1] * 4, types=(np.uint8, np.uint8), threads=2, words=words)
        self.exact(target, (1, 7, 5, 70), (3, 7, 3, 3), pads=[1] * 4, types=(np.int8, np.int8), words=words)  # whole rows
        for stride in (3, 4):
            self.exact(target, (1, 3, 4, 150), (5, 3, 2, 3), pads=[1] * 4, strides=[1, stride], zeros=(True, None), words=words)
        self.exact(target, (1, 460, 4, 5), (6, 460, 3, 3), pads=[1] * 4, types=(np.int8, np.uint8))  # several blocks of k
        self.exact(target, (3, 8, 40), (9, 8, 5), pads=[2, 2], strides=[4], zeros=(True, None))
        self.exact(target, (1, 4, 5, 6, 7), (5, 4, 2, 3, 2), pads=[0, 1, 0, 1, 1, 1], zeros=(False, "all"))
        self.exact(target, (1, 6, 20, 41), (8, 6, 1, 1), strides=[2, 2], zeros=(False, None))
        self.exact(target, (1, 6, 20, 41), (8, 6, 2, 2), strides=[5, 5], words=(*words[:2], 1))
        self.exact(target, (1, 6, 9, 9), (8, 3, 3, 3), pads=[1] * 4, group=2)
        self.exact(target, (2, 4, 11, 3), (8, 4, 3, 3), pads=[1] * 4, at_run_time=True, threads=2)
        self.exact(target, (2, 4, 6, 50), (8, 4, 3, 3), pads=[1] * 4, strides=[2, 2], at_run_time=True)

        # Words of one step.
        for types in ((np.uint8, np.int8), (np.int8, np.uint8)):
            self.exact(target, (1, 16, 14, 14), (32, 16, 3, 3), types=types, pads=[1] * 4, words=(0, 0, 0),
                       options=("--disable", "dot-products,pair-products"))

    def check_strips(self):
        """Filters are in strips since the model was compiled, unless vectors would flip them, with the same results."""
        x, w = (2, 20, 9, 14), (70, 20, 3, 3)
        for types in ((np.uint8, np.int8), (np.int8, np.uint8), (np.int8, np.int8)):
            left, right = self.bytes(x, types[0]), self.bytes(w, types[1])
            model = model_of([("ConvInteger", ["x", "w"], ["y"], {"pads": [1] * 4})], {"x": left}, {"w": right})
            y, counters = self.run(model, {"x": left}, "host", threads=2)
            plain, off = self.run(model, {"x": left}, "host", "--disable", "pack-strips")
            np.testing.assert_array_equal(y, plain, f"{types}")
            has_strips = self.has_words() and (types[0] != types[1] or "amx-int8" in instructions())
            assert (counters["packed_strips"], off["packed_strips"]) == (has_strips, 0), (types, counters["packed_strips"])
        # Strips that end within a group, single words, several blocks of steps and of rows.
        for x, w in (((1, 3, 6, 40), (32, 3, 1, 1)), ((1, 1, 9, 9), (2, 1, 2, 2)), ((1, 515, 3, 7), (300, 515, 3, 3))):
            self.exact("host", x, w, zeros=(True, None), threads=2)

    @staticmethod
    def has_words():
        return not {"avx512vnni", "amx-int8"}.isdisjoint(instructions())

    def check_dequantized(self, target):
        self.dequantized_convolution(target, (1, 16, 14, 14), (24, 16, 3, 3), pads=[1] * 4)
        self.dequantized_convolution(target, (2, 32, 9, 9), (40, 32, 1, 1), relu=False)
        self.dequantized_convolution(target, (1, 16, 15, 15), (33, 16, 3, 3), pads=[1] * 4, strides=[2, 2], residual=True)
        self.dequantized_convolution(target, (1, 16, 10, 12), (40, 16, 3, 3), pads=[1] * 4, dilations=[2, 2], weight_zero=True,
                                   per_filter=False)
        self.dequantized_convolution(target, (1, 64, 8, 8), (20, 64, 3, 3), residual=True, relu=False, per_filter=False)
        self.dequantized_convolution(target, (1, 32, 8, 8), (64, 16, 3, 3), count=0, pads=[1] * 4, group=2)
        self.dequantized_convolution(target, (2, 24, 15, 33), (24, 1, 3, 3), pads=[1] * 4, group=24)
        self.dequantized_convolution(target, (1, 20, 16, 17), (20, 1, 5, 3), relu=False, per_filter=False, pads=[2, 1, 2, 1], strides=[2, 2], group=20)
        self.dequantized_convolution(target, (1, 8, 9, 21), (8, 1, 3, 3), count=0, weight_zero=True, group=8)
        self.dequantized_convolution(target, (2, 16, 12, 14), (24, 16, 3, 3), pads=[1] * 4, pooled=True)
        # On vectors, words that have no steps are not multiplied.
        few = 0 if "amx-int8" in instructions() else 1
        self.dequantized_convolution(target, (2, 1, 14, 14), (16, 1, 3, 3), count=few, pads=[1] * 4, pooled=True, relu=False)
        self.dequantized_convolution(target, (2, 1, 14, 14), (16, 1, 2, 2), count=0, pads=[1] * 4, pooled=True, relu=False)
        self.dequantized_product(target, (37, 129), (129, 71))
        self.dequantized_product(target, (3, 20, 64), (64, 48), scale_axis=1)
        self.dequantized_product(target, (20, 64), (64, 48), count=0, scale_axis=0)
        self.dequantized_product(target, (20, 64), (48, 64), kind="Gemm", transB=1, scale_axis=0)
        self.dequantized_product(target, (2, 3, 20, 32), (2, 3, 32, 24), is_weight=False)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for target in TARGETS:
        cases = Cases(folder)
        cases.check_exact(target)
        cases.check_dequantized(target)
    Cases(folder).check_strips()
    print("quantised convolutions and products are those of integers")


if __name__ == "__main__":
    main()
