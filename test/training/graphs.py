"""Small ONNX models: their initializers and files, written and read."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

BOOL, FLOAT, DOUBLE = TensorProto.BOOL, TensorProto.FLOAT, TensorProto.DOUBLE
BFLOAT16 = TensorProto.BFLOAT16
INT32, INT64 = TensorProto.INT32, TensorProto.INT64
node = helper.make_node


def constant(name, values, dtype=np.float32):
    """An initializer of these values: a number, or an array of any shape."""
    return numpy_helper.from_array(np.asarray(values, dtype), name)


def fan_in(shape):
    """The scale of a weight [outputs, inputs...] whose products are as large as what goes in; of a vector 1 / √10."""
    return 1 / np.sqrt(np.prod(shape[1:]) if len(shape) > 1 else 10)


def draw(random, shapes, scale=0.3):
    """Initializers f32 of normal numbers in the order of `shapes`, name → shape: `random` is a generator of numpy's or a
    seed, `scale` a number or a function of the shape."""
    random = np.random.default_rng(random)
    return [constant(name, random.normal(scale=scale(shape) if callable(scale) else scale, size=shape))
            for name, shape in shapes.items()]


def normalization(channels):
    """The initializers f32[channels] of a BatchNormalization that changes nothing yet: scale, shift, mean, variance."""
    values = {"scale": 1, "shift": 0, "mean": 0, "variance": 1}
    return [constant(name, np.full(channels, value)) for name, value in values.items()]


def save(path, nodes, inputs, outputs, initializers=(), opset=20, ir_version=9):
    """Writes a model that is checked; `inputs` and `outputs` are (name, type, shape), a name in the shape being any size."""
    values = [[helper.make_tensor_value_info(*value) for value in side] for side in (inputs, outputs)]
    graph = helper.make_graph(nodes, "model", *values, initializers)
    further = {each.domain for each in nodes} - {""}
    opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(domain, 1) for domain in sorted(further))]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=ir_version)
    onnx.checker.check_model(model)
    onnx.save(model, path)


def tensors(path):
    """The initializers of a model: name → array."""
    return {tensor.name: numpy_helper.to_array(tensor) for tensor in onnx.load(path).graph.initializer}
