"""Freestone for PyTorch: `torch.compile(model, backend="freestone")`. See docs/torch.md."""

# Before the modules that use what PyTorch does not promise to keep.
from freestone.torch.version import check_version

check_version()

from freestone.torch.backend import freestone  # noqa: E402
from freestone.torch.compiled import borrow_threads  # noqa: E402
from freestone.torch.counters import counters  # noqa: E402
from freestone.torch.explanation import Explanation, GraphReport, explain  # noqa: E402
from freestone.torch.step import Step, compile_step  # noqa: E402

__all__ = ["Explanation", "GraphReport", "Step", "borrow_threads", "compile_step", "counters", "explain", "freestone"]
