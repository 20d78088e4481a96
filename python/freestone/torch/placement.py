"""Where the values of a step lie that stay from step to step: where PyTorch has them, in its order of memory."""

from __future__ import annotations

import torch

from freestone.errors import Unsupported
from freestone.torch.compiled import Program
from freestone.torch.counters import counters
from freestone.torch.layout import memory_order

#: Programs keep values at multiples of so many bytes, as PyTorch allocates them.
ALIGNMENT = 64


def dense_order_of(tensor: torch.Tensor) -> list[int]:
    """The axes in the order of the memory, if elements lie there without gaps."""
    order = memory_order(tensor)
    return order if tensor.permute(order).is_contiguous() else list(range(tensor.dim()))


class PlacedStates:
    """The states of a program, by name, as tensors of PyTorch; entered for a run, which updates the `updated` ones.

    Tensors that are not dense in the order that the program was compiled for, or that lie between multiples of 64 bytes
    (parts of a larger buffer), are copied before each run and back after it, and counted; they stay where they are.
    """

    def __init__(self, program: Program, tensors: dict[str, torch.Tensor], orders: dict[str, list[int]],
                 updated: set[str]):
        self.program = program
        self.names = list(program.state_names)
        self.tensors = [tensors[name] for name in self.names]
        self.orders = [orders[name] for name in self.names]
        self.updated = updated
        self.places: list[tuple[int, tuple[int, ...]]] = []
        self.copies: list[tuple[torch.Tensor, torch.Tensor]] = []

    def __enter__(self) -> None:
        places = [(tensor.data_ptr(), tensor.stride()) for tensor in self.tensors]
        if places != self.places:
            self._place()
            self.places = places
        for copy, tensor in self.copies:
            copy.copy_(tensor)
        counters["copied_states"] += len(self.copies)

    def __exit__(self, *error: object) -> None:
        with torch.no_grad():
            for copy, tensor in self.copies:
                tensor.copy_(copy)
        torch.autograd.graph.increment_version([tensor for tensor in self.tensors if not tensor.is_inference()])

    def _place(self) -> None:
        self._check_apart()
        self.copies, placed = [], []
        for tensor, order in zip(self.tensors, self.orders, strict=True):
            view = tensor.detach().permute(order)
            if view.data_ptr() % ALIGNMENT or not view.is_contiguous():
                self.copies.append((torch.empty(view.shape, dtype=view.dtype), view))
                view = self.copies[-1][0]
            placed.append(view)
        self.program.place_states(placed)

    def _check_apart(self) -> None:
        """Updates of one memory under two names would be made at once. Those with gaps may lie between one another."""
        ranges = sorted((tensor.data_ptr(), tensor.data_ptr() + tensor.nbytes, name)
                        for name, tensor, order in zip(self.names, self.tensors, self.orders, strict=True)
                        if tensor.permute(order).is_contiguous())
        for (_, end, first), (begin, _, second) in zip(ranges, ranges[1:]):
            if begin < end and (first in self.updated or second in self.updated):
                raise Unsupported(f"{first.removeprefix('model.')} and {second.removeprefix('model.')} share memory, in which "
                                  "a step would update them at once: make them one parameter")
