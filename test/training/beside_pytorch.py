"""What is trained, beside PyTorch: beside_pytorch.py FREESTONE FOLDER [NETWORK...]. Skipped (77) without PyTorch.

Each network of `architectures.py` is exported with `optimize=False` and with `optimize=True`, PyTorch's default, which merges
initializers that are equal, and trains 20 steps by AdamW: a parameter that is not trained, or tied to another one, soon
shows in the losses. What the optimizing exporter has computed of parameters is no longer in its file; there the command must
say so.
"""

import sys
import warnings

import numpy as np

from command import Command

try:
    import onnxscript  # noqa: F401
    import torch
except ImportError:
    sys.exit(77)
from architectures import NETWORKS

STEPS, BATCH, RATE = 20, 8, 0.003
# What the command says of files by `optimize=True` in which parameters are no longer what they were.
FOLDED = {
    "mobile-net": "folded batch normalisations into convolutions",
    "tanh-gates": "computed by the exporter, of 'layers.0.gate1.gate'",
    "recurrence": "computed by the exporter",
    "weight-norm": None,  # its kernels are in the file, and train without their norms
}

# Exported for any length, so that places are counted in the graph.
ANY_LENGTH = {"rotary"}


def make_data(reads_words):
    random = np.random.default_rng(3)
    if reads_words:
        x = random.integers(0, 20, size=(STEPS * BATCH, 7))
        return x, (x * 7 + 3) % 20
    x = random.normal(size=(STEPS * BATCH, 1, 8, 8)).astype(np.float32)
    return x, x.mean((1, 2, 3)).argsort().argsort() * 5 // len(x)


def train_with_torch(network, x, y):
    """The loss of each step, before its update."""
    optimizer = torch.optim.AdamW(network.train().parameters(), RATE)
    losses = []
    for step in range(STEPS):
        at = slice(step * BATCH, (step + 1) * BATCH)
        scores = network(torch.tensor(x[at]))
        loss = torch.nn.functional.cross_entropy(scores.flatten(0, -2), torch.tensor(y[at]).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return np.array(losses)


def main():
    warnings.simplefilter("ignore")
    tool = Command(*sys.argv[1:3])
    for name in sys.argv[3:] or NETWORKS:
        make, reads_words = NETWORKS[name]
        x, y = make_data(reads_words)
        np.savez(tool.folder / f"{name}.npz", x=x, y=y)
        torch.manual_seed(5)
        network = make().train()
        for optimize in (False, True):
            sizes = {0: torch.export.Dim("batch")} | ({1: torch.export.Dim("length")} if name in ANY_LENGTH else {})
            torch.onnx.export(network, (torch.tensor(x[:3]),), tool.folder / f"{name}.onnx", dynamo=True,
                              optimize=optimize, external_data=False, verbose=False, input_names=["x"],
                              output_names=["scores"], dynamic_shapes=(sizes,))
            model = f"{name}-{'optimized' if optimize else 'plain'}"
            (tool.folder / f"{name}.onnx").rename(tool.folder / f"{model}.onnx")
        expected = train_with_torch(network, x, y)
        for optimize in (False, True):
            model = f"{name}-{'optimized' if optimize else 'plain'}"
            told = tool.train(f"{model}.onnx", "--data", f"{name}.npz", "--labels", "y", "--batch", BATCH, "--no-shuffle",
                              "--lr", RATE, "--threads", 2, "--class-axis", 2 if reads_words else 1, "--out",
                              f"{model}.run").stderr
            losses = np.array(tool.metrics(f"{model}.run"))
            apart = np.abs(losses / expected - 1).max()
            print(f"{model}: losses {losses[0]:.4f} to {losses[-1]:.4f}, apart {apart:.1e}", flush=True)
            if optimize and name in FOLDED:
                assert not FOLDED[name] or FOLDED[name] in told, told
                assert np.isfinite(losses).all(), losses
            else:
                np.testing.assert_allclose(losses, expected, rtol=1e-4, err_msg=model)
                assert ("not trained" in told) == (name == "rotary"), told


main()
