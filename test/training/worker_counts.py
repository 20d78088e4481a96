"""The same training by other numbers of workers: worker_counts.py FREESTONE FOLDER.

Two trainings by one number of workers give the same bytes: model, moments, losses and norms. So do trainings by other
numbers, as sizes alone decide how work and sums are cut (the tolerance that docs/training.md names is zero). What is dropped
does not depend on who computes it.
"""

import sys

import numpy as np

from command import Command
from graphs import FLOAT, INT64, constant, draw, fan_in, node, normalization, save

CLASSES, SAMPLES, STEPS = 10, 480, 20


def make_models(folder):
    random = np.random.default_rng(1)
    ratio = constant("ratio", 0.2)

    def save_classifier(name, nodes, sample, weights, type=FLOAT):
        save(folder / f"{name}.onnx", nodes, [("x", type, ["n", *sample])], [("logits", FLOAT, ["n", CLASSES])],
             [*weights, ratio], opset=23, ir_version=10)

    save_classifier(
        "perceptron",
        [node("Gemm", ["x", "w1", "b1"], ["h1"], transB=1), node("Relu", ["h1"], ["r1"]),
         node("Dropout", ["r1", "ratio"], ["d1"]), node("Gemm", ["d1", "w2", "b2"], ["h2"], transB=1),
         node("Gelu", ["h2"], ["r2"]), node("Gemm", ["r2", "w3"], ["logits"], transB=1)], [150],
        draw(random, {"w1": (257, 150), "b1": (257,), "w2": (130, 257), "b2": (130,), "w3": (CLASSES, 130)}, fan_in))
    save_classifier(
        "pictures",
        [node("Conv", ["x", "k1"], ["c1"], pads=[1, 1, 1, 1]),
         node("BatchNormalization", ["c1", "scale", "shift", "mean", "variance"], ["n1"], momentum=0.9),
         node("Relu", ["n1"], ["r1"]), node("MaxPool", ["r1"], ["p1"], kernel_shape=[2, 2], strides=[2, 2]),
         node("Conv", ["p1", "k2", "b2"], ["c2"], pads=[1, 1, 1, 1]), node("Relu", ["c2"], ["r2"]),
         node("Dropout", ["r2", "ratio"], ["d2"]), node("Flatten", ["d2"], ["f"]),
         node("Gemm", ["f", "head"], ["logits"], transB=1)], [2, 14, 14],
        [*draw(random, {"k1": (12, 2, 3, 3)}, fan_in), *normalization(12),
         *draw(random, {"k2": (20, 12, 3, 3), "b2": (20,), "head": (CLASSES, 20 * 7 * 7)}, fan_in)])
    # The gradient of a table adds what many samples have for one row.
    save_classifier(
        "words",
        [node("Gather", ["table", "x"], ["e"]), node("LayerNormalization", ["e", "scale32", "shift32"], ["l"]),
         node("MatMul", ["l", "q"], ["a"]), node("MatMul", ["l", "k"], ["b"]),
         node("Attention", ["a", "b", "l"], ["t"], q_num_heads=2, kv_num_heads=2), node("Add", ["t", "e"], ["r"]),
         node("Dropout", ["r", "ratio"], ["d"]), node("ReduceMean", ["d", "one"], ["m"], keepdims=0),
         node("Gemm", ["m", "head", "b2"], ["logits"], transB=1)], [23],
        [*draw(random, {"table": (40, 32)}, fan_in), constant("scale32", np.ones(32)), constant("shift32", np.zeros(32)),
         *draw(random, {"q": (32, 32), "k": (32, 32), "head": (CLASSES, 32), "b2": (CLASSES,)}, fan_in),
         constant("one", [1], np.int64)], INT64)
    x = random.integers(0, 40, size=(SAMPLES, 23))
    np.savez(folder / "words.npz", x=x, y=(x < 20).sum(1) % CLASSES)
    for name, image in (("perceptron", (150,)), ("pictures", (2, 14, 14))):
        x = random.normal(size=(SAMPLES, *image)).astype(np.float32)
        y = (x.reshape(SAMPLES, -1) @ random.normal(size=(int(np.prod(image)), CLASSES))).argmax(1)
        np.savez(folder / f"{name}.npz", x=x, y=y)


def train(tool, name, run, threads):
    """All that a training leaves: the files of its last checkpoint, its model, and what each step told."""
    # The last batch of an epoch is shorter, and none has a size that vectors divide.
    tool.remove(run)
    tool.train(f"{name}.stone", "--data", f"{name}.npz", "--batch", 167, "--lr", 0.005, "--clip-norm", 0.5, "--seed", 7,
               "--epochs", 100, "--steps", STEPS, "--threads", threads, "--out", run)
    files = {path.name: path.read_bytes() for path in tool.checkpoints(run)[STEPS].glob("*.safetensors")}
    numbers = np.transpose([tool.metrics(run, key) for key in ("loss", "grad_norm")])
    return files | {"model.onnx": tool.model(run)}, numbers


def check(tool, name, *options):
    tool.train(f"{name}.onnx", "--compile-only", "-o", f"{name}.stone", "--data", f"{name}.npz", "--labels", "y", *options)
    files, numbers = train(tool, name, f"{name}-1", 1)
    assert len(files) >= 3 and len(numbers) == STEPS and numbers[-5:, 0].mean() < numbers[:5, 0].mean(), (name, numbers)
    assert (numbers[:, 1] > 0.5).any(), f"{name}: nothing is clipped"
    for run, threads in enumerate((1, 2, 2, 3), 2):
        files_again, numbers_again = train(tool, name, f"{name}-{run}", threads)
        different = [file for file in files if files[file] != files_again.get(file)]
        assert files.keys() == files_again.keys() and not different, (name, threads, different)
        assert np.array_equal(numbers, numbers_again), (name, threads, np.abs(numbers_again / numbers - 1).max(0))


def main():
    tool = Command(*sys.argv[1:])
    make_models(tool.folder)
    check(tool, "perceptron")
    check(tool, "perceptron", "--precision", "fp16")
    check(tool, "pictures")
    check(tool, "pictures", "--precision", "bf16", "--moments", "bf16")
    check(tool, "words", "--optimizer", "lamb")


main()
