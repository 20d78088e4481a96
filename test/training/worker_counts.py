"""The same training by other numbers of workers: worker_counts.py FREESTONE FOLDER.

Two trainings by one number of workers give the same bytes: model, moments, losses and norms. So do trainings by other numbers,
as sizes alone decide how work and sums are cut (the tolerance that docs/training.md names is zero). What is dropped does not
depend on who computes it.
"""

import json
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

CLASSES, SAMPLES, STEPS = 10, 480, 20


def save(path, nodes, sample, weights, type=TensorProto.FLOAT):
    graph = helper.make_graph(nodes, "model", [helper.make_tensor_value_info("x", type, ["n", *sample])],
                              [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", CLASSES])], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10), path)


def make_models(folder):
    random = np.random.default_rng(1)

    def weight(name, *shape):
        scale = 1 / np.sqrt(np.prod(shape[1:]) if len(shape) > 1 else 10)
        return numpy_helper.from_array(random.normal(scale=scale, size=shape).astype(np.float32), name)

    def vector(name, value, size):
        return numpy_helper.from_array(np.full(size, value, np.float32), name)

    node = helper.make_node
    ratio = numpy_helper.from_array(np.float32(0.2), "ratio")
    save(folder / "perceptron.onnx",
         [node("Gemm", ["x", "w1", "b1"], ["h1"], transB=1), node("Relu", ["h1"], ["r1"]),
          node("Dropout", ["r1", "ratio"], ["d1"]), node("Gemm", ["d1", "w2", "b2"], ["h2"], transB=1),
          node("Gelu", ["h2"], ["r2"]), node("Gemm", ["r2", "w3"], ["logits"], transB=1)], [150],
         [weight("w1", 257, 150), weight("b1", 257), weight("w2", 130, 257), weight("b2", 130), weight("w3", CLASSES, 130), ratio])
    save(folder / "pictures.onnx",
         [node("Conv", ["x", "k1"], ["c1"], pads=[1, 1, 1, 1]),
          node("BatchNormalization", ["c1", "scale", "shift", "mean", "variance"], ["n1"], momentum=0.9),
          node("Relu", ["n1"], ["r1"]), node("MaxPool", ["r1"], ["p1"], kernel_shape=[2, 2], strides=[2, 2]),
          node("Conv", ["p1", "k2", "b2"], ["c2"], pads=[1, 1, 1, 1]), node("Relu", ["c2"], ["r2"]),
          node("Dropout", ["r2", "ratio"], ["d2"]), node("Flatten", ["d2"], ["f"]),
          node("Gemm", ["f", "head"], ["logits"], transB=1)], [2, 14, 14],
         [weight("k1", 12, 2, 3, 3), vector("scale", 1, 12), vector("shift", 0, 12), vector("mean", 0, 12),
          vector("variance", 1, 12), weight("k2", 20, 12, 3, 3), weight("b2", 20), weight("head", CLASSES, 20 * 7 * 7), ratio])
    # The gradient of a table adds what many samples have for one row.
    save(folder / "words.onnx",
         [node("Gather", ["table", "x"], ["e"]), node("LayerNormalization", ["e", "scale32", "shift32"], ["l"]),
          node("MatMul", ["l", "q"], ["a"]), node("MatMul", ["l", "k"], ["b"]),
          node("Attention", ["a", "b", "l"], ["t"], q_num_heads=2, kv_num_heads=2), node("Add", ["t", "e"], ["r"]),
          node("Dropout", ["r", "ratio"], ["d"]), node("ReduceMean", ["d", "one"], ["m"], keepdims=0),
          node("Gemm", ["m", "head", "b2"], ["logits"], transB=1)], [23],
         [weight("table", 40, 32), vector("scale32", 1, 32), vector("shift32", 0, 32), weight("q", 32, 32), weight("k", 32, 32),
          weight("head", CLASSES, 32), weight("b2", CLASSES), ratio, numpy_helper.from_array(np.array([1]), "one")],
         TensorProto.INT64)
    x = random.integers(0, 40, size=(SAMPLES, 23))
    np.savez(folder / "words.npz", x=x, y=(x < 20).sum(1) % CLASSES)
    for name, image in (("perceptron", (150,)), ("pictures", (2, 14, 14))):
        x = random.normal(size=(SAMPLES, *image)).astype(np.float32)
        y = (x.reshape(SAMPLES, -1) @ random.normal(size=(int(np.prod(image)), CLASSES))).argmax(1)
        np.savez(folder / f"{name}.npz", x=x, y=y)


class Tool:
    def __init__(self, path, folder):
        self.path, self.folder = path, folder

    def call(self, *words):
        result = subprocess.run([self.path, "train", *map(str, words)], cwd=self.folder, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr

    def train(self, name, run, threads):
        """All that a training leaves: the files of its last checkpoint, its model, and what each step told."""
        # The last batch of an epoch is shorter, and none has a size that vectors divide.
        shutil.rmtree(self.folder / run, ignore_errors=True)
        self.call(f"{name}.stone", "--data", f"{name}.npz", "--batch", 167, "--lr", 0.005, "--clip-norm", 0.5, "--seed", 7,
                  "--epochs", 100, "--steps", STEPS, "--threads", threads, "--out", run)
        files = [self.folder / run / "model.onnx", *(self.folder / run / "checkpoints" / f"step-{STEPS:06}").glob("*.safetensors")]
        steps = [json.loads(line) for line in (self.folder / run / "metrics.jsonl").read_text().splitlines()]
        numbers = np.array([[step["loss"], step["grad_norm"]] for step in steps])
        return {path.name: path.read_bytes() for path in files}, numbers


def check(tool, name, *options):
    tool.call(f"{name}.onnx", "--compile-only", "-o", f"{name}.stone", "--data", f"{name}.npz", "--labels", "y", *options)
    files, numbers = tool.train(name, f"{name}-1", 1)
    assert len(files) >= 3 and len(numbers) == STEPS and numbers[-5:, 0].mean() < numbers[:5, 0].mean(), (name, numbers)
    assert (numbers[:, 1] > 0.5).any(), f"{name}: nothing is clipped"
    for run, threads in enumerate((1, 2, 2, 3), 2):
        files_again, numbers_again = tool.train(name, f"{name}-{run}", threads)
        different = [file for file in files if files[file] != files_again.get(file)]
        assert files.keys() == files_again.keys() and not different, (name, threads, different)
        assert np.array_equal(numbers, numbers_again), (name, threads, np.abs(numbers_again / numbers - 1).max(0))


def main():
    folder = pathlib.Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    make_models(folder)
    tool = Tool(sys.argv[1], folder)
    check(tool, "perceptron")
    check(tool, "perceptron", "--precision", "fp16")
    check(tool, "pictures")
    check(tool, "pictures", "--precision", "bf16", "--moments", "bf16")
    check(tool, "words", "--optimizer", "lamb")


main()
