"""Quantised models beside ONNX Runtime, OpenVINO and their own f32: quantised.py [MODEL…] [--models FOLDER].

Networks of pictures are quantised statically, by QuantizeLinear and DequantizeLinear around their operators (bytes, and
signed weights per channel); language models dynamically. onnxruntime.quantization does both, from random weights. All
engines run in one process, in turns, on one thread; milliseconds of CPU time, the minimum of all runs. *Error* is the
greatest difference from ONNX Runtime's result, relative to its greatest element.
"""

import argparse
import logging
import os
import pathlib
import tempfile

import numpy as np

import freestone_runtime
import peers
import workloads
from turns import measure

PICTURE = (1, 3, 224, 224)


def export_vision(name, path):
    import vision

    vision.export(vision.make(name), path)


def export_minilm(path):
    """all-MiniLM-L6-v2 with random weights."""
    import torch
    import transformers

    torch.manual_seed(0)
    config = transformers.BertConfig(hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536, attn_implementation="eager")
    model = transformers.BertModel(config, add_pooling_layer=False).eval()

    class Plain(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, tokens):
            return self.model(input_ids=tokens).last_hidden_state

    names = {"input_names": ["tokens"], "output_names": ["y"], "dynamic_axes": {"tokens": {0: "n", 1: "s"}, "y": {0: "n", 1: "s"}}}
    torch.onnx.export(Plain(), (torch.zeros(1, 16, dtype=torch.int64),), str(path), dynamo=False, **names)


def export_workload(name, path):
    workloads.filled_model(name, path.parent / "filled").rename(path)


# Name → how it is exported, whether it is quantised dynamically, and its input.
MODELS = {
    "ResNet-18": (lambda path: export_vision("resnet18", path), False, {"x": PICTURE}),
    "MobileNetV2": (lambda path: export_vision("mobilenet_v2", path), False, {"x": PICTURE}),
    "digits CNN, 1": (lambda path: export_workload("cnn", path), False, {"x": (1, 1, 28, 28)}),
    "digits CNN, 64": (lambda path: export_workload("cnn", path), False, {"x": (64, 1, 28, 28)}),
    "GPT, 1x128": (lambda path: export_workload("gpt", path), True, {"tokens": (1, 128)}),
    "MiniLM, 1x128": (export_minilm, True, {"tokens": (1, 128)}),
}


def feeds_of(shapes, seed=1):
    generator = np.random.default_rng(seed)
    return {name: generator.integers(0, 128, shape) if name == "tokens" else generator.standard_normal(shape, dtype=np.float32)
            for name, shape in shapes.items()}


def quantise(model, path, is_dynamic, shapes):
    from onnxruntime import quantization
    from onnxruntime.quantization.shape_inference import quant_pre_process

    logging.disable(logging.WARNING)
    if is_dynamic:
        quantization.quantize_dynamic(str(model), str(path), weight_type=quantization.QuantType.QInt8)
        return
    pictures = iter([feeds_of(shapes, seed) for seed in range(2, 6)])

    class Reader(quantization.CalibrationDataReader):
        def get_next(self):
            return next(pictures, None)

    prepared = path.with_suffix(".prepared.onnx")
    quant_pre_process(str(model), str(prepared), skip_symbolic_shape=True)
    quantization.quantize_static(str(prepared), str(path), Reader(), quant_format=quantization.QuantFormat.QDQ, per_channel=True,
                                 activation_type=quantization.QuantType.QUInt8, weight_type=quantization.QuantType.QInt8)


def prepare_freestone(model, feeds, options):
    artifact = model.with_suffix(".stone")
    if not artifact.exists() or options:
        freestone_runtime.compile_model(model, artifact, *options)
    loaded = freestone_runtime.Model(artifact, 1)
    return loaded.run_bound, loaded.run(feeds)


def measure_model(name, folder, seconds, engines, options):
    export, is_dynamic, shapes = MODELS[name]
    folder.mkdir(parents=True, exist_ok=True)
    stem = name.split(",")[0].replace(" ", "-")
    real, quantised = folder / f"{stem}.onnx", folder / f"{stem}.int8.onnx"
    if not real.exists():
        export(real)
    if not quantised.exists():
        quantise(real, quantised, is_dynamic, shapes)
    feeds = feeds_of(shapes)
    makers = {
        "onnxruntime": lambda: peers.OnnxRuntime().prepare(quantised, feeds, 1),
        "openvino": lambda: peers.OpenVino().prepare(quantised, feeds, 1),
        "freestone": lambda: prepare_freestone(quantised, feeds, options),
        "f32": lambda: prepare_freestone(real, feeds, []),
    }
    runs, results = zip(*(makers[engine]() for engine in engines))
    times = dict(zip(engines, measure(runs, seconds)))
    by_engine = {engine: result[0] for engine, result in zip(engines, results)}
    if "onnxruntime" in by_engine:
        expected = by_engine["onnxruntime"]
        times["error"] = float(np.abs(by_engine["freestone"] - expected).max() / np.abs(expected).max())
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=list(MODELS), metavar="MODEL", help=", ".join(f"'{name}'" for name in MODELS))
    parser.add_argument("--models", type=pathlib.Path, help="where exported and compiled models are kept")
    parser.add_argument("--engines", nargs="+", default=["onnxruntime", "openvino", "freestone", "f32"])
    parser.add_argument("--seconds", type=float, default=5, help="for each row")
    parser.add_argument("--disable", help="as of freestone compile, for the quantised models")
    arguments = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    options = ["--disable", arguments.disable] if arguments.disable else []
    print("| model |", " | ".join(arguments.engines), "| of the faster peer | of f32 | error |\n" + "|---" * (len(arguments.engines) + 4) + "|")
    with tempfile.TemporaryDirectory() as place:
        for name in arguments.names:
            times = measure_model(name, arguments.models or pathlib.Path(place), arguments.seconds, arguments.engines, options)
            peer = min((times[engine] for engine in ("onnxruntime", "openvino") if engine in times), default=np.nan)
            cells = [f"{times[engine]:.2f}" for engine in arguments.engines]
            ratios = [f"{times['freestone'] / other:.2f}" for other in (peer, times.get("f32", np.nan))]
            print(f"| {name} |", " | ".join([*cells, *ratios]), f"| {times.get('error', np.nan):.1e} |", flush=True)


if __name__ == "__main__":
    main()
