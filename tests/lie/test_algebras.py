"""Properties of all algebras, in several sizes."""

from __future__ import annotations

import math

import pytest
import torch
from scipy.linalg import expm

from lie_ssl.lie import ALGEBRAS, make_algebra
from lie_ssl.lie.algebras import Algebra, closure_error
from lie_ssl.lie.algebras.commuting import Commuting

ANY_SIZE = [name for name in ALGEBRAS if name != "rotations"]  # which has a size of its own; see test_rotation_fit
SIZES = [(1, 1), (2, 1), (5, 2), (8, 4), (24, 3), (33, 2)]


def make(name: str, m: int, d: int) -> Algebra:
    torch.manual_seed(m + 10 * d)
    return make_algebra(name, m, d).double()


def inputs(algebra: Algebra, batch: int = 6, size: float = 1.0) -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    return torch.randn(batch, algebra.dim).double(), size * torch.randn(batch, algebra.n_generators).double()


@pytest.mark.parametrize("name", ANY_SIZE)
@pytest.mark.parametrize(("m", "d"), SIZES)
class TestEveryAlgebra:
    def test_action_is_the_exponential_of_its_generators(self, name: str, m: int, d: int) -> None:
        algebra = make(name, m, d)
        for size in (0.0, 0.5, 6.0):
            z, t = inputs(algebra, size=size)
            matrix = torch.einsum("bk,kij->bij", t, algebra.generators)
            expected = (torch.linalg.matrix_exp(matrix) @ z[:, :, None])[:, :, 0]
            assert torch.allclose(
                algebra.action(z, t), expected, rtol=1e-9, atol=1e-9 * float(expected.detach().abs().max())
            )

    def test_the_inverse_reverses_the_action(self, name: str, m: int, d: int) -> None:
        algebra = make(name, m, d)
        z, t = inputs(algebra)
        assert torch.allclose(algebra.inverse(algebra.action(z, t), t), z, rtol=1e-7, atol=1e-8)

    def test_gradients_reach_all_parameters(self, name: str, m: int, d: int) -> None:
        algebra = make(name, m, d)
        z, t = (x.requires_grad_() for x in inputs(algebra))
        weights = torch.randn(6, m).double()
        found = torch.autograd.grad((algebra.action(z, t) * weights).sum(), [z, t, *algebra.parameters()])
        matrix = torch.einsum("bk,kij->bij", t, algebra.generators)
        moved = (torch.linalg.matrix_exp(matrix) @ z[:, :, None])[:, :, 0]
        expected = torch.autograd.grad((moved * weights).sum(), [z, t, *algebra.parameters()], allow_unused=True)
        for a, b in zip(found, expected, strict=True):
            assert torch.allclose(a, torch.zeros_like(a) if b is None else b, rtol=1e-6, atol=1e-8)

    def test_sizes_and_bracket(self, name: str, m: int, d: int) -> None:
        algebra = make(name, m, d)
        assert algebra.generators.shape == (d, m, m)
        assert algebra.n_parameters == sum(p.numel() for p in algebra.parameters()) > 0
        assert algebra.cost(64) > 0
        a, b = torch.randn(3, d).double(), torch.randn(3, d).double()
        bracket = algebra.bracket(a, b)
        assert torch.allclose(bracket, -algebra.bracket(b, a))
        assert torch.allclose(algebra.bracket(a, a), torch.zeros(3, m, m).double(), atol=1e-12)
        assert 0 <= algebra.closure_error() <= 1 + 1e-9

    def test_empty_and_bad_rows(self, name: str, m: int, d: int) -> None:
        algebra = make(name, m, d)
        z, t = inputs(algebra)
        assert algebra.action(z[:0], t[:0]).shape == (0, m)
        clean = algebra.action(z, t)
        t[2] = torch.nan
        moved = algebra.action(z, t)
        rows = [0, 1, 3, 4, 5]
        assert torch.allclose(moved[rows], clean[rows])

    def test_half_precision_is_supported(self, name: str, m: int, d: int) -> None:
        algebra = make(name, m, d).float()
        z, t = (x.bfloat16() for x in inputs(algebra))
        moved = algebra.action(z, t)
        assert moved.dtype == torch.bfloat16
        assert torch.allclose(moved.float(), algebra.action(z.float(), t.float()), rtol=0.02, atol=0.02)


@pytest.mark.parametrize("name", ANY_SIZE)
def test_fresh_generators_have_a_norm_of_about_one(name: str) -> None:
    norms = torch.linalg.matrix_norm(make(name, 64, 4).generators.detach(), 2)
    assert 0.3 < float(norms.min()) <= float(norms.max()) < 3.0


def test_skew_preserves_lengths_and_commuting_commutes() -> None:
    z, t = inputs(make("skew", 9, 3), size=5)
    assert torch.allclose(make("skew", 9, 3).action(z, t).norm(dim=1), z.norm(dim=1))
    commuting = make("commuting", 9, 3)
    assert commuting.closure_error() == 0
    assert torch.allclose(commuting.bracket(t[:2], t[2:4]), torch.zeros(2, 9, 9).double(), atol=1e-10)
    assert isinstance(commuting, Commuting)
    basis = commuting.basis
    assert torch.allclose(basis @ basis.T, torch.eye(9).double())


def plane_rotations(m: int, d: int, frequencies: tuple[float, ...]) -> torch.Tensor:
    """(D, M, M) rotations of neighbouring dimensions, cycling through the frequencies; an odd last one is fixed."""
    expected = torch.zeros(d, m, m).double()
    for j in range(m // 2):
        f = frequencies[j % len(frequencies)]
        expected[:, 2 * j + 1, 2 * j], expected[:, 2 * j, 2 * j + 1] = f, -f
    return expected


@pytest.mark.parametrize("name", ["general", "skew", "commuting"])
@pytest.mark.parametrize(("m", "d"), [(1, 1), (2, 1), (7, 2), (24, 3), (33, 2)])
def test_frequencies_start_as_plane_rotations(name: str, m: int, d: int) -> None:
    frequencies = (1.0, 2.5, -3.0)
    algebra = make_algebra(name, m, d, frequencies=frequencies).double()
    assert torch.allclose(algebra.generators, plane_rotations(m, d, frequencies), atol=1e-6)
    z, t = inputs(algebra)
    expected = torch.stack(
        [torch.tensor(expm(torch.einsum("k,kij->ij", a, plane_rotations(m, d, frequencies)).numpy())) @ v
         for a, v in zip(t, z, strict=True)]
    )  # fmt: skip
    assert torch.allclose(algebra.action(z, t), expected, atol=1e-5)
    before = {name: value.clone() for name, value in algebra.state_dict().items()}
    algebra.reset_parameters()  # type: ignore[operator]
    assert all(torch.equal(value, before[name]) for name, value in algebra.state_dict().items())
    grads = torch.autograd.grad(algebra.action(z, t).square().mul(torch.rand(6, m)).sum(), list(algebra.parameters()))
    assert m == 1 or any(bool(g.any()) for g in grads)


@pytest.mark.parametrize("name", ["general", "skew", "commuting"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_integer_frequencies_have_period_one_turn(name: str, dtype: torch.dtype) -> None:
    algebra = make_algebra(name, 25, 1, frequencies=(1.0, 2.0, 3.0, 4.0)).to(dtype)
    z = torch.randn(9, 25, dtype=dtype, generator=torch.Generator().manual_seed(0))
    turn = torch.full((9, 1), 2 * math.pi, dtype=dtype)
    for _ in range(3):  # also before the estimates of norms have converged
        assert torch.allclose(algebra.action(z, turn), z, atol=2e-4 if dtype == torch.float32 else 1e-5)
    assert torch.allclose(algebra.action(z, turn / 2)[:, :2], -z[:, :2], atol=1e-4)
    assert not torch.allclose(algebra.action(z, turn / 2), z, atol=0.1)


@pytest.mark.parametrize("name", ANY_SIZE)
def test_without_frequencies_the_start_is_random(name: str) -> None:
    torch.manual_seed(3)
    plain = make_algebra(name, 8, 2)
    for empty in ((), None) if name in ("general", "skew", "commuting") else ():
        torch.manual_seed(3)
        other = make_algebra(name, 8, 2, frequencies=empty)
        assert torch.equal(plain.generators, other.generators)
    assert not torch.allclose(plain.generators, torch.zeros(2, 8, 8))


def test_closure_error_of_known_algebras() -> None:
    x = torch.zeros(3, 3, 3).double()
    for k, (i, j) in enumerate([(1, 2), (2, 0), (0, 1)]):
        x[k, j, i], x[k, i, j] = 1, -1
    assert closure_error(x) < 1e-12  # so(3) is closed
    assert closure_error(x[:2]) == pytest.approx(1)  # two of its generators generate the third


def test_invalid_settings_are_named() -> None:
    with pytest.raises(ValueError, match="did you mean 'skew'"):
        make_algebra("skw", 4, 2)
    with pytest.raises(ValueError, match="blocks of 3 do not divide the 8 dimensions"):
        make_algebra("block", 8, 2, block_size=3)
    for name in ("block", "low_rank"):
        with pytest.raises(ValueError, match=f"the algebra '{name}' has no setting 'frequencies'; it has scale, "):
            make_algebra(name, 8, 2, frequencies=(1.0,))
    with pytest.raises(ValueError, match="'general' has no setting 'rank'; it has scale, frequencies"):
        make_algebra("general", 8, 2, rank=2)
    with pytest.raises(ValueError, match="above the limit"):
        make("block", 8, 1).action(torch.ones(1, 8).double(), torch.full((1, 1), 1e6).double())
    with pytest.raises(ValueError, match="above the limit"):
        make("low_rank", 8, 1).action(torch.ones(1, 8).double(), torch.full((1, 1), 1e6).double())
