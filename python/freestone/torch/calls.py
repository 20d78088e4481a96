"""The function that a compiled graph becomes: it finds sizes, allocates outputs, and runs the program."""

from __future__ import annotations

import torch

from .counters import counters
from .lowering import Lowered
from .runtime import Program

_FUNCTIONS = {
    "Max": max,
    "Min": min,
    "FloorDiv": lambda a, b: a // b,
    "CleanDiv": lambda a, b: a // b,
    "Mod": lambda a, b: a % b,
    "PythonMod": lambda a, b: a % b,
    "torch": torch,
    "counters": counters,
}


def _text(order: list[int]) -> str:
    return ", ".join(map(str, order))


def make_call(lowered: Lowered, program: Program, module: torch.fx.GraphModule):
    """A function of the list of arguments, which it empties; returns the list of outputs."""
    lines = ["def call(arguments):"]
    for name, (argument, axis) in lowered.symbols.items():
        lines.append(f"    {name} = arguments[{argument}]" + (f".size({axis})" if axis is not None else ""))
    names = []
    for number, given in enumerate(lowered.inputs):
        name = f"i{number}"
        names.append(name)
        if given.source == "seed":
            # 64 random bits are two words of 32.
            lines.append(f"    {name} = torch.empty((1,), dtype=torch.int64).random_().view(torch.int32)")
            continue
        source = f"arguments[{given.source}]" if isinstance(given.source, int) else f"constants[{given.source!r}]"
        if given.is_size:
            lines.append(f"    {name} = torch.tensor({source}, dtype=torch.int64)")
            continue
        permuted = given.order != sorted(given.order)
        lines.append(f"    {name} = {source}" + (f".permute({_text(given.order)})" if permuted else ""))
        lines.append(f"    if not {name}.is_contiguous():")
        lines.append(f"        {name} = {name}.contiguous(); counters['copied_inputs'] += 1")
    results, allocated = [], []
    for number, output in enumerate(lowered.outputs):
        if output.kind == "tensor":
            sizes = "".join(f"{size}, " for size in output.shape)
            lines.append(f"    o{number} = torch.empty(({sizes}), dtype={output.dtype})")
            allocated.append(f"o{number}")
            back = [output.order.index(axis) for axis in range(len(output.order))]
            results.append(f"o{number}" if back == output.order == sorted(back) else f"o{number}.permute({_text(back)})")
        elif output.kind == "argument":
            results.append(f"arguments[{output.value}]")
        elif output.kind == "same":
            results.append(results[output.value])
        else:
            results.append(str(output.value) if output.kind == "size" else repr(output.value))
    if allocated:
        lines.append(f"    run([{', '.join(names)}], [{', '.join(allocated)}])")
    lines.append(f"    results = [{', '.join(results)}]")
    lines.append("    arguments.clear()")
    lines.append("    return results")
    constants = {given.source: getattr(module, given.source)
                 for given in lowered.inputs if isinstance(given.source, str) and given.source != "seed"}
    scope = {**_FUNCTIONS, "run": program.run, "constants": constants}
    exec(compile("\n".join(lines), "<freestone call>", "exec"), scope)
    call = scope["call"]
    call._boxed_call = True
    call.program = program
    return call
