"""Curves over amounts of training data: runs whose variants are named `objects_5` or `poses_10`.

One figure for each quantity, with one column per kind of pose: recognition of unknown objects above, the angle between
two pictures, as the operator reads it, below.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator

from lie_ssl.protocol.schema import POSES
from lie_ssl.report.axes import blank_figure, plain_axes
from lie_ssl.report.colours import colour_of, marker_of
from lie_ssl.report.names import Arm, arms_of
from lie_ssl.report.summary import over_seeds
from lie_ssl.report.tables import diverse_of

AMOUNT = re.compile(r"(.+)-(objects|poses)_(\d+)")
AXIS = {"objects": "objects of each class in all poses", "poses": "poses of each object"}
ANGLES = {"align_median": ("median", "-"), "align_mean": ("mean", "--")}
NEEDED = ("phase", "setting", "quantity", "amount")  # also of a table without rows


def with_amounts(table: pd.DataFrame) -> pd.DataFrame:
    """The rows whose variant names an amount, with it in the columns `quantity` and `amount`; `arm` without it."""
    own = table[table["arm"].astype(str).str.fullmatch(AMOUNT)] if len(table) else table
    if own.empty:
        return pd.DataFrame(columns=list(dict.fromkeys([*table.columns, "arm", *NEEDED])))
    parts = own["arm"].astype(str).str.extract(AMOUNT)
    return own.assign(arm=parts[0], quantity=parts[1], amount=parts[2].astype(float))


def without_amounts(table: pd.DataFrame) -> pd.DataFrame:
    """The other rows."""
    return table[~table["arm"].astype(str).str.fullmatch(AMOUNT)] if len(table) else table


def amount_figures(accuracy: pd.DataFrame, equivariance: pd.DataFrame) -> dict[str, Figure]:
    """The figures by name, such as `amount_objects`; none if no variant names an amount."""
    correct, moves = with_amounts(accuracy), with_amounts(equivariance)
    correct = correct[(correct["phase"] == "linear") & (correct["setting"] == "unknown_diverse")]
    return {
        f"amount_{quantity}": amount_figure(own, moves[moves["quantity"] == quantity], str(quantity))
        for quantity, own in correct.groupby("quantity")
    }


def amount_figure(accuracy: pd.DataFrame, equivariance: pd.DataFrame, quantity: str) -> Figure:
    """The figure of one quantity, from rows of unknown objects with their amounts."""
    share = min(diverse_of(accuracy))
    correct = accuracy[accuracy["diverse"] == share]
    moves = equivariance[(equivariance["instances"] == "unknown") & (equivariance["part"] == "whole")]
    moves = moves.reindex(columns=[*moves.columns, *(c for c in ANGLES if c not in moves)])
    kinds, arms = POSES.in_order(correct["poses"]), arms_of(correct)
    figure = blank_figure(max(6.4, 3.6 * len(kinds)), 5.6)
    panels = figure.subplots(2, len(kinds), sharex=True, sharey="row", squeeze=False)
    for panel, kind in zip(panels[0], kinds, strict=True):
        for arm in arms:
            _line(panel, correct[correct["poses"] == kind], arm, arms, "top1", "-")
        panel.set_title(POSES.title_of(kind), fontsize=10)
    for panel, kind in zip(panels[1], kinds, strict=True):
        for arm in arms:
            for column, (_, dash) in ANGLES.items():
                _line(panel, moves[moves["poses"] == kind], arm, arms, column, dash)
        panel.set(xlabel=AXIS[quantity], yscale="log")
    amounts = sorted(correct["amount"].unique())
    for panel in panels.flat:
        panel.set(xscale="log")
        panel.set_xticks(amounts, [f"{a:g}" for a in amounts])
        panel.minorticks_off()
        plain_axes(panel)
    panels[1, 0].yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    panels[1, 0].yaxis.set_major_formatter("{x:g}")
    panels[0, 0].set_ylabel("recognised (%)")
    panels[1, 0].set_ylabel("angle error (degrees)")
    figure.suptitle(f"Unknown objects, {share:g} % of the objects labelled in all poses", fontsize=11)
    _legend(figure, arms)
    return figure


def _line(panel: Axes, rows: pd.DataFrame, arm: Arm, arms: Sequence[Arm], column: str, dash: str) -> None:
    own = rows[(rows["method"] == arm.method) & (rows["arm"] == arm.arm)]
    means = over_seeds(own, ["amount"], column).sort_values("amount")
    if means.empty:
        return
    panel.errorbar(
        means["amount"], means["mean"], yerr=means["error"].fillna(0), capsize=2, color=colour_of(arm, arms),
        marker=marker_of(arm), ms=4, lw=1.8, ls=dash,
    )  # fmt: skip


def _legend(figure: Figure, arms: Sequence[Arm]) -> None:
    handles = [Line2D([], [], color=colour_of(a, arms), marker=marker_of(a), ms=4, lw=1.8) for a in arms]
    handles += [Line2D([], [], color="#222222", lw=1.8, ls=dash) for _, dash in ANGLES.values()]
    labels = [arm.name for arm in arms] + [f"{name} error" for name, _ in ANGLES.values()]
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False, fontsize=9)
