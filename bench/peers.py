"""The engines that are compared. Each has a name, and `prepare(model, feeds, threads)`, which returns a function that
runs once on these inputs, and the outputs of a first run."""

import pathlib
import tempfile

import freestone_runtime


class Freestone:
    name = "freestone"

    def prepare(self, model, feeds, threads):
        with tempfile.TemporaryDirectory() as folder:
            artifact = pathlib.Path(folder) / "model.stone"
            freestone_runtime.compile_model(model, artifact)
            loaded = freestone_runtime.Model(artifact, threads)
        first = loaded.run(feeds)
        run = loaded.run_bound
        return run, first


class OnnxRuntime:
    name = "onnxruntime"

    def prepare(self, model, feeds, threads):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        return lambda: session.run(None, feeds), session.run(None, feeds)


class OpenVino:
    name = "openvino"

    def prepare(self, model, feeds, threads):
        import openvino

        core = openvino.Core()
        settings = {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY"}
        request = core.compile_model(str(model), "CPU", settings).create_infer_request()
        result = request.infer(feeds)
        # Inputs stay bound, so that no additional copy is timed.
        return request.infer, [result[output] for output in result]


ALL = {engine.name: engine for engine in (Freestone(), OnnxRuntime(), OpenVino())}
