"""Freestone for PyTorch: `torch.compile(model, backend="freestone")`. See docs/torch.md."""

from freestone.torch.backend import freestone
from freestone.torch.compiled import borrow_threads
from freestone.torch.counters import counters
from freestone.torch.explanation import Explanation, GraphReport, explain
from freestone.torch.step import Step, compile_step

__all__ = ["Explanation", "GraphReport", "Step", "borrow_threads", "compile_step", "counters", "explain", "freestone"]
