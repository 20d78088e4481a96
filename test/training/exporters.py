"""A network as PyTorch's exporters write it, in three ways: exporters.py FREESTONE FOLDER. Skipped (77) without PyTorch.

BatchNormalization in the form of inference and Dropout with one output; both in the form of training, with all outputs; and
batch normalizations folded into the convolutions. Each trains; the first two train the same network, and what PyTorch
trains.
"""

import sys

import numpy as np
import onnx

from command import Command
from graphs import tensors

try:
    import onnxscript  # noqa: F401
    import torch
except ImportError:
    sys.exit(77)


def make_network(dropout):
    torch.manual_seed(1)
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 6, 3, padding=1), torch.nn.BatchNorm2d(6), torch.nn.ReLU(), torch.nn.Dropout(dropout),
        torch.nn.Conv2d(6, 8, 3, stride=2, bias=False), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.Flatten(),
        torch.nn.Linear(8 * 4 * 4, 5))


def export(network, path, **options):
    sample = torch.zeros(3, 1, 10, 10)
    names = {"input_names": ["x"], "output_names": ["logits"]}
    if options.get("dynamo"):
        torch.onnx.export(network, (sample,), path, dynamic_shapes=({0: torch.export.Dim("batch")},), **names, **options)
    else:
        axes = {"x": {0: "batch"}, "logits": {0: "batch"}}
        torch.onnx.export(network, (sample,), path, dynamic_axes=axes, **names, **options)


def train_with_torch(network, x, y, steps, batch):
    network.train()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9)
    losses = []
    for step in range(steps):
        at = slice(step * batch % len(x), step * batch % len(x) + batch)
        loss = torch.nn.functional.cross_entropy(network(torch.tensor(x[at])), torch.tensor(y[at]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def main():
    tool = Command(*sys.argv[1:])
    folder = tool.folder
    random = np.random.default_rng(1)
    x = random.normal(size=(80, 1, 10, 10)).astype(np.float32)
    y = x.mean((1, 2, 3)).argsort().argsort() * 5 // 80
    np.savez(folder / "data.npz", x=x, y=y)

    def train(model, *options):
        run = f"{model}.run"
        told = tool.train(model, "--data", "data.npz", "--labels", "y", "--batch", 16, "--epochs", 100, "--steps", 20,
                          "--no-shuffle", "--optimizer", "sgd", "--momentum", 0.9, "--lr", 0.05, "--threads", 2,
                          "--out", run, *options).stderr
        assert ("folded batch normalisations into convolutions (2)" in told) == (model == "folded.onnx"), told
        return np.array(tool.metrics(run))

    written = {"inference": dict(dynamo=True, optimize=False),
               "training": dict(dynamo=False, training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False),
               "folded": dict(dynamo=True)}
    for name, options in written.items():
        network = make_network(dropout=0.3).train(name != "folded")
        export(network, folder / f"{name}.onnx", **options)
    kinds = {name: [node.op_type for node in onnx.load(folder / f"{name}.onnx").graph.node] for name in written}
    assert kinds["inference"].count("BatchNormalization") == kinds["training"].count("BatchNormalization") == 2
    assert "Dropout" in kinds["training"] and "BatchNormalization" not in kinds["folded"], kinds

    expected = train_with_torch(make_network(dropout=0), x, y, 20, 16)
    for name in ("inference", "training"):
        np.testing.assert_allclose(train(f"{name}.onnx", "--no-dropout"), expected, rtol=2e-3, err_msg=name)
        tool.remove(f"{name}.onnx.run")
        with_dropout = train(f"{name}.onnx")
        if "Dropout" in kinds[name]:
            assert np.abs(with_dropout - expected).max() > 1e-2, name
        before, after = (tensors(folder / path) for path in (f"{name}.onnx", f"{name}.onnx.run/model.onnx"))
        changed = {tensor for tensor in before if not np.array_equal(before[tensor], after[tensor])}
        assert sum("running" in tensor for tensor in changed) == 4, changed
    losses = train("folded.onnx")
    assert losses[-1] < losses[0], losses


main()
