"""Writes a model of one Softmax with a matrix of its own: write_softmax.py FILE."""

import sys

import onnx
from onnx import parser

MODEL = """<ir_version: 10, opset_import: ["" : 20]>
tiny (float[n, 2] x) => (float[n, 2] y) <float[2, 2] w = {1, 2, 3, 4}> { h = MatMul(x, w) y = Softmax(h) }"""

onnx.save(parser.parse_model(MODEL), sys.argv[1])
