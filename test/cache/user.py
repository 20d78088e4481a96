"""A user of the command with a home folder and two small models; the first argument of the script is the command."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

freestone = sys.argv[1]


def save_model(path, width):
    weights = np.random.default_rng(width).standard_normal((8, width), dtype=np.float32)
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "small",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 8])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", width])],
                              [numpy_helper.from_array(weights, "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)


class User:
    """A home folder with two small models."""

    def __init__(self, folder):
        self.home = pathlib.Path(folder)
        self.variables = {"HOME": folder}
        self.models = [f"{folder}/{name}.onnx" for name in ("four", "five")]
        for model, width in zip(self.models, (4, 5)):
            save_model(model, width)

    def environment(self):
        names = ("FREESTONE_CACHE", "FREESTONE_CACHE_DIR", "FREESTONE_CACHE_SIZE", "XDG_CACHE_HOME", "HOME")
        return {**{name: value for name, value in os.environ.items() if name not in names}, **self.variables}

    def run(self, *arguments, status=0):
        done = subprocess.run([freestone, *map(str, arguments)], env=self.environment(), capture_output=True, text=True)
        assert done.returncode == status, (arguments, done.returncode, done.stdout, done.stderr)
        return done

    def compile(self, number=0, *options):
        """Returns whether it was cached."""
        done = self.run("compile", self.models[number], "-o", self.home / "out.stone", *options)
        assert "the cache" not in done.stderr, done.stderr
        return "compiled before" in done.stderr

    def json(self, *arguments, status=0):
        return json.loads(self.run("cache", *arguments, "--json", status=status).stdout)

    def json_of(self, *arguments):
        return json.loads(self.run(*arguments, "--json").stdout)

    def keys(self, kind="model"):
        return [entry["key"] for entry in self.json("list") if entry["kind"] == kind]


def run_checks(*checks):
    """Each for a new user."""
    for check in checks:
        begin = time.time()
        with tempfile.TemporaryDirectory() as folder:
            check(User(folder))
        print(f"{check.__name__}: right ({time.time() - begin:.1f} s)", flush=True)
