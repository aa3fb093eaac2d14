"""An adapted encoder: a frozen published encoder, and a small head that is trained on its features.

Shape letters: B batch, C channels, S image size, V stored views, K features, M embedding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import cast

import torch
from torch import Tensor, nn

from lie_ssl.errors import UserError
from lie_ssl.methods.encoders import Encoder
from lie_ssl.methods.extractor import POOLED, FeatureConfig, FeatureExtractor
from lie_ssl.methods.stages import empty_pictures, last_stages
from lie_ssl.serialization import added_field, check_numbers

IDENTITY, SHARE = 512, 48  # default sizes of u, and of v for each factor of variation
RIDGE = 0.1  # of the mean variance within objects, added to all of them
EVERYTHING = slice(None)
SMALL = 1e-6  # avoids a division by zero for constant features


@dataclass(frozen=True)
class AdaptConfig:
    """Settings of an adapted encoder: which features are stored, and the head on them."""

    features: FeatureConfig = field(default_factory=FeatureConfig)
    """The features of the frozen encoder."""
    dim: int | None = None
    """Size of the embedding z; None for that of u and 48 for each factor of variation."""
    hidden: int = 512
    """Width of the parts of the head."""
    components: int | None = 1024
    """Principal components of the features that the identity part of z sees; None for all features."""
    dropout: float = 0.2
    """Dropout before every layer of the head."""
    views: int = 0
    """Augmented views of each frame to store, for the self-supervised loss of the method."""
    identity: int = added_field(128)
    """Size of u; that of an objective with an operator is objective.operator.fixed instead."""
    linear: bool = added_field(False)
    """Whether u is the sum of the two layers and a linear map, which starts by scaling down what differs between the
    frames of an object."""
    maps: bool = added_field(False)
    """Whether v sees the maps of middle layers only, and u only the pooled output and the map of the last of them:
    early layers know the pose, late ones what an object is."""
    moved_hidden: int | None = added_field(None)
    """Width of the part that gives v; None for `hidden`."""
    moved_dropout: float | None = added_field(None)
    """Dropout in the part that gives v; None for `dropout`."""

    def __post_init__(self) -> None:
        check_numbers(self, "adapt")
        for name in ("dim", "hidden", "components", "identity", "moved_hidden"):
            if (value := getattr(self, name)) is not None and value < 1:
                raise UserError(f"adapt.{name} is {value}, but it must be 1 or more")
        for name in ("dropout", "moved_dropout"):
            if (value := getattr(self, name)) is not None and not 0 <= value < 1:
                raise UserError(f"adapt.{name} is {value}, but it must lie in [0, 1)")
        if self.views < 0 or self.views == 1:
            raise UserError(f"adapt.views is {self.views}, but it must be 0, or 2 or more")

    def for_v(self) -> AdaptConfig:
        """The settings of the part that gives v."""
        dropout = self.dropout if self.moved_dropout is None else self.moved_dropout
        return replace(self, hidden=self.moved_hidden or self.hidden, dropout=dropout)

    def seen_by_v(self, slices: Mapping[str, slice]) -> slice:
        """The features that v sees, given the parts of all features; all of them if there are no maps."""
        return slice(slices[POOLED].stop if self.maps and len(slices) > 1 else 0, None)

    def seen_by_u(self, slices: Mapping[str, slice]) -> Tensor:
        """The indices of the features that u sees."""
        seen = torch.ones(feature_count(slices), dtype=torch.bool)
        if self.maps:
            for part in list(slices.values())[1:-1]:
                seen[part] = False
        return seen.nonzero()[:, 0]

    def embedding(self, factors: int, identity: int | None = None) -> int:
        """The size of z for a number of factors of variation, and a size of u if the objective has its own."""
        return self.dim or (identity or self.identity) + SHARE * factors


class Head(nn.Module):
    """Maps features (B, K) to embeddings z = (u, v) of size M, by two layers each for u and v.

    u sees principal components of the standardised features, and v the features themselves: recognition of new
    objects gains from fewer features, pose from more. With `linear`, u also has a linear path, which keeps what the
    published encoder knows. With `maps`, each sees only those layers that help it.

    Args:
        slices: The parts of the features, K in all, as :attr:`FeatureExtractor.slices` has them.
        dim: M.
        identity: Size of u.
        config: Widths and dropout.
    """

    mean: Tensor
    std: Tensor
    basis: Tensor
    whitening: Tensor

    def __init__(self, slices: Mapping[str, slice], dim: int, identity: int, config: AdaptConfig) -> None:
        super().__init__()
        features = feature_count(slices)
        self.seen_by_u, self.seen_by_v = config.seen_by_u(slices), config.seen_by_v(slices)
        components = min(len(self.seen_by_u), config.components or features)
        self.register_buffer("mean", torch.zeros(features))
        self.register_buffer("std", torch.ones(features))
        self.register_buffer("basis", torch.eye(features)[:, self.seen_by_u[:components]])
        self.identity = _identity_part(components, identity, config) if identity else None
        self.target_count = min(identity, components)
        # Only training needs it, which computes it at every start.
        self.register_buffer("whitening", torch.zeros(0, components), persistent=False)
        own = len(range(features)[self.seen_by_v])
        self.moved = _layers(own, dim - identity, config.for_v()) if dim > identity else None

    @torch.no_grad()
    def standardise(self, mean: Tensor, std: Tensor) -> None:
        """Sets the mean and the standard deviation (K,) of the features."""
        self.mean.copy_(mean)
        self.std.copy_(std)

    @torch.no_grad()
    def reduce(self, sample: Tensor) -> None:
        """Sets the principal components to those of some features (N, K), with a mean square of 1 in all."""
        count = self.basis.shape[1]
        if count == len(self.seen_by_u):
            return
        x = self.standardised(sample)[:, self.seen_by_u]
        rank = min(count, len(x))
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            vectors = torch.svd_lowrank(x, q=rank, niter=3)[2]
        self.basis.zero_()
        self.basis[self.seen_by_u, :rank] = vectors / (x @ vectors).square().mean().sqrt().clamp_min(SMALL)

    @torch.no_grad()
    def scale_down(self, within: Tensor, sample: Tensor) -> None:
        """Sets the targets of u, and starts its linear map, if there is one, with the same directions: those in which
        the frames of an object differ little.

        Args:
            within: (N, K) features of frames, minus the mean of all frames of the same object.
            sample: (N', K) features, for the scale of :meth:`targets`.
        """
        if self.identity is None:
            return
        x = (within / (self.std + SMALL)) @ self.basis
        rows = whitening(x.T @ x / len(x))[: self.target_count]
        if isinstance(self.identity, LinearAndLayers):
            self.identity.start(rows)
        self.whitening = rows.to(self.basis)
        self.whitening /= self.targets(sample).square().mean().sqrt().clamp_min(SMALL)

    def targets(self, features: Tensor) -> Tensor:
        """(B, K) or (B, K + C), as in :meth:`forward` -> (B, T): what u sees of the published features, with directions
        scaled down in which the frames of an object differ; the mean square is 1. Constant while the head learns."""
        known = features[:, len(self.mean) :]
        return (known if known.shape[1] else self.components(features)) @ self.whitening.T

    def standardised(self, features: Tensor, part: slice = EVERYTHING) -> Tensor:
        """(B, K) -> (B, K), or a part of these."""
        return (features[:, part] - self.mean[part]) / (self.std[part] + SMALL)

    def components(self, features: Tensor) -> Tensor:
        """(B, K) -> (B, C), the principal components, of which there are C."""
        return self.standardised(features) @ self.basis

    def forward(self, features: Tensor) -> Tensor:
        """(B, K) -> (B, M); also (B, K + C), features followed by their principal components, which saves time."""
        features, known = features[:, : len(self.mean)], features[:, len(self.mean) :]
        parts = []
        if self.identity is not None:
            parts.append(self.identity(known if known.shape[1] else self.components(features)))
        if self.moved is not None:
            parts.append(self.moved(self.standardised(features, self.seen_by_v)))
        return torch.cat(parts, dim=1)


class LinearAndLayers(nn.Module):
    """The sum of a linear map and two layers, which start at zero. (B, C) -> (B, U)."""

    def __init__(self, components: int, dim: int, config: AdaptConfig) -> None:
        super().__init__()
        self.layers = _layers(components, dim, config)
        self.linear = nn.Linear(components, dim, bias=False)

    @torch.no_grad()
    def start(self, rows: Tensor) -> None:
        """Sets the linear map to the rows (R, C) of a matrix. If u has more dimensions, the others start at zero."""
        self.linear.weight.zero_()
        self.linear.weight[: len(rows)] = rows.to(self.linear.weight)
        last = self.layers[-1]
        assert isinstance(last, nn.Linear)
        nn.init.zeros_(last.weight)

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.linear(x) + self.layers(x)
        return found


def whitening(within: Tensor) -> Tensor:
    """W^-1/2, where W (C, C) is the covariance within objects, with a ridge -> (C, C) float64.

    Its rows are the directions in which the frames of an object differ least, each divided by its deviation.
    """
    variances, directions = torch.linalg.eigh(within.double())
    scaled: Tensor = directions * (variances.clamp_min(0) + RIDGE * variances.mean() + SMALL).rsqrt()
    return scaled.T


def _identity_part(components: int, dim: int, config: AdaptConfig) -> nn.Module:
    return LinearAndLayers(components, dim, config) if config.linear else _layers(components, dim, config)


def feature_count(slices: Mapping[str, slice]) -> int:
    """The number of features of all parts."""
    return max(int(part.stop) for part in slices.values())


def _layers(features: int, dim: int, config: AdaptConfig) -> nn.Sequential:
    return nn.Sequential(
        nn.Dropout(config.dropout), nn.Linear(features, config.hidden), nn.GELU(), nn.Dropout(config.dropout),
        nn.Linear(config.hidden, dim),
    )  # fmt: skip


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

    def targets(self, images: Tensor) -> Tensor:
        """Stored features (B, 1 + V, K) -> (B, T), what the head can be asked to predict (see :meth:`Head.targets`)."""
        assert isinstance(self.head, Head)
        return self.head.targets(images[:, 0])

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

    def unfreeze(self, number: int) -> tuple[str, ...]:
        """Lets the last stages of the published encoder learn too; everything before them stays frozen.

        The encoder stays in eval mode, so that batch-norm keeps its statistics. What is frozen takes no memory for
        gradients: torch records nothing before the first weight that is trained.

        Args:
            number: How many stages.

        Returns:
            The names of these stages.
        """
        found = last_stages(self.frozen, number)
        for parameter in found.parameters:
            parameter.requires_grad_(True)
        with torch.enable_grad():
            if not self.frozen(empty_pictures(self.frozen)).requires_grad:
                raise UserError(
                    f"{type(self.frozen.body).__name__} computes without gradients, so its stages cannot learn; remove "
                    "no_grad or detach from its forward"
                )
        return found.names

    def stage_parameters(self) -> list[nn.Parameter]:
        """The weights of the published encoder that are trained; none unless stages were unfrozen."""
        return [] if self.extractor is None else [p for p in self.extractor.parameters() if p.requires_grad]

    def train(self, mode: bool = True) -> AdaptedEncoder:
        """Sets the mode of the head; the frozen encoder stays in eval mode."""
        super().train(mode)
        if self.extractor is not None:
            self.extractor.eval()
        return self
