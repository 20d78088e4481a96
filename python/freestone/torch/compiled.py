"""What the backend gives to AOTAutograd: a compiled graph, which AOTAutograd's own cache can keep.

There a graph is its key in the user's cache and the code of its call: another process traces, differentiates and
compiles nothing. Where the artifact is gone, or the machine or the compiler is another, AOTAutograd starts anew.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NoReturn

import torch
from torch._inductor.output_code import OutputCode

from freestone import _freestone
from freestone.compiling import _settings
from freestone.torch.calls import Call, read_call
from freestone.torch.counters import counters


class Missing(RuntimeError):
    """A program that is no longer in the user's cache."""


_borrows = True


def borrow_threads(on: bool) -> None:
    """Whether programs that are compiled, or found in the cache, from now on, by whatever thread, run on the threads of
    PyTorch's own loops, as they do unless this is called, or on threads of their own."""
    global _borrows
    _borrows = on


class Program(_freestone.Program):
    """A program with as many workers as PyTorch has threads."""

    def __init__(self, artifact: _freestone.Artifact):
        super().__init__(artifact, torch.get_num_threads(), borrow=_borrows)
        self.input_names = [name for name, _, _ in self._inputs]
        self.has_seed = "seed" in self.input_names


def obtain(key: str, build: Callable[[_freestone.Graph], None], disable: tuple[str, ...] = ()) -> Program:
    """The program of a key, from the user's cache, or built."""
    settings = _settings("host", None, None, disable, False, True, 0, False, None)
    artifact, _ = _freestone.compile_graph(key, build, settings)
    return Program(artifact)


class CompiledGraph(OutputCode):
    """Called with the list of arguments, which it empties; returns the list of results.

    `key` is None where there is nothing to compute, `code` where the graph can't be kept, for this reason.
    """

    def __init__(self, call: Call, key: str | None = None, code: bytes | None = None,
                 reason: str = "parts of the graph run as PyTorch's own"):
        super().__init__()
        #: None only in the copy that is kept, of which `post_compile` makes one that can be called.
        self.call: Call | None = call
        self.key, self.code, self.reason = key, code, reason
        # Of the instance: what Dynamo wraps around this has the attributes of instances alone.
        self._boxed_call = True

    def __call__(self, inputs: list[Any]) -> list[Any]:  # type: ignore[override] # a boxed call is given a list
        assert self.call is not None
        return self.call(inputs)

    def prepare_for_serialization(self) -> None:
        from torch._functorch._aot_autograd.autograd_cache import BypassAOTAutogradCache

        if self.code is None:
            raise BypassAOTAutogradCache(self.reason)
        self.call = None

    def post_compile(self, example_inputs: object, constants: object, graph_kwargs: object) -> None:
        def build(graph: _freestone.Graph) -> NoReturn:
            raise Missing("the program is no longer in the cache")

        begin, program = time.perf_counter(), None
        if self.key is not None:
            program = obtain(self.key, build)
            counters["programs_from_cache"] += 1
        assert self.code is not None
        self.call = read_call(self.code, program, {})
        counters["backend_us"] += int(1e6 * (time.perf_counter() - begin))

    def set_triton_bundle(self, triton_bundle: object) -> None:
        pass
