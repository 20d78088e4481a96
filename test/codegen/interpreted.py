"""Models in ONNX's text form, compiled in several ways, beside the interpreter."""

import subprocess

import freestone_runtime
import numpy as np
import onnx
from onnx import numpy_helper


def drawn(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape, dtype=np.float32)


def run(folder, model, *options):
    """The outputs for `feeds.npz` of the folder."""
    command = [freestone_runtime.freestone(), "run", model, "--input", folder / "feeds.npz", "--outputs", folder / "results.npz"]
    subprocess.run([*command, *options], check=True, stdout=subprocess.DEVNULL)
    with np.load(folder / "results.npz") as results:
        return list(results.values())


def check(folder, name, text, weights, settings, switch, counter, wanted, feeds_of):
    """Compiles the model with each of the settings, where `counter` is `wanted`, or 0 without the switch. For all feeds of
    its inputs, one to three workers compute the same bits, which agree with the interpreter."""
    path = folder / "model.onnx"
    model = onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["": 20]>\nm {text}')
    for weight, shape in weights.items():
        model.graph.initializer.append(numpy_helper.from_array(drawn(*shape) / np.float32(shape[0] ** 0.5), weight))
    onnx.save(model, path)
    artifacts = {}
    for options in settings:
        artifacts[options] = folder / f"{len(artifacts)}.stone"
        counted = freestone_runtime.compile_model(path, artifacts[options], *options)[counter]
        assert counted == (0 if switch in options else wanted), (name, options, counted)
    cases = []
    for feeds in feeds_of(model.graph.input):
        np.savez(folder / "feeds.npz", **feeds)
        cases.append((feeds, run(folder, path, "--interpret")))
    for options, artifact in artifacts.items():
        bits = [None] * len(cases)
        for workers in (1, 2, 3):
            compiled = freestone_runtime.Model(artifact, workers)
            for number, (feeds, expected) in enumerate(cases):
                results = compiled.run(feeds)
                for result, value in zip(results, expected, strict=True):
                    np.testing.assert_allclose(result, value, rtol=2e-4, atol=2e-5, err_msg=f"{name}, {options}, {workers} workers")
                found = [result.tobytes() for result in results]
                bits[number] = bits[number] or found
                assert found == bits[number], (name, options, workers)
            compiled.close()
    return wanted
