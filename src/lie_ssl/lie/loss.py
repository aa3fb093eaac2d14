"""The loss of the Lie operator.

Shape letters: B batch, N single-pose negatives, D generators, F factors, M embedding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from lie_ssl.contrast.checks import check_device, check_embedding
from lie_ssl.contrast.gather import JoinedBatch
from lie_ssl.contrast.heads import ProjectionHead
from lie_ssl.contrast.info_nce import check_pairs, frames_info_nce, project
from lie_ssl.lie.anchor import anchor_info_nce
from lie_ssl.lie.move_contrast import check_moves, move_info_nce
from lie_ssl.lie.operator import LieOperator


class LieTerms(NamedTuple):
    """Unweighted terms, each a mean over the batch; `total` is their weighted sum, without the SSL loss.

    In a distributed run, each is this process's share: the average over processes is the mean over the joined batch.
    """

    total: Tensor
    lie: Tensor | None  # None in training if its weight is 0, as the projection head takes time
    euclidean: Tensor
    coordinates: Tensor
    invariant: Tensor
    t: Tensor  # (B, D)
    z_moved: Tensor  # (B, M)
    moves: Tensor | None = None  # None if its weight is 0
    anchor: Tensor | None = None  # None if its weight is 0


@dataclass(frozen=True)
class LossConfig:
    """Weights and settings of :class:`LieLoss`."""

    lie: float = 1.0
    """Weight of InfoNCE between the moved and the true embedding."""
    euclidean: float = 1.0
    """Weight of the squared distance between them."""
    coordinates: float = 1.0
    """Weight of s(delta) |t|^2."""
    invariant: float = 0.0
    """Weight of InfoNCE between the two frames on the fixed part of the embedding."""
    temperature: float = 1.0
    """Temperature of the contrastive terms; 1 as in the paper's formula."""
    invariant_temperature: float | None = None
    """Temperature of InfoNCE on the fixed part; None for the same."""
    batch_norm: bool = True
    """Whether the projection heads of these terms have batch normalisation."""
    own_negative: bool = True
    """Whether z is a negative of its own z^g."""
    relative: bool = False
    """Divide the squared distance by the lengths of both vectors, measured from the operator's centre, on the
    dimensions that a move affects: |y - x|^2 / (2 |x| |y|), which is 0 for equal vectors and 1 for unrelated ones.
    Shrinking the embeddings then does not reduce it. On standardised dimensions it is |y - x|^2 / 2, divided by their
    number; with a normalised operator, the mean over groups of planes of |y - x|^2 / 2."""
    detach_fixed: bool = False
    """Whether the Lie terms have no gradient in the fixed part."""
    moves: float = 0.0
    """Weight of InfoNCE between the true move and the moves of other pairs."""
    moves_temperature: float = 0.1
    """Temperature of InfoNCE between moves."""
    anchor: float = 0.0
    """Weight of InfoNCE between the true pose of a picture and those of others; needs an operator with an anchor."""

    def __post_init__(self) -> None:
        for name in ("lie", "euclidean", "coordinates", "invariant", "moves", "anchor"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ValueError(f"{name} is {getattr(self, name)}, but weights must be finite and 0 or more")
        for name in ("temperature", "invariant_temperature", "moves_temperature"):
            if (value := getattr(self, name)) is not None and not 0 < value < math.inf:
                raise ValueError(f"{name} is {value}, but temperatures must be finite and above 0")


class LieLoss(nn.Module):
    """L = lambda_lie L_lie + lambda_euc |z^g - moved|^2 + lambda_t s(delta) |t|^2 (+ lambda_inv L_inv + lambda_m L_m).

    L_lie requires the moved embedding to be nearer to the true one than to all negatives: z itself (`own_negative`),
    the other instances' z, z^g and moved z, and the z of instances seen in one pose only. L_inv, off by default, is
    InfoNCE between the two frames on the part that the group leaves unchanged. L_m, off by default, is InfoNCE
    between the true move and those of other pairs (see :func:`lie_ssl.lie.move_contrast.move_info_nce`). The weight
    `anchor`, off by default, adds the same between poses of single pictures (:mod:`lie_ssl.lie.anchor`).

    Args:
        operator: The Lie operator; its inference network gives t.
        config: Weights and settings; see :class:`LossConfig`.
        settings: Individual settings by name, as in `LieLoss(operator, temperature=0.2)`.

    Embeddings are normalised first if the operator says so. A centred operator acts about the mean (and spread) of the
    batch in training, and about running statistics in eval mode. In a distributed run, negatives are gathered from all
    processes, and the heads see the joined batch. The processes may hold different numbers of pairs, but all must call
    it, and either all or none with `negatives`.
    """

    Config: ClassVar[type[LossConfig]] = LossConfig

    def __init__(self, operator: LieOperator, config: LossConfig | None = None, **settings: Any) -> None:
        super().__init__()
        config = replace(config or LossConfig(), **settings)
        if config.invariant > 0 and operator.fixed == 0:
            raise ValueError("the invariant term needs a fixed part: LieOperator(fixed=...)")
        if config.moves > 0:
            check_moves(operator)
        if config.anchor > 0 and operator.anchor is None:
            raise ValueError("the anchor's term needs an operator with an anchor: LieOperator(anchor=0.05)")
        self.operator, self.config = operator, config
        self.head = ProjectionHead(operator.dim, batch_norm=config.batch_norm).requires_grad_(config.lie > 0)
        self.invariant_head: ProjectionHead | None = None
        if config.invariant > 0:
            self.invariant_head = ProjectionHead(operator.fixed, batch_norm=config.batch_norm)

    def unused(self) -> list[nn.Parameter]:
        """The parameters that no term of the loss uses in training: those of L_lie's head, if its weight is 0."""
        return list(self.head.parameters()) if self.config.lie == 0 else []

    def forward(
        self, z: Tensor, z_next: Tensor, delta: Tensor, *, negatives: Tensor | None = None, pose: Tensor | None = None,
        objects: Tensor | None = None,
    ) -> LieTerms:  # fmt: skip
        """Computes the terms of a batch.

        Args:
            z, z_next: Embeddings (B, M) of both frames.
            delta: Differences of the poses, (B,) or (B, F).
            negatives: (N, M), the z of instances seen in one pose only.
            pose: Poses (B, F) of the first frames, in radians from the typical one, nan for factors without one; the
                weight `anchor` needs them.
            objects: (B,) numbers of the instances. On the fixed part, other pairs of the same instance are no
                negatives; None if all are different.
        """
        check_embedding("z", z, self.operator.dim)
        if z.shape != z_next.shape or delta.shape[:1] != z.shape[:1]:
            raise ValueError(
                f"z {tuple(z.shape)} and z_next {tuple(z_next.shape)} must have the same shape, with one delta "
                f"{tuple(delta.shape)} for each"
            )
        check_pairs(self.head, z, z_next, negatives)
        check_device("delta", delta, z)
        z, z_next = self.operator.normalise(z), self.operator.normalise(z_next)
        negatives = None if negatives is None else self.operator.normalise(negatives)
        source, target, others = (self._for_lie(x) for x in (z, z_next, negatives))
        assert source is not None
        assert target is not None
        joined = JoinedBatch.of(len(z), z.device)
        single = None if negatives is None else JoinedBatch.of(len(negatives), z.device)
        t = self.operator.infer(z, z_next, delta)
        active = self.operator.active(delta)
        affine = self._affine(source, target, active, joined) if self.operator.centred else None
        moved: Tensor = self.operator(source, t, affine)
        lie = None
        if self.config.lie > 0 or not self.training:
            lie = joined.mean(self._lie((source, target, moved), others, joined, single))
        euclidean = joined.mean(self._euclidean(moved, target, active, affine))
        coordinates = joined.mean(self._coordinates(t, delta))
        invariant = joined.mean(self._invariant((z, z_next), negatives, joined, single, objects))
        w = self.config
        total = w.euclidean * euclidean + w.coordinates * coordinates + w.invariant * invariant
        total = w.lie * lie + total if lie is not None and w.lie > 0 else total
        moves = joined.mean(self._moves(z, z_next, t, active, joined)) if w.moves > 0 else None
        total = total if moves is None else total + w.moves * moves
        anchor = joined.mean(self._anchor(z, z_next, delta, pose, joined)) if w.anchor > 0 else None
        total = total if anchor is None else total + w.anchor * anchor
        return LieTerms(total, lie, euclidean, coordinates, invariant, t, moved, moves, anchor)

    def _for_lie(self, x: Tensor | None) -> Tensor | None:
        if x is None or not self.config.detach_fixed:
            return x
        fixed = self.operator.fixed
        return torch.cat([x[:, :fixed].detach(), x[:, fixed:]], dim=1)

    def _lie(
        self, groups: tuple[Tensor, ...], negatives: Tensor | None, joined: JoinedBatch, single: JoinedBatch | None
    ) -> Tensor:
        first, second, moved, *others = project(self.head, groups, negatives, joined, single)
        return lie_info_nce(
            first, second, moved, *others,
            start=joined.start, size=joined.rows, temperature=self.config.temperature,
            own_negative=self.config.own_negative,
        )  # fmt: skip

    def _affine(
        self, source: Tensor, target: Tensor, active: Tensor, joined: JoinedBatch
    ) -> tuple[Tensor, Tensor] | None:  # fmt: skip
        """Centre and spread: in training, those of the joined batch, which update the operator's; else its own."""
        if not self.operator.training or joined.total == 0:
            return None
        affine = self.operator.affine_of(*(joined.gather(x) for x in (source, target, active.to(source.dtype))))
        self.operator.update_running_stats(*affine)
        return affine

    def _euclidean(
        self, moved: Tensor, target: Tensor, active: Tensor, affine: tuple[Tensor, Tensor] | None
    ) -> Tensor:  # fmt: skip
        """(B,)"""
        if not self.config.relative:
            return (target - moved).square().sum(dim=1)
        operator = self.operator
        if operator.unit_norm is not None:
            groups = operator.unit_norm.squares(target - moved).split(operator.group_counts, dim=1)
            errors = [squares.mean(dim=1) / 2 for squares in groups]
            return (torch.stack(errors, dim=1) * active).sum(dim=1)
        if affine is None and operator.centred:
            affine = operator.centre.to(moved.dtype), operator.spread.to(moved.dtype)
        x, y = (v[:, operator.fixed :] if affine is None else (v[:, operator.fixed :] - affine[0]) / affine[1]
                for v in (moved, target))  # fmt: skip
        errors = [
            (b - a).square().mean(dim=1) / 2 if even else relative_error(a, b)
            for a, b, even in zip(
                x.split(operator.shares, dim=1), y.split(operator.shares, dim=1), operator.standardised, strict=True
            )
        ]
        return (torch.stack(errors, dim=1) * active).sum(dim=1)

    def _coordinates(self, t: Tensor, delta: Tensor) -> Tensor:
        deltas = self.operator.deltas(delta).to(t.dtype)
        squares = torch.stack([part.square().sum(dim=1) for part in t.split(self.operator.counts, dim=1)], dim=1)
        return (similarity(deltas) * squares).sum(dim=1)

    def _moves(self, z: Tensor, z_next: Tensor, t: Tensor, active: Tensor, joined: JoinedBatch) -> Tensor:
        """(B,), the sum over the factors that change."""
        operator, losses = self.operator, z.new_zeros(len(z))
        moves, changed = joined.gather(t), joined.gather(active.to(t.dtype)) > 0
        vs = [x[:, operator.fixed :].split(operator.shares, dim=1) for x in (z, z_next)]
        for share, (v, v_next) in enumerate(zip(*vs, strict=True)):
            rows = active[:, share].nonzero()[:, 0]
            own, others = t[rows, share], moves[changed[:, share], share]
            found = move_info_nce(operator, share, v[rows], v_next[rows], own, others, self.config.moves_temperature)
            losses = losses.index_add(0, rows, found)
        return losses

    def _anchor(
        self, z: Tensor, z_next: Tensor, delta: Tensor, pose: Tensor | None, joined: JoinedBatch
    ) -> Tensor:  # fmt: skip
        """(B,), the mean of both frames."""
        if pose is None:
            raise ValueError("the anchor's term needs the poses of the first frames; give pose")
        first = self.operator.deltas(pose).to(z.dtype)
        second = torch.remainder(first + self.operator.deltas(delta) + math.pi, 2 * math.pi) - math.pi
        moves = torch.cat([joined.gather(first), joined.gather(second)])
        losses = [anchor_info_nce(self.operator, *each, moves) for each in ((z, first), (z_next, second))]
        return (losses[0] + losses[1]) / 2

    def _invariant(
        self, groups: tuple[Tensor, ...], negatives: Tensor | None, joined: JoinedBatch, single: JoinedBatch | None,
        objects: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        if self.invariant_head is None:
            return groups[0].new_zeros(len(groups[0]))
        u = self.operator.fixed
        others = None if negatives is None else negatives[:, :u]
        parts = project(self.invariant_head, tuple(x[:, :u] for x in groups), others, joined, single)
        temperature = self.config.invariant_temperature or self.config.temperature
        return frames_info_nce(
            *parts, start=joined.start, size=joined.rows, temperature=temperature,
            objects=None if objects is None else joined.gather(objects),
        )  # fmt: skip


def relative_error(x: Tensor, y: Tensor) -> Tensor:
    """(B, M), (B, M) -> (B,) |y - x|^2 / (2 |x| |y|): 0 for equal vectors, 1 for orthogonal ones of equal length."""
    size = (x.square().sum(dim=1) * y.square().sum(dim=1)).clamp_min(torch.finfo(x.dtype).tiny).sqrt()
    return (y - x).square().sum(dim=1) / (2 * size)


def similarity(delta: Tensor) -> Tensor:
    """s(delta) = 1 / (1 + exp |delta|), from 1/2 for equal frames to 0 for distant ones."""
    return torch.sigmoid(-delta.abs())


def lie_info_nce(
    z: Tensor, z_next: Tensor, moved: Tensor, negatives: Tensor | None = None, *,
    start: int = 0, size: int | None = None, temperature: float = 1.0, own_negative: bool = True,
) -> Tensor:  # fmt: skip
    """InfoNCE between each true embedding z_next_i and its moved one, on unit vectors (T, P), for rows start to
    start + size.

    Negatives of row i: z_j, z_next_j and moved_j of all other instances j, z_i itself, and all of `negatives` (N, P).

    Returns:
        The losses (size,).
    """
    size = len(z) if size is None else size
    anchors = z_next[start : start + size]
    rows = torch.arange(size, device=anchors.device)
    own = rows + start
    scores = [anchors @ x.T / temperature for x in (moved, z, z_next)]
    scores[2] = scores[2].index_put((rows, own), scores[2].new_tensor(-torch.inf))
    if not own_negative:
        scores[1] = scores[1].index_put((rows, own), scores[1].new_tensor(-torch.inf))
    if negatives is not None:
        scores.append(anchors @ negatives.T / temperature)
    return functional.cross_entropy(torch.cat(scores, dim=1), own, reduction="none")  # the moved embeddings come first
