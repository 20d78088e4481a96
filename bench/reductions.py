"""Long reductions beside ONNX Runtime: split, with several accumulators along rows, and with neither, in turns.

The minimum of many runs, in milliseconds: CPU time for one thread, wall time for more.
"""

import argparse
import pathlib
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import freestone_runtime
import peers

WITHOUT = ("--disable", "split-reductions,side-by-side")


def reduce(op, axes):
    return [helper.make_node(op, ["x", "axes"], ["z"], keepdims=0)], {"axes": np.array(axes)}


MULTIPLY = [helper.make_node("MatMul", ["x", "y"], ["z"])], {}
WEIGHTS = [helper.make_node("Transpose", ["x"], ["t"], perm=[1, 0]), helper.make_node("MatMul", ["t", "y"], ["z"])], {}
SOFTMAX = [helper.make_node("Softmax", ["x"], ["z"])], {}
NORMALIZE = [helper.make_node("LayerNormalization", ["x", "scale"], ["z"])], {"scale": np.linspace(1, 2, 768, dtype=np.float32)}

# Name → nodes and constants, shapes of the inputs.
CASES = {
    "64 x 64, a million deep": (MULTIPLY, [(64, 1000000), (1000000, 64)]),
    "16 x 16, a million deep": (MULTIPLY, [(16, 1000000), (1000000, 16)]),
    "weights of 32 x 64, batch 65536": (WEIGHTS, [(65536, 32), (65536, 64)]),
    "weights of 32 x 64, batch 4096": (WEIGHTS, [(4096, 32), (4096, 64)]),
    "columns of 100000 x 64, sums": (reduce("ReduceSum", [0]), [(100000, 64)]),
    "columns of 1000000 x 1, sums": (reduce("ReduceSum", [0]), [(1000000, 1)]),
    "ten million, sum": (reduce("ReduceSum", [0]), [(10000000,)]),
    "ten million, mean": (reduce("ReduceMean", [0]), [(10000000,)]),
    "ten million, largest": (reduce("ReduceMax", [0]), [(10000000,)]),
    "ten million, its position": (([helper.make_node("ArgMax", ["x"], ["z"], keepdims=0)], {}), [(10000000,)]),
    "rows of 4 x 1000000, sums": (reduce("ReduceSum", [1]), [(4, 1000000)]),
    "rows of 1024 x 4096, sums": (reduce("ReduceSum", [1]), [(1024, 4096)]),
    "rows of 1024 x 4096, largest": (reduce("ReduceMax", [1]), [(1024, 4096)]),
    "layer norm of 4096 x 768": (NORMALIZE, [(4096, 768)]),
    "softmax of 64 x 50257": (SOFTMAX, [(64, 50257)]),
    "softmax of 4096 x 128": (SOFTMAX, [(4096, 128)]),
}


def save(case, path):
    """Writes the model; returns its inputs."""
    (nodes, constants), shapes = case
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in zip("xy", shapes)]
    kind = TensorProto.INT64 if nodes[-1].op_type == "ArgMax" else TensorProto.FLOAT
    initializers = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "reduction", inputs, [helper.make_tensor_value_info("z", kind, None)], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    onnx.save(onnx.shape_inference.infer_shapes(model), path)
    random = np.random.default_rng(1)
    return {name: random.standard_normal(shape, dtype=np.float32) for name, shape in zip("xy", shapes)}


def measure(runs, seconds, clock):
    """The minimum time of each run, in milliseconds."""
    least = [float("inf")] * len(runs)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for number, run in enumerate(runs):
            begin = clock()
            run()
            least[number] = min(least[number], clock() - begin)
    return [1e3 * value for value in least]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--target", default="host")
    parser.add_argument("--seconds", type=float, default=2, help="for each case")
    parser.add_argument("--only", default="", help="cases whose names have this in them")
    options = parser.parse_args()
    clock = time.thread_time if options.threads == 1 else time.perf_counter
    print("| | in parts | without | ONNX Runtime | of ONNX Runtime's |\n|---|---|---|---|---|")
    for name, case in CASES.items():
        if options.only not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            model = pathlib.Path(folder) / "model.onnx"
            feeds = save(case, model)
            runs, models = [], []
            for switches in ((), WITHOUT):
                artifact = model.with_suffix(".stone")
                freestone_runtime.compile_model(model, artifact, "--target", options.target, *switches)
                models.append(freestone_runtime.Model(artifact, options.threads))
                models[-1].run(feeds)
                runs.append(models[-1].run_bound)
            runs.append(peers.OnnxRuntime().prepare(model, feeds, options.threads)[0])
            parts, whole, peer = measure(runs, options.seconds, clock)
        print(f"| {name} | {parts:.3f} | {whole:.3f} | {peer:.3f} | {parts / peer:.2f} |", flush=True)
        for loaded in models:
            loaded.close()


if __name__ == "__main__":
    main()
