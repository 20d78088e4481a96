"""Code for other processors computes the same results: targets.py FREESTONE MODELS CASES [--target x86-64-v3].

Compiles each model of test/models for the target and for this machine: the outputs are the same but for rounding. Of
the listed conformance cases the first one of each operator, and as many more as make --count, pass when compiled for the
target. That is x86-64-v3, or the machine that FREESTONE_HOST shows. Where this machine lacks what the target may use,
exits with 77.
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import freestone_runtime
import numpy as np
import onnx
import workloads

LIST = pathlib.Path(__file__).with_name("passing.txt")
SIZES = {"mlp": [(1,), (7,), (64,)], "cnn": [(1,), (3,)], "gpt": [(1, 2), (2, 19), (1, 64)]}
LIMIT = 1e-5


def lacks(freestone, model, target):
    """Why this machine can't run code for the target; empty if it can."""
    with tempfile.TemporaryDirectory() as folder:
        command = [freestone, "compile", model, "-o", f"{folder}/model.stone", "--target", target]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    return done.stderr if done.returncode != 0 and "it needs the CPU feature" in done.stderr else ""


def largest_error(freestone, model, name, target):
    """The difference of the outputs for the target and for this machine, relative to the largest output."""
    feeds = [workloads.Workload(name, sizes).feeds() for sizes in SIZES[name]]
    outputs = []
    with tempfile.TemporaryDirectory() as folder:
        for chosen in ("host", target):
            artifact = f"{folder}/{chosen}.stone"
            command = [freestone, "compile", model, "-o", artifact, "--target", chosen]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            compiled = freestone_runtime.Model(artifact, 2)
            outputs.append([compiled.run(feed)[0] for feed in feeds])
            compiled.close()
    return max(np.max(np.abs(a - b)) / np.max(np.abs(a)) for a, b in zip(*outputs))


def operators_of(path):
    """Every operator of a model, those of its functions and bodies included."""
    model = onnx.load(path, load_external_data=False)
    found, graphs = set(), [model.graph, *model.functions]
    while graphs:
        for node in graphs.pop().node:
            found.add(f"{node.domain}.{node.op_type}")
            for attribute in node.attribute:
                graphs += [attribute.g] if attribute.HasField("g") else attribute.graphs
    return found


def choose_cases(cases, count):
    """The first case of every operator, then evenly spaced others."""
    listed = [name for name in LIST.read_text().split() if not name.startswith("real/")]
    seen, chosen, rest = set(), [], []
    for name in listed:
        operators = operators_of(cases / name / "model.onnx")
        (rest if operators <= seen else chosen).append(name)
        seen |= operators
    missing = max(count - len(chosen), 0)
    return chosen + (rest[:: max(len(rest) // missing, 1)][:missing] if missing else [])


def run_cases(freestone, cases, names, target):
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            link = pathlib.Path(folder) / name
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to((cases / name).resolve())
        command = [freestone, "verify", folder, "--target", target, "--jobs", "2", "--json", "--allow-unsupported"]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    return json.loads(done.stdout)["cases"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("freestone")
    parser.add_argument("models", type=pathlib.Path)
    parser.add_argument("cases", type=pathlib.Path)
    parser.add_argument("--target", default="host" if os.environ.get("FREESTONE_HOST") else "x86-64-v3")
    parser.add_argument("--count", type=int, default=150, help="conformance cases, at least one for each operator")
    arguments = parser.parse_args()
    if "FREESTONE_CACHE_DIR" not in os.environ:
        os.environ.setdefault("FREESTONE_CACHE", "off")
    freestone_runtime.check_order()
    if why := lacks(arguments.freestone, arguments.models / "mlp.onnx", arguments.target):
        print(why)
        return 77
    faults = []
    for name in SIZES:
        error = largest_error(arguments.freestone, arguments.models / f"{name}.onnx", name, arguments.target)
        print(f"{name}: outputs differ by {error:.1e} from those of the code for this machine", flush=True)
        if not error <= LIMIT:
            faults.append(f"{name} for {arguments.target}: the outputs differ by {error:.1e}")
    names = choose_cases(arguments.cases, arguments.count)
    verdicts = run_cases(arguments.freestone, arguments.cases, names, arguments.target)
    counts = collections.Counter(case["status"] for case in verdicts)
    print(f"{counts['PASS']} of {len(names)} cases pass for {arguments.target}")
    faults += [f"{case['status']} {case['name']}: {case['reason']}" for case in verdicts if case["status"] != "PASS"]
    print("\n".join(faults))
    return 1 if faults or len(verdicts) != len(names) else 0


if __name__ == "__main__":
    sys.exit(main())
