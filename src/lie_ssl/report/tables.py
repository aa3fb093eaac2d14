"""Makes the tables of a report, which `lie_ssl.report.formats` writes.

Cells of missing measurements are empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pandas as pd

from lie_ssl.methods.registry import METHODS
from lie_ssl.protocol.metrics import METRICS
from lie_ssl.protocol.phases import PHASES
from lie_ssl.protocol.schema import (
    ABLATION,
    GAP,
    GAPS,
    INSTANCES,
    NEW_POSE_SETTINGS,
    PART,
    POSES,
    SELF_OCCLUSION,
    SELF_OCCLUSION_POSES,
    SETTING,
    TOP1,
    Column,
    in_order,
)
from lie_ssl.report.cells import MISSING, Cell, Row, Table, lookup, with_best
from lie_ssl.report.names import ARM_KEYS, arms_of, baseline_of, method_name
from lie_ssl.report.summary import gaps_of

POINTS = GAPS.columns[-1]


def all_tables(accuracy: pd.DataFrame, equivariance: pd.DataFrame, ablation: pd.DataFrame) -> list[Table]:
    """All tables that can be made from long tables, any of which may be empty."""
    tables: list[Table] = []
    if len(accuracy):
        tables += [*accuracy_tables(accuracy), *settings_tables(accuracy), *gap_tables(accuracy)]
    if len(equivariance):
        tables += equivariance_tables(equivariance)
    return tables + (ablation_tables(ablation) if len(ablation) else [])


def accuracy_tables(accuracy: pd.DataFrame, settings: Sequence[str] = NEW_POSE_SETTINGS) -> list[Table]:
    """One table for every phase and kind of pose, by default with the settings of the paper's tables."""
    return [accuracy_table(accuracy, phase, poses, settings) for phase, poses in phases_and_poses(accuracy)]


def accuracy_table(
    accuracy: pd.DataFrame, phase: str, poses: str, settings: Sequence[str] = NEW_POSE_SETTINGS
) -> Table:  # fmt: skip
    """Top-1 accuracy: mean, standard error, and difference from and ratio to the baseline of the same method."""
    own = accuracy[(accuracy["phase"] == phase) & (accuracy["poses"] == poses)]
    found = lookup(own, [*ARM_KEYS, "setting", "diverse"], TOP1)
    columns = [(s, d) for s in settings for d in diverse_of(accuracy)]
    rows = []
    for arm in (arms := arms_of(accuracy, phase)):
        base = baseline_of(arm.method, arms)
        cells = [_against(found(*arm, s, d), None if arm == base else found(*base, s, d)) for s, d in columns]
        rows.append(Row(arm.name, tuple(cells), method_name(arm.method)))
    paper = tuple(settings) == NEW_POSE_SETTINGS
    return Table(
        name=f"{'accuracy' if paper else 'settings'}_{phase}_{poses}",
        title=f"{PHASES.title(phase)}, {POSES.title_of(poses)}: {TOP1.title}"
        + ("" if paper else " in all settings"),
        corner="diverse instances",
        groups=tuple((SETTING.title_of(s), _percent(diverse_of(accuracy))) for s in settings),
        rows=with_best(rows),
    )  # fmt: skip


def settings_tables(accuracy: pd.DataFrame) -> list[Table]:
    """As :func:`accuracy_tables`, with all settings, including typical poses."""
    return accuracy_tables(accuracy, tuple(SETTING.categories))


def gap_tables(accuracy: pd.DataFrame) -> list[Table]:
    """One table for every phase and proportion: points below known instances in typical pose."""
    gaps = gaps_of(accuracy)
    kinds = [p for p in dict.fromkeys(gaps["poses"]) if p != SELF_OCCLUSION_POSES]
    columns = [(p, g) for p in kinds for g in GAP.categories if g != SELF_OCCLUSION]
    groups = [(POSES.title_of(p), tuple(GAP.title_of(g) for q, g in columns if q == p)) for p in kinds]
    if SELF_OCCLUSION in set(gaps["gap"]):
        columns.append((SELF_OCCLUSION_POSES, SELF_OCCLUSION))
        groups.append((POSES.title_of(SELF_OCCLUSION_POSES), (GAP.title_of(SELF_OCCLUSION),)))
    tables = []
    for phase in in_order(gaps["phase"], PHASES):
        for diverse in diverse_of(gaps):
            own = gaps[(gaps["phase"] == phase) & (gaps["diverse"] == diverse)]
            found = lookup(own, [*ARM_KEYS, "poses", "gap"], POINTS)
            rows = tuple(
                Row(arm.name, tuple(found(*arm, p, g) for p, g in columns), method_name(arm.method))
                for arm in arms_of(accuracy, phase)
            )
            title = f"{PHASES.title(phase)} with {diverse:g} % diverse instances: gaps in points"
            tables.append(Table(f"gaps_{phase}_{diverse:g}", title, "below known, typical pose", tuple(groups), rows))
    return tables


def equivariance_tables(equivariance: pd.DataFrame) -> list[Table]:
    """One table for every kind of pose, for known and for unknown instances, with the columns of all metrics."""
    if not (columns := metric_columns(equivariance)):
        return []
    equivariance = equivariance.reindex(
        columns=list(dict.fromkeys([*equivariance.columns, *(c.name for _, _, c in columns)]))
    ).assign(option=1)
    groups: dict[str, tuple[str, ...]] = {}
    for heading, _, column in columns:
        groups[heading] = (*groups.get(heading, ()), column.title)
    tables = []
    for poses in POSES.in_order(equivariance["poses"]):
        for instances in INSTANCES.in_order(equivariance["instances"]):
            own = equivariance[(equivariance["poses"] == poses) & (equivariance["instances"] == instances)]
            found = {c.name: lookup(own, [*ARM_KEYS, "part"], c) for _, _, c in columns}
            rows = [
                Row(arm.name, tuple(found[c.name](*arm, part) for _, part, c in columns), method_name(arm.method))
                for arm in arms_of(equivariance)
            ]
            title = f"The operator on {INSTANCES.title_of(instances)} instances, {POSES.title_of(poses)}"
            name = f"equivariance_{poses}_{instances}"
            tables.append(Table(name, title, "encoder", tuple(groups.items()), tuple(rows)))
    return tables


def metric_columns(equivariance: pd.DataFrame) -> list[tuple[str, str, Column]]:
    """The heading, part and column of all metrics that a table has values of.

    Metrics of the whole embedding come first, then those of each part.
    """
    measured = equivariance.columns[equivariance.notna().any()]
    metrics = [m for m in METRICS.entries() if m.in_table(measured)]
    whole = [(m.title, "whole", c) for m in metrics if not m.by_part for c in m.shown]
    by_part = [
        (f"{m.title}, {PART.title_of(part)}", part, c)
        for m in metrics if m.by_part for part in PART.categories for c in m.shown
    ]  # fmt: skip
    return whole + by_part


def ablation_tables(ablation: pd.DataFrame) -> list[Table]:
    """One table for every phase and kind of pose: accuracy without a part of the model, and the change."""
    shares = diverse_of(ablation)
    columns = [(s, d) for s in NEW_POSE_SETTINGS for d in shares]
    names = ablation[["method", "ablation"]].drop_duplicates()
    tables = []
    for phase, poses in phases_and_poses(ablation):
        own = ablation[(ablation["phase"] == phase) & (ablation["poses"] == poses)]
        by = ["method", "ablation", "setting", "diverse"]
        top1, drop = (lookup(own, by, column) for column in ABLATION.columns[-2:])
        rows = []
        for method in in_order(names["method"], METHODS):
            for name in names.loc[names["method"] == method, "ablation"]:
                keys = [(method, name, s, d) for s, d in columns]
                cells = [top1(*key) for key in keys]
                if name != "full":  # the others are compared with the full model
                    cells = [replace(c, difference=-drop(*key).mean) for c, key in zip(cells, keys, strict=True)]
                rows.append(Row(f"{method_name(method)} Lie, {name}", tuple(cells), method_name(method)))
        what = f"{PHASES.title(phase)}, {POSES.title_of(poses)}"
        title = f"Ablations: {what}: {TOP1.title} (change from the full model)"
        groups = tuple((SETTING.title_of(s), _percent(shares)) for s in NEW_POSE_SETTINGS)
        tables.append(Table(f"ablation_{phase}_{poses}", title, "diverse instances", groups, tuple(rows)))
    return tables


def phases_and_poses(table: pd.DataFrame) -> list[tuple[str, str]]:
    """All combinations of the phases and the kinds of pose of a table, in the order of reports."""
    return [(phase, poses) for phase in in_order(table["phase"], PHASES) for poses in POSES.in_order(table["poses"])]


def diverse_of(table: pd.DataFrame) -> list[float]:
    """The proportions of diverse instances in per cent, in ascending order."""
    return sorted(float(d) for d in table["diverse"].unique())


def _against(cell: Cell, base: Cell | None) -> Cell:
    if base is None:
        return cell
    return replace(
        cell,
        difference=cell.mean - base.mean,
        multiple=cell.mean / base.mean if base.mean > 0 else MISSING,
    )


def _percent(shares: Iterable[float]) -> tuple[str, ...]:
    return tuple(f"{d:g} %" for d in shares)
