"""Ctrl-C while something runs that ends by itself when it is asked to."""

from __future__ import annotations

import signal
import threading
from types import FrameType


class Interrupts:
    """While entered, the first Ctrl-C sets `came` instead of raising KeyboardInterrupt wherever Python is, such as in the
    middle of a user's data; the second one raises it. Elsewhere than in the main thread, and where Ctrl-C has another
    handler, it leaves everything as it is."""

    came = False
    _is_ours = False

    def __enter__(self) -> Interrupts:
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._handle)
            self._is_ours = True
        return self

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.came = True
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def __exit__(self, *error: object) -> None:
        if self._is_ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)
