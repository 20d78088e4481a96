"""A network written down node by node, with PyPI's onnx alone: what the examples' models are built with."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 23


class Network:
    """Collects nodes and weights. Values are known by their names; every method that adds a node returns the name of its result."""

    def __init__(self, name, seed):
        self.name = name
        self.random = np.random.default_rng(seed)
        self.nodes, self.weights, self.inputs = [], [], []

    def input(self, name, type, shape):
        self.inputs.append(helper.make_tensor_value_info(name, type, shape))
        return name

    def weight(self, name, values):
        """A float tensor that training may change, or an integer one that it leaves alone."""
        values = np.asarray(values)
        if values.dtype == np.float64:
            values = values.astype(np.float32)
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def normal(self, name, shape, deviation):
        return self.weight(name, self.random.normal(0.0, deviation, shape))

    def node(self, operator, *operands, name=None, **attributes):
        result = name or f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, operands, [result], name=result, **attributes))
        return result

    def linear(self, name, x, inputs, outputs, deviation):
        """x · W + b over the last dimension."""
        product = self.node("MatMul", x, self.normal(f"{name}.weight", (inputs, outputs), deviation))
        return self.node("Add", product, self.weight(f"{name}.bias", np.zeros(outputs)))

    def save(self, path, output, shape):
        """Writes the model, whose only output is `output`, of f32."""
        result = helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)
        graph = helper.make_graph(self.nodes, self.name, self.inputs, [result], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=11)
        onnx.checker.check_model(model, full_check=True)
        onnx.save(model, path)
        return sum(numpy_helper.to_array(weight).size for weight in self.weights)
