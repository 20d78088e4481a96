"""Exports the models of definitions.py with symbolic sizes and without weights: export.py [FOLDER].

Needs torch and onnxscript. The exports are committed, so that only someone who changes a model runs this.
"""

import argparse
import pathlib

import definitions
import torch
from strip import strip_weights


def export(module, example, shapes, names, optimize=True):
    # Fresh norms are all ones and zeros, which the exporter would merge into one initializer.
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.uniform_(-1, 1)
    program = torch.onnx.export(
        module.eval(),
        example,
        dynamo=True,
        optimize=optimize,
        dynamic_shapes=shapes,
        input_names=names[0],
        output_names=names[1],
        verbose=False,
    )
    return strip_weights(program.model_proto)


def models():
    """Yields (name, model without weights)."""
    torch.manual_seed(0)
    batch, sequence = torch.export.Dim("batch"), torch.export.Dim("sequence", max=1024)
    logits = ["logits"]
    yield "mlp", export(definitions.Mlp(), (torch.zeros(3, 784),), ({0: batch},), (["x"], logits))
    # With optimization, batch normalizations would be folded into the convolutions.
    yield "cnn", export(definitions.Cnn(), (torch.zeros(3, 1, 28, 28),), ({0: batch},), (["x"], logits), optimize=False)
    tokens, shapes = (torch.zeros(3, 7, dtype=torch.int64),), ({0: batch, 1: sequence},)
    yield "gpt", export(definitions.Gpt(), tokens, shapes, (["tokens"], logits))
    yield "gpt_unoptimized", export(definitions.Gpt(), tokens, shapes, (["tokens"], logits), optimize=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = pathlib.Path(__file__).resolve().parents[2] / "test" / "models"
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=default)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, model in models():
        path = folder / f"{name}.onnx"
        path.write_bytes(model.SerializeToString(deterministic=True))
        print(f"{path}: {len(model.graph.node)} nodes, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
