"""A factor of variation defined only in this file works everywhere: in frames, the index, the card and a run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lie_ssl.cli import main
from lie_ssl.errors import UserError
from lie_ssl.frames import DataConfig, FrameSet, make_frames
from lie_ssl.frames.config import to_dict
from lie_ssl.frames.factors import FACTORS, Factor, factor, get_factor
from lie_ssl.frames.factors.base import Picture, Values
from lie_ssl.frames.pairs import Deltas
from tests.conftest import tiny_config
from tests.refusals import refusal

TINY = ["--classes", "car", "mug", "--instances", "4", "--step", "90", "--size", "16", "--brightness", "0.5", "1"]


class Brightness(Factor):
    """Brightness of the picture."""

    neutral = 1.0
    unit = "times"
    limits = "above 0 and at most 2"

    def allows(self, values: Values) -> np.ndarray:
        return (values > 0) & (values <= 2)

    def apply_picture(self, picture: Picture, value: float) -> Picture:
        return np.clip(picture * value, 0, 255).astype(np.uint8)

    def delta(self, first: Values, second: Values) -> Values:
        return np.log2(second / first)


@pytest.fixture
def brightness(monkeypatch: pytest.MonkeyPatch) -> Iterator[Factor]:
    monkeypatch.syspath_prepend(Path(__file__).parents[2])  # so that worker processes find this file
    factor("brightness", title="Brightness of the picture")(Brightness)
    yield get_factor("brightness")
    FACTORS.remove("brightness")


def make(out: Path, *more: str) -> FrameSet:
    main(["data", "make", "small", "--out", str(out), *TINY, *more])
    return FrameSet(out)


@pytest.mark.usefixtures("brightness")
def test_it_works_with_all_commands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.training.tiny_runs import few_pairs, flags  # imports torch, which worker processes do not need

    frames = make(tmp_path / "d", "--workers", "1")
    assert frames.card["factors"] == ["brightness"]
    assert frames.card["config"]["brightness"] == [0.5, 1.0]
    assert frames.index["brightness"].between(0.5, 1.0).all()
    assert frames.index["brightness"].nunique() > 10
    capsys.readouterr()
    monkeypatch.setenv("COLUMNS", "200")
    main(["data", "show", str(frames.folder)])
    assert "Brightness of the picture (0.5" in capsys.readouterr().out
    few_pairs(monkeypatch)
    main(["pretrain", "mae", "lie", *flags(frames, tmp_path / "run", "--optim.steps", "2", "--optim.batch", "4")])
    card = json.loads((tmp_path / "run" / "card.json").read_text())
    assert card["factors"] == ["2d", "3d", "brightness"]
    assert card["finished"]
    main(["data", "export", str(frames.folder), "--out", str(tmp_path / "x")])
    assert "brightness" in pd.read_csv(tmp_path / "x" / "train" / "metadata.csv").columns


@pytest.mark.usefixtures("brightness")
def test_it_changes_frames_and_deltas(tmp_path: Path) -> None:
    dark = make_frames(tiny_config(ranges={"brightness": (0.5, 1.0)}), tmp_path / "dark", workers=1)
    plain = make_frames(tiny_config(), tmp_path / "plain", workers=1)
    for row in dark.index.index[:8]:
        value = dark.index.loc[row, "brightness"]
        expected = np.clip(plain.read([row]) * value, 0, 255).astype(np.uint8)
        np.testing.assert_array_equal(dark.read([row]), expected)
    deltas = Deltas(dark.index)
    assert deltas.factors == ("pose", "brightness")
    values = dark.index["brightness"].to_numpy()
    np.testing.assert_allclose(deltas(np.array([1]), np.array([2]))[0, 1], np.log2(values[2] / values[1]), rtol=1e-6)


@pytest.mark.usefixtures("brightness")
def test_workers_that_never_registered_it_give_the_same_bytes(tmp_path: Path) -> None:
    alone, many = make(tmp_path / "one", "--workers", "1"), make(tmp_path / "two", "--workers", "2")
    assert alone.card == many.card  # includes the hash of every file


def test_a_factor_that_other_processes_cannot_import_is_rendered_in_this_process(tmp_path: Path) -> None:
    class Inverted(Factor):
        """Inversion of the picture."""

        def apply_picture(self, picture: Picture, value: float) -> Picture:
            return picture if value < 0.5 else 255 - picture

    factor("inverted", title="Inversion")(Inverted)
    try:
        config = tiny_config(instances=2, ranges={"inverted": (0.0, 1.0)})
        assert make_frames(config, tmp_path / "d", workers=2).card["factors"] == ["inverted"]
    finally:
        FACTORS.remove("inverted")


@pytest.mark.usefixtures("brightness")
def test_its_range_is_checked_and_its_flag_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_it = ["data", "make", "small", "--out", str(tmp_path / "d")]
    assert "brightness is 0 to 1, but it must be above 0" in refusal(capsys, *make_it, "--brightness", "0", "1")
    assert not (tmp_path / "d").exists()
    with pytest.raises(SystemExit):
        main(["data", "make", "small", "--help"])
    text = capsys.readouterr().out
    assert "--brightness MIN MAX" in text
    assert "Brightness of the picture, times." in text


def test_a_data_set_with_an_unknown_factor_is_a_user_error(
    brightness: Factor, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frames = make(tmp_path / "d", "--workers", "1")
    FACTORS.remove(brightness.name)
    try:
        output = refusal(capsys, "data", "show", str(frames.folder))
    finally:
        factor(brightness.name, title=brightness.title)(Brightness)
    assert "varies in 'brightness', but no factor of this name is registered" in output


@pytest.mark.usefixtures("brightness")
def test_data_sets_without_it_do_not_change(tmp_path: Path) -> None:
    assert "brightness" not in to_dict(DataConfig())
    assert "brightness" not in to_dict(DataConfig(ranges={"brightness": (1.0, 1.0)}))
    frames = make_frames(tiny_config(instances=2, ranges={"hue": (0.0, 9.0)}), tmp_path / "d", workers=1)
    assert "brightness" not in frames.index.columns
    assert "brightness" not in frames.card["config"]


def test_a_picture_of_another_shape_is_rejected(tmp_path: Path) -> None:
    class Zoom(Factor):
        """Cropping of the picture."""

        def apply_picture(self, picture: Picture, value: float) -> Picture:
            return picture[2:]

    factor("zoom", title="Zoom")(Zoom)
    try:
        with pytest.raises(UserError, match=r"factor zoom turned a picture .* must keep shape and type"):
            make_frames(tiny_config(ranges={"zoom": (0.0, 1.0)}), tmp_path / "d", workers=1)
    finally:
        FACTORS.remove("zoom")


@pytest.mark.parametrize("name", ["angle", "so3", "row", "Hue", "2d", "a b", "", "shard"])
def test_reserved_names_are_rejected(name: str) -> None:
    with pytest.raises(UserError, match="cannot be called"):
        factor(name, title="x")(Brightness)


def test_a_factor_with_the_name_of_a_setting() -> None:
    factor("step", title="Step")(Brightness)
    try:
        with pytest.raises(UserError, match="'step' has the name of a setting"):
            DataConfig()
    finally:
        FACTORS.remove("step")
