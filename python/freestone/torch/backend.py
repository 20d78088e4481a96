"""The backend of torch.compile: Dynamo's graphs, made functional and differentiated by AOTAutograd, become programs."""

from __future__ import annotations

import functools
import json
import time

import torch

from freestone import _freestone
from freestone.compiling import _settings
from freestone.torch.calls import make_call
from freestone.torch.counters import counters
from freestone.torch.decompositions import decompositions
from freestone.torch.lowering import lower
from freestone.torch.partition import compile_parts
from freestone.torch.signature import Signature


def compile_graph(module: torch.fx.GraphModule):
    """A function of the list of a graph's arguments. Raises `Unlowered` where an operator can't be compiled."""
    begin = time.perf_counter()
    signature = Signature(module)
    program = None
    if signature.results:
        settings = _settings("host", None, None, (), False, True, 0, False, None)
        is_found = True

        def build(builder):
            nonlocal is_found
            is_found = False
            start = time.perf_counter()
            lower(signature, builder)
            counters["lowering_us"] += int(1e6 * (time.perf_counter() - start))

        artifact, statistics = _freestone.compile_graph(signature.key(), build, settings)
        program = _freestone.Program(artifact, torch.get_num_threads())
        counters["programs_from_cache"] += is_found
        counters["programs_compiled"] += not is_found
    call = make_call(signature, program)
    counters["backend_us"] += int(1e6 * (time.perf_counter() - begin))
    return call


@functools.cache
def _autograd(whole: bool):
    from functorch.compile import min_cut_rematerialization_partition
    from torch._dynamo.backends.common import aot_autograd

    def compiler(module, example_inputs):
        counters["graphs"] += 1
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
