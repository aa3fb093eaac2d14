"""The two series behind the exponential action, with their exact adjoints.

Both build vectors w_0, w_1, ... where each is the product of M - mu with the previous one (Taylor, in several steps) or
follows from a three-term recurrence (Chebyshev, for skew M). M = sum_k t_k L_k is never formed: a product is one GEMM
with all generators and a weighted sum. The adjoint runs the recurrence backwards; the gradient of a generator is one
GEMM over all pairs (row of the adjoint, row of the series).

Shape letters: B batch, D generators, M embedding, K degree, S steps, R = S K stored products.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from lie_ssl.lie.products import apply, apply_adjoint, side_by_side


class Gradients(NamedTuple):
    """Gradients of the generators (D, M, M), the coordinates (B, D) and the vectors (B, M); None if not needed."""

    generators: Tensor | None
    t: Tensor | None
    z: Tensor | None


def outer_gradient(rows: Tensor, columns: Tensor, t: Tensor) -> Tensor:
    """(R, B, M) adjoint rows and (R, B, M) series rows -> sum over R and B of t_bk rows^T columns, (D, M, M)."""
    r, b, m = rows.shape
    right = columns.reshape(r * b, m)
    out = torch.empty(t.shape[1], m, m, dtype=rows.dtype, device=rows.device)
    for k in range(t.shape[1]):
        torch.mm((rows * t[:, k, None]).reshape(r * b, m).t(), right, out=out[k])
    return out


def taylor(
    generators: Tensor, t: Tensor, z: Tensor, mu: Tensor, steps: int, degree: int | None, tolerance: float
) -> tuple[Tensor, Tensor, int]:
    """Computes exp(M) z, the stored w_0 .. w_{K-1} of every step (S, K, B, M), and the degree used.

    Without a degree, the first step continues until two consecutive terms are below the tolerance in every row (one can
    be small by chance if M is not normal), and the other steps use the same degree. `mu` (B, 1) is the mean of M's
    diagonal: exp(M) = e^mu exp(M - mu), which preserves precision if the spectrum is far from zero.
    """
    h = 1.0 / steps
    growth = torch.exp(mu * h)
    kept: list[Tensor] = []
    v = z
    for _ in range(steps):
        w, total, small, k = v, v, 0, 0
        while k < degree if degree is not None else (small < 2 and k < 80):
            kept.append(w)
            k += 1
            w = (apply(generators, t, w) - mu * w).mul_(h / k)
            total = total + w
            if degree is None and k > 3:
                # Rows that shrink to almost zero need not be precise.
                scale = torch.maximum(total.norm(dim=1), 1e-3 * z.norm(dim=1))
                small = small + 1 if bool((w.norm(dim=1) <= tolerance * scale).all()) else 0
        degree = k
        v = total * growth
    shape = (steps, degree or 0, *z.shape)
    rows = torch.stack(kept).view(shape) if kept else z.new_empty(shape)
    return v, rows, degree or 0


def taylor_adjoint(
    generators: Tensor, t: Tensor, mu: Tensor, kept: Tensor, g: Tensor, needs: tuple[bool, bool, bool]
) -> Gradients:
    """The exact gradient of the polynomial that :func:`taylor` evaluates; `kept` (S, K, B, M)."""
    steps, degree = kept.shape[:2]
    h = 1.0 / steps
    growth = torch.exp(mu * h)
    transposed = side_by_side(generators)
    rows = torch.empty_like(kept) if needs[0] else None
    dt = torch.zeros_like(t) if needs[1] else None
    dmu = torch.zeros_like(mu)  # the effect of the shift on a truncated series: its last term
    for step in reversed(range(steps)):
        g = g * growth
        lam = g
        for k in range(degree, 0, -1):
            products, moved = apply_adjoint(transposed, t, lam)
            if dt is not None:
                dt.add_(torch.bmm(kept[step, k - 1][:, None, :], products.transpose(1, 2))[:, 0], alpha=h / k)
            if rows is not None:
                torch.mul(lam, h / k, out=rows[step, k - 1])
            shifted = moved - mu * lam
            if k == degree:
                dmu.add_((shifted * kept[step, k - 1]).sum(dim=1, keepdim=True), alpha=h * h / k)
            lam = torch.add(g, shifted, alpha=h / k)
        g = lam
    dl = None if rows is None else outer_gradient(rows.flatten(0, 1), kept.flatten(0, 1), t)
    if dl is not None:
        dl.diagonal(dim1=1, dim2=2).add_((t * dmu).sum(dim=0)[:, None] / g.shape[1])
    if dt is not None:
        dt.add_(dmu * generators.diagonal(dim1=1, dim2=2).mean(dim=1))
    return Gradients(dl, dt, g if needs[2] else None)


def bessel_j(rho: Tensor, degree: int) -> Tensor:
    """(degree + 1,) J_0(rho) .. J_degree(rho) for a scalar rho > 0, float64, by Miller's downward recurrence.

    Upward recurrence is unstable beyond k = rho. Runs on rho's device without reading its value.
    """
    rho = rho.double()
    start = degree + 30 + (degree + 30) % 2
    if rho.device.type == "cpu":  # Python numbers are ten times as fast on the CPU
        return torch.tensor(_miller(float(rho), start)[: degree + 1], dtype=torch.float64)
    following, current = torch.zeros_like(rho), torch.full_like(rho, 1e-280)
    values = [current]
    for k in range(start, 0, -1):
        following, current = current, (2 * k / rho) * current - following
        values.append(current)
    found = torch.stack(values[::-1])  # k = 0 .. start, up to one common factor
    norm = found[0] + 2 * found[2::2].sum()  # J_0 + 2 J_2 + 2 J_4 + ... = 1
    return (found / norm)[: degree + 1]


def _miller(rho: float, start: int) -> list[float]:
    following, current, values = 0.0, 1e-280, [1e-280]
    for k in range(start, 0, -1):
        following, current = current, (2 * k / rho) * current - following
        values.append(current)
    values.reverse()
    norm = values[0] + 2 * sum(values[2::2])
    return [v / norm for v in values]


def chebyshev(generators: Tensor, t: Tensor, z: Tensor, rho: Tensor, degree: int) -> tuple[Tensor, Tensor]:
    """Computes exp(M) z for skew M with norm at most rho, and the stored phi_0 .. phi_{K-1}, (K, B, M).

    phi_k is the k-th Chebyshev polynomial of M / (i rho) applied to z, times i^k, which makes it real.
    """
    weights = bessel_j(rho, degree).to(z.dtype)
    inverse = (1.0 / rho).to(z.dtype)
    phis = [z]
    total = weights[0] * z
    for k in range(1, degree + 1):
        moved = apply(generators, t, phis[-1]) * inverse
        phi = moved if k == 1 else 2 * moved + phis[-2]
        total = total + (2 * weights[k]) * phi
        phis.append(phi)
    return total, torch.stack(phis[:-1])


def chebyshev_adjoint(
    generators: Tensor, t: Tensor, rho: Tensor, kept: Tensor, g: Tensor, needs: tuple[bool, bool, bool]
) -> Gradients:
    """The exact gradient of the polynomial that :func:`chebyshev` evaluates; `kept` (K, B, M)."""
    degree = kept.shape[0]
    weights = bessel_j(rho, degree).to(g.dtype)
    inverse = (1.0 / rho).to(g.dtype)
    transposed = side_by_side(generators)
    rows = torch.empty_like(kept) if needs[0] else None
    dt = torch.zeros_like(t) if needs[1] else None
    following, lam = torch.zeros_like(g), (2 * weights[degree]) * g
    for k in range(degree, 0, -1):  # lam is the gradient of phi_k, which came from phi_{k-1} and phi_{k-2}
        products, moved = apply_adjoint(transposed, t, lam)
        factor = inverse * (2 if k > 1 else 1)
        if dt is not None:
            dt.add_(torch.bmm(kept[k - 1][:, None, :], products.transpose(1, 2))[:, 0] * factor)
        if rows is not None:
            torch.mul(lam, factor, out=rows[k - 1])
        own = weights[0] * g if k == 1 else (2 * weights[k - 1]) * g
        following, lam = lam, own + factor * moved + following
    dl = None if rows is None else outer_gradient(rows, kept, t)
    return Gradients(dl, dt, lam if needs[2] else None)
