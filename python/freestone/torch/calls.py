"""The function that a compiled graph becomes: it finds sizes, allocates results, and runs the program."""

from __future__ import annotations

import marshal
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from freestone.torch.counters import counters
from freestone.torch.layout import inverse
from freestone.torch.signature import Computed, Signature, View

if TYPE_CHECKING:
    from freestone.torch.compiled import Program

#: A function of the list of arguments, which it empties; it returns the list of results. They are tensors and numbers.
Call = Callable[[list[Any]], list[Any]]

#: What sizes are expressed by (see torch.utils._sympy.functions).
_FUNCTIONS: dict[str, Callable[..., int]] = {
    "Max": max,
    "Min": min,
    "FloorDiv": lambda a, b: a // b,
    "CleanDiv": lambda a, b: a // b,
    "CeilDiv": lambda a, b: -(-a // b),
    "Mod": lambda a, b: a % b,
    "PythonMod": lambda a, b: a % b,
}


def _axes(order: list[int]) -> str:
    return ", ".join(map(str, order))


def _view(view: View, results: list[str]) -> str:
    shape, stride = ("".join(f"{size}, " for size in sizes) for sizes in (view.shape, view.stride))
    source = f"arguments[{view.number}]" if view.of_argument else results[view.number]
    return f"view({source}, ({shape}), ({stride}), {view.offset})"


def write_call(signature: Signature, program: Program | None) -> bytes:
    """The code of a `Call`, of this version of Python. `program` is None where there is nothing to compute."""
    lines = ["def call(arguments):"]
    for name, symbol in signature.symbols.items():
        where = f".size({symbol.axis})" if symbol.axis is not None else ""
        lines.append(f"    {name} = {symbol.code or f'arguments[{symbol.argument}]{where}'}")
    inputs: dict[str, str] = {"seed": "new_seed()"}
    results: list[str] = []
    allocated: list[str] = []
    for number, given in enumerate(signature.inputs.values()):
        name = f"i{number}"
        inputs[given.name] = name
        if given.symbol is not None:
            lines.append(f"    {name} = torch.tensor({given.symbol})")
            continue
        if given.number:
            lines.append(f"    {name} = torch.tensor(arguments[{given.source}], dtype=torch.float64)")
            continue
        source = f"arguments[{given.source}]" if isinstance(given.source, int) else f"constants[{given.source!r}]"
        permuted = f".permute({_axes(given.order)})" if given.order != sorted(given.order) else ""
        lines.append(f"    {name} = {source}{permuted}")
        lines.append(f"    if not {name}.is_contiguous(): {name} = copied({name})")
    for number, output in enumerate(signature.outputs):
        if isinstance(output, Computed):
            sizes = "".join(f"{size}, " for size in output.shape)
            lines.append(f"    r{number} = empty(({sizes}), dtype={output.dtype})")
            allocated.append(f"r{number}")
            back = inverse(output.order)
            results.append(f"r{number}.permute({_axes(back)})" if back != sorted(back) else f"r{number}")
        elif isinstance(output, View):
            results.append("")
        elif output.kind == "argument":
            results.append(f"arguments[{output.value}]")
        elif output.kind == "same":
            results.append(results[output.value])
        else:
            results.append(str(output.value) if output.kind == "size" else repr(output.value))
    for number, output in enumerate(signature.outputs):
        if isinstance(output, View):
            results[number] = _view(output, results)
    if program is not None:
        taken = [[inputs[name] for name in program.input_names], allocated]
        if program.weight_names:
            taken.append([inputs[name] for name in program.weight_names])
        lines.append("    run(" + ", ".join(f"[{', '.join(names)}]" for names in taken) + ")")
    lines.append(f"    results = [{', '.join(results)}]")
    lines.append("    arguments.clear()")
    lines.append("    return results")
    return marshal.dumps(compile("\n".join(lines), "<call of a compiled graph>", "exec"))


def read_call(code: bytes, program: Program | None, constants: dict[str, torch.Tensor]) -> Call:
    """The function. `program` is None where there is nothing to compute."""
    run = program and (program.run_kept if program.weight_names else program.run_in_place)
    scope: dict[str, Any] = {
        **_FUNCTIONS, "math": math, "torch": torch, "empty": torch.empty, "constants": constants, "copied": _copied,
        "view": _view_of, "new_seed": new_seed, "run": run}
    exec(marshal.loads(code), scope)
    call: Call = scope["call"]
    return call


def _view_of(tensor: torch.Tensor, shape: Sequence[int], stride: Sequence[int], offset: int) -> torch.Tensor:
    return tensor.as_strided(shape, stride, tensor.storage_offset() + offset)


def dense(tensor: torch.Tensor) -> torch.Tensor:
    """As it is, or a copy, which is counted, where elements lie in another order or with gaps."""
    return tensor if tensor.is_contiguous() else _copied(tensor)


def _copied(tensor: torch.Tensor) -> torch.Tensor:
    counters["copied_inputs"] += 1
    return tensor.contiguous()


def new_seed() -> torch.Tensor:
    """64 bits of PyTorch's generator, as two words of 32."""
    return torch.empty((1,), dtype=torch.int64).random_().view(torch.int32)
