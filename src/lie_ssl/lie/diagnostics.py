"""Diagnostics of an operator: whether it is a group action, and whether it moves anything.

Shape letters: B batch, D generators, M embedding.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import torch
from torch import Tensor

from lie_ssl.lie.algebras import closure_error, commutators
from lie_ssl.lie.operator import LieOperator

# An operator that moves less than this share of the way from z to z^g has collapsed; above this norm, it explodes.
STANDS_STILL = 0.02
EXPLODES = 50.0


@dataclass(frozen=True)
class Diagnostics:
    """Diagnostics of one batch of pairs. Errors are relative, on the dimensions that the moves affect."""

    relative_error: float  # |z^g - moved| / |z^g - z|: 0 is perfect, 1 as good as the identity
    movement: float  # |moved - z| / |z^g - z|: 0 for an operator that has collapsed to the identity
    t_norm: float  # mean |t|
    t_delta_correlation: float  # of |t| with |delta|, Pearson
    composition_error: float  # moved(a + b) compared with moved(moved(a), b)
    inverse_error: float  # a move and its inverse
    commutator_size: float  # |[L_i, L_j]| relative to |L_i| |L_j|, mean
    closure_error: float  # share of the commutators outside the span of the generators
    imaginary_share: float  # of the spectrum: 1 for rotations, 0 for pure growth
    integer_error: float  # distance of the frequencies from integer multiples of the smallest, 0 to 0.5
    spectral_norm: float  # largest |M| = |sum_k t_k L_k| of the batch
    pose_variance: float  # share of the variance of v that lies within pairs rather than between instances

    @property
    def collapsed(self) -> bool:
        return self.movement < STANDS_STILL

    @property
    def exploded(self) -> bool:
        return self.spectral_norm > EXPLODES or not torch.isfinite(torch.tensor(list(asdict(self).values()))).all()

    def warning(self) -> str | None:
        """One sentence if something is wrong, None otherwise."""
        if self.exploded:
            return (
                f"the Lie operator explodes (norm of the move {self.spectral_norm:.3g}): lower the learning rate of "
                "the generators or bound t with max_norm"
            )
        if self.collapsed:
            return (
                f"the Lie operator has collapsed to the identity (it goes {100 * self.movement:.1f} % of the way): "
                "raise the weight of the Lie term, keep own z as a negative, or lower the weight on |t|"
            )
        return None


@torch.no_grad()
def diagnose(operator: LieOperator, z: Tensor, z_next: Tensor, delta: Tensor, t: Tensor | None = None) -> Diagnostics:
    """Computes all diagnostics on a batch of pairs.

    Args:
        operator: The operator.
        z, z_next: Embeddings (B, M) of both frames.
        delta: Differences of the poses, (B,) or (B, F).
        t: Coordinates (B, D); inferred by default.
    """
    z, z_next = operator.normalise(z), operator.normalise(z_next)
    t = operator.infer(z, z_next, delta) if t is None else t
    moved = operator(z, t)
    dims = operator.moved_dims(delta)
    v, v_next, v_moved = (x[:, dims] for x in (z, z_next, moved))
    way = (v_next - v).norm(dim=1).clamp_min(1e-12)
    generators = operator.generators[:, operator.fixed :, operator.fixed :].double()
    imaginary, integers = spectrum_summary(generators)
    lengths = t.norm(dim=1)
    return Diagnostics(
        relative_error=float(((v_next - v_moved).norm(dim=1) / way).mean()),
        movement=float(((v_moved - v).norm(dim=1) / way).mean()),
        t_norm=float(lengths.mean()),
        t_delta_correlation=correlation(lengths, operator.deltas(delta).abs().sum(dim=1).to(t.dtype)),
        composition_error=composition_error(operator, z, t),
        inverse_error=_relative(operator.inverse(moved, t) - z, z),
        commutator_size=commutator_size(generators),
        closure_error=closure_error(generators),
        imaginary_share=imaginary,
        integer_error=integers,
        spectral_norm=move_norm(generators, t.double()),
        pose_variance=pose_variance(v, v_next),
    )


def spectrum(generators: Tensor) -> Tensor:
    """(D, M, M) -> (D, M) complex eigenvalues, the fastest rotations first."""
    values = torch.linalg.eigvals(generators.double())
    return values.gather(1, values.imag.abs().argsort(dim=1, descending=True))


def spectrum_summary(generators: Tensor) -> tuple[float, float]:
    """How imaginary the eigenvalues are (0 to 1), and how far their frequencies are from integer ratios (0 to 0.5)."""
    values = spectrum(generators)
    size = values.abs().sum()
    imaginary = float(values.imag.abs().sum() / size) if size > 0 else 0.0
    gaps = []
    for row in values.imag:
        frequencies = row[row > 1e-3 * values.abs().max()]
        if len(frequencies) > 1:
            ratios = frequencies / frequencies.min()
            gaps.append((ratios - ratios.round()).abs().mean())
    return imaginary, float(torch.stack(gaps).mean()) if gaps else 0.0


def commutator_size(generators: Tensor) -> float:
    """Mean of |[L_i, L_j]| / (2 |L_i| |L_j|) in the Frobenius norm; 0 if all generators commute."""
    brackets = commutators(generators)
    if len(brackets) == 0:
        return 0.0
    i, j = torch.triu_indices(len(generators), len(generators), 1)
    sizes = generators.flatten(1).norm(dim=1)
    return float((brackets.flatten(1).norm(dim=1) / (2 * sizes[i] * sizes[j]).clamp_min(1e-30)).mean())


def composition_error(operator: LieOperator, z: Tensor, t: Tensor) -> float:
    """|exp(a + b) z - exp(b) exp(a) z| relative to the distance moved, for coordinates a, b of neighbouring rows."""
    other = t.roll(1, dims=0)
    at_once: Tensor = operator(z, t + other)
    one_by_one: Tensor = operator(operator(z, t), other)
    return _relative(at_once - one_by_one, one_by_one - z)


def move_norm(generators: Tensor, t: Tensor) -> float:
    """Largest spectral norm of sum_k t_k L_k over the batch; inf if t is not finite."""
    if not bool(torch.isfinite(t).all()):
        return float("inf")
    bound = t.abs() @ torch.linalg.matrix_norm(generators, 2)
    longest = t[bound.argmax()]
    return float(torch.linalg.matrix_norm(torch.einsum("k,kij->ij", longest, generators), 2))


def pose_variance(v: Tensor, v_next: Tensor) -> float:
    """Share of the variance of the embeddings that lies between two frames of one instance."""
    both = torch.stack([v, v_next])  # (2, B, M)
    total = both.flatten(0, 1).var(dim=0, unbiased=False).sum()
    within = (both - both.mean(dim=0)).square().mean(dim=(0, 1)).sum()
    return float(within / total) if total > 0 else 0.0


def correlation(a: Tensor, b: Tensor) -> float:
    """Pearson's correlation; 0 if one of them is constant."""
    a, b = a - a.mean(), b - b.mean()
    size = a.norm() * b.norm()
    return float((a @ b) / size) if size > 0 else 0.0


def _relative(error: Tensor, size: Tensor) -> float:
    return float(error.norm(dim=1).mean() / size.norm(dim=1).mean().clamp_min(1e-12))
