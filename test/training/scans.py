"""Weight gradients of a scan's products are those of all steps at once: scans.py FREESTONE FOLDER.

A recurrent cell with a product of each step's input and one of its state is trained with and without
`--disable scan-products`, with gradients of kept and of recomputed values, and of products alone
(`--disable scan-values`): the same losses but for rounding, which fall.
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import loops
import numpy as np
import onnx

from command import Command


def main():
    tool, random = Command(*sys.argv[1:]), np.random.default_rng(0)
    onnx.save(loops.nas_cell(8), tool.folder / "cell.onnx")
    # Rows are the steps of sequences, here of 16.
    x = random.standard_normal((64, 3, 8), dtype=np.float32)
    np.savez(tool.folder / "data.npz", x=x, y=np.tanh(x[..., ::-1]))
    common = ["cell.onnx", "--data", "data.npz", "--labels", "y", "--loss", "mse", "--optimizer", "adamw", "--lr", 0.02, "--batch", 16,
              "--no-shuffle", "--epochs", 5]
    losses, kept = [], []
    for number, options in enumerate(([], ["--disable", "scan-products"], ["--recompute", "blocks"], ["--disable", "scan-values"])):
        tool.train(*common, *options, "--threads", 1 + number, "--out", f"run{number}")
        losses.append(tool.metrics(f"run{number}"))
        tool.train("cell.onnx", "--compile-only", "-o", "step.stone", *common[1:], *options)
        kept.append(json.loads(tool.run("inspect", "step.stone", "--json").stdout)["statistics"]["kept_values"])
    assert kept[0] and kept[1] and kept[2:] == [0, 0], kept
    assert len(losses[0]) == 20 and np.mean(losses[0][-4:]) < 0.95 * np.mean(losses[0][:4]), losses[0]
    for others in losses[1:]:
        np.testing.assert_allclose(others, losses[0], rtol=1e-5)


if __name__ == "__main__":
    main()
