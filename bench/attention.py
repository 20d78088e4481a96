"""Attention beside PyTorch's, ONNX Runtime's and OpenVINO's, at lengths 64 to 8,192, in turns in one process.

One head is as another, so that few of them are enough. ONNX Runtime runs its own MultiHeadAttention, OpenVINO and
Freestone ONNX's Attention. Freestone is measured with and without connection, with the sizes that a run brings, and for
x86-64-v3. With --training, gradients of queries, keys and values are computed as well, beside PyTorch's. With --masked,
a causal mask is a tensor that is added, as in exports of transformers, and blocks that it hides are not left out in
another column. Milliseconds, the minimum of all runs: CPU time for one thread, wall time for more. Memory is what the
arena of one worker takes.
"""

import argparse
import pathlib
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper

import freestone_runtime
import peers
from turns import fastest

HEADS, DEPTH = 2, 64


def save(folder, causal, masked, training):
    """Writes the models [1, heads, length, depth] → the same, and gradients; returns their paths by operator."""
    shape = [1, HEADS, "length", DEPTH]
    packed = [1, "length", HEADS * DEPTH]
    made = {}
    plain = [helper.make_node("Attention", ["q", "k", "v"] + ["m"] * masked, ["y"], is_causal=int(causal))]
    own = [helper.make_node("MultiHeadAttention", ["q", "k", "v"] + ["", "", "m"] * masked, ["y"], num_heads=HEADS, domain="com.microsoft", unidirectional=int(causal))]
    gradients = [helper.make_node("Mul", ["y", "g"], ["products"]), helper.make_node("ReduceSum", ["products"], ["loss"], keepdims=0),
                 helper.make_node("Gradient", ["q", "k", "v"], ["dq", "dk", "dv"], domain="ai.onnx.preview.training", xs=["q", "k", "v"], y="loss")]
    for name, nodes, dims, domain in (("onnx", plain + gradients * training, shape, ("", 24)), ("ort", own, packed, ("com.microsoft", 1))):
        backward = training and name == "onnx"
        inputs, outputs = ("q", "k", "v", "g")[: 3 + backward], ("y", "dq", "dk", "dv")[: 1 + 3 * backward]
        values = [[helper.make_tensor_value_info(key, TensorProto.FLOAT, dims) for key in side] for side in (inputs, outputs)]
        values[0] += [helper.make_tensor_value_info("m", TensorProto.FLOAT, [1, 1, "length", "length"])] * masked
        graph = helper.make_graph(nodes, "attention", *values)
        opsets = [helper.make_opsetid(*domain)] + [helper.make_opsetid("", 20)] * (name == "ort")
        opsets += [helper.make_opsetid("ai.onnx.preview.training", 1)] * backward
        made[name] = folder / f"{name}.onnx"
        onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), made[name])
    return made


def prepare_freestone(folder, model, feeds, threads, *options):
    artifact = folder / f"{'-'.join(options)}.stone"
    if not artifact.exists():
        freestone_runtime.compile_model(model, artifact, *options)
    loaded = freestone_runtime.Model(artifact, threads)
    return loaded.run_bound, loaded.run(feeds), loaded.counters().arena_bytes


def prepare_torch(feeds, threads, causal):
    import torch

    torch.set_num_threads(threads)
    tensors = [torch.from_numpy(feeds[key]).requires_grad_("g" in feeds) for key in "qkv"]
    mask = torch.from_numpy(feeds["m"]) if "m" in feeds else None
    attend = lambda: torch.nn.functional.scaled_dot_product_attention(*tensors, attn_mask=mask, is_causal=causal)
    if "g" not in feeds:
        return attend, [attend().numpy()]
    slope = torch.from_numpy(feeds["g"])

    def step():
        y = attend()
        return [y, *torch.autograd.grad(y, tensors, slope)]

    return step, [each.detach().numpy() for each in step()]


def get_runs(folder, models, length, threads, causal, masked, training, names):
    """Name → a function that runs once, and Freestone's bytes; all agree on the result."""
    random = np.random.default_rng(1)
    feeds = {key: random.normal(size=(1, HEADS, length, DEPTH)).astype(np.float32) for key in "qkvg"[: 3 + training]}
    if masked:
        feeds["m"] = np.triu(np.full((1, 1, length, length), -np.inf, np.float32), 1)
    runs, memory = {}, {}
    variants = {"freestone": (), "apart": ("--disable", "connect,reassociate"), "x86-64-v3": ("--target", "x86-64-v3")}
    if masked:
        variants["whole"] = ("--disable", "skip-masked")
    for name, options in variants.items():
        runs[name], right, memory[name] = prepare_freestone(folder, models["onnx"], feeds, threads, *options)
    others = {"torch": lambda: prepare_torch(feeds, threads, causal),
              "onnxruntime": lambda: peers.OnnxRuntime().prepare(
                  models["ort"], {key: x if key == "m" else np.ascontiguousarray(x.transpose(0, 2, 1, 3).reshape(1, length, -1)) for key, x in feeds.items()}, threads),
              "openvino": lambda: peers.OpenVino().prepare(models["onnx"], feeds, threads)}
    for name in names:
        runs[name], results = others[name]()
        if name == "onnxruntime":
            results = [each.reshape(1, length, HEADS, DEPTH).transpose(0, 2, 1, 3) for each in results]
        assert all(np.allclose(*pair, atol=2e-5) for pair in zip(results, right, strict=True)), (name, length)
    return runs, memory


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lengths", type=int, nargs="+", default=[64, 128, 256, 512, 1024, 2048, 4096, 8192])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--causal", action="store_true")
    parser.add_argument("--masked", action="store_true")
    parser.add_argument("--training", action="store_true")
    parser.add_argument("--seconds", type=float, default=4, help="for each length")
    parser.add_argument("--peers", nargs="*", default=["torch", "onnxruntime", "openvino"])
    arguments = parser.parse_args()
    if arguments.training:
        arguments.peers = [name for name in arguments.peers if name == "torch"]
    columns = ["freestone", *["whole"] * arguments.masked, "apart", *arguments.peers, "x86-64-v3"]
    print("| length |", " | ".join(columns), "| of the best peer's | x86-64-v3, of the best peer's | KiB | KiB apart |")
    print("|" + "---|" * (len(columns) + 5))
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        models = save(folder, arguments.causal, arguments.masked, arguments.training)
        for length in arguments.lengths:
            runs, memory = get_runs(folder, models, length, arguments.threads, arguments.causal, arguments.masked, arguments.training, arguments.peers)
            least = fastest(runs, arguments.seconds, arguments.threads)
            best = min((least[name] for name in arguments.peers), default=np.nan)
            cells = [f"{least[name]:.3f}" for name in columns]
            cells += [f"{least['freestone'] / best:.2f}", f"{least['x86-64-v3'] / best:.2f}"]
            print(f"| {length} |", " | ".join(cells), f"| {memory['freestone'] >> 10} | {memory['apart'] >> 10} |", flush=True)


main()
