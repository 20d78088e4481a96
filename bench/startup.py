"""Cold processes: how long compiling takes, and how long a process takes to its first result: startup.py [--repeat N].

Compiling is timed from the start of the process to its end. Starting is timed to the first result, for Freestone by
`freestone bench`, for ONNX Runtime in a fresh Python whose own start is taken off.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import freestone_runtime
import workloads

# Seconds that compiling may take on 2 cores.
COMPILE_LIMITS = {"mlp": 1.0, "cnn": 1.5, "gpt": 4.0}
SPECS = {"mlp": "x=1x784xf32=random:1", "cnn": "x=1x1x28x28xf32=random:1", "gpt": "tokens=1x128xi64=random:1:0:128"}

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
    print("\n".join(slow) or "all within the limits")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
