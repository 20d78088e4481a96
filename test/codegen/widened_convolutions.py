"""Convolutions of bf16 and fp16 that are multiplied in f32, against numpy: widened_convolutions.py FOLDER.

With filters in panels and transformed, strides, several taps, and pictures of a few pixels that go together; weights are
part of the model. A batch may have no picture. On the targets that this machine runs, those with dot products among them.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import freestone_runtime
import ml_dtypes
import numpy as np
import onnx
from onnx import helper
from targets import distinct

# Of the greatest result: a unit in its last place, and a half.
TYPES = {np.dtype(ml_dtypes.bfloat16): 1.5 * 2**-8, np.dtype(np.float16): 1.5 * 2**-11}
# Pictures, channels in and out, the picture's side, taps along it, and their steps.
CASES = [(2, 64, 64, 56, 3, 1), (3, 32, 48, 23, 5, 2), (16, 64, 32, 3, 3, 1), (1, 17, 96, 31, 3, 1)]


def convolve(x, w, step):
    side, border = w.shape[-1], w.shape[-1] // 2
    padded = np.pad(x, [(0, 0), (0, 0), (border, border), (border, border)])
    count = (x.shape[-1] - 1) // step + 1
    part = lambda tap: slice(tap, tap + (count - 1) * step + 1, step)
    return sum(np.einsum("nchw,oc->nohw", padded[:, :, part(i), part(j)], w[:, :, i, j], optimize=True)
               for i in range(side) for j in range(side))


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(1)
    for dtype, most in TYPES.items():
        code = helper.np_dtype_to_tensor_dtype(dtype)
        for number, (pictures, channels, out, side, taps, step) in enumerate(CASES):
            x = random.normal(size=(pictures, channels, side, side)).astype(dtype)
            w = (random.normal(size=(out, channels, taps, taps)) / np.sqrt(channels * taps * taps)).astype(dtype)
            nodes = [helper.make_node("Conv", ["x", "w"], ["c"], pads=[taps // 2] * 4, strides=[step] * 2),
                     helper.make_node("Relu", ["c"], ["y"])]
            info = lambda name, shape: helper.make_tensor_value_info(name, code, shape)
            count = (side - 1) // step + 1
            graph = helper.make_graph(nodes, "widened", [info("x", ["n", channels, side, side])],
                                      [info("y", ["n", out, count, count])],
                                      [helper.make_tensor("w", code, w.shape, w.tobytes(), raw=True)])
            onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)]), folder / "m.onnx")
            wanted = np.maximum(convolve(x.astype(np.float64), w.astype(np.float64), step), 0)
            for target in distinct("host", "x86-64-v3"):
                for options in ([], ["--disable", "winograd"], ["--disable", "widen-pictures"]):
                    counters = freestone_runtime.compile_model(folder / "m.onnx", folder / "m.stone", "--target", target, *options)
                    # Where the device has dot products of bf16, only what is transformed is worth it.
                    if target == "x86-64-v3" or dtype == np.float16 or "widen-pictures" in options:
                        assert counters["widened"] == ("widen-pictures" not in options), (dtype, number, target, options)
                    for workers in (1, 2):
                        model = freestone_runtime.Model(folder / "m.stone", workers)
                        (found,), (none,) = model.run({"x": x}), model.run({"x": x[:0]})
                        model.close()
                        wrong = np.abs(found.astype(np.float64) - wanted).max() / wanted.max()
                        assert none.shape == (0, *found.shape[1:]) and wrong <= most, (dtype, number, target, options, workers, wrong / most)
                print(f"{dtype}, case {number}, {target}: as numpy's")


main()
