"""The objective of the Lie operator, every term on its own.

Shape letters: B batch, N single-pose negatives, D generators, F factors, M embedding.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from lie_ssl.lie.gather import first_row, gather
from lie_ssl.lie.heads import ProjectionHead
from lie_ssl.lie.operator import LieOperator


class LieTerms(NamedTuple):
    """Unweighted terms, each a mean over the batch; `total` is their weighted sum, without the SSL loss."""

    total: Tensor
    lie: Tensor
    euclidean: Tensor
    coordinates: Tensor
    invariant: Tensor
    t: Tensor  # (B, D)
    z_moved: Tensor  # (B, M)


class LieLoss(nn.Module):
    """L = lambda_lie L_lie + lambda_euc |z^g - moved|^2 + lambda_t s(delta) |t|^2 (+ lambda_inv L_inv).

    L_lie asks that the moved embedding is nearer to the true one than everything else is: z itself (`own_negative`),
    the other instances' z, z^g and moved z, and the z of instances seen in one pose only. L_inv, off by default, is a
    plain InfoNCE between the two frames on the part that the group leaves alone.

    Args:
        operator: the Lie operator; its inference network gives t.
        lie, euclidean, coordinates, invariant: the weights.
        temperature: of both contrastive terms; 1 is the formula as it stands in the paper.
        invariant_temperature: of L_inv, if it should have its own.
        batch_norm: in the projection heads.
        own_negative: whether z is a negative of its own z^g.
        detach_fixed: keep the gradients of the Lie terms out of the fixed part.
        identity: replace the action by the identity, for ablations.

    In a distributed run negatives are gathered from all processes, and the heads see the joined batch.
    """

    def __init__(
        self,
        operator: LieOperator,
        *,
        lie: float = 1.0,
        euclidean: float = 1.0,
        coordinates: float = 1.0,
        invariant: float = 0.0,
        temperature: float = 1.0,
        invariant_temperature: float | None = None,
        batch_norm: bool = True,
        own_negative: bool = True,
        detach_fixed: bool = False,
        identity: bool = False,
    ) -> None:
        super().__init__()
        weights = {"lie": lie, "euclidean": euclidean, "coordinates": coordinates, "invariant": invariant}
        for name, value in weights.items():
            if value < 0:
                raise ValueError(f"the weight {name} is {value}, but weights are 0 or more")
        if temperature <= 0 or (invariant_temperature is not None and invariant_temperature <= 0):
            raise ValueError("temperatures must be above 0")
        if invariant > 0 and operator.fixed == 0:
            raise ValueError("the invariant term needs a fixed part: LieOperator(fixed=...)")
        self.operator, self.weights = operator, weights
        self.temperature, self.invariant_temperature = temperature, invariant_temperature or temperature
        self.own_negative, self.detach_fixed, self.identity = own_negative, detach_fixed, identity
        self.head = ProjectionHead(operator.dim, batch_norm=batch_norm)
        self.invariant_head = ProjectionHead(operator.fixed, batch_norm=batch_norm) if invariant > 0 else None

    def forward(self, z: Tensor, z_next: Tensor, delta: Tensor, *, negatives: Tensor | None = None) -> LieTerms:
        """(B, M), (B, M), (B,) or (B, F); negatives (N, M): the z of instances seen in one pose only."""
        if z.shape != z_next.shape or len(delta) != len(z):
            raise ValueError(
                f"z {tuple(z.shape)} and z_next {tuple(z_next.shape)} must be alike, with one delta "
                f"{tuple(delta.shape)} for each"
            )
        source, target, others = (self._for_lie(x) for x in (z, z_next, negatives))
        assert source is not None
        assert target is not None
        t = self.operator.infer(z, z_next, delta)
        moved: Tensor = source if self.identity else self.operator(source, t)
        lie = self._lie(source, target, moved, others)
        euclidean = (target - moved).square().sum(dim=1).mean()
        coordinates = self._coordinates(t, delta)
        invariant = self._invariant(z, z_next, negatives)
        w = self.weights
        total = (
            w["lie"] * lie + w["euclidean"] * euclidean + w["coordinates"] * coordinates + w["invariant"] * invariant
        )
        return LieTerms(total, lie, euclidean, coordinates, invariant, t, moved)

    def _for_lie(self, x: Tensor | None) -> Tensor | None:
        if x is None or not self.detach_fixed:
            return x
        fixed = self.operator.fixed
        return torch.cat([x[:, :fixed].detach(), x[:, fixed:]], dim=1)

    def _lie(self, z: Tensor, z_next: Tensor, moved: Tensor, negatives: Tensor | None) -> Tensor:
        b = len(z)
        groups = [gather(x) for x in (z, z_next, moved, *(() if negatives is None else (negatives,)))]
        projected = functional.normalize(self.head(torch.cat(groups)), dim=1).split([len(g) for g in groups])
        start = first_row(b)
        anchors = projected[1][start : start + b]
        return lie_info_nce(anchors, *projected[:3], *projected[3:], start=start, temperature=self.temperature,
                            own_negative=self.own_negative)  # fmt: skip

    def _coordinates(self, t: Tensor, delta: Tensor) -> Tensor:
        deltas = self.operator.deltas(delta).to(t.dtype)
        squares = torch.stack([part.square().sum(dim=1) for part in t.split(self.operator.counts, dim=1)], dim=1)
        return (similarity(deltas) * squares).sum(dim=1).mean()

    def _invariant(self, z: Tensor, z_next: Tensor, negatives: Tensor | None) -> Tensor:
        if self.invariant_head is None:
            return z.new_zeros(())
        u, b = self.operator.fixed, len(z)
        groups = [gather(x[:, :u]) for x in (z, z_next, *(() if negatives is None else (negatives,)))]
        first, second, *others = functional.normalize(self.invariant_head(torch.cat(groups)), dim=1).split(
            [len(g) for g in groups]
        )
        return frames_info_nce(
            first, second, *others, start=first_row(b), size=b, temperature=self.invariant_temperature
        )


def similarity(delta: Tensor) -> Tensor:
    """s(delta) = 1 / (1 + exp |delta|), between 1/2 for equal frames and 0 for distant ones."""
    return torch.sigmoid(-delta.abs())


def lie_info_nce(
    anchors: Tensor, z: Tensor, z_next: Tensor, moved: Tensor, negatives: Tensor | None = None, *,
    start: int = 0, temperature: float = 1.0, own_negative: bool = True,
) -> Tensor:  # fmt: skip
    """InfoNCE of each true embedding (anchor) with its moved one, on unit vectors.

    anchors (B, P) are rows start .. start + B of z_next (W B, P); z and moved likewise. Negatives of anchor i: z_j,
    z_next_j and moved_j of all other instances j, z_i itself, and all of `negatives`.
    """
    rows = torch.arange(len(anchors), device=anchors.device)
    own = rows + start
    scores = [anchors @ x.T / temperature for x in (moved, z, z_next)]
    scores[2] = scores[2].index_put((rows, own), scores[2].new_tensor(-torch.inf))
    if not own_negative:
        scores[1] = scores[1].index_put((rows, own), scores[1].new_tensor(-torch.inf))
    if negatives is not None:
        scores.append(anchors @ negatives.T / temperature)
    return functional.cross_entropy(torch.cat(scores, dim=1), own)  # the moved embeddings come first


def frames_info_nce(
    first: Tensor, second: Tensor, negatives: Tensor | None = None, *, start: int = 0, size: int | None = None,
    temperature: float = 1.0,
) -> Tensor:  # fmt: skip
    """Symmetric InfoNCE between the two frames of each instance, on unit vectors (W B, P).

    Negatives are both frames of all other instances, and `negatives`; a frame is not compared with itself.
    """
    size = len(first) if size is None else size
    rows = torch.arange(size, device=first.device)
    own = rows + start
    losses = []
    for anchors, others in ((first, second), (second, first)):
        local = anchors[start : start + size]
        same = (local @ anchors.T / temperature).index_put((rows, own), local.new_tensor(-torch.inf))
        scores = [local @ others.T / temperature, same]
        if negatives is not None:
            scores.append(local @ negatives.T / temperature)
        losses.append(functional.cross_entropy(torch.cat(scores, dim=1), own))
    return (losses[0] + losses[1]) / 2
