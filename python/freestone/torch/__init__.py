"""Freestone for PyTorch: `torch.compile(model, backend="freestone")`."""

from .backend import compile_graph, freestone
from .counters import counters
