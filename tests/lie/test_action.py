"""The exponential action: against float64 matrix_exp, group properties, and bad input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import expm_multiply
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from lie_ssl import exp_action
from lie_ssl.lie import series
from lie_ssl.lie.action import Kind

Make = Callable[[int, int], Tensor]


def _normal(d: int, m: int) -> Tensor:
    return torch.randn(d, m, m, dtype=torch.float64)


FAMILIES: dict[str, Make] = {
    "general": _normal,
    "skew": lambda d, m: (a := _normal(d, m)) - a.mT,
    "negative definite": lambda d, m: -((a := _normal(d, m)) @ a.mT),
    "nilpotent": lambda d, m: _normal(d, m).triu(1),
    "defective": lambda d, m: (
        torch.randn(d, 1, 1, dtype=torch.float64) * torch.eye(m, dtype=torch.float64)
        + torch.diag_embed(torch.ones(d, m - 1, dtype=torch.float64), 1)
    ),
    "zero": lambda d, m: torch.zeros(d, m, m, dtype=torch.float64),
    "badly scaled": lambda d, m: _normal(d, m) * (s := 10 ** (4 * torch.rand(m, dtype=torch.float64) - 2))[:, None] / s,
}


def reference(generators: Tensor, t: Tensor, z: Tensor) -> Tensor:
    matrix = torch.einsum("bk,kij->bij", t.double(), generators.double())
    return (torch.linalg.matrix_exp(matrix) @ z.double()[:, :, None])[:, :, 0]


def problem(family: str, m: int, d: int, batch: int, norm: float) -> tuple[Tensor, Tensor, Tensor]:
    """Float64 generators, coordinates with |sum_k t_k L_k| = norm, and vectors."""
    torch.manual_seed(1000 * m + d)
    generators, t, z = FAMILIES[family](d, m), torch.randn(batch, d).double(), torch.randn(batch, m).double()
    size = torch.linalg.matrix_norm(torch.einsum("bk,kij->bij", t, generators), 2)
    return generators, torch.where(size > 0, norm / size, 1.0)[:, None] * t, z


def error(found: Tensor, expected: Tensor, z: Tensor) -> float:
    scale = torch.maximum(expected.norm(dim=1), 1e-3 * z.double().norm(dim=1))
    return float(((found.double() - expected).norm(dim=1) / scale).max())


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("norm", "limit"), [(0.3, 5e-7), (4.0, 5e-7), (50.0, 5e-6)])
@pytest.mark.parametrize(("m", "d"), [(1, 1), (2, 20), (7, 3), (64, 4), (130, 1), (129, 5), (300, 2)])
def test_accuracy(family: str, norm: float, limit: float, m: int, d: int) -> None:
    generators, t, z = problem(family, m, d, 3, norm)
    loose = 30 if family == "badly scaled" else 1
    kinds: tuple[Kind, ...] = ("general", "skew") if family in ("skew", "zero") else ("general",)
    single = generators.float(), t.float(), z.float()
    for kind in kinds:
        assert error(exp_action(*single, kind=kind), reference(*single), z) <= loose * limit
        assert error(exp_action(generators, t, z, kind=kind), reference(generators, t, z), z) <= loose * 1e-12


def test_against_scipy() -> None:
    generators, t, z = problem("general", 40, 3, 5, 3.0)
    matrix = torch.einsum("bk,kij->bij", t, generators).numpy()
    expected = torch.stack([torch.from_numpy(expm_multiply(matrix[b], z[b].numpy())) for b in range(5)])
    assert error(exp_action(generators, t, z), expected, z) < 1e-12


@pytest.mark.parametrize("kind", ["general", "skew"])
@pytest.mark.parametrize(("m", "d", "norm"), [(1, 1, 1.0), (4, 3, 0.5), (5, 2, 7.0), (3, 1, 0.0)])
def test_gradients(kind: Kind, m: int, d: int, norm: float) -> None:
    generators, t, z = problem("skew" if kind == "skew" else "general", m, d, 3, norm)
    inputs = [x.requires_grad_() for x in (generators, t, z)]

    def function(generators: Tensor, t: Tensor, z: Tensor) -> Tensor:
        # Perturbed generators must stay skew for the Chebyshev series to be valid.
        skew = (generators - generators.mT) / 2 if kind == "skew" else generators
        return exp_action(skew, t, z, kind=kind)

    assert torch.autograd.gradcheck(function, inputs, atol=1e-6)
    assert torch.autograd.gradgradcheck(function, inputs, atol=1e-5)


@pytest.mark.parametrize("kind", ["general", "skew"])
def test_gradients_with_given_degree(kind: Kind) -> None:
    """The gradient is that of the polynomial itself, even if it is short."""
    generators, t, z = (x.requires_grad_() for x in problem("skew", 4, 2, 3, 1.5))
    norms = torch.full((2,), 3.0, dtype=torch.float64)
    options: dict[str, Any] = {"steps": 2, "degree": 3} if kind == "general" else {"degree": 24, "norms": norms}
    assert torch.autograd.gradcheck(lambda a, b, c: exp_action(a, b, c, kind=kind, **options), (generators, t, z))


def test_gradients_agree_with_matrix_exp_in_float32() -> None:
    generators, t, z = (x.float().requires_grad_() for x in problem("general", 150, 3, 6, 2.0))
    weights = torch.randn(6, 150)
    found = torch.autograd.grad((exp_action(generators, t, z) * weights).sum(), (generators, t, z))
    doubles = [x.detach().double().requires_grad_() for x in (generators, t, z)]
    expected = torch.autograd.grad((reference(*doubles) * weights).sum(), doubles)
    for a, b in zip(found, expected, strict=True):
        assert float((a.double() - b).norm() / b.norm()) < 2e-6


matrices = st.tuples(st.integers(1, 6), st.integers(0, 10_000), st.floats(-2, 2), st.floats(-2, 2))


@settings(max_examples=40)
@given(matrices)
def test_group_properties(case: tuple[int, int, float, float]) -> None:
    m, seed, a, b = case
    random = torch.Generator().manual_seed(seed)
    generator = torch.randn(1, m, m, generator=random, dtype=torch.float64)
    z = torch.randn(3, m, generator=random, dtype=torch.float64)
    basis = torch.linalg.qr(torch.randn(m, m, generator=random, dtype=torch.float64)).Q

    def move(x: Tensor, s: float, with_generator: Tensor = generator) -> Tensor:
        return exp_action(with_generator, torch.full((len(x), 1), s, dtype=torch.float64), x)

    assert torch.allclose(move(z, 0.0), z)
    assert torch.allclose(move(move(z, a), b), move(z, a + b), rtol=1e-9, atol=1e-9)
    assert torch.allclose(move(move(z, a), -a), z, rtol=1e-9, atol=1e-7)
    turned = (basis @ generator[0] @ basis.T)[None]
    assert torch.allclose(move(z @ basis.T, a, turned), move(z, a) @ basis.T, rtol=1e-9, atol=1e-8)
    skew = generator - generator.mT
    kept = exp_action(skew, torch.full((3, 1), a, dtype=torch.float64), z, kind="skew")
    assert torch.allclose(kept.norm(dim=1), z.norm(dim=1))


@pytest.mark.parametrize("kind", ["general", "skew"])
@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
@pytest.mark.parametrize("where", ["t", "z"])
def test_a_bad_row_does_not_affect_others(kind: Kind, bad: float, where: str) -> None:
    generators, t, z = problem("skew", 5, 2, 4, 1.0)
    clean = exp_action(generators, t, z, kind=kind)
    t, z = t.clone(), z.clone()
    (t if where == "t" else z)[1, 0] = bad
    generators.requires_grad_()
    moved = exp_action(generators, t.requires_grad_(), z.requires_grad_(), kind=kind)
    rows = [0, 2, 3]
    assert not torch.isfinite(moved[1]).any()
    assert torch.allclose(moved[rows], clean[rows])
    grads = torch.autograd.grad(moved.nansum(), (generators, t, z))
    alone = torch.autograd.grad(exp_action(generators, t[rows], z[rows], kind=kind).sum(), generators)
    assert all(torch.isfinite(g).all() for g in grads)
    assert torch.allclose(grads[0], alone[0])


def test_empty_batch_and_bfloat16() -> None:
    generators, t, z = problem("general", 5, 2, 4, 1.0)
    assert exp_action(generators, t[:0], z[:0]).shape == (0, 5)
    assert exp_action(generators - generators.mT, t[:0], z[:0], kind="skew").shape == (0, 5)
    half = [x.bfloat16() for x in (generators, t, z)]
    moved = exp_action(*half)
    assert moved.dtype == torch.bfloat16
    assert error(moved, reference(*half), z) < 5e-3  # only the output is rounded to 8 bits


def test_autocast_does_not_lower_the_precision() -> None:
    generators, t, z = (x.float() for x in problem("general", 150, 2, 4, 2.0))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        moved = exp_action(generators, t, z)
    assert moved.dtype == torch.float32
    assert error(moved, reference(generators, t, z), z) < 5e-7


def test_under_compile() -> None:
    generators, t, z = problem("general", 5, 2, 4, 1.0)
    compiled = torch.compile(lambda t, z: 2 * exp_action(generators, t, z) + 1, backend="eager")
    assert torch.allclose(compiled(t, z), 2 * exp_action(generators, t, z) + 1)


def test_under_vmap() -> None:
    generators, t, z = problem("general", 5, 2, 12, 1.0)
    t, z = t.view(3, 4, 2), z.view(3, 4, 5)
    expected = torch.stack([exp_action(generators, t[i], z[i]) for i in range(3)])
    over_batch = torch.func.vmap(lambda a, b: exp_action(generators, a, b))(t, z)
    assert torch.allclose(over_batch, expected)
    many = torch.stack([generators, 2 * generators, -generators])
    expected = torch.stack([exp_action(many[i], t[i], z[i]) for i in range(3)])
    assert torch.allclose(torch.func.vmap(exp_action)(many, t, z), expected)


def test_a_norm_above_the_limit_is_rejected() -> None:
    generators, t, z = problem("general", 5, 2, 4, 1e5)
    with pytest.raises(ValueError, match=r"reaches about 1.*e\+05, above the limit of 1000.*max_norm"):
        exp_action(generators, t, z)


@pytest.mark.parametrize(
    ("shapes", "options", "message"),
    [
        (((2, 3, 4), (5, 2), (5, 4)), {}, r"\(2, 3, 4\)"),
        (((2, 3, 3), (5, 1), (5, 3)), {}, r"t \(5, 1\)"),
        (((2, 3, 3), (4, 2), (5, 3)), {}, r"z \(5, 3\)"),
        (((2, 3, 3), (5, 2), (5, 3)), {"kind": "symmetric"}, "symmetric"),
        (((2, 3, 3), (5, 2), (5, 3)), {"degree": 0}, "degree is 0"),
        (((2, 3, 3), (5, 2), (5, 3)), {"norms": torch.ones(3)}, r"norms has the shape \(3,\)"),
    ],
)
def test_invalid_arguments_are_named(
    shapes: tuple[tuple[int, ...], ...], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        exp_action(*(torch.zeros(s) for s in shapes), **options)


def test_integers_are_rejected() -> None:
    with pytest.raises(TypeError, match="needs floats"):
        exp_action(torch.zeros(1, 2, 2), torch.zeros(1, 1, dtype=torch.int64), torch.zeros(1, 2))


def test_an_underestimated_norm_is_noticed() -> None:
    """Chebyshev polynomials explode outside their interval; the action retries with a larger one."""
    generators, t, z = problem("skew", 30, 1, 4, 10.0)
    small = torch.linalg.matrix_norm(generators, 2) * 0.7
    assert error(exp_action(generators, t, z, kind="skew", norms=small), reference(generators, t, z), z) < 1e-11


@pytest.mark.parametrize("rho", [0.5, 3.0, 20.0, 80.0])
def test_bessel_functions(rho: float) -> None:
    from scipy.special import jv

    found = series.bessel_j(torch.tensor(rho), 120)
    assert torch.allclose(found, torch.from_numpy(jv(range(121), rho)), atol=1e-14)


class _NoHostCopies(TorchDispatchMode):
    """Fails on anything that copies a value from the device to the host."""

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        assert "_local_scalar_dense" not in str(function), "a value was copied to the host"
        return function(*args, **(kwargs or {}))


def test_nothing_is_copied_to_the_host_if_steps_are_given() -> None:
    generators, t, z = (x.float().requires_grad_() for x in problem("skew", 130, 2, 4, 1.0))
    with _NoHostCopies():
        exp_action(generators, t, z, steps=2, degree=8).sum().backward()
    with _NoHostCopies(), pytest.raises(AssertionError, match="copied"):
        exp_action(generators, t, z)
