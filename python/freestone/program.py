"""A compiled model that runs."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Callable
from typing import Any, NamedTuple

from freestone import _freestone
from freestone.errors import InvalidArgument


class Value(NamedTuple):
    """An input or output of a model."""

    name: str
    dtype: str
    """NumPy's name: "float32"; those that NumPy lacks ("bfloat16", "float8_e5m2", "int4") are of ml_dtypes."""
    shape: tuple[int | str, ...]
    """Numbers, and expressions of symbolic sizes: ("batch", "4*seq", 768)."""
    kind: str = "tensor"
    """Or "sequence", "optional", "optional sequence"; dtype and shape are then those of an element."""

    def __str__(self) -> str:
        kind = {"tensor": "", "optional": "optional "}.get(self.kind, f"{self.kind} of ")
        return f"{self.name}: {kind}{self.dtype}[{', '.join(map(str, self.shape))}]"


class Size(NamedTuple):
    """A symbolic size, and what it may be."""

    name: str
    lower: int
    upper: int | None
    """Inclusive; None: no bound."""
    multiple: int
    is_result: bool
    """Known only after a run, such as the number of elements that are not zero."""

    def __str__(self) -> str:
        upper = "" if self.upper is None else self.upper
        multiple = f", a multiple of {self.multiple}" if self.multiple > 1 else ""
        return f"{self.name} in {self.lower}:{upper}{multiple}" + (", known after a run" if self.is_result else "")


def _values(described: tuple[tuple[str, str, tuple[str, ...]], ...],
            kinds: tuple[str, ...] = ()) -> tuple[Value, ...]:
    return tuple(Value(name, dtype, tuple(int(size) if size.isdigit() else size for size in shape), kind)
                 for (name, dtype, shape), kind in zip(described, kinds or ("tensor",) * len(described)))


class Program(_freestone.Program):
    """A compiled model. Call it with arrays, in the order of `inputs` or by name:

        logits = program(x=x)

    Inputs are NumPy arrays, or anything that speaks DLPack (PyTorch, JAX), C-contiguous on the CPU, and read in place;
    numbers and lists become arrays of the input's element type. Outputs are new arrays of the library of the inputs, or
    those given as `out={"logits": array}`, which are written in place. One output comes as it is, several as a tuple in
    the order of `outputs`.

    A sequence is a list of arrays, each of a shape of its own. An optional is an array (an optional sequence a list) or
    None, as it also is if it is not given.

    Calls release the GIL, and several threads may call one program at the same time. Programs that keep values from
    call to call do one call after another. Raises ShapeError where an input does not fit, and RunFailed.
    """

    def __init__(self, artifact: _freestone.Artifact, threads: int = 0, *, name: str = "program",
                 statistics: dict[str, Any] | None = None, inspect: Callable[[str], str] | None = None):
        if not isinstance(threads, int) or not 0 <= threads < 1 << 31:
            raise InvalidArgument("threads is a number of workers, or 0 for as many as the machine offers, not "
                                  f"{threads!r}")
        super().__init__(artifact, threads)
        self.name = name
        self.statistics = statistics
        """What the compiler says of the compilation; None for a loaded file."""
        input_kinds, output_kinds = self._kinds
        self.inputs = _values(self._inputs, input_kinds)
        self.outputs = _values(self._outputs, output_kinds)
        self.sizes = tuple(Size(*size) for size in self._sizes)
        """The symbolic sizes."""
        self._inspect = inspect

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the .stone file, which `load` and the runtime read without the compiler. Raises FileError."""
        self._save(os.fsdecode(os.fspath(path)))

    def inspect(self, level: str | None = None) -> Any:
        """The program at a level: "graph", "tile", "task", "llvm", "asm", or "tiles", which explains every tiling.

        Without a level: everything that the compiled file says about itself, as a dict.
        """
        if level is None:
            return json.loads(self._describe())
        if not isinstance(level, str):
            raise InvalidArgument(f"a level is a name, such as 'graph' or 'asm', not {level!r}")
        if self._inspect is None:
            raise InvalidArgument(f"{self.name} holds only machine code; compile the model to see the level '{level}'")
        return self._inspect(level)

    def bench(self, seconds: float = 1.0, **sizes: int) -> Any:
        """Times calls with random inputs at these values of the symbolic sizes; see freestone.timing."""
        from freestone.timing import bench

        return bench(self, seconds, sizes)

    def __repr__(self) -> str:
        lines = [f"<freestone.Program {self.name}"]
        lines += [f"  input  {value}" for value in self.inputs] + [f"  output {value}" for value in self.outputs]
        return "\n".join(lines + [f"  size   {size}" for size in self.sizes]) + ">"

    def _repr_html_(self) -> str:
        rows = [(kind, value.name, str(value).removeprefix(f"{value.name}: "))
                for kind, values in (("input", self.inputs), ("output", self.outputs)) for value in values]
        rows += [("size", size.name, str(size).partition(" in ")[2]) for size in self.sizes]
        body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
        return f"<table><caption>{html.escape(self.name)}</caption>{body}</table>"
