"""The tables of a report as numbers; `lie_ssl.report.formats` writes them for the terminal, Markdown, LaTeX, CSV, HTML.

What was not measured stays in a table as an empty cell.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from lie_ssl.methods.registry import METHODS
from lie_ssl.protocol.settings import SETTINGS as ALL_SETTINGS
from lie_ssl.report.names import (
    ARM_KEYS,
    BASE,
    GAPS,
    MEASURES,
    PAPER_SETTINGS,
    PHASES,
    SELF_OCCLUSION,
    SELF_OCCLUSION_POSES,
    SETTINGS,
    Arm,
    arms_of,
    in_order,
    method_name,
    phase_name,
    poses_name,
)
from lie_ssl.report.summary import gaps_of, over_seeds

NOTHING = math.nan


@dataclass(frozen=True)
class Cell:
    """A mean over seeds; what is not there is not a number."""

    mean: float = NOTHING
    error: float = NOTHING  # standard error
    difference: float = NOTHING  # to the baseline of the same method
    multiple: float = NOTHING  # of the baseline
    digits: int = 1
    best: bool = False  # of its method, as the digits show it

    @property
    def empty(self) -> bool:
        return math.isnan(self.mean)


@dataclass(frozen=True)
class Row:
    """Rows of the same block belong together."""

    name: str
    cells: tuple[Cell, ...]
    block: str = ""


@dataclass(frozen=True)
class Table:
    """Columns come in groups with a heading each."""

    name: str  # of a file
    title: str
    corner: str  # heading of the first column
    groups: tuple[tuple[str, tuple[str, ...]], ...]
    rows: tuple[Row, ...]

    @property
    def columns(self) -> list[tuple[str, str]]:
        """Group and heading of every column."""
        return [(group, column) for group, columns in self.groups for column in columns]


def all_tables(accuracy: pd.DataFrame, equivariance: pd.DataFrame, ablation: pd.DataFrame) -> list[Table]:
    """Everything that long tables, any of which may be empty, allow."""
    tables: list[Table] = []
    if len(accuracy):
        tables += [*accuracy_tables(accuracy), *settings_tables(accuracy), *gap_tables(accuracy)]
    if len(equivariance):
        tables += equivariance_tables(equivariance)
    return tables + (ablation_tables(ablation) if len(ablation) else [])


def accuracy_tables(accuracy: pd.DataFrame, settings: Sequence[str] = PAPER_SETTINGS) -> list[Table]:
    """One table for every phase and kind of pose, in the paper's layout; other settings give other columns."""
    return [accuracy_table(accuracy, phase, poses, settings) for phase, poses in phases_and_poses(accuracy)]


def accuracy_table(
    accuracy: pd.DataFrame, phase: str, poses: str, settings: Sequence[str] = PAPER_SETTINGS
) -> Table:  # fmt: skip
    """Top-1 accuracy as mean, standard error, and difference and multiple to the baseline of the same method."""
    own = accuracy[(accuracy["phase"] == phase) & (accuracy["poses"] == poses)]
    found = lookup(over_seeds(own, [*ARM_KEYS, "setting", "diverse"], "top1"))
    columns = [(s, d) for s in settings for d in diverse_of(accuracy)]
    rows = []
    for arm in arms_of(accuracy, phase):
        base = Arm(arm.method, BASE)
        cells = [_against(found(*arm, s, d), None if arm == base else found(*base, s, d)) for s, d in columns]
        rows.append(Row(arm.name, tuple(cells), method_name(arm.method)))
    paper = tuple(settings) == PAPER_SETTINGS
    return Table(
        name=f"{'accuracy' if paper else 'settings'}_{phase}_{poses}",
        title=f"{phase_name(phase)}, {poses_name(poses)}: top-1 accuracy in %"
        + ("" if paper else " in all settings"),
        corner="diverse instances",
        groups=tuple((SETTINGS.get(s, s), _percent(diverse_of(accuracy))) for s in settings),
        rows=_with_best(rows),
    )  # fmt: skip


def settings_tables(accuracy: pd.DataFrame) -> list[Table]:
    """As :func:`accuracy_tables`, with all settings, typical poses too."""
    return accuracy_tables(accuracy, ALL_SETTINGS)


def gap_tables(accuracy: pd.DataFrame) -> list[Table]:
    """One table for every phase and proportion: how much is lost against known instances in typical pose."""
    gaps = gaps_of(accuracy)
    kinds = [p for p in dict.fromkeys(gaps["poses"]) if p != SELF_OCCLUSION_POSES]
    columns = [(p, g) for p in kinds for g in GAPS if g != SELF_OCCLUSION]
    groups = [(poses_name(p), tuple(GAPS[g] for q, g in columns if q == p)) for p in kinds]
    if SELF_OCCLUSION in set(gaps["gap"]):
        columns.append((SELF_OCCLUSION_POSES, SELF_OCCLUSION))
        groups.append(("2D minus 3D", (GAPS[SELF_OCCLUSION],)))
    tables = []
    for phase in in_order(gaps["phase"], PHASES):
        for diverse in diverse_of(gaps):
            own = gaps[(gaps["phase"] == phase) & (gaps["diverse"] == diverse)]
            found = lookup(over_seeds(own, [*ARM_KEYS, "poses", "gap"], "points"))
            rows = tuple(
                Row(arm.name, tuple(found(*arm, p, g) for p, g in columns), method_name(arm.method))
                for arm in arms_of(accuracy, phase)
            )
            title = f"{phase_name(phase)} with {diverse:g} % diverse instances: gaps in points"
            tables.append(Table(f"gaps_{phase}_{diverse:g}", title, "lost against known, typical", tuple(groups), rows))
    return tables


def equivariance_tables(equivariance: pd.DataFrame) -> list[Table]:
    """One table for every kind of pose, for known and for unknown instances."""
    parts = {"moved": "moved part", "whole": "whole embedding"}
    retrieval = [m for m in MEASURES if not m.startswith("pose")]
    # Pose is regressed from the whole embedding and stands in the rows of both parts.
    columns = [("whole", m) for m in MEASURES if m not in retrieval] + [(part, m) for part in parts for m in retrieval]
    groups = [("relative pose", tuple(MEASURES[m] for m in MEASURES if m not in retrieval))]
    groups += [(f"retrieval, {name}", tuple(MEASURES[m] for m in retrieval)) for name in parts.values()]
    equivariance = equivariance.reindex(columns=list(dict.fromkeys([*equivariance.columns, *MEASURES]))).assign(
        option=1
    )
    tables = []
    for poses in in_order(equivariance["poses"], ()):
        for instances in in_order(equivariance["instances"], ()):
            own = equivariance[(equivariance["poses"] == poses) & (equivariance["instances"] == instances)]
            found = {m: lookup(over_seeds(own, [*ARM_KEYS, "part"], m)) for m in MEASURES}
            rows = []
            for arm in arms_of(equivariance):
                cells = [replace(found[m](*arm, p), digits=1 if m == "pose_degrees" else 3) for p, m in columns]
                rows.append(Row(arm.name, tuple(cells), method_name(arm.method)))
            title = f"The operator on {instances} instances, {poses_name(poses)}"
            tables.append(
                Table(f"equivariance_{poses}_{instances}", title, "encoder", tuple(groups), tuple(rows))
            )  # fmt: skip
    return tables


def ablation_tables(ablation: pd.DataFrame) -> list[Table]:
    """One table for every phase and kind of pose: accuracy without a part of the model, and what that changes."""
    shares = diverse_of(ablation)
    columns = [(s, d) for s in PAPER_SETTINGS for d in shares]
    names = ablation[["method", "ablation"]].drop_duplicates()
    tables = []
    for phase, poses in phases_and_poses(ablation):
        own = ablation[(ablation["phase"] == phase) & (ablation["poses"] == poses)]
        by = ["method", "ablation", "setting", "diverse"]
        top1, drop = (lookup(over_seeds(own, by, value)) for value in ("top1", "drop"))
        rows = []
        for method in in_order(names["method"], METHODS):
            for name in names.loc[names["method"] == method, "ablation"]:
                keys = [(method, name, s, d) for s, d in columns]
                cells = [top1(*key) for key in keys]
                if name != "full":  # with which all others are compared
                    cells = [replace(c, difference=-drop(*key).mean) for c, key in zip(cells, keys, strict=True)]
                rows.append(Row(f"{method_name(method)} Lie, {name}", tuple(cells), method_name(method)))
        title = f"Ablations: {phase_name(phase)}, {poses_name(poses)}: top-1 accuracy in % (change to the full model)"
        groups = tuple((SETTINGS[s], _percent(shares)) for s in PAPER_SETTINGS)
        tables.append(Table(f"ablation_{phase}_{poses}", title, "diverse instances", groups, tuple(rows)))
    return tables


def phases_and_poses(table: pd.DataFrame) -> list[tuple[str, str]]:
    """What the table has, in the order of a report."""
    return [(phase, poses) for phase in in_order(table["phase"], PHASES) for poses in in_order(table["poses"], ())]


def diverse_of(table: pd.DataFrame) -> list[float]:
    """The proportions of diverse instances in per cent, rising."""
    return sorted(float(d) for d in table["diverse"].unique())


def lookup(means: pd.DataFrame, digits: int = 1) -> Callable[..., Cell]:
    """Keys -> cell; an empty one for keys that are not there."""
    keys = [c for c in means.columns if c not in ("mean", "error", "seeds")]
    places = means[keys].itertuples(index=False, name=None)
    numbers = zip(places, means["mean"], means["error"], strict=True)
    cells = {tuple(k): Cell(float(m), float(e), digits=digits) for k, m, e in numbers}
    return lambda *key: cells.get(key, Cell())


def _against(cell: Cell, base: Cell | None) -> Cell:
    if base is None:
        return cell
    return replace(
        cell,
        difference=cell.mean - base.mean,
        multiple=cell.mean / base.mean if base.mean > 0 else NOTHING,
    )


def _with_best(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Marks the highest mean of every column and block; not where there is nothing to compare it with."""
    out = []
    for row in rows:
        others = [r for r in rows if r.block == row.block]
        cells = [
            replace(cell, best=_highest(cell, [r.cells[i] for r in others])) for i, cell in enumerate(row.cells)
        ]  # fmt: skip
        out.append(replace(row, cells=tuple(cells)))
    return tuple(out)


def _highest(cell: Cell, others: Sequence[Cell]) -> bool:
    values = [round(c.mean, c.digits) for c in others if not c.empty]
    return not cell.empty and len(values) > 1 and round(cell.mean, cell.digits) == max(values)


def _percent(shares: Iterable[float]) -> tuple[str, ...]:
    return tuple(f"{d:g} %" for d in shares)
