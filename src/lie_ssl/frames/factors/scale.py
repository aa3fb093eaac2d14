"""The size of the object in the frame."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lie_ssl.frames.factors.base import Factor, Values, factor
from lie_ssl.render.view import View


@factor("scale", title="Scale", order=40)
class Scale(Factor):
    """Size of the object; 1 fills the frame."""

    neutral = 1.0
    limits = "above 0 and at most 1, the whole frame"
    move_unit = "times the size"
    in_every_index = True

    def allows(self, values: Values) -> NDArray[np.bool_]:
        return (values > 0) & (values <= 1)

    def apply_view(self, view: View, value: float) -> View:
        return replace(view, scale=value)

    def delta(self, first: Values, second: Values) -> Values:
        """The logarithm of the ratio of sizes."""
        log_ratio: Values = np.log(second / first)
        return log_ratio

    def to_move(self, delta: Values) -> Values:
        """The ratio of sizes: 2 if the object becomes twice as large."""
        ratio: Values = np.exp(delta)
        return ratio

    def from_move(self, move: Values) -> Values:
        """The logarithm of the ratio; nan if it is not above 0."""
        log_ratio: Values = np.log(np.where(move > 0, move, np.nan))
        return log_ratio
