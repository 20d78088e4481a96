"""One compiled step serves every number of a training: one_compilation.py FREESTONE FOLDER.

Learning rate, its schedule, momentum, decay, betas, loss scale, groups, batch and sequence are inputs of the step: a training
with others finds the step of the first in the cache, and trains by them. What decides the step's structure compiles another.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def make_language_model(path):
    """tokens [b, s] → embedding, tanh, projection → logits [b, s, 8]."""
    random = np.random.default_rng(2)
    weights = [numpy_helper.from_array(random.normal(scale=0.3, size=shape).astype(np.float32), name)
               for name, shape in (("table", (8, 16)), ("head", (16, 8)))]
    nodes = [
        helper.make_node("Gather", ["table", "tokens"], ["e"]),
        helper.make_node("Tanh", ["e"], ["t"]),
        helper.make_node("MatMul", ["t", "head"], ["logits"]),
    ]
    graph = helper.make_graph(
        nodes, "model", [helper.make_tensor_value_info("tokens", TensorProto.INT64, ["b", "s"])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["b", "s", 8])], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)


class Tool:
    def __init__(self, path, folder):
        self.path, self.folder = path, folder
        self.environment = dict(os.environ, FREESTONE_CACHE_DIR=str(folder / "cache"))

    def train(self, options):
        """Returns whether the step was compiled before, and the losses."""
        out = self.folder / "run"
        shutil.rmtree(out, ignore_errors=True)
        command = [self.path, "train", "model.onnx", "--steps", "6", "--seed", "3", "--threads", "1", "--out", out]
        for name, value in options.items():
            command += [name, *str(value).split()]
        result = subprocess.run(command, cwd=self.folder, env=self.environment, text=True, stderr=subprocess.PIPE)
        assert result.returncode == 0, result.stderr
        losses = [json.loads(line)["loss"] for line in (out / "metrics.jsonl").read_text().splitlines()]
        return "compiled before" in result.stderr, losses

    def count_steps(self):
        """How many whole steps the cache keeps."""
        listed = subprocess.run([self.path, "cache", "list", "--json"], env=self.environment, check=True, capture_output=True)
        return sum(entry["kind"] == "model" for entry in json.loads(listed.stdout))


BASE = {"--data": "tokens=text.npy", "--window": 16, "--batch": 8, "--lr": 0.03}


def check_arrays(tool):
    """Samples of any length, that of as many elements as there are classes among them."""
    text = np.load(tool.folder / "text.npy")
    steps = tool.count_steps()
    for number, length in enumerate((16, 5, 8)):
        rows = text[: 50 * (length + 1)].reshape(50, length + 1)
        np.savez(tool.folder / f"rows{length}.npz", tokens=rows[:, :-1].astype(np.int64), y=rows[:, 1:].astype(np.int64))
        was_kept, _ = tool.train({"--data": f"rows{length}.npz", "--labels": "y", "--batch": 8})
        assert was_kept == (number > 0), f"samples of {length} compiled the step anew"
    assert tool.count_steps() == steps + 1


def check(tool, first, others):
    """Trainings with each of `others` go by the step that the first one compiled, and not as it did."""
    before = tool.count_steps()
    first = BASE | first
    was_kept, first_losses = tool.train(first)
    assert not was_kept and tool.count_steps() == before + 1
    for options in others:
        was_kept, losses = tool.train(first | options)
        assert was_kept, f"{options} compiled the step anew"
        assert losses != first_losses, f"{options} changed nothing"
    assert tool.count_steps() == before + 1, tool.count_steps()


def main():
    folder = pathlib.Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    tool = Tool(sys.argv[1], folder)
    make_language_model(folder / "model.onnx")
    random = np.random.default_rng(3)
    text = np.cumsum(random.integers(0, 3, 4000)) % 8
    np.save(folder / "text.npy", text.astype(np.int32))

    run = [{"--batch": 5}, {"--window": 11}, {"--window": "4:32"}, {"--lr": 0.01}, {"--schedule": "cosine", "--warmup": 2},
           {"--clip-norm": 0.1}, {"--weight-decay": 0.3}]
    check(tool, {"--optimizer": "sgd", "--momentum": 0.9}, run + [{"--momentum": 0.5}, {"--dampening": 0.2}])
    check(tool, {"--optimizer": "adamw", "--group": "head:lr=0.01"}, run + [
        {"--betas": "0.5 0.9"}, {"--eps": 0.1}, {"--group": "head:lr=0.02"}])
    # Where the scale begins too high, its schedule decides which step is the first that counts.
    check(tool, {"--precision": "fp16", "--optimizer": "sgd", "--init-scale": 2.0**30}, [
        {"--backoff-factor": 2.0**-20}, {"--init-scale": 1024}])

    check_arrays(tool)

    plain = BASE | {"--optimizer": "sgd"}
    was_kept, losses = tool.train(plain)
    assert not was_kept, "a momentum is a state: without one the step is another"
    assert tool.train(plain | {"--momentum": 0}) == (True, losses)


main()
