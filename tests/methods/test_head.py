"""The head of an adapted encoder: its linear path starts with what the frames of an object share."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.linalg import sqrtm

from lie_ssl.errors import UserError
from lie_ssl.methods.adapted import RIDGE, AdaptConfig, Head, LinearAndLayers, whitening

FEATURES, IDENTITY, SHARE = 12, 8, 4
SLICES = {"pooled": slice(0, 5), "layer3": slice(5, FEATURES)}


def head(**settings: object) -> Head:
    torch.manual_seed(0)
    config = AdaptConfig(hidden=16, components=IDENTITY, linear=True, **settings)  # type: ignore[arg-type]
    return Head(SLICES, IDENTITY + SHARE, IDENTITY, config).eval()


def test_the_linear_map_whitens_the_differences_within_objects() -> None:
    """Against scipy: W^-1/2 up to a rotation, so that all differences have the same size."""
    random = np.random.default_rng(0)
    root = random.normal(size=(IDENTITY, IDENTITY))
    within = root @ root.T
    ridge = RIDGE * np.trace(within) / IDENTITY * np.eye(IDENTITY)
    inverse = np.linalg.inv(np.real(sqrtm(within + ridge)))
    linear = whitening(torch.from_numpy(within).float()).numpy()
    assert linear.T @ linear == pytest.approx(inverse @ inverse, rel=1e-3, abs=1e-4)
    sizes = np.diag(linear @ within @ linear.T)
    assert (np.diff(sizes) > -1e-4).all()  # what differs least comes first


def test_at_the_start_u_is_the_linear_map() -> None:
    made, x = head(), torch.randn(200, FEATURES)
    made.reduce(x)
    assert isinstance(made.identity, LinearAndLayers)
    within = torch.randn(300, FEATURES)
    made.scale_down(within, within)
    wanted = made.standardised(x) @ made.basis @ made.identity.linear.weight.T
    bias = made.identity.layers[-1].bias
    torch.testing.assert_close(made(x)[:, :IDENTITY] - bias, wanted)
    assert made(x).shape == (200, IDENTITY + SHARE)


def test_differences_within_objects_shrink_and_those_between_remain() -> None:
    """Objects differ along one axis, and their frames along another, ten times as far."""
    made = head()
    objects = torch.linspace(-1, 1, 20)
    frames = torch.randn(20, 30) * 10
    x = torch.zeros(20, 30, FEATURES)
    x[..., 0], x[..., 1] = objects[:, None], frames
    x += 0.05 * torch.randn(x.shape)
    made.reduce(x.flatten(0, 1))
    made.scale_down((x - x.mean(dim=1, keepdim=True)).flatten(0, 1), x.flatten(0, 1))
    with torch.no_grad():
        u = made(x.flatten(0, 1))[:, :IDENTITY].unflatten(0, (20, 30))
    between, within = u.mean(dim=1).var(dim=0).sum(), u.var(dim=1).mean(dim=0).sum()
    before = x.mean(dim=1).var(dim=0).sum() / x.var(dim=1).mean(dim=0).sum()
    assert between / within > 5 * before


@pytest.mark.parametrize("size", [4, 20])
def test_u_may_have_fewer_or_more_dimensions_than_components(size: int) -> None:
    part = LinearAndLayers(IDENTITY, size, AdaptConfig())
    part.start(whitening(torch.eye(IDENTITY))[:size])
    assert part(torch.randn(3, IDENTITY)).shape == (3, size)
    assert (part.linear.weight[IDENTITY:] == 0).all()


def test_a_head_without_the_linear_path_is_as_before() -> None:
    made = Head(SLICES, IDENTITY + SHARE, IDENTITY, AdaptConfig(hidden=16, components=IDENTITY))
    made.scale_down(torch.randn(5, FEATURES), torch.randn(9, FEATURES))
    assert {name.partition(".")[0] for name, _ in made.named_parameters()} == {"identity", "moved"}
    assert "identity.1.weight" in made.state_dict()
    with pytest.raises(UserError, match=r"adapt\.identity is 0"):
        AdaptConfig(identity=0)


def test_known_components_give_the_same_embedding() -> None:
    made, x = head(), torch.randn(200, FEATURES)
    made.reduce(x)
    torch.testing.assert_close(made(torch.cat([x, made.components(x)], dim=1)), made(x))


def test_v_can_see_the_maps_alone() -> None:
    made, x = head(maps=True, moved_hidden=24), torch.randn(3, FEATURES)
    assert isinstance(made.moved, torch.nn.Sequential)
    assert [layer.weight.shape for layer in made.moved if isinstance(layer, torch.nn.Linear)] == [(24, 7), (SHARE, 24)]
    other = x.clone()
    other[:, SLICES["pooled"]] += 1
    assert torch.equal(made(x)[:, IDENTITY:], made(other)[:, IDENTITY:])
    assert not torch.equal(made(x)[:, :IDENTITY], made(other)[:, :IDENTITY])
    only = Head({"pooled": slice(0, 5)}, IDENTITY + SHARE, IDENTITY, AdaptConfig(maps=True))  # an encoder without maps
    assert only(torch.randn(3, 5)).shape == (3, IDENTITY + SHARE)


def test_u_can_leave_out_early_layers() -> None:
    slices = {"pooled": slice(0, 5), "layer2": slice(5, 8), "layer3": slice(8, FEATURES)}
    for components in (6, None):
        config = AdaptConfig(hidden=16, components=components, maps=True)
        made, x = Head(slices, IDENTITY + SHARE, IDENTITY, config).eval(), torch.randn(50, FEATURES)
        made.reduce(x)
        other = x.clone()
        other[:, slices["layer2"]] += 1
        assert torch.equal(made(x)[:, :IDENTITY], made(other)[:, :IDENTITY])
        assert not torch.equal(made(x)[:, IDENTITY:], made(other)[:, IDENTITY:])
        assert made.components(x).shape == (50, components or 9)
