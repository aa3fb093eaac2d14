"""SimCLR: NT-Xent against a double loop over all views, and two processes against one."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from lie_ssl.contrast.gather import JoinedBatch
from lie_ssl.errors import UserError
from lie_ssl.methods.augment import augment
from lie_ssl.methods.draws import Draws
from lie_ssl.methods.simclr import SimCLR, SimCLRConfig, nt_xent
from tests.methods.two_views import CUTS, ROWS, Step, check_two_processes, pictures, small_encoder, step


def simclr(**settings: Any) -> SimCLR:
    torch.manual_seed(0)
    return SimCLR(small_encoder(), SimCLRConfig(**({"projection": 5} | settings))).double()


def naive(p: list[list[float]], other: list[list[float]], temperature: float) -> float:
    """The mean over all 2B anchors of -log exp(s(i, j) / tau) / sum over k != i of exp(s(i, k) / tau)."""
    views = p + other
    count = len(views)

    def s(a: list[float], b: list[float]) -> float:
        return sum(x * y for x, y in zip(a, b, strict=True)) / math.sqrt(sum(x * x for x in a) * sum(x * x for x in b))

    total = 0.0
    for i in range(count):
        j = (i + len(p)) % count
        everything = sum(math.exp(s(views[i], views[k]) / temperature) for k in range(count) if k != i)
        total -= math.log(math.exp(s(views[i], views[j]) / temperature) / everything)
    return total / count


@pytest.mark.parametrize("temperature", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("rows", [2, 3, 10])
def test_nt_xent_agrees_with_a_double_loop(rows: int, temperature: float) -> None:
    torch.manual_seed(0)
    p, other = torch.randn(2, rows, 5).double() * 4
    joined = JoinedBatch.of(rows)
    found = nt_xent(p, other, joined, temperature)
    assert found.shape == (rows,)
    assert joined.mean(found).item() == pytest.approx(naive(p.tolist(), other.tolist(), temperature), rel=1e-10)
    swapped = joined.mean(nt_xent(other, p, joined, temperature))
    assert swapped.item() == pytest.approx(joined.mean(found).item(), rel=1e-10)
    assert torch.allclose(nt_xent(p * 7, other / 3, joined, temperature), found)  # norms do not matter


def test_rows_of_a_part_agree_with_the_whole() -> None:
    torch.manual_seed(0)
    p, other = torch.randn(2, 9, 5).double()
    whole = nt_xent(p, other, JoinedBatch((9,)), 0.2)
    parts = [nt_xent(p, other, JoinedBatch((4, 0, 5), rank), 0.2) for rank in range(3)]
    torch.testing.assert_close(torch.cat(parts), whole)


def test_the_whole_loss() -> None:
    method = simclr(temperature=0.3)
    frames = [pictures(), pictures(1)]
    draws = [Draws(0, 2, ROWS).named("first"), Draws(0, 2, ROWS).named("second")]
    outputs = method(frames, draws)
    views = [
        augment(x, d.named(name), method.config.augment)
        for x, d in zip(frames, draws, strict=True)
        for name in ("one", "two")
    ]
    z = method.encoder(torch.cat(views).double())
    p = method.projector(z).split(ROWS)
    for i, out in enumerate(outputs):
        # Frames are negatives only within their own batch, as the two frames of a pair show one instance.
        expected = naive(p[2 * i].tolist(), p[2 * i + 1].tolist(), 0.3)
        assert out.loss.item() == pytest.approx(expected, rel=1e-5)  # projections are compared in float32
        assert out.terms["contrast"].item() == out.loss.item()
        assert not out.terms["contrast"].requires_grad
        torch.testing.assert_close(out.z, z.split(ROWS)[2 * i])  # of the first view


def test_the_head() -> None:
    method = simclr(projection=9, hidden=4)
    assert method.projector(torch.randn(3, 6).double()).shape == (3, 9)
    assert method.projector.layers[0].out_features == 4
    assert simclr(projection=9).projector.layers[0].out_features == 6
    assert method.parts()["projector"] is method.projector.layers


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"temperature": 0.0}, "temperature is 0.0, but it must be above 0"),
        ({"temperature": float("nan")}, "temperature is nan"),
        ({"projection": 0}, "projection is 0"),
        ({"hidden": -1}, "hidden -1"),
    ],
)
def test_invalid_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        SimCLRConfig(**settings)


def test_bf16_compares_in_float32() -> None:
    """The loss is computed from the projections in float32, without rounding the scores again."""
    torch.manual_seed(0)
    method = SimCLR(small_encoder(), SimCLRConfig(projection=5, temperature=0.05))
    seen: list[Tensor] = []
    method.projector.register_forward_hook(lambda module, inputs, output: seen.append(output.detach()))
    with torch.autocast("cpu", torch.bfloat16):
        out = method([pictures()], [Draws(0, 0, ROWS)])[0]
    assert seen[0].dtype == torch.bfloat16
    first, second = seen[0].double().chunk(2)
    assert out.loss.item() == pytest.approx(naive(first.tolist(), second.tolist(), 0.05), rel=1e-5)
    assert out.loss.dtype == torch.float32


def steps(rank: int, world: int) -> list[Step]:
    return [step(simclr(), rank, world, cut) for cut in CUTS]


def test_two_processes_agree_with_one(tmp_path: Path) -> None:
    check_two_processes(steps, tmp_path)
