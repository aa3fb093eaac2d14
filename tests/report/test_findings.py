"""The sentences of a report follow from the numbers, including losses."""

from __future__ import annotations

import pandas as pd

from lie_ssl.report.findings import compare, findings
from lie_ssl.report.gathering import ReportData
from tests.report import long_tables


def report(accuracy: pd.DataFrame) -> ReportData:
    empty = pd.DataFrame()
    return ReportData(accuracy, empty, empty, empty, (), ())


def test_a_gain_everywhere() -> None:
    table = long_tables.accuracy()
    table.loc[(table["arm"] == "lie") & (table["setting"] == "unknown_typical"), "top1"] += 20
    sentences = findings(report(table))
    assert sentences[0] == "This page compares MAE and MAE Lie with 3 seeds each."
    # Two settings in two kinds of pose and typical frames once, each at two proportions.
    assert "MAE Lie is above MAE in 10 of 10 settings, in 10 of them by more than two standard errors" in sentences[1]
    assert "unknown instances in typical poses" in sentences[1]
    assert "81.0 ± 0.6 against 61.0 ± 0.6 %" in sentences[1] or "85.0 ± 0.6 against 65.0 ± 0.6 %" in sentences[1]
    assert sentences[2].startswith("MAE Lie is below MAE in none of 10; means are over 3 seeds")


def test_differences_are_paired_by_seed() -> None:
    """Seeds differ by 20 points, arms by 3 for each seed: a clear difference. A gain with one seed only is not."""
    table = long_tables.accuracy([("mae", "alone", 0.0), ("mae", "lie", 3.0), ("mae", "frames", 0.0)])
    table["top1"] += 20 * table["seed"]
    assert "above MAE in 8 of 10 settings, in 8 of them by more than two standard errors" in findings(report(table))[1]
    table.loc[(table["arm"] == "lie") & (table["seed"] < 2), "top1"] -= 3
    cells = compare(table, "linear")[0].cells
    new = cells[cells["setting"] != "unknown_typical"]
    assert (new["difference"] > 0.9).all()
    assert not new["clear"].any()


def test_losses_are_reported_and_nothing_is_clear_with_one_seed() -> None:
    table = long_tables.accuracy([("mae", "alone", 0.0), ("mae", "frames", 5.0), ("mae", "lie", -2.0)], seeds=(0,))
    sentences = findings(report(table))
    assert "above MAE in 0 of 10" in sentences[1]
    assert "standard errors" not in sentences[1]
    assert "MAE Lie is below MAE in 8 of 10, most of all for" in sentences[2]
    assert "below MAE Frames in 8 of 10" in sentences[2]
    assert "with a single seed" in sentences[2]
    assert not compare(table, "linear")[0].cells["clear"].any()


def test_without_a_baseline_no_gain_is_claimed() -> None:
    sentences = findings(report(long_tables.accuracy([("mae", "lie", 0.0)])))
    assert sentences[0] == "This page shows MAE Lie (3 seeds)."
    assert "the highest accuracy is that of MAE Lie" in sentences[1]
    assert "gains are unknown" in sentences[2]


def test_every_method_is_compared_with_its_own_baseline() -> None:
    arms = [("mae", "alone", 0.0), ("mae", "lie", 1.0), ("vicreg", "alone", 5.0), ("vicreg", "literal", 1.0)]
    sentences = findings(report(long_tables.accuracy(arms)))
    assert "MAE Lie is above MAE in 8 of 10" in sentences[1]
    assert "VICReg Lie (literal) is above VICReg in 0 of 10" in sentences[1]
    assert "VICReg Lie (literal) is below VICReg in 8 of 10" in sentences[2]


def test_there_may_be_no_accuracies() -> None:
    assert len(findings(report(pd.DataFrame()))) == 3
