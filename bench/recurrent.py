"""Recurrent layers, loops and decoders beside ONNX Runtime and OpenVINO: recurrent.py [--training] [--threads 1,2]
[--only PART] [--most-over PERCENT].

Sizes of batch and sequence are symbols, bound by each run. All engines run in one process in turns (`turns.py`); the figure
is the least of all runs. Results are compared first. A peer that can't load a model has no figure (OpenVINO: loops whose
carried values grow). The limit is what products and the reading of weights take
at the rates that are measured in the same run (`limits.py`). Of the network that leaves out blocks a last line tells how
far times are above the part of the whole that is executed; with --most-over, it fails where one is further.

With --training, whole steps with AdamW, two layers, and a linear one for 10 classes on the mean over all steps, beside
PyTorch, as it is and by torch.compile with its own settings (which leaves recurrent layers to PyTorch); at a learning rate
of 0, since gradients of what has been learnt are denormal numbers, which slow down every engine.
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
import limits
import loops
import peers
from turns import fastest

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
    nodes, weights, value = [], {"zero": np.float32(0)}, "x"
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


BLOCKS, ROWS = 20, 64
SHARES = (0, 25, 50, 75, 100)


def case_of_layers(kind, count, sizes):
    """Sizes are those of batch and sequence."""
    feeds = {f"{batch}x{steps}": sequence(steps, batch, 256) for batch, steps in sizes}
    return lambda: layers(kind, 256, count), feeds, lambda x: limits.of_layers(GATES[kind], 256, count, *x["x"].shape[:2])


def case_of_decoder(beams):
    feeds = {f"{words} words": encoded(words) for words in (16, 64, 256)}
    return lambda: decoders.decoder(beams), feeds, lambda given: limits.of_decoder(beams, int(given["most"]), given["memory"].shape[1])


# Name → what makes the model, inputs by the names of sizes, and the parts of its limit with such inputs.
CASES = {
    "LSTM 2x256": case_of_layers("LSTM", 2, [(1, 64), (16, 64), (1, 200)]),
    "LSTM 10x256": case_of_layers("LSTM", 10, [(1, 100)]),
    "GRU 2x256": case_of_layers("GRU", 2, [(1, 64), (16, 64)]),
    "RNN 2x256": case_of_layers("RNN", 2, [(1, 64)]),
    "NASRNN 256": (
        lambda: loops.nas_cell(256),
        {"1x1000": sequence(1000, 1, 256), "16x200": sequence(200, 16, 256)},
        lambda x: limits.of_cell(8, 256, *x["x"].shape[:2]),
    ),
    "recursive autoencoder 256": (
        lambda: loops.tree_encoder(256),
        {"127 nodes": loops.balanced_tree(64, 256)},
        lambda tree: limits.of_tree(256, len(tree["children"])),
    ),
    "greedy decoder": case_of_decoder(1),
    "beam search, 4 beams": case_of_decoder(4),
    "20 blocks, executed": (
        lambda: skipping(BLOCKS, 256),
        {f"{share} %": executed(share / 100, BLOCKS, ROWS, 256) for share in SHARES},
        lambda given: limits.of_blocks(int((given["gates"] > 0).sum()), len(given["x"]), 256),
    ),
}


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

        def train(loss, update):
            optimizer.zero_grad(set_to_none=True)
            loss(given, wanted).backward()
            update()

        def get_loss(given, wanted):
            return torch.nn.functional.cross_entropy(module(given), wanted)

        compiled = torch.compile(get_loss), torch.compile(optimizer.step)
        for _ in range(3):
            train(*compiled)
        return {"freestone": step.run_bound, "torch": lambda: train(get_loss, optimizer.step), "torch.compile": lambda: train(*compiled)}

    return prepare


def race_training(only, threads, hidden=256):
    print("| | size | threads | freestone | torch | torch.compile | of the better one's | limit | over the limit |" + "\n" + "|---" * 9 + "|")
    for kind in ("LSTM", "GRU"):
        if only not in kind:
            continue
        with tempfile.TemporaryDirectory() as folder:
            prepare = prepare_steps(kind, hidden, pathlib.Path(folder))
            for batch, steps in [(1, 64), (16, 64), (16, 200)]:
                x = np.random.default_rng(0).standard_normal((batch, steps, hidden), dtype=np.float32)
                runs = prepare(x, np.arange(batch) % 10, threads)
                best = fastest(runs, 5, threads)
                own, others = best["freestone"], (best["torch"], best["torch.compile"])
                limit = limits.get_limit(limits.of_training(GATES[kind], hidden, 2, steps, batch), threads)
                print(f"| {kind} | {batch}x{steps} | {threads} | {own:.1f} | {others[0]:.1f} | {others[1]:.1f} | {own / min(others):.2f} "
                      f"| {limit:.2f} | {own / limit:.2f} |", flush=True)


def race_shares(threads, seconds=4):
    """Milliseconds of Freestone with each share of the blocks executed, by one program, in turns."""
    with tempfile.TemporaryDirectory() as folder:
        model, artifact = pathlib.Path(folder) / "model.onnx", pathlib.Path(folder) / "model.stone"
        onnx.save(skipping(BLOCKS, 256), model)
        freestone_runtime.compile_model(model, artifact)
        program = freestone_runtime.Model(artifact, threads)
    clock = time.process_time if threads == 1 else time.perf_counter
    best = dict.fromkeys(SHARES, float("inf"))
    end = time.time() + seconds
    while time.time() < end:
        for share in SHARES:
            program.bind(executed(share / 100, BLOCKS, ROWS, 256))
            program.run_bound()
            for _ in range(5):
                begin = clock()
                program.run_bound()
                best[share] = min(best[share], (clock() - begin) * 1e3)
    program.close()
    return best


def tell_distance(threads):
    """How far times are above the executed part of the time of all blocks, in percent of that part; without any block, of
    the time of all. Returns the greatest one."""
    best = race_shares(threads)
    over = {share: 100 * (best[share] / (best[100] * share / 100 if share else best[100]) - bool(share)) for share in SHARES[:-1]}
    parts = ", ".join(f"{share} % {percent:+.1f} %" for share, percent in over.items())
    print(f"\n{BLOCKS} blocks on {threads} threads, above the work that is executed: {parts} (all: {best[100]:.3f} ms)\n", flush=True)
    return max(over.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--only", default="", help="part of the name of a model")
    parser.add_argument("--engines", default=",".join(peers.ALL))
    parser.add_argument("--most-over", type=float, help="fail where blocks take more percent above the work that is executed")
    parser.add_argument("--training", action="store_true", help="steps of training, beside PyTorch")
    arguments = parser.parse_args()
    if arguments.training:
        for threads in map(int, arguments.threads.split(",")):
            race_training(arguments.only, threads)
        return
    names = arguments.engines.split(",")
    heading = "| | size | threads | " + " | ".join(names) + " | of the best peer's | limit | over the limit |\n" + "|---" * (len(names) + 6) + "|"
    print(heading)
    distances = []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        for threads in map(int, arguments.threads.split(",")):
            os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads] if threads == 1 else range(os.cpu_count()))
            for name, (make, sizes, get_parts) in CASES.items():
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
                    best = fastest(runs, 2.5, threads)
                    others = [value for engine, value in best.items() if engine != "freestone"]
                    ratio = f"{best['freestone'] / min(others):.2f}" if others else ""
                    figures = " | ".join(f"{best[engine]:.3f}" if engine in best else "" for engine in names)
                    limit = limits.get_limit(get_parts(feeds), threads)
                    over = f"{best['freestone'] / limit:.2f}" if limit and "freestone" in best else ""
                    print(f"| {name} | {size} | {threads} | {figures} | {ratio} | {limit:.3f} | {over} |", flush=True)
                if "blocks" in name and "freestone" in names:
                    distances.append(tell_distance(threads))
    if arguments.most_over is not None and max(distances, default=0) > arguments.most_over:
        sys.exit(f"{max(distances):.1f} % above the work that is executed, more than {arguments.most_over} %")


if __name__ == "__main__":
    main()
