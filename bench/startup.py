"""Cold processes: how long compiling takes, and how long a process takes to its first result: startup.py [--repeat N].

Compiling is timed from the start of the process to its end. Starting is timed to the first result, of the .stone file and
of the .onnx file that the cache holds already, in turns; for ONNX Runtime in a fresh Python whose own start is taken off.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
import onnx.numpy_helper

import freestone_runtime
import workloads

# Limits of the compile time in seconds, on 2 cores.
COMPILE_LIMITS = {"mlp": 1.0, "cnn": 1.5, "gpt": 4.0}
SPECS = {"mlp": "x=1x784xf32=random:1", "cnn": "x=1x1x28x28xf32=random:1", "gpt": "tokens=1x128xi64=random:1:0:128"}

# Limit of the time to the first result from the cache, relative to that from the .stone file.
WARM_LIMIT = 1.1

ONNXRUNTIME = """
import sys, time
import numpy as np
feeds = {"x": np.zeros((1, 784), "f4")} if "mlp" in sys.argv[1] else {"x": np.zeros((1, 1, 28, 28), "f4")}
if "gpt" in sys.argv[1]:
    feeds = {"tokens": np.zeros((1, 128), "i8")}
begin = time.perf_counter()
import onnxruntime
session = onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
session.run(None, feeds)
print(time.perf_counter() - begin)
"""


def compile_seconds(model, artifact):
    begin = time.perf_counter()
    freestone_runtime.compile_model(model, artifact)
    return time.perf_counter() - begin


def large_model(folder):
    """25 matrices of 2048 x 2048: 400 MB of weights."""
    path = pathlib.Path(folder) / "large.onnx"
    random = np.random.default_rng(0)
    nodes, weights, value = [], [], "x"
    for layer in range(25):
        matrix = random.standard_normal((2048, 2048), dtype=np.float32) / np.float32(2048**0.5)
        weights.append(onnx.numpy_helper.from_array(matrix, f"w{layer}"))
        nodes.append(onnx.helper.make_node("MatMul", [value, f"w{layer}"], [f"h{layer}"]))
        value = f"y{layer}"
        nodes.append(onnx.helper.make_node("Tanh", [f"h{layer}"], [value]))
    ports = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["b", 2048]) for name in ("x", value)]
    graph = onnx.helper.make_graph(nodes, "large", ports[:1], ports[1:], weights)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=9), path)
    return path


def first_result_seconds(model, spec, environment):
    """From the start of a process to the byte that it writes after its first run."""
    ready, end = os.pipe()
    command = [freestone_runtime.freestone(), "run", model, "--input", spec, "--ready-descriptor", str(end)]
    begin = time.perf_counter()
    process = subprocess.Popen(command, pass_fds=[end], stdout=subprocess.DEVNULL, env=environment)
    os.close(end)
    answered = os.read(ready, 1)
    seconds = time.perf_counter() - begin
    os.close(ready)
    if process.wait() != 0 or not answered:
        raise RuntimeError(f"{command} failed")
    return seconds


def compare_starts(model, spec, repeat):
    """Median seconds to the first result from the .stone file and from the cache."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "FREESTONE_CACHE_DIR": f"{folder}/cache", "FREESTONE_CACHE": "rw"}
        artifact = f"{folder}/model.stone"
        command = [freestone_runtime.freestone(), "compile", model, "-o", artifact]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
        # Files that changed less than two seconds ago are hashed again at every start.
        time.sleep(3.1)
        times = {artifact: [], model: []}
        for path in [*times] * (repeat + 1):
            times[path].append(first_result_seconds(path, spec, environment))
        return [statistics.median(seconds[1:]) for seconds in times.values()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--models", default=freestone_runtime.build_folder() / "models", help="where filled models are")
    arguments = parser.parse_args()
    print("| model | compile s | limit s | start to first result ms | one run ms | onnxruntime to first result ms |")
    print("|---|---|---|---|---|---|")
    slow = []
    for name, limit in COMPILE_LIMITS.items():
        model = workloads.filled_model(name, arguments.models)
        with tempfile.TemporaryDirectory() as folder:
            artifact = os.path.join(folder, "model.stone")
            seconds = statistics.median(compile_seconds(model, artifact) for _ in range(arguments.repeat))
            command = [
                freestone_runtime.freestone(),
                "bench",
                artifact,
                "--input",
                SPECS[name],
                "--json",
                "--seconds",
                "0.5",
            ]
            reports = [json.loads(subprocess.check_output(command)) for _ in range(arguments.repeat)]
        first = statistics.median(report["cold_start_seconds"] for report in reports) * 1e3
        run = statistics.median(report["median_seconds"] for report in reports) * 1e3
        peer = statistics.median(
            float(subprocess.check_output([sys.executable, "-c", ONNXRUNTIME, model])) for _ in range(arguments.repeat)
        )
        print(f"| {name} | {seconds:.2f} | {limit} | {first:.1f} | {run:.1f} | {peer * 1e3:.0f} |", flush=True)
        if seconds > limit:
            slow.append(f"{name} compiles in {seconds:.2f} s")
        if first > 30 + run:
            slow.append(f"{name} starts in {first:.0f} ms")
    print()
    print("| model | .stone to first result ms | from the cache ms | ratio |")
    print("|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        warm = {name: (workloads.filled_model(name, arguments.models), spec) for name, spec in SPECS.items()}
        warm["large (400 MB)"] = (large_model(folder), "x=1x2048xf32=random:1")
        for name, (model, spec) in warm.items():
            direct, cached = compare_starts(model, spec, 5 * arguments.repeat)
            print(f"| {name} | {direct * 1e3:.1f} | {cached * 1e3:.1f} | {cached / direct:.2f} |", flush=True)
            if cached > WARM_LIMIT * direct:
                slow.append(f"{name} starts {cached / direct:.2f} times as long from the cache as from its .stone file")
    print("\n".join(slow) or "all within the limits")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
