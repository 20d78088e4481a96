"""A compiled program that runs on the memory of PyTorch's tensors (include/freestone/runtime.h)."""

from __future__ import annotations

import ctypes
import functools
import threading
from ctypes import POINTER, c_char_p, c_int32, c_int64, c_size_t, c_uint64, c_void_p

import torch

from .library import find_library


class _Tensor(ctypes.Structure):
    """DLPack's DLTensor."""

    _fields_ = [
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("rank", c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", POINTER(c_int64)),
        ("strides", c_void_p),
        ("offset", c_uint64),
    ]


class _InstanceOptions(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("threads", c_int32)]


_CODES = {"f": 2, "b": 4, "i": 0, "u": 1}


@functools.cache
def _library():
    library = ctypes.CDLL(find_library("libfreestone_runtime.so.0"))
    library.freestone_last_error.restype = c_char_p
    library.freestone_instance_set_input.argtypes = [c_void_p, c_size_t, c_void_p]
    library.freestone_instance_set_output.argtypes = [c_void_p, c_size_t, c_void_p]
    library.freestone_instance_run.argtypes = [c_void_p]
    library.freestone_instance_release.argtypes = [c_void_p]
    library.freestone_artifact_release.argtypes = [c_void_p]
    return library


def _check(status: int) -> None:
    if status:
        raise RuntimeError(_library().freestone_last_error().decode())


class _Slot:
    """An input or output: its tensor for the runtime, and what is bound to it."""

    __slots__ = ("tensor", "reference", "shape", "bound", "index")

    def __init__(self, index: int, dtype: str, rank: int):
        self.index = index
        self.shape = (c_int64 * max(rank, 1))()
        self.tensor = _Tensor(device_type=1, rank=rank, code=_CODES[dtype[0]], bits=0, lanes=1, shape=self.shape)
        self.tensor.bits = 8 if dtype == "i1" else int(dtype.strip("bfiu"))
        if dtype == "i1":
            self.tensor.code = 6
        self.reference = ctypes.addressof(self.tensor)
        self.bound = None


class Program:
    """An artifact with one instance. Calls from several threads take turns."""

    def __init__(self, path: str, inputs: list[tuple[str, int]], outputs: list[tuple[str, int]]):
        self.library = _library()
        self.artifact = c_void_p()
        self.instance = None
        _check(self.library.freestone_artifact_load(path.encode(), None, ctypes.byref(self.artifact)))
        self.inputs = [_Slot(i, dtype, rank) for i, (dtype, rank) in enumerate(inputs)]
        self.outputs = [_Slot(i, dtype, rank) for i, (dtype, rank) in enumerate(outputs)]
        self.lock = threading.Lock()
        self.threads = 0

    def _start(self) -> None:
        options = _InstanceOptions(ctypes.sizeof(_InstanceOptions), torch.get_num_threads())
        whole = (ctypes.c_byte * 256)()
        ctypes.memmove(whole, ctypes.byref(options), ctypes.sizeof(options))
        instance = c_void_p()
        _check(self.library.freestone_instance_create(self.artifact, whole, ctypes.byref(instance)))
        self.instance, self.threads = instance, torch.get_num_threads()

    def run(self, inputs: list[torch.Tensor], outputs: list[torch.Tensor]) -> None:
        """All of them contiguous and on the CPU. Nothing is copied."""
        with self.lock:
            if self.instance is None:
                self._start()
            for slots, tensors, bind in ((self.inputs, inputs, self.library.freestone_instance_set_input),
                                         (self.outputs, outputs, self.library.freestone_instance_set_output)):
                for slot, tensor in zip(slots, tensors):
                    wanted = (tensor.data_ptr(), *tensor.shape)
                    if slot.bound == wanted:
                        continue
                    slot.tensor.data = wanted[0] or slot.reference
                    for axis, size in enumerate(wanted[1:]):
                        slot.shape[axis] = size
                    status = bind(self.instance, slot.index, slot.reference)
                    slot.bound = None if status else wanted
                    _check(status)
            _check(self.library.freestone_instance_run(self.instance))

    def __del__(self):
        if getattr(self, "instance", None) is not None:
            self.library.freestone_instance_release(self.instance)
        if getattr(self, "artifact", None):
            self.library.freestone_artifact_release(self.artifact)
