"""Small ONNX models of the tests."""

import numpy as np
import onnx
from onnx import numpy_helper, parser


def model(text, weights=None):
    """A model from ONNX's text form, with initializers by name in place of the inputs of these names."""
    made = parser.parse_model(f'<ir_version: 9, opset_import: ["" : 20]> {text}')
    for name, array in (weights or {}).items():
        made.graph.initializer.append(numpy_helper.from_array(array, name))
    onnx.checker.check_model(made)
    return made


def double():
    return model("double (float[n, 8] x) => (float[n, 8] y) { y = Add(x, x) }")


def sum_and_difference():
    return model("""two (float[n] a, float[n] b) => (float[n] sum, float[n] difference) {
      sum = Add(a, b) difference = Sub(a, b)
    }""")


def classifier(inputs=16, classes=4, seed=0):
    """logits = relu(x w1 + b1) w2 + b2"""
    random = np.random.default_rng(seed)
    weights = {"w1": random.standard_normal((inputs, 32), dtype=np.float32) * 0.2, "b1": np.zeros(32, np.float32),
               "w2": random.standard_normal((32, classes), dtype=np.float32) * 0.2, "b2": np.zeros(classes, np.float32)}
    return model(f"""classifier (float[batch, {inputs}] x) => (float[batch, {classes}] logits) {{
      a = MatMul(x, w1) b = Add(a, b1) c = Relu(b) d = MatMul(c, w2) logits = Add(d, b2)
    }}""", weights)
