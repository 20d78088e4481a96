"""The progress of a training and of a compilation, by tqdm where it is installed."""

from __future__ import annotations

from typing import Any


class Bar:
    """A bar that a training moves; shows nothing if it is not wanted or tqdm is missing."""

    def __init__(self, wanted: bool, unit: str = "step") -> None:
        self._bar: Any = None
        if wanted:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                return
            self._bar = tqdm(unit=unit)

    @property
    def is_shown(self) -> bool:
        return self._bar is not None

    def step(self, report: Any) -> None:
        if self._bar is not None:
            self._bar.update()
            self._bar.set_postfix(loss=f"{report.loss:.4g}", lr=f"{report.learning_rate:.3g}", refresh=False)

    def evaluation(self, report: Any) -> None:
        if self._bar is not None:
            accuracy = "" if report.accuracy is None else f", accuracy {report.accuracy:.4f}"
            self._bar.write(f"evaluation: loss {report.loss:.4g}{accuracy}")

    def describe(self, phase: str, done: int, total: int) -> None:
        if self._bar is not None:
            self._bar.total = total or None
            self._bar.n = done
            self._bar.set_description(phase)

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()


class Phases:
    """A bar that follows the phases of a compilation, and counts its programs."""

    def __init__(self, wanted: bool) -> None:
        self._bar = Bar(wanted, unit="program")

    def follow(self, phase: str, done: int, total: int) -> None:
        self._bar.describe(phase, done, total)

    def __enter__(self) -> Phases:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.__exit__()
