"""Writes a model of the sums of each channel of a batch: write_channel_sums.py FILE."""

import sys

import onnx
from onnx import parser

MODEL = """<ir_version: 10, opset_import: ["" : 20]>
sums (float[8, 16, 100] x) => (float[16] y) <int64[2] axes = {0, 2}> { y = ReduceSum<keepdims = 0>(x, axes) }"""

onnx.save(parser.parse_model(MODEL), sys.argv[1])
