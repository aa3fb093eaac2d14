"""The tables to read first: accuracy of all arms at the largest proportion of diverse instances, the gains of X Lie,
and retrieval with the operator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from lie_ssl.methods.registry import METHODS
from lie_ssl.protocol.metrics import METRICS
from lie_ssl.protocol.schema import POSES, TOP1, in_order
from lie_ssl.report.cells import Row, Table, cells_of, lookup
from lie_ssl.report.names import ARM_KEYS, Arm, arms_of, method_name
from lie_ssl.report.summary import over_seeds

CELLS = [
    ("linear", "known_new", "linear, known object, new pose"),
    ("linear", "unknown_diverse", "linear, unknown object"),
    ("finetune", "known_new", "finetuned, known object, new pose"),
    ("finetune", "unknown_diverse", "finetuned, unknown object"),
]
COMPARED_WITH = ("alone", "frames", "lie_off")
OPERATOR = ("mrr", "mrr_transfer", "mrr_identity", "relative_error")  # columns of the metric `retrieval`


def headline_tables(accuracy: pd.DataFrame, equivariance: pd.DataFrame) -> list[Table]:
    """Accuracy at the largest proportion, the gains of X Lie, and retrieval with the operator, as far as measured."""
    if accuracy.empty:
        return []
    tables = [headline_accuracy(accuracy)]
    if len(gains := operator_gain(accuracy[accuracy["phase"] == "linear"])):
        tables.append(headline_gains(gains))
    return tables if _moved(equivariance).empty else [*tables, headline_operator(equivariance)]


def headline_accuracy(accuracy: pd.DataFrame) -> Table:
    """Accuracy of all arms, linear and finetuned, on known and unknown objects, for every kind of pose."""
    largest, kinds = accuracy["diverse"].max(), POSES.in_order(accuracy["poses"])
    own = accuracy[accuracy["diverse"] == largest]
    found = lookup(own, [*ARM_KEYS, "phase", "setting", "poses"], TOP1)
    measured = [c for c in CELLS if c[0] in set(own["phase"]) and c[1] in set(own["setting"])]
    rows = tuple(
        Row(arm.name, tuple(found(*arm, p, s, kind) for p, s, _ in measured for kind in kinds), method_name(arm.method))
        for arm in arms_of(own, "linear")
    )
    title = f"{TOP1.title[:1].upper()}{TOP1.title[1:]}, {largest:g} % of the instances diverse, {_seeds(own)}"
    groups = tuple((name, tuple(POSES.short_of(k) for k in kinds)) for _, _, name in measured)
    return Table("headline_accuracy", title, "", groups, rows)


def headline_gains(gains: pd.DataFrame) -> Table:
    """X Lie minus X, X Frames and X Lie off with a linear classifier, at the smallest and the largest proportion."""
    kinds = POSES.in_order(gains["poses"])
    shares = sorted({gains["diverse"].min(), gains["diverse"].max()})
    found = cells_of(gains, ["method", "against", "setting", "diverse", "poses"], TOP1.digits)
    settings = [(setting, name.removeprefix("linear, ")) for phase, setting, name in CELLS if phase == "linear"]
    columns = [(setting, share, kind) for setting, _ in settings for share in shares for kind in kinds]
    rows = []
    for method in in_order(gains["method"], METHODS):
        for other in in_order(gains.loc[gains["method"] == method, "against"], COMPARED_WITH):
            cells = tuple(found(method, other, *column) for column in columns)
            name = f"{Arm(method, 'lie').name} minus {Arm(method, other).name}"
            rows.append(Row(name, cells, method_name(method)))
    headings = tuple(f"{share:g} %, {POSES.short_of(kind)}" for share in shares for kind in kinds)
    title = "Gains of X Lie in points: linear, by the share of diverse instances; paired by seed"
    return Table("headline_gains", title, "", tuple((name, headings) for _, name in settings), tuple(rows))


def headline_operator(equivariance: pd.DataFrame) -> Table:
    """Retrieval of the true frames of unknown objects with the moved part of the embedding."""
    own = _moved(equivariance)
    rows = [(arm.name, tuple(arm), arm.method) for arm in arms_of(own)]
    title = f"Moved embeddings of unknown objects, {_seeds(own)}"
    return _operator_table("headline_operator", title, own, ARM_KEYS, rows)


def ablation_operator(equivariance: pd.DataFrame) -> list[Table]:
    """As :func:`headline_operator`, for the variants of an ablation; no table if there are none."""
    if equivariance.empty:
        return []
    own = _moved(equivariance)
    names = own[["method", "ablation"]].drop_duplicates().itertuples(index=False)
    rows = [(f"{method_name(method)} Lie, {name}", (method, name), method) for method, name in names]
    title = "Ablations: moved embeddings of unknown objects"
    return [_operator_table("ablation_operator", title, own, ["method", "ablation"], rows)]


def _moved(equivariance: pd.DataFrame) -> pd.DataFrame:
    """The rows of the moved part of the embedding, for unknown objects; none if no arm has an operator."""
    if equivariance.empty:
        return equivariance
    return equivariance[(equivariance["instances"] == "unknown") & (equivariance["part"] == "moved")].assign(option=1)


def _operator_table(
    name: str, title: str, own: pd.DataFrame, keys: list[str], rows: Sequence[tuple[str, tuple[object, ...], str]]
) -> Table:
    """A table of retrieval; each of `rows` consists of a name, the values of the keys, and the method."""
    kinds = POSES.in_order(own["poses"])
    columns = {c.name: replace(c, digits=2) for c in METRICS["retrieval"].columns if c.name in OPERATOR}
    found = [lookup(own, [*keys, "poses"], columns[name]) for name in OPERATOR]
    titles = tuple(columns[name].short or columns[name].title for name in OPERATOR)
    groups = tuple((POSES.title_of(kind), titles) for kind in kinds)
    cells = [tuple(cell(*key, kind) for kind in kinds for cell in found) for _, key, _ in rows]
    return Table(name, title, "", groups, tuple(
        Row(label, own_cells, method_name(method))
        for (label, _, method), own_cells in zip(rows, cells, strict=True)
    ))  # fmt: skip


def _seeds(table: pd.DataFrame) -> str:
    """The number of seeds in words."""
    counts = table.groupby(["method", "arm"])["seed"].nunique()
    low, high = int(counts.min()), int(counts.max())
    if low != high:
        return f"means over {low} to {high} seeds"
    return "one seed" if high == 1 else f"means over {high} seeds"


def operator_gain(accuracy: pd.DataFrame) -> pd.DataFrame:
    """X Lie minus X, X Frames and X Lie off in every cell, paired by seed; the last is the gain from the operator."""
    keys = ["method", "phase", "diverse", "poses", "setting"]
    wide = accuracy[accuracy["option"] == 1].pivot_table(index=[*keys, "seed"], columns="arm", values="top1")
    parts = []
    for other in COMPARED_WITH:
        if other in wide and "lie" in wide:
            difference = (wide["lie"] - wide[other]).dropna().rename("points").reset_index()
            parts.append(over_seeds(difference, keys, "points").assign(against=other))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=[*keys, "mean", "error", "seeds"])
