"""The version of PyTorch that this package is for."""

from __future__ import annotations

import torch

from freestone.errors import Incompatible

VERSION = "2.15"


def check_version() -> None:
    """Raises Incompatible where PyTorch is another one: its interface for backends differs from version to version."""
    if torch.__version__.split(".")[:2] != VERSION.split("."):
        raise Incompatible(f"freestone.torch is for PyTorch {VERSION}, and this is {torch.__version__}: install "
                           f"torch=={VERSION}.*")
