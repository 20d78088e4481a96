"""The compiler's interface for graphs (compiler/driver/Interface.h), opened on demand."""

from __future__ import annotations

import ctypes
import functools
import json
import os
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int32, c_int64, c_size_t, c_uint64, c_void_p

from .library import find_library


class Refused(Exception):
    """An operation, or a program, that the compiler can't compile; the text says why."""


class _Bound(ctypes.Structure):
    _fields_ = [("symbol", c_char_p), ("minimum", c_int64), ("maximum", c_int64), ("multiple_of", c_int64)]


class _Options(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("model_path", c_char_p),
        ("output_path", c_char_p),
        ("target", c_char_p),
        ("optimization_level", c_int32),
        ("strip_weights", c_int32),
        ("threads", c_int32),
        ("dim_bound_count", c_size_t),
        ("dim_bounds", POINTER(_Bound)),
        ("print_ir_tree_dir", c_char_p),
        ("training", c_char_p),
        ("disable", c_char_p),
        ("progress", c_void_p),
        ("progress_user", c_void_p),
        ("cache_folder", c_char_p),
        ("cache_read_only", c_int32),
        ("say", c_void_p),
        ("say_user", c_void_p),
        ("explain_misses", c_int32),
        ("cache_max_bytes", c_uint64),
    ]


class _Result(ctypes.Structure):
    _fields_ = [("status", c_int32), ("text", c_void_p), ("error", c_void_p)]


class _GraphInterface(ctypes.Structure):
    _fields_ = [
        ("create", CFUNCTYPE(c_void_p, POINTER(_Options), POINTER(_Result))),
        ("release", CFUNCTYPE(None, c_void_p)),
        ("reason", CFUNCTYPE(c_char_p, c_void_p)),
        ("symbol", CFUNCTYPE(None, c_void_p, c_char_p, c_int64, c_int64)),
        ("input", CFUNCTYPE(c_int64, c_void_p, c_char_p, c_char_p, c_int64, POINTER(c_char_p), c_char_p)),
        ("constant", CFUNCTYPE(c_int64, c_void_p, c_char_p, c_int64, POINTER(c_int64), c_char_p, c_size_t)),
        ("apply", CFUNCTYPE(c_int64, c_void_p, c_char_p, POINTER(c_int64), c_size_t, c_char_p, c_char_p)),
        ("describe", CFUNCTYPE(c_char_p, c_void_p, c_int64)),
        ("output", CFUNCTYPE(c_int64, c_void_p, c_char_p, c_int64)),
        ("compile", CFUNCTYPE(_Result, c_void_p, c_char_p)),
    ]


class _Interface(ctypes.Structure):
    _fields_ = [
        ("version", c_int64),
        ("build", c_char_p),
        ("functions", c_void_p * 8),
        ("free_result", CFUNCTYPE(None, POINTER(_Result))),
        ("graph", POINTER(_GraphInterface)),
    ]


_VERSION = 3


@functools.cache
def _interface() -> _Interface:
    library = ctypes.CDLL(find_library("libfreestone_compiler.so"))
    library.freestone_compiler.restype = POINTER(_Interface)
    interface = library.freestone_compiler().contents
    if interface.version != _VERSION:
        raise RuntimeError(f"the compiler's interface has version {interface.version}, not {_VERSION}")
    return interface


class Builder:
    """One graph. Refused operations raise `Refused`; then the graph is of no use any more."""

    def __init__(self, cache_folder: str | None = None, disable: str = "", dump: str = ""):
        self.interface = _interface()
        self.functions = self.interface.graph.contents
        options = _Options(struct_size=ctypes.sizeof(_Options), target=b"host", optimization_level=2)
        if cache_folder:
            os.makedirs(cache_folder, mode=0o700, exist_ok=True)
            options.cache_folder = cache_folder.encode()
        if disable:
            options.disable = disable.encode()
        if dump:
            options.print_ir_tree_dir = dump.encode()
        result = _Result()
        self.graph = self.functions.create(ctypes.byref(options), ctypes.byref(result))
        if not self.graph:
            raise Refused(self._take(result))

    def __del__(self):
        if getattr(self, "graph", None):
            self.functions.release(self.graph)
            self.graph = None

    def _take(self, result: _Result) -> str:
        pointer = result.error or result.text
        text = ctypes.string_at(pointer).decode() if pointer else ""
        self.interface.free_result(ctypes.byref(result))
        return text

    def _number(self, number: int) -> int:
        if number < 0:
            raise Refused(self.functions.reason(self.graph).decode())
        return number

    def symbol(self, name: str, minimum: int, maximum: int) -> None:
        self.functions.symbol(self.graph, name.encode(), minimum, maximum)

    def input(self, name: str, dtype: str, shape, symbol: str | None = None) -> int:
        texts = (c_char_p * len(shape))(*[str(size).encode() for size in shape])
        bound = symbol.encode() if symbol else None
        return self._number(
            self.functions.input(self.graph, name.encode(), dtype.encode(), len(shape), texts, bound))

    def constant(self, dtype: str, dims, data: bytes) -> int:
        sizes = (c_int64 * len(dims))(*dims)
        return self._number(
            self.functions.constant(self.graph, dtype.encode(), len(dims), sizes, data, len(data)))

    def apply(self, operation: str, operands, attributes: str | None, node: str | None) -> int:
        numbers = (c_int64 * len(operands))(*operands)
        return self._number(
            self.functions.apply(self.graph, operation.encode(), numbers, len(operands),
                                 attributes.encode() if attributes else None, node.encode() if node else None))

    def describe(self, number: int):
        return json.loads(self.functions.describe(self.graph, number))

    def output(self, name: str, number: int) -> None:
        self._number(self.functions.output(self.graph, name.encode(), number))

    def compile(self, path: str) -> dict:
        """Writes the artifact and returns the compiler's statistics. Releases the GIL."""
        result = self.functions.compile(self.graph, path.encode())
        failed = result.status != 0
        text = self._take(result)
        if failed:
            raise Refused(text)
        return json.loads(text)
