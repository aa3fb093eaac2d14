"""The height of the camera."""

from __future__ import annotations

from dataclasses import replace

from lie_ssl.frames.factors.base import AngleFactor, factor
from lie_ssl.render.view import View


@factor("elevation", title="Elevation", order=10)
class Elevation(AngleFactor):
    """How much higher the camera stands than usual."""

    in_every_index = True

    def apply_view(self, view: View, value: float) -> View:
        return replace(view, elevation=value)
