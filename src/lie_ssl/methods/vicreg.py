"""VICReg (Bardes, Ponce, LeCun, 2021): two views agree, every dimension varies, no two dimensions say the same.

Shape letters: B batch, M embedding, E expanded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from lie_ssl.contrast.gather import JoinedBatch
from lie_ssl.errors import UserError
from lie_ssl.methods.augment import AugmentConfig, vicreg
from lie_ssl.methods.draws import Draws
from lie_ssl.methods.encoders import Encoder
from lie_ssl.methods.method import Method, MethodConfig, SSLOutput
from lie_ssl.methods.registry import method
from lie_ssl.methods.views import two_views
from lie_ssl.serialization import check_numbers


@dataclass(frozen=True)
class VICRegConfig(MethodConfig):
    """Variance, invariance, covariance."""

    name: str = "vicreg"
    """Name of the method."""
    expander: tuple[int, ...] = (512, 512, 512)
    """Widths of the expander; 8192 three times in the paper."""
    invariance: float = 25.0
    """Weight of the distance between the two views."""
    variance: float = 25.0
    """Weight of the hinge on the deviation of every dimension."""
    covariance: float = 1.0
    """Weight of the squared covariances."""
    augment: AugmentConfig = field(default_factory=vicreg)
    """Augmentations of the two views."""

    def __post_init__(self) -> None:
        check_numbers(self, "method")
        if not self.expander or min(self.expander) < 1:
            raise UserError(f"expander is {self.expander}, but it needs at least one width above 0")
        for name in ("invariance", "variance", "covariance"):
            if not getattr(self, name) >= 0:
                raise UserError(f"{name} is {getattr(self, name)}, but weights are 0 or more")


@method("vicreg", title="VICReg", order=20)
class VICReg(Method):
    """z is the embedding of the first view, before the expander."""

    Config: ClassVar[type[MethodConfig]] = VICRegConfig

    def __init__(self, encoder: Encoder, config: VICRegConfig) -> None:
        super().__init__(encoder)
        self.config = config
        self.projector = expander(encoder.dim, config.expander)

    def parts(self) -> dict[str, nn.Module]:
        return {"projector": self.projector}

    def forward(self, frames: Sequence[Tensor], draws: Sequence[Draws]) -> list[SSLOutput]:
        z, pairs = two_views(self.encoder, self.projector, frames, draws, self.config.augment)
        with torch.autocast(z[0].device.type, enabled=False):  # covariances in half precision are noise
            return [self._output(first, e, e_other) for first, (e, e_other) in zip(z, pairs, strict=True)]

    def _output(self, z: Tensor, e: Tensor, e_other: Tensor) -> SSLOutput:
        joined = JoinedBatch.of(len(e), e.device)
        e, e_other = joined.gather(e.float()), joined.gather(e_other.float())
        c = self.config
        terms = {
            "invariance": functional.mse_loss(e, e_other),
            "variance": (variance_hinge(e) + variance_hinge(e_other)) / 2,
            "covariance": off_diagonal(e) + off_diagonal(e_other),
        }
        loss = c.invariance * terms["invariance"] + c.variance * terms["variance"] + c.covariance * terms["covariance"]
        return SSLOutput(loss, {k: v.detach() for k, v in terms.items()}, z)


def expander(dim: int, widths: Sequence[int]) -> nn.Sequential:
    """Linear layers with batch-norm and ReLU between them, the last one without either."""
    layers: list[nn.Module] = []
    for width in widths[:-1]:
        layers += [nn.Linear(dim, width), nn.BatchNorm1d(width), nn.ReLU()]
        dim = width
    return nn.Sequential(*layers, nn.Linear(dim, widths[-1], bias=False))


def variance_hinge(e: Tensor, target: float = 1.0) -> Tensor:
    """(B, E) -> how far the deviations of the dimensions fall short of the target, mean over the dimensions."""
    deviation = (e.var(dim=0) + 1e-4).sqrt()
    return (target - deviation).clamp_min(0).mean()


def off_diagonal(e: Tensor) -> Tensor:
    """(B, E) -> sum of the squared covariances of different dimensions, over E."""
    centred = e - e.mean(dim=0)
    covariance = centred.T @ centred / (len(e) - 1)
    return (covariance.square().sum() - covariance.diagonal().square().sum()) / e.shape[1]
