"""What `Trainer.fit` takes as data: arrays, files, or batches to iterate over."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any


def files_of(data: Any) -> list[str]:
    """The paths, if data are files; else empty."""
    if isinstance(data, (str, os.PathLike)):
        return [os.fsdecode(os.fspath(data))]
    if isinstance(data, (list, tuple)) and data and all(isinstance(path, (str, os.PathLike)) for path in data):
        return [os.fsdecode(os.fspath(path)) for path in data]
    return []


def is_arrays(data: Any) -> bool:
    return isinstance(data, Mapping)


def length_of(data: Any) -> int | None:
    """Batches of an epoch, if the data know."""
    try:
        return len(data)
    except TypeError:
        return None


def batches_of(data: Any, named: Callable[[Any], dict[str, Any]]) -> Callable[[int], dict[str, Any] | None]:
    """The function that the trainer asks for the next batch of an epoch."""
    iterator: Iterator[Any] = iter(())
    begun = -1

    def next_batch(epoch: int) -> dict[str, Any] | None:
        nonlocal iterator, begun
        if epoch != begun:
            iterator, begun = iter(data), epoch
        for batch in iterator:
            return named(batch)
        return None

    return next_batch
