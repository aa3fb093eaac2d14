"""Coordinates without a network: t = delta."""

from __future__ import annotations

import pytest
import torch

from lie_ssl import LieOperator
from lie_ssl.lie.coordinates import Coordinates


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_linear_coordinates_are_the_difference_of_the_poses(dtype: torch.dtype) -> None:
    h = Coordinates(6, 3, sees="linear", hidden=9)
    assert list(h.parameters()) == []
    assert h.state_dict() == {}
    z, z_next, delta = torch.randn(4, 6, dtype=dtype), torch.randn(4, 6, dtype=dtype), torch.tensor([0.5, -2, 0, 3])
    t = h(z, z_next, delta)
    assert t.shape == (4, 3)
    assert t.dtype == dtype
    assert t.tolist() == [[d] * 3 for d in delta.tolist()]
    assert torch.equal(h(z + 1, z_next * 2, delta), t)  # the same for every object
    assert not t.requires_grad
    assert h(z[:0], z_next[:0], delta[:0]).shape == (0, 3)


def test_an_unknown_value_is_named_with_all_valid_ones() -> None:
    with pytest.raises(ValueError, match="sees is 'lines', but it must be one of pair, source, delta, linear"):
        Coordinates(6, 3, sees="lines")  # type: ignore[arg-type]


@pytest.mark.parametrize("split", [False, True])
def test_every_factor_sees_its_configured_inputs(split: bool) -> None:
    operator = LieOperator(12, (1, 2, 1), sees=("linear", "pair", "source"), split_factors=split).double()
    assert [c.sees for c in operator.coordinates] == ["linear", "pair", "source"]
    torch.manual_seed(0)
    z, z_next, delta = torch.randn(5, 12).double(), torch.randn(5, 12).double(), torch.rand(5, 3).double() + 0.1
    t = operator.infer(z, z_next, delta)
    assert torch.equal(t[:, 0], delta[:, 0])
    changed = operator.infer(z, z_next + 1, delta) != t
    assert changed.any(dim=0).tolist() == [False, True, True, False]
    changed = operator.infer(z + 1, z_next, delta) != t
    assert changed.any(dim=0).tolist() == [False, True, True, True]


def test_factors_that_do_not_change_have_no_coordinates() -> None:
    torch.manual_seed(0)
    z, z_next = torch.randn(4, 12).double(), torch.randn(4, 12).double()
    delta = torch.tensor([[0.0, 1.0], [2.0, 0.0], [0.0, 0.0], [1.0, -1.0]]).double()
    operator = LieOperator(12, (2, 1)).double()
    t = operator.infer(z, z_next, delta)
    own = torch.cat([h(z, z_next, delta[:, f]) for f, h in enumerate(operator.coordinates)], dim=1)
    moves = (delta != 0).repeat_interleave(torch.tensor([2, 1]), dim=1)
    assert torch.equal(t[moves], own[moves])
    assert own.abs().min() > 0  # the networks themselves return other values
    assert not t[~moves].any()
    alone = LieOperator(12, 2).double()  # with one factor, the network decides as before
    assert alone.infer(z, z_next, torch.zeros(4).double()).abs().min() > 0
