"""Attention of rows that see nothing, compiled: attention_masks.py FREESTONE FOLDER; the environment names the build.

Such a row gives 0 and has no gradient, whether a mask of bools or -inf in what is added hides it; rows that see something are
those of a softmax in f64. A softmax of the model's own keeps its NaN.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import freestone_runtime
import numpy as np

from command import Command
from graphs import BOOL, FLOAT, constant, node, save

BATCH, HEADS, ROWS, COLUMNS, SIZE, RATE = 2, 3, 5, 7, 4, 2.0**-4
SHAPES = {"q": (BATCH, HEADS, ROWS, SIZE), "k": (BATCH, HEADS, COLUMNS, SIZE), "v": (BATCH, HEADS, COLUMNS, SIZE)}


def masks():
    """bool[ROWS, COLUMNS]: row 2 sees nothing, row 3 one column; nothing at all; everything but row 0."""
    some = np.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS) % 3 != 0
    some[2], some[3] = False, np.arange(COLUMNS) == 4
    first = np.ones((ROWS, COLUMNS), bool)
    first[0] = False
    return {"some": some, "none": np.zeros((ROWS, COLUMNS), bool), "first": first}


def attend(values, visible, outer):
    """The result and, of its product with `outer`, the gradients by q, k and v: f64."""
    q, k, v = (values[name].astype(np.float64) for name in "qkv")
    scores = np.where(visible, q @ k.swapaxes(2, 3) / np.sqrt(SIZE), -np.inf)
    most = scores.max(-1, keepdims=True)
    power = np.exp(scores - np.where(np.isfinite(most), most, 0))
    sums = power.sum(-1, keepdims=True)
    p = power / np.where(sums == 0, 1, sums)
    dp = outer @ v.swapaxes(2, 3)
    ds = p * (dp - (dp * p).sum(-1, keepdims=True)) / np.sqrt(SIZE)
    return p @ v, {"q": ds @ k, "k": ds.swapaxes(2, 3) @ q, "v": p.swapaxes(2, 3) @ outer}


def check_forward(folder, values, visible, mask):
    kind = BOOL if mask.dtype == bool else FLOAT
    names = ["q", "k", "v"]
    save(folder / "forward.onnx", [node("Attention", [*names, "mask"], ["y"])],
         [(name, FLOAT, SHAPES[name]) for name in names] + [("mask", kind, ["s", "t"])], [("y", FLOAT, SHAPES["q"])], opset=23)
    freestone_runtime.compile_model(folder / "forward.onnx", folder / "forward.stone")
    compiled = freestone_runtime.Model(folder / "forward.stone", 1)
    result, = compiled.run(values | {"mask": mask})
    compiled.close()
    expected, _ = attend(values, visible, np.zeros(SHAPES["q"]))
    np.testing.assert_allclose(result, expected, atol=1e-6)
    assert (result[:, :, ~visible.any(1)] == 0).all()


def check_gradients(tool, values, visible, mask, outer):
    """What one step of SGD takes from what attends."""
    save(tool.folder / "masked.onnx",
         [node("ReduceMean", ["x"], ["one"], keepdims=0)] + [node("Mul", [name, "one"], [f"{name}s"]) for name in values] +
         [node("Attention", ["qs", "ks", "vs", "mask"], ["y"]), node("Mul", ["y", "outer"], ["terms"]),
          node("ReduceSum", ["terms"], ["loss"], keepdims=0)],
         [("x", FLOAT, ["n", 1])], [("loss", FLOAT, [])],
         [constant(name, value) for name, value in values.items()] +
         [constant("mask", mask, mask.dtype), constant("outer", outer)], opset=23)
    np.savez(tool.folder / "one.npz", x=np.ones((1, 1), np.float32))
    tool.remove("run")
    tool.train("masked.onnx", "--data", "one.npz", "--batch", 1, "--loss", "output:loss", "--optimizer", "sgd", "--lr", RATE,
               "--epochs", 1, "--steps", 1, "--save-every", 1, "--freeze", "outer", "--out", "run")
    saved = tool.checkpoint("run", 1)
    _, gradients = attend(values, visible, outer.astype(np.float64))
    for name, expected in gradients.items():
        after = np.frombuffer(saved[name].content, np.float32).reshape(SHAPES[name]).astype(np.float64)
        np.testing.assert_allclose((values[name] - after) / RATE, expected, atol=1e-5, err_msg=name)


def check_softmax(folder):
    """Also where it is selected against, as exporters write it."""
    save(folder / "softmax.onnx",
         [node("Softmax", ["x"], ["p"]), node("IsNaN", ["p"], ["hidden"]), node("Where", ["hidden", "zero", "p"], ["y"])],
         [("x", FLOAT, ["n", "m"])], [("p", FLOAT, ["n", "m"]), ("y", FLOAT, ["n", "m"])], [constant("zero", 0)])
    freestone_runtime.compile_model(folder / "softmax.onnx", folder / "softmax.stone")
    x = np.zeros((3, 37), np.float32)
    x[1] = -np.inf
    compiled = freestone_runtime.Model(folder / "softmax.stone", 1)
    p, y = compiled.run({"x": x})
    compiled.close()
    assert np.isnan(p[1]).all() and not np.isnan(p[::2]).any()
    assert (y[1] == 0).all() and np.allclose(y[::2], 1 / 37)


def main():
    tool = Command(*sys.argv[1:])
    random = np.random.default_rng(1)
    values = {name: random.normal(size=shape).astype(np.float32) for name, shape in SHAPES.items()}
    outer = random.normal(size=SHAPES["q"]).astype(np.float32)
    for visible in masks().values():
        for mask in (visible, np.where(visible, np.float32(0), np.float32(-np.inf))):
            check_forward(tool.folder, values, visible, mask)
            check_gradients(tool, values, visible, mask, outer)
    check_softmax(tool.folder)


main()
