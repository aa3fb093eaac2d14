"""Tables of a grid of adapted encoders: recognition, gains over the frozen encoder and Frames, angles, retrieval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from lie_ssl.protocol.schema import POSES, TOP1, Column
from lie_ssl.report.cells import Cell, Row, Table, lookup
from lie_ssl.report.names import ARM_KEYS, FROZEN, Arm, arms_of, method_name

SETTINGS = {"known_new": "known object, new pose", "unknown_diverse": "unknown object"}
CHALLENGER, CONTROL = "lie", "frames"
ANGLES = {"align": "read by the operator", "predicted": "told by its own network", "readout": "read by a network"}
RETRIEVAL = {"mrr": "among its own frames", "mrr_all": "among those of all unknown objects"}


def adaptation_tables(accuracy: pd.DataFrame, equivariance: pd.DataFrame) -> list[Table]:
    """The tables of linear classifiers and of moves of unknown objects; none if no encoder is frozen.

    Args:
        accuracy, equivariance: The long tables of a recipe such as `adapt`.
    """
    linear = accuracy[accuracy["phase"] == "linear"] if len(accuracy) else accuracy
    if linear.empty or FROZEN not in set(linear["arm"]):
        return []
    shares = sorted(linear["diverse"].unique())
    tables = [recognition(linear, share) for share in shares] + [gains(linear, share) for share in shares]
    moved = equivariance[equivariance["instances"] == "unknown"].assign(option=1)
    return [*tables, *angle_tables(moved), *retrieval_tables(moved[moved["part"] == "moved"])]


def recognition(linear: pd.DataFrame, share: float) -> Table:
    """Top-1 accuracy of every arm, on known and unknown objects, for every kind of pose."""
    own, kinds = linear[linear["diverse"] == share], POSES.in_order(linear["poses"])
    found = lookup(own, [*ARM_KEYS, "setting", "poses"], TOP1)
    rows = tuple(
        Row(arm.name, tuple(found(*arm, setting, kind) for setting in SETTINGS for kind in kinds), arm.method)
        for arm in arms_of(own)
    )
    title = f"Recognised, in %, if {share:g} % of the objects are labelled in all poses"
    return Table(f"adapted_recognition_{share:g}", title, "", _groups(kinds), rows)


def gains(linear: pd.DataFrame, share: float) -> Table:
    """Lie minus the better frozen encoder, whose classifier has no seeds, and minus Frames, paired by seed."""
    own, kinds = linear[(linear["diverse"] == share) & (linear["option"] == 1)], POSES.in_order(linear["poses"])
    rows = []
    for method in dict.fromkeys(arm.method for arm in arms_of(own)):
        frozen = [arm.arm for arm in arms_of(own) if arm.method == method and arm.objective == FROZEN]
        for name, others in (("the frozen encoder", frozen), (Arm(method, CONTROL).name, [CONTROL])):
            cells = tuple(
                _difference(own[(own["method"] == method) & (own["setting"] == s) & (own["poses"] == k)], others)
                for s in SETTINGS for k in kinds
            )  # fmt: skip
            if not all(cell.empty for cell in cells):
                rows.append(Row(f"{Arm(method, CHALLENGER).name} minus {name}", cells, method))
    title = f"Gains of Lie in points, if {share:g} % of the objects are labelled in all poses"
    return Table(f"adapted_gains_{share:g}", title, "", _groups(kinds), tuple(rows))


def _difference(cell: pd.DataFrame, others: Sequence[str]) -> Cell:
    """Lie minus the best of the others in one cell: the mean, and its standard error if there are two seeds or more."""
    seeds = {arm: own.set_index("seed")["top1"] for arm, own in cell.groupby("arm")}
    known = [seeds[name] for name in others if name in seeds]
    if CHALLENGER not in seeds or not known:
        return Cell()
    other = known[0] if others == [CONTROL] else max(each.mean() for each in known)
    found = (seeds[CHALLENGER] - other).dropna()
    mean, error = found.agg(["mean", "sem"]).to_list()
    return Cell(mean, error, digits=TOP1.digits)


def angle_tables(moved: pd.DataFrame) -> list[Table]:
    """The error of the angle between two pictures, for every way in which it was read."""
    tables = []
    for prefix, title in ANGLES.items():
        names = {f"{prefix}_median": "median", f"{prefix}_mean": "mean", f"{prefix}_near": "within 30, %"}
        table = _by_kind(moved, f"adapted_angle_{prefix}", f"Angle of unknown objects in degrees, {title}", names, 1)
        tables += [table] if table is not None else []
    return tables


def retrieval_tables(moved: pd.DataFrame) -> list[Table]:
    """The mean reciprocal rank of an object that is turned by a given angle."""
    table = _by_kind(
        moved, "adapted_retrieval", "MRR of unknown objects that are turned by a given angle", RETRIEVAL, 2
    )
    return [] if table is None else [table]


def _by_kind(moved: pd.DataFrame, name: str, title: str, columns: dict[str, str], digits: int) -> Table | None:
    measured = [column for column in columns if column in moved and moved[column].notna().any()]
    if not measured:
        return None
    kinds = POSES.in_order(moved["poses"])
    own = moved.dropna(subset=measured, how="all").drop_duplicates([*ARM_KEYS, "poses", "seed", *measured])
    found = {c: lookup(own, [*ARM_KEYS, "poses"], replace(Column(c), digits=digits)) for c in measured}
    rows = tuple(
        Row(arm.name, tuple(found[c](*arm, kind) for kind in kinds for c in measured), method_name(arm.method))
        for arm in arms_of(own)
    )
    groups = tuple((POSES.title_of(kind), tuple(columns[c] for c in measured)) for kind in kinds)
    return Table(name, title, "", groups, rows)


def _groups(kinds: Sequence[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((title, tuple(POSES.short_of(kind) for kind in kinds)) for title in SETTINGS.values())
