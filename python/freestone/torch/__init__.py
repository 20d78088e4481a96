"""Freestone for PyTorch: `torch.compile(model, backend="freestone")`. See docs/torch.md."""

from freestone.torch.backend import freestone
from freestone.torch.counters import counters

__all__ = ["counters", "freestone"]
