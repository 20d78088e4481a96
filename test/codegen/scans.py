"""Scans of recurrent networks through `freestone run`, against the interpreter: scans.py FOLDER. Products of what they go
along leave them, and gates stay in the order that weights have them in.

A recurrent cell over no step to many, of batches of any size, with a product of each slice and one of the state; and a
scan whose slices are factors as they are, transposed, and with each other. With `--disable scan-products` nothing
leaves them, and the numbers are the same but for rounding. An LSTM and a GRU whose gates are put into ONNX's order from
another one, in weights that are inputs, as exporters write it; with `--disable block-orders` they are. The weights of
states are packed once for all steps; with `--disable pack-in-loops` in each. An LSTM that goes backwards reads from the
end; with `--disable reverse-loops` a reversed copy. States as steps find them are read where they are carried; with
`--disable keep-states` from a copy.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import freestone_runtime
import loops
import numpy as np
import onnx
from interpreted import run

COUNTERS = {"scan-products": "scan_products", "block-orders": "block_orders", "pack-in-loops": "packed_in_loops",
            "reverse-loops": "reversed", "keep-states": "kept_states"}

FACTORS = """<ir_version: 9, opset_import: ["": 20]>
factors (float[t, b, 4] x, float[4, 6] w, float[b, 4] y) => (float[b, 6] last, float[t, b, b] squares) {
  zeros = Expand(zero, size)
  last, squares = Scan<num_scan_inputs = 1, body = step (float[b, 6] h, float[b, 4] s) => (float[b, 6] n, float[b, b] q) {
    e = Exp(s) m = Mul(e, y) p = MatMul(m, w) a = Add(h, p) n = Tanh(a)
    r = Transpose<perm = [1, 0]>(s) q = MatMul(m, r)
  }>(zeros, x)
}"""


FOUND = """<ir_version: 9, opset_import: ["": 20]>
found (float[t, b, 4] x, float[b, 4] h, float[b, 4] c) => (float[b, 4] last, float[t, b, 4] hs, float[t, b, 4] ys, float[t, b, 4] cs, float[t, b, 4] turned) {
  last, cell, hs, ys, cs = Scan<num_scan_inputs = 1, body = step (float[b, 4] h, float[b, 4] c, float[b, 4] s)
      => (float[b, 4] n, float[b, 4] d, float[b, 4] f, float[b, 4] y, float[b, 4] g) {
    a = Add(h, s) n = Tanh(a) d = Add(c, n) y = Identity(n) f = Identity(h) g = Identity(c)
  }>(h, c, x)
  front = Constant<value = int64[1] {-1}>() end = Constant<value = int64[1] {-2147483648}>() axis = Constant<value = int64[1] {0}>()
  back = Slice(cs, front, end, axis, front)
  other, turned = Scan<num_scan_inputs = 1, body = again (float[b, 4] e, float[b, 4] s) => (float[b, 4] n, float[b, 4] y) {
    n = Sub(e, s) y = Identity(n)
  }>(h, back)
}"""


def factors():
    """FACTORS, whose state begins with zeros."""
    text = FACTORS.replace("zeros = Expand(zero, size)", """
      zero = Constant<value = float {0}>() six = Constant<value = int64[1] {6}>()
      batch = Shape<start = 1, end = 2>(x) size = Concat<axis = 0>(batch, six) zeros = Expand(zero, size)""")
    return onnx.parser.parse_model(text)


def gated(kind, blocks, gates, direction="forward", hidden=8, inputs=4):
    """A layer of this kind whose gates, in ONNX's order, begin at `blocks` of its weights."""
    shapes = {"w": [gates * hidden, inputs], "r": [gates * hidden, hidden], "wb": [gates * hidden], "rb": [gates * hidden]}
    nodes = [onnx.helper.make_node("Constant", [], ["zero"], value_ints=[0])]
    for name in shapes:
        parts = []
        for number, (begin, end) in enumerate(blocks):
            bounds = [f"{name}{number}{which}" for which in ("begin", "end")]
            for bound, value in zip(bounds, (begin, end)):
                nodes.append(onnx.helper.make_node("Constant", [], [bound], value_ints=[value * hidden]))
            parts.append(f"{name}{number}")
            nodes.append(onnx.helper.make_node("Slice", [name, *bounds, "zero"], [parts[-1]]))
        nodes.append(onnx.helper.make_node("Concat", parts, [f"{name}Ordered"], axis=0))
    nodes.append(onnx.helper.make_node("Concat", ["wbOrdered", "rbOrdered"], ["bOrdered"], axis=0))
    operands = ["x"]
    for name in "wrb":
        operands.append(f"{name}One")
        nodes.append(onnx.helper.make_node("Unsqueeze", [f"{name}Ordered", "zero"], [operands[-1]]))
    extra = {"linear_before_reset": 1} if kind == "GRU" else {}
    nodes.append(onnx.helper.make_node(kind, operands, ["y"], hidden_size=hidden, direction=direction, **extra))
    make = lambda name, shape: onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
    given = [make("x", ["t", "b", inputs]), *(make(name, shape) for name, shape in shapes.items())]
    graph = onnx.helper.make_graph(nodes, "gated", given, [make("y", ["t", 1, "b", hidden])])
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 20)], ir_version=9)


def drawn(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape, dtype=np.float32)


def feeds_of_cell(steps, batch):
    return {"x": drawn(steps, batch, 8)}


def feeds_of_factors(steps, batch):
    return {"x": drawn(steps, batch, 4) / 2, "w": drawn(4, 6), "y": drawn(batch, 4)}


def feeds_of_found(steps, batch):
    return {"x": drawn(steps, batch, 4), "h": drawn(batch, 4), "c": drawn(batch, 4)}


def feeds_of_gates(gates):
    weights = {"w": drawn(gates * 8, 4), "r": drawn(gates * 8, 8) / 2, "wb": drawn(gates * 8), "rb": -drawn(gates * 8)}
    return lambda steps, batch: {"x": drawn(steps, batch, 4), **weights}


def check(folder, made, switch, times, feeds):
    """With a switch and without it; `times` is its counter."""
    model, counted, counter = folder / "model.onnx", [], COUNTERS[switch]
    onnx.save(made, model)
    for number, options in enumerate(((), ("--disable", switch))):
        artifact = folder / f"{number}.stone"
        counted.append(freestone_runtime.compile_model(model, artifact, *options)[counter])
    assert counted == [times, 0], counted
    for steps, batch in ((0, 3), (2, 0), (1, 1), (2, 3), (17, 1), (5, 33)):
        np.savez(folder / "feeds.npz", **feeds(steps, batch))
        expected = run(folder, model, "--interpret")
        for number in range(2):
            for workers in (1, 3):
                for result, value in zip(run(folder, folder / f"{number}.stone", "--threads", str(workers)), expected, strict=True):
                    np.testing.assert_allclose(result, value, rtol=1e-4, atol=1e-5, err_msg=f"{steps} steps of {batch}")


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    check(folder, loops.nas_cell(8), "scan-products", 1, feeds_of_cell)
    check(folder, factors(), "scan-products", 2, feeds_of_factors)
    check(folder, gated("LSTM", [(0, 1), (3, 4), (1, 3)], 4), "block-orders", 4, feeds_of_gates(4))
    check(folder, gated("LSTM", [(0, 4)], 4), "pack-in-loops", 1, feeds_of_gates(4))
    check(folder, gated("LSTM", [(0, 4)], 4, "reverse"), "reverse-loops", 1, feeds_of_gates(4))
    check(folder, onnx.parser.parse_model(FOUND), "keep-states", 2, feeds_of_found)
    check(folder, gated("GRU", [(1, 2), (0, 1), (2, 3)], 3), "block-orders", 4, feeds_of_gates(3))


if __name__ == "__main__":
    main()
