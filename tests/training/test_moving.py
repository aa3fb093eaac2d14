"""Reading, making and searching moves: `pose`, `turn` and `find`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from lie_ssl.errors import UserError
from lie_ssl.lie import OperatorConfig
from lie_ssl.methods.adapted import IDENTITY
from lie_ssl.methods.encoders import Encoder
from lie_ssl.objectives._operator import unit_rotations
from lie_ssl.training.loading import Loaded
from lie_ssl.training.model import set_speeds
from lie_ssl.training.moving import check_reaches

DIM, FACTORS = IDENTITY + 2 * 48, ("2d", "yaw")
ANGLE = st.floats(-720, 720)


class Body(nn.Module):
    """From pictures of 4 x 4 px to embeddings."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.linear = nn.Linear(48, dim)

    def forward(self, images: Tensor) -> Tensor:
        found: Tensor = self.linear(images.flatten(1))
        return found


def loaded(factors: tuple[str, ...] = FACTORS, with_operator: bool = True) -> Loaded:
    dim = IDENTITY + 48 * len(factors)
    operator = unit_rotations().build(dim, factors) if with_operator else None
    encoder = Encoder(Body(dim), 4, 3).eval()
    encoder.output = operator.normalisation() if operator else None
    return Loaded(encoder, operator, factors=factors)


MODEL = loaded()


def embeddings(count: int = 5, seed: int = 0) -> Tensor:
    assert MODEL.operator is not None
    return MODEL.operator.normalise(torch.randn(count, DIM, generator=torch.Generator().manual_seed(seed)))


def around(a: Tensor, b: Tensor | float) -> Tensor:
    """The distances of angles in degrees, around the circle."""
    return ((a - b + 180) % 360 - 180).abs()


@given(ANGLE, ANGLE, st.sampled_from(FACTORS))
def test_turns_add_up(a: float, b: float, factor: str) -> None:
    z = embeddings()
    torch.testing.assert_close(
        MODEL.turn(MODEL.turn(z, a, factor), b, factor), MODEL.turn(z, a + b, factor), atol=2e-5, rtol=0
    )
    torch.testing.assert_close(MODEL.turn(z, 360 + a, factor), MODEL.turn(z, a, factor), atol=2e-5, rtol=0)


@pytest.mark.parametrize("factor", FACTORS)
def test_a_whole_turn_and_the_rest_of_the_embedding(factor: str) -> None:
    z = embeddings()
    torch.testing.assert_close(MODEL.turn(z, 360, factor), z, atol=1e-5, rtol=0)
    turned = MODEL.turn(z, 50, factor)
    own = slice(IDENTITY, IDENTITY + 48) if factor == "2d" else slice(IDENTITY + 48, DIM)
    same = torch.ones(DIM, dtype=torch.bool)
    same[own] = False
    assert torch.equal(MODEL.identity(turned), MODEL.identity(z))
    torch.testing.assert_close(turned[:, same], z[:, same])
    assert (turned[:, own] - z[:, own]).norm(dim=1).min() > 0.1


@given(ANGLE, st.sampled_from(FACTORS))
def test_the_pose_is_what_was_turned(angle: float, factor: str) -> None:
    z = embeddings()
    found = MODEL.pose(z, MODEL.turn(z, angle, factor), factor)
    assert around(found.degrees, angle).max() < 0.05
    assert found.error.abs().max() < 1e-5
    assert ((found.degrees >= -180) & (found.degrees < 180)).all()
    assert (found.second_error > 0.01).all()


def test_every_row_has_its_own_angle() -> None:
    z, angles = embeddings(), torch.tensor([0.0, 10.0, -90.0, 179.0, 45.0])
    for given_angles in (angles, angles.tolist()):
        assert around(MODEL.pose(z, MODEL.turn(z, given_angles, "yaw"), "yaw").degrees, angles).max() < 0.05


def test_one_factor_needs_no_name() -> None:
    model = loaded(("yaw",))
    z = torch.randn(3, IDENTITY + 48)
    assert around(model.pose(z, model.turn(z, 30)).degrees, 30.0).max() < 0.05


@pytest.mark.parametrize("degrees", [0.0, 90.0, -120.0])
def test_a_turned_object_is_found(degrees: float) -> None:
    """Among other objects and other poses of the same one."""
    z, angles = embeddings(), [0.0, 90.0, 240.0, 30.0]
    gallery = torch.cat([MODEL.turn(z, angle, "2d") for angle in angles])
    found = MODEL.find(z, gallery, degrees, "2d", k=3)
    assert found.rows.shape == found.scores.shape == (5, 3)
    assert found.rows[:, 0].tolist() == [5 * angles.index(degrees % 360) + i for i in range(5)]
    assert (found.scores[:, 0] > 0.999).all()
    assert (found.scores.diff(dim=1) <= 0).all()
    assert MODEL.find(z[:1], gallery, degrees, "2d", k=100).rows.shape == (1, 20)


def test_pictures_are_embedded() -> None:
    pictures = torch.rand(2, 3, 4, 4)
    z = MODEL.embed(pictures)
    assert torch.equal(MODEL.turn(pictures, 20, "2d"), MODEL.turn(z, 20, "2d"))
    assert torch.equal(MODEL.pose(pictures, z, "2d").degrees, MODEL.pose(z, pictures, "2d").degrees)
    assert torch.equal(MODEL.find(pictures, pictures, 0.0, "2d").rows[:, 0], torch.arange(2))
    arrays = (pictures * 255).round().byte().permute(0, 2, 3, 1).numpy()
    assert MODEL.find(arrays[0], arrays, 0.0, "2d").rows[0, 0] == 0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda m, z: m.pose(z, z), "name the factor that moves; the model knows 2d, yaw"),
        (lambda m, z: m.turn(z, 3, "hue"), "there is no factor 'hue'; the model knows 2d, yaw"),
        (lambda m, z: m.pose(z, z[:2], "2d"), "5 first and 2 second pictures"),
        (lambda m, z: m.pose(z[:, :9], z, "2d"), f"embeddings must have {DIM} dimensions, not 9"),
        (lambda m, z: m.turn(z, [1.0, 2.0], "2d"), "one finite number, or one for each of the 5 embeddings"),
        (lambda m, z: m.turn(z, float("nan"), "2d"), "one finite number"),
        (lambda m, z: m.turn(z, "far", "2d"), "one finite number"),
        (lambda m, z: m.find(z, z, 0.0, "2d", k=0), "k is 0, but it must be 1 or more"),
        (lambda m, z: m.find(z, z[:0], 0.0, "2d"), "the gallery has no pictures"),
        (lambda m, z: m.find(z, [], 0.0, "2d"), "the gallery has no pictures"),
        (lambda m, z: m.pose(torch.zeros(2, 3), z, "2d"), "embeddings must have"),
    ],
)
def test_wrong_arguments(call: Callable[[Loaded, Tensor], Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        call(MODEL, embeddings())


@pytest.mark.parametrize("method", ["pose", "turn", "find"])
def test_a_model_without_an_operator(method: str) -> None:
    model, z = loaded(with_operator=False), embeddings()
    with pytest.raises(UserError, match="this model has no operator"):
        getattr(model, method)(z, 10.0 if method == "turn" else z)
    assert torch.equal(model.identity(z), z)


def test_moves_that_are_no_angle() -> None:
    """An operator that infers its coordinates cannot turn by degrees."""
    operator = OperatorConfig(generators=(2,), sees=("pair",)).build(DIM, FACTORS)
    model = Loaded(MODEL.encoder, operator, factors=FACTORS)
    z = embeddings()
    for call in (lambda: model.turn(z, 10, "2d"), lambda: model.pose(z, z, "2d")):
        with pytest.raises(UserError, match="infers the moves of 2d and has no angle"):
            call()


def several(reaches: tuple[float, ...] = (torch.pi, 0.6, torch.pi, 0.9)) -> Loaded:
    """A model of a data set in which elevation, hue and scale vary too."""
    factors = ("2d", "elevation", "hue", "scale")
    model = replace(loaded(factors), factors=factors, reaches=reaches)
    set_speeds(model.operator, factors, reaches)
    return model


@pytest.mark.parametrize(
    ("factor", "values", "unit"),
    [
        ("2d", (-150.0, 0.0, 10.0), "degrees"), ("hue", (-170.0, 25.0, 178.0), "degrees"),
        ("elevation", (-34.0, 0.5, 30.0), "degrees"), ("scale", (0.41, 1.0, 2.4), "times the size"),
    ],
)  # fmt: skip
def test_every_factor_is_read_and_made_in_its_own_unit(factor: str, values: tuple[float, ...], unit: str) -> None:
    model, z = several(), torch.randn(3, IDENTITY + 4 * 48)
    moved = model.turn(z, value=values, factor=factor)
    found = model.pose(z, moved, factor)
    torch.testing.assert_close(found.value, torch.tensor(values), atol=2e-3, rtol=1e-3)
    assert found.unit == unit
    assert torch.equal(found.degrees, found.value) if unit == "degrees" else bool(found.degrees.isnan().all())
    for other in {"2d", "elevation", "hue", "scale"} - {factor}:  # moving one does not disturb the others
        still = 1.0 if other == "scale" else 0.0
        torch.testing.assert_close(model.pose(z, moved, other).value, torch.full((3,), still), atol=2e-3, rtol=0)
    gallery = torch.cat([model.turn(z, value=value, factor=factor) for value in values])
    best = model.find(z, gallery, factor=factor, value=values[0], k=1).rows[:, 0]
    assert best.tolist() == [0, 1, 2]


def test_a_reading_stays_within_the_range_of_the_training_data() -> None:
    z, other = torch.randn(50, IDENTITY + 4 * 48), torch.randn(50, IDENTITY + 4 * 48)
    found = several().pose(z, other, "elevation")
    assert found.degrees.abs().max() <= math.degrees(0.6) + 1e-4
    scale = several().pose(z, other, "scale").value
    assert scale.log().abs().max() <= 0.9 + 1e-5
    assert several().pose(z, other, "hue").degrees.abs().max() > 100


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda m, z: m.turn(z, 2.0, "scale"), "scale is no angle; give value instead of degrees"),
        (lambda m, z: m.turn(z, value=-2.0, factor="scale"), r"value must be one valid number \(times the size\)"),
        (lambda m, z: m.turn(z, 2.0, "hue", value=3.0), "give either degrees or value"),
        (lambda m, z: m.turn(z, factor="hue"), "give either degrees or value"),
        (lambda m, z: m.find(z, z, 3.0, "hue", value=3.0), "give either degrees or value"),
    ],
)
def test_wrong_moves_of_other_factors(call: Callable[[Loaded, Tensor], Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        call(several(), torch.randn(2, IDENTITY + 4 * 48))


def test_a_factor_that_is_not_registered() -> None:
    model, z = loaded(("2d", "fog")), torch.randn(2, DIM)
    with pytest.raises(UserError, match="'fog' is not registered; import the module that defines it"):
        model.pose(z, z, "fog")


def test_speeds_follow_the_range() -> None:
    """The slowest plane makes an eighth of a turn over the largest move; on a circle all speeds are whole numbers."""
    operator = several().operator
    assert operator is not None
    slowest = [float(algebra.get_parameter("speed").detach().min()) for algebra in operator.algebras]
    assert slowest == pytest.approx([1.0, math.pi / 4 / 0.6, 1.0, math.pi / 4 / 0.9])
    plain = OperatorConfig(generators=(1,), sees=("linear",), algebra="commuting", frequencies=(1.0,)).build(8)
    set_speeds(plain, ("scale",), (0.1,))  # not on unit vectors, so it keeps its speeds
    assert set(plain.algebras[0].get_parameter("speed").flatten().tolist()) == {1.0}
    with pytest.raises(ValueError, match="one for each share of a normalised operator"):
        operator.multiply_speeds([1.0])


@pytest.mark.parametrize("wrong", [[1.0], [1.0, -1.0], ["a", 1.0], [1.0, float("inf")], 3.0])
def test_wrong_reaches_in_a_file(wrong: Any) -> None:
    with pytest.raises(UserError, match=r"card: reaches is .* a positive number per factor; copy it again"):
        check_reaches(wrong, FACTORS, "card", "copy it again")
    assert check_reaches(None, FACTORS, "card", "") == (math.pi, math.pi)
