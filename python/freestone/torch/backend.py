"""The backend of torch.compile: Dynamo's graphs, made functional and differentiated by AOTAutograd, become programs."""

from __future__ import annotations

import functools
import hashlib
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from freestone import _freestone
from freestone.errors import InternalError, InvalidArgument, Unsupported
from freestone.torch.calls import read_call, write_call
from freestone.torch.compiled import CompiledGraph, obtain
from freestone.torch.counters import counters
from freestone.torch.decompositions import decompositions
from freestone.torch.identity import identity
from freestone.torch.lowering import lower
from freestone.torch.partition import compile_parts
from freestone.torch.signature import KEPT, Signature, Unlowered

if TYPE_CHECKING:
    from torch._dynamo.backends.common import AotAutograd

#: Of graphs of ATen's operators; it is also given examples of their arguments.
Compiler = Callable[[torch.fx.GraphModule, Sequence[Any]], CompiledGraph]


def compile_graph(module: torch.fx.GraphModule) -> CompiledGraph:
    """Raises `Unlowered` where an operator can't be compiled, with that of the results where the graph as a whole can't."""
    begin = time.perf_counter()
    signature = Signature(module)
    key, program = None, None
    if signature.results:
        is_found = True

        def build(builder: _freestone.Graph) -> None:
            nonlocal is_found
            is_found = False
            start = time.perf_counter()
            lower(signature, builder)
            counters["lowering_us"] += int(1e6 * (time.perf_counter() - start))

        key = hashlib.sha256(signature.key().encode()).hexdigest()
        try:
            program = obtain(key, build)
        except (Unsupported, InternalError) as refusal:
            raise Unlowered(signature.nodes[-1], str(refusal)) from refusal
        counters["programs_from_cache"] += is_found
        counters["programs_compiled"] += not is_found
    constants = {given.source: getattr(module, given.source)
                 for given in signature.inputs.values() if isinstance(given.source, str)}
    code = write_call(signature, program)
    compiled = CompiledGraph(read_call(code, program, constants), key, None if constants else code,
                             "the graph holds tensors of this process")
    counters["backend_us"] += int(1e6 * (time.perf_counter() - begin))
    return compiled


def mark_kept(module: torch.fx.GraphModule) -> None:
    """Marks the parameters and buffers among the arguments of the graph that AOTAutograd compiles, but those that it
    updates."""
    context = torch._guards.TracingContext.try_get()
    about = context.fw_metadata if context else None
    placeholders = [node for node in module.graph.nodes if node.op == "placeholder"]
    if about is None or len(about.input_info) != len(placeholders):
        return
    for number in about.static_input_indices:
        if not about.input_info[number].mutates_data:
            placeholders[number].meta[KEPT] = True


def autograd(compiler: Compiler, inference_compiler: Compiler | None = None) -> AotAutograd:
    """A backend of Dynamo's graphs of a compiler of ATen's; and of one, where it is another, of those that nothing
    differentiates."""
    from functorch.compile import min_cut_rematerialization_partition
    from torch._dynamo.backends.common import aot_autograd
    from torch._functorch._aot_autograd.schemas import SerializableAOTDispatchCompiler

    serializable = SerializableAOTDispatchCompiler(CompiledGraph, compiler)
    inference = SerializableAOTDispatchCompiler(CompiledGraph, inference_compiler or compiler)
    return aot_autograd(fw_compiler=serializable, bw_compiler=serializable, inference_compiler=inference,
                        partition_fn=min_cut_rematerialization_partition, decompositions=decompositions())


@functools.cache
def _compiling(whole: bool, keeps: bool) -> AotAutograd:
    def compiler(module: torch.fx.GraphModule, example_inputs: Sequence[Any]) -> CompiledGraph:
        counters["graphs"] += 1
        return compile_parts(module, compile_graph, whole)

    def inference_compiler(module: torch.fx.GraphModule, example_inputs: Sequence[Any]) -> CompiledGraph:
        mark_kept(module)
        return compiler(module, example_inputs)

    return autograd(compiler, inference_compiler if keeps else None)


def asks_for_whole_graph() -> bool:
    """Whether Dynamo, which calls the backend, was asked with `fullgraph=True`."""
    from torch._dynamo.symbolic_convert import InstructionTranslator

    try:
        translator = InstructionTranslator.current_tx()
    except AttributeError:
        return False
    return bool(getattr(translator, "one_graph", False) or getattr(translator, "error_on_graph_break", False))


def freestone(module: torch.fx.GraphModule, example_inputs: Sequence[Any], **options: Any) -> Callable[..., Any]:
    """The backend that `torch.compile(model, backend="freestone", options={"weights": "kept"})` calls with each graph.

    Returns a function of the graph's arguments; its results have the shapes and types that PyTorch's own would. The
    option `weights` is "read", or "kept" where graphs that nothing differentiates keep packed copies of parameters and
    buffers. Raises InvalidArgument for another option, and a RuntimeError where `fullgraph=True` asks for what can't be
    compiled.
    """
    given = {**options.pop("options", {}), **options}
    weights = given.pop("weights", "read")
    if given:
        raise InvalidArgument(f"the backend freestone has the option 'weights' alone, and no {sorted(given)[0]!r}: leave it out")
    if weights not in ("read", "kept"):
        raise InvalidArgument(f"the option 'weights' is 'read' or 'kept', not {weights!r}")
    # AOTAutograd's cache keeps our graphs apart from those of other backends and versions; it keeps both directions of a
    # training at once.
    tag = f"{torch.compiler.config.cache_key_tag} freestone {identity()} weights {weights}"
    with (torch._functorch.config.patch(bundled_autograd_cache=True, force_non_lazy_backward_lowering=True),
          torch.compiler.config.patch(cache_key_tag=tag)):  # type: ignore[attr-defined] # PyTorch installs it
        return _compiling(asks_for_whole_graph(), weights == "kept")(module, example_inputs)
