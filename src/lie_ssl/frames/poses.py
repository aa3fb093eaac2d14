"""The poses of a data set: which rotations, under which names, and which of them look the same.

Every instance of a data set is shown in the same 2d and 3d poses; free rotations and further factors are drawn for each
frame from a seed of its own, so that a frame never depends on which process draws it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from lie_ssl.frames.config import DataConfig, FrameKind, PoseKind
from lie_ssl.render.view import View, turn


@dataclass(frozen=True, eq=False)
class Pose:
    """One frame: its kind and angle (degrees; geodesic for so3; one unit of time is a radian), the view, and the
    earlier frame it equals."""

    kind: FrameKind
    angle: float
    view: View
    duplicate_of: int = -1  # position in the same instance's list, -1 for none


def rotation(kind: PoseKind, angle: float) -> NDArray[np.float64]:
    """(3, 3) rotation in camera axes: in-plane for 2d, about x, y and z by the same angle for 3d."""
    if kind == "2d":
        return turn(2, angle)
    return turn(2, angle) @ turn(1, angle) @ turn(0, angle)


def instance_poses(config: DataConfig, class_name: str, instance: str) -> list[Pose]:
    """All frames of one instance, the typical one first."""
    if "so3" not in config.poses and not config.varied:
        return list(_fixed_poses(config))  # nothing is drawn, so all instances share one list
    return _drawn_poses(config, _random(config.seed, class_name, instance))


@lru_cache(maxsize=4)
def _fixed_poses(config: DataConfig) -> tuple[Pose, ...]:
    return tuple(_drawn_poses(config, np.random.default_rng(0)))


def _drawn_poses(config: DataConfig, random: np.random.Generator) -> list[Pose]:
    poses: list[Pose] = []
    seen: dict[tuple[float, ...], int] = {}
    for kind in config.poses:
        for angle, matrix in _rotations(config, kind, random):
            for repeat in range(config.repeats):
                typical = not poses or (kind != "so3" and angle == 0 and repeat == 0)
                view = View(matrix) if typical else View(matrix, **_factors(config, random))
                earlier = seen.setdefault(_looks(view), len(poses))
                poses.append(Pose(kind, angle, view, -1 if earlier == len(poses) else earlier))
    return poses


def _rotations(
    config: DataConfig, kind: PoseKind, random: np.random.Generator
) -> list[tuple[float, NDArray[np.float64]]]:
    if kind != "so3":
        angles = [float(a) for a in np.arange(int(np.ceil(360 / config.step - 1e-9))) * config.step]
        return [(a, rotation(kind, a)) for a in angles]
    # The first free rotation is the identity: every instance has its typical pose, whatever kinds are asked for.
    matrices = [np.eye(3)] + [_uniform(random) for _ in range(config.rotations - 1)]
    return [(geodesic(m), m) for m in matrices]


def geodesic(matrix: NDArray[np.float64]) -> float:
    """Angle of a (3, 3) rotation, degrees in [0, 180]."""
    return float(np.degrees(np.arccos(np.clip((np.trace(matrix) - 1) / 2, -1, 1))))


def _uniform(random: np.random.Generator) -> NDArray[np.float64]:
    """A rotation drawn evenly from all rotations: a random unit quaternion."""
    w, x, y, z = (q := random.standard_normal(4)) / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def _factors(config: DataConfig, random: np.random.Generator) -> dict[str, float]:
    return {name: float(random.uniform(*getattr(config, name))) for name in config.varied}


def _looks(view: View) -> tuple[float, ...]:
    """A key that two views share when they give the same picture."""
    # Adding zero turns -0.0 into 0.0, which would otherwise be another key.
    rotation = tuple(float(x) for x in np.round(view.rotation, 7).reshape(-1) + 0.0)
    return (*rotation, view.elevation, view.light, view.hue, view.scale)


def _random(seed: int, class_name: str, instance: str) -> np.random.Generator:
    key = hashlib.sha256(f"poses/{seed}/{class_name}/{instance}".encode()).digest()
    return np.random.default_rng(int.from_bytes(key[:8], "little"))
