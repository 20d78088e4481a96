"""Faults of options and data are found before a step is compiled: faults.py FREESTONE FOLDER.

Each refusal names what is wrong and what there is instead, and leaves nothing in a cache of its own. A training of which
every step was skipped is no success.
"""

import os
import sys

import numpy as np

from command import Command
from graphs import FLOAT, draw, node, save

FIT = ["--batch", 8, "--threads", 1]
LABELS = ["--labels", "y"]


def make_models(folder):
    """x f32[n, 6] → logits f32[n, 3], for batches of any size; and of 8 samples only."""
    for name, samples in (("free", "n"), ("fixed", 8)):
        save(folder / f"{name}.onnx", [node("Gemm", ["x", "weight", "bias"], ["logits"])],
             [("x", FLOAT, [samples, 6])], [("logits", FLOAT, [samples, 3])], draw(1, {"weight": (6, 3), "bias": (3,)}))


def make_data(folder):
    random = np.random.default_rng(3)
    x, y = random.normal(size=(20, 6)).astype(np.float32), random.integers(0, 3, 20)
    wrong = y.copy()
    wrong[17] = 3
    for name, arrays in {"good": {"x": x, "y": y}, "unlabelled": {"x": x, "labels": y}, "double": {"x": x.astype(float), "y": y},
                         "short": {"x": x, "y": y[:19]}, "wide": {"x": x[:, :5], "y": y}, "wrong": {"x": x, "y": wrong},
                         "none": {"x": x[:0], "y": y[:0]}, "infinite": {"x": np.full_like(x, np.inf), "y": y}}.items():
        np.savez(folder / f"{name}.npz", **arrays)
    (folder / "text.npz").write_text("no archive")
    (folder / "text.npy").write_text("no array")
    (folder / "text.safetensors").write_text("no tensors")
    (folder / "file").touch()


def check_data(tool, refuse):
    for parts, options in [
            (["--labels y", "labels: 20xi64"], ["unlabelled.npz"]),
                        (["'x'", "f64", "f32", "convert"], ["double.npz"]),
            (["'y'", "19 samples", "20"], ["short.npz"]),
            (["'x'", "20x5xf32", "[n, 6]"], ["wide.npz"]),
            (["'y'", "sample 17", "3 is out of range", "0 to 2"], ["wrong.npz"]),
            (["'x' is empty"], ["none.npz"]),
            (["--data", "'none/x.npz'"], ["none/x.npz"]),
            (["--data", "'.'", "regular file"], ["."]),
            (["--data", "text.npz"], ["text.npz"]), (["--data", "text.npy"], ["text.npy"]),
            (["--data", "text.safetensors"], ["text.safetensors"]),
            (["--data: file", ".npz, .npy or .safetensors"], ["file"]),
            (["'y'", "labels: 20xi64"], ["good.npz", "--eval-data", "unlabelled.npz"]),
            (["'y'", "sample 17"], ["good.npz", "--eval-data", "wrong.npz"]),
            (["one array of tokens"], ["good.npz", "--window", 4])]:
        refuse(parts, "free.onnx", *FIT, *LABELS, "--data", *options)
    refuse(["--labels label", "did you mean 'labels'"], "free.onnx", *FIT, "--labels", "label", "--data", "unlabelled.npz")
    refuse(["'x'", "8 samples", "20 samples"], "fixed.onnx", *FIT, *LABELS, "--data", "good.npz")
    refuse(["'x'", "batch size is 4"], "fixed.onnx", "--labels", "y", "--data", "good.npz", "--batch", 4)


def check_options(tool, refuse):
    for parts, options in [
            (["'weight_decya'", "did you mean 'weight_decay'"], ["--number", "weight_decya=0.5"]),
            (["'momentum'", "beta1"], ["--momentum", 0.9]),
            (["'bais'", "no float weight", "'bias'"], ["--freeze", "bais"]),
            (["'weigth'", "'weight'"], ["--group", "weigth:lr=0.1"]),
            (["--group eps=nan", "a number from 0 on"], ["--group", "weight:eps=nan"]),
            (["'logit'", "'logits'"], ["--logits", "logit"]),
            (["no parameter"], ["--freeze", "*"]),
            (["--resume none", "no folder"], ["--resume", "none"]),
            (["--resume .", "no complete checkpoint"], ["--resume", "."]),
            (["--out file/run", "is no folder"], ["--out", "file/run"]),
            (["--out file", "is no folder"], ["--out", "file"]),
            (["--output"], ["--compile-only", "-o", "none/step.stone"]),
            (["'n0'", "n"], ["--dim", "n0=1:2"])]:
        refuse(parts, "free.onnx", *FIT, *LABELS, "--data", "good.npz", *options)
    if os.geteuid() != 0:  # root may write everywhere
        (tool.folder / "sealed").mkdir(mode=0o500)
        refuse(["--out sealed/run", "can't be written"], "free.onnx", *FIT, *LABELS, "--data", "good.npz", "--out",
               "sealed/run")


def check_skipped(tool):
    """Not a number of the metrics is finite, and nothing was trained."""
    tool.refuse(["nothing was trained: all 3 steps were skipped", "step 1"], "free.onnx", *FIT, *LABELS, "--data",
                "infinite.npz", codes=[1])
    assert all(tool.metrics("run", "skipped")), tool.metrics("run", "skipped")
    assert not (tool.folder / "run" / "model.onnx").exists()


def main():
    tool = Command(*sys.argv[1:])
    tool.environment["FREESTONE_CACHE_DIR"] = str(tool.folder / "cache")

    def refuse(parts, *words):
        tool.refuse(parts, *words)
        assert not tool.run("cache", "list").stdout, ("something was compiled", words)
        assert not (tool.folder / "run").exists(), ("a training has begun", words)

    make_models(tool.folder)
    make_data(tool.folder)
    check_data(tool, refuse)
    check_options(tool, refuse)
    check_skipped(tool)


main()
