"""The reports of a training as an iterator."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from typing import Any

_AHEAD = 16  # reports that wait to be read, before the training waits too


def reports_of(train: Callable[[Callable[[Any], bool]], object]) -> Iterator[Any]:
    """Calls `train` in a thread of its own with a function that takes reports, and yields them."""
    reports: queue.Queue[Any] = queue.Queue(_AHEAD)
    left = threading.Event()
    end = object()
    raised: list[BaseException] = []

    def take(report: Any) -> bool:
        while not left.is_set():
            try:
                reports.put(report, timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def work() -> None:
        try:
            train(take)
        except BaseException as error:
            raised.append(error)
        take(end)

    thread = threading.Thread(target=work, name="freestone training")
    thread.start()
    try:
        while (report := reports.get()) is not end:
            yield report
    finally:
        left.set()
        thread.join()
    if raised:
        raise raised[0]
