"""What every self-supervised method is: an objective over the views of a batch of frames.

Shape letters: B batch, C channels, H height, W width, M embedding.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from torch import Tensor, nn

from lie_ssl.methods.draws import Draws
from lie_ssl.methods.encoders import Encoder


@dataclass(frozen=True)
class MethodConfig:
    """Settings of a method; each method has a subclass with its own."""

    name: str
    """Name in the registry, or `package.module:Class`."""


class SSLOutput(NamedTuple):
    """Of one batch of frames."""

    loss: Tensor  # L_ssl, a mean over the batch
    terms: dict[str, Tensor]  # its parts, unweighted, for the log
    z: Tensor  # (B, M) embedding of the view that the method worked on


class Method(nn.Module, ABC):
    """A self-supervised objective.

    A subclass names its settings as `Config`, keeps its heads as attributes, and gives the loss of each of several
    batches of frames (the two frames of a pair). It passes all of them through the encoder at once. In a distributed
    run its losses must be this process' share of that on the joined batch: the average over the processes is the loss.
    """

    Config: ClassVar[type[MethodConfig]]

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder

    def parts(self) -> dict[str, nn.Module]:
        """Modules beside the encoder for which a file of pretrained weights may have a part, by the part's name."""
        return {}

    @abstractmethod
    def forward(self, frames: Sequence[Tensor], draws: Sequence[Draws]) -> list[SSLOutput]:
        """Batches of frames (B, C, H, W) in [0, 1], and the random numbers of each -> the loss of each."""
