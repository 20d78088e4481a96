"""Writes an attention of two heads of depth 64: write_attention.py FILE LENGTH."""

import sys

import onnx
from onnx import TensorProto, helper

shape = [1, 2, int(sys.argv[2]), 64]
values = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in "qkvy"}
node = helper.make_node("Attention", ["q", "k", "v"], ["y"])
graph = helper.make_graph([node], "attention", [values[name] for name in "qkv"], [values["y"]])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)], ir_version=10), sys.argv[1])
