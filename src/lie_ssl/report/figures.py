"""Figures for print, as PNG and SVG. They need only the long tables, so they can be drawn without the runs:

draw_figures(pd.read_csv("accuracy.csv"), pd.read_csv("curve.csv"), Path("figures"))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from lie_ssl.frames.kinds import KINDS
from lie_ssl.protocol.phases import PHASES
from lie_ssl.protocol.schema import GAP, POSES, SELF_OCCLUSION, SELF_OCCLUSION_POSES, SETTING, in_order
from lie_ssl.report.amounts import amount_figures, without_amounts
from lie_ssl.report.axes import blank_figure, plain_axes
from lie_ssl.report.colours import colour_of, marker_of
from lie_ssl.report.names import ARM_KEYS, BAR_SETTINGS, BASE, Arm, arms_of, method_name
from lie_ssl.report.summary import curve_of, gaps_of, over_seeds
from lie_ssl.report.tables import diverse_of, phases_and_poses
from lie_ssl.storage.paths import as_one_part, inside


def draw_figures(
    accuracy: pd.DataFrame, curve: pd.DataFrame, out: Path, equivariance: pd.DataFrame | None = None
) -> list[Path]:
    """Draws all figures as .png and .svg.

    These are bars and gaps for every phase and kind of pose at the largest proportion, and accuracy by angle for every
    phase and method. Variants that name an amount, such as `objects_5`, are drawn as curves instead.

    Args:
        accuracy: The table accuracy.csv; may be empty.
        curve: The table curve.csv; may be empty.
        out: Folder for the figures.
        equivariance: The table equivariance.csv; None to leave out the figures that need it.

    Returns:
        The paths of the files.
    """
    out.mkdir(parents=True, exist_ok=True)
    pages: dict[str, Figure] = {} if equivariance is None else amount_figures(accuracy, equivariance)
    accuracy, curve = without_amounts(accuracy), without_amounts(curve)
    if len(accuracy):
        gaps = gaps_of(accuracy)
        for phase, poses in phases_and_poses(accuracy):
            pages[f"bars_{phase}_{poses}"] = bars(accuracy, phase, poses)
            if len(gaps):
                pages[f"gaps_{phase}_{poses}"] = gap_bars(gaps, phase, poses)
    if len(curve):
        for phase in in_order(curve["phase"], PHASES):
            for method in dict.fromkeys(arm.method for arm in arms_of(curve[curve["phase"] == phase])):
                pages[f"angles_{phase}_{as_one_part(method)}"] = angle_curves(curve, phase, method)
    paths = []
    with rc_context({"svg.hashsalt": "lie_ssl"}):  # so that the same numbers give the same bytes
        for name, page in pages.items():
            for suffix in ("png", "svg"):
                path = inside(out, f"{name}.{suffix}")
                page.savefig(path, dpi=150, metadata={"Date": None} if suffix == "svg" else None)
                paths.append(path)
    return paths


def bars(accuracy: pd.DataFrame, phase: str, poses: str, diverse: float | None = None) -> Figure:
    """The paper's figure: accuracy in three settings with error bars of one standard error, one panel per method."""
    diverse = max(diverse_of(accuracy)) if diverse is None else diverse
    own = accuracy[(accuracy["phase"] == phase) & (accuracy["poses"] == poses) & (accuracy["diverse"] == diverse)]
    means = over_seeds(own, [*ARM_KEYS, "setting"], "top1")
    title = f"{PHASES.title(phase)}, {POSES.title_of(poses)}, {diverse:g} % diverse instances"
    return _grouped(means, "setting", BAR_SETTINGS, arms_of(own), title, "top-1 accuracy (%)")


def gap_bars(gaps: pd.DataFrame, phase: str, poses: str, diverse: float | None = None) -> Figure:
    """Points below known instances in typical pose; `gaps` comes from `lie_ssl.report.summary.gaps_of`."""
    diverse = max(diverse_of(gaps)) if diverse is None else diverse
    own = gaps[
        gaps["poses"].isin([poses, SELF_OCCLUSION_POSES]) & (gaps["diverse"] == diverse) & (gaps["phase"] == phase)
    ]
    means = over_seeds(own, [*ARM_KEYS, "gap"], "points")
    shown = [*BAR_SETTINGS, *([SELF_OCCLUSION] if SELF_OCCLUSION in set(gaps["gap"]) else [])]
    title = f"{PHASES.title(phase)}, {POSES.title_of(poses)}, {diverse:g} % diverse instances: gaps"
    return _grouped(means, "gap", shown, arms_of(own), title, "points below known,\ntypical pose")


def angle_curves(curve: pd.DataFrame, phase: str, method: str, diverse: float | None = None) -> Figure:
    """Accuracy by angle of one method: one column per kind of pose, one row per setting."""
    diverse = max(diverse_of(curve)) if diverse is None else diverse
    own = curve[(curve["phase"] == phase) & (curve["method"] == method) & (curve["diverse"] == diverse)]
    means, arms = curve_of(own), arms_of(own)
    kinds, settings = POSES.in_order(curve["poses"]), SETTING.in_order(curve["setting"])
    figure = blank_figure(max(6.4, 4.2 * len(kinds)), 2.5 * len(settings) + 1.1)
    panels = figure.subplots(len(settings), len(kinds), sharey=True, squeeze=False)
    for (i, j), panel in np.ndenumerate(panels):
        shown = means[(means["setting"] == settings[i]) & (means["poses"] == kinds[j])]
        for arm in arms:
            line = shown[_is_arm(shown, arm)]
            colour = colour_of(arm, arms)
            panel.plot(line["angle"], line["mean"], color=colour, lw=1.8, ls=_dash(arm), marker=marker_of(arm), ms=4)
            error = line["error"].fillna(0)
            panel.fill_between(line["angle"], line["mean"] - error, line["mean"] + error, color=colour, alpha=0.2, lw=0)
        panel.set_title(f"{SETTING.title_of(settings[i])}, {POSES.title_of(kinds[j])}", fontsize=9)
        top = 180 if kinds[j] in KINDS and KINDS[kinds[j]].free else 360
        panel.set(xlim=(0, top), xticks=np.arange(0, top + 1, top // 6))
        plain_axes(panel)
        panel.set_xlabel("angle (degrees)" if i == len(settings) - 1 else "")
        panel.set_ylabel("top-1 (%)" if j == 0 else "")
    panels[0, 0].set_ylim(bottom=0)
    figure.suptitle(f"{PHASES.title(phase)}, {diverse:g} % diverse instances", fontsize=11)
    _legend(figure, arms, lambda arm, c: Line2D([], [], color=c, lw=1.8, ls=_dash(arm), marker=marker_of(arm), ms=4))
    return figure


def _grouped(
    means: pd.DataFrame, column: str, places: Sequence[str], arms: Sequence[Arm], title: str, axis: str
) -> Figure:  # fmt: skip
    methods = list(dict.fromkeys(arm.method for arm in arms))
    figure = blank_figure(max(5.6, 1.2 + 3.6 * len(methods)), 3.9)
    panels = figure.subplots(1, len(methods), sharey=True, squeeze=False)[0]
    for panel, method in zip(panels, methods, strict=True):
        own = [arm for arm in arms if arm.method == method]
        width = 0.8 / len(own)
        for number, arm in enumerate(own):
            found = means[_is_arm(means, arm)].set_index(column).reindex(list(places))
            x = np.arange(len(places)) + (number - (len(own) - 1) / 2) * width
            style = {"color": colour_of(arm, arms), "edgecolor": "white", "hatch": "//" if arm.option == 2 else ""}
            error_style = {"elinewidth": 1, "ecolor": "#222222"}
            panel.bar(x, found["mean"], width, yerr=found["error"], capsize=3, error_kw=error_style, **style)
        panel.set_xticks(range(len(places)), ["\n".join(GAP.categories[p].lines) for p in places], fontsize=9)
        panel.axhline(0, color="#222222", lw=0.8)
        panel.set_title(method_name(method), fontsize=10)
        plain_axes(panel)
    panels[0].set_ylabel(axis)
    figure.suptitle(title, fontsize=11)
    _legend(figure, arms, lambda arm, c: Patch(facecolor=c, edgecolor="white", hatch="//" if arm.option == 2 else ""))
    return figure


def _legend(figure: Figure, arms: Sequence[Arm], handle: Callable[[Arm, str], Patch | Line2D]) -> None:
    """Adds a legend below the panels, with one entry per kind of arm."""
    kinds = {(a.arm, a.option): a for a in reversed(arms)}
    several = len({a.method for a in arms}) > 1
    entries = sorted(kinds.values(), key=lambda a: a.order[2:])
    labels = [_kind(a) if several else a.name for a in entries]
    handles = [handle(a, colour_of(a, arms)) for a in entries]
    columns = min(len(labels), max(2, int(figure.get_figwidth() // 1.6)))
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False, fontsize=9)


def _kind(arm: Arm) -> str:
    """The name of an arm without its method, which is in the title of the panel."""
    name = Arm("", arm.arm, arm.option).name.lstrip(", ")
    return "baseline" if arm.arm == BASE else name


def _is_arm(means: pd.DataFrame, arm: Arm) -> pd.Series:
    return (means["method"] == arm.method) & (means["arm"] == arm.arm) & (means["option"] == arm.option)


def _dash(arm: Arm) -> str:
    return "--" if arm.option == 2 else "-"
