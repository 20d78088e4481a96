"""Softmax, layer norm and their gradients, row by row, beside PyTorch and beside a copy of as many bytes, in turns.

CPU time of one thread in milliseconds, the minimum of all runs. *Copy* is how long NumPy takes to copy half of the bytes
that the operator has to read and to write once: of what lies in no cache, nothing is faster. PyTorch runs
`_softmax_backward_data` from the softmax, and `native_layer_norm` with its backward pass for both together.
"""

import argparse
import pathlib
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper

import freestone_runtime
from turns import measure

node, FLOAT = helper.make_node, TensorProto.FLOAT
EPSILON = 1e-5
SOFTMAX = [(4096, 128), (1024, 1024), (64, 50257), (16384, 32), (12 * 512, 512), (2048, 197)]
NORMS = [(4096, 768), (1024, 1024), (16384, 64), (512, 4096), (128, 256), (3136, 96)]

# Name → nodes, outputs, tensors of the rows' shape that are read and written.
CASES = {
    "softmax": ([node("Softmax", ["x"], ["y"], axis=1)], ["y"], 2),
    "softmax, gradient": ([node("Mul", ["x", "g"], ["products"]), node("ReduceSum", ["products", "one"], ["sum"], keepdims=1),
                           node("Sub", ["g", "sum"], ["rest"]), node("Mul", ["x", "rest"], ["dx"])], ["dx"], 3),
    "layer norm": ([node("LayerNormalization", ["x", "scale", "bias"], ["y"], epsilon=EPSILON)], ["y"], 2),
    "layer norm and gradients": ([node("LayerNormalization", ["x", "scale", "bias"], ["y"], epsilon=EPSILON), node("Mul", ["y", "g"], ["products"]),
                                  node("ReduceSum", ["products"], ["loss"], keepdims=0),
                                  node("Gradient", ["x", "scale", "bias"], ["dx", "dscale", "dbias"], domain="ai.onnx.preview.training",
                                       xs=["x", "scale", "bias"], y="loss")], ["y", "dx", "dscale", "dbias"], 4),
}


def save(case, path):
    """Writes the model for rows of any number and length."""
    nodes, made, _ = CASES[case]
    read = {name for each in nodes for name in each.input}
    shapes = {"x": ["n", "c"], "g": ["n", "c"], "scale": ["c"], "bias": ["c"]}
    inputs = [helper.make_tensor_value_info(name, FLOAT, shape) for name, shape in shapes.items() if name in read]
    outputs = [helper.make_tensor_value_info(name, FLOAT, ["c"] if name in ("dscale", "dbias") else ["n", "c"]) for name in made]
    one = [helper.make_tensor("one", TensorProto.INT64, [1], [1])] if "one" in read else []
    graph = helper.make_graph(nodes, "rows", inputs, outputs, one)
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("ai.onnx.preview.training", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), path)
    return [value.name for value in inputs]


def prepare_torch(case, feeds):
    """Runs PyTorch's operators; nothing where it is not installed."""
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(1)
    tensors = {name: torch.from_numpy(value) for name, value in feeds.items()}
    x, g, shape = tensors["x"], tensors.get("g"), [feeds["x"].shape[1]]
    if case == "softmax":
        return lambda: torch.softmax(x, 1)
    if case == "softmax, gradient":
        return lambda: torch._softmax_backward_data(g, x, 1, torch.float32)

    def normalise():
        y, mean, deviation = torch.native_layer_norm(x, shape, tensors["scale"], tensors["bias"], EPSILON)
        if g is not None:
            torch.ops.aten.native_layer_norm_backward(g, x, shape, mean, deviation, tensors["scale"], tensors["bias"], [True] * 3)
        return y

    return normalise


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="host")
    parser.add_argument("--seconds", type=float, default=1, help="for each case")
    parser.add_argument("--only", default="", help="cases whose names have this in them")
    parser.add_argument("--disable", default="", help="optimizations to switch off in a second artifact")
    options = parser.parse_args()
    random = np.random.default_rng(1)
    print("| | rows | Freestone | without | PyTorch | of PyTorch's | copy | of the copy's |\n|---|---|---|---|---|---|---|---|")
    for case, (_, _, tensors) in CASES.items():
        if options.only not in case:
            continue
        with tempfile.TemporaryDirectory() as folder:
            model, artifacts = pathlib.Path(folder) / "model.onnx", []
            names = save(case, model)
            for switches in [[], ["--disable", options.disable]] if options.disable else [[]]:
                artifacts.append(model.with_suffix(f".{len(switches)}.stone"))
                freestone_runtime.compile_model(model, artifacts[-1], "--target", options.target, *switches)
            for shape in SOFTMAX if "softmax" in case else NORMS:
                feeds = {name: random.random(shape[1:] if name in ("scale", "bias") else shape, dtype=np.float32) for name in names}
                loaded = [freestone_runtime.Model(artifact) for artifact in artifacts]
                for each in loaded:
                    each.run(feeds)
                source = np.ones(feeds["x"].size * tensors // 2, np.float32)
                target = np.ones_like(source)
                runs = {"copy": lambda target=target, source=source: np.copyto(target, source)}
                runs |= {str(number): each.run_bound for number, each in enumerate(loaded)}
                if peer := prepare_torch(case, feeds):
                    runs["peer"] = peer
                least = dict(zip(runs, measure(list(runs.values()), options.seconds), strict=True))
                for each in loaded:
                    each.close()
                own, peer, copy = least["0"], least.get("peer"), least["copy"]
                cells = [f"{case}", "x".join(map(str, shape)), f"{own:.3f}", f"{least['1']:.3f}" if "1" in least else "",
                         f"{peer:.3f}" if peer else "", f"{own / peer:.2f}" if peer else "", f"{copy:.3f}", f"{own / copy:.2f}"]
                print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
