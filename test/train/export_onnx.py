"""Exported models against ONNX and ONNX Runtime: they open, hold the new weights, give what those give, and are otherwise as before."""

import json
import pathlib
import subprocess
import sys
import tempfile

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

program = sys.argv[1]


def writeSafetensors(path, tensors):
    header, data = {}, b""
    for name, array in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def makeModel():
    """A network with raw, typed and half-precision weights, and a frozen one."""
    random = numpy.random.default_rng(0)
    half = numpy_helper.from_array(random.standard_normal((64, 32)).astype("float16"), "half")
    initializers = [
        numpy_helper.from_array(random.standard_normal((8, 64)).astype("float32"), "first"),
        helper.make_tensor("bias", TensorProto.FLOAT, [64], random.standard_normal(64)),
        half,
        numpy_helper.from_array(random.standard_normal((32, 32)).astype("float32"), "frozen"),
        helper.make_tensor("shape", TensorProto.INT64, [2], [-1, 32]),
    ]
    nodes = [
        helper.make_node("Gemm", ["x", "first", "bias"], ["a"], name="gemm"),
        helper.make_node("Cast", ["half"], ["single"], to=TensorProto.FLOAT),
        helper.make_node("MatMul", ["a", "single"], ["b"]),
        helper.make_node("MatMul", ["b", "frozen"], ["c"]),
        helper.make_node("Reshape", ["c", "shape"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes, "network", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 32])], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    helper.set_model_props(model, {"key": "value"})
    return model


def evaluate(path, x):
    return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]


def withoutElements(model):
    """The model without what an export changes."""
    model = onnx.ModelProto.FromString(model.SerializeToString())
    for tensor in model.graph.initializer:
        for field in ("raw_data", "float_data", "int32_data", "external_data", "data_location"):
            tensor.ClearField(field)
    return model.SerializeToString()


def check(folder, source, largest):
    random = numpy.random.default_rng(1)
    new = {name: random.standard_normal(shape).astype("float32")
           for name, shape in {"first": (8, 64), "bias": (64,), "half": (64, 32)}.items()}
    writeSafetensors(folder / "new.safetensors", new)
    target = folder / "trained.onnx"
    subprocess.run([program, source, folder / "new.safetensors", target, str(largest)], check=True)

    onnx.checker.check_model(str(target), full_check=True)
    original, trained = onnx.load(source), onnx.load(target)
    assert withoutElements(original) == withoutElements(trained)
    values = {tensor.name: numpy_helper.to_array(tensor) for tensor in trained.graph.initializer}
    for tensor in original.graph.initializer:
        expected = numpy_helper.to_array(tensor)
        if tensor.name in new:
            expected = new[tensor.name].astype(expected.dtype)
        numpy.testing.assert_array_equal(values[tensor.name], expected)

    x = random.standard_normal((5, 8)).astype("float32")
    expected = (x @ values["first"] + values["bias"]) @ values["half"].astype("float32") @ values["frozen"]
    numpy.testing.assert_allclose(evaluate(str(target), x), expected, rtol=1e-4, atol=1e-3)
    return target


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model = makeModel()
        onnx.save(model, folder / "one.onnx")
        onnx.save(model, folder / "two.onnx", save_as_external_data=True, location="two.bin", size_threshold=100)
        for source in ("one.onnx", "two.onnx"):
            for largest in (2**31 - 1, 5000):
                target = check(folder, folder / source, largest)
                assert (folder / "trained.onnx.data").exists() == (largest == 5000)
                target.unlink()
                (folder / "trained.onnx.data").unlink(missing_ok=True)
    print("4 exports, all as they should be")


main()
