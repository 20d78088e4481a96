"""How long calls of a program take."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

from freestone.errors import InvalidArgument

if TYPE_CHECKING:
    from freestone.program import Program, Value


class Timing(NamedTuple):
    """Seconds of calls, each with the outputs as new arrays."""

    calls: int
    median: float
    minimum: float
    p99: float
    operations: int
    """Floating-point operations of a call."""

    @property
    def gflops(self) -> float:
        return self.operations / self.median * 1e-9 if self.operations else 0.0

    def __str__(self) -> str:
        return (f"{self.calls} calls: median {self.median * 1e3:.3f} ms, minimum {self.minimum * 1e3:.3f} ms, "
                f"p99 {self.p99 * 1e3:.3f} ms, {self.gflops:.1f} GFLOP/s")

    def _repr_html_(self) -> str:
        return f"<pre>{self}</pre>"


def _dtype_of(value: Value) -> Any:
    """NumPy's type of a value, or that of ml_dtypes where NumPy has none."""
    import numpy

    try:
        return numpy.dtype(value.dtype)
    except TypeError:
        import ml_dtypes

        return numpy.dtype(getattr(ml_dtypes, value.dtype))


def bench(program: Program, seconds: float, sizes: dict[str, int]) -> Timing:
    """Times calls with random inputs: floats from 0 to 1, zeros for integers. Sizes that are not given are 1, or the
    smallest that they may be."""
    import numpy

    known = {size.name for size in program.sizes if not size.is_result}
    for name in sizes:
        if name not in known:
            raise InvalidArgument(f"there is no size '{name}'; there is {', '.join(sorted(known)) or 'none'}")
    chosen = {size.name: sizes.get(size.name, max(size.lower, size.multiple, 1)) for size in program.sizes
              if not size.is_result}
    shapes = program.plan(chosen)["shapes"]
    random = numpy.random.default_rng(0)
    inputs: dict[str, Any] = {}
    for value in program.inputs:
        if value.kind != "tensor":
            raise InvalidArgument(f"input '{value.name}' is no tensor: random inputs are tensors")
        shape, dtype = shapes[value.name], _dtype_of(value)
        inputs[value.name] = (random.random(shape, dtype=numpy.float32).astype(dtype) if "float" in value.dtype
                              else numpy.zeros(shape, dtype))
    program.run(inputs)
    times: list[float] = []
    end = time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        began = time.perf_counter()
        program.run(inputs)
        times.append(time.perf_counter() - began)
    times.sort()
    return Timing(len(times), times[len(times) // 2], times[0], times[min(len(times) - 1, len(times) * 99 // 100)],
                  program.counters()["operations"])
