"""Compares the neighbours of Option 2 with the matrix exponential."""

from __future__ import annotations

import pytest
import torch

from lie_ssl.errors import UserError
from lie_ssl.lie import LieOperator
from lie_ssl.protocol.neighbours import NeighbourSampler


def test_neighbours_are_moved_by_stored_coordinates() -> None:
    torch.manual_seed(0)
    operator, stored, z = LieOperator(6, 2, fixed=2), torch.randn(5, 2), torch.randn(40, 6)
    found = NeighbourSampler(operator, stored, 3)(z, torch.Generator().manual_seed(7))
    assert len(found) == 3
    exponentials = torch.linalg.matrix_exp(torch.einsum("nd,dij->nij", stored, operator.generators.detach()).double())
    every = torch.einsum("nij,bj->bni", exponentials, z.double()).float()
    used = set()
    for moved in found:
        distances = (every - moved[:, None]).norm(dim=2)
        assert float(distances.min(dim=1).values.max()) < 1e-4  # each is the result of one stored t
        used |= set(distances.argmin(dim=1).tolist())
        assert torch.equal(moved[:, :2], z[:, :2])
    assert used == set(range(5))
    assert not torch.equal(found[0], found[1])


def test_the_same_generator_gives_the_same_neighbours() -> None:
    sampler = NeighbourSampler(LieOperator(4, 1), torch.randn(9, 1))
    z = torch.randn(8, 4)
    a, b, c = (sampler(z, torch.Generator().manual_seed(s))[0] for s in (1, 1, 2))
    assert torch.equal(a, b)
    assert not torch.equal(a, c)


def test_gradients_reach_z_and_not_the_operator() -> None:
    operator = LieOperator(4, 1)
    z = torch.randn(3, 4, requires_grad=True)
    NeighbourSampler(operator, torch.randn(5, 1))(z, torch.Generator())[0].sum().backward()
    assert z.grad is not None
    assert bool((z.grad != 0).any())
    assert all(p.grad is None for p in operator.parameters())
    assert all(p.requires_grad for p in operator.parameters())  # the given operator is not changed


@pytest.mark.parametrize(("shape", "count"), [((5, 3), 1), ((5,), 1), ((0, 2), 1), ((5, 2), 0)])
def test_wrong_coordinates(shape: tuple[int, ...], count: int) -> None:
    with pytest.raises(UserError, match=r"they must be above 0 and \(N, 2\)"):
        NeighbourSampler(LieOperator(4, 2), torch.zeros(shape), count)
