"""Figures without pyplot, and the style of their panels."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

GRID = "#dddddd"


def blank_figure(width: float, height: float) -> Figure:
    """A figure without pyplot, which would keep it open and look for a display."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def plain_axes(panel: Axes) -> None:
    """Applies the common style of all panels."""
    panel.spines[["top", "right"]].set_visible(False)
    panel.grid(axis="y", color=GRID, lw=0.7)
    panel.set_axisbelow(True)
    panel.tick_params(labelsize=9)
