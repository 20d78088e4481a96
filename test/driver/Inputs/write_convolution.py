"""Writes a convolution, or windows of each channel: write_convolution.py MODEL CHANNELS_IN CHANNELS_OUT PIXELS TAPS STRIDE GROUPS."""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

path = sys.argv[1]
channels, out, pixels, taps, stride, groups = map(int, sys.argv[2:])
weights = np.random.default_rng(1).standard_normal((out, channels // groups, taps, taps), dtype=np.float32)
node = helper.make_node("Conv", ["x", "w"], ["y"], strides=[stride] * 2, pads=[taps // 2] * 4, group=groups)
x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", channels, pixels, pixels])
y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", out, "h", "w"])
graph = helper.make_graph([node], "convolution", [x], [y], [numpy_helper.from_array(weights, "w")])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]), path)
