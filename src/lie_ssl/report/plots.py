"""The interactive plots of the page, as plain data for plotly.js: the traces of every view, and a layout."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd

from lie_ssl.protocol.phases import PHASES
from lie_ssl.protocol.schema import GAP, POSES, SELF_OCCLUSION, SELF_OCCLUSION_POSES, SETTING
from lie_ssl.report.colours import colour_of
from lie_ssl.report.names import ARM_KEYS, BAR_SETTINGS, Arm, arms_of, method_name
from lie_ssl.report.orbits import Orbit
from lie_ssl.report.summary import curve_of, gaps_of, over_seeds
from lie_ssl.report.tables import diverse_of, phases_and_poses

Trace = dict[str, Any]


@dataclass(frozen=True)
class View:
    """The traces that a plot shows when its view is selected in the list above it."""

    name: str
    traces: list[Trace]


@dataclass(frozen=True)
class Plot:
    """One or more views with the same axes."""

    title: str
    views: list[View]
    layout: dict[str, Any]

    def plain(self) -> dict[str, Any]:
        return {
            "views": [{"name": v.name, "traces": v.traces} for v in self.views],
            "layout": self.layout,
        }  # fmt: skip


def accuracy_plot(accuracy: pd.DataFrame) -> Plot:
    """Bars with standard errors, and a view for every phase, kind of pose, proportion and method."""
    means = over_seeds(accuracy, [*ARM_KEYS, "phase", "poses", "diverse", "setting"], "top1")
    views = [_bars(means, selection, "setting", BAR_SETTINGS) for selection in _selections(accuracy)]
    return Plot("Top-1 accuracy in %", [v for v in views if v.traces], _bar_layout("top-1 accuracy (%)"))


def gap_plot(accuracy: pd.DataFrame) -> Plot:
    """Points below known instances in typical pose; views as in :func:`accuracy_plot`."""
    means = over_seeds(gaps_of(accuracy), [*ARM_KEYS, "phase", "poses", "diverse", "gap"], "points")
    views = [_bars(means, selection, "gap", (*BAR_SETTINGS, SELF_OCCLUSION)) for selection in _selections(accuracy)]
    return Plot("Gaps in points", [v for v in views if v.traces], _bar_layout("points below known, typical pose"))


def angle_plot(curve: pd.DataFrame, few: bool = False) -> Plot:
    """Accuracy by angle, with a view for every phase, kind of pose, proportion, method and setting.

    Args:
        curve: The table curve.csv.
        few: Whether few labels and unknown instances come first.
    """
    means = curve_of(curve)
    views = []
    settings = SETTING.in_order(curve["setting"])
    for selection in sorted(_selections(curve), key=lambda s: s.diverse) if few else _selections(curve):
        for setting in reversed(settings) if few else settings:
            own = selection.of(means[means["setting"] == setting])
            if len(own):
                views.append(View(f"{selection.name}, {SETTING.title_of(setting)}", _lines(own)))
    top = 360 if curve["angle"].max() > 180 else 180
    layout = {
        "xaxis": {"title": {"text": "angle (degrees)"}, "tick0": 0, "dtick": 60, "range": [0, top]},
        "yaxis": {"title": {"text": "top-1 accuracy (%)"}, "rangemode": "tozero"},
    }
    return Plot("Accuracy by angle", views, layout)


def orbit_plot(name: str, orbit: Orbit) -> Plot:
    """The embeddings of true frames and the moved embeddings, in the plane of the first two principal components."""
    points: Trace = {
        "type": "scatter", "mode": "markers", "name": "true frames", "x": _plain(orbit.true[:, 0]),
        "y": _plain(orbit.true[:, 1]), "text": [f"{a:g}°" for a in orbit.angles],
        "marker": {
            "size": 11, "color": _plain(orbit.angles), "colorscale": "Viridis", "showscale": True,
            "colorbar": {"title": {"text": "angle"}, "thickness": 12}, "line": {"width": 1, "color": "#888888"},
        },
    }  # fmt: skip
    lines = [
        ("moved to each pose", orbit.inferred, "#D55E00", "solid"),
        ("equal steps of the first move", orbit.steps, "#CC79A7", "dot"),
    ]
    traces = [points] + [
        {
            "type": "scatter", "mode": "lines+markers", "name": label, "x": _plain(line[:, 0]), "y": _plain(line[:, 1]),
            "line": {"color": colour, "dash": dash, "width": 2}, "marker": {"size": 4},
            "text": [f"{a:g}°" for a in orbit.angles],
        }
        for label, line, colour, dash in lines
    ]  # fmt: skip
    first, second = (f"component {i + 1} ({100 * share:.0f} % of the variance)" for i, share in enumerate(orbit.shares))
    layout = {"xaxis": {"title": {"text": first}}, "yaxis": {"title": {"text": second}}}
    return Plot(f"{name}: {orbit.subject}", [View("", traces)], layout)


def spectrum_plot(name: str, values: Sequence[Sequence[complex]]) -> Plot:
    """The eigenvalues of every generator in the complex plane."""
    symbols = ("circle", "square", "diamond", "cross", "triangle-up", "x")
    colours = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9")
    traces: list[Trace] = [
        {
            "type": "scatter", "mode": "markers", "name": f"generator {k + 1}", "x": _plain(v.real for v in row),
            "y": _plain(v.imag for v in row),
            "marker": {"size": 7, "opacity": 0.75, "symbol": symbols[k % 6], "color": colours[k % 6]},
        }
        for k, row in enumerate(values)
    ]  # fmt: skip
    layout = {
        "xaxis": {"title": {"text": "real part: growth"}, "zeroline": True},
        "yaxis": {"title": {"text": "imaginary part: rotation"}, "zeroline": True, "scaleanchor": "x"},
    }
    return Plot(name, [View("", traces)], layout)


class Selection(NamedTuple):
    """The rows of a table that one view shows."""

    phase: str
    poses: str
    diverse: float
    method: str

    @property
    def name(self) -> str:
        phase, poses = PHASES.title(self.phase), POSES.title_of(self.poses)
        return f"{method_name(self.method)}: {phase}, {poses}, {self.diverse:g} % diverse"

    def of(self, table: pd.DataFrame) -> pd.DataFrame:
        """The selected rows of a table; self-occlusion belongs to every kind of pose."""
        poses = table["poses"].isin([self.poses, SELF_OCCLUSION_POSES])
        method, phase = table["method"] == self.method, table["phase"] == self.phase
        return table[method & phase & poses & (table["diverse"] == self.diverse)]


def _selections(table: pd.DataFrame) -> list[Selection]:
    """The selections of all views of a table, the largest proportion first."""
    methods = dict.fromkeys(arm.method for arm in arms_of(table))
    shares = list(reversed(diverse_of(table)))
    places = [(phase, poses, d) for d in shares for phase, poses in phases_and_poses(table)]
    return [Selection(*place, method) for place in places for method in methods]


def _bars(means: pd.DataFrame, selection: Selection, column: str, places: Sequence[str]) -> View:
    means, traces = selection.of(means), []
    arms = arms_of(means)
    for arm in arms:
        own = means[_is_arm(means, arm)].set_index(column).reindex(list(places))
        traces.append({
            "type": "bar", "name": arm.name,
            "x": ["<br>".join(GAP.categories[p].lines).replace(" ", "<br>") for p in places],
            "y": _plain(own["mean"]), "error_y": _error_bars(own["error"]),
            "marker": {"color": colour_of(arm, arms), "pattern": _hatch(arm, colour_of(arm, arms))},
        })  # fmt: skip
    return View(selection.name, traces)


def _lines(means: pd.DataFrame) -> list[Trace]:
    traces, arms = [], arms_of(means)
    for arm in arms:
        own = means[_is_arm(means, arm)]
        traces.append({
            "type": "scatter", "mode": "lines+markers", "name": arm.name, "x": _plain(own["angle"]),
            "y": _plain(own["mean"]), "error_y": _error_bars(own["error"]),
            "line": {"color": colour_of(arm, arms), "dash": "dash" if arm.option == 2 else "solid"},
        })  # fmt: skip
    return traces


def _hatch(arm: Arm, colour: str) -> dict[str, Any]:
    """White stripes on the bars of Option 2, as in the printed figures."""
    return {"shape": "/" if arm.option == 2 else "", "bgcolor": colour, "fgcolor": "white", "solidity": 0.15}


def _error_bars(errors: pd.Series) -> dict[str, Any]:
    """Error bars of one standard error; none for one seed, as plotly.js would draw dashes."""
    shown = bool(errors.notna().any())
    return {"type": "data", "array": _plain(errors), "thickness": 1.2, "width": 3, "visible": shown}


def _bar_layout(axis: str) -> dict[str, Any]:
    return {
        "barmode": "group",
        "yaxis": {"title": {"text": axis}},
        "bargap": 0.2,
        "xaxis": {"showgrid": False, "tickangle": 0},
    }


def _is_arm(means: pd.DataFrame, arm: Arm) -> pd.Series:
    return (means["method"] == arm.method) & (means["arm"] == arm.arm) & (means["option"] == arm.option)


def _plain(values: Iterable[float]) -> list[float | None]:
    """Numbers for JSON, with five digits, and null for numbers that are not finite."""
    return [float(f"{v:.5g}") if math.isfinite(v) else None for v in map(float, values)]
