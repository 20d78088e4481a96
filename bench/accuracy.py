"""One compilation, many sizes: accuracy.py [--interpreter] [--threads N] [--models FOLDER].

Compiles each model of test/models once and runs that artifact at 13 sizes, against ONNX Runtime and, with
--interpreter, the fp64 interpreter. The error is the largest difference relative to the largest magnitude of the
output. Fails above 1e-4, and where the floating-point operations that the tiles executed, those between the
contractions included, are more than 5 % away from what the contractions need at these sizes: nothing is padded to
a bound. Transformed filters need fewer, so the model is then counted without them too. Beside it stands what vectors compute behind the ends of rows and columns and throw away: it is less the larger
the sizes are.
"""

import argparse
import itertools
import subprocess
import sys
import tempfile

import freestone_runtime
import numpy as np
import onnxruntime
import workloads

LIMIT = 1e-4
OPERATIONS_LIMIT = 0.05


def relative_error(actual, expected):
    if actual.shape != expected.shape:
        raise ValueError(f"shape {actual.shape} instead of {expected.shape}")
    error = np.max(np.abs(actual.astype(np.float64) - expected), initial=0)
    return error / np.max(np.abs(expected), initial=1e-30)


def interpret(model, feeds):
    with tempfile.TemporaryDirectory() as folder:
        np.savez(f"{folder}/in.npz", **feeds)
        subprocess.run(
            [
                freestone_runtime.freestone(),
                "run",
                model,
                "--interpret",
                "--wide",
                "--input",
                f"{folder}/in.npz",
                "--outputs",
                f"{folder}/out.npz",
            ],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        with np.load(f"{folder}/out.npz") as outputs:
            return list(outputs.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default=freestone_runtime.build_folder() / "models", help="where filled models are")
    parser.add_argument("--only", default="", help="one model")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--interpreter", action="store_true")
    arguments = parser.parse_args()

    worst = worst_share = 0.0
    for name, rows in itertools.groupby(workloads.accuracy_workloads(), key=lambda workload: workload.model):
        if arguments.only not in ("", name):
            continue
        model = workloads.filled_model(name, arguments.models)
        with tempfile.TemporaryDirectory() as folder:
            def compiled_with(*options):
                freestone_runtime.compile_model(model, f"{folder}/{name}.stone", *options)
                return freestone_runtime.Model(f"{folder}/{name}.stone", arguments.threads)

            compiled, direct = compiled_with(), None
            session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
            for workload in rows:
                feeds = workload.feeds()
                actual = compiled.run(feeds)
                errors = {"onnxruntime": max(map(relative_error, actual, session.run(None, feeds)))}
                if arguments.interpreter:
                    errors["interpreter"] = max(map(relative_error, actual, interpret(model, feeds)))
                worst = max(worst, *errors.values())
                counters = compiled.counters()
                share = counters.operations / workload.operations() - 1
                padding = counters.padding_operations / workload.operations()
                counted = share
                if share < -OPERATIONS_LIMIT:
                    direct = direct or compiled_with("--disable", "winograd")
                    direct.run(feeds)
                    counted = direct.counters().operations / workload.operations() - 1
                worst_share = max(worst_share, abs(counted))
                print(
                    f"{workload.name:24}",
                    *(f"{engine} {error:.1e}" for engine, error in errors.items()),
                    f"operations {share:+.2%}" + (f", direct {counted:+.2%}" if direct else "") + f" padding {padding:.2%}",
                    flush=True,
                )
            for each in (compiled, direct):
                if each:
                    each.close()
    print(f"largest relative error {worst:.1e}, limit {LIMIT:.0e}; each model was compiled once")
    print(f"executed operations at most {worst_share:.2%} from the formula, limit {OPERATIONS_LIMIT:.0%}")
    return 0 if worst <= LIMIT and worst_share <= OPERATIONS_LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
