"""Unit lengths of speeds and planes: the layer, the operator's setting and the loss."""

from __future__ import annotations

import copy
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from lie_ssl.lie import LieLoss, LieOperator, OperatorConfig, UnitNorm, diagnose
from lie_ssl.serialization import OMIT_DEFAULT, from_plain, to_plain

SPEEDS = (1.0, 2.0, 3.0)


def operator(**settings: Any) -> LieOperator:
    """Two factors after 4 fixed dimensions: planes of the speeds 1, 2, 3, 1, 2 and 1, 2, 3, 1."""
    given: dict[str, Any] = {"frequencies": SPEEDS, "normalise": "speed", "sees": "linear", "split_factors": True}
    return LieOperator(22, (1, 1), algebra="commuting", fixed=4, **given | settings).double()


def embeddings(rows: int = 6, dim: int = 22, seed: int = 0) -> torch.Tensor:
    return torch.randn(rows, dim, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


# The dimensions of each group, counted by hand.
BY_SPEED = [[4, 5, 10, 11], [6, 7, 12, 13], [8, 9], [14, 15, 20, 21], [16, 17], [18, 19]]
BY_PLANE = [[k, k + 1] for k in range(4, 22, 2)]
BY_SHARE = [list(range(4, 14)), list(range(14, 22))]


@pytest.mark.parametrize(("normalise", "groups"), [("speed", BY_SPEED), ("plane", BY_PLANE), ("share", BY_SHARE)])
def test_every_group_gets_unit_length_and_keeps_its_direction(normalise: Any, groups: list[list[int]]) -> None:
    z = embeddings()
    unit = operator(normalise=normalise).normalise(z)
    for group in groups:
        expected = z[:, group] / z[:, group].norm(dim=1, keepdim=True)
        assert torch.allclose(unit[:, group], expected, rtol=1e-14)
    assert torch.equal(unit[:, :4], z[:, :4])
    assert torch.allclose(operator(normalise=normalise).normalise(unit), unit, rtol=1e-14)


def test_equal_speeds_form_one_group() -> None:
    one = LieOperator(8, 1, algebra="commuting", sees="linear", frequencies=(1, 2, 1, 2), normalise="speed")
    assert one.group_counts == [2]


def test_an_odd_last_dimension_stays_out() -> None:
    odd = LieOperator(7, 1, algebra="commuting", sees="linear", frequencies=(1,), normalise="speed").double()
    z = embeddings(3, 7)
    unit = odd.normalise(z)
    assert torch.equal(unit[:, 6], z[:, 6])
    assert torch.allclose(unit[:, :6].norm(dim=1), torch.ones(3).double())
    far = unit.clone()
    far[:, 6] += 5
    assert odd.align(unit, far).error.abs().max() < 1e-12
    loss = LieLoss(odd, relative=True, lie=0, coordinates=0).double()
    assert loss(unit, far, torch.zeros(3).double()).euclidean.item() == pytest.approx(0, abs=1e-12)


def test_moves_keep_the_lengths() -> None:
    both = operator()
    z = both.normalise(embeddings())
    moved = both(z, embeddings(6, 2, seed=1))
    assert torch.allclose(both.normalise(moved), moved, rtol=1e-12)
    assert {name for name, _ in both.named_parameters()} == {"algebras.0.speed", "algebras.1.speed"}
    random = operator(normalise="plane", frequencies=(), sees="delta", scale=4.5)  # pure rotations at random speeds
    moved = random(random.normalise(z), embeddings(6, 2, seed=1))
    assert torch.allclose(random.normalise(moved), moved, rtol=1e-12)


def test_the_state_has_the_same_entries_as_without() -> None:
    assert operator().state_dict().keys() == operator(normalise=None).state_dict().keys()
    operator().load_state_dict(operator(normalise=None).state_dict())


def test_without_the_setting_nothing_happens() -> None:
    plain = operator(normalise=None)
    z = embeddings()
    assert plain.normalise(z) is z
    assert plain.normalisation() is None


def test_the_layer_has_no_state_and_can_be_copied() -> None:
    layer = operator().normalisation()
    assert layer is not None
    encoder = nn.Sequential(nn.Linear(5, 22), layer)
    assert list(encoder.state_dict()) == ["0.weight", "0.bias"]
    assert not list(layer.parameters())
    z = embeddings()
    assert torch.equal(copy.deepcopy(layer)(z), operator().normalise(z))


def test_gradients() -> None:
    both = operator()
    z = embeddings(2).requires_grad_()
    assert torch.autograd.gradcheck(both.normalise, (z,))
    zero = torch.zeros(2, 22, requires_grad=True)
    unit = operator().float().normalise(zero)
    assert not unit.any()
    unit.sum().backward()
    assert zero.grad is not None
    assert zero.grad.isfinite().all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_half_precision_and_autocast(dtype: torch.dtype) -> None:
    layer = operator().float().normalisation()
    assert layer is not None
    z = 30 * embeddings().to(dtype)
    expected = layer.double()(z.double())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        unit = layer(z)
    assert unit.dtype == dtype
    assert torch.allclose(unit.double(), expected, rtol=2 * torch.finfo(dtype).eps)


def test_export_to_onnx(tmp_path: Path) -> None:
    runtime = pytest.importorskip("onnxruntime")
    layer = operator().normalisation()
    assert layer is not None
    layer = layer.float()
    file = tmp_path / "layer.onnx"
    z = embeddings().float()
    names: dict[str, Any] = {
        "input_names": ["z"],
        "output_names": ["unit"],
        "dynamic_axes": {"z": {0: "batch"}, "unit": {0: "batch"}},
    }
    torch.onnx.export(layer, (z,), str(file), dynamo=False, **names)
    for rows in (z, z[:1], torch.zeros(2, 22)):
        (unit,) = runtime.InferenceSession(str(file)).run(None, {"z": rows.numpy()})
        assert torch.allclose(torch.from_numpy(unit), layer(rows), atol=1e-6)


@pytest.mark.parametrize("normalise", ["speed", "plane"])
def test_the_relative_error_is_the_mean_over_groups(normalise: Any) -> None:
    both = operator(normalise=normalise)
    loss = LieLoss(both, relative=True, lie=0, coordinates=0).double()
    z, z_next = embeddings(), embeddings(seed=1)
    delta = embeddings(6, 2, seed=2)
    delta[0, 0] = 0  # this pair leaves the first share out
    x, y = both.normalise(both(z, delta)), both.normalise(z_next)
    expected = torch.zeros(()).double()
    for factor, (first, last) in enumerate(((4, 14), (14, 22))):
        groups = [g for g in (BY_SPEED if normalise == "speed" else BY_PLANE) if first <= g[0] < last]
        errors = torch.stack([(y - x)[:, g].square().sum(dim=1) / 2 for g in groups], dim=1).mean(dim=1)
        expected = expected + (errors * (delta[:, factor] != 0)).mean()
    for pair in ((z, z_next), (both.normalise(z), both.normalise(z_next)), (7 * z, z_next / 3)):
        assert loss(*pair, delta).euclidean.item() == pytest.approx(expected.item(), rel=1e-10)


def test_equal_vectors_have_no_error_and_unrelated_ones_have_error_one() -> None:
    wide = LieOperator(4000, 1, algebra="commuting", sees="linear", frequencies=SPEEDS, normalise="speed").double()
    loss = LieLoss(wide, relative=True, lie=0, coordinates=0, batch_norm=False).double()
    z, delta = embeddings(4, 4000), torch.rand(4).double()
    assert loss(z, wide(z, delta[:, None]), delta).euclidean.item() == pytest.approx(0, abs=1e-12)
    assert loss(z, embeddings(4, 4000, seed=1), delta).euclidean.item() == pytest.approx(1, abs=0.05)


def test_diagnostics_do_not_depend_on_the_length() -> None:
    both, delta = operator(), embeddings(6, 2, seed=2)
    z, z_next = embeddings(), embeddings(seed=1)
    longer = 3 * z
    longer[:, :4] = z[:, :4]
    found, again = (asdict(diagnose(both, x, z_next, delta)) for x in (z, longer))
    assert found == pytest.approx(again)


def test_the_config_has_the_setting_without_changing_earlier_ones() -> None:
    assert "normalise" not in to_plain(OperatorConfig())
    config = OperatorConfig(
        generators=(1,), algebra="commuting", sees=("linear",), frequencies=SPEEDS, normalise="speed"
    )
    assert to_plain(config)["normalise"] == "speed"
    assert from_plain(OperatorConfig, to_plain(config)) == config
    assert OMIT_DEFAULT in OperatorConfig.__dataclass_fields__["normalise"].metadata
    assert config.build(12).group_counts == [3]
    assert OperatorConfig().build(12).unit_norm is None


COMMUTING: dict[str, Any] = {"algebra": "commuting", "frequencies": (1.0,), "sees": "linear", "n_generators": 1}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"normalise": "length"}, "normalise is 'length', but it must be one of speed, plane"),
        ({"algebra": "skew"}, "needs the planes of the commuting algebra, but algebra is 'skew'"),
        ({"centred": True}, "lengths from the origin"),
        ({"frequencies": ()}, "'speed' needs frequencies; set them"),
        ({"sees": "delta"}, "which only linear factors have"),
        ({"n_generators": (1, 1), "fixed": 10, "split_factors": True}, "a factor has only one dimension"),
    ],
)
def test_invalid_settings_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LieOperator(12, **COMMUTING | {"normalise": "speed"} | settings)
    if "centred" in settings:
        with pytest.raises(ValueError, match=message):
            OperatorConfig(algebra="commuting", frequencies=(1.0,), normalise="speed", standardised=("2d",))


def test_the_layer_by_itself() -> None:
    layer = UnitNorm([None, 0, 0, 1])
    assert layer(torch.tensor([[9.0, 3.0, 4.0, -2.0]])).tolist() == [pytest.approx([9, 0.6, 0.8, -1])]
    assert UnitNorm([None, None])(torch.ones(1, 2)).tolist() == [[1, 1]]
    assert layer(torch.empty(0, 4)).shape == (0, 4)
