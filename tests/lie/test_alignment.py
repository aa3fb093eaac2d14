"""Reading moves: alignment against brute force and SciPy, its properties and its gradients."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from torch import Tensor, nn
from torch.func import functional_call

from lie_ssl.lie import Alignment, LieLoss, LieOperator
from lie_ssl.lie.algebras.commuting import Commuting

PI = math.pi


def make(dim: int = 12, seed: int = 0, **given: Any) -> LieOperator:
    """Rotations of planes with the speeds 1, 2, 3, unless told otherwise."""
    torch.manual_seed(seed)
    usual: dict[str, Any] = {"algebra": "commuting", "sees": "linear", "frequencies": (1, 2, 3)}
    return LieOperator(dim, given.pop("n_generators", 1), **usual | given).double()


def embeddings(rows: int = 6, dim: int = 12, seed: int = 0) -> Tensor:
    return torch.randn(rows, dim, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def learned(**given: Any) -> LieOperator:
    """Speeds that are not whole, all different."""
    operator = make(**given)
    with torch.no_grad():
        for algebra in operator.algebras:
            algebra.get_parameter("speed").add_(0.3 * torch.randn(algebra.get_parameter("speed").shape))
    return operator


def with_growth(**given: Any) -> LieOperator:
    operator = learned(**given)
    with torch.no_grad():
        operator.algebras[0].get_parameter("growth").uniform_(-0.2, 0.2)
        operator.algebras[0].get_parameter("basis_weight").normal_(std=0.3)
    return operator


def with_basis(**given: Any) -> LieOperator:
    operator = make(**given)
    with torch.no_grad():
        operator.algebras[0].get_parameter("basis_weight").normal_(std=0.3)
    return operator


def centred(**given: Any) -> LieOperator:
    operator = make(centred=True, standardised=True, **given)
    operator.centre.normal_()
    operator.spread.uniform_(0.5, 2)
    return operator


OPERATORS: dict[str, Callable[..., LieOperator]] = {
    "integer": make,
    "speed": lambda **k: make(normalise="speed", **k),
    "plane": lambda **k: make(normalise="plane", **k),
    "odd": lambda **k: make(dim=13, normalise="speed", **k),
    "fixed": lambda **k: make(dim=16, fixed=4, **k),
    "basis": with_basis,
    "centred": centred,
    "learned": learned,
    "learned_plane": lambda **k: learned(normalise="plane", **k),
    "growth": with_growth,
    "skew": lambda **k: make(algebra="skew", **k),
    "general": lambda **k: make(algebra="general", frequencies=(), **k),
    "block": lambda **k: make(algebra="block", frequencies=(), **k),
    "low_rank": lambda **k: make(algebra="low_rank", frequencies=(), **k),
}
PERIODIC = ("integer", "speed", "plane", "odd", "fixed", "basis", "centred")


def distances(operator: LieOperator, z: Tensor, z_next: Tensor, times: Tensor) -> Tensor:
    """|x(t) - y|^2, (B, T), by moving z with the operator itself."""
    z, z_next = operator.normalise(z), operator.normalise(z_next)
    with torch.no_grad():
        gap = operator.orbit(z, torch.ones(1).double(), times) - z_next
    gap = gap[:, :, operator.fixed :]
    if operator.centred:
        gap = gap / operator.spread
    if operator.unit_norm is not None and gap.shape[2] % 2:
        gap = gap[:, :, :-1]
    return gap.square().sum(dim=2).T


def reference(operator: LieOperator, z: Tensor, z_next: Tensor, limit: float = PI) -> tuple[list[float], list[float]]:
    """The t of the smallest distance and that distance, row by row: a fine grid, then SciPy's bounded search."""
    grid = torch.linspace(-limit, limit, 2001).double()
    values = distances(operator, z, z_next, grid)
    best, least = [], []
    for row, start in enumerate(values.argmin(dim=1)):

        def distance(t: float, row: int = row) -> float:
            return float(distances(operator, z[row : row + 1], z_next[row : row + 1], torch.tensor([t]).double()))

        cell = 2 * limit / 2000
        low, high = float(grid[start]) - cell, float(grid[start]) + cell
        found = minimize_scalar(
            distance, bounds=(max(low, -limit), min(high, limit)), method="bounded", options={"xatol": 1e-10}
        )
        best.append(float(found.x))
        least.append(float(found.fun))
    return best, least


def wrapped(t: Tensor) -> Tensor:
    """|t| modulo a full turn."""
    return (torch.remainder(t + PI, 2 * PI) - PI).abs()


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("noise", [0.0, 0.5, 100.0])
def test_it_finds_what_brute_force_finds(name: str, noise: float) -> None:
    operator = OPERATORS[name]()
    z = embeddings(8, operator.dim)
    with torch.no_grad():
        z_next = operator(z, 6 * torch.rand(8, 1).double() - 3) + noise * embeddings(8, operator.dim, seed=1)
        found = operator.align(z, z_next)
    best, least = reference(operator, z, z_next)
    own = torch.cat([distances(operator, z[i : i + 1], z_next[i : i + 1], found.t[i : i + 1])[:, 0] for i in range(8)])
    assert (own <= torch.tensor(least, dtype=torch.float64) * (1 + 1e-9) + 1e-9).all()
    difference = found.t - torch.tensor(best, dtype=torch.float64)
    assert (wrapped(difference) if name in PERIODIC else difference.abs()).max() < 1e-4
    assert (found.second_error >= found.error - 1e-9).all() or name in ("growth", "general", "block", "low_rank")


@pytest.mark.parametrize("name", OPERATORS)
def test_the_error_is_that_of_the_loss(name: str) -> None:
    operator = OPERATORS[name]().eval()
    z, z_next = embeddings(5, operator.dim), embeddings(5, operator.dim, seed=1)
    found = operator.align(z, z_next)
    loss = LieLoss(operator, relative=True, lie=0, coordinates=0).double().eval()
    for t, error in ((found.t, found.error), (found.second, found.second_error)):
        for row in range(5):
            if t[row].isfinite():
                terms = loss(z[row : row + 1], z_next[row : row + 1], t[row : row + 1].detach())
                assert error[row].item() == pytest.approx(terms.euclidean.item(), abs=1e-9)


@given(seed=st.integers(0, 10**6), t=st.floats(-PI, PI), mode=st.sampled_from([None, "speed", "plane"]))
@settings(max_examples=60, deadline=None)
def test_a_move_is_read_back(seed: int, t: float, mode: Any) -> None:
    operator = make(normalise=mode)
    z = embeddings(3, seed=seed)
    found = operator.align(z, operator(z, torch.full((3, 1), t).double()))
    assert wrapped(found.t - t).max() < 1e-6
    assert found.error.max() < 1e-12
    assert (found.t >= -PI).all()
    assert (found.t < PI).all()


@given(seed=st.integers(0, 10**6), a=st.floats(-PI, PI), b=st.floats(-PI, PI))
@settings(max_examples=60, deadline=None)
def test_aligning_moved_embeddings_shifts_t(seed: int, a: float, b: float) -> None:
    operator = make(normalise="speed")
    z, z_next = embeddings(3, seed=seed), embeddings(3, seed=seed + 1)
    before = operator.align(z, z_next)
    moved = (operator(x, torch.full((3, 1), s).double()) for x, s in ((z, a), (z_next, b)))
    after = operator.align(*moved)
    assert torch.allclose(after.error, before.error, atol=1e-9)
    clear = before.second_error > before.error + 1e-6  # not two equally good ones
    assert (wrapped(after.t - before.t - (b - a))[clear] < 1e-5).all()


@given(seed=st.integers(0, 10**6), noise=st.sampled_from([0.0, 0.3]))
@settings(max_examples=40, deadline=None)
def test_a_symmetry_is_reported(seed: int, noise: float) -> None:
    """Only even speeds: half a turn changes nothing."""
    operator = make(frequencies=(2, 4))
    z = embeddings(3, seed=seed)
    z_next = operator(z, torch.full((3, 1), 0.4).double()) + noise * embeddings(3, seed=seed + 1)
    found = operator.align(z, z_next)
    assert torch.allclose(wrapped(found.second - found.t), torch.full((3,), PI, dtype=torch.float64), atol=1e-6)
    assert torch.allclose(found.second_error, found.error, atol=1e-12)
    half = operator.align(z, z_next, limit=PI / 2)  # the range is a circle here, too
    assert torch.allclose(half.error, found.error, atol=1e-12)
    assert (half.second_error > half.error + 1e-9).all()


def test_without_a_second_minimum_it_is_nan() -> None:
    operator = make(frequencies=(1,))
    found = operator.align(embeddings(), embeddings(seed=1))
    assert found.second.isnan().all()
    assert found.second_error.isinf().all()
    sum(x.sum() for x in (found.t, found.error)).backward()  # type: ignore[union-attr]
    speed = operator.algebras[0].get_parameter("speed")
    assert speed.grad is not None
    assert speed.grad.isfinite().all()


def test_an_interval_has_ends() -> None:
    """A move beyond the limit: the nearest allowed t, with no gradient."""
    operator = make(frequencies=(0.5,))
    z = embeddings().requires_grad_()
    found = operator.align(z, operator(z.detach(), torch.full((6, 1), 1.2).double()), limit=1.0)
    assert torch.allclose(found.t, torch.ones(6).double(), atol=1e-12)
    assert not torch.autograd.grad(found.t.sum(), z, retain_graph=True)[0].any()
    assert torch.autograd.grad(found.error.sum(), z)[0].any()


@pytest.mark.parametrize("name", OPERATORS)
def test_gradients(name: str) -> None:
    """Those of t and both errors, with respect to both embeddings."""
    operator = OPERATORS[name]()
    z = embeddings(3, operator.dim)
    with torch.no_grad():
        z_next = operator(z, torch.rand(3, 1).double()) + 0.3 * embeddings(3, operator.dim, seed=1)

    def read(first: Tensor, second: Tensor) -> tuple[Tensor, ...]:
        found = operator.align(first, second)
        known = found.second.isfinite()
        return found.t, found.error, found.second[known], found.second_error[known]

    assert torch.autograd.gradcheck(
        read, (z.requires_grad_(), z_next.requires_grad_()), atol=1e-5, rtol=1e-3, fast_mode=True
    )


class Reader(nn.Module):
    """`align` as a forward pass, so that parameters can be given."""

    def __init__(self, operator: LieOperator) -> None:
        super().__init__()
        self.operator = operator

    def forward(self, z: Tensor, z_next: Tensor) -> Alignment:
        return self.operator.align(z, z_next)


@pytest.mark.parametrize("name", ["learned", "learned_plane", "growth"])
def test_gradients_of_parameters(name: str) -> None:
    operator = OPERATORS[name]()
    z = embeddings(3)
    with torch.no_grad():
        z_next = operator(z, torch.rand(3, 1).double()) + 0.3 * embeddings(3, seed=1)
    names = [f"operator.{name}" for name, _ in operator.named_parameters()]

    def read(*values: Tensor) -> tuple[Tensor, Tensor]:
        found = functional_call(Reader(operator), dict(zip(names, values, strict=True)), (z, z_next))
        return found.t, found.error

    values = [p.detach().clone().requires_grad_() for p in operator.parameters()]
    assert torch.autograd.gradcheck(read, values, atol=1e-5, rtol=1e-3, fast_mode=True)


@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("normalise", [None, "speed"])
def test_several_factors(split: bool, normalise: Any) -> None:
    operator = make(22, n_generators=(1, 1), fixed=2, split_factors=split, normalise=normalise)
    z, t = embeddings(5, 22), 2 * torch.rand(5, 2).double() - 1
    for factor in range(2):
        only = torch.zeros_like(t)
        only[:, factor] = t[:, factor]
        assert torch.allclose(operator.align(z, operator(z, only), factor).t, t[:, factor], atol=1e-6)
        if split:  # what the other factor does is not seen
            found = operator.align(z, operator(z, t), factor)
            assert torch.allclose(found.t, t[:, factor], atol=1e-6)
            assert found.error.max() < 1e-12


def test_other_factors_may_have_several_generators() -> None:
    operator = LieOperator(12, (2, 1), algebra="skew", split_factors=True).double()
    z = embeddings()
    t = torch.tensor([[0.0, 0.0, 0.7]]).double().expand(6, 3)
    assert torch.allclose(operator.align(z, operator(z, t), 1).t, t[:, 2], atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("name", ["speed", "learned", "growth", "skew", "general", "low_rank"])
def test_fewer_digits(name: str, dtype: torch.dtype) -> None:
    operator = OPERATORS[name]()
    z = embeddings()
    with torch.no_grad():
        z_next = operator(z, torch.rand(6, 1).double()) + 0.1 * embeddings(seed=1)
        exact = operator.align(z, z_next)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            found = operator.float().align(z.to(dtype), z_next.to(dtype))
    assert found.t.dtype == dtype
    assert torch.allclose(found.t.double(), exact.t, atol=1e-5 if dtype == torch.float32 else 0.05)


@pytest.mark.parametrize("name", ["speed", "integer", "growth", "general"])
def test_empty_zero_and_infinite_rows(name: str) -> None:
    operator = OPERATORS[name]()
    assert all(x.shape == (0,) for x in operator.align(torch.empty(0, 12).double(), torch.empty(0, 12).double()))
    z, z_next = embeddings(4), embeddings(4, seed=1)
    with torch.no_grad():
        alone = operator.align(z[3:], z_next[3:])
    z[0], z[1], z_next[2] = 0, torch.nan, torch.inf
    found = operator.align(z.requires_grad_(), z_next)
    assert found.t[0] == 0
    assert found.error[0].item() == pytest.approx(0.5 if name == "speed" else 1)
    assert all(x[1:3].isnan().all() for x in found)
    assert all(torch.allclose(a[3], b[0], equal_nan=True) for a, b in zip(found, alone, strict=True))
    (found.t[[0, 3]].sum() + found.error[[0, 3]].sum()).backward()
    assert z.grad is not None
    assert all(x.grad.isfinite().all() for x in (z, *operator.parameters()) if x.grad is not None)


def test_a_row_does_not_depend_on_the_others() -> None:
    operator = make(normalise="speed")
    z, z_next = embeddings(30), embeddings(30, seed=1)
    with torch.no_grad():
        both = operator.align(z, z_next)
        alone = [operator.align(z[i : i + 1], z_next[i : i + 1]) for i in range(30)]
    for got, one_by_one in zip(both, zip(*alone, strict=True), strict=True):
        assert torch.allclose(got, torch.cat(one_by_one), atol=1e-7, equal_nan=True)


def test_the_whole_and_the_merged_planes_agree() -> None:
    """With gradients to the speeds every plane is separate; without them planes of one speed are added."""
    operator = make(48, frequencies=(1, 2, 3, 4), normalise="speed")
    z, z_next = embeddings(20, 48), embeddings(20, 48, seed=1)
    with torch.no_grad():
        merged = operator.align(z, z_next)
    whole = operator.align(z, z_next)
    assert all(torch.allclose(a, b, equal_nan=True) for a, b in zip(merged, whole, strict=True))
    assert isinstance(operator.algebras[0], Commuting)


Z = torch.ones(3, 12)


@pytest.mark.parametrize(
    ("operator", "arguments", "kind", "message"),
    [
        ({}, (Z[:, :9], Z), ValueError, r"^z has the shape \(3, 9\), but it must be \(B, 12\)"),
        ({}, (Z, Z[0]), ValueError, r"^z_next has the shape \(12,\)"),
        ({}, (Z, Z[:2]), ValueError, "z has 3 rows and z_next 2"),
        ({}, (Z.long(), Z), TypeError, r"^z is torch\.int64"),
        ({}, (Z, Z.double()), TypeError, r"^z_next is torch\.float64, but the operator is torch\.float32"),
        ({}, (Z, Z.to("meta")), ValueError, "^z_next is on meta, but the operator is on cpu"),
        ({}, (Z, Z, 1), ValueError, "factor is 1, but it must be 0 to 0"),
        ({"n_generators": (1, 1)}, (Z, Z), ValueError, "the operator has 2 factors; give the index"),
        ({"n_generators": 2, "sees": "pair", "algebra": "skew"}, (Z, Z), ValueError, "factor 0 has 2"),
        ({"action": "identity"}, (Z, Z), ValueError, "align needs a group, but the action is 'identity'"),
        ({"frequencies": (1000.0,)}, (Z, Z), ValueError, r"\|t . L\| reaches about 3.14e\+03"),
        ({"frequencies": (float("nan"),)}, (Z, Z), ValueError, r"\|t . L\| reaches about nan"),
    ],
)
def test_invalid_arguments_are_named(operator: Any, arguments: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        make(**operator).float().align(*arguments)


@pytest.mark.parametrize("limit", [0.0, -1.0, math.inf, math.nan])
def test_an_invalid_limit_is_named(limit: float) -> None:
    with pytest.raises(ValueError, match="limit is"):
        make().align(Z.double(), Z.double(), limit=limit)


def test_the_result_is_a_named_tuple() -> None:
    assert Alignment._fields == ("t", "error", "second", "second_error")
    assert np.isfinite(make().align(Z.double(), Z.double()).t.detach().numpy()).all()
