"""The table of an ablation of an adapted encoder: what each change does to the full model, paired by seed."""

from __future__ import annotations

import pandas as pd

from lie_ssl.protocol.schema import POSES
from lie_ssl.report.amounts import AMOUNT
from lie_ssl.report.cells import Cell, Row, Table
from lie_ssl.report.names import FROZEN, Arm

FULL = "lie"
SETTINGS = {"known_new": "known", "unknown_diverse": "unknown"}


def change_tables(accuracy: pd.DataFrame, equivariance: pd.DataFrame) -> list[Table]:
    """One table for each encoder; none without variants of Lie, or beside other encoders and objectives.

    Args:
        accuracy, equivariance: The long tables of a recipe such as `adapt/ablations`.
    """
    linear = accuracy[accuracy["phase"] == "linear"] if len(accuracy) else accuracy
    if linear.empty or FROZEN in set(linear["arm"]):
        return []
    tables = []
    for method, own in linear.groupby("method", sort=False):
        moves = equivariance[equivariance["method"] == method]
        variants = [a for a in dict.fromkeys(own["arm"]) if a.startswith(f"{FULL}-") and not AMOUNT.fullmatch(a)]
        if variants and FULL in set(own["arm"]):
            tables.append(_table(str(method), variants, own, moves))
    return tables


def _table(method: str, variants: list[str], linear: pd.DataFrame, moves: pd.DataFrame) -> Table:
    measures = _measures(linear, moves)
    rows = [Row(Arm("", FULL).name, tuple(_cell(values.get(FULL), digits) for values, digits in measures.values()))]
    for arm in variants:
        cells = (
            _cell((values[arm] - values[FULL]).dropna() if arm in values and FULL in values else None, digits)
            for values, digits in measures.values()
        )
        rows.append(Row(Arm("", arm).variant, tuple(cells)))
    groups: dict[str, list[str]] = {}
    for group, column in measures:
        groups.setdefault(group, []).append(column)
    return Table(
        name=f"adapted_changes_{method}",
        title="Changes of the full model, in the units of its row; means over the kinds of pose unless named",
        corner="",
        groups=tuple((group, tuple(columns)) for group, columns in groups.items()),
        rows=tuple(rows),
    )


def _measures(
    linear: pd.DataFrame, moves: pd.DataFrame
) -> dict[tuple[str, str], tuple[dict[str, pd.Series], int]]:  # fmt: skip
    """For each column of the table: the values of every arm by seed, and digits."""
    found: dict[tuple[str, str], tuple[dict[str, pd.Series], int]] = {}
    for share in sorted(linear["diverse"].unique()):
        for setting, title in SETTINGS.items():
            own = linear[(linear["diverse"] == share) & (linear["setting"] == setting)]
            found[f"recognised, {share:g} % labelled", title] = _by_arm(own, "top1"), 1
    unknown = moves[(moves["instances"] == "unknown") & (moves["part"] == "moved")]
    for kind in POSES.in_order(unknown["poses"]):
        own = unknown[unknown["poses"] == kind]
        found["median angle error, unknown objects", POSES.short_of(kind)] = _by_arm(own, "align_median"), 1
    for kind in POSES.in_order(unknown["poses"]):
        found["MRR, unknown objects", POSES.short_of(kind)] = _by_arm(unknown[unknown["poses"] == kind], "mrr"), 2
    return found


def _by_arm(rows: pd.DataFrame, column: str) -> dict[str, pd.Series]:
    """The values of each arm by seed; means over the kinds of pose."""
    own = rows.dropna(subset=[column]) if column in rows else rows.iloc[:0].assign(**{column: 0.0})
    return {str(arm): group.groupby("seed")[column].mean() for arm, group in own.groupby("arm")}


def _cell(values: pd.Series | None, digits: int) -> Cell:
    if values is None or values.empty:
        return Cell()
    mean, error = values.agg(["mean", "sem"]).to_list()
    return Cell(mean, error, digits=digits)
