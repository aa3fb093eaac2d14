"""Weights and operator settings: which arm they make, and every refusal."""

from __future__ import annotations

import math
from typing import Any

import pytest

from lie_ssl.errors import UserError
from lie_ssl.lie.algebras import ALGEBRAS
from lie_ssl.methods.objective import ObjectiveConfig, OperatorConfig
from lie_ssl.methods.pair_model import build_operator

FIXED = OperatorConfig(fixed=4)
LINEAR = {"generators": (1,), "sees": ("linear",), "frequencies": (1.0,)}
FACTORS = ("pose", "hue", "scale")


@pytest.mark.parametrize(
    ("settings", "moves", "pairs"),
    [
        ({}, False, False),
        ({"frames": 0.5}, False, True),
        ({"lie": 1.0}, True, True),
        ({"euclidean": 1.0}, True, True),
        ({"coordinates": 1.0, "ssl": 0.0}, True, True),
        ({"invariant": 1.0, "operator": FIXED}, True, True),
        ({"operator": FIXED, "temperature": 0.1, "own_negative": False}, False, False),
    ],
)
def test_weights_alone_make_the_arm(settings: dict[str, Any], moves: bool, pairs: bool) -> None:
    config = ObjectiveConfig(**settings)
    assert (config.moves, config.pairs) == (moves, pairs)


REFUSED: list[tuple[dict[str, Any], str]] = [
    *(({name: -0.5}, f"objective.{name} is -0.5") for name in ("ssl", "frames", "lie", "euclidean", "coordinates")),
    ({"invariant": -0.5}, "objective.invariant is -0.5"),
    ({"lie": math.nan}, "objective.lie is nan"),
    ({"temperature": 0.0}, "temperature must be above 0"),
    ({"temperature": math.nan}, "objective.temperature is nan"),
    ({"invariant_temperature": -1.0}, "invariant_temperature 0 or more"),
    ({"view": "SSL"}, "objective.view is 'SSL', but it can be clean, ssl"),
    ({"ssl": 0.0}, "nothing to learn"),
    ({"frames": 1.0, "lie": 1.0}, "not both"),
    ({"frames": 1.0, "coordinates": 0.1}, "not both"),
    ({"invariant": 1.0}, "objective.operator.fixed"),
]


@pytest.mark.parametrize(("settings", "words"), REFUSED)
def test_refused_objectives(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words) as error:
        ObjectiveConfig(**settings)
    assert "\n" not in str(error.value)


REFUSED_OPERATORS: list[tuple[dict[str, Any], str]] = [
    ({"generators": ()}, "every factor needs at least one"),
    ({"generators": (4, 0)}, "every factor needs at least one"),
    ({"sees": ()}, "sees is .., but its words can be pair, source, delta, linear"),
    ({"sees": ("pair", "future")}, "sees is .'pair', 'future'., but its words can be"),
    ({"sees": "pair"}, "sees is pair, but its words can be"),
    ({"algebra": "heisenberg"}, "algebra is 'heisenberg', but there are general, skew"),
    *(({name: -1}, f"operator.{name} is -1") for name in ("fixed", "hidden", "max_norm", "scale", "rank")),
    ({"block_size": -1}, "operator.block_size is -1"),
    ({"max_norm": math.nan}, "operator.max_norm is nan"),
]


@pytest.mark.parametrize(("settings", "words"), REFUSED_OPERATORS)
def test_refused_operators(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        OperatorConfig(**settings)


@pytest.mark.parametrize(
    ("settings", "count", "words"),
    [
        ({"fixed": 16}, 1, "does not fit an embedding of 16: fixed is 16"),
        ({"generators": (2, 2)}, 3, "generators has 2 entries, but the data set varies in pose, hue, scale$"),
        ({"sees": ("pair", "linear")}, 3, "sees has 2 entries, but the data set varies in pose, hue, scale$"),
        ({"sees": ("pair", "linear")}, 1, "sees has 2 entries, but the data set varies in pose$"),
        ({"rank": 2}, 1, "does not fit an embedding of 16: the algebra 'general' has no setting 'rank'"),
        ({"algebra": "block", **LINEAR}, 1, "'block' has no setting 'frequencies'"),
        ({"algebra": "low_rank", **LINEAR}, 2, "'low_rank' has no .* 'frequencies'"),
        ({"standardised": ("pose",)}, 1, "does not fit an embedding of 16: standardised dimensions need a centre"),
        ({"algebra": "block", "block_size": 17}, 1, "does not fit an embedding of 16"),
        ({"split_factors": True, "fixed": 14}, 3, "cannot be split over 3 factors"),
    ],
)
def test_operators_that_do_not_fit(settings: dict[str, Any], count: int, words: str) -> None:
    with pytest.raises(UserError, match=words) as error:
        build_operator(16, OperatorConfig(**settings), FACTORS[:count])
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("algebra", list(ALGEBRAS))
def test_settings_reach_the_operator(algebra: Any) -> None:
    operator = build_operator(16, OperatorConfig(algebra=algebra, fixed=4, generators=(2,), max_norm=0.5), FACTORS)
    assert operator.counts == (2, 2, 2)  # one number serves every factor
    assert (operator.dim, operator.fixed) == (16, 4)
    assert all(isinstance(a, ALGEBRAS[algebra]) for a in operator.algebras)
    assert all(c.max_norm == 0.5 for c in operator.coordinates)
    low = build_operator(16, OperatorConfig(algebra="low_rank", rank=3, generators=(1, 2), hidden=7), FACTORS[:2])
    assert low.counts == (1, 2)
    assert low.coordinates[0].layers[0].out_features == 7  # type: ignore[index, union-attr]


def test_words_for_each_factor_reach_the_operator() -> None:
    config = OperatorConfig(
        generators=(1,), algebra="commuting", sees=("linear", "pair"), frequencies=(1.0, 2.0), split_factors=True,
        centred=True, standardised=("3d",),
    )  # fmt: skip
    operator = build_operator(16, config, ("2d", "3d"))
    assert [c.sees for c in operator.coordinates] == ["linear", "pair"]
    assert operator.algebras[0].speed.tolist() == [[1, 2, 1, 2]]  # type: ignore[operator, union-attr]
    assert operator.centre.shape == (16,)
    assert operator.standardised == (False, True)
    single = build_operator(16, OperatorConfig(generators=(1,), sees=("linear",)), FACTORS)
    assert [c.sees for c in single.coordinates] == ["linear"] * 3
    assert not single.centred
