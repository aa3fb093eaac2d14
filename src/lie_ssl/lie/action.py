"""exp(sum_k t_k L_k) z for a batch, without ever forming an M x M exponential.

Shape letters: B batch, D generators, M embedding.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, TypeVar

import torch
from torch import Tensor

from lie_ssl.lie import series
from lie_ssl.lie.norms import default_tolerance, largest_norm, plan, spectral_norms, traces

Kind = Literal["general", "skew"]
Function = TypeVar("Function", bound=Callable[..., Any])
# Small matrices are computed in float64: it is cheap there, and float32's rounding errors do not average out in sums of
# few terms.
SMALL = 128
# Any bound of the norm works for Chebyshev's interval; below this one, the Bessel recurrence would overflow.
SMALLEST_RHO = 0.5


def _uncompiled(function: Function) -> Function:
    """`torch.compiler.disable`, which does not tell type checkers that the function keeps its signature."""
    disabled: Function = torch.compiler.disable(function)
    return disabled


@_uncompiled  # the number of products depends on the values, and a compiler cannot speed up a GEMM
def exp_action(
    generators: Tensor,
    t: Tensor,
    z: Tensor,
    *,
    kind: Kind = "general",
    tol: float | None = None,
    degree: int | None = None,
    steps: int | None = None,
    norms: Tensor | None = None,
) -> Tensor:
    """Computes z_moved_b = exp(sum_k t_bk L_k) z_b.

    Args:
        generators: (D, M, M), a basis of the algebra.
        t: (B, D), coordinates.
        z: (B, M), the vectors to move.
        kind: "skew" requires L_k^T = -L_k and uses a Chebyshev series, about twice as fast at norm 10.
        tol: Relative error of the series; by default a quarter of the dtype's rounding error.
        degree: Products per step; by default as many as the values need.
        steps: Number of steps of the move (general only); by default one for every 2 of the norm. With `steps` and
            `degree` (for skew: `degree` and `norms`) given, nothing is copied from the device to the host.
        norms: (D,) upper bounds of the spectral norms of the generators; estimated by default.

    Returns:
        (B, M), in the dtype of z, with gradients for all three. Half precision is computed in float32. A non-finite row
        of t or z gives a non-finite row, with zero gradients.

    Example:
        >>> L = torch.tensor([[[0.0, -1.0], [1.0, 0.0]]])
        >>> exp_action(L, torch.tensor([[torch.pi / 2]]), torch.tensor([[1.0, 0.0]])).round(decimals=4)
        tensor([[-0., 1.]])
    """
    _check(generators, t, z, kind, degree, steps, norms)
    dtype = torch.promote_types(
        torch.promote_types(generators.dtype, t.dtype), torch.promote_types(z.dtype, torch.float32)
    )
    tol = default_tolerance(dtype) if tol is None else tol
    if z.shape[1] <= SMALL:
        dtype = torch.float64
    with torch.autocast(z.device.type, enabled=False):
        moved = _ExpAction.apply(generators.to(dtype), t.to(dtype), z.to(dtype), kind, tol, degree, steps, norms)[0]  # type: ignore[no-untyped-call]
    out: Tensor = moved.to(z.dtype)
    return out


class _ExpAction(torch.autograd.Function):
    """The second output holds the rows of the series for the backward pass; it is not differentiable."""

    @staticmethod
    def forward(
        generators: Tensor, t: Tensor, z: Tensor, kind: Kind, tol: float, degree: int | None, steps: int | None,
        norms: Tensor | None,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
        good = (torch.isfinite(t).all(dim=1) & torch.isfinite(z).all(dim=1))[:, None]
        safe_t, safe_z = torch.where(good, t, 0), torch.where(good, z, 0)
        run = _skew if kind == "skew" else _general
        moved, kept, constant = run(generators, safe_t, safe_z, tol, degree, steps, norms)
        return torch.where(good, moved, torch.nan), kept, constant, good

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor, Tensor, Tensor]) -> None:
        generators, t, z, kind = inputs[:4]
        _, kept, constant, good = output
        ctx.mark_non_differentiable(kept, constant, good)
        ctx.save_for_backward(generators, t, z, kept, constant, good)
        ctx.kind = kind

    @staticmethod
    def backward(ctx: Any, g: Tensor, *_: Tensor) -> tuple[Tensor | None, ...]:
        generators, t, z, kept, constant, good = ctx.saved_tensors
        needs = tuple(ctx.needs_input_grad[:3])
        if torch.is_grad_enabled():  # second derivatives are wanted
            found = _differentiable_gradient(ctx.kind, generators, t, z, kept, constant, good, g, needs)
            return (*found, None, None, None, None, None)
        t, g = torch.where(good, t, 0), torch.where(good, g, 0)
        adjoint = series.chebyshev_adjoint if ctx.kind == "skew" else series.taylor_adjoint
        if kept.numel() == 0:  # an empty batch
            grads = series.Gradients(torch.zeros_like(generators), torch.zeros_like(t), g)
        else:
            grads = adjoint(generators, t, constant, kept, g, needs)
        kept_grads = (x if n else None for x, n in zip(grads, needs, strict=True))
        return (*kept_grads, None, None, None, None, None)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *arguments: Any) -> tuple[Any, Any]:
        """An outer dimension of t and z is merged with the batch; different generators are processed one by one."""
        tensors = [a if d is None else a.movedim(d, 0) for a, d in zip(arguments[:3], in_dims[:3], strict=True)]
        if arguments[7] is not None and in_dims[7] is not None:
            raise ValueError("exp_action under vmap needs the same `norms` for all")
        size = info.batch_size
        t, z = (
            x if d is not None else x.expand(size, *x.shape) for x, d in zip(tensors[1:], in_dims[1:3], strict=True)
        )
        if in_dims[0] is None:
            moved = exp_action(
                tensors[0], t.flatten(0, 1), z.flatten(0, 1), kind=arguments[3], tol=arguments[4], degree=arguments[5],
                steps=arguments[6], norms=arguments[7],
            ).unflatten(0, (size, -1))  # fmt: skip
        else:
            moved = torch.stack(
                [
                    exp_action(
                        tensors[0][i], t[i], z[i], kind=arguments[3], tol=arguments[4], degree=arguments[5],
                        steps=arguments[6], norms=arguments[7],
                    )
                    for i in range(size)
                ]
            )  # fmt: skip
        nothing = moved.new_empty(0)
        return (moved, nothing, nothing, nothing), (0, None, None, None)


def _general(
    generators: Tensor, t: Tensor, z: Tensor, tolerance: float, degree: int | None, steps: int | None,
    norms: Tensor | None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    mu = (t @ traces(generators))[:, None]
    if steps is None:
        found = spectral_norms(generators) if norms is None else norms
        steps = plan(largest_norm(generators, t, found), tolerance)[0]
    moved, kept, _ = series.taylor(generators, t, z, mu, steps, degree, tolerance)
    return moved, kept, mu


def _skew(
    generators: Tensor, t: Tensor, z: Tensor, tolerance: float, degree: int | None, steps: int | None,
    norms: Tensor | None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    given = norms is not None and degree is not None
    found = spectral_norms(generators) if norms is None else norms.to(t.dtype)
    if given and t.shape[0] > 0:
        rho = (t.abs() @ found).max().double().clamp_min(SMALLEST_RHO)
        moved, kept = series.chebyshev(generators, t, z, rho, int(degree or 1))
        return moved, kept, rho
    bound = largest_norm(generators, t, found)
    bound = max(bound, SMALLEST_RHO)
    while True:
        rho = torch.tensor(bound, dtype=torch.float64, device=z.device)
        moved, kept = series.chebyshev(generators, t, z, rho, degree or chebyshev_degree(bound, tolerance))
        # With a correct bound, no phi is longer than z; with one that is too small, they diverge.
        if bool((kept.norm(dim=2) <= 1.2 * z.norm(dim=1) + 1e-30).all()):
            return moved, kept, rho
        bound *= 1.25


def chebyshev_degree(rho: float, tolerance: float) -> int:
    """The smallest K such that all higher coefficients are below `tolerance`."""
    most = math.ceil(rho + 12 * max(rho, 1.0) ** (1 / 3) + 40)
    tail = series.bessel_j(torch.tensor(rho), most).abs().flip(0).cumsum(0).flip(0)
    small = (2 * tail <= tolerance).nonzero()
    return max(1, int(small[0])) if len(small) else most


def _differentiable_gradient(
    kind: Kind, generators: Tensor, t: Tensor, z: Tensor, kept: Tensor, constant: Tensor, good: Tensor, g: Tensor,
    needs: tuple[bool, ...],
) -> tuple[Tensor | None, ...]:  # fmt: skip
    """The slow path: the same series with plain autograd, for second derivatives."""
    with torch.enable_grad():
        # The gradient flows through views, so that the saved tensors stay unchanged.
        inputs = [x.view_as(x) for x in (generators, t, z)]
        safe_t, safe_z = torch.where(good, inputs[1], 0), torch.where(good, inputs[2], 0)
        moved = _plain(kind, inputs[0], safe_t, safe_z, kept, constant)
        wanted = [x for x, n in zip(inputs, needs, strict=True) if n]
        found = iter(torch.autograd.grad(moved, wanted, torch.where(good, g, 0), create_graph=True, allow_unused=True))
    return tuple(next(found) if n else None for n in needs)


def _plain(kind: Kind, generators: Tensor, t: Tensor, z: Tensor, kept: Tensor, constant: Tensor) -> Tensor:
    matrix = torch.einsum("bk,kij->bij", t, generators)
    if kind == "skew":
        weights = series.bessel_j(constant, kept.shape[0]).to(z.dtype)
        before, phi, total = z, z, weights[0] * z
        for k in range(1, kept.shape[0] + 1):
            moved = torch.einsum("bij,bj->bi", matrix, phi) / constant.to(z.dtype)
            before, phi = phi, moved if k == 1 else 2 * moved + before
            total = total + 2 * weights[k] * phi
        return total
    steps, degree = kept.shape[:2]
    constant = matrix.diagonal(dim1=1, dim2=2).mean(dim=1, keepdim=True)
    matrix = matrix - constant[:, :, None] * torch.eye(z.shape[1], dtype=z.dtype, device=z.device)
    v = z
    for _ in range(steps):
        w, total = v, v
        for k in range(1, degree + 1):
            w = torch.einsum("bij,bj->bi", matrix, w) / (steps * k)
            total = total + w
        v = total * torch.exp(constant / steps)
    return v


def _check(
    generators: Tensor, t: Tensor, z: Tensor, kind: str, degree: int | None, steps: int | None, norms: Tensor | None
) -> None:
    shapes = f"generators {tuple(generators.shape)}, t {tuple(t.shape)}, z {tuple(z.shape)}"
    fits = (
        generators.ndim == 3
        and t.ndim == z.ndim == 2
        and generators.shape[1] == generators.shape[2] == z.shape[1]
        and t.shape == (z.shape[0], generators.shape[0])
    )
    if not fits:
        raise ValueError(f"exp_action needs generators (D, M, M), t (B, D) and z (B, M), but got {shapes}")
    for name, x in (("generators", generators), ("t", t), ("z", z)):
        if not x.is_floating_point():
            raise TypeError(f"exp_action needs floats, but {name} is {x.dtype}; convert it to torch.float32")
        if x.device != z.device:
            raise ValueError(f"{name} is on {x.device}, but z is on {z.device}; move one of them")
    if kind not in ("general", "skew"):
        raise ValueError(f"kind is {kind!r}, but it must be 'general' or 'skew'")
    if (degree is not None and degree < 1) or (steps is not None and steps < 1):
        raise ValueError(f"degree is {degree} and steps {steps}, but they must be 1 or more")
    if norms is not None and norms.shape != generators.shape[:1]:
        raise ValueError(f"norms has the shape {tuple(norms.shape)}, but there are {generators.shape[0]} generators")
