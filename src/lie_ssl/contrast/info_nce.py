"""InfoNCE between two frames of the same instance, over the joined batch of all processes.

Shape letters: B batch, N additional negatives, M embedding, P projection, T rows of the joined batch.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from lie_ssl.contrast.checks import check_embedding, check_weights
from lie_ssl.contrast.gather import JoinedBatch
from lie_ssl.contrast.heads import ProjectionHead


class FramesLoss(nn.Module):
    """The control objective: symmetric InfoNCE between the two frames of each instance, on the whole embedding.

    Head and negatives are those of :class:`lie_ssl.LieLoss`, except for an instance's own z, which is not a negative.

    Args:
        dim: Size of the embedding.
        temperature: Temperature of the softmax.
        batch_norm: Whether the projection head has batch normalisation.
    """

    def __init__(self, dim: int, *, temperature: float = 1.0, batch_norm: bool = True) -> None:
        super().__init__()
        if temperature <= 0:
            raise ValueError("temperatures must be above 0")
        self.dim, self.temperature = dim, temperature
        self.head = ProjectionHead(dim, batch_norm=batch_norm)

    def forward(
        self, z: Tensor, z_next: Tensor, *, negatives: Tensor | None = None, objects: Tensor | None = None
    ) -> Tensor:
        """Computes the mean loss (in a distributed run, this process's share of it).

        Args:
            z, z_next: Embeddings (B, M) of both frames.
            negatives: (N, M), additional ones.
            objects: (B,) numbers of the instances, which are no negatives of themselves if a batch has several pairs of
                one; None if all are different.
        """
        check_embedding("z", z, self.dim)
        if z.shape != z_next.shape:
            raise ValueError(f"z {tuple(z.shape)} and z_next {tuple(z_next.shape)} must have the same shape")
        check_pairs(self.head, z, z_next, negatives)
        joined = JoinedBatch.of(len(z), z.device)
        single = None if negatives is None else JoinedBatch.of(len(negatives), z.device)
        parts = project(self.head, (z, z_next), negatives, joined, single)
        losses = frames_info_nce(
            *parts, start=joined.start, size=joined.rows, temperature=self.temperature,
            objects=None if objects is None else joined.gather(objects),
        )  # fmt: skip
        return joined.mean(losses)


def check_pairs(head: nn.Module, z: Tensor, z_next: Tensor, negatives: Tensor | None) -> None:
    """Rejects tensors that the head cannot process, by shape, dtype and device only."""
    given = {"z": z, "z_next": z_next} if negatives is None else {"z": z, "z_next": z_next, "negatives": negatives}
    for name, x in given.items():
        check_embedding(name, x, z.shape[1])
    check_weights(next(head.parameters()), given, "the projection head")


def project(
    head: nn.Module, groups: tuple[Tensor, ...], negatives: Tensor | None, joined: JoinedBatch,
    single: JoinedBatch | None,
) -> tuple[Tensor, ...]:  # fmt: skip
    """Projects groups of (B, M) and negatives (N, M) to unit vectors of the joined batch, in one pass of the head."""
    everything = [joined.gather(x) for x in groups]
    if negatives is not None and single is not None:
        everything.append(single.gather(negatives))
    if len(everything[0]) == 0:  # batch-norm cannot compute statistics of an empty batch
        return tuple(everything)
    projected = functional.normalize(head(torch.cat(everything)), dim=1)
    return projected.split([len(x) for x in everything])


def frames_info_nce(
    first: Tensor, second: Tensor, negatives: Tensor | None = None, *, start: int = 0, size: int | None = None,
    temperature: float = 1.0, objects: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Symmetric InfoNCE between both frames of each instance, on unit vectors (T, P), for rows start to start + size.

    Negatives are both frames of all other instances, and `negatives`; a frame is not compared with itself. With
    `objects` (T,), several pairs may show the same instance, and its other frames are left out.

    Returns:
        The losses (size,).
    """
    size = len(first) if size is None else size
    rows = torch.arange(size, device=first.device)
    own = rows + start
    same_object = None
    if objects is not None:
        same_object = (objects[start : start + size, None] == objects[None]).index_put(
            (rows, own), rows.new_zeros(()) > 0
        )
    losses = []
    for anchors, others in ((first, second), (second, first)):
        local = anchors[start : start + size]
        same = (local @ anchors.T / temperature).index_put((rows, own), local.new_tensor(-torch.inf))
        scores = [local @ others.T / temperature, same]
        if same_object is not None:
            scores = [each.masked_fill(same_object, -torch.inf) for each in scores]
        if negatives is not None:
            scores.append(local @ negatives.T / temperature)
        losses.append(functional.cross_entropy(torch.cat(scores, dim=1), own, reduction="none"))
    return (losses[0] + losses[1]) / 2
