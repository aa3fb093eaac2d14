"""The hue of all colours."""

from __future__ import annotations

from dataclasses import replace

from lie_ssl.frames.factors.base import AngleFactor, factor
from lie_ssl.render.view import RenderSettings, View


@factor("hue", title="Hue", order=30)
class Hue(AngleFactor):
    """How far all colours are turned about the grey axis."""

    in_every_index = True

    def apply_view(self, view: View, value: float) -> View:
        return replace(view, hue=value)

    def no_effect(self, settings: RenderSettings) -> str | None:
        return "clay has no colours; draw the colours with --no-clay" if settings.clay else None
