"""The effect of a learned operator: the orbit of an embedding and the true poses, and the spectrum of the generators.

Shape letters: K poses, M moved dimensions, D generators.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.frames.pairs import Deltas, pose_kinds
from lie_ssl.lie.diagnostics import spectrum
from lie_ssl.protocol.schema import POSES
from lie_ssl.training.loading import Loaded

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Orbit:
    """Points in the plane of the first two principal components of the moved part of the true embeddings."""

    subject: str  # class and kind of pose
    angles: Floats  # (K,) degrees
    true: Floats  # (K, 2) embeddings of the frames
    inferred: Floats  # (K, 2) the first embedding, moved to each pose with the inferred t
    steps: Floats  # (K, 2) the first embedding, moved repeatedly with the t of the first move
    shares: tuple[float, float]  # shares of both components in the variance of the true embeddings


@torch.no_grad()
def orbit_of(loaded: Loaded, frames: FrameSet, poses: str = "2d") -> Orbit:
    """The orbit of one unknown instance.

    Args:
        loaded: A run with an operator.
        frames: The data set.
        poses: The kind of pose; another kind is used if the data set does not have it.
    """
    operator = loaded.operator
    if operator is None:
        raise UserError("the run has no operator")
    index = frames.index
    assert loaded.card is not None
    kinds = pose_kinds(index)
    deltas = Deltas(index, kinds if set(kinds) & set(loaded.card["factors"]) else ())
    if list(deltas.factors) != loaded.card["factors"]:
        raise UserError("the data set varies in other factors than the data set of the run")
    own = index[(index["split"] == "test") & index["duplicate_of"].isna()]
    kind = poses if (own["pose"] == poses).any() else next(iter(own["pose"]), poses)
    own = own[own["pose"] == kind]
    if own.empty:
        raise UserError("the data set has no unknown instances")
    name, instance = own[["class", "instance"]].iloc[0]
    own = own[(own["class"] == name) & (own["instance"] == instance)].sort_values("angle", kind="stable")
    if len(own) < 3:
        raise UserError("the first unknown instance has fewer than three poses")
    rows = own.index.to_numpy(np.int64)
    z = loaded.embed(frames.read(rows))
    first = z[:1].expand_as(z)
    delta = torch.from_numpy(deltas(np.full_like(rows, rows[0]), rows)).to(z.dtype)
    t = operator.infer(first, z, delta)
    moved = operator(first, t)
    steps = operator.orbit(z[:1], t[1], torch.arange(len(rows)))[:, 0]
    true, inferred, stepped = (x[:, operator.moved_dims(delta)].double().numpy() for x in (z, moved, steps))
    if not (np.isfinite(inferred).all() and np.isfinite(stepped).all()):
        raise UserError("embeddings are not finite after the move")
    centre = true.mean(axis=0)
    _, sizes, axes = np.linalg.svd(true - centre, full_matrices=False)
    shares = sizes**2 / max(float((sizes**2).sum()), 1e-30)
    plane = axes[:2].T  # (M, 2)
    return Orbit(
        subject=f"{name}, {POSES.title_of(kind)}",
        angles=own["angle"].to_numpy(np.float64),
        true=(true - centre) @ plane,
        inferred=(inferred - centre) @ plane,
        steps=(stepped - centre) @ plane,
        shares=(float(shares[0]), float(shares[1])),
    )


@torch.no_grad()
def eigenvalues(loaded: Loaded) -> list[list[complex]]:
    """The eigenvalues (D, M) of the generators on the moved part."""
    if loaded.operator is None:
        raise UserError("the run has no operator")
    if loaded.operator.action != "exp":
        raise UserError(f"its operator has the action {loaded.operator.action}, which has no generators")
    fixed = loaded.operator.fixed
    found: list[list[complex]] = spectrum(loaded.operator.generators[:, fixed:, fixed:]).tolist()
    return found
