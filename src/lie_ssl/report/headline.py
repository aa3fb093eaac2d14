"""The one table that a reader should see first: the largest proportion of diverse instances, all arms, both phases, and
what the operator does."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from lie_ssl.report.names import ARM_KEYS, arms_of, in_order, method_name, poses_name
from lie_ssl.report.summary import over_seeds
from lie_ssl.report.tables import Cell, Row, Table, lookup

COLUMNS = (("linear", "known_new"), ("linear", "unknown_diverse"), ("finetune", "known_new"),
           ("finetune", "unknown_diverse"))  # fmt: skip
HEADINGS = {"known_new": "known, new pose", "unknown_diverse": "unknown, diverse pose"}
PHASES = {"linear": "linear", "finetune": "finetuned"}
OPERATOR = {"mrr": "MRR", "mrr_transfer": "other's t", "mrr_identity": "not moved", "relative_error": "rel. error"}


def headline_tables(accuracy: pd.DataFrame, equivariance: pd.DataFrame) -> list[Table]:
    """One for every kind of pose."""
    if accuracy.empty or equivariance.empty:
        return []
    return [headline_table(accuracy, equivariance, poses) for poses in in_order(accuracy["poses"], ())]


def headline_table(accuracy: pd.DataFrame, equivariance: pd.DataFrame, poses: str) -> Table:
    """Top-1 accuracy in one kind of pose, and retrieval by the moved part of unknown instances."""
    largest = accuracy["diverse"].max()
    own = accuracy[(accuracy["diverse"] == largest) & (accuracy["poses"] == poses)]
    found = lookup(over_seeds(own, [*ARM_KEYS, "phase", "setting"], "top1"))
    operators = _operators(equivariance, poses)
    rows = []
    for arm in arms_of(own, "linear"):
        cells = [found(*arm, phase, setting) for phase, setting in COLUMNS]
        cells += [operators[name](arm.method, arm.arm) for name in OPERATOR]
        rows.append(Row(arm.name, tuple(cells), method_name(arm.method)))
    groups = [
        (PHASES[phase], tuple(HEADINGS[s] for p, s in COLUMNS if p == phase)) for phase in dict.fromkeys(PHASES)
    ]  # fmt: skip
    seeds = int(accuracy["seed"].nunique())
    return Table(
        name=f"headline_{poses}",
        title=f"{poses_name(poses)}, {largest:g} % of the instances diverse: top-1 accuracy in %, and retrieval by the "
        f"operator; means over up to {seeds} seeds",
        corner="",
        groups=(*groups, ("moved part, unknown instances", tuple(OPERATOR.values()))),
        rows=tuple(rows),
    )


def _operators(equivariance: pd.DataFrame, poses: str) -> dict[str, Callable[..., Cell]]:
    own = equivariance[
        (equivariance["poses"] == poses)
        & (equivariance["instances"] == "unknown")
        & (equivariance["part"] == "moved")
    ]  # fmt: skip
    return {name: lookup(over_seeds(own, ["method", "arm"], name), digits=2) for name in OPERATOR}


def operator_gain(accuracy: pd.DataFrame) -> pd.DataFrame:
    """What the operator's own terms add in every cell: lie minus lie_off, and lie minus frames, seed by seed."""
    keys = ["method", "phase", "diverse", "poses", "setting"]
    wide = accuracy[accuracy["option"] == 1].pivot_table(index=[*keys, "seed"], columns="arm", values="top1")
    parts = []
    for other in ("base", "frames", "lie_off"):
        if other in wide and "lie" in wide:
            difference = (wide["lie"] - wide[other]).dropna().rename("points").reset_index()
            parts.append(over_seeds(difference, keys, "points").assign(against=other))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=[*keys, "mean", "error", "seeds"])
