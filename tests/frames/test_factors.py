"""Properties of all registered factors of variation, and the serialized form of configs, on which hashes depend."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lie_ssl.errors import UserError
from lie_ssl.frames import DataConfig
from lie_ssl.frames.config import to_dict
from lie_ssl.frames.factors import FACTORS, all_factors, get_factor
from lie_ssl.frames.folder import config_hash
from lie_ssl.frames.ranges import Ranges
from lie_ssl.recipes.data import DATA_RECIPES
from lie_ssl.render import RenderSettings, View

# Hashes of data sets that were made before factors had a registry.
HASHES = {"demo": "a5d5225ac97b", "small": "13a5b8cf7d5b", "paper": "9442b8b8f63e"}


def differences(first: View, second: View) -> list[str]:
    return [name for name, value in vars(first).items() if not np.array_equal(value, getattr(second, name))]


@pytest.mark.parametrize("name", FACTORS.names())
def test_every_factor(name: str) -> None:
    factor = get_factor(name)
    assert (factor.name, FACTORS[name].title) == (name, factor.title)
    assert len(factor.summary) > 10
    neutral, other = np.array([factor.neutral]), np.array([factor.neutral * 0.9 or 20.0])
    assert factor.allows(np.concatenate([neutral, other])).all()
    assert not factor.allows(np.array([np.nan, np.inf])).any()
    assert factor.delta(other, other) == pytest.approx([0.0])
    there, back = factor.delta(neutral, other), factor.delta(other, neutral)
    assert there == pytest.approx(-back)
    assert 0 < abs(there[0]) < np.pi
    view, picture = View(), np.full((2, 2, 3), 100, np.uint8)
    assert not differences(factor.apply_view(view, factor.neutral), view)
    assert np.array_equal(factor.apply_picture(picture, factor.neutral), picture)
    value = float(other[0])
    seen = not np.array_equal(factor.apply_picture(picture, value), picture)
    assert seen or len(differences(factor.apply_view(view, value), view)) == 1


@pytest.mark.parametrize("name", FACTORS.names())
def test_the_moves_of_every_factor(name: str) -> None:
    factor, random = get_factor(name), np.random.default_rng(0)
    for low, high in ((0.2, 1.0), (0.5, 0.6)):
        values = random.uniform(low, high, 20) * (1 if name == "scale" else 100)
        first, second = (x.ravel() for x in np.meshgrid(values, values))
        deltas = factor.delta(first, second)
        assert factor.reach(values) == pytest.approx(np.abs(deltas).max())
        np.testing.assert_allclose(factor.from_move(factor.to_move(deltas)), deltas, atol=1e-12)
        assert factor.rate(factor.reach(values)) * factor.reach(values) == pytest.approx(np.pi / 4)


def test_moves_for_readers() -> None:
    assert get_factor("hue").to_move(np.array([np.pi / 2])) == pytest.approx([90])
    scale = get_factor("scale")
    assert scale.to_move(scale.delta(np.array([0.4]), np.array([0.8]))) == pytest.approx([2])
    assert np.isnan(scale.from_move(np.array([0.0, -1.0]))).all()
    circle = np.array([-180.0, 0.0, 180.0])
    assert (get_factor("hue").reach(circle), get_factor("hue").rate(np.pi)) == (np.pi, 1.0)


@pytest.mark.parametrize("recipe", list(DATA_RECIPES))
def test_old_data_sets_keep_their_hashes(recipe: str) -> None:
    assert config_hash(to_dict(DATA_RECIPES[recipe]())) == HASHES[recipe]


def test_the_serialized_form() -> None:
    ranges = {"scale": (0.5, 1.0), "hue": (-40.0, 40.0), "light": (30.0, 30.0)}
    config = DataConfig(source="folder", path="x", layout="gso", poses=("so3",), ranges=ranges)
    plain = to_dict(config)
    assert list(plain) == [
        "source", "path", "layout", "up", "classes", "instances", "poses", "step", "rotations", "repeats", "elevation",
        "light", "hue", "scale", "validation", "test", "seed", "backend", "render",
    ]  # fmt: skip
    assert (plain["elevation"], plain["hue"]) == ([0.0, 0.0], [-40.0, 40.0])
    assert config_hash(plain) == "c54f96520284"
    assert to_dict(DataConfig())["path"] == ""  # None used to be an empty string
    assert config.varied == ("hue", "scale")  # in the order of the registry


def test_ranges_are_hashable_and_equal_in_any_order() -> None:
    first = DataConfig(ranges={"hue": (0.0, 9.0), "scale": (0.5, 1.0)})
    second = DataConfig(ranges={"scale": (0.5, 1.0), "light": (0.0, 0.0), "hue": (0.0, 9.0)})
    assert first == second
    assert hash(first) == hash(second)
    assert first.ranges == {"hue": (0.0, 9.0), "scale": (0.5, 1.0)}
    assert replace(first, seed=1).ranges == first.ranges
    assert repr(Ranges({"hue": [0.0, 9.0]})) == "Ranges({'hue': (0.0, 9.0)})"  # type: ignore[dict-item]


def test_a_misspelt_factor_gets_a_hint() -> None:
    with pytest.raises(UserError, match="there is no factor of variation 'heu'; did you mean 'hue'"):
        DataConfig(ranges={"heu": (0.0, 1.0)})


def test_notes_on_settings_without_effect() -> None:
    clay = RenderSettings(clay=True)
    assert DataConfig(ranges={f.name: f.default for f in all_factors()}, render=clay).notes() == []
    assert DataConfig(ranges={"hue": (0.0, 90.0)}).notes() == []
    (note,) = DataConfig(ranges={"hue": (0.0, 90.0), "light": (-60.0, 60.0)}, render=clay).notes()
    assert note == "--hue has no effect: clay has no colours; use --no-clay"
    assert DataConfig(ranges={"hue": (9.0, 9.0)}).notes() == ["--hue 9 9 has no effect; give two different values"]
    assert DataConfig(up="z", path="x").notes() == [
        "--path has no effect on the source procedural", "--up has no effect on the source procedural"
    ]  # fmt: skip
    assert DataConfig(source="folder", up="z", path="x").notes() == []
