"""What compiled graphs depend on besides themselves: how operators are built, and PyTorch."""

from __future__ import annotations

import functools
import hashlib
import pathlib

import torch


@functools.cache
def identity() -> str:
    """The version of PyTorch, and a hash of this package's sources."""
    digest = hashlib.sha256()
    folder = pathlib.Path(__file__).parent
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.read_bytes())
    return f"torch {torch.__version__}, operators {digest.hexdigest()}"
