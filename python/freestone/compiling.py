"""From a model to a program: `compile`, `load` and `check`."""

from __future__ import annotations

import json
import operator
import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from freestone import _freestone
from freestone.errors import InvalidArgument
from freestone.program import Program
from freestone.progress import Phases

Range = tuple[int, "int | None"] | tuple[int, "int | None", int]


def _source(model: Any) -> tuple[str | bytes, str]:
    """A path or bytes, and the name that messages call it."""
    if isinstance(model, (str, os.PathLike)):
        path = os.fspath(model)
        return os.fsdecode(path), os.path.basename(os.fsdecode(path))
    if isinstance(model, (bytes, bytearray, memoryview)):
        return bytes(model), "model.onnx"
    serialize = getattr(model, "SerializeToString", None)  # onnx.ModelProto
    if serialize is None:
        serialize = getattr(getattr(model, "model_proto", None), "SerializeToString", None)  # torch.onnx.ONNXProgram
    if serialize is None:
        raise InvalidArgument(f"a model is a path, bytes or an onnx.ModelProto, not {type(model).__name__}")
    return serialize(), "model.onnx"


def _is_size(value: Any) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool) and abs(operator.index(value)) < 1 << 31


def _by_symbol(option: str, given: Any) -> Iterable[tuple[str, Any]]:
    if given is None:
        return ()
    if not isinstance(given, Mapping) or not all(isinstance(symbol, str) for symbol in given):
        raise InvalidArgument(f"{option} is a dict by the names of symbolic sizes, not {given!r}")
    return given.items()


def _is_range(bounds: Any) -> bool:
    return (isinstance(bounds, (tuple, list)) and len(bounds) in (2, 3) and _is_size(bounds[0])
            and (bounds[1] is None or _is_size(bounds[1])) and _is_size(bounds[-1] if len(bounds) == 3 else 1))


def _settings(target: str, dims: Mapping[str, Range] | None, bind: Mapping[str, int] | None,
              disable: Iterable[str], tune: bool, cache: bool, jobs: int, strip_weights: bool,
              progress: Callable[[str, int, int], object] | None) -> _freestone.Settings:
    settings = _freestone.Settings()
    if not isinstance(target, str):
        raise InvalidArgument(f"target is a name, such as 'host' or 'x86-64-v3', not {target!r}")
    settings.target = target
    settings.disable = ",".join([disable] if isinstance(disable, str) else disable)
    ranges: list[tuple[str, int, int | None, int]] = []
    for symbol, bounds in _by_symbol("dims", dims):
        if not _is_range(bounds):
            raise InvalidArgument(f"the sizes of '{symbol}' are whole numbers, (lower, upper) or (lower, upper, "
                                  f"multiple), with None for no upper bound, not {bounds!r}")
        ranges.append((symbol, bounds[0], bounds[1], bounds[2] if len(bounds) == 3 else 1))
    for symbol, size in _by_symbol("bind", bind):
        if not _is_size(size):
            raise InvalidArgument(f"the size that '{symbol}' is fixed to is a whole number, not {size!r}")
        ranges.append((symbol, size, size, 1))
    settings.ranges = ranges
    settings.strip_weights = strip_weights
    settings.tune = tune
    settings.no_cache = not cache
    if not _is_size(jobs):
        raise InvalidArgument(f"jobs is a number of programs compiled at the same time, or 0, not {jobs!r}")
    settings.jobs = jobs
    settings.progress = progress
    settings.warn = lambda sentence: warnings.warn(sentence, RuntimeWarning, stacklevel=2)
    return settings


def compile(model: Any, *, target: str = "host", dims: Mapping[str, Range] | None = None,
            bind: Mapping[str, int] | None = None, disable: Iterable[str] = (), tune: bool = False,
            cache: bool = True, jobs: int = 0, strip_weights: bool = False, threads: int = 0,
            progress: bool | Callable[[str, int, int], object] | None = None) -> Program:
    """Compiles a model once for all its shapes, or finds it in the user's cache.

    model: the path of an .onnx file, its bytes, or an `onnx.ModelProto`.
    target: "host", "x86-64-v3" or "x86-64-v4".
    dims: what symbolic sizes may be: {"seq": (2, 1024)}, (8, 1024, 8) for multiples of 8; None: no upper bound.
    bind: fixes symbolic sizes: {"batch": 8}.
    disable: names of optimizations to leave out, as of `freestone compile --disable`.
    tune: times tilings on this machine, and takes the fastest.
    cache: False compiles even what was compiled before, and keeps nothing.
    jobs: programs compiled at the same time; 0: as many as CPUs and memory allow.
    strip_weights: leaves the weights out of what `save` writes; `load` then takes them.
    threads: workers of a run; 0: as many as the machine offers.
    progress: called with (phase, done, total); True shows a bar by tqdm, if that is installed.

    Raises Unsupported with every node that can't be compiled, InvalidArgument for an invalid model or option, and
    Incompatible where only the runtime is installed.
    """
    source, name = _source(model)
    with Phases(progress is True) as phases:
        follow = phases.follow if progress is True else progress or None
        settings = _settings(target, dims, bind, disable, tune, cache, jobs, strip_weights, follow)
        artifact, statistics = _freestone.compile(source, name, settings)
    settings.progress = None
    return Program(artifact, threads, name=name, statistics=json.loads(statistics) if statistics else {},
                   inspect=lambda level: _freestone.inspect(*_source(model), level, settings))


def load(source: Any, *, weights: Mapping[str, Any] | None = None, threads: int = 0) -> Program:
    """Loads a compiled model: the path of a .stone file, which is mapped, or its bytes.

    weights: arrays by name, for a file that was compiled without; those that it does not need are left alone.
    threads: workers of a run; 0: as many as the machine offers.

    Raises FileError, BadArtifact and Incompatible. Loading runs native code: load only what you trust.
    """
    if isinstance(source, (bytes, bytearray, memoryview)):
        given: str | bytes = bytes(source)
        name = "program.stone"
    else:
        given = os.fsdecode(os.fspath(source))
        name = os.path.basename(given)
    artifact = _freestone.load(given)
    if weights is not None:
        _freestone.supply_weights(artifact, dict(weights), threads)
    return Program(artifact, threads, name=name)


def check(model: Any) -> dict[str, Any]:
    """What a model is: its inputs, outputs, opsets, number of nodes, and in "unsupported" why it can't be compiled."""
    source, name = _source(model)
    result: dict[str, Any] = json.loads(
        _freestone.check(source, name, _settings("host", None, None, (), False, True, 0, False, None)))
    return result
