"""The backend of torch.compile: Dynamo's graphs, made functional and differentiated by AOTAutograd, become programs."""

from __future__ import annotations

import functools
import os
import tempfile
import time

import torch

from .builder import Builder
from .calls import make_call
from .counters import counters
from .decompositions import decompositions
from .lowering import lower
from .partition import compile_parts
from .runtime import Program


def compile_graph(module: torch.fx.GraphModule, example_inputs=None):
    """A function of the list of a graph's arguments. Raises `Unlowered` where an operator can't be compiled."""
    counters["graphs"] += 1
    builder = Builder(cache_folder=cache_folder())
    begin = time.perf_counter()
    lowered = lower(module, builder)
    lowering = time.perf_counter() - begin
    handle, path = tempfile.mkstemp(suffix=".stone")
    os.close(handle)
    try:
        statistics = {}
        if any(output.kind == "tensor" for output in lowered.outputs):
            statistics = builder.compile(path)
            program = Program(path, [(given.dtype, len(given.order)) for given in lowered.inputs],
                              [(None, 0)] * 0 + [(_name(output.dtype), len(output.shape))
                                                 for output in lowered.outputs if output.kind == "tensor"])
        else:
            program = None
    finally:
        os.unlink(path)
    counters["programs"] += 1
    counters["from_cache"] += statistics.get("counters", {}).get("code_from_cache", 0)
    counters["lowering_us"] += int(1e6 * lowering)
    counters["compiling_us"] += int(1e6 * (time.perf_counter() - begin - lowering))
    return make_call(lowered, program, module)


def _name(dtype):
    from .dtypes import name_of

    return name_of(dtype)


def cache_folder() -> str | None:
    return os.environ.get("FREESTONE_TORCH_CACHE") or None


@functools.cache
def _autograd(whole: bool):
    from functorch.compile import min_cut_rematerialization_partition
    from torch._dynamo.backends.common import aot_autograd

    def compiler(module, example_inputs):
        return compile_parts(module, compile_graph, whole)

    return aot_autograd(fw_compiler=compiler, bw_compiler=compiler, inference_compiler=compiler,
                        partition_fn=min_cut_rematerialization_partition, decompositions=decompositions())


def asks_for_whole_graph() -> bool:
    """Whether Dynamo, which calls the backend, was asked with `fullgraph=True`."""
    from torch._dynamo.symbolic_convert import InstructionTranslator

    try:
        translator = InstructionTranslator.current_tx()
    except AttributeError:
        return False
    return bool(getattr(translator, "one_graph", False) or getattr(translator, "error_on_graph_break", False))


def freestone(module: torch.fx.GraphModule, example_inputs, **options):
    """`torch.compile(model, backend="freestone")`."""
    return _autograd(asks_for_whole_graph())(module, example_inputs)
