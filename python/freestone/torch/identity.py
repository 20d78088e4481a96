"""What compiled graphs depend on besides themselves: how operators are built, and PyTorch."""

from __future__ import annotations

import functools
import hashlib
import pathlib
import sys

import torch


@functools.cache
def identity() -> str:
    """The versions of PyTorch and Python, and a hash of this package's sources."""
    digest = hashlib.sha256()
    folder = pathlib.Path(__file__).parent
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.read_bytes())
    return f"torch {torch.__version__}, {sys.implementation.cache_tag}, operators {digest.hexdigest()}"
