"""The Lie operator: a learned group that moves the embedding of one frame to that of another."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from itertools import chain
from typing import Any, ClassVar, get_args

import torch
from torch import Tensor, nn

from lie_ssl.contrast.checks import check_device, check_embedding, check_float, check_real, check_weights
from lie_ssl.lie.algebras import Algebra, make_algebra
from lie_ssl.lie.alignment import Alignment, align
from lie_ssl.lie.anchor import anchor_density, check_anchor, read_anchor
from lie_ssl.lie.centre import share_affine
from lie_ssl.lie.config import Action, OperatorConfig
from lie_ssl.lie.coordinates import ONE, Coordinates, Sees
from lie_ssl.lie.mlp_action import MlpAction
from lie_ssl.lie.normalisation import Normalise, UnitNorm, check_normalise, make_unit_norm
from lie_ssl.lie.rotation_fit import align_free, is_rotational
from lie_ssl.lie.rotations import RotationAlignment


class LieOperator(nn.Module):
    """A basis of a Lie algebra, a network that infers coordinates in it, and the action of the group.

    Args:
        dim: Size of the embeddings, M.
        n_generators: Number of generators, D; a sequence gives one number for each of F factors of variation (pose,
            hue, scale ...).
        algebra: "general" (the paper's), "skew", "commuting", "low_rank", "block", or a registered algebra of your own.
        fixed: Number of leading dimensions that the group leaves unchanged, an invariant subspace by construction.
        sees: Input of the inference network: "pair" (z, z^g, delta), "source" (z, delta) or "delta"; "linear" has no
            network, and t = delta; nor has "align", and t is the one that carries z nearest to z^g. One for all
            factors, or one for each.
        hidden: Width of the inference network.
        max_norm: Bound on the length of t for each factor.
        split_factors: With several factors, give each its own share of the moved dimensions. The groups then commute
            exactly; otherwise all generators act on the same dimensions, in one exponential.
        frequencies: Speeds of plane rotations with which the generators of linear factors start (general, skew and
            commuting algebras).
        centred: Whether the group acts about a centre c, z_moved = c + exp(t.L)(z - c). The centre is the mean of the
            moved part, updated by :class:`LieLoss`; the group should not rotate an offset that all embeddings share.
        standardised: Whether a centred group acts on standardised dimensions, z_moved = c + S exp(t.L) S^-1 (z - c).
            One for all shares of the moved dimensions, or one for each.
        normalise: "speed" scales embeddings so that all planes of one of the `frequencies` together have length 1,
            "plane" every plane by itself, "share" all planes of a factor together. The commuting group then turns
            planes of neighbouring dimensions only.
        anchor: Temperature of :meth:`density`; pictures in the typical pose share a phase, so that :meth:`read` tells
            the pose of one picture. None if nothing asks them to.
        action: "exp", the group; for ablations "identity", which moves nothing, or "mlp", a plain network of z and t
            instead of the exponential. These two have no generators.
        settings: Settings of the algebra (scale, rank, block_size).

    Example:
        >>> operator = LieOperator(64, n_generators=4, fixed=32)
        >>> z, z_next, delta = torch.randn(8, 64), torch.randn(8, 64), torch.rand(8)
        >>> t = operator.infer(z, z_next, delta)
        >>> operator(z, t).shape
        torch.Size([8, 64])
    """

    Config: ClassVar[type[OperatorConfig]] = OperatorConfig
    centre: Tensor
    spread: Tensor
    centre_updates: Tensor

    def __init__(
        self,
        dim: int,
        n_generators: int | Sequence[int] = 4,
        *,
        algebra: str = "general",
        fixed: int = 0,
        sees: Sees | Sequence[Sees] = "pair",
        hidden: int | None = None,
        max_norm: float | None = None,
        split_factors: bool = False,
        frequencies: Sequence[float] = (),
        centred: bool = False,
        standardised: bool | Sequence[bool] = False,
        normalise: Normalise | None = None,
        anchor: float | None = None,
        action: Action = "exp",
        **settings: Any,
    ) -> None:
        super().__init__()
        counts = (n_generators,) if isinstance(n_generators, int) else tuple(n_generators)
        if not 0 <= fixed < dim:
            raise ValueError(f"fixed is {fixed}, but of {dim} dimensions at least one must move")
        if not counts or min(counts) < 1:
            raise ValueError(f"n_generators is {n_generators}, but every factor needs at least one")
        kinds: tuple[Sees, ...] = (sees,) * len(counts) if isinstance(sees, str) else tuple(sees)
        if len(kinds) != len(counts):
            raise ValueError(f"sees has length {len(kinds)}, but the number of factors is {len(counts)}")
        if any(kind in ONE and count > 1 for kind, count in zip(kinds, counts, strict=True)):
            raise ValueError(
                "a linear factor must have one generator, as an aligned one; several would have the same t"
            )
        if action not in get_args(Action):
            raise ValueError(f"action is {action!r}, but it must be one of {', '.join(get_args(Action))}")
        self.dim, self.fixed, self.counts, self.action, self.centred = dim, fixed, counts, action, centred
        self.anchor = anchor
        moved = dim - fixed
        if split_factors and moved < len(counts):
            raise ValueError(f"{moved} moved dimensions cannot be split over {len(counts)} factors")
        self.shares = _shares(moved, len(counts)) if split_factors else [moved]
        self.sizes = list(counts) if split_factors else [sum(counts)]
        parts = list(zip(self.shares, self.sizes, strict=True))
        linear = [k in ONE for k in kinds] if split_factors else [set(kinds) <= set(ONE)]
        starts = [settings | ({"frequencies": tuple(frequencies)} if frequencies and own else {}) for own in linear]
        check_normalise(normalise, algebra, centred, frequencies)
        self.unit_norm: UnitNorm | None = None
        self.group_counts: list[int] = []  # of each share, if normalised
        if normalise is not None:
            speeds = [start.get("frequencies", ()) for start in starts]
            self.unit_norm, self.group_counts = make_unit_norm(normalise, fixed, self.shares, speeds)
            starts = [start | {"rotations": True} for start in starts]  # so that moves keep these lengths
        self.algebras = nn.ModuleList(
            make_algebra(algebra, m, d, **start) for (m, d), start in zip(parts, starts, strict=True) if action == "exp"
        )
        self.mlps = nn.ModuleList(MlpAction(m, d) for m, d in parts if action == "mlp")
        self.coordinates = nn.ModuleList(
            Coordinates(dim, d, sees=kind, hidden=hidden, max_norm=max_norm)
            for d, kind in zip(counts, kinds, strict=True)
        )
        even = (standardised,) * len(self.shares) if isinstance(standardised, bool) else tuple(standardised)
        if len(even) != len(self.shares):
            raise ValueError(f"standardised has length {len(even)}, but the number of shares is {len(self.shares)}")
        if any(even) and not centred:
            raise ValueError("standardised dimensions need a centre; set centred as well")
        self.standardised = even
        if centred:
            self.register_buffer("centre", torch.zeros(moved))
            self.register_buffer("spread", torch.ones(moved))
            self.register_buffer("centre_updates", torch.zeros((), dtype=torch.int64))
        if anchor is not None:
            check_anchor(self)

    @property
    def n_generators(self) -> int:
        """Number of generators D of all factors."""
        return sum(self.counts)

    @property
    def title(self) -> str:
        """What the operator is, for the cards of runs and models: "4 generators, general matrices"."""
        kind = self.algebras[0].title if self.action == "exp" else f"the action {self.action!r}"
        return f"{self.n_generators} generator{'s' * (self.n_generators != 1)}, {kind}"

    @property
    def generators(self) -> Tensor:
        """(D, M, M), zero on the fixed part, and everywhere if the action is not "exp"."""
        blocks: list[Tensor] = [a.generators for a in self.algebras]  # type: ignore[misc]
        like = next(chain(self.parameters(), self.buffers()), torch.empty(0))  # a linear identity has no parameters
        out = like.new_zeros(self.n_generators, self.dim, self.dim)
        row, place = 0, self.fixed
        for block in blocks:
            d, m = block.shape[:2]
            out[row : row + d, place : place + m, place : place + m] = block
            row, place = row + d, place + m
        return out

    def infer(self, z: Tensor, z_next: Tensor, delta: Tensor) -> Tensor:
        """Infers the coordinates of moves.

        Args:
            z, z_next: Embeddings (B, M) of both frames.
            delta: Differences of the poses, (B,) or (B, F).

        Returns:
            t (B, D), zero for factors that do not change.
        """
        deltas = self.deltas(delta)
        check_embedding("z", z, self.dim)
        check_embedding("z_next", z_next, self.dim)
        if not len(z) == len(z_next) == len(deltas):
            raise ValueError(
                f"z has {len(z)} rows, z_next {len(z_next)} and delta {len(deltas)}, but they must be equal"
            )
        parts = [self._aligned(z, z_next, f) if getattr(h, "sees", None) == "align" else h(z, z_next, deltas[:, f])
                 for f, h in enumerate(self.coordinates)]  # fmt: skip
        if len(parts) > 1:
            parts = [t * (deltas[:, f : f + 1] != 0) for f, t in enumerate(parts)]
        return torch.cat(parts, dim=1)

    @torch.no_grad()
    def _aligned(self, z: Tensor, z_next: Tensor, factor: int) -> Tensor:
        return self.align(z, z_next, factor).t[:, None].to(z.dtype)

    def active(self, delta: Tensor) -> Tensor:
        """(B,) or (B, F) -> (B, S): which of the S shares of the moved dimensions each move affects."""
        deltas = self.deltas(delta)
        if len(self.shares) == 1:
            return torch.ones(len(deltas), 1, dtype=torch.bool, device=deltas.device)
        return deltas != 0

    def moved_dims(self, delta: Tensor) -> Tensor:
        """(B,) or (B, F) -> the dimensions of the embedding that at least one of these moves affects."""
        concerned = self.active(delta).any(dim=0)
        places = torch.arange(self.fixed, self.dim, device=concerned.device)
        return places[concerned.repeat_interleave(torch.tensor(self.shares, device=concerned.device))]

    def deltas(self, delta: Tensor) -> Tensor:
        """Validates delta: (B,) or (B, F) -> (B, F)."""
        deltas = delta[:, None] if delta.ndim == 1 else delta
        if deltas.ndim != 2 or deltas.shape[1] != len(self.counts):
            raise ValueError(
                f"delta has the shape {tuple(delta.shape)}, but it must be (B, {len(self.counts)}), "
                "with one column for each factor"
            )
        check_real("delta", delta)
        return deltas

    def forward(self, z: Tensor, t: Tensor, affine: tuple[Tensor, Tensor] | None = None) -> Tensor:
        """Moves embeddings: (B, M), (B, D) -> exp(sum_k t_k L_k) z, or the action of the ablation. A centred operator
        uses its own centre and spread, or those given, (moved dimensions,) each."""
        self._check(z, t)
        if self.action == "identity":
            return z
        v = z[:, self.fixed :]
        if affine is None and self.centred:
            affine = self.centre.to(z.dtype), self.spread.to(z.dtype)
        if affine is not None:
            v = (v - affine[0]) / affine[1]
        vs = v.split(self.shares, dim=1)
        ts = t.split(self.sizes, dim=1)
        movers = self.algebras if self.action == "exp" else self.mlps
        moved = [a.action(v, s) for a, v, s in zip(movers, vs, ts, strict=True)]  # type: ignore[operator]
        if affine is None:
            return torch.cat([z[:, : self.fixed], *moved], dim=1)
        return torch.cat([z[:, : self.fixed], torch.cat(moved, dim=1) * affine[1] + affine[0]], dim=1)

    def normalise(self, z: Tensor) -> Tensor:
        """(B, M) -> (B, M), with the unit lengths that the setting `normalise` asks for; z itself without it."""
        check_embedding("z", z, self.dim)
        return z if self.unit_norm is None else self.unit_norm(z)

    def normalisation(self) -> UnitNorm | None:
        """A copy of the layer behind :meth:`normalise`, to be the last one of an encoder; None without the setting."""
        return copy.deepcopy(self.unit_norm)

    def align(self, z: Tensor, z_next: Tensor, factor: int | None = None, *, limit: float = math.pi) -> Alignment:
        """Finds the t that carries z nearest to z_next; see :func:`lie_ssl.lie.alignment.align`.

        Args:
            z, z_next: Embeddings (B, M), which are normalised first if the operator says so.
            factor: Index of the factor that moved, which must have one generator; None if there is only one.
            limit: The search covers t from -limit to limit.

        Returns:
            t, the remaining error, and the second-best t with its error, all (B,), with exact gradients.

        Example:
            >>> operator = LieOperator(8, 1, algebra="commuting", sees="linear", frequencies=(1, 2), normalise="speed")
            >>> z = torch.randn(3, 8)
            >>> operator.align(z, operator(z, torch.full((3, 1), 0.5))).t.detach().round(decimals=4)
            tensor([0.5000, 0.5000, 0.5000])
        """
        return align(self, z, z_next, factor, limit)

    def read(self, z: Tensor, factor: int | None = None, *, limit: float = math.pi) -> Alignment:
        """Reads the pose of single pictures (B, M), from the typical pose: the t that carries the anchor nearest to
        them, as :meth:`align` does for two pictures."""
        return read_anchor(self, z, factor, limit)

    def density(self, z: Tensor, angles: Tensor, factor: int | None = None) -> Tensor:
        """Log-probabilities (B, T) of poses (T,), in radians, of single pictures (B, M); they sum to 1 over the poses
        that are given."""
        return anchor_density(self, z, angles, factor)

    def align_rotation(self, z: Tensor, z_next: Tensor) -> RotationAlignment:
        """Finds the rotation of space that carries z nearest to z_next, if the algebra is `rotations`; see
        :func:`lie_ssl.lie.rotation_fit.align_free`."""
        if not is_rotational(self):
            raise ValueError("align_rotation needs the algebra 'rotations'; use align")
        return align_free(self, z, z_next)

    def _check(self, z: Tensor, t: Tensor) -> None:
        if z.ndim != 2 or z.shape[1] != self.dim or t.shape != (z.shape[0], self.n_generators):
            raise ValueError(
                f"the operator needs z (B, {self.dim}) and t (B, {self.n_generators}), "
                f"but got {tuple(z.shape)} and {tuple(t.shape)}"
            )
        check_float("z", z)
        check_float("t", t)
        if self.action == "identity":
            return
        check_device("t", t, z)
        self.check_weights("z", z)

    def check_weights(self, name: str, z: Tensor) -> None:
        """Rejects embeddings on another device, or with a dtype that the algebra does not convert."""
        if self.action == "identity":
            return
        mover = (self.algebras if self.action == "exp" else self.mlps)[0]
        weight = next(chain(mover.parameters(), mover.buffers()))  # given generators are buffers
        check_device(name, z, weight, "the operator")
        # Some algebras convert only half precision.
        strict = isinstance(mover, Algebra) and not mover.converts and torch.float64 in (z.dtype, weight.dtype)
        if isinstance(mover, MlpAction) or strict:
            check_weights(weight, {name: z}, "the operator")

    def affine_of(self, z: Tensor, z_next: Tensor, active: Tensor) -> tuple[Tensor, Tensor]:
        """(B, M), (B, M), (B, S) -> centre and spread (moved dimensions,) of both frames, for each share over the pairs
        that affect it; for a share without pairs, the running statistics."""
        vs = [x[:, self.fixed :].split(self.shares, dim=1) for x in (z, z_next)]
        kept = [x.to(z.dtype).split(self.shares) for x in (self.centre, self.spread)]
        weights = active.to(z.dtype).unbind(1)
        parts = [share_affine(*part) for part in zip(weights, *vs, self.standardised, *kept, strict=True)]
        return torch.cat([centre for centre, _ in parts]), torch.cat([spread for _, spread in parts])

    @torch.no_grad()
    def calibrate(self, z: Tensor, z_next: Tensor, delta: Tensor) -> None:
        """Sets centre and spread to those of the given pairs, as running statistics lag behind training."""
        centre, spread = self.affine_of(z, z_next, self.active(delta))
        self.centre.copy_(centre)
        self.spread.copy_(spread)

    @torch.no_grad()
    def multiply_speeds(self, rates: Sequence[float]) -> None:
        """Lets the planes of each share turn faster or slower: rotations of planes (`normalise`) only.

        Args:
            rates: One for each share. A share whose moves are small, such as 0.3 of a radian, needs a rate above 1 for
                its planes to turn visibly.
        """
        if self.unit_norm is None or len(rates) != len(self.shares):
            raise ValueError(f"rates must be {len(self.shares)} numbers, one for each share of a normalised operator")
        for algebra, rate in zip(self.algebras, rates, strict=True):
            algebra.speed.mul_(rate)  # type: ignore[operator]

    @torch.no_grad()
    def update_running_stats(self, centre: Tensor, spread: Tensor) -> None:
        """Updates the running centre and spread with those of a batch: at first their mean over all batches, later over
        about fifty."""
        self.centre_updates += 1
        for kept, new in ((self.centre, centre), (self.spread, spread)):
            kept += (new - kept) / self.centre_updates.clamp(max=50)

    def inverse(self, z: Tensor, t: Tensor) -> Tensor:
        """(B, M), (B, D) -> exp(-sum_k t_k L_k) z."""
        self._check(z, t)
        moved: Tensor = self(z, -t)
        return moved

    def orbit(self, z: Tensor, direction: Tensor, steps: int | Tensor) -> Tensor:
        """Moves embeddings along a one-parameter group.

        Args:
            z: Embeddings (B, M).
            direction: Coordinates (D,).
            steps: The number of values of s from 0 to 1, or the values of s themselves, (S,).

        Returns:
            exp(s direction . L) z, (S, B, M).
        """
        check_embedding("z", z, self.dim)
        d = self.n_generators
        if direction.shape not in ((d,), (1, d), (len(z), d)):
            raise ValueError(f"direction has the shape {tuple(direction.shape)}, but it must be ({d},)")
        check_real("direction", direction)
        times = torch.linspace(0, 1, steps) if isinstance(steps, int) else steps
        if times.ndim != 1:
            raise ValueError(f"steps has the shape {tuple(times.shape)}, but it must be a number or (S,)")
        times = times.to(z)
        t = (times[:, None, None] * direction.to(z)).expand(-1, z.shape[0], -1)
        moved: Tensor = self(z.repeat(len(times), 1), t.reshape(-1, self.n_generators))
        return moved.view(len(times), *z.shape)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, n_generators={self.counts}, fixed={self.fixed}, action={self.action}"


def _shares(moved: int, factors: int) -> list[int]:
    """Even shares; the first ones get the remainder, two dimensions at a time, so that planes are not split."""
    base = moved // factors // 2 * 2 or 1
    shares = [base] * factors
    shares[0] += moved - base * factors
    return shares
