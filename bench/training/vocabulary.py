"""A training step of the GPT with a large vocabulary beside a small one: vocabulary.py [--vocabulary N] [--batch BxS].

A large vocabulary makes the head larger: its contractions, the passes over the logits, the optimizer's pass over the
table. Their cost is measured as a training step of the head alone, with operands of the same sizes. The rest of the
step should cost as much as with a vocabulary of 128: the embedding reads, and its gradient writes, only the rows of the
batch's characters. The last column is the rest relative to the whole step with 128; with --limit, a larger ratio of
Freestone's fails.

One thread, AdamW, CPU time in turns, the minimum of all rounds. PyTorch is left out if it is not installed.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper

sys.path += [str(pathlib.Path(__file__).resolve().parents[1]), str(pathlib.Path(__file__).resolve().parents[1] / "models")]

import fill
import freestone_runtime
import workloads

SMALL, WIDTH = 128, 384
NUMBERS = {"learning_rate": 1e-3, "clip_norm": np.inf, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "weight_decay": 0.01}


def make_gpt(vocabulary):
    """The exported GPT with another vocabulary size."""
    model = onnx.load(workloads.ROOT / "test" / "models" / "gpt.onnx")
    for tensor in model.graph.initializer:
        if tensor.name == "head.weight":
            tensor.dims[0] = vocabulary
    del model.graph.value_info[:]
    model.graph.output[0].type.tensor_type.shape.dim[2].dim_value = vocabulary
    return model


def make_head(vocabulary):
    """The head's product. A learnt scale of its input makes the step compute the input's gradient as well."""
    nodes = [helper.make_node("Mul", ["x", "norm.weight"], ["scaled"]),
             helper.make_node("Transpose", ["head.weight"], ["columns"], perm=[1, 0]),
             helper.make_node("MatMul", ["scaled", "columns"], ["logits"])]
    info, weights = helper.make_tensor_value_info, []
    for name, shape in (("norm.weight", [WIDTH]), ("head.weight", [vocabulary, WIDTH])):
        weights.append(onnx.TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape))
    graph = helper.make_graph(nodes, "head", [info("x", TensorProto.FLOAT, ["batch", "sequence", WIDTH])],
                              [info("logits", TensorProto.FLOAT, ["batch", "sequence", vocabulary])], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def make_feeds(name, vocabulary, size):
    random = np.random.default_rng(1)
    x = random.standard_normal((*size, WIDTH), np.float32) if name == "x" else random.integers(0, vocabulary, size)
    return {name: x, "y": random.integers(0, vocabulary, size)}


def prepare_freestone(model, feeds, options, folder):
    path, data, artifact = (folder / file for file in ("model.onnx", "data.npz", "step.stone"))
    onnx.save(fill.fill(model, 1), path)
    np.savez(data, **feeds)
    command = [freestone_runtime.freestone(), "train", path, "--labels", "y", "--data", data, "--compile-only", "-o", artifact]
    subprocess.run([*map(str, command), *options], check=True, stderr=subprocess.DEVNULL)
    loaded = freestone_runtime.Model(artifact, 1)
    loaded.bind({**NUMBERS, **feeds})
    return loaded.run_bound


def prepare_torch(make_network, feeds):
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(1)
    network = make_network(torch).train()
    optimizer = torch.optim.AdamW(network.parameters(), 1e-3, weight_decay=0.01, foreach=True)
    x, y = (torch.from_numpy(value) for value in feeds.values())

    def step():
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(network(x).flatten(0, -2), y.flatten()).backward()
        optimizer.step()

    return step


def make_torch_gpt(vocabulary):
    import definitions

    return lambda torch: definitions.Gpt(vocabulary)


def make_torch_head(vocabulary):
    def make(torch):
        class Head(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.scale = torch.nn.Parameter(torch.ones(WIDTH))
                self.head = torch.nn.Linear(WIDTH, vocabulary, bias=False)

            def forward(self, x):
                return self.head(x * self.scale)

        return Head()

    return make


def measure(steps, rounds):
    """The minimum CPU seconds of each step."""
    least = {}
    for step in steps.values():
        step()
    for _ in range(rounds):
        for key, step in steps.items():
            begin = time.process_time()
            step()
            least[key] = min(least.get(key, np.inf), time.process_time() - begin)
    return least


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vocabulary", type=int, default=50257)
    parser.add_argument("--batch", default="8x128", help="samples x characters")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--engines", default="freestone,torch")
    parser.add_argument("--disable", default="", help="optimisations that Freestone leaves out")
    parser.add_argument("--limit", type=float, help="fail when the rest of Freestone's step is more than so many steps with 128")
    arguments = parser.parse_args()
    size = tuple(map(int, arguments.batch.split("x")))
    print(f"| {arguments.batch}, ms | 128 | {arguments.vocabulary} | the head, 128 | the head, {arguments.vocabulary} | rest | of 128 |")
    print("|---|---|---|---|---|---|---|")
    factors = {}
    for engine in arguments.engines.split(","):
        steps = {}
        try:
            for vocabulary in (SMALL, arguments.vocabulary):
                feeds = make_feeds("tokens", vocabulary, size), make_feeds("x", vocabulary, size)
                with tempfile.TemporaryDirectory() as folder:
                    if engine == "freestone":
                        options = ["--disable", arguments.disable] if arguments.disable else []
                        models = make_gpt(vocabulary), make_head(vocabulary)
                        made = [prepare_freestone(*pair, options, pathlib.Path(folder)) for pair in zip(models, feeds)]
                    else:
                        networks = make_torch_gpt(vocabulary), make_torch_head(vocabulary)
                        made = [prepare_torch(*pair) for pair in zip(networks, feeds)]
                steps["gpt", vocabulary], steps["head", vocabulary] = made
        except ImportError as missing:
            print(f"{engine} left out: {missing.name} is not installed", file=sys.stderr)
            continue
        least = measure(steps, arguments.rounds)
        rest = least["gpt", arguments.vocabulary] - least["head", arguments.vocabulary] + least["head", SMALL]
        factors[engine] = rest / least["gpt", SMALL]
        numbers = [least[part, vocabulary] for part in ("gpt", "head") for vocabulary in (SMALL, arguments.vocabulary)]
        print(f"| {engine} | {' | '.join(f'{number * 1e3:.0f}' for number in (*numbers, rest))} | {factors[engine]:.2f} |", flush=True)
    if arguments.limit and factors.get("freestone", 0) > arguments.limit:
        sys.exit(f"the rest of a step with {arguments.vocabulary} is more than {arguments.limit} steps with {SMALL}")


if __name__ == "__main__":
    main()
