"""Turns rotated pictures upright: how likely each of several turned copies of a picture is the upright one.

A model with an anchor reads the angle of one picture. A copy of the picture, turned by a known angle, is read anew, and
its reading, turned back, is a second opinion. The opinions of evenly spaced copies are averaged.

Shape letters: N pictures, K copies, T angles, M embedding, S size, C channels.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lie_ssl.lie import LieOperator

STEP = 2.0  # degrees between the angles at which densities are compared, at most


class Upright(NamedTuple):
    """Pictures that were turned upright.

    Attributes:
        pictures: (N, S, S, C) uint8, black outside the largest circle.
        degrees: (N,) how far the given pictures are rotated, counter-clockwise, in [-180, 180).
        probability: (N,) how likely this is, within half of the angle between two copies.
    """

    pictures: NDArray[np.uint8]
    degrees: Tensor
    probability: Tensor


@torch.no_grad()
def angle_posterior(
    operator: LieOperator, z: Tensor, factor: int | None = None, *, prior: float = 0.0, sharpness: float = 1.0
) -> Tensor:
    """How likely each angle is, by all copies of a picture together.

    Args:
        operator: An operator with an anchor.
        z: Embeddings (N, K, M) of the copies.
        factor: The factor that is the rotation.
        prior: How likely it is beforehand that the picture is upright exactly as it is given.
        sharpness: Multiplies the average of the copies' log-densities: 1 if they all make the same mistakes, K if
            their mistakes are independent.

    Returns:
        Probabilities (N, T) of the angles 0, 360 / T, ... degrees; T is a multiple of K.
    """
    turns = z.shape[1]
    inside = math.ceil(360 / STEP / turns)
    angles = torch.arange(turns * inside) * (2 * math.pi / (turns * inside))
    found = operator.density(z.flatten(0, 1), angles, factor).view(len(z), turns, -1)
    mean = torch.stack([found[:, k].roll(-k * inside, dims=1) for k in range(turns)]).mean(dim=0)
    likelihood = (sharpness * mean).log_softmax(dim=1).exp()
    before = torch.full_like(likelihood, (1 - prior) / likelihood.shape[1])
    before[:, 0] += prior
    posterior = likelihood * before
    return posterior / posterior.sum(dim=1, keepdim=True)


def copy_weights(posterior: Tensor, turns: int) -> Tensor:
    """(N, T) probabilities of the angles of pictures -> (N, K): how likely each copy is the upright one.

    Copy k is upright if the picture is rotated by -k / K of a circle; angles in between count for the nearest copy.
    """
    inside = posterior.shape[1] // turns
    bins = posterior.roll(inside // 2, dims=1).view(len(posterior), turns, inside).sum(dim=2)
    return bins[:, [-k % turns for k in range(turns)]]


def best_angle(posterior: Tensor, turns: int) -> tuple[Tensor, Tensor]:
    """(N, T) -> the most likely angle in degrees, in [-180, 180), and how likely it is within half a turn of a copy."""
    total, inside = posterior.shape[1], posterior.shape[1] // turns
    around = torch.stack([posterior.roll(s, dims=1) for s in range(-(inside // 2), inside - inside // 2)]).sum(dim=0)
    best = posterior.argmax(dim=1)
    degrees = torch.remainder(best * (360 / total) + 180, 360) - 180
    return degrees, around.gather(1, best[:, None])[:, 0]
