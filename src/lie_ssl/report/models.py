"""The paper's figure of published models: the gaps of each in every setting."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.figure import Figure

from lie_ssl.frames.kinds import KINDS
from lie_ssl.protocol.phases import PHASES
from lie_ssl.protocol.schema import SELF_OCCLUSION, SELF_OCCLUSION_POSES
from lie_ssl.report.axes import blank_figure, plain_axes
from lie_ssl.report.names import method_name
from lie_ssl.report.summary import gaps_of
from lie_ssl.report.tables import phases_and_poses
from lie_ssl.storage.paths import inside

Bar = tuple[str, str]  # kind of pose, gap


def bars_of(present: Collection[Bar]) -> dict[Bar, tuple[str, str]]:
    """The label and the colour of all bars of which there are measurements, in the order of the figure.

    Unknown instances in typical pose are the same for every kind of pose, so they are shown once.
    """
    kinds = [kind for kind in KINDS.values() if kind.name in {poses for poses, _ in present}]
    bars = {(k.name, "known_new"): (f"known, new {k.short} pose", k.colours[0]) for k in kinds}
    bars |= {(k.name, "unknown_typical"): ("unknown, typical pose", "#bdbdbd") for k in kinds[:1]}
    bars |= {(k.name, "unknown_diverse"): (f"unknown, diverse {k.short} pose", k.colours[1]) for k in kinds}
    bars[SELF_OCCLUSION_POSES, SELF_OCCLUSION] = ("self-occlusion (2D - 3D)", "#756bb1")
    return {bar: look for bar, look in bars.items() if bar in present}


def model_gaps(accuracy: pd.DataFrame, phase: str) -> Figure:
    """Points below known instances in typical pose, with a group of bars for each model.

    Models are sorted by their gap on unknown instances in diverse poses of the last kind (3D in the paper).
    """
    gaps = gaps_of(accuracy[accuracy["phase"] == phase])
    wide = gaps.pivot_table(index="method", columns=["poses", "gap"], values="points")
    bars = bars_of(set(gaps[["poses", "gap"]].itertuples(index=False, name=None)))
    shown = list(bars)
    last = [bar for bar in shown if bar[1] == "unknown_diverse"][-1:] or shown[-1:]
    wide = wide.sort_values(last[0])
    figure = blank_figure(max(6.4, 1.5 + 1.35 * len(wide)), 4.2)
    panel = figure.subplots()
    width = 0.84 / len(shown)
    for i, bar in enumerate(shown):
        label, colour = bars[bar]
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
