"""A small network that reads the angle between two frames from their embeddings.

Shape letters: N frames, P pairs, M embedding, C components.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from lie_ssl.errors import UserError
from lie_ssl.methods.draws import derive_seed
from lie_ssl.serialization import added_field, check_numbers
from lie_ssl.storage.limits import check_steps
from lie_ssl.training.schedule import half_cosine

Rows = NDArray[np.int64]
Angles = NDArray[np.float64]
CHECKS = 10  # looks at the validation pairs during training
SMALL = 1e-6  # avoids a division by zero for constant dimensions


@dataclass(frozen=True)
class ReadoutConfig:
    """Settings of the network that reads angles."""

    steps: int = 1000
    """Steps of training."""
    batch: int = 256
    """Pairs per step."""
    hidden: int = 512
    """Width of both hidden layers."""
    components: int = 512
    """Principal components that it sees of larger embeddings."""
    lr: float = 1e-3
    """Peak learning rate."""
    whole: int | None = added_field(None)
    """Embeddings up to this size are seen whole, as principal components may lose a small part, such as v beside u.
    None for the number of components."""

    def __post_init__(self) -> None:
        check_steps("readout.steps", self.steps)
        check_numbers(self, "readout")
        if min(self.steps, self.batch, self.hidden, self.components) < 1 or self.lr <= 0:
            raise UserError("all settings of readout must be above 0")


class Readout(nn.Module):
    """From two embeddings to an angle: standardised principal components, then two hidden layers.

    Args:
        z: Embeddings (N, M) that give the mean, the components and their deviations.
        config: Its size.
    """

    def __init__(self, z: Tensor, config: ReadoutConfig) -> None:
        super().__init__()
        self.mean = z.mean(dim=0)
        centred = z - self.mean
        self.basis = torch.eye(z.shape[1])
        if z.shape[1] > max(config.components, config.whole or 0):
            # Quicker than all components of thousands of dimensions, which would take minutes.
            self.basis = torch.svd_lowrank(centred, min(config.components, len(z)))[2]
        self.scale = (centred @ self.basis).std(dim=0) + SMALL
        self.layers = nn.Sequential(
            nn.Linear(2 * self.basis.shape[1], config.hidden), nn.GELU(), nn.Linear(config.hidden, config.hidden),
            nn.GELU(), nn.Linear(config.hidden, 2),
        )  # fmt: skip

    def components(self, z: Tensor) -> Tensor:
        """(N, M) -> (N, C)."""
        return ((z - self.mean) @ self.basis) / self.scale

    def forward(self, first: Tensor, second: Tensor) -> Tensor:
        """(P, C), (P, C) components -> (P, 2) cosine and sine of the angle."""
        out: Tensor = self.layers(torch.cat([first, second], dim=1))
        return out

    @torch.no_grad()
    def angles(self, z: Tensor, z_next: Tensor) -> Angles:
        """(P, M), (P, M) embeddings -> (P,) angles in radians."""
        cosine, sine = self(self.components(z), self.components(z_next)).unbind(1)
        return torch.atan2(sine, cosine).double().numpy()


def train_readout(
    z: Tensor, angle: Angles, groups: Sequence[Rows], validation: tuple[Tensor, Tensor, Angles], config: ReadoutConfig,
    seed: int = 0,
) -> Readout:  # fmt: skip
    """Trains on random pairs of frames of the same object, and keeps the weights that are best on validation pairs.

    Args:
        z: Embeddings (N, M) of the frames of known objects.
        angle: (N,) their angles, in radians.
        groups: For each object, its rows of z.
        validation: Embeddings (P, M) of both frames and angles (P,) between them, of other objects.
        config: Settings.
        seed: Seed of the weights and pairs.
    """
    random = np.random.default_rng((seed, 3))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive_seed(seed, "readout"))
        model = Readout(z, config)
    x = model.components(z)
    optimiser = torch.optim.AdamW(model.parameters(), lr=config.lr, weight_decay=0.05)
    best, kept = math.inf, model.layers.state_dict()
    for step in range(config.steps):
        for group in optimiser.param_groups:
            group["lr"] = config.lr * half_cosine(step, config.steps)
        a, b = _draw(groups, config.batch, random)
        delta = torch.from_numpy(angle[b] - angle[a]).float()
        loss = functional.mse_loss(model(x[a], x[b]), torch.stack([delta.cos(), delta.sin()], dim=1))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if (step + 1) % max(1, config.steps // CHECKS) == 0 and len(validation[0]):
            error = float(angle_errors(model.angles(*validation[:2]), validation[2]).mean())
            if error < best:
                best, kept = error, {name: value.clone() for name, value in model.layers.state_dict().items()}
    model.layers.load_state_dict(kept)
    return model


def angle_errors(found: Angles, true: Angles) -> Angles:
    """The distances of angles in radians, around the circle, in degrees.

    >>> angle_errors(np.array([3.0]), np.array([-3.0])).round(1)
    array([16.2])
    """
    difference = np.remainder(found - true + math.pi, 2 * math.pi) - math.pi
    return np.degrees(np.abs(difference))


def _draw(groups: Sequence[Rows], batch: int, random: np.random.Generator) -> tuple[Rows, Rows]:
    """Two different frames of each of some random objects."""
    chosen = [random.choice(groups[i], 2, replace=False) for i in random.integers(len(groups), size=batch)]
    first, second = np.array(chosen, np.int64).T
    return first, second
