"""Convolutions and pools beside ONNX Runtime: windows.py [--target NAME] [--threads N] [--only PART] [--disable WORDS].

Each operator is a model of its own with one input. Engines run in this process in turns, Freestone with --disable also
without these optimizations; the figure is the minimum of all runs: CPU time for one thread, wall time for more. Errors
are the largest, relative to the largest result of ONNX Runtime.
"""

import argparse
import os
import pathlib
import tempfile
import time

import freestone_runtime
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper


def convolution(channels_in, channels_out, size, kernel=(3, 3), stride=1, groups=1):
    """Node, input shape and weights of a convolution with bias, padded by half of its kernel."""
    random = np.random.default_rng(0)
    weights = random.standard_normal((channels_out, channels_in // groups, *kernel), dtype=np.float32)
    pads, strides = [taps // 2 for taps in kernel] * 2, [stride] * len(kernel)
    node = helper.make_node("Conv", ["x", "w", "b"], ["y"], strides=strides, group=groups, pads=pads)
    bias = random.standard_normal(channels_out, dtype=np.float32)
    return node, (1, channels_in, *size), {"w": weights / np.float32(weights[0].size**0.5), "b": bias}


def depthwise(channels, size, kernel=(3, 3), stride=1):
    return convolution(channels, channels, size, kernel, stride, groups=channels)


def pool(kind, channels, size, kernel, stride):
    pads = [(taps - 1) // 2 for taps in kernel] * 2
    node = helper.make_node(kind, ["x"], ["y"], kernel_shape=kernel, strides=[stride] * len(kernel), pads=pads)
    return node, (1, channels, *size), {}


CASES = {
    "depthwise 3x3, 64x112x112": depthwise(64, (112, 112)),
    "depthwise 3x3, 192x28x28": depthwise(192, (28, 28)),
    "depthwise 3x3, 576x14x14": depthwise(576, (14, 14)),
    "depthwise 3x3, 960x7x7": depthwise(960, (7, 7)),
    "depthwise 5x5, 120x28x28": depthwise(120, (28, 28), (5, 5)),
    "depthwise 7, 256x1000": depthwise(256, (1000,), (7,)),
    "depthwise 3x3 stride 2, 96x112x112": depthwise(96, (112, 112), stride=2),
    "depthwise 3x3 stride 2, 576x14x14": depthwise(576, (14, 14), stride=2),
    "32 groups 3x3, 128x56x56": convolution(128, 128, (56, 56), groups=32),
    "32 groups 3x3 stride 2, 128x56x56": convolution(128, 128, (56, 56), stride=2, groups=32),
    "MaxPool 3x3 stride 2, 64x112x112": pool("MaxPool", 64, (112, 112), (3, 3), 2),
    "MaxPool 3x3, 64x56x56": pool("MaxPool", 64, (56, 56), (3, 3), 1),
    "AveragePool 3x3 stride 2, 64x112x112": pool("AveragePool", 64, (112, 112), (3, 3), 2),
    "7x7 stride 2, 3 to 64x224x224": convolution(3, 64, (224, 224), (7, 7), stride=2),
    "3x3 stride 2, 3 to 32x224x224": convolution(3, 32, (224, 224), stride=2),
    "3x3, 64x224x224": convolution(64, 64, (224, 224)),
    "3x3, 64x56x56": convolution(64, 64, (56, 56)),
    "3x3, 128x28x28": convolution(128, 128, (28, 28)),
    "3x3, 256x14x14": convolution(256, 256, (14, 14)),
    "3x3, 512x7x7": convolution(512, 512, (7, 7)),
    "3x3 stride 2, 128x56x56": convolution(128, 128, (56, 56), stride=2),
    "3x3x3, 64x16x28x28": convolution(64, 64, (16, 28, 28), (3, 3, 3)),
    "3x7x7 stride 1, 3 to 32x16x56x56": convolution(3, 32, (16, 56, 56), (3, 7, 7)),
}


def make_model(node, shape, weights, path):
    graph = helper.make_graph(
        [node],
        "window",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [onnx.numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    onnx.save(onnx.shape_inference.infer_shapes(model), path)


def prepare(case, target, threads, disabled):
    """Functions: runs of Freestone, with all optimizations and, where some are named, without these, and one of ONNX
    Runtime. Their results are compared first: the errors come second."""
    node, shape, weights = case
    x = np.random.default_rng(1).standard_normal(shape, dtype=np.float32)
    with tempfile.TemporaryDirectory() as folder:
        path, artifact = pathlib.Path(folder) / "model.onnx", pathlib.Path(folder) / "model.stone"
        make_model(node, shape, weights, path)
        ours = []
        for options in [(), ("--disable", disabled)] if disabled else [()]:
            freestone_runtime.compile_model(path, artifact, "--target", target, *options)
            ours.append(freestone_runtime.Model(artifact, threads))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    expected = session.run(None, {"x": x})[0]
    errors = [float(np.abs(model.run({"x": x})[0] - expected).max() / np.abs(expected).max()) for model in ours]
    assert max(errors) < 1e-5, errors
    # Inputs and outputs of both engines are bound, so that neither copies an output.
    binding = session.io_binding()
    binding.bind_cpu_input("x", x)
    binding.bind_output("y", "cpu", 0, np.float32, expected.shape, expected.ctypes.data)
    return [*(model.run_bound for model in ours), lambda: session.run_with_iobinding(binding)], errors


def measure(runs, clock, rounds):
    """The minimum seconds of each run."""
    least = [float("inf")] * len(runs)
    for _ in range(rounds):
        for number, run in enumerate(runs):
            for _ in range(10):
                begin = clock()
                run()
                least[number] = min(least[number], clock() - begin)
    return least


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="host", help="as of freestone compile; ONNX Runtime takes what there is")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--only", default="", help="part of the name of a row, such as 'depthwise'")
    parser.add_argument("--disable", default="", metavar="WORDS", help="measures without these too, such as winograd")
    arguments = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: arguments.threads])
    clock = time.thread_time if arguments.threads == 1 else time.perf_counter
    without = ["without", "of without", "error", "without"] if arguments.disable else []
    columns = [f"{arguments.target}, {arguments.threads} threads", "Freestone ms", "ONNX Runtime ms", "ratio", *without]
    print("| " + " | ".join(columns) + " |\n|" + "---|" * len(columns))
    for name, case in CASES.items():
        if arguments.only not in name:
            continue
        runs, errors = prepare(case, arguments.target, arguments.threads, arguments.disable)
        ours, *other, theirs = measure(runs, clock, arguments.rounds)
        row = [name, f"{ours * 1e3:.3f}", f"{theirs * 1e3:.3f}", f"{ours / theirs:.2f}"]
        for each in other:
            row += [f"{each * 1e3:.3f}", f"{ours / each:.2f}", *(f"{error:.0e}" for error in errors)]
        print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
