"""The sentences say what the numbers say, losses too."""

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
    said = findings(report(table))
    assert said[0] == "This page compares MAE and MAE Lie with 3 seeds each."
    # Two settings in two kinds of pose and typical frames once, each at two proportions.
    assert "MAE Lie is above MAE in 10 of 10 settings, in 10 of them by more than two standard errors" in said[1]
    assert "unknown instances in typical poses" in said[1]
    assert "81.0 ± 0.6 against 61.0 ± 0.6 %" in said[1] or "85.0 ± 0.6 against 65.0 ± 0.6 %" in said[1]
    assert said[2].startswith("MAE Lie is below MAE in none of 10; means are over 3 seeds")


def test_differences_are_taken_seed_by_seed() -> None:
    """Seeds differ by 20 points, and the arms by 3 in each of them: clear; a gain in one seed alone is not."""
    table = long_tables.accuracy([("mae", "alone", 0.0), ("mae", "lie", 3.0), ("mae", "frames", 0.0)])
    table["top1"] += 20 * table["seed"]
    assert "above MAE in 8 of 10 settings, in 8 of them by more than two standard errors" in findings(report(table))[1]
    table.loc[(table["arm"] == "lie") & (table["seed"] < 2), "top1"] -= 3
    cells = compare(table, "linear")[0].cells
    new = cells[cells["setting"] != "unknown_typical"]
    assert (new["difference"] > 0.9).all()
    assert not new["clear"].any()


def test_losses_are_told_and_one_seed_proves_nothing() -> None:
    table = long_tables.accuracy([("mae", "alone", 0.0), ("mae", "frames", 5.0), ("mae", "lie", -2.0)], seeds=(0,))
    said = findings(report(table))
    assert "above MAE in 0 of 10" in said[1]
    assert "standard errors" not in said[1]
    assert "MAE Lie is below MAE in 8 of 10, most for" in said[2]
    assert "below MAE Frames in 8 of 10" in said[2]
    assert "one seed" in said[2]
    assert not compare(table, "linear")[0].cells["clear"].any()


def test_without_a_baseline_no_gain_is_claimed() -> None:
    said = findings(report(long_tables.accuracy([("mae", "lie", 0.0)])))
    assert said[0] == "This page shows MAE Lie (3 seeds)."
    assert "highest is MAE Lie" in said[1]
    assert "nothing can be said about gains" in said[2]


def test_every_method_is_compared_with_its_own_baseline() -> None:
    arms = [("mae", "alone", 0.0), ("mae", "lie", 1.0), ("vicreg", "alone", 5.0), ("vicreg", "literal", 1.0)]
    said = findings(report(long_tables.accuracy(arms)))
    assert "MAE Lie is above MAE in 8 of 10" in said[1]
    assert "VICReg Lie (literal) is above VICReg in 0 of 10" in said[1]
    assert "VICReg Lie (literal) is below VICReg in 8 of 10" in said[2]


def test_no_numbers_at_all() -> None:
    assert len(findings(report(pd.DataFrame()))) == 3
