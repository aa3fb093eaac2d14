"""The poses of a data set: rotations, their names, and which of them look the same.

Every instance is shown at the same angles. Free rotations and factors of variation are drawn with a seed for each
instance, so a frame does not depend on the process that renders it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from lie_ssl.frames.config import DataConfig
from lie_ssl.frames.factors.base import Factor
from lie_ssl.frames.kinds import KINDS, PoseKind
from lie_ssl.render.view import View


@dataclass(frozen=True, eq=False)
class Pose:
    """One frame: its kind and angle (degrees; geodesic for so3; one unit of time is a radian), the rotation (3, 3) in
    camera axes, the values of factors that are not neutral, and the earlier frame that looks the same."""

    kind: str  # one of KINDS
    angle: float
    rotation: NDArray[np.float64]
    values: Mapping[str, float] = field(default_factory=dict)
    duplicate_of: int = -1  # position in the same instance's list, -1 for none

    def view(self, factors: Sequence[Factor]) -> View:
        """The view for the renderer, with the values of the given factors."""
        view = View(self.rotation)
        for factor in factors:
            if factor.name in self.values:
                view = factor.apply_view(view, self.values[factor.name])
        return view


def rotation(kind: str, angle: float, elevation: float = 0.0) -> NDArray[np.float64]:
    """The rotation (3, 3) in camera axes of a kind of pose whose angle determines it."""
    turn = KINDS[kind].rotation
    if turn is None:
        raise ValueError(f"the angle of a {kind} pose does not determine its rotation")
    return turn(angle, elevation)


def instance_poses(config: DataConfig, class_name: str, instance: str) -> list[Pose]:
    """All frames of one instance, the typical one first."""
    if not config.varied and not any(KINDS[name].free for name in config.poses):
        return list(_fixed_poses(config))  # nothing is random, so all instances share one list
    return _drawn_poses(config, _random(config.seed, class_name, instance))


@lru_cache(maxsize=4)
def _fixed_poses(config: DataConfig) -> tuple[Pose, ...]:
    return tuple(_drawn_poses(config, np.random.default_rng(0)))


def _drawn_poses(config: DataConfig, random: np.random.Generator) -> list[Pose]:
    poses: list[Pose] = []
    seen: dict[tuple[float, ...], int] = {}
    for kind in (KINDS[name] for name in config.poses):
        for angle, free in _angles(config, kind, random):
            for repeat in range(config.repeats):
                typical = not poses or (not kind.free and angle == 0 and repeat == 0)
                values = {} if typical else _drawn_values(config, random)
                matrix = rotation(kind.name, angle, values.get("elevation", 0.0)) if free is None else free
                earlier = seen.setdefault(_look(matrix, values), len(poses))
                poses.append(Pose(kind.name, angle, matrix, values, -1 if earlier == len(poses) else earlier))
    return poses


def _angles(
    config: DataConfig, kind: PoseKind, random: np.random.Generator
) -> list[tuple[float, NDArray[np.float64] | None]]:
    """The angles of a kind, with the rotation of each if it is drawn."""
    if not kind.free:
        return [(float(a), None) for a in np.arange(config.turns) * config.step]
    # The first free rotation is the identity, so that every instance has its typical pose.
    matrices = [np.eye(3)] + [_uniform(random) for _ in range(config.rotations - 1)]
    return [(geodesic(m), m) for m in matrices]


def geodesic(matrix: NDArray[np.float64]) -> float:
    """The angle of a rotation (3, 3), in degrees in [0, 180]."""
    return float(np.degrees(np.arccos(np.clip((np.trace(matrix) - 1) / 2, -1, 1))))


def _uniform(random: np.random.Generator) -> NDArray[np.float64]:
    """A uniformly random rotation, from a random unit quaternion."""
    w, x, y, z = (q := random.standard_normal(4)) / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def _drawn_values(config: DataConfig, random: np.random.Generator) -> dict[str, float]:
    return {name: float(random.uniform(*config.ranges[name])) for name in config.varied}


def _look(matrix: NDArray[np.float64], values: Mapping[str, float]) -> tuple[float, ...]:
    """A key that is equal for frames with the same picture."""
    # Adding zero turns -0.0 into 0.0, which would be another key.
    rotation = tuple(float(x) for x in np.round(matrix, 7).reshape(-1) + 0.0)
    return (*rotation, *values.values())


def _random(seed: int, class_name: str, instance: str) -> np.random.Generator:
    key = hashlib.sha256(f"poses/{seed}/{class_name}/{instance}".encode()).digest()
    return np.random.default_rng(int.from_bytes(key[:8], "little"))
