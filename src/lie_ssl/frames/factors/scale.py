"""The size of the object in the frame."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lie_ssl.frames.factors.base import Factor, Values, factor
from lie_ssl.render.view import View


@factor("scale", title="Scale", order=40)
class Scale(Factor):
    """How large the object is; 1 fills the frame."""

    neutral = 1.0
    limits = "above 0 and at most 1, the whole frame"
    in_every_index = True

    def allows(self, values: Values) -> NDArray[np.bool_]:
        return (values > 0) & (values <= 1)

    def apply_view(self, view: View, value: float) -> View:
        return replace(view, scale=value)

    def delta(self, first: Values, second: Values) -> Values:
        """The logarithm of the ratio: twice as large is as far as half as large."""
        log_ratio: Values = np.log(second / first)
        return log_ratio
