"""ONNX's backend tests, run by ONNX's own runner through Python: onnx_backend.py [--all [--jobs N] [PASSING]].

Without arguments a sample of the cases. With --all every one, counted as `freestone verify` counts them: a case whose
random numbers its inputs do not turn off is unsupported, since it expects those of NumPy; noise of NumPy's where the
exact number is 0 is allowed for (test/conformance/materialize.py). PASSING is the list of the cases that must pass,
test/conformance/passing.txt; exactly those do.
"""

import argparse
import collections
import concurrent.futures
import multiprocessing
import os
import pathlib
import sys
import tempfile
import unittest
import warnings

import numpy as np
from onnx import helper
from onnx.backend.test import BackendTest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "conformance"))

import freestone  # noqa: E402
import graphs  # noqa: E402
import materialize  # noqa: E402
from freestone.onnx_backend import FreestoneBackend, FreestoneBackendRep, NotCompiled, run_node  # noqa: E402

KINDS = {"OnnxBackendNodeModelTest": "node", "OnnxBackendSimpleModelTest": "simple", "OnnxBackendRealModelTest": "real",
         "OnnxBackendPyTorchConvertedModelTest": "pytorch-converted",
         "OnnxBackendPyTorchOperatorModelTest": "pytorch-operator"}


class ComparableRep(FreestoneBackendRep):
    """Leaves out a run with random numbers."""

    def run(self, inputs, **options):
        names = [value.name for value in self.program.inputs]
        for node in self.program.statistics["random"]:
            if any(name in {value.name for value in self.program.outputs} for name in node["outputs"]):
                switches = [inputs[names.index(name)] for name in node["switches"] if name in names]
                if not any(np.size(value) == 1 and not np.any(value) for value in switches):
                    raise NotCompiled(f"node '{node['node']}' draws random numbers; the case expects NumPy's")
        return super().run(inputs, **options)


class Comparable(FreestoneBackend):
    """One job and one worker a case, as `freestone verify` has by default."""

    @classmethod
    def is_compatible(cls, model, device="CPU", **options):
        return True  # `prepare` says so, and compiles only once

    @classmethod
    def prepare(cls, model, device="CPU", **options):
        prepared = super().prepare(model, device, jobs=1, threads=1, cache=False)
        return ComparableRep(prepared.program)


class Suite(BackendTest):
    """Compares also what a sequence has of rank 0, where ONNX's runner asks for a length."""

    @classmethod
    def assert_similar_outputs(cls, ref_outputs, outputs, *rest, **options):
        if isinstance(outputs, np.ndarray) and outputs.ndim == 0:
            ref_outputs, outputs = [ref_outputs], [outputs]
        super().assert_similar_outputs(ref_outputs, outputs, *rest, **options)


def cases():
    """(kind/name, test) of every case for the CPU."""
    noise = {name: {"atol": atol} for name, atol in materialize.NOISE.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the generators of the cases overflow on purpose
        for name, case in Suite(Comparable, __name__, test_kwargs=noise).test_cases.items():
            for test in unittest.defaultTestLoader.getTestCaseNames(case):
                if test.endswith("_cpu"):
                    yield f"{KINDS[name]}/{test.removesuffix('_cpu')}", case(test)


def run(name):
    result = unittest.TestResult()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        known[name].run(result)
    fault = (result.failures + result.errors + [("", "")])[0][1]
    return name, "failed" if fault else "unsupported" if result.skipped else "passed", fault


def run_all(names, jobs):
    """Each process takes every case that is next."""
    context = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(jobs, context) as pool:
        yield from pool.map(run, names, chunksize=4)


def one_node():
    """The rest of the interface."""
    total = run_node(helper.make_node("Add", ["a", "b"], ["sum"]), [np.float32([1, 2]), np.float32([3, 4])])
    assert total["sum"].tolist() == [4, 6] and total[0] is total["sum"]
    model = graphs.model("m (float[n] x) => (float[n] y) { y = Neg(x) }")
    assert FreestoneBackend.is_compatible(model) and not FreestoneBackend.supports_device("CUDA")
    assert FreestoneBackend.run_model(model, np.float32([1]))[0].tolist() == [-1]
    assert FreestoneBackend.prepare(model).run({"x": np.float32([2])}).y.tolist() == [-2]
    model.graph.node[0].op_type, model.graph.node[0].domain = "Foo", "com.example"
    model.opset_import.add(domain="com.example", version=1)
    assert not FreestoneBackend.is_compatible(model)
    try:
        FreestoneBackend.prepare(model)
    except freestone.Unsupported as error:
        assert "Foo" in str(error) and isinstance(error, unittest.SkipTest)
    else:
        raise AssertionError("a model with an unknown operator was compiled")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("passing", nargs="?", type=pathlib.Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    one_node()
    with tempfile.TemporaryDirectory() as home:
        os.environ["ONNX_HOME"] = home  # where the runner writes the data of its light models
        known = dict(cases())
        names = sorted(known) if arguments.all else sorted(known)[::80]
        results = collections.defaultdict(dict)
        for name, verdict, fault in run_all(names, arguments.jobs):
            results[verdict][name] = fault
    print(", ".join(f"{len(results[verdict])} {verdict}" for verdict in ("passed", "failed", "unsupported")))
    for name, fault in results["failed"].items():
        print(f"{name}: {fault}")
    wrong = bool(results["failed"]) or not results["passed"]
    if arguments.passing:
        listed = set(arguments.passing.read_text().split()) & set(names)
        for name in sorted(listed ^ set(results["passed"])):
            print(f"{name} {'does not pass' if name in listed else 'passes, too'}")
            wrong = True
    sys.exit(wrong)
