"""Models that no one should get away with, each refused with one sentence that says what is wrong.

bad_models.py FREESTONE. Every case is a model and what the message must mention. A crash, a success, an empty message
and one of several lines are faults.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
from onnx import TensorProto, helper, numpy_helper

OPSET = [helper.make_opsetid("", 20)]


def value(name, shape, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def model(nodes, inputs=None, outputs=None, initializers=(), opsets=None):
    graph = helper.make_graph(
        nodes, "bad", inputs or [value("x", ["n", 4])], outputs or [value("y", ["n", 4])], initializers
    )
    return helper.make_model(graph, opset_imports=opsets or OPSET, ir_version=10)


def relu(source="x", target="y", name="the_relu"):
    return helper.make_node("Relu", [source], [target], name=name)


def external(location):
    tensor = numpy_helper.from_array(np.zeros((4, 4), np.float32), "w")
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)
    return model([helper.make_node("MatMul", ["x", "w"], ["y"], name="product")], initializers=[tensor])


def overflowing():
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[1 << 40, 1 << 40])
    return model([helper.make_node("Add", ["x", "w"], ["y"], name="sum")], initializers=[tensor])


def wrong_size():
    tensor = numpy_helper.from_array(np.zeros((4, 4), np.float32), "w")
    tensor.raw_data = tensor.raw_data[:-1]
    return model([helper.make_node("MatMul", ["x", "w"], ["y"], name="product")], initializers=[tensor])


def cases():
    """Yields (name, bytes of the model, pattern that the message must contain)."""
    good = model([relu()]).SerializeToString()
    yield "an empty file", b"", r"is empty$"
    yield (
        "a truncated protobuf",
        good[: len(good) // 2],
        r"is damaged, truncated or no ONNX model: the protobuf field at byte \d+",
    )
    yield "not a protobuf", b"\xff" * 100, r"is damaged, truncated or no ONNX model: the protobuf field at byte \d+"
    yield (
        "an unknown opset",
        model([relu()], opsets=[helper.make_opsetid("", 1000)]).SerializeToString(),
        r"opset 1000 of ai\.onnx, but opsets 1 to \d+ are known",
    )
    yield (
        "an unknown operator",
        model([helper.make_node("Frobnicate", ["x"], ["y"], name="frob")]).SerializeToString(),
        r"node 'frob' \(Frobnicate\): ai\.onnx has no operator",
    )
    yield (
        "an unknown domain",
        model([helper.make_node("Relu", ["x"], ["y"], domain="com.example", name="r")]).SerializeToString(),
        r"node 'r' \(Relu\) is of domain 'com\.example'",
    )
    yield (
        "a cycle",
        model([relu("b", "a", "first"), relu("a", "b", "second"), relu("b", "y")]).SerializeToString(),
        r"node 'first' \(Relu\) is part of a cycle",
    )
    yield (
        "a dangling name",
        model([relu("nowhere")]).SerializeToString(),
        r"node 'the_relu' \(Relu\) reads 'nowhere', which no node, input or initializer makes",
    )
    yield "an output that no node makes", model([relu("x", "z")]).SerializeToString(), r"output 'y' is made by no node"
    yield (
        "a value made twice",
        model([relu(), relu(name="again")]).SerializeToString(),
        r"node 'again' \(Relu\) makes 'y', which was made before",
    )
    yield (
        "a missing input",
        model([helper.make_node("Add", ["x"], ["y"], name="sum")]).SerializeToString(),
        r"node 'sum' \(Add\): .*input size 1",
    )
    yield (
        "shapes that do not fit",
        model(
            [helper.make_node("MatMul", ["x", "x"], ["y"], name="product")],
            inputs=[value("x", [3, 4])],
            outputs=[value("y", [3, 4])],
        ).SerializeToString(),
        r"node 'product' \(MatMul, opset 20\): sizes .* must be equal, but are 3 and 4",
    )
    yield (
        "types that do not fit",
        model(
            [helper.make_node("Add", ["x", "i"], ["y"], name="sum")],
            inputs=[value("x", ["n", 4]), value("i", ["n", 4], TensorProto.INT64)],
        ).SerializeToString(),
        r"node 'sum' \(Add, opset 20\): .*different types: f32 and i64",
    )
    yield (
        "a size that overflows",
        overflowing().SerializeToString(),
        r"initializer 'w' is broken: its size does not fit into 64 bits",
    )
    yield (
        "too little data",
        wrong_size().SerializeToString(),
        r"initializer 'w' is broken: its data have 63 bytes, but its shape and type need 64",
    )
    yield (
        "external data outside",
        external("../../../../etc/passwd").SerializeToString(),
        r"'w': external data at .* lie outside of the model's folder",
    )
    yield (
        "absolute external data",
        external("/etc/passwd").SerializeToString(),
        r"'w': external data at .* lie outside of the model's folder",
    )
    yield (
        "external data that are not there",
        external("none.bin").SerializeToString(),
        r"'w': can't read external data at .*none\.bin",
    )


def fault_of(freestone, path, pattern):
    """Why the command's answer is wrong, or nothing."""
    result = subprocess.run([freestone, "check", path], capture_output=True, text=True, timeout=60, check=False)
    if result.returncode != 1:
        return f"exit code {result.returncode}: {result.stderr.strip()}"
    message = result.stderr.strip()
    if not message.startswith("freestone: ") or "\n" in message:
        return f"not one sentence: {message}"
    if not re.search(pattern, message):
        return f"does not say /{pattern}/: {message}"
    return None


def main():
    faults = 0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        for name, content, pattern in cases():
            path.write_bytes(content)
            fault = fault_of(sys.argv[1], path, pattern)
            faults += fault is not None
            print(f"{name}: {fault or 'refused'}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
