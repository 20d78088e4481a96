"""Writes models that the importer must refuse, one for each reason, and some rare ones that it takes: its fuzzer starts
from them.

    python malformed_models.py corpus/import
"""

import pathlib
import sys

from onnx import TensorProto, helper

F32 = TensorProto.FLOAT


def value(name, shape=(2, 3)):
    return helper.make_tensor_value_info(name, F32, shape)


def model(nodes, opset=21, inputs=("x",), outputs=("y",), initializers=(), functions=(), domains=()):
    takes, makes = [value(name) for name in inputs], [value(name) for name in outputs]
    graph = helper.make_graph(nodes, "g", takes, makes, initializers)
    imports = [helper.make_opsetid("", opset)] + [helper.make_opsetid(domain, 1) for domain in domains]
    return helper.make_model(graph, opset_imports=imports, functions=functions, ir_version=10)


def node(kind, inputs, outputs, **attributes):
    return helper.make_node(kind, inputs, outputs, **attributes)


def one():
    return node("Relu", ["x"], ["y"])


def weight(name):
    return helper.make_tensor(name, F32, [2, 3], [1.0] * 6)


def nested(depth, results=1):
    """If within If within … around an Identity, a graph with this number of results."""
    def leaf(results=1):
        return helper.make_graph([node("Identity", ["x"], ["leaf"])], "leaf", [], [value("leaf")] * results)

    body = leaf(results)
    for level in range(1, depth):
        inner = node("If", ["c"], [f"y{level}"], then_branch=body, else_branch=leaf())
        body = helper.make_graph([inner], "body", [], [value(f"y{level}")])
    made = model([node("If", ["c"], ["y"], then_branch=body, else_branch=leaf())])
    made.graph.input.append(helper.make_tensor_value_info("c", TensorProto.BOOL, []))
    return made


def function(outputs=("b",), name="Twice"):
    add = node("Add", ["a", "a"], ["b"])
    return helper.make_function("own", name, ["a"], list(outputs), [add], [helper.make_opsetid("", 21)])


def external(**entries):
    tensor = TensorProto(name="w", data_type=F32, dims=[2, 3], data_location=TensorProto.EXTERNAL)
    for key, text in entries.items():
        tensor.external_data.add(key=key, value=text)
    return model([node("Add", ["x", "w"], ["y"])], initializers=[tensor])


def sparse():
    made = model([one()])
    made.graph.sparse_initializer.add()
    return made


def odd_tensor(**fields):
    return model([node("Add", ["x", "w"], ["y"])], initializers=[TensorProto(name="w", **fields)])


def recurrent():
    """A layer over integers with weights of floats."""
    made = model([node("RNN", ["x", "w", "r"], ["y"], hidden_size=4)], inputs=(), outputs=("y",))
    for name, kind, shape in (("x", TensorProto.INT64, (3, 1, 2)), ("w", F32, (1, 4, 2)), ("r", F32, (1, 4, 4))):
        made.graph.input.append(helper.make_tensor_value_info(name, kind, shape))
    return made


def scan_of_samples(*lengths):
    body = helper.make_graph([node("Add", ["s", "e"], ["n"]), node("Identity", ["n"], ["o"])], "body",
                             [value("s", (3,)), value("e", (3,))], [value("n", (3,)), value("o", (3,))])
    made = model([node("Scan", [*lengths, "i", "x"], ["last", "y"], num_scan_inputs=1, body=body)], opset=8,
                 inputs=[name for name in lengths if name])
    made.graph.input.extend([value("i"), value("x", (2, 4, 3))])
    return made


def models():
    twice = node("Twice", ["x"], ["y"], domain="own")
    yield "cycle", model([node("Add", ["x", "y"], ["z"]), node("Relu", ["z"], ["y"])])
    yield "out-of-order", model([node("Relu", ["z"], ["y"]), node("Neg", ["x"], ["z"])])
    yield "missing-input", model([node("Relu", ["nowhere"], ["y"])])
    yield "missing-output", model([node("Relu", ["x"], ["z"])])
    yield "made-twice", model([one(), one()])
    yield "input-twice", model([one()], inputs=("x", "x"))
    yield "initializer-twice", model([one()], initializers=[weight("w"), weight("w")])
    yield "opset-of-the-future", model([one()], opset=9999)
    yield "opset-zero", model([one()], opset=0)
    yield "unknown-operator", model([node("NoSuch", ["x"], ["y"])])
    yield "unknown-domain", model([node("Relu", ["x"], ["y"], domain="nowhere")])
    yield "unsupported-domain", model([node("Own", ["x"], ["y"], domain="own")], domains=["own"])
    yield "deprecated-operator", model([node("Upsample", ["x", "w"], ["y"])], initializers=[weight("w")])
    yield "sparse-initializer", sparse()
    yield "nested", nested(4)
    yield "nested-deeply", nested(30)
    yield "branch-without-results", nested(2, results=0)
    yield "function", model([twice], functions=[function()], domains=["own"])
    yield "function-without-output", model([twice], functions=[function(outputs=("nowhere",))], domains=["own"])
    yield "function-of-itself", model([twice], domains=["own"], functions=[helper.make_function(
        "own", "Twice", ["a"], ["b"], [node("Twice", ["a"], ["b"], domain="own")],
        [helper.make_opsetid("", 21), helper.make_opsetid("own", 1)])])
    yield "external-absent", external(location="absent.bin", offset="0", length="24")
    yield "external-elsewhere", external(location="../absent.bin")
    yield "external-nameless", external(offset="x")
    yield "tensor-too-short", odd_tensor(data_type=F32, dims=[2, 3], raw_data=b"1234")
    yield "tensor-negative", odd_tensor(data_type=F32, dims=[-2, 3])
    yield "tensor-vast", odd_tensor(data_type=F32, dims=[1 << 40, 1 << 40])
    yield "tensor-of-strings", odd_tensor(data_type=TensorProto.STRING, dims=[1], string_data=[b"x"])
    yield "tensor-of-nothing", odd_tensor(data_type=0, dims=[2, 3])
    yield "tensor-of-int4", odd_tensor(data_type=TensorProto.INT4, dims=[2, 3], raw_data=b"123")
    yield "wrong-arity", model([node("Relu", ["x", "x"], ["y"])])
    yield "wrong-attribute", model([node("Softmax", ["x"], ["y"], axis="one")])
    yield "wrong-axis", model([node("Softmax", ["x"], ["y"], axis=7)])
    yield "recurrent-of-integers", recurrent()
    yield "scan-of-samples", scan_of_samples("")
    yield "scan-of-samples-with-lengths", scan_of_samples("lengths")
    yield "wrong-broadcast", model([node("Add", ["x", "w"], ["y"])], initializers=[
        helper.make_tensor("w", F32, [5], [1.0] * 5)])


def main():
    folder = pathlib.Path(sys.argv[1])
    for name, made in models():
        (folder / name).write_bytes(made.SerializeToString(deterministic=True))
    whole = model([one()], initializers=[weight("w")]).SerializeToString(deterministic=True)
    (folder / "truncated").write_bytes(whole[: len(whole) // 2])
    (folder / "no-graph").write_bytes(whole[:2])
    (folder / "no-protobuf").write_bytes(b"\xff\xff\xff")


if __name__ == "__main__":
    main()
