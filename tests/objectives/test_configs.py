"""Settings of objectives and of the operator: which are rejected, and how they are used."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from lie_ssl.errors import UserError
from lie_ssl.lie import LieOperator, OperatorConfig
from lie_ssl.lie.algebras import ALGEBRAS
from lie_ssl.objectives import OBJECTIVES, ObjectiveConfig, Pairs, objective_config, objective_type
from lie_ssl.objectives.registry import objective_entry
from lie_ssl.training.config import PretrainConfig

LINEAR = {"generators": (1,), "sees": ("linear",), "frequencies": (1.0,)}
FACTORS = ("pose", "hue", "scale")
FREE = ("rotations", "matrices")  # they have factors of their own
SMALL: dict[str, dict[str, Any]] = {"msp": {"columns": 2}}  # for embeddings of 16


@pytest.mark.parametrize("name", [n for n in OBJECTIVES if n not in FREE])
def test_every_objective_builds_itself_and_returns_its_terms(name: str) -> None:
    config = objective_config(name, SMALL.get(name))
    objective = config.build(16, ("2d", "3d"))
    assert type(objective) is objective_type(name)
    assert (objective.mover is not None) == objective.has_mover
    torch.manual_seed(0)
    delta = torch.tensor([[0.5, 0.0], [0.0, 0.7], [1.0, 0.0], [0.0, 2.0]])
    more = torch.randn(4, config.clip - 2, 16) if config.clip > 2 else None
    found = objective(Pairs(torch.randn(4, 16), torch.randn(4, 16), delta, torch.randn(3, 16), more))
    assert found.total.ndim == 0
    assert bool(torch.isfinite(found.total))
    assert (found.t is not None) == objective.has_mover
    assert bool(found.terms) == objective.needs_pairs
    assert objective_entry(name).told in ("nothing", "move")


def test_the_order_and_the_titles_of_the_tables() -> None:
    assert [e.name for e in OBJECTIVES.entries()] == [
        "frozen", "alone", "frames", "literal", "lie", "lie_learned", "rotations", "lie_untold", "lie_off", "inverse",
        "equimod", "sie", "predictor", "matrices", "trajectory", "msp",
    ]  # fmt: skip
    assert [e.title for e in OBJECTIVES.entries()] == [
        "frozen", "", "Frames", "Lie (literal)", "Lie", "Lie learned", "Rotations", "Lie untold", "Lie off",
        "Inverse dynamics", "EquiMod", "SIE", "Predictor", "Matrices", "Trajectory", "MSP",
    ]  # fmt: skip
    assert {e.name for e in OBJECTIVES.entries() if e.told == "move"} == {
        "literal", "lie", "lie_learned", "rotations", "inverse", "equimod", "sie", "predictor", "matrices",
    }  # fmt: skip


INVALID: list[tuple[str, dict[str, Any], str]] = [
    *(
        ("lie", {name: -0.5}, f"objective.{name} is -0.5")
        for name in ("ssl", "lie", "euclidean", "coordinates", "invariant")
    ),
    ("frames", {"frames": -0.5}, "objective.frames is -0.5"),
    ("lie", {"lie": math.nan}, "objective.lie is nan"),
    ("lie", {"temperature": 0.0}, "objective.temperature is 0.0, but temperatures must be finite and above 0"),
    ("frames", {"temperature": 0.0}, "objective.temperature is 0.0"),
    ("frames", {"temperature": math.nan}, "objective.temperature is nan"),
    ("lie", {"invariant_temperature": -1.0}, "objective.invariant_temperature is -1.0"),
    ("lie", {"view": "SSL"}, "objective.view is 'SSL', but it must be one of clean, ssl"),
    ("alone", {"ssl": 0.0}, "nothing would be learned"),
    ("frames", {"frames": 0.0}, "set it above 0 or use alone"),
    ("frames", {"lie": 1.0}, "objective has no setting 'lie'"),
    ("alone", {"frames": 1.0}, "objective has no setting 'frames'"),
    ("lie", {"operator": {"fixed": 0}}, "set objective.operator.fixed, or use literal"),
    ("lie", {"euclidean": 0.0}, "or use lie_off"),
    ("lie_off", {"invariant": 0.0}, "lie_off needs a contrast on the fixed part"),
    ("lie_off", {"euclidean": 1.0}, "objective has no setting 'euclidean'"),
    ("literal", {"operator": {"fixed": 4}}, "literal moves the whole embedding"),
    ("literal", {"invariant": 1.0}, "literal moves the whole embedding"),
    ("literal", {"lie": 0.0, "euclidean": 0.0, "coordinates": 0.0}, "all weights of literal are 0"),
    ("lie_untold", {"frames": 2}, "objective.frames is 2, but a clip that tests a move has 3 frames or more"),
    ("lie_untold", {"likelihood": -1.0}, "objective.likelihood is -1.0"),
    ("lie_untold", {"likelihood_temperature": 0.0}, "objective.likelihood_temperature is 0.0"),
    ("lie_untold", {"view": "ssl"}, "lie_untold compares plain frames, but objective.view is ssl; set it to clean"),
    ("lie_untold", {"operator": {"fixed": 4}}, "lie_untold needs objective.operator.fixed above 0 and"),
    ("lies", {}, "there is no objective 'lies'; did you mean 'lie'?"),
    ("base", {}, "there is no objective 'base'"),
    ("no.such:Objective", {}, "cannot be imported"),
    ("lie_ssl.objectives:Pairs", {}, "is not an objective"),
]


@pytest.mark.parametrize(("name", "settings", "message"), INVALID)
def test_invalid_objectives(name: str, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as error:
        objective_config(name, settings)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_run_cannot_have_the_name_of_another_objective() -> None:
    lie = objective_config("lie")
    renamed = type(lie)(name="frames")
    with pytest.raises(UserError, match=r"objective.name is 'frames', but these are the settings of another objective"):
        PretrainConfig(objective=renamed)
    assert PretrainConfig(objective=lie).arm == "lie"
    assert PretrainConfig(objective=lie, variant="off").arm == "lie-off"  # not a valid name of an objective
    for word in ("", "a b", "über", "-x", "x" * 65, "../x"):
        with pytest.raises(UserError, match="variant is"):
            PretrainConfig(objective=lie, variant=word)


INVALID_OPERATORS: list[tuple[dict[str, Any], str]] = [
    ({"generators": ()}, "every factor needs at least one"),
    ({"generators": (4, 0)}, "every factor needs at least one"),
    ({"sees": ()}, "sees is .., but its values must be pair, source, delta, linear"),
    ({"sees": ("pair", "future")}, "sees is .'pair', 'future'., but its values must be"),
    ({"sees": "pair"}, "sees is pair, but its values must be"),
    ({"algebra": "heisenberg"}, "there is no algebra 'heisenberg'; there are block, commuting, general"),
    *(({name: -1}, f"{name} is -1") for name in ("fixed", "hidden", "max_norm", "scale", "rank", "block_size")),
    ({"fixed": 1.5}, "fixed is 1.5"),
    ({"max_norm": math.nan}, "max_norm is nan"),
    ({"max_norm": 0.0}, "max_norm is 0.0, but it must be above 0, or None"),
]


@pytest.mark.parametrize(("settings", "message"), INVALID_OPERATORS)
def test_invalid_operators(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        OperatorConfig(**settings)


def literal(settings: dict[str, Any]) -> ObjectiveConfig:
    """The objective whose operator has only these settings."""
    fixed = settings.get("fixed", 0)
    return objective_config("lie" if fixed else "literal", {"operator": OperatorConfig(**settings)})


@pytest.mark.parametrize(
    ("settings", "count", "message"),
    [
        ({"fixed": 16}, 1, "does not fit an embedding of 16: fixed is 16"),
        ({"generators": (2, 2)}, 3, "generators has 2 entries, but the factors are pose, hue, scale$"),
        ({"sees": ("pair", "linear")}, 3, "sees has 2 entries, but the factors are pose, hue, scale$"),
        ({"sees": ("pair", "linear")}, 1, "sees has 2 entries, but the factors are pose$"),
        ({"rank": 2}, 1, "does not fit an embedding of 16: the algebra 'general' has no setting 'rank'"),
        ({"algebra": "block", **LINEAR}, 1, "'block' has no setting 'frequencies'"),
        ({"algebra": "low_rank", **LINEAR}, 2, "'low_rank' has no .* 'frequencies'"),
        ({"standardised": ("pose",)}, 1, "does not fit an embedding of 16: standardised dimensions need a centre"),
        ({"algebra": "block", "block_size": 17}, 1, "does not fit an embedding of 16"),
        ({"split_factors": True, "fixed": 14}, 3, "cannot be split over 3 factors"),
    ],
)
def test_operators_that_do_not_fit(settings: dict[str, Any], count: int, message: str) -> None:
    with pytest.raises(UserError, match=message) as error:
        literal(settings).build(16, FACTORS[:count])
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("algebra", [n for n in ALGEBRAS if n != "rotations"])  # these have three generators
def test_settings_reach_the_operator(algebra: str) -> None:
    operator = OperatorConfig(algebra=algebra, fixed=4, generators=(2,), max_norm=0.5).build(16, FACTORS)
    assert operator.counts == (2, 2, 2)  # one number for all factors
    assert (operator.dim, operator.fixed) == (16, 4)
    assert all(isinstance(a, ALGEBRAS[algebra]) for a in operator.algebras)
    assert all(c.max_norm == 0.5 for c in operator.coordinates)
    low = OperatorConfig(algebra="low_rank", rank=3, generators=(1, 2), hidden=7).build(16, FACTORS[:2])
    assert low.counts == (1, 2)
    assert low.coordinates[0].layers[0].out_features == 7  # type: ignore[index, union-attr]


def test_settings_per_factor_reach_the_operator() -> None:
    config = OperatorConfig(
        generators=(1,), algebra="commuting", sees=("linear", "pair"), frequencies=(1.0, 2.0), split_factors=True,
        centred=True, standardised=("3d",),
    )  # fmt: skip
    operator = config.build(16, ("2d", "3d"))
    assert [c.sees for c in operator.coordinates] == ["linear", "pair"]
    assert operator.algebras[0].get_parameter("speed").tolist() == [[1, 2, 1, 2]]
    assert operator.centre.shape == (16,)
    assert operator.standardised == (False, True)
    single = OperatorConfig(generators=(1,), sees=("linear",)).build(16, FACTORS)
    assert [c.sees for c in single.coordinates] == ["linear"] * 3
    assert not single.centred


@pytest.mark.parametrize(("dim", "fixed"), [(16, 10), (64, 40), (100, 63), (128, 80), (2048, 1280)])
def test_a_share_of_the_embedding_is_fixed(dim: int, fixed: int) -> None:
    """Five eighths, as in the recipes of version 0.1."""
    mover = objective_config("lie").build(dim, ("2d", "3d")).mover
    assert isinstance(mover, LieOperator)
    assert mover.fixed == fixed == dim - 3 * dim // 8
