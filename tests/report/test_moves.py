"""Pictures of moves in the report of an adapted encoder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from safetensors.torch import save_file

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet, make_frames
from lie_ssl.methods.encoders import EncoderConfig, create_encoder
from lie_ssl.protocol.features import Features
from lie_ssl.protocol.results import evaluate_run
from lie_ssl.recipes.demo import demo_recipe
from lie_ssl.report.adapted import adapted_table
from lie_ssl.report.gathering import gather
from lie_ssl.report.moves import ReadPair, UnknownObjects, _draw_turned
from lie_ssl.report.page import Page
from lie_ssl.training.loading import load
from lie_ssl.training.run import pretrain
from tests.conftest import tiny_config


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny encoder, adapted by Lie for one step, and evaluated."""
    folder = tmp_path_factory.mktemp("moves")
    frames = make_frames(tiny_config(poses=("2d", "yaw"), step=45.0), folder / "data", workers=1)
    weights = folder / "weights.safetensors"
    save_file(create_encoder(EncoderConfig("resnet_mini"), 16, 3).body.state_dict(), weights)
    (unit,) = (u for u in demo_recipe("resnet_mini", str(weights)).units if u.pretraining.arm == "lie")
    config = replace(unit.pretraining, data=str(frames.folder), optim=replace(unit.pretraining.optim, steps=1, batch=8))
    evaluation = replace(
        unit.evaluation, probe=replace(unit.evaluation.probe, steps=2), pairs=1, proportions=(0.25, 0.5), readout=None
    )
    run = pretrain(replace(config, log=replace(config.log, tensorboard=False)), folder / "run")
    evaluate_run(run, evaluation, run / "evaluation")
    return run


def unknown(run: Path, seed: int = 0) -> UnknownObjects:
    loaded, frames = load(run), FrameSet(run.parent / "data")
    return UnknownObjects(loaded, frames, Features(loaded.encoder, frames, run / "features"), seed)


def test_errors_are_measured_around_the_circle() -> None:
    assert ReadPair("", "", "mug", "2d", true=-170, read=175).error == pytest.approx(15)


def test_pairs_show_unknown_objects_and_are_always_the_same(run: Path) -> None:
    pairs = unknown(run).pairs()
    assert pairs == unknown(run).pairs() != unknown(run, seed=1).pairs()
    assert {pair.poses for pair in pairs} == {"2d", "yaw"}
    assert all(pair.first != pair.second and -180 <= pair.read < 180 for pair in pairs)


def test_true_angles_come_from_the_index(run: Path) -> None:
    objects = unknown(run)
    loaded, index = objects.loaded, objects.frames.index
    rows = objects.tables["yaw"].index.to_numpy(np.int64)[:3]
    degrees = np.degrees(objects.deltas(rows[:-1], rows[1:]))[:, loaded.factors.index("yaw")]
    np.testing.assert_allclose(degrees, np.diff(index.loc[rows, "angle"].to_numpy(float)), atol=1e-3)


@pytest.mark.parametrize("kind", ["2d", "yaw"])
def test_searches_mark_the_object_turned_by_90_degrees(run: Path, kind: str) -> None:
    searches, ranks = unknown(run).searches(kind)
    assert ranks[: len(searches)] == [search.rank for search in searches]
    for search in searches:
        marked = [each.text for each in search.found if each.right]
        assert marked == (["same object, +90°"] if search.rank <= len(search.found) else [])


def test_objects_without_a_turned_picture_are_left_out() -> None:
    table = pd.DataFrame({
        "class": ["mug"] * 3 + ["car"] * 2, "instance": ["a"] * 3 + ["b"] * 2, "angle": [300.0, 30.0, 60.0, 0.0, 45.0],
    }, index=[5, 6, 7, 8, 9])  # fmt: skip
    queries, targets = _draw_turned(table, 90.0, 4, np.random.default_rng(0))
    assert set(zip(queries.tolist(), targets.tolist(), strict=True)) == {(5, 6)}


def test_the_page_opens_with_moves(run: Path) -> None:
    page = Page(gather([run])).html()
    assert page.index("Unknown objects (3) in new poses") < page.index("How far did it turn?")
    assert page.count('class="pair"') == 12
    assert page.index('id="moves"') < page.index('id="angles"') < page.index('id="accuracy"')
    assert page.count("</html>") == page.count('id="angles"') == 1


def test_a_page_without_the_data_set_says_why(run: Path, tmp_path: Path) -> None:
    page = Page(gather([run]), str(tmp_path / "moved")).html()
    assert "No pictures of resnet_mini Lie, seed 0: there is no folder" in page


def test_an_arm_without_an_operator_has_a_dash(run: Path) -> None:
    table = adapted_table(gather([run]))
    assert [row.name for row in table.rows] == ["Lie"]
    assert table.columns[0] == ("recognised, %", "25 % labelled")
    operator, network = table.rows[0].cells[2:]
    assert not operator.empty
    assert network.empty  # not measured


def test_runs_without_an_operator_are_refused(run: Path) -> None:
    loaded, frames = load(run), FrameSet(run.parent / "data")
    with pytest.raises(UserError, match="has no operator"):
        UnknownObjects(replace(loaded, operator=None), frames, Features(loaded.encoder, frames))
