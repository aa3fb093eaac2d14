"""Meta-sequential prediction: the matrix that leads from the first frame of a clip to the second leads to the third.

After Miyato et al.: Unsupervised Learning of Equivariant Structure from Sequences (arXiv 2210.05972), and Koyama et
al.: Neural Fourier Transform (arXiv 2305.18484), which decode the prediction to a picture. Here it is not decoded: it
must be nearer to the embedding of the third frame than to those of other objects.

Training knows the order of three frames at equal steps, and nothing of how far the object turned. Without a decoder, an
embedding that does not move would predict itself, so the first two frames of the same clip are negatives, too. A matrix
that was found for one clip need not mean the same for another object: nothing compares the matrices of two clips.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from lie_ssl.contrast.gather import JoinedBatch
from lie_ssl.errors import UserError
from lie_ssl.objectives._matrix import MatrixMover, MatrixObjective, MatrixObjectiveConfig
from lie_ssl.objectives.base import ObjectiveConfig, Pairs, Terms
from lie_ssl.objectives.registry import objective


@dataclass(frozen=True)
class MspConfig(MatrixObjectiveConfig):
    """Settings of the contrast on u and of the prediction of v."""

    name: str = "msp"
    """Name of the objective."""
    prediction: float = 1.0
    """Weight of InfoNCE between the predicted and the true v of the third frame."""
    prediction_temperature: float = 0.2
    """Temperature of that InfoNCE."""
    columns: int = 4
    """Columns a of the matrix H that v is read as, which a move multiplies by an a x a matrix. H needs more rows than
    columns."""
    ridge: float = 1e-3
    """Added to the diagonal of H^T H, which keeps the move bounded."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_weights("prediction")
        if self.prediction == 0:
            raise UserError("objective.prediction is 0, so v would learn nothing; set it above 0 or use frames")
        for name in ("prediction_temperature", "ridge"):
            if not getattr(self, name) > 0:
                raise UserError(f"objective.{name} is {getattr(self, name)}, but it must be above 0")
        if self.columns < 1:
            raise UserError(f"objective.columns is {self.columns}, but it must be 1 or more")
        if self.view != "clean":
            raise UserError(f"msp compares plain frames, but objective.view is {self.view}; set it to clean")

    @property
    def clip(self) -> int:
        return 3

    @property
    def unit(self) -> int:
        return self.columns

    def kinds(self, pose_kinds: Sequence[str]) -> tuple[str, ...]:
        return tuple(pose_kinds)  # v of an adapted encoder then has as many dimensions as that of lie_untold


class Transition(MatrixMover):
    """Multiplies H, the matrix of v, by an a x a matrix from the right; t consists of the entries of that matrix.

    Args:
        dim, fixed: Sizes of the embedding and of u.
        columns: a.
        ridge: Added to the diagonal of H^T H.
    """

    def __init__(self, dim: int, fixed: int, columns: int, ridge: float) -> None:
        super().__init__(dim, fixed, (dim - fixed) // columns, columns)
        self.columns, self.ridge = columns, ridge

    def infer(self, z: Tensor, z_next: Tensor, delta: Tensor) -> Tensor:
        """(B, M), (B, M), (B, F) -> t, (B, a a): the matrix that leads from H to that of z_next with the least squared
        error. The difference of the poses is not used."""
        h, h_next = self.matrices(z)[:, 0], self.matrices(z_next)[:, 0]
        square = h.mT @ h + self.ridge * torch.eye(self.columns, dtype=h.dtype, device=h.device)
        found: Tensor = torch.linalg.solve(square, h.mT @ h_next)
        return found.flatten(1)

    def __call__(self, z: Tensor, t: Tensor) -> Tensor:
        """(B, M), (B, a a) -> (u, H M), (B, M)."""
        return self.with_matrices(z, self.matrices(z) @ t.reshape(len(t), 1, self.columns, self.columns))


@objective(
    "msp", title="MSP", order=67, colour="#33A02C", marker="+", note="clips, a matrix for each predicts its third frame"
)  # fmt: skip
class Msp(MatrixObjective):
    """z = (u, v): InfoNCE makes u invariant; v is read as a matrix H (m x a), which moves as H -> H M.

    The first two frames of a clip give M* = (H0^T H0 + ridge I)^-1 H0^T H1, and H1 M* must tell H2 from H2 of other
    objects, and from H0 and H1. So v is made such that a step of constant speed is the same linear map twice.
    """

    Config: ClassVar[type[ObjectiveConfig]] = MspConfig
    config: MspConfig

    def __init__(self, config: MspConfig, dim: int, factors: Sequence[str]) -> None:
        super().__init__(config, dim, factors)
        rows = (dim - self.fixed) // config.columns
        if rows <= config.columns:
            raise UserError(
                f"objective.columns is {config.columns}, but with the {rows} rows of v some matrix would fit any pair "
                "of frames exactly; take fewer columns, so that there are more rows than columns"
            )
        self._mover = Transition(dim, self.fixed, config.columns, config.ridge)

    @property
    def mover(self) -> Transition:
        return self._mover

    def forward(self, pairs: Pairs) -> Terms:
        assert pairs.more is not None
        joined = JoinedBatch.of(len(pairs.z), pairs.z.device)
        t = self.mover.infer(pairs.z, pairs.z_next, pairs.delta)
        clip = torch.stack([self.mover(pairs.z_next, t), pairs.z, pairs.z_next, pairs.more[:, 0]])
        vectors = functional.normalize(clip[:, :, self.fixed :], dim=2)
        objects = None if pairs.objects is None else joined.gather(pairs.objects)
        prediction = joined.mean(clip_info_nce(vectors, joined, self.config.prediction_temperature, objects))
        terms, total = {"prediction": prediction}, self.config.prediction * prediction
        for name, frames in self.frames(pairs).items():
            terms[name], total = frames, total + self.config.contrast * frames
        return Terms(total, terms, t.detach())


def clip_info_nce(vectors: Tensor, joined: JoinedBatch, temperature: float, objects: Tensor | None = None) -> Tensor:
    """InfoNCE between the predicted third frame of each clip and the true one.

    Args:
        vectors: Unit vectors (4, B, V): the prediction, and the three frames of each clip.
        joined: The joined batch, of which these are this process's rows.
        temperature: Temperature of the softmax.
        objects: Numbers of the objects of the joined batch (T,), whose other clips are no negatives; None if all are
            different.

    Returns:
        The losses (B,).
    """
    predicted, *own, third = vectors
    positive = torch.arange(joined.rows, device=third.device) + joined.start
    scores = predicted @ joined.gather(third).T
    if objects is not None:
        same = objects[positive, None] == objects[None]
        same = same.scatter(1, positive[:, None], value=False)
        scores = scores.masked_fill(same, -torch.inf)
    still = torch.stack([torch.sum(predicted * frame, dim=1) for frame in own], dim=1)
    return functional.cross_entropy(torch.cat([scores, still], dim=1) / temperature, positive, reduction="none")
