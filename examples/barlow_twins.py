"""A method of your own in one file: Barlow Twins (Zbontar et al., 2021, arXiv 2103.03230).

Run it in the root folder of the repository, so that Python finds `examples`:

    python -m lie_ssl pretrain examples.barlow_twins:BarlowTwins alone --data data/demo --out runs/barlow_alone

`alone` is the objective; `lie`, `frames` and the others work as well. Other commands read the run with
`--trust examples.barlow_twins:BarlowTwins`.

Shape letters: B batch, T joined batch of all processes, M embedding, E expanded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import torch
from torch import Tensor

from lie_ssl.contrast.gather import JoinedBatch
from lie_ssl.errors import UserError
from lie_ssl.methods import AugmentConfig, Draws, Encoder, Method, MethodConfig, SSLOutput
from lie_ssl.methods.augment import vicreg
from lie_ssl.methods.vicreg import expander
from lie_ssl.methods.views import two_views


@dataclass(frozen=True)
class BarlowTwinsConfig(MethodConfig):
    """Barlow Twins. Every field becomes a flag."""

    name: str = "examples.barlow_twins:BarlowTwins"
    """Import path of the method."""
    expander: tuple[int, ...] = (512, 512, 512)
    """Widths of the projector; 8192 three times in the paper."""
    redundancy: float = 0.005
    """Weight of the correlations between different dimensions."""
    augment: AugmentConfig = field(default_factory=vicreg)
    """Augmentations of the two views."""

    def __post_init__(self) -> None:
        if not self.expander or min(self.expander) < 1:
            raise UserError(f"expander is {self.expander}, but it must have at least one width above 0")
        if not self.redundancy >= 0:
            raise UserError(f"redundancy is {self.redundancy}, but it must be 0 or more")


class BarlowTwins(Method):
    """Makes the cross-correlation matrix of two views close to the identity.

    z is the embedding of the first view, before the projector.
    """

    Config: ClassVar[type[MethodConfig]] = BarlowTwinsConfig

    def __init__(self, encoder: Encoder, config: BarlowTwinsConfig) -> None:
        super().__init__(encoder)
        self.config = config
        self.projector = expander(encoder.dim, config.expander)

    def forward(self, frames: Sequence[Tensor], draws: Sequence[Draws]) -> list[SSLOutput]:
        z, pairs = two_views(self.encoder, self.projector, frames, draws, self.config.augment)
        with torch.autocast(z[0].device.type, enabled=False):  # half precision is too coarse for correlations
            return [self._output(first, e, e_other) for first, (e, e_other) in zip(z, pairs, strict=True)]

    def _output(self, z: Tensor, e: Tensor, e_other: Tensor) -> SSLOutput:
        # Correlations need the joined batch. Every process computes the whole loss, so their average is the loss.
        joined = JoinedBatch.of(len(e), e.device)
        c = correlations(joined.gather(e.float()), joined.gather(e_other.float()))
        invariance = (1 - c.diagonal()).square().sum()
        redundancy = c.square().sum() - c.diagonal().square().sum()
        terms = {"invariance": invariance.detach(), "redundancy": redundancy.detach()}
        return SSLOutput(invariance + self.config.redundancy * redundancy, terms, z)


def correlations(e: Tensor, e_other: Tensor) -> Tensor:
    """(T, E), (T, E) -> (E, E): the cross-correlations of the dimensions of two views."""
    first, second = ((x - x.mean(dim=0)) / (x.var(dim=0, correction=0) + 1e-5).sqrt() for x in (e, e_other))
    return first.T @ second / len(e)
