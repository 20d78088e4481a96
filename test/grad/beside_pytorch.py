"""Losses and optimizers beside those of PyTorch: beside_pytorch.py FREESTONE FOLDER. Skipped (77) where PyTorch is not installed.

A small network is trained with each of them on the same batches by the command and by PyTorch, in double precision; losses of
all steps and the weights in the end are the same. LAMB and Lion, which PyTorch does not have, are held in OptimizerTest.cpp.
"""

import json
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    sys.exit(77)

FEATURES, HIDDEN, CLASSES, SAMPLES, BATCH, EPOCHS = 7, 11, 5, 60, 20, 4
random = np.random.default_rng(1)
START = {name: random.normal(scale=0.5, size=shape).astype(np.float32) for name, shape in
         (("w1", (FEATURES, HIDDEN)), ("b1", HIDDEN), ("w2", (HIDDEN, CLASSES)), ("b2", CLASSES))}
X = random.normal(size=(SAMPLES, FEATURES)).astype(np.float32)
LABELS = random.integers(0, CLASSES, SAMPLES)
IMPORTANCE = np.array([1, 2, 0.5, 0.1, 3], np.float32)
TARGETS = {
    "labels": LABELS,
    "ignored": np.where(np.arange(SAMPLES) % 4 == 1, -100, LABELS),
    "sevens": np.where(np.arange(SAMPLES) % 3 == 1, 7, LABELS),
    "bits": random.integers(0, 2, (SAMPLES, CLASSES)).astype(np.float32),
    "numbers": random.normal(scale=2, size=(SAMPLES, CLASSES)).astype(np.float32),
}


def make_model(path, logarithms):
    nodes = [helper.make_node("Gemm", ["x", "w1", "b1"], ["h"]), helper.make_node("Tanh", ["h"], ["t"]),
             helper.make_node("Gemm", ["t", "w2", "b2"], ["scores" if logarithms else "y"])]
    if logarithms:
        nodes.append(helper.make_node("LogSoftmax", ["scores"], ["y"], axis=1))
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "model", [info("x", TensorProto.FLOAT, ["n", FEATURES])],
                              [info("y", TensorProto.FLOAT, ["n", CLASSES])],
                              [numpy_helper.from_array(value, name) for name, value in START.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)


def train_here(tool, folder, model, target, options):
    shutil.rmtree(folder / "run", ignore_errors=True)
    command = [tool, "train", model, "--data", "data.npz", "--labels", target, "--batch", BATCH, "--epochs", EPOCHS, "--no-shuffle",
               "--threads", 2, "--out", "run", *options]
    result = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True)
    assert result.returncode == 0, (options, result.stderr)
    losses = [json.loads(line)["loss"] for line in (folder / "run/metrics.jsonl").read_text().splitlines()]
    return np.array(losses), {t.name: numpy_helper.to_array(t) for t in onnx.load(folder / "run/model.onnx").graph.initializer}


def train_there(loss, logarithms, target, make_optimizer, clip):
    weights = {name: torch.tensor(value.astype(np.float64), requires_grad=True) for name, value in START.items()}
    optimizer, losses = make_optimizer(list(weights.values())), []
    wanted = TARGETS[target].astype(np.float64) if TARGETS[target].dtype == np.float32 else TARGETS[target]
    for step in range(EPOCHS * SAMPLES // BATCH):
        part = slice(step * BATCH % SAMPLES, step * BATCH % SAMPLES + BATCH)
        y = torch.tanh(torch.tensor(np.float64(X[part])) @ weights["w1"] + weights["b1"]) @ weights["w2"] + weights["b2"]
        value = loss(y.log_softmax(1) if logarithms else y, torch.tensor(wanted[part]))
        optimizer.zero_grad()
        value.backward()
        if clip:
            torch.nn.utils.clip_grad_norm_(list(weights.values()), clip)
        optimizer.step()
        losses.append(value.item())
    return np.array(losses), {name: value.detach().numpy() for name, value in weights.items()}


def losses():
    """Name → arguments, the array of targets, PyTorch's; nll takes logarithms."""
    importance = torch.tensor(np.float64(IMPORTANCE))
    entropy = F.cross_entropy
    weighing = ["--class-weights", "importance.npy"]
    return {
        "softmax-cross-entropy": ([], "labels", entropy),
        "softmax-cross-entropy, ignoring": ([], "ignored", entropy),
        "softmax-cross-entropy, ignoring another": (["--ignore-index", 7], "sevens", lambda y, t: entropy(y, t, ignore_index=7)),
        "softmax-cross-entropy, smoothed": (["--label-smoothing", 0.2], "ignored", lambda y, t: entropy(y, t, label_smoothing=0.2)),
        "softmax-cross-entropy, weighing": (weighing, "ignored", lambda y, t: entropy(y, t, importance)),
        "softmax-cross-entropy, both": (["--label-smoothing", 0.1, *weighing], "ignored",
                                        lambda y, t: entropy(y, t, importance, label_smoothing=0.1)),
        "nll": ([], "ignored", F.nll_loss),
        "nll, weighing": (weighing, "labels", lambda y, t: F.nll_loss(y, t, importance)),
        "sigmoid-cross-entropy": ([], "bits", F.binary_cross_entropy_with_logits),
        "mse": ([], "numbers", F.mse_loss),
        "l1": ([], "numbers", F.l1_loss),
        "huber": ([], "numbers", F.huber_loss),
        "huber, wide": (["--delta", 2.5], "numbers", lambda y, t: F.huber_loss(y, t, delta=2.5)),
        "cosine": ([], "numbers", lambda y, t: F.cosine_embedding_loss(y, t, torch.ones(len(y)))),
    }


def optimizers():
    """Arguments, and PyTorch's; without numbers where the defaults are meant."""
    o = torch.optim
    yield "sgd --lr 0.1", lambda p: o.SGD(p, 0.1)
    yield "sgd --lr 0.1 --momentum 0.9 --dampening 0.3 --weight-decay 0.1", lambda p: o.SGD(p, 0.1, 0.9, 0.3, 0.1)
    yield "sgd --lr 0.1 --momentum 0.8 --nesterov", lambda p: o.SGD(p, 0.1, 0.8, nesterov=True)
    yield "adam", o.Adam
    yield "adam --lr 0.02 --betas 0.8 0.95 --eps 1e-3 --weight-decay 0.1", lambda p: o.Adam(p, 0.02, (0.8, 0.95), 1e-3, 0.1)
    yield "adam --lr 0.02 --betas 0.9 0.5 --amsgrad", lambda p: o.Adam(p, 0.02, (0.9, 0.5), amsgrad=True)
    yield "amsgrad --lr 0.02", lambda p: o.Adam(p, 0.02, amsgrad=True)
    yield "adamw", o.AdamW
    yield "adamw --lr 0.02 --weight-decay 0.3 --amsgrad", lambda p: o.AdamW(p, 0.02, weight_decay=0.3, amsgrad=True)
    yield "adagrad", o.Adagrad
    yield ("adagrad --lr 0.1 --lr-decay 0.2 --weight-decay 0.1 --initial-accumulator-value 0.5",
           lambda p: o.Adagrad(p, 0.1, 0.2, 0.1, 0.5))
    yield "rmsprop", o.RMSprop
    yield ("rmsprop --lr 0.003 --alpha 0.8 --eps 1e-4 --weight-decay 0.1 --momentum 0.9 --centered",
           lambda p: o.RMSprop(p, 0.003, 0.8, 1e-4, 0.1, 0.9, True))


def compare(what, here, there):
    np.testing.assert_allclose(here[0], there[0], rtol=2e-5, err_msg=what)
    for name, value in there[1].items():
        # With tiny gradients, rounding decides the direction of an adaptive step.
        moved = np.abs(value - START[name]).max()
        assert moved > 0 and np.abs(here[1][name] - value).max() <= 1e-3 * moved, (what, name, np.abs(here[1][name] - value).max(), moved)


def main():
    tool, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    np.savez(folder / "data.npz", x=X, **TARGETS)
    np.save(folder / "importance.npy", IMPORTANCE)
    make_model(folder / "scores.onnx", False)
    make_model(folder / "logarithms.onnx", True)
    for name, (options, target, reference) in losses().items():
        kind = name.split(",")[0]
        model = "logarithms.onnx" if kind == "nll" else "scores.onnx"
        here = train_here(tool, folder, model, target, ["--loss", kind, *options, "--optimizer", "sgd", "--lr", 0.1])
        compare(name, here, train_there(reference, kind == "nll", target, lambda p: torch.optim.SGD(p, 0.1), None))
    for text, make_optimizer in optimizers():
        for clip in (None, 0.3):
            words = ["--optimizer", *text.split(), *(["--clip-norm", clip] if clip else [])]
            here = train_here(tool, folder, "scores.onnx", "labels", words)
            compare(f"{text}, clip {clip}", here, train_there(F.cross_entropy, False, "labels", make_optimizer, clip))
    print(f"{len(losses())} losses and {len(list(optimizers()))} optimizers, with and without clipping, are as PyTorch's")


main()
