"""What is compiled already trains without a compiler: no_compiler.py FREESTONE FOLDER.

The loader of the system tells which libraries a process opens. From a compiled step, and from one in the cache, none is of
the compiler or of LLVM: not for the training, its evaluations, resuming and export. Only for `model.stone`, after the last
step of an ONNX model, the compiler is opened.
"""

import pathlib
import re
import sys

import numpy as np

from command import Command
from graphs import FLOAT, constant, draw, node, save

COMPILER = re.compile(r"lib(?:LLVM|MLIR|freestone_compiler|clang|lld)[^/\s;]*")
OPENED = re.compile(r"file=(\S+) .*(?:generating link map|dynamically loaded)|calling init: (\S+)")
STEPS = 6


def make_model(path):
    """x f32[n, 6] → MatMul, BatchNormalization, Dropout, Gemm → logits f32[n, 3]."""
    save(path,
         [node("MatMul", ["x", "w1"], ["h"]), node("BatchNormalization", ["h", "scale", "shift", "mean", "variance"], ["n"]),
          node("Dropout", ["n", "ratio"], ["d"]), node("Gemm", ["d", "w2", "b2"], ["logits"])],
         [("x", FLOAT, ["n", 6])], [("logits", FLOAT, ["n", 3])],
         [*draw(1, {"w1": (6, 8), "scale": (8,), "shift": (8,), "mean": (8,), "w2": (8, 3), "b2": (3,)}, scale=1),
          constant("variance", np.ones(8)), constant("ratio", 0.1)])


def train(tool, *words):
    """What the training and the loader tell, line by line in their order, and the compiler's libraries that were opened."""
    result = tool.call("train", *words)
    told = "\n".join(line for line in result.stderr.splitlines() if not re.match(r"\s+\d+:\t", line))
    assert result.returncode == 0, told
    opened = {pathlib.Path(next(filter(None, match.groups()))).name for match in OPENED.finditer(result.stderr)}
    assert any(name.startswith("libfreestone_runtime") for name in opened), "the loader tells nothing"
    return result.stderr, {name for name in opened if COMPILER.match(name)}


def main():
    tool = Command(*sys.argv[1:])
    folder = tool.folder
    tool.environment.update(FREESTONE_CACHE_DIR=str(folder / "cache"), LD_DEBUG="files")
    make_model(folder / "model.onnx")
    random = np.random.default_rng(2)
    np.savez(folder / "data.npz", x=random.normal(size=(50, 6)).astype(np.float32), y=random.integers(0, 3, 50))

    options = ["--data", "data.npz", "--labels", "y", "--batch", 16]
    run = [*options, "--eval-data", "data.npz", "--epochs", 100, "--save-every", 2, "--eval-every", 2]
    _, opened = train(tool, "model.onnx", *options, "--compile-only", "-o", "step.stone")
    assert opened == {"libfreestone_compiler.so"}, f"what is compiled here takes {opened} alone: the test sees nothing"

    def expect_none(what, *words):
        told, opened = train(tool, *words)
        assert not opened, f"{what} opens {opened}"
        return told

    compiled = ["--data", "data.npz", "--batch", 16, *run[-8:]]
    expect_none("a plan of a compiled step", "step.stone", *compiled[:4], "--plan")
    expect_none("training a compiled step", "step.stone", *compiled, "--steps", STEPS, "--out", "compiled",
                "--trace", "trace.json")
    expect_none("resuming a compiled step", "step.stone", *compiled, "--steps", 2 * STEPS, "--resume", "compiled")
    assert (folder / "compiled/model.onnx").exists()

    train(tool, "model.onnx", *options, "--plan")
    assert "compiled before" in expect_none("a warm plan", "model.onnx", *options, "--plan")
    told, opened = train(tool, "model.onnx", *run, "--steps", STEPS, "--out", "warm")
    assert "compiled before" in told and (folder / "warm/model.stone").exists()
    last, first = told.rindex(f"evaluation after step {STEPS}:"), COMPILER.search(told).start()
    assert opened and last < first, "a warm start opens the compiler before its last step"


main()
