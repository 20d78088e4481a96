"""The contraction alone, with sizes known at run time, on one thread, against the measured peak.

Two forms: `weight`, where B is a weight of the model and only the rows of A are symbolic, and `inputs`, where all three
sizes are. Times include the packing of activations. With --check, fails below the limits.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import freestone_runtime  # noqa: E402

# (m, k, n) → the minimum fraction of the peak
LIMITS = {(512, 512, 512): 0.88, (1024, 1024, 1024): 0.88, (509, 511, 513): 0.75}


def contraction_model(k, n, weight):
    a = helper.make_tensor_value_info("a", TensorProto.FLOAT, ["m", k])
    b = helper.make_tensor_value_info("b", TensorProto.FLOAT, [k, n])
    c = helper.make_tensor_value_info("c", TensorProto.FLOAT, ["m", n])
    initializers = []
    if weight:
        values = np.random.default_rng(1).standard_normal((k, n), dtype=np.float32)
        initializers = [numpy_helper.from_array(values, "b")]
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["a", "b"], ["c"])], "contraction", [a] if weight else [a, b], [c], initializers
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])


def measure(artifact, feeds, seconds, rounds=5):
    """The median seconds of a run, the median peaks in GFLOP/s (on registers, fed by loads) and the result.

    All are measured in turns, since clocks change. Seconds are those that this process computed: what else runs on the
    machine is not counted.
    """
    peak_command = freestone_runtime.build_folder() / "bin" / "freestone-peak"
    model = freestone_runtime.Model(artifact, threads=1)
    result = model.run(feeds)[0]
    times, peaks = [], []
    for _ in range(rounds):
        peaks.append([float(line.split()[0]) for line in subprocess.check_output([peak_command], text=True).splitlines()])
        end = time.perf_counter() + seconds / rounds
        while time.perf_counter() < end:
            begin = time.process_time()
            model.run_bound()
            times.append(time.process_time() - begin)
    model.close()
    return statistics.median(times), [statistics.median(peak) for peak in zip(*peaks)], result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--seconds", type=float, default=1.0)
    arguments = parser.parse_args()
    os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
    failed = False
    print("| form | m x k x n | GFLOP/s | peak | fraction | limit | peak fed by loads | fraction |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for weight in (True, False):
            for (m, k, n), limit in LIMITS.items():
                form = "weight" if weight else "inputs"
                # With symbolic sizes one artifact would do for all, but a weight has fixed sizes.
                model = contraction_model(k if weight else "k", n if weight else "n", weight)
                path = os.path.join(folder, f"{form}_{m}")
                onnx.save(model, f"{path}.onnx")
                freestone_runtime.compile_model(f"{path}.onnx", f"{path}.stone")
                generator = np.random.default_rng(2)
                feeds = {"a": generator.standard_normal((m, k), dtype=np.float32)}
                if not weight:
                    feeds["b"] = generator.standard_normal((k, n), dtype=np.float32)
                seconds, (peak, fed), result = measure(f"{path}.stone", feeds, arguments.seconds)
                b = numpy_helper.to_array(model.graph.initializer[0]) if weight else feeds["b"]
                np.testing.assert_allclose(result, feeds["a"].astype("f8") @ b, rtol=1e-3, atol=1e-3)
                speed = 2 * m * k * n / seconds * 1e-9
                failed |= weight and speed < limit * peak
                print(
                    f"| {form} | {m} x {k} x {n} | {speed:.1f} | {peak:.1f} | {speed / peak:.1%} | {limit:.0%} "
                    f"| {fed:.1f} | {speed / fed:.1%} |",
                    flush=True,
                )
    return 1 if failed and arguments.check else 0


if __name__ == "__main__":
    sys.exit(main())
