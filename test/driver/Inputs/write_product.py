"""Writes a product of a matrix with run-time rows and a weight of zeros: write_product.py FILE DEPTH COLUMNS."""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

depth, columns = map(int, sys.argv[2:])
weight = numpy_helper.from_array(np.zeros((depth, columns), np.float32), "w")
x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", depth])
y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", columns])
graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "product", [x], [y], [weight])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]), sys.argv[1])
