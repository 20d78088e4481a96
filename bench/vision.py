"""Convolutional networks of torchvision beside ONNX Runtime, OpenVINO and PyTorch: vision.py [--batch N …] [--threads N].

All engines run in one process, in turns, on the same picture; results are compared first. Weights are random. Freestone
is measured for this machine and for x86-64-v3; with --avx2, PyTorch and OpenVINO are held to AVX2. Milliseconds, the
minimum of all runs: CPU time for one thread, wall time for more.
"""

import argparse
import os
import pathlib
import tempfile

import numpy as np

import freestone_runtime
import peers
from turns import fastest

NETWORKS = ["mobilenet_v2", "mobilenet_v3_large", "efficientnet_b0", "squeezenet1_1", "shufflenet_v2_x1_0", "resnet18", "resnet50"]


def make(name):
    """The network as PyTorch's module, with statistics of normalisation that change numbers."""
    import torch
    import torchvision

    torch.manual_seed(0)
    module = getattr(torchvision.models, name)(weights=None).eval()
    for part in module.modules():
        if isinstance(part, torch.nn.BatchNorm2d):
            part.running_mean.uniform_(-0.1, 0.1)
            part.running_var.uniform_(0.5, 1.5)
    return module


def export(module, path):
    import torch

    names = {"input_names": ["x"], "output_names": ["y"], "dynamic_axes": {"x": {0: "n"}, "y": {0: "n"}}}
    torch.onnx.export(module, (torch.zeros(2, 3, 224, 224),), str(path), dynamo=False, **names)


def prepare_freestone(model, target, feeds, threads):
    artifact = model.with_suffix(f".{target}.stone")
    if not artifact.exists():
        freestone_runtime.compile_model(model, artifact, "--target", target)
    loaded = freestone_runtime.Model(artifact, threads)
    return loaded.run_bound, loaded.run(feeds)


def prepare_torch(module, feeds, threads):
    import torch

    torch.set_num_threads(threads)
    x = torch.from_numpy(feeds["x"])
    with torch.no_grad():
        frozen = torch.jit.optimize_for_inference(torch.jit.trace(module, x))

    def run():
        with torch.no_grad():
            return frozen(x)

    run()
    return run, [run().numpy()]


def get_runs(name, folder, batch, threads, chosen):
    """Name → a function that runs once; all agree on the result."""
    module, model = make(name), folder / f"{name}.onnx"
    if not model.exists():
        export(module, model)
    feeds = {"x": np.random.default_rng(1).standard_normal((batch, 3, 224, 224), dtype=np.float32)}
    makers = {
        "freestone": lambda: prepare_freestone(model, "host", feeds, threads),
        "x86-64-v3": lambda: prepare_freestone(model, "x86-64-v3", feeds, threads),
        "onnxruntime": lambda: peers.OnnxRuntime().prepare(model, feeds, threads),
        "openvino": lambda: peers.OpenVino().prepare(model, feeds, threads),
        "torch": lambda: prepare_torch(module, feeds, threads),
    }
    runs, first = {}, None
    for engine in chosen:
        runs[engine], (result,) = makers[engine]()
        first = result if first is None else first
        assert np.abs(result - first).max() <= 1e-4 * np.abs(first).max(), (name, engine)
    return runs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", default=NETWORKS, help="as torchvision names them")
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--avx2", action="store_true", help="hold PyTorch and OpenVINO to AVX2; ONNX Runtime can't be")
    parser.add_argument("--engines", nargs="+", default=["onnxruntime", "freestone", "x86-64-v3", "openvino", "torch"])
    parser.add_argument("--models", type=pathlib.Path, help="where exported and compiled models are kept")
    parser.add_argument("--seconds", type=float, default=5, help="for each row")
    arguments = parser.parse_args()
    if arguments.avx2:
        os.environ.update(ONEDNN_MAX_CPU_ISA="AVX2", ATEN_CPU_CAPABILITY="avx2")
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: arguments.threads])
    print("| network | batch |", " | ".join(arguments.engines), "|\n" + "|---" * (len(arguments.engines) + 2) + "|")
    with tempfile.TemporaryDirectory() as place:
        folder = arguments.models or pathlib.Path(place)
        for name in arguments.networks:
            for batch in arguments.batch:
                runs = get_runs(name, folder, batch, arguments.threads, arguments.engines)
                least = fastest(runs, arguments.seconds * batch**0.5, arguments.threads)
                cells = [f"{least[engine]:.2f}" for engine in arguments.engines]
                print(f"| {name} | {batch} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
