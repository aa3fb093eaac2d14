"""Cross-talk in worlds where it is known: no disturbance, a leak, and numbers computed in another way."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import linregress

from lie_ssl.frames import DataConfig
from lie_ssl.protocol.metrics.crosstalk import crosstalk, disturbance
from lie_ssl.protocol.schema import CROSSTALK
from tests.protocol.metrics.worlds import make_index, world

RANGES = {"light": (-60.0, 60.0), "hue": (-180.0, 180.0), "scale": (0.5, 1.0)}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    return make_index(tmp_path_factory.mktemp("index"), DataConfig(step=30.0, poses=("2d",), ranges=RANGES))


def test_independent_factors_do_not_disturb_each_other(index: pd.DataFrame) -> None:
    context, test = world(index)
    rows = list(crosstalk(context, test))
    names = ("2d", "light", "hue", "scale")
    assert [(row["factor"], row["other"]) for row in rows] == [(a, b) for a in names for b in names if a != b]
    for row in rows:
        assert set(row) <= set(CROSSTALK.names)
        assert row["moves"] == len(test.moves.source)
        for part in ("error", "still", "moving"):
            assert row[f"{part}_mean"] < (1e-3 if row["factor"] == "scale" else 0.05)
        assert abs(row["leak"]) < 1e-3
    own = index["scale"].to_numpy()
    moves = np.abs(np.log(own[test.moves.target] / own[test.moves.source]))
    assert rows[-1]["no_move_mean"] == pytest.approx(moves.mean(), rel=1e-5)
    assert rows[-1]["no_move_median"] == pytest.approx(np.median(moves), rel=1e-5)
    assert 40 < rows[0]["no_move_median"] < 140  # degrees


def test_a_leak_is_measured(index: pd.DataFrame) -> None:
    """The light turns the part of the pose by half its own angle."""
    context, test = world(index, {"2d": ("light", 0.5)})
    found = {(row["factor"], row["other"]): row for row in crosstalk(context, test)}
    disturbed = found["2d", "light"]
    assert disturbed["leak"] == pytest.approx(0.5, abs=0.01)
    light = np.sort(np.abs(index["light"].to_numpy()[test.moves.target] - index["light"].to_numpy()[test.moves.source]))
    third = len(light) // 3
    assert disturbed["still_mean"] == pytest.approx(light[:third].mean() / 2, rel=0.01)
    assert disturbed["moving_median"] == pytest.approx(np.median(light[-third:]) / 2, rel=0.01)
    assert found["light", "2d"]["error_mean"] < 0.05
    assert abs(found["2d", "hue"]["leak"]) < 0.1
    assert found["2d", "hue"]["error_mean"] == disturbed["error_mean"]


def test_the_numbers_of_a_pair_of_factors() -> None:
    random = np.random.default_rng(0)
    change, wrong, true = random.normal(0, 40, 300), random.normal(0, 5, 300), random.normal(0, 90, 300)
    wrong += 0.1 * change
    found = disturbance(wrong, true, change)
    frame = pd.DataFrame({"change": abs(change), "error": abs(wrong)}).sort_values("change")
    assert found["leak"] == pytest.approx(linregress(change, wrong).slope)
    assert found["still_median"] == pytest.approx(frame["error"].iloc[:100].median())
    assert found["moving_mean"] == pytest.approx(frame["error"].iloc[200:].mean())
    assert found["error_mean"] == pytest.approx(abs(wrong).mean())
    assert found["no_move_median"] == pytest.approx(np.median(abs(true)))
    assert np.isnan(disturbance(wrong, true, np.zeros(300))["leak"])


def test_one_factor_or_no_operator_gives_no_rows(tmp_path: Path) -> None:
    context, test = world(make_index(tmp_path, DataConfig(step=60.0, poses=("2d",)), count=2))
    assert list(crosstalk(context, test)) == []
    context.subject.operator = None
    assert list(crosstalk(context, test)) == []
