"""Speeds of planes and how much of v lies in them, against values that are set by hand."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
import torch

from lie_ssl.frames import DataConfig
from lie_ssl.protocol.metrics.speeds import plane_energies, speeds
from lie_ssl.protocol.schema import SPEEDS
from tests.protocol.metrics.worlds import FIXED, SHARE, make_index, operator_of, world


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    folder: Path = tmp_path_factory.mktemp("index")
    return make_index(folder, DataConfig(step=30.0, poses=("2d",), ranges={"hue": (-180.0, 180.0)}))


def test_every_plane_of_the_factors_that_change_has_a_row(index: pd.DataFrame) -> None:
    context, test = world(index)
    rows = list(speeds(context, test))
    assert [row["factor"] for row in rows] == ["2d"] * (SHARE // 2) + ["hue"] * (SHARE // 2)
    assert all(set(row) <= set(SPEEDS.names) for row in rows)
    for factor in ("2d", "hue"):
        own = [row for row in rows if row["factor"] == factor]
        assert [row["speed"] for row in own] == pytest.approx([1, 1, 2, 2, 3, 3, 4, 4])
        assert sum(row["energy"] for row in own) == pytest.approx(1)


def test_the_energy_of_a_plane(index: pd.DataFrame) -> None:
    """Two of the planes carry 9 and 16 parts of 25; the others are empty."""
    operator = operator_of(world(index)[0])
    z = torch.zeros(3, operator.dim)
    z[:, FIXED + 1], z[:, FIXED + 5] = 3.0, -4.0
    with torch.no_grad():
        operator.algebras[0].speed[0, 2] = -2.5  # type: ignore[operator]
        found = plane_energies(operator, z, 0)
    carried = {round(speed, 3): energy for speed, energy in found if energy > 0}
    assert carried == {1.0: pytest.approx(9 / 25), 2.5: pytest.approx(16 / 25)}
    assert found == sorted(found)
