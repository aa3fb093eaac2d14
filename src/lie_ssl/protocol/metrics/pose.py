"""Relative pose: how well the rotation between two frames can be regressed from their embeddings.

The regression is linear in both embeddings and in products of their first principal components. The products are
needed because the rotation from one angle to another is a sum of products of their sines and cosines.

Shape letters: P pairs, M embedding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from lie_ssl.protocol.context import Context, MoveTest
from lie_ssl.protocol.metrics import Values, metric
from lie_ssl.protocol.moves import Moves
from lie_ssl.protocol.schema import Column

COMPONENTS = 16  # principal components of each embedding in the products
RIDGES = tuple(10.0**i for i in range(-5, 4))

Pairs = tuple[Tensor, Tensor]  # concatenated embeddings of both frames (P, 2 M), and quaternions (P, 4)


@dataclass(frozen=True)
class PoseRegression:
    """The errors of a regression and of a constant predictor; R^2 is the mean over the quaternion's components."""

    r2: float
    degrees: float  # mean geodesic error of the rotation
    constant_r2: float
    constant_degrees: float


@metric(
    "pose",
    title="relative pose",
    columns=(
        Column("pose_r2", "pose R²"),
        Column("pose_degrees", "pose error, degrees", digits=1),
        Column("constant_r2"),
    ),
    order=20,
    about="Pose is regressed from the two embeddings; for encoders without an operator it is the only metric.",
)
def pose(context: Context, test: MoveTest) -> Values:
    """Trains on the moves of every second known instance, and tests on the other known or on the unknown instances."""
    known, validation = (context.moves[test.poses][name] for name in ("known", "validation"))
    in_training = known.instance % 2 == 0
    found = regress_pose(
        _pairs(context, known, in_training),
        _pairs(context, validation),
        _pairs(context, test.moves, ~in_training if test.instances == "known" else slice(None)),
    )
    return {"pose_r2": found.r2, "pose_degrees": found.degrees, "constant_r2": found.constant_r2}


def _pairs(context: Context, moves: Moves, chosen: NDArray[np.bool_] | slice = slice(None)) -> Pairs:
    first, second = moves.source[chosen], moves.target[chosen]
    z = torch.cat([context.features(first), context.features(second)], dim=1)
    return z, relative_quaternions(context.rotations, first, second)


def relative_quaternions(rotations: NDArray[np.float64], first: NDArray[np.int64], second: NDArray[np.int64]) -> Tensor:
    """(frames, 3, 3) rotations and pairs of frames -> (P, 4) unit quaternions of second . first^T, in float64.

    The real part comes first and is never negative.
    """
    relative = np.einsum("pij,pkj->pik", rotations[second], rotations[first])
    return torch.from_numpy(quaternions(relative))


def quaternions(rotations: NDArray[np.float64]) -> NDArray[np.float64]:
    """(P, 3, 3) -> (P, 4), as an eigenvector of a symmetric matrix, which is stable at every angle."""
    (a, b, c), (d, e, f), (g, h, i) = np.moveaxis(rotations, 0, -1)
    k = np.array([
        [a + e + i, h - f, c - g, d - b],
        [h - f, a - e - i, b + d, c + g],
        [c - g, b + d, e - a - i, f + h],
        [d - b, c + g, f + h, i - a - e],
    ])  # fmt: skip
    q: NDArray[np.float64] = np.linalg.eigh(np.moveaxis(k, -1, 0))[1][:, :, -1]
    # At 180 degrees the real part is only rounding error, so the first larger component determines the sign.
    leading = np.take_along_axis(q, (np.abs(q) > 1e-5).argmax(axis=1)[:, None], axis=1)
    return np.where(leading >= 0, q, -q)


def regress_pose(train: Pairs, validation: Pairs, test: Pairs) -> PoseRegression:
    """Trains a ridge regression on `train`, chooses its penalty on `validation`, and tests it on `test`."""
    (x, y), (x_val, y_val), (x_test, y_test) = ((a.double(), b.double()) for a, b in (train, validation, test))
    x, x_val, x_test = with_products(x, x_val, x_test)
    centre = y.mean(dim=0)
    values, vectors = torch.linalg.eigh(x.T @ x / len(x))
    target = vectors.T @ (x.T @ (y - centre) / len(x))
    best, weights = -math.inf, torch.zeros_like(target)
    for ridge in RIDGES:
        found = vectors @ (target / (values.clamp_min(0) + ridge)[:, None])
        score = r_squared(x_val @ found + centre, y_val)
        if score > best:
            best, weights = score, found
    if not bool((y.std(dim=0) > 1e-4).any()):  # the rotations of video clips are unknown
        return PoseRegression(math.nan, math.nan, math.nan, math.nan)
    found, constant = x_test @ weights + centre, centre.expand_as(y_test)
    return PoseRegression(
        r2=r_squared(found, y_test), degrees=degrees(found, y_test), constant_r2=r_squared(constant, y_test),
        constant_degrees=degrees(constant, y_test),
    )  # fmt: skip


def with_products(*parts: Tensor) -> list[Tensor]:
    """Appends products of principal components to concatenated embeddings: (P, 2 M) -> (P, 2 M + K^2).

    The means, standard deviations and principal components are those of the first part.
    """
    parts = tuple(_standardised(parts))
    first, second = parts[0].chunk(2, dim=1)
    _, vectors = torch.linalg.eigh(first.T @ first + second.T @ second)
    components = vectors[:, -COMPONENTS:]
    products = [
        torch.einsum("pi,pj->pij", *(half @ components for half in part.chunk(2, dim=1))).flatten(1) for part in parts
    ]
    return [torch.cat(both, dim=1) for both in zip(parts, _standardised(products), strict=True)]


def _standardised(parts: Sequence[Tensor]) -> list[Tensor]:
    mean, std = parts[0].mean(dim=0), parts[0].std(dim=0) + 1e-6
    return [(part - mean) / std for part in parts]


def r_squared(found: Tensor, true: Tensor) -> float:
    """The mean of 1 - residual / variance over all components that vary; nan if none does."""
    if not len(true):
        return math.nan
    residual = (true - found).square().mean(dim=0)
    variance = true.var(dim=0, unbiased=False)
    varies = variance > 1e-8
    return float((1 - residual[varies] / variance[varies]).mean()) if bool(varies.any()) else math.nan


def degrees(found: Tensor, true: Tensor) -> float:
    """Mean angle between the predicted rotation, normalised to a unit quaternion, and the true rotation."""
    unit = functional.normalize(found, dim=1)
    unit = torch.where((unit * true).sum(dim=1, keepdim=True) < 0, -unit, unit)  # q and -q are the same rotation
    # Unlike an arc cosine, this formula is accurate near 0.
    quarter = torch.atan2((unit - true).norm(dim=1), (unit + true).norm(dim=1))
    return float(4 * torch.rad2deg(quarter).mean())
