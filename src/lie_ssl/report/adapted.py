"""What the reader of a report on adapted encoders wants first: one small table and three sentences."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from lie_ssl.objectives.registry import OBJECTIVES
from lie_ssl.protocol.schema import POSES, TOP1
from lie_ssl.report.cells import Cell, Row, Table, cells_of, with_best
from lie_ssl.report.gathering import EvaluatedRun, ReportData
from lie_ssl.report.names import ARM_KEYS, FROZEN, Arm, arms_of, method_name
from lie_ssl.report.summary import over_seeds
from lie_ssl.report.tables import diverse_of

READ_BY = {"align_median": "by the operator", "readout_median": "by a network"}


def adapted_runs(evaluated: Sequence[EvaluatedRun]) -> list[EvaluatedRun]:
    """The evaluations of adapted encoders whose objective moves embeddings: the lowest seed of each arm."""
    found: dict[Arm, EvaluatedRun] = {}
    for each in sorted(evaluated, key=lambda e: (e.arm.order, e.seed)):
        if (each.card["pretraining"] or {}).get("adapt") and _moves(each.arm):
            found.setdefault(each.arm, each)
    return list(found.values())


def adapted_table(report: ReportData) -> Table:
    """Recognition of unknown objects in new poses with few and with many labels, and the angle between two pictures.

    All numbers are means over the kinds of pose.
    """
    accuracy = _unknown(report.accuracy)
    shares = list(dict.fromkeys([min(diverse_of(accuracy)), max(diverse_of(accuracy))]))
    recognised = _over_kinds(accuracy, [*ARM_KEYS, "diverse"], "top1")
    correct = cells_of(recognised, [*ARM_KEYS, "diverse"], TOP1.digits)
    angles = {column: cells_of(_over_kinds(_angles(report), ARM_KEYS, column), ARM_KEYS, 1) for column in READ_BY}
    rows = []
    for arm in arms_of(accuracy):
        cells = [correct(*arm, share) for share in shares]
        rows.append(Row(_name(arm, report), (*cells, *(angles[column](*arm) for column in READ_BY)), arm.method))
    kinds = " and ".join(POSES.title_of(kind) for kind in POSES.in_order(accuracy["poses"]))
    return Table(
        name="adapted",
        title=f"Unknown objects{_count(report)} in new poses: mean of {kinds}",
        corner="",
        groups=(
            ("recognised, %", tuple(f"{share:g} % labelled" for share in shares)),
            ("angle error, °", tuple(READ_BY.values())),
        ),
        rows=_marked(rows, len(shares)),
    )


def adapted_sentences(report: ReportData) -> list[str]:
    """Three sentences: recognition with few labels, the angle between two pictures, and retrieval of turned objects."""
    accuracy = _unknown(report.accuracy)
    share = min(diverse_of(accuracy))
    few = _over_kinds(accuracy[accuracy["diverse"] == share], ARM_KEYS, "top1").set_index(ARM_KEYS)["mean"]
    arms = arms_of(accuracy)
    parts = [f"by {_name(arm, report, article=True)} in {few[tuple(arm)]:.1f} %" for arm in reversed(arms)]
    sentences = [
        f"With {share:g} % of the training objects labelled in all poses, and the others in one, unknown objects in "
        f"new poses are recognised {_listed(parts)} of their pictures."
    ]
    angles = _angles(report)
    for arm in [arm for arm in arms if _moves(arm)][:1]:
        own = _rows(angles, arm).dropna(subset=["align_median"])
        if len(own):
            text = f"Between two pictures of an unknown object, the operator of {_name(arm, report)} reads the angle "
            text += f"with a median error of {_by_kind(own, 'align_median', '.1f', ' degrees')}"
            frozen = _rows(angles, Arm(arm.method, FROZEN)).dropna(subset=["readout_median"])
            if len(frozen):
                text += "; a network that was trained for nothing else on the frozen encoder's features reaches "
                text += _by_kind(frozen, "readout_median", ".1f", " degrees")
            sentences.append(f"{text}.")
        sentences += _retrieval(report, arm)
    return sentences


def explanation() -> str:
    """What the columns of the table mean."""
    return (
        "Labelled: share of the training objects that the linear classifier was shown in all poses; it was shown the "
        "others in one pose. Angle error: median over pairs of pictures of the same object. The operator reads angles "
        "without further training; the network was trained on known objects for nothing else. A dash means that there "
        "is no operator."
    )


def _retrieval(report: ReportData, arm: Arm) -> list[str]:
    moved = report.equivariance.assign(option=1)
    moved = moved[(moved["instances"] == "unknown") & (moved["part"] == "moved")]
    own = _rows(moved, arm).dropna(subset=["hit1"])
    if own.empty:
        return []
    hits = _by_kind(own.assign(hit1=100 * own["hit1"]), "hit1", ".0f", " %")
    return [
        f"Moved by the operator, the embedding of an unknown object is nearest to that of the true picture, among all "
        f"{own['candidates'].mean():.0f} of the object, in {hits} of cases."
    ]


def _unknown(accuracy: pd.DataFrame) -> pd.DataFrame:
    """The rows of linear classifiers on unknown objects in all poses."""
    return accuracy[(accuracy["phase"] == "linear") & (accuracy["setting"] == "unknown_diverse")]


def _angles(report: ReportData) -> pd.DataFrame:
    """The rows of whole embeddings on unknown objects; columns that were not measured are empty."""
    table = report.equivariance
    table = table.reindex(columns=list(dict.fromkeys([*table.columns, *READ_BY]))).assign(option=1)
    return table[(table["instances"] == "unknown") & (table["part"] == "whole")]


def _over_kinds(table: pd.DataFrame, keys: list[str], value: str) -> pd.DataFrame:
    """Means over the kinds of pose, then over seeds."""
    return over_seeds(table.groupby([*keys, "seed"], sort=False)[value].mean().reset_index(), keys, value)


def _by_kind(table: pd.DataFrame, column: str, form: str, unit: str) -> str:
    """The mean of every kind of pose, such as "2.1 degrees (2D poses) and 8.0 degrees (turntable poses)"."""
    means = table.groupby("poses")[column].mean()
    return _listed([f"{means[kind]:{form}}{unit} ({POSES.title_of(kind)})" for kind in POSES.in_order(table["poses"])])


def _rows(table: pd.DataFrame, arm: Arm) -> pd.DataFrame:
    return table[(table["method"] == arm.method) & (table["arm"] == arm.arm) & (table["option"] == arm.option)]


def _moves(arm: Arm) -> bool:
    return arm.objective in OBJECTIVES and OBJECTIVES[arm.objective].value.has_mover


def _name(arm: Arm, report: ReportData, article: bool = False) -> str:
    """The name of an arm; without that of the encoder if there is only one."""
    if report.accuracy["method"].nunique() > 1:
        return arm.name
    if arm.objective == FROZEN:
        return "the frozen encoder" if article else "frozen encoder"
    return arm.name.removeprefix(method_name(arm.method)).strip(" ,") or arm.arm


def _count(report: ReportData) -> str:
    """How many unknown objects there are, if the cards say so."""
    counts = {each.card["data"]["counts"].get("test") for each in report.evaluated}
    return f" ({counts.pop()})" if len(counts) == 1 and None not in counts else ""


def _marked(rows: Sequence[Row], shares: int) -> tuple[Row, ...]:
    """Marks the best accuracies; of errors, the lowest would be the best."""
    marked = with_best(rows)
    return tuple(
        Row(row.name, (*row.cells[:shares], *(Cell(c.mean, c.error, digits=c.digits) for c in row.cells[shares:])))
        for row in marked
    )


def _listed(parts: Sequence[str]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0]
