"""Both sides of a row: prepared, run in turns, and their results compared."""

import contextlib
import ctypes
import math
import pathlib
import subprocess
import tempfile
import time

import freestone_runtime
import numpy as np
import onnxruntime
from onnx import helper
from onnxruntime.capi.onnxruntime_pybind11_state import Fail, InvalidArgument, InvalidGraph, NotImplemented

ROUNDS = 5
# What the peer throws at a model that it can't run.
REFUSALS = (Fail, InvalidArgument, InvalidGraph, NotImplemented)
# Relative to the largest magnitude of the peer's result. bfloat16 has 8 bits, and is compared with float32.
TOLERANCE = {"bfloat16": 3e-2}


class Refused(Exception):
    """Freestone does not compile a model."""


class Freestone:
    """A compiled model."""

    def __init__(self, model, target, options=()):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.onnx"
            path.write_bytes(model.SerializeToString())
            artifact = path.with_suffix(".stone")
            command = [freestone_runtime.freestone(), "compile", "--no-cache", path, "-o", artifact, "--target", target]
            done = subprocess.run([*command, *options], capture_output=True, text=True)
            if done.returncode:
                raise Refused(done.stderr.strip().splitlines()[-1].removeprefix("freestone: "))
            self.bytes = artifact.read_bytes()

    @contextlib.contextmanager
    def load(self, feeds, threads):
        """A function that runs once, and the outputs of a first run, for as long as the context is open."""
        with tempfile.NamedTemporaryFile(suffix=".stone") as file:
            file.write(self.bytes)
            file.flush()
            model = freestone_runtime.Model(file.name, threads)
        try:
            yield model.run_bound, model.run(feeds)
        finally:
            model.close()


class OnnxRuntime:
    """The same for ONNX Runtime: inputs and outputs are bound, so that nothing is timed that the other side does not
    do."""

    def __init__(self, model):
        self.model = model.SerializeToString()

    @contextlib.contextmanager
    def load(self, feeds, threads):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.log_severity_level = 4
        session = onnxruntime.InferenceSession(self.model, options, providers=["CPUExecutionProvider"])
        inputs = {name: onnxruntime.OrtValue.ortvalue_from_numpy(array) for name, array in feeds.items()}
        names = [output.name for output in session.get_outputs()]
        outputs = session.run_with_ort_values(names, inputs)
        arrays = [to_array(value) for value in outputs]
        binding = session.io_binding()
        for name, value in inputs.items():
            binding.bind_ortvalue_input(name, value)
        for name, value in zip(names, outputs):
            binding.bind_ortvalue_output(name, value)
        yield lambda: session.run_with_iobinding(binding), arrays


def to_array(value):
    """A NumPy copy of an OrtValue. Unlike ONNX Runtime's own conversion, supports bfloat16."""
    dtype = helper.tensor_dtype_to_np_dtype(value.element_type())
    count = math.prod(value.shape())
    elements = ctypes.string_at(value.data_ptr(), count * dtype.itemsize) if count else b""
    return np.frombuffer(elements, dtype).reshape(value.shape())


def time_in_turns(runs, seconds):
    """The least seconds of a run of each, all having so many seconds in turns; a run of a turn is not counted, for it
    warms caches."""
    best = [float("inf")] * len(runs)
    spent = [0.0] * len(runs)
    for _ in range(ROUNDS):
        for number, run in enumerate(runs):
            if spent[number] >= seconds:
                continue
            # The workers of the other side may still spin.
            time.sleep(0.002)
            begin = time.perf_counter()
            run()
            end = begin + seconds / ROUNDS
            while True:
                before = time.perf_counter()
                run()
                now = time.perf_counter()
                best[number] = min(best[number], now - before)
                if now >= end:
                    break
            spent[number] += now - begin
    return best


def get_error(ours, theirs, dtype):
    """What differs, in words; nothing where results agree."""
    for number, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
        if mine.shape != other.shape:
            return f"output {number}: {list(mine.shape)} instead of {list(other.shape)}"
        if mine.size == 0:
            continue
        # Quantized results: different float rounding may lead to the neighbouring integer.
        if mine.dtype.kind in "iu" and mine.itemsize == 1:
            if np.abs(mine.astype(int) - other.astype(int)).max() > 1:
                return f"output {number}: differs by more than 1"
            continue
        mine, other = mine.astype(np.float64), other.astype(np.float64)
        if (np.isnan(mine) != np.isnan(other)).any():
            return f"output {number}: not a number, where the other has one"
        # Infinities that are equal differ by no number.
        difference = np.where(mine == other, 0.0, np.abs(mine - other))
        scale = max(np.abs(other, where=np.isfinite(other), out=np.zeros_like(other)).max(), 1e-30)
        error = np.nanmax(difference, initial=0.0) / scale
        if error > TOLERANCE.get(dtype, 1e-4):
            return f"output {number}: differs by {error:.1e} of its largest magnitude"
    return ""
