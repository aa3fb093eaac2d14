"""VICReg: its three terms against loops, its weights, and two processes against one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from lie_ssl.errors import UserError
from lie_ssl.methods.augment import augment
from lie_ssl.methods.draws import Draws
from lie_ssl.methods.vicreg import VICReg, VICRegConfig, expander, off_diagonal, variance_hinge
from tests.methods.two_views import CUTS, ROWS, Step, check_two_processes, pictures, small_encoder, step


def vicreg(**settings: Any) -> VICReg:
    torch.manual_seed(0)
    return VICReg(small_encoder(), VICRegConfig(**({"expander": (5, 7)} | settings))).double()


def naive(e: list[list[float]], other: list[list[float]]) -> dict[str, float]:
    """The terms with loops over Python floats, scaled as in the authors' code: the mean over dimensions for invariance,
    and half of the hinge of each view."""
    rows, dims = len(e), len(e[0])

    def mean(x: list[list[float]], j: int) -> float:
        return sum(row[j] for row in x) / rows

    def covariance(x: list[list[float]], i: int, j: int) -> float:
        return sum((row[i] - mean(x, i)) * (row[j] - mean(x, j)) for row in x) / (rows - 1)

    def hinge(x: list[list[float]]) -> float:
        return sum(max(0.0, 1 - (covariance(x, j, j) + 1e-4) ** 0.5) for j in range(dims)) / dims

    def squares(x: list[list[float]]) -> float:
        return sum(covariance(x, i, j) ** 2 for i in range(dims) for j in range(dims) if i != j) / dims

    return {
        "invariance": sum((e[b][j] - other[b][j]) ** 2 for b in range(rows) for j in range(dims)) / rows / dims,
        "variance": (hinge(e) + hinge(other)) / 2,
        "covariance": squares(e) + squares(other),
    }


@pytest.mark.parametrize("scale", [0.3, 1.0, 5.0])
def test_variance_and_covariance_alone(scale: float) -> None:
    torch.manual_seed(0)
    e = (torch.randn(9, 6) * scale * torch.linspace(0.2, 2, 6) + 3).double()
    expected = naive(e.tolist(), e.tolist())
    assert variance_hinge(e).item() == pytest.approx(expected["variance"], rel=1e-12)
    assert off_diagonal(e).item() == pytest.approx(expected["covariance"] / 2, rel=1e-12)


def test_properties_of_the_terms() -> None:
    torch.manual_seed(0)
    wide = torch.randn(4000, 5).double() * 3
    assert variance_hinge(wide).item() == 0  # no dimension is below 1
    assert off_diagonal(wide / 3).item() < 0.01  # independent dimensions
    same = wide[:, :1].expand(-1, 5)
    assert off_diagonal(same).item() == pytest.approx(4 * float(same[:, 0].var()) ** 2, rel=1e-9)
    still = torch.ones(10, 5).double().requires_grad_()
    assert variance_hinge(still).item() == pytest.approx(0.99)
    variance_hinge(still).backward()
    assert still.grad is not None
    assert torch.isfinite(still.grad).all()  # without epsilon, the root has no slope at zero


@pytest.mark.parametrize("weights", [(25.0, 25.0, 1.0), (1.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, 0.0, 3.0)])
def test_the_whole_loss(weights: tuple[float, float, float]) -> None:
    names = ("invariance", "variance", "covariance")
    method = vicreg(**dict(zip(names, weights, strict=True)))
    frames = [pictures(), pictures(1)]
    draws = [Draws(0, 2, ROWS).named("first"), Draws(0, 2, ROWS).named("second")]
    outputs = method(frames, draws)
    views = [
        augment(x, d.named(name), method.config.augment)
        for x, d in zip(frames, draws, strict=True)
        for name in ("one", "two")
    ]
    z = method.encoder(torch.cat(views).double())
    e = method.projector(z).split(ROWS)
    for i, out in enumerate(outputs):
        expected = naive(e[2 * i].tolist(), e[2 * i + 1].tolist())
        for name in names:
            assert out.terms[name].item() == pytest.approx(expected[name], rel=1e-5), (
                name
            )  # they are computed in float32
            assert not out.terms[name].requires_grad
        total = sum(w * expected[n] for w, n in zip(weights, names, strict=True))
        assert out.loss.item() == pytest.approx(total, rel=1e-5)
        torch.testing.assert_close(out.z, z.split(ROWS)[2 * i])  # of the first view
    outputs[0].loss.backward()
    gradient = method.encoder.get_parameter("layers.1.weight").grad
    assert gradient is not None
    assert gradient.any()


@pytest.mark.parametrize("widths", [(7,), (5, 7), (8, 9, 10)])
def test_the_expander(widths: tuple[int, ...]) -> None:
    layers = expander(6, widths)
    assert layers(torch.randn(4, 6)).shape == (4, widths[-1])
    linear = [m for m in layers if isinstance(m, nn.Linear)]
    assert [m.out_features for m in linear] == list(widths)
    assert sum(isinstance(m, nn.BatchNorm1d) for m in layers) == len(widths) - 1
    assert [m.bias is not None for m in linear] == [True] * (len(widths) - 1) + [False]
    assert vicreg(expander=widths).parts()["projector"].state_dict().keys() == layers.state_dict().keys()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"expander": ()}, "at least one width"),
        ({"expander": (4, 0)}, "at least one width above 0"),
        ({"invariance": -1.0}, "invariance is -1.0, but weights must be 0 or more"),
        ({"variance": float("nan")}, "variance is nan"),
        ({"covariance": -1.0}, "covariance is -1.0"),
    ],
)
def test_invalid_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        VICRegConfig(**settings)


def test_bf16_keeps_the_terms_in_float32() -> None:
    method = VICReg(small_encoder(), VICRegConfig(expander=(5, 7)))
    with torch.autocast("cpu", torch.bfloat16):
        out = method([pictures()], [Draws(0, 0, ROWS)])[0]
    assert out.loss.dtype == torch.float32
    assert all(v.dtype == torch.float32 and v.isfinite() for v in out.terms.values())


def steps(rank: int, world: int) -> list[Step]:
    return [step(vicreg(), rank, world, cut) for cut in CUTS]


def test_two_processes_agree_with_one(tmp_path: Path) -> None:
    check_two_processes(steps, tmp_path)
