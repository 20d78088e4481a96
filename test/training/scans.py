"""Weight gradients of a scan's products are those of all steps at once: scans.py FREESTONE FOLDER.

A recurrent cell with a product of each step's input and one of its state is trained with and without
`--disable scan-products`, with gradients of kept and of recomputed values: the same losses but for rounding, which fall.
"""

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
    losses = []
    for number, options in enumerate(([], ["--disable", "scan-products"], ["--recompute", "blocks"])):
        tool.train(*common, *options, "--threads", 1 + number, "--out", f"run{number}")
        losses.append(tool.metrics(f"run{number}"))
    assert len(losses[0]) == 20 and np.mean(losses[0][-4:]) < 0.95 * np.mean(losses[0][:4]), losses[0]
    for others in losses[1:]:
        np.testing.assert_allclose(others, losses[0], rtol=1e-5)


if __name__ == "__main__":
    main()
