"""Reports of a training."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from freestone import _freestone

_FIELDS = ("step", "loss", "gradient_norm", "learning_rate", "loss_scale", "skipped", "not_finite")
_WIDTH, _HEIGHT = 480, 160


class History:
    """The reports of all steps of a trainer, in order, and of its evaluations."""

    def __init__(self) -> None:
        self.steps: list[_freestone.StepReport] = []
        self.evaluations: list[tuple[int, _freestone.EvaluationReport]] = []
        """Each with the number of steps before it."""

    def add_step(self, report: _freestone.StepReport) -> None:
        self.steps.append(report)

    def add_evaluation(self, report: _freestone.EvaluationReport) -> None:
        self.evaluations.append((self.steps[-1].step if self.steps else 0, report))

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[_freestone.StepReport]:
        return iter(self.steps)

    def __getitem__(self, index: int) -> _freestone.StepReport:
        return self.steps[index]

    def to_pandas(self) -> Any:
        """A pandas frame with one row a step."""
        import pandas

        return pandas.DataFrame([[getattr(report, field) for field in _FIELDS] for report in self.steps],
                                columns=list(_FIELDS))

    def _repr_svg_(self) -> str:
        """The losses of all steps, from the lowest to the highest."""
        losses = [report.loss for report in self.steps if math.isfinite(report.loss)]
        if len(losses) < 2:
            return ""
        stride = max(1, len(losses) // _WIDTH)
        shown = losses[::stride]
        low, high = min(shown), max(shown)
        span = (high - low) or 1.0
        points = " ".join(f"{i * _WIDTH / (len(shown) - 1):.1f},{_HEIGHT - (loss - low) / span * _HEIGHT:.1f}"
                          for i, loss in enumerate(shown))
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-4 -4 {_WIDTH + 8} {_HEIGHT + 24}" '
                f'width="{_WIDTH}"><polyline points="{points}" fill="none" stroke="#1f77b4"/>'
                f'<text y="{_HEIGHT + 16}" font-size="12">loss {losses[0]:.4g} → {losses[-1]:.4g} '
                f"in {len(losses)} steps</text></svg>")
