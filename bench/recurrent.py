"""Recurrent layers, loops and decoders beside ONNX Runtime and OpenVINO: recurrent.py [--training] [--threads 1,2]
[--only PART].

Sizes of batch and sequence are symbols, bound by each run. All engines run in one process in turns; the figure is the
minimum of all runs: CPU time for one thread, wall time for more. Results are compared first. A peer that can't load a
model has no figure (OpenVINO: loops whose carried values grow). With --training, whole
steps with AdamW, two layers, and a linear one for 10 classes on the mean over all steps, beside PyTorch; at a learning
rate of 0, since gradients of what has been learnt are denormal numbers, which slow down every engine.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import decoders
import freestone_runtime
import loops
import peers

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def model_of(nodes, weights, inputs, outputs):
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "recurrent",
        [info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()],
        [info(name, TensorProto.FLOAT, shape) for name, shape in outputs.items()],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def layers(kind, hidden, count):
    """`count` layers of one size above each other."""
    random, gates = np.random.default_rng(0), GATES[kind] * hidden
    nodes, weights, value = [], {"axis": np.array([1])}, "x"
    for layer in range(count):
        draw = lambda *shape: (random.uniform(-1, 1, shape) / hidden**0.5).astype(np.float32)
        weights |= {f"w{layer}": draw(1, gates, hidden), f"r{layer}": draw(1, gates, hidden), f"b{layer}": draw(1, 2 * gates)}
        operands = [value, f"w{layer}", f"r{layer}", f"b{layer}"]
        extra = {"linear_before_reset": 1} if kind == "GRU" else {}
        nodes.append(helper.make_node(kind, operands, [f"y{layer}"], hidden_size=hidden, **extra))
        value = f"s{layer}"
        nodes.append(helper.make_node("Squeeze", [f"y{layer}", "axis"], [value]))
    return model_of(nodes, weights, {"x": ["t", "b", hidden]}, {value: ["t", "b", hidden]})


def skipping(blocks, hidden):
    """A network that leaves out each of its blocks where its element of `gates` is not positive, as SkipNet does."""
    random = np.random.default_rng(0)
    nodes, weights, value = [], {"zero": np.float32(0), "axis": np.array([0])}, "x"
    for block in range(blocks):
        weights |= {
            f"w{block}": (random.standard_normal((hidden, hidden)) / hidden**0.5).astype(np.float32),
            f"i{block}": np.array(block),
        }
        info = helper.make_tensor_value_info(f"t{block}", TensorProto.FLOAT, None)
        body = [
            helper.make_node("MatMul", [value, f"w{block}"], [f"m{block}"]),
            helper.make_node("Relu", [f"m{block}"], [f"a{block}"]),
            helper.make_node("Add", [f"a{block}", value], [f"t{block}"]),
        ]
        other = helper.make_tensor_value_info(f"e{block}", TensorProto.FLOAT, None)
        nodes += [
            helper.make_node("Gather", ["gates", f"i{block}"], [f"g{block}"], axis=0),
            helper.make_node("Greater", [f"g{block}", "zero"], [f"c{block}"]),
            helper.make_node(
                "If",
                [f"c{block}"],
                [f"v{block}"],
                then_branch=helper.make_graph(body, f"then{block}", [], [info]),
                else_branch=helper.make_graph([helper.make_node("Identity", [value], [f"e{block}"])], f"else{block}", [], [other]),
            ),
        ]
        value = f"v{block}"
    return model_of(nodes, weights, {"x": ["n", hidden], "gates": [blocks]}, {value: ["n", hidden]})


def sequence(steps, batch, hidden):
    return {"x": np.random.default_rng(1).standard_normal((steps, batch, hidden), dtype=np.float32)}


def executed(share, blocks, rows, hidden):
    """Inputs with this share of the blocks executed, evenly."""
    gates = np.array([1.0 if int((i + 1) * share) > int(i * share) else -1.0 for i in range(blocks)], np.float32)
    return {"x": np.random.default_rng(1).standard_normal((rows, hidden), dtype=np.float32), "gates": gates}


def encoded(words, steps=40, width=256):
    return {"memory": np.random.default_rng(1).standard_normal((1, steps, width), dtype=np.float32), "most": np.array(words)}


CASES = {
    "LSTM 2x256": (lambda: layers("LSTM", 256, 2), {f"{b}x{t}": sequence(t, b, 256) for b, t in [(1, 64), (16, 64), (1, 200)]}),
    "LSTM 10x256": (lambda: layers("LSTM", 256, 10), {"1x100": sequence(100, 1, 256)}),
    "GRU 2x256": (lambda: layers("GRU", 256, 2), {f"{b}x{t}": sequence(t, b, 256) for b, t in [(1, 64), (16, 64)]}),
    "RNN 2x256": (lambda: layers("RNN", 256, 2), {"1x64": sequence(64, 1, 256)}),
    "NASRNN 256": (lambda: loops.nas_cell(256), {"1x1000": sequence(1000, 1, 256), "16x200": sequence(200, 16, 256)}),
    "recursive autoencoder 256": (lambda: loops.tree_encoder(256), {"127 nodes": loops.balanced_tree(64, 256)}),
    "greedy decoder": (lambda: decoders.decoder(1), {f"{words} words": encoded(words) for words in (16, 64, 256)}),
    "beam search, 4 beams": (lambda: decoders.decoder(4), {f"{words} words": encoded(words) for words in (16, 64, 256)}),
    "20 blocks, executed": (
        lambda: skipping(20, 256),
        {f"{share} %": executed(share / 100, 20, 64, 256) for share in (0, 25, 50, 75, 100)},
    ),
}


def race(runs, clock, seconds=1.5):
    """Milliseconds: the minimum of each."""
    best = dict.fromkeys(runs, float("inf"))
    end = time.time() + seconds
    while time.time() < end:
        for name, run in runs.items():
            begin = clock()
            run()
            best[name] = min(best[name], (clock() - begin) * 1e3)
    return best


def make_classifier(kind, hidden):
    import torch

    class Classifier(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = getattr(torch.nn, kind)(hidden, hidden, 2, batch_first=True)
            self.head = torch.nn.Linear(hidden, 10)

        def forward(self, x):
            return self.head(self.layers(x)[0].mean(1))

    torch.manual_seed(0)
    return Classifier().train()


def prepare_steps(kind, hidden, folder):
    """A function from inputs and labels to functions that train one step, by engine."""
    import torch

    module, model, artifact = make_classifier(kind, hidden), folder / "model.onnx", folder / "step.stone"
    names = {"input_names": ["x"], "output_names": ["y"], "dynamic_axes": {"x": {0: "b", 1: "t"}, "y": {0: "b"}}}
    form = {"training": torch.onnx.TrainingMode.TRAINING, "do_constant_folding": False, "dynamo": False}
    with warnings.catch_warnings(action="ignore"):
        torch.onnx.export(module, (torch.zeros(2, 4, hidden),), str(model), **form, **names)
    np.savez(folder / "data.npz", x=np.zeros((2, 4, hidden), np.float32), labels=np.zeros(2, np.int64))
    command = [freestone_runtime.freestone(), "train", model, "--data", folder / "data.npz", "--labels", "labels"]
    subprocess.run([*command, "--compile-only", "-o", artifact], check=True, stdout=subprocess.DEVNULL)
    numbers = {"learning_rate": 0.0, "clip_norm": np.inf, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "weight_decay": 0.01}
    optimizer = torch.optim.AdamW(module.parameters(), lr=0.0)

    def prepare(x, labels, threads):
        torch.set_num_threads(threads)
        step = freestone_runtime.Model(artifact, threads)
        step.bind({**numbers, "x": x, "labels": labels})
        given, wanted = torch.from_numpy(x), torch.from_numpy(labels)

        def train():
            optimizer.zero_grad(set_to_none=True)
            torch.nn.functional.cross_entropy(module(given), wanted).backward()
            optimizer.step()

        return {"freestone": step.run_bound, "torch": train}

    return prepare


def race_training(only, threads, hidden=256):
    print("| | size | threads | freestone | torch | ratio |\n|---|---|---|---|---|---|")
    for kind in ("LSTM", "GRU"):
        if only not in kind:
            continue
        with tempfile.TemporaryDirectory() as folder:
            prepare = prepare_steps(kind, hidden, pathlib.Path(folder))
            for batch, steps in [(1, 64), (16, 64), (16, 200)]:
                x = np.random.default_rng(0).standard_normal((batch, steps, hidden), dtype=np.float32)
                runs = prepare(x, np.arange(batch) % 10, threads)
                best = race(runs, time.process_time if threads == 1 else time.perf_counter, 3)
                ratio = best["freestone"] / best["torch"]
                print(f"| {kind} | {batch}x{steps} | {threads} | {best['freestone']:.1f} | {best['torch']:.1f} | {ratio:.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--only", default="", help="part of the name of a model")
    parser.add_argument("--engines", default=",".join(peers.ALL))
    parser.add_argument("--training", action="store_true", help="steps of training, beside PyTorch")
    arguments = parser.parse_args()
    if arguments.training:
        for threads in map(int, arguments.threads.split(",")):
            race_training(arguments.only, threads)
        return
    names = arguments.engines.split(",")
    print("| | size | threads | " + " | ".join(names) + " | of the best peer's |")
    print("|---" * (len(names) + 4) + "|")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        for threads in map(int, arguments.threads.split(",")):
            os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads] if threads == 1 else range(os.cpu_count()))
            for name, (make, sizes) in CASES.items():
                if arguments.only not in name:
                    continue
                onnx.save(make(), path)
                for size, feeds in sizes.items():
                    runs, first = {}, None
                    for engine in names:
                        try:
                            run, results = peers.ALL[engine].prepare(path, feeds, threads)
                        except Exception as error:
                            print(f"{engine} can't run {name}: {str(error).strip().splitlines()[-1]}", file=sys.stderr)
                            continue
                        first = results[0] if first is None else first
                        assert np.allclose(results[0], first, rtol=1e-3, atol=1e-4), f"{engine} disagrees on {name} {size}"
                        runs[engine] = run
                    best = race(runs, time.process_time if threads == 1 else time.perf_counter)
                    others = [value for engine, value in best.items() if engine != "freestone"]
                    ratio = f"{best['freestone'] / min(others):.2f}" if others else ""
                    figures = " | ".join(f"{best[engine]:.3f}" if engine in best else "" for engine in names)
                    print(f"| {name} | {size} | {threads} | {figures} | {ratio} |", flush=True)


if __name__ == "__main__":
    main()
