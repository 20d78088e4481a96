"""Parameters in panels train as row-major ones do, bit by bit: layouts.py FREESTONE FOLDER.

A training, its checkpoints and its model are the same with and without `--disable=state-layouts`; a checkpoint of one goes on in
the other; widths that fill no panels, and tables that are gathered from as well, are among them. Where the order of elements matters,
they agree but for rounding.
"""

import json
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FEATURES, HIDDEN, CLASSES, SAMPLES, WORDS = 24, 96, 5, 200, 64


def make_models(folder):
    random = np.random.default_rng(1)

    def weight(name, *shape):
        return numpy_helper.from_array(random.normal(scale=0.1, size=shape).astype(np.float32), name)

    def save(name, nodes, inputs, outputs, initializers):
        value = helper.make_tensor_value_info
        graph = helper.make_graph(nodes, name, [value(*i) for i in inputs], [value(*o) for o in outputs], initializers)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), folder / f"{name}.onnx")

    # Columns are the second dimension of w1, the first of w2 and w3; those of w3 fill no panel.
    save("layers",
         [helper.make_node("MatMul", ["x", "w1"], ["h"]), helper.make_node("Add", ["h", "b1"], ["a"]), helper.make_node("Relu", ["a"], ["r"]),
          helper.make_node("Gemm", ["r", "w2", "b2"], ["i"], transB=1), helper.make_node("Tanh", ["i"], ["t"]),
          helper.make_node("Gemm", ["t", "w3", "b3"], ["logits"], transB=1)],
         [("x", TensorProto.FLOAT, ["n", FEATURES])], [("logits", TensorProto.FLOAT, ["n", CLASSES])],
         [weight("w1", FEATURES, HIDDEN), weight("b1", HIDDEN), weight("w2", 64, HIDDEN), weight("b2", 64), weight("w3", CLASSES, 64),
          weight("b3", CLASSES)])
    # A table that the logits are made with, too.
    save("tied",
         [helper.make_node("Gather", ["table", "x"], ["e"]), helper.make_node("MatMul", ["e", "w"], ["h"]), helper.make_node("Tanh", ["h"], ["t"]),
          helper.make_node("Transpose", ["table"], ["tt"], perm=[1, 0]), helper.make_node("MatMul", ["t", "tt"], ["logits"])],
         [("x", TensorProto.INT64, ["n"])], [("logits", TensorProto.FLOAT, ["n", WORDS])], [weight("table", WORDS, 32), weight("w", 32, 32)])
    np.savez(folder / "layers.npz", x=random.normal(size=(SAMPLES, FEATURES)).astype(np.float32),
             y=random.integers(0, CLASSES, SAMPLES))
    np.savez(folder / "tied.npz", x=random.integers(0, WORDS, SAMPLES), y=random.integers(0, WORDS, SAMPLES))


class Trainings:
    def __init__(self, freestone, folder):
        self.freestone, self.folder = freestone, folder

    def train(self, model, run, *options):
        command = [self.freestone, "train", f"{model}.onnx", "--data", f"{model}.npz", "--labels", "y", "--out", run, "--batch", 40,
                   "--threads", 2, *options]
        done = subprocess.run([str(word) for word in command], cwd=self.folder, capture_output=True, text=True)
        assert done.returncode == 0, (command, done.stderr)

    def checkpoint(self, run):
        """The step of the newest checkpoint, and its tensors: name → (type, shape, bytes)."""
        tensors = {}
        newest = max((self.folder / run / "checkpoints").iterdir())
        for path in newest.glob("*.safetensors"):
            content = path.read_bytes()
            length = int.from_bytes(content[:8], "little")
            for name, about in json.loads(content[8:8 + length]).items():
                if name != "__metadata__":
                    begin, end = about["data_offsets"]
                    tensors[name] = (about["dtype"], tuple(about["shape"]), content[8 + length + begin:8 + length + end])
        assert tensors
        return newest.name, tensors

    def weights(self, run):
        return {t.name: numpy_helper.to_array(t) for t in onnx.load(self.folder / run / "model.onnx").graph.initializer}

    def losses(self, run):
        return [json.loads(line)["loss"] for line in (self.folder / run / "metrics.jsonl").read_text().splitlines()]


def main():
    folder = pathlib.Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    make_models(folder)
    trainings, off = Trainings(sys.argv[1], folder), ["--disable", "state-layouts"]

    cases = {"adamw": ["--optimizer", "adamw"], "sgd": ["--optimizer", "sgd", "--momentum", 0.9], "adagrad": ["--optimizer", "adagrad"],
             "batches": ["--accumulate", 2]}
    for model in ("layers", "tied"):
        for name, options in cases.items():
            run = f"{model}-{name}"
            trainings.train(model, run, "--epochs", 2, *options)
            trainings.train(model, f"{run}-rows", "--epochs", 2, *options, *off)
            assert trainings.checkpoint(run) == trainings.checkpoint(f"{run}-rows"), run
            ours, rows = trainings.weights(run), trainings.weights(f"{run}-rows")
            assert all(np.array_equal(ours[key], rows[key]) for key in rows), run
            start = {t.name: numpy_helper.to_array(t) for t in onnx.load(folder / f"{model}.onnx").graph.initializer}
            assert all(ours[key].shape == start[key].shape and not np.array_equal(ours[key], start[key]) for key in start), run

    # On in the layout that it was not begun in: the same bits as a training that never stopped.
    for first, second in ((), off), (off, ()), ((), ()):
        run = f"resumed-{len(first)}-{len(second)}"
        trainings.train("layers", run, "--epochs", 1, *first)
        trainings.train("layers", run, "--epochs", 2, "--resume", run, *second)
        trainings.train("layers", f"{run}-whole", "--epochs", 2)
        assert trainings.checkpoint(run) == trainings.checkpoint(f"{run}-whole"), run

    # What depends on the order of elements: a norm, and the noise that moments in bf16 are rounded with.
    for name, tolerance, options in ("clipped", 1e-6, ["--clip-norm", 0.1]), ("moments", 1e-3, ["--moments", "bf16"]):
        trainings.train("layers", name, "--epochs", 2, *options)
        trainings.train("layers", f"{name}-rows", "--epochs", 2, *options, *off)
        assert np.allclose(trainings.losses(name), trainings.losses(f"{name}-rows"), rtol=tolerance), name
    print("ok")


if __name__ == "__main__":
    main()
