"""The base class of self-supervised methods: a loss over the views of a batch of frames.

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
    """Settings of a method. Each method has a subclass, its `Config`."""

    name: str
    """Name in the registry, or `package.module:Class`."""


class SSLOutput(NamedTuple):
    """The output of a method for one batch of frames."""

    loss: Tensor  # L_ssl, a mean over the batch
    terms: dict[str, Tensor]  # its parts, unweighted, for the log
    z: Tensor  # (B, M) embedding of the method's view


class Method(nn.Module, ABC):
    """A self-supervised method.

    A subclass has its settings as `Config` and its heads as attributes, and computes the loss of each of several
    batches of frames (the two frames of a pair) in one pass of the encoder. In a distributed run, its losses must be
    this process's share of those on the joined batch: the average over the processes is the loss.
    """

    Config: ClassVar[type[MethodConfig]]

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder

    def parts(self) -> dict[str, nn.Module]:
        """Modules besides the encoder for which a weight file may have a part, by the name of the part."""
        return {}

    @abstractmethod
    def forward(self, frames: Sequence[Tensor], draws: Sequence[Draws]) -> list[SSLOutput]:
        """Computes the loss of each batch of frames (B, C, H, W) in [0, 1], with its random numbers."""
