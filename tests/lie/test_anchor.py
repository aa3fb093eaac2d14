"""The anchor: against a naive reference with matrix exponentials, and what it makes readable."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from lie_ssl import LieLoss, LieOperator
from lie_ssl.errors import UserError
from lie_ssl.lie.anchor import anchor_info_nce, anchor_of
from lie_ssl.objectives.lie import ANCHOR, LieConfig
from lie_ssl.serialization import from_plain, to_plain

TAU, FIXED = 0.3, 2


def make_operator(factors: int = 1, anchor: float | None = TAU, **settings: Any) -> LieOperator:
    """Eight dimensions for each factor, after two fixed ones."""
    plain: dict[str, Any] = {
        "algebra": "commuting", "fixed": FIXED, "sees": "linear", "split_factors": True, "normalise": "share",
        "frequencies": (1.0, 2.0), "anchor": anchor,
    }  # fmt: skip
    return LieOperator(FIXED + 8 * factors, (1,) * factors, **plain | settings).double()


def typical(operator: LieOperator, poses: Tensor) -> Tensor:
    """The embeddings (B, M) of ideal pictures in the given poses (B, F)."""
    v = torch.cat([anchor_of(operator, share, poses) for share in range(len(operator.shares))])
    z = torch.cat([torch.ones(FIXED, dtype=poses.dtype), v]).expand(len(poses), -1)
    moved: Tensor = operator(z, poses)
    return moved


def test_it_equals_a_naive_reference() -> None:
    operator = make_operator(2)
    generator = torch.Generator().manual_seed(0)
    z = operator.normalise(torch.randn(6, operator.dim, generator=generator, dtype=torch.float64))
    poses = torch.rand(6, 2, generator=generator, dtype=torch.float64) * 2 - 1
    poses[:2, 1] = torch.nan  # these pictures have no pose of the second kind
    poses[4, 0] = poses[3, 0]
    found = anchor_info_nce(operator, z, poses, poses)
    for b in range(6):
        expected = 0.0
        for f in range(2):
            if poses[b, f].isnan():
                continue
            c = anchor_of(operator, f, z)
            v = z[b, FIXED + 8 * f : FIXED + 8 * f + 8]

            def logit(t: Tensor, f: int = f, c: Tensor = c, v: Tensor = v) -> float:
                moved = torch.linalg.matrix_exp(t * operator.algebras[f].generators[0]) @ c  # type: ignore[index]
                return float(-(moved - v).square().sum().detach() / (2 * TAU))

            logits = [logit(poses[b, f]), *(logit(t) for t in poses[:, f] if not t.isnan())]
            expected += float(torch.tensor(logits).logsumexp(0)) - logits[0]
        assert float(found[b].detach()) == pytest.approx(expected, rel=1e-5)


def test_the_pose_of_one_picture_is_read() -> None:
    operator = make_operator(2)
    poses = torch.tensor([[0.4, -3.0], [-2.0, 1.0], [3.1, 0.0]], dtype=torch.float64)
    for factor in range(2):
        found = operator.read(typical(operator, poses), factor)
        torch.testing.assert_close(found.t.detach(), poses[:, factor], atol=1e-6, rtol=0)
        assert float(found.error.detach().abs().max()) < 1e-8


def test_the_density_is_highest_at_the_pose_and_sums_to_one() -> None:
    operator = make_operator()
    angles = torch.arange(360) * (2 * math.pi / 360)
    density = operator.density(typical(operator, angles[[0, 90, 271], None].double()), angles).exp()
    assert density.argmax(dim=1).tolist() == [0, 90, 271]
    torch.testing.assert_close(density.sum(dim=1), torch.ones(3, dtype=torch.float64))


def test_training_aligns_the_phases_of_both_frames() -> None:
    """Free embeddings of objects, moved by their pose, come to share the anchor's phase."""
    torch.manual_seed(0)
    operator = make_operator(anchor=0.1)
    loss = LieLoss(operator, lie=0.0, euclidean=0.0, coordinates=0.0, anchor=1.0).double()
    objects = torch.randn(16, operator.dim, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.Adam([objects], lr=0.1)
    for _ in range(60):
        poses, delta = (torch.rand(16, 1, dtype=torch.float64) * 6 - 3 for _ in range(2))
        unit = operator.normalise(objects)
        z, z_next = operator(unit, poses), operator(unit, poses + delta)
        terms = loss(z, z_next, delta, pose=poses)
        optimiser.zero_grad()
        terms.total.backward()
        optimiser.step()
    assert terms.anchor is not None
    assert float(operator.read(objects.detach()).t.detach().abs().max()) < math.radians(5)


def test_a_frequent_pose_is_not_preferred() -> None:
    """If pictures tell nothing and half of them are in the typical pose, every pose stays equally likely."""
    operator = make_operator(anchor=0.1)
    z = torch.randn(1, operator.dim, dtype=torch.float64).requires_grad_()
    optimiser = torch.optim.Adam([z], lr=0.05)
    generator = torch.Generator().manual_seed(0)
    for _ in range(100):
        poses = torch.rand(64, 1, generator=generator, dtype=torch.float64) * 2 * math.pi - math.pi
        poses[:32] = 0
        loss = anchor_info_nce(operator, operator.normalise(z.expand(64, -1)), poses, poses).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    density = operator.density(z.detach(), torch.arange(36) * (2 * math.pi / 36)).exp()
    assert float(density[0, 0]) < 3 / 36


def test_wrong_uses_are_rejected() -> None:
    z, delta = torch.randn(4, 10, dtype=torch.float64), torch.rand(4, 1, dtype=torch.float64)
    with pytest.raises(ValueError, match="give pose"):
        LieLoss(make_operator(), anchor=1.0).double()(z, z, delta)
    with pytest.raises(ValueError, match="an operator with an anchor"):
        LieLoss(make_operator(anchor=None), anchor=1.0)
    with pytest.raises(ValueError, match="has no anchor"):
        make_operator(anchor=None).read(z)
    with pytest.raises(ValueError, match="unit lengths"):
        make_operator(normalise=None)
    with pytest.raises(ValueError, match="give the index"):
        make_operator(2).read(torch.randn(4, 18, dtype=torch.float64))


def test_the_objective_gives_its_operator_an_anchor_and_old_settings_stay() -> None:
    config = LieConfig().adapted()
    assert "anchor" not in to_plain(config)
    assert "anchor" not in to_plain(config)["operator"]
    anchored = from_plain(LieConfig, to_plain(config) | {"anchor": 1.0}, "here")
    assert anchored.operator.anchor == ANCHOR
    assert from_plain(LieConfig, to_plain(anchored), "here") == anchored
    with pytest.raises(UserError, match="anchor is -1"):
        LieConfig(anchor=-1.0)
