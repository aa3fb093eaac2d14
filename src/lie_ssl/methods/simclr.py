"""SimCLR (Chen et al., 2020): a view finds the other view of its own picture among all views of the batch.

Shape letters: B batch, M embedding, P projection.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from lie_ssl.contrast.gather import JoinedBatch
from lie_ssl.contrast.heads import ProjectionHead
from lie_ssl.contrast.info_nce import frames_info_nce
from lie_ssl.errors import UserError
from lie_ssl.methods.augment import AugmentConfig, simclr
from lie_ssl.methods.draws import Draws
from lie_ssl.methods.encoders import Encoder
from lie_ssl.methods.method import Method, MethodConfig, SSLOutput
from lie_ssl.methods.registry import method
from lie_ssl.methods.views import two_views
from lie_ssl.serialization import check_numbers


@dataclass(frozen=True)
class SimCLRConfig(MethodConfig):
    """Contrast between the views of a batch."""

    name: str = "simclr"
    """Name of the method."""
    projection: int = 128
    """Size of the space in which views are compared."""
    hidden: int | None = None
    """Width of the projection head; None takes that of the embedding."""
    temperature: float = 0.1
    """Of the contrast."""
    augment: AugmentConfig = field(default_factory=simclr)
    """Augmentations of the two views."""

    def __post_init__(self) -> None:
        check_numbers(self, "method")
        if self.projection < 1 or (self.hidden is not None and self.hidden < 1):
            raise UserError(f"projection is {self.projection} and hidden {self.hidden}, but widths are above 0")
        if not self.temperature > 0:
            raise UserError(f"temperature is {self.temperature}, but it must be above 0")


@method("simclr", title="SimCLR", order=30)
class SimCLR(Method):
    """z is the embedding of the first view, before the projection head."""

    Config: ClassVar[type[MethodConfig]] = SimCLRConfig

    def __init__(self, encoder: Encoder, config: SimCLRConfig) -> None:
        super().__init__(encoder)
        self.config = config
        self.projector = ProjectionHead(encoder.dim, config.hidden, config.projection)

    def parts(self) -> dict[str, nn.Module]:
        return {"projector": self.projector.layers}

    def forward(self, frames: Sequence[Tensor], draws: Sequence[Draws]) -> list[SSLOutput]:
        z, pairs = two_views(self.encoder, self.projector, frames, draws, self.config.augment)
        with torch.autocast(z[0].device.type, enabled=False):  # a low temperature enlarges what half precision rounds
            return [self._output(first, p, p_other) for first, (p, p_other) in zip(z, pairs, strict=True)]

    def _output(self, z: Tensor, p: Tensor, p_other: Tensor) -> SSLOutput:
        joined = JoinedBatch.of(len(p), p.device)
        loss = joined.mean(
            nt_xent(joined.gather(p.float()), joined.gather(p_other.float()), joined, self.config.temperature)
        )
        return SSLOutput(loss, {"contrast": loss.detach()}, z)


def nt_xent(p: Tensor, p_other: Tensor, joined: JoinedBatch, temperature: float) -> Tensor:
    """(T, P) and (T, P) projections of the joined batch -> (rows,): the normalised, temperature-scaled cross entropy,
    each row the mean of both directions."""
    first, second = functional.normalize(p, dim=1), functional.normalize(p_other, dim=1)
    return frames_info_nce(first, second, start=joined.start, size=joined.rows, temperature=temperature)
