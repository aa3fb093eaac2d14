"""The paper's figure of published models: the gaps of each in every setting."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.figure import Figure

from lie_ssl.protocol.phases import PHASES
from lie_ssl.protocol.schema import SELF_OCCLUSION, SELF_OCCLUSION_POSES
from lie_ssl.report.figures import blank_figure, plain_axes
from lie_ssl.report.names import method_name
from lie_ssl.report.summary import gaps_of
from lie_ssl.report.tables import phases_and_poses
from lie_ssl.storage.paths import inside

BARS = {
    ("2d", "known_new"): ("known, new 2D pose", "#9ecae1"),
    ("3d", "known_new"): ("known, new 3D pose", "#3182bd"),
    ("2d", "unknown_typical"): ("unknown, typical pose", "#bdbdbd"),
    ("2d", "unknown_diverse"): ("unknown, diverse 2D pose", "#fdae6b"),
    ("3d", "unknown_diverse"): ("unknown, diverse 3D pose", "#e6550d"),
    (SELF_OCCLUSION_POSES, SELF_OCCLUSION): ("self-occlusion (2D - 3D)", "#756bb1"),
}


def model_gaps(accuracy: pd.DataFrame, phase: str) -> Figure:
    """Points below known instances in typical pose, with a group of bars for each model.

    Models are sorted by their gap on unknown instances in diverse 3D poses (or 2D, if there are no others).
    """
    gaps = gaps_of(accuracy[accuracy["phase"] == phase])
    wide = gaps.pivot_table(index="method", columns=["poses", "gap"], values="points")
    shown = [bar for bar in BARS if bar in wide]
    last = [bar for bar in shown if bar[1] == "unknown_diverse"][-1:] or shown[-1:]
    wide = wide.sort_values(last[0])
    figure = blank_figure(max(6.4, 1.5 + 1.35 * len(wide)), 4.2)
    panel = figure.subplots()
    width = 0.84 / len(shown)
    for i, bar in enumerate(shown):
        label, colour = BARS[bar]
        places = np.arange(len(wide)) + (i - (len(shown) - 1) / 2) * width
        panel.bar(places, wide[bar], width, label=label, color=colour, edgecolor="white", linewidth=0.5)
    typical = accuracy[(accuracy["phase"] == phase) & (accuracy["setting"] == "known_typical")]
    level = typical.groupby("method")["top1"].mean()
    names = [f"{method_name(m)}\n({level[m]:.0f} %)" for m in wide.index]
    panel.set_xticks(range(len(wide)), names, fontsize=8)
    panel.axhline(0, color="#222222", lw=0.8)
    panel.set_ylabel("points below known,\ntypical pose")
    plain_axes(panel)
    figure.suptitle(
        f"{PHASES.title(phase)}: gaps of published models (in parentheses: known, typical pose)", fontsize=11
    )
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return figure


def draw_model_gaps(accuracy: pd.DataFrame, out: Path) -> list[Path]:
    """Draws one figure per phase, such as models_linear, as PNG and SVG.

    Returns:
        The paths of the files.
    """
    out.mkdir(parents=True, exist_ok=True)
    paths = []
    with rc_context({"svg.hashsalt": "lie_ssl"}):
        for phase in dict.fromkeys(phase for phase, _ in phases_and_poses(accuracy)):
            page = model_gaps(accuracy, phase)
            for suffix in ("png", "svg"):
                paths.append(inside(out, f"models_{phase}.{suffix}"))
                page.savefig(paths[-1], dpi=150, metadata={"Date": None} if suffix == "svg" else None)
    return paths
