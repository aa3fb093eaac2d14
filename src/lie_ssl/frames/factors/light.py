"""The direction of the light."""

from __future__ import annotations

from dataclasses import replace

from lie_ssl.frames.factors.base import AngleFactor, factor
from lie_ssl.render.view import View


@factor("light", title="Light", order=20)
class Light(AngleFactor):
    """How far the light is turned about the vertical axis of the camera."""

    in_every_index = True

    def apply_view(self, view: View, value: float) -> View:
        return replace(view, light=value)
