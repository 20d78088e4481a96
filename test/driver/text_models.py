"""Models from ONNX's text, which the tool compiles and runs on several numbers of workers."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / folder) for folder in ("bench", "test/codegen")]

import freestone_runtime
import numpy as np
import onnx.parser
from targets import distinct


class Tool:
    def __init__(self, freestone, folder):
        self.freestone, self.folder = freestone, pathlib.Path(folder)
        self.model, self.artifact = self.folder / "m.onnx", self.folder / "m.stone"
        self.programs = []  # the artifact on each number of workers
        # The runtime is that beside the command.
        os.environ.setdefault("FREESTONE_BUILD", str(pathlib.Path(freestone).resolve().parents[1]))

    def compile(self, graph, target, *options):
        """Returns the counters of the compilation."""
        self.options = ("--target", target, *options)
        self.close()
        header = '<ir_version: 10, opset_import: ["" : 24, "ai.onnx.preview.training" : 1]>'
        self.model.write_bytes(onnx.parser.parse_model(f"{header} {graph}").SerializeToString())
        command = [self.freestone, "compile", self.model, "-o", self.artifact, "--json", *self.options]
        return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["counters"]

    def spaces(self):
        """What every call of a program takes and writes, by the names of the buffers."""
        command = [self.freestone, "inspect", self.model, "--level", "task", *self.options]
        text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        calls = re.findall(r"task.space @\S+?\((.*?)\) to \((.*?)\) sizes", text)
        return [(taken.split(", "), written.split(", ")) for taken, written in calls]

    def explain(self):
        command = [self.freestone, "inspect", "--tiles", self.model, *self.options]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout

    def run(self, inputs, workers):
        np.savez(self.folder / "in.npz", **inputs)
        command = [self.freestone, "run", self.artifact, "--threads", str(workers), "--input", self.folder / "in.npz", "--outputs",
                   self.folder / "out.npz"]
        return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def close(self):
        while self.programs:
            self.programs.pop().close()

    def expect(self, inputs, expected, what):
        self.programs = self.programs or [freestone_runtime.Model(self.artifact, workers) for workers in (1, 2, 3)]
        for workers, program in enumerate(self.programs, 1):
            actual = dict(zip((name for name, _ in program.outputs), program.run(inputs)))["y"]
            assert actual.dtype == expected.dtype and actual.shape == expected.shape, what
            assert actual.tobytes() == expected.tobytes(), f"{what}: other bits on {workers} workers"

    def expect_failure(self, inputs, message):
        done = self.run(inputs, 2)
        assert done.returncode == 1 and message in done.stderr, done.stderr


def check_targets(freestone, *checks):
    """Calls each check(tool, random, target) for AVX2 and for this machine, with the cache that FREESTONE_CACHE_DIR names, if any."""
    if "FREESTONE_CACHE_DIR" not in os.environ:
        os.environ.setdefault("FREESTONE_CACHE", "off")
    random = np.random.default_rng(7)
    with tempfile.TemporaryDirectory() as folder:
        tool = Tool(freestone, folder)
        for target in distinct("host", "x86-64-v3", tool=freestone):
            for check in checks:
                check(tool, random, target)
        tool.close()
