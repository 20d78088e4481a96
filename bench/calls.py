"""What a call from Python costs beside ONNX Runtime's, with models that compute nearly nothing: microseconds.

Of the fastest turn; calls of both take turns in one process. Every call makes new outputs, unless they are given."""

import argparse
import os
import pathlib
import sys
import time

import numpy as np
import onnxruntime
from onnx import parser

build = pathlib.Path(os.environ.get("FREESTONE_BUILD", "build"))
sys.path.insert(0, str(build.absolute() / "python"))
import freestone  # noqa: E402

MODELS = {
    "1 input, 1 output": "a (float[n] x0) => (float[n] y0) { y0 = Add(x0, x0) }",
    "4 inputs, 1 output": """b (float[n] x0, float[n] x1, float[n] x2, float[n] x3) =>
      (float[n] y0) { y0 = Sum(x0, x1, x2, x3) }""",
    "4 inputs, 4 outputs": """c (float[n] x0, float[n] x1, float[n] x2, float[n] x3) =>
      (float[n] y0, float[n] y1, float[n] y2, float[n] y3) { y0 = Neg(x0) y1 = Neg(x1) y2 = Neg(x2) y3 = Neg(x3) }""",
}


def microseconds(call, calls):
    began = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - began) / calls * 1e6


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--calls", type=int, default=500, help="of each turn")
    arguments.add_argument("--turns", type=int, default=60)
    chosen = arguments.parse_args()
    print("| 8 floats each, 1 thread | freestone | given outputs | onnxruntime | ratio |")
    print("|---|---|---|---|---|")
    for name, text in MODELS.items():
        model = parser.parse_model(f'<ir_version: 9, opset_import: ["" : 20]> {text}')
        program = freestone.compile(model, threads=1)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        feeds = {value.name: np.ones(8, np.float32) for value in program.inputs}
        out = {value.name: np.empty(8, np.float32) for value in program.outputs}
        calls = (lambda: program(**feeds), lambda: program(**feeds, out=out), lambda: session.run(None, feeds))
        times = [[microseconds(call, chosen.calls) for call in calls] for _ in range(chosen.turns)]
        ours, given, theirs = (min(column) for column in zip(*times))
        print(f"| {name} | {ours:.2f} | {given:.2f} | {theirs:.2f} | {ours / theirs:.2f} |")


if __name__ == "__main__":
    main()
