"""Cells of many branches beside ONNX Runtime and OpenVINO: cells.py [--threads 2] [--only PART].

Networks of cells as in Inception, NASNet and ResNeXt (branches apart), eight small experts, an ensemble of 16 networks.
The size of the batch is a symbol. All engines run in one process in turns, and so does Freestone with `--disable schedule`
and `--switch-off deals` (*plain*): operators in the model's order, each dealt evenly; and with `--switch-off company`
(*split*): each dealt as if it were alone. The figure is the minimum of all runs: CPU time for one thread, wall time for
more. Results are compared first. *Kept* counts the deals that have other workers for company's sake: without any, *split*
is the same run once more, and what differs from it is the machine.
"""

import argparse
import pathlib
import subprocess
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import freestone_runtime
import peers
from recurrent import race

DEALS, COMPANY = 16, 128


class Network:
    """Adds nodes with random weights; a value is its name."""

    def __init__(self):
        self.nodes, self.weights, self.random = [], [], np.random.default_rng(0)

    def add(self, kind, inputs, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [f"v{len(self.nodes)}"], **attributes))
        return self.nodes[-1].output[0]

    def weight(self, *shape):
        values = self.random.standard_normal(shape) / np.sqrt(max(1, np.prod(shape[1:])))
        self.weights.append(numpy_helper.from_array(values.astype(np.float32), f"w{len(self.weights)}"))
        return self.weights[-1].name

    def conv(self, value, channels, out, kernel, group=1):
        weights = [self.weight(out, channels // group, kernel, kernel), self.weight(out)]
        return self.add("Conv", [value, *weights], kernel_shape=[kernel] * 2, pads=[kernel // 2] * 4, group=group)

    def relu_conv(self, *arguments):
        return self.add("Relu", [self.conv(*arguments)])

    def model(self, last, shape, result):
        info = helper.make_tensor_value_info
        graph = helper.make_graph(self.nodes, "cells", [info("x", TensorProto.FLOAT, ["n", *shape])],
                                  [info(last, TensorProto.FLOAT, ["n", *result])], self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def inception():
    network, x, channels = Network(), "x", 192
    for _ in range(4):
        pool = network.add("MaxPool", [x], kernel_shape=[3, 3], pads=[1] * 4)
        branches = [network.relu_conv(x, channels, 64, 1),
                    network.relu_conv(network.relu_conv(x, channels, 96, 1), 96, 128, 3),
                    network.relu_conv(network.relu_conv(x, channels, 16, 1), 16, 32, 5),
                    network.relu_conv(pool, channels, 32, 1)]
        x, channels = network.add("Concat", branches, axis=1), 256
    return network.model(x, [192, 14, 14], [256, 14, 14])


def nasnet():
    network, before, x = Network(), "x", "x"

    def separable(value, kernel):
        value = network.add("Relu", [value])
        return network.conv(network.conv(value, 44, 44, kernel, 44), 44, 44, 1)

    for _ in range(4):
        average = network.add("AveragePool", [before], kernel_shape=[3, 3], pads=[1] * 4)
        pairs = [(separable(before, 3), before), (separable(x, 3), separable(before, 5)), (average, x),
                 (separable(x, 5), separable(x, 3))]
        joined = network.add("Concat", [network.add("Add", pair) for pair in pairs], axis=1)
        before, x = x, network.relu_conv(joined, 176, 44, 1)
    return network.model(x, [44, 28, 28], [44, 28, 28])


def resnext():
    network, x = Network(), "x"
    for _ in range(4):
        paths = [network.conv(network.relu_conv(network.relu_conv(x, 128, 8, 1), 8, 8, 3), 8, 128, 1) for _ in range(8)]
        x = network.add("Relu", [network.add("Add", [network.add("Sum", paths), x])])
    return network.model(x, [128, 14, 14], [128, 14, 14])


def experts():
    network = Network()
    hidden = [network.add("Relu", [network.add("MatMul", ["x", network.weight(128, 256)])]) for _ in range(8)]
    results = [network.add("MatMul", [value, network.weight(256, 128)]) for value in hidden]
    return network.model(network.add("Sum", results), [128], [128])


def ensemble():
    network = Network()
    results = ["x"] * 16
    for _ in range(3):
        results = [network.add("Relu", [network.add("Gemm", [value, network.weight(100, 100), network.weight(100)])]) for value in results]
    return network.model(network.add("Mean", results), [100], [100])


CASES = {  # the model, the shape of a sample, sizes of batches
    "Inception": (inception, [192, 14, 14], [1, 8]),
    "NASNet": (nasnet, [44, 28, 28], [1, 8]),
    "ResNeXt": (resnext, [128, 14, 14], [1, 8]),
    "8 experts": (experts, [128], [1, 16]),
    "16 networks": (ensemble, [100], [1, 16]),
}


def prepare_without(model, feeds, threads, folder, switched_off, *disabled):
    artifact = folder / "without.stone"
    subprocess.run([freestone_runtime.freestone(), "compile", model, "-o", artifact, *disabled], check=True, capture_output=True)
    loaded = freestone_runtime.Model(artifact, threads, switched_off)
    return loaded.run_bound, loaded.run(feeds)


def count_kept(model, feeds, threads, folder):
    artifact = folder / "kept.stone"
    freestone_runtime.compile_model(model, artifact)
    loaded = freestone_runtime.Model(artifact, threads)
    loaded.run(feeds)
    counters = loaded.counters()
    loaded.close()
    return max(counters.kept_whole, counters.kept_near)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", default="", help="part of the name of a model")
    parser.add_argument("--engines", default=",".join(peers.ALL))
    arguments = parser.parse_args()
    names = arguments.engines.split(",")
    print("| | batch | " + " | ".join([names[0], "plain", "split", *names[1:]]) + " | of plain | of split | kept | of the best peer's |")
    print("|---" * (len(names) + 8) + "|")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        for name, (make, shape, batches) in CASES.items():
            if arguments.only not in name:
                continue
            onnx.save(make(), path)
            for batch in batches:
                feeds = {"x": np.random.default_rng(1).standard_normal((batch, *shape), dtype=np.float32)}
                prepared = {engine: peers.ALL[engine].prepare(path, feeds, arguments.threads) for engine in names}
                prepared["plain"] = prepare_without(path, feeds, arguments.threads, path.parent, DEALS, "--disable", "schedule")
                prepared["split"] = prepare_without(path, feeds, arguments.threads, path.parent, COMPANY)
                first = prepared["freestone"][1][0]
                for engine, (_, results) in prepared.items():
                    assert np.abs(results[0] - first).max() <= 1e-4 * np.abs(first).max(), f"{engine} disagrees on {name}"
                clock = time.process_time if arguments.threads == 1 else time.perf_counter
                best = race({engine: run for engine, (run, _) in prepared.items()}, clock, 3)
                others = [best[engine] for engine in names[1:]]
                figures = " | ".join(f"{best[engine]:.3f}" for engine in [names[0], "plain", "split", *names[1:]])
                kept = count_kept(path, feeds, arguments.threads, path.parent)
                ratio = f"{best['freestone'] / min(others):.2f}" if others else ""
                print(f"| {name} | {batch} | {figures} | {best['freestone'] / best['plain']:.2f} | {best['freestone'] / best['split']:.2f} | {kept} | {ratio} |", flush=True)


if __name__ == "__main__":
    main()
