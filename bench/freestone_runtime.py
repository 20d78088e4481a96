"""The runtime's C ABI from Python, as far as benchmarks and tests of numbers need it: numpy arrays in and out."""

import ctypes
import json
import os
import pathlib
import subprocess

import ml_dtypes
import numpy as np

# freestone_dtype → numpy
DTYPES = {
    1: np.float16,
    2: ml_dtypes.bfloat16,
    3: np.float32,
    4: np.float64,
    5: np.bool_,
    6: np.int8,
    7: np.int16,
    8: np.int32,
    9: np.int64,
    10: np.uint8,
    11: np.uint16,
    12: np.uint32,
    13: np.uint64,
}
# numpy's kind → DLPack's type code; bfloat16 has no kind of its own
CODES = {"i": 0, "u": 1, "f": 2, "V": 4, "b": 6}


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class ValueInfo(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("name", ctypes.c_char_p),
        ("kind", ctypes.c_int),
        ("dtype", ctypes.c_int),
        ("rank", ctypes.c_int32),
        ("shape", ctypes.POINTER(ctypes.c_char_p)),
    ]


class InstanceOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("threads", ctypes.c_int32), ("unused", ctypes.c_uint64 * 12),
                ("queue_depth", ctypes.c_int32), ("switched_off", ctypes.c_uint32), ("crew", ctypes.c_void_p),
                ("assume_busy", ctypes.c_int32)]


class Counters(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t)] + [
        (name, ctypes.c_uint64)
        for name in (
            "runs",
            "binds",
            "plan_hits",
            "allocations",
            "phases",
            "waits",
            "sleeps",
            "arena_bytes",
            "planned_bytes",
            "live_bytes",
            "operations",
            "padding_operations",
            "moves",
            "submits",
            "host_waits",
            "host_wait_ns",
            "starved",
            "busy_ns",
            "parks",
            "alerts",
            "chunks",
            "borrowed",
            "entries",
            "host_calls",
            "claiming_runs",
            "steals",
            "preemptions",
            "kept_whole",
            "kept_near",
        )
    ]


def build_folder():
    """Where the build is: FREESTONE_BUILD, else build in this repository."""
    default = pathlib.Path(__file__).resolve().parents[1] / "build"
    return pathlib.Path(os.environ.get("FREESTONE_BUILD", default))


def freestone():
    """The path of the command."""
    return build_folder() / "bin" / "freestone"


def compile_model(model, artifact, *options):
    """The counters of a compilation, with the cache that FREESTONE_CACHE_DIR names, as ctest does; the user's own stays as it is."""
    cache = [] if "FREESTONE_CACHE_DIR" in os.environ else ["--no-cache"]
    command = [freestone(), "compile", *cache, model, "-o", artifact, "--json", *options]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["counters"]


def check_order():
    """Has the order of every program proved that is compiled, in a cache of such programs alone."""
    os.environ.setdefault("FREESTONE_CHECK_ORDER", "1")
    if folder := os.environ.get("FREESTONE_CACHE_DIR"):
        os.environ["FREESTONE_CACHE_DIR"] = f"{folder}-in-order"


class Model:
    """One artifact with one instance of its own."""

    def __init__(self, path, threads=1, switched_off=0, assume_busy=False):
        self.runtime = ctypes.CDLL(str(build_folder() / "lib" / "libfreestone_runtime.so"))
        self.runtime.freestone_last_error.restype = ctypes.c_char_p
        for name in ("input", "output"):
            getattr(self.runtime, f"freestone_artifact_{name}_count").restype = ctypes.c_size_t
        self.artifact, self.instance = ctypes.c_void_p(), ctypes.c_void_p()
        self._call("artifact_load", os.fsencode(path), None, ctypes.byref(self.artifact))
        options = InstanceOptions(ctypes.sizeof(InstanceOptions), threads, switched_off=switched_off,
                                  assume_busy=assume_busy)
        self._call("instance_create", self.artifact, ctypes.byref(options), ctypes.byref(self.instance))
        self.inputs, self.outputs = self._values("input"), self._values("output")
        self.bound = {}

    def _call(self, name, *arguments):
        if getattr(self.runtime, f"freestone_{name}")(*arguments) != 0:
            raise RuntimeError(self.runtime.freestone_last_error().decode())

    def _values(self, kind):
        values = []
        for index in range(getattr(self.runtime, f"freestone_artifact_{kind}_count")(self.artifact)):
            info = ValueInfo(ctypes.sizeof(ValueInfo))
            self._call(f"artifact_{kind}", self.artifact, ctypes.c_size_t(index), ctypes.byref(info))
            values.append((info.name.decode(), DTYPES[info.dtype]))
        return values

    def bind(self, feeds):
        """Binds every input; the arrays are kept alive, not copied."""
        for index, (name, dtype) in enumerate(self.inputs):
            array = np.asarray(feeds[name], dtype=dtype, order="C")
            shape = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
            code = CODES[array.dtype.kind]
            view = DLTensor(array.ctypes.data, 1, 0, array.ndim, code, array.itemsize * 8, 1, shape, None, 0)
            self._call("instance_set_input", self.instance, ctypes.c_size_t(index), ctypes.byref(view))
            self.bound[name] = array

    def run_bound(self):
        self._call("instance_run", self.instance)

    def run(self, feeds):
        """Returns copies of all outputs, in order."""
        self.bind(feeds)
        self.run_bound()
        results = []
        for index, (_, dtype) in enumerate(self.outputs):
            view = DLTensor()
            self._call("instance_output", self.instance, ctypes.c_size_t(index), ctypes.byref(view))
            result = np.empty(view.shape[: view.ndim], dtype)
            if result.nbytes:
                ctypes.memmove(result.ctypes.data, view.data + view.byte_offset, result.nbytes)
            results.append(result)
        return results

    def counters(self):
        counters = Counters(ctypes.sizeof(Counters))
        self._call("instance_counters", self.instance, ctypes.byref(counters))
        return counters

    def close(self):
        self.runtime.freestone_instance_release(self.instance)
        self.runtime.freestone_artifact_release(self.artifact)
        self.instance = self.artifact = None
