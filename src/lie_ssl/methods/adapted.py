"""An adapted encoder: a frozen published encoder, and a small head that is trained on its features.

Shape letters: B batch, C channels, S image size, V stored views, K features, M embedding.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

import torch
from torch import Tensor, nn

from lie_ssl.errors import UserError
from lie_ssl.methods.encoders import Encoder
from lie_ssl.methods.extractor import FeatureConfig, FeatureExtractor
from lie_ssl.serialization import check_numbers

IDENTITY, SHARE = 128, 48  # default sizes of u, and of v for each factor of variation
SMALL = 1e-6  # avoids a division by zero for constant features


@dataclass(frozen=True)
class AdaptConfig:
    """Settings of an adapted encoder: which features are stored, and the head on them."""

    features: FeatureConfig = field(default_factory=FeatureConfig)
    """The features of the frozen encoder."""
    dim: int | None = None
    """Size of the embedding z; None for 128 dimensions and 48 for each factor of variation."""
    hidden: int = 1024
    """Width of the head."""
    dropout: float = 0.2
    """Dropout before both layers of the head."""
    views: int = 0
    """Augmented views of each frame to store, for the self-supervised loss of the method."""

    def __post_init__(self) -> None:
        check_numbers(self, "adapt")
        for name in ("dim", "hidden"):
            if (value := getattr(self, name)) is not None and value < 1:
                raise UserError(f"adapt.{name} is {value}, but it must be 1 or more")
        if not 0 <= self.dropout < 1:
            raise UserError(f"adapt.dropout is {self.dropout}, but it must lie in [0, 1)")
        if self.views < 0 or self.views == 1:
            raise UserError(f"adapt.views is {self.views}, but it must be 0, or 2 or more")

    def embedding(self, factors: int) -> int:
        """The size of z for a number of factors of variation."""
        return self.dim or IDENTITY + SHARE * factors


class Head(nn.Module):
    """Standardises features (B, K) and maps them to embeddings (B, M) by two layers.

    Args:
        features: K.
        dim: M.
        config: Its width and dropout.
    """

    mean: Tensor
    std: Tensor

    def __init__(self, features: int, dim: int, config: AdaptConfig) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(features))
        self.register_buffer("std", torch.ones(features))
        self.layers = nn.Sequential(
            nn.Dropout(config.dropout), nn.Linear(features, config.hidden), nn.GELU(), nn.Dropout(config.dropout),
            nn.Linear(config.hidden, dim),
        )  # fmt: skip

    def standardise(self, mean: Tensor, std: Tensor) -> None:
        """Sets the mean and the standard deviation (K,) of the features."""
        self.mean.copy_(mean)
        self.std.copy_(std)

    def forward(self, features: Tensor) -> Tensor:
        """(B, K) -> (B, M)."""
        out: Tensor = self.layers((features - self.mean) / (self.std + SMALL))
        return out


class AdaptedEncoder(Encoder):
    """Embeds pictures by a frozen encoder and a head, or stored features by the head alone.

    Args:
        head: From features (B, K) to embeddings (B, M).
        dim: M.
        image_size, channels: Those of the pictures.
        extractor: From pictures to features. None while the head is trained on stored features; only these can then
            be embedded.
    """

    def __init__(
        self, head: nn.Module, dim: int, image_size: int, channels: int, extractor: FeatureExtractor | None = None
    ) -> None:
        nn.Module.__init__(self)
        self.head, self.dim, self.image_size, self.channels = head, dim, image_size, channels
        self.extractor = extractor
        self.output = None
        self.pool, self.is_vit, self.weight_report = "own", False, None
        if extractor is not None:
            extractor.requires_grad_(False)

    def forward(self, images: Tensor) -> Tensor:
        """Pictures (B, C, S, S) in [0, 1], or stored features (B, 1 + V, K), of which the first are the frames' own ->
        (B, M)."""
        features = self.features(images) if images.ndim == 4 else images[:, 0] if images.ndim == 3 else images
        z: Tensor = self.head(features)
        return z if self.output is None else cast(Tensor, self.output(z))

    @property
    def frozen(self) -> Encoder:
        """The published encoder."""
        if self.extractor is None:
            raise UserError("this model was built for stored features; load the run with lie_ssl.load")
        return self.extractor.encoder

    def features(self, images: Tensor) -> Tensor:
        """(B, C, S, S) in [0, 1] -> (B, K)."""
        if self.extractor is None:
            raise UserError(
                "this model was built for stored features; load the run with lie_ssl.load to embed pictures"
            )
        found: Tensor = self.extractor(images)
        return found

    def train(self, mode: bool = True) -> AdaptedEncoder:
        """Sets the mode of the head; the frozen encoder stays in eval mode."""
        super().train(mode)
        if self.extractor is not None:
            self.extractor.eval()
        return self
