"""Writes networks of the zoo as ONNX files, each once: NAME.FORM.onnx, with FORM
  dynamo        torch.onnx.export(dynamo=True), for inference
  torchscript   torch.onnx.export(dynamo=False), for inference
  training      dynamo=True, optimize=False, in training mode"""

import contextlib
import io
import json
import pathlib
import warnings

import numpy as np
import torch

import networks
import work

FORMS = ("dynamo", "torchscript", "training")


def dynamic_shapes(network, symbols):
    """For torch.export: one Dim a symbol, in the order of the inputs."""
    dims = {symbol: torch.export.Dim(symbol, min=2, max=4096) for symbol in sorted({s for axes in symbols.values() for s in axes.values()})}
    strided = {"unet": 16, "detector": 32}.get(network)
    if strided:  # halved by convolutions and pools, so that only multiples fit together
        for symbol in ("height", "width"):
            dims[symbol] = strided * torch.export.Dim(f"{symbol}_units", min=1, max=128)
    return tuple({axis: dims[symbol] for axis, symbol in axes.items()} for axes in symbols.values())


def export(name, form, path):
    network = networks.NETWORKS[name]
    module = networks.make(name).train(form == "training")
    if name == "t5_small":  # PyTorch can't export how T5 views results of its fused attention
        module.model.set_attn_implementation("eager")
    example = networks.inputs(name, next(sizes for sizes in network.sizes if min(sizes) > 1))  # PyTorch specialises 1
    names = {"input_names": list(example), "output_names": ["y"]}
    if form == "torchscript":
        axes = {**network.symbols, "y": {0: "batch"}}
        torch.onnx.export(module, tuple(example.values()), str(path), dynamo=False, dynamic_axes=axes, **names)
    else:
        torch.onnx.export(module, tuple(example.values()), str(path), dynamo=True, external_data=False, verbose=False,
                          dynamic_shapes=dynamic_shapes(name, network.symbols), optimize=form != "training", **names)


def export_forms(name, folder):
    """Writes the forms that are not there; returns those that PyTorch can't export, with the reason."""
    refused = {}
    for form in FORMS:
        path = pathlib.Path(folder) / f"{name}.{form}.onnx"
        if path.exists():
            continue
        written = path.with_suffix(".part")
        try:
            with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
                warnings.simplefilter("ignore")
                export(name, form, written)
        except Exception as error:  # whatever an exporter raises
            refused[form] = str(error).strip().splitlines()[-1]
        else:
            written.rename(path)
    return refused


def write_inputs(name, folder):
    """What processes without PyTorch read: inputs of a run, a batch of a step with the axis of classes, and what both need."""
    files = [pathlib.Path(folder) / f"{name}.{what}" for what in ("inputs.npz", "batch.npz", "work.json")]
    if all(file.exists() for file in files):
        return
    network = networks.NETWORKS[name]
    given, target = networks.batch(name)
    np.savez(files[0], **networks.inputs(name, network.sizes[0]))
    # T5 has an input `target`.
    np.savez(files[1], **given, expected=target, axis=network.axis % (target.dim() + 1))
    files[2].write_text(json.dumps({"run": work.of_run(name), "step": work.of_step(name)}))
