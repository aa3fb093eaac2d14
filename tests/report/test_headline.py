"""The headline tables, the gains of the operator, and the sentences of the demo."""

from __future__ import annotations

import pandas as pd
import pytest

from lie_ssl.report.findings import plain_sentences
from lie_ssl.report.formats import to_markdown
from lie_ssl.report.gathering import ReportData
from lie_ssl.report.headline import (
    ablation_operator,
    headline_accuracy,
    headline_gains,
    headline_operator,
    headline_tables,
    operator_gain,
)
from tests.report import long_tables

ARMS = (("mae", "alone", 0.0), ("mae", "frames", 6.0), ("mae", "lie", 10.0), ("mae", "lie_off", 7.0))


def test_the_first_table_has_the_largest_proportion() -> None:
    table = headline_accuracy(long_tables.accuracy(ARMS, phases=("linear", "finetune")))
    rows = {row.name: row.cells for row in table.rows}
    assert list(rows) == ["MAE", "MAE Frames", "MAE Lie", "MAE Lie off"]
    # Level, gain, the mean of the seeds 0 to 2, and 4 points for 50 % diverse instances; 3D is 5 points lower.
    assert [c.mean for c in rows["MAE Lie"]] == [65.0, 60.0, 55.0, 50.0] * 2
    assert rows["MAE Lie"][0].error == pytest.approx(3**-0.5)
    assert "means over 3 seeds" in table.title
    assert "| MAE Lie | 65.0 ± 0.6 | 60.0 ± 0.6 | 55.0 ± 0.6 |" in to_markdown(table)
    alone = headline_accuracy(long_tables.accuracy(ARMS))
    assert [len(row.cells) for row in alone.rows] == [4] * 4  # nothing was finetuned


def test_the_operator_on_unknown_objects() -> None:
    table = headline_operator(long_tables.equivariance())
    (row,) = table.rows
    assert row.name == "MAE Lie"
    assert [c.mean for c in row.cells] == pytest.approx([0.8, 0.7, 0.2, 0.8])
    assert "0.80 ± 0.00" in to_markdown(table)


def test_the_operators_of_an_ablation_are_in_its_order() -> None:
    own = long_tables.equivariance().drop(columns="arm")
    (table,) = ablation_operator(pd.concat([own.assign(ablation=name) for name in ("full", "mlp", "identity")]))
    assert [row.name for row in table.rows] == ["MAE Lie, full", "MAE Lie, mlp", "MAE Lie, identity"]
    assert [c.mean for c in table.rows[1].cells] == pytest.approx([0.8, 0.7, 0.2, 0.8])
    assert ablation_operator(pd.DataFrame()) == []


def test_tables_without_numbers_are_left_out() -> None:
    tables = headline_tables(long_tables.accuracy(), long_tables.equivariance())
    assert [t.name for t in tables] == ["headline_accuracy", "headline_gains", "headline_operator"]
    assert [t.name for t in headline_tables(long_tables.accuracy(ARMS[:2]), pd.DataFrame())] == ["headline_accuracy"]
    assert headline_tables(pd.DataFrame(), long_tables.equivariance()) == []


def test_gains_are_paired_by_seed() -> None:
    gains = operator_gain(long_tables.accuracy(ARMS)).set_index(["against", "setting", "poses", "diverse"])
    assert set(gains.index.get_level_values("against")) == {"alone", "frames", "lie_off"}
    for other, gain in (("alone", 10.0), ("frames", 4.0), ("lie_off", 3.0)):
        key = (other, "known_new", "3d", 5.0)
        assert (gains["mean"][key], gains["error"][key], gains["seeds"][key]) == (gain, 0.0, 3)
    assert operator_gain(long_tables.accuracy((("mae", "alone", 0.0),))).empty


def test_gains_in_a_table() -> None:
    table = headline_gains(operator_gain(long_tables.accuracy(ARMS)))
    assert [row.name for row in table.rows] == [f"MAE Lie minus MAE{end}" for end in ("", " Frames", " Lie off")]
    assert [c.mean for c in table.rows[1].cells] == [4.0] * 8  # 2 settings x 2 proportions x 2 kinds of pose
    assert table.columns[0] == ("known object, new pose", "5 %, 2D")
    assert "| MAE Lie minus MAE Lie off | 3.0 ± 0.0 |" in to_markdown(table)


def test_three_plain_sentences() -> None:
    equivariance = long_tables.equivariance().assign(candidates=30)
    empty = pd.DataFrame()
    report = ReportData(long_tables.accuracy(ARMS[:3], seeds=(0,)), empty, equivariance, empty, (), ())
    known, unknown, operator = plain_sentences(report)
    assert "in one pose only" in known
    assert "in 64.0 % and 59.0 % of frames by MAE Lie; in 60.0 % and 55.0 % of frames by MAE Frames" in known
    assert known.endswith("in 54.0 % and 49.0 % of frames by MAE.")
    assert "in 54.0 % and 49.0 % of frames by MAE Lie" in unknown
    assert "among 30 frames of the object, in 60 % of cases" in operator
    assert "(mean reciprocal rank 0.80; 0.20 if it is not moved; 0.70 with the coordinates of the same move" in operator
    without = ReportData(report.accuracy, empty, equivariance[equivariance["arm"] == "alone"], empty, (), ())
    assert len(plain_sentences(without)) == 2
