"""Views (pose, light, hue, size of a frame) and render settings."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from lie_ssl.errors import UserError
from lie_ssl.serialization import check_numbers

Matrix = NDArray[np.float64]

# The typical pose is seen from slightly right and above, as objects are usually photographed.
TYPICAL_AZIMUTH = -32.0
TYPICAL_ELEVATION = 22.0


@dataclass(frozen=True, eq=False)
class View:
    """The view of one frame: the rotation of the object in camera axes and other factors. Angles are in degrees."""

    rotation: Matrix = field(default_factory=lambda: np.eye(3))  # (3, 3), applied after the typical view
    elevation: float = 0.0  # of the camera above its usual height
    light: float = 0.0  # rotation of the light about the vertical axis of the camera
    hue: float = 0.0  # rotation of all colours about the grey axis
    scale: float = 1.0  # size of the object

    def __post_init__(self) -> None:
        if np.shape(self.rotation) != (3, 3) or not np.isfinite(self.rotation).all():
            raise UserError(
                f"a rotation must be 3 x 3 finite numbers, but this one has the shape {np.shape(self.rotation)}"
            )
        if not 0 < self.scale <= 1:
            raise UserError(f"scale is {self.scale}, but it must be above 0 and at most 1, the whole frame")


@dataclass(frozen=True)
class RenderSettings:
    """Settings of the renderer, the same for a whole data set."""

    size: int = 64  # pixels per side
    supersample: int = 3  # samples per pixel along each side
    background: tuple[float, float, float] = (1.0, 1.0, 1.0)  # sRGB
    grey: bool = False  # one channel instead of three
    clay: bool = False  # one colour for all surfaces, so that only the shape distinguishes objects
    field_of_view: float = 30.0  # degrees; small values look flat, like a telephoto lens

    def __post_init__(self) -> None:
        check_numbers(self)
        if not 1 <= self.size <= 4096:
            raise UserError(f"size is {self.size}, but it must be 1 to 4096 pixels")
        if not 1 <= self.supersample <= 8:
            raise UserError(f"supersample is {self.supersample}, but it must be 1 to 8")
        if not 1 <= self.field_of_view <= 120:
            raise UserError(f"field_of_view is {self.field_of_view}, but it must be 1 to 120 degrees")
        if len(self.background) != 3 or not all(0 <= c <= 1 for c in self.background):
            raise UserError(f"background is {self.background}, but it must be three numbers from 0 to 1")

    @property
    def channels(self) -> int:
        return 1 if self.grey else 3

    @cached_property
    def distance(self) -> float:
        """The distance of the camera at which the unit sphere just fits in the frame."""
        return 1.0 / math.sin(math.radians(self.field_of_view) / 2)

    @cached_property
    def focal(self) -> float:
        """Focal length, in units of half the frame."""
        return 1.0 / math.tan(math.radians(self.field_of_view) / 2)


def axis_rotation(axis: int, degrees: float) -> Matrix:
    """(3, 3) right-handed rotation about axis 0 (x), 1 (y) or 2 (z)."""
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    i, j = [(1, 2), (2, 0), (0, 1)][axis]
    matrix = np.eye(3)
    matrix[i, i], matrix[i, j], matrix[j, i], matrix[j, j] = c, -s, s, c
    return matrix


def camera_matrix(view: View) -> Matrix:
    """(3, 3) from object axes to camera axes (x right, y up, z towards the viewer), including the scale."""
    return view.scale * (np.asarray(view.rotation, np.float64) @ typical_view(view.elevation))


@lru_cache(maxsize=64)
def typical_view(elevation: float = 0.0) -> Matrix:
    """(3, 3) from object axes to camera axes in the typical pose; `elevation` raises the camera, in degrees."""
    return axis_rotation(0, TYPICAL_ELEVATION + elevation) @ axis_rotation(1, TYPICAL_AZIMUTH)


@lru_cache(maxsize=64)
def light_direction(light: float) -> Matrix:
    """(3,) unit vector towards the light, in camera axes: it moves with the camera, not with the object.

    `light` rotates it about the vertical axis, in degrees.
    """
    key = np.array([-0.45, 0.7, 0.85])
    direction: Matrix = axis_rotation(1, light) @ (key / np.linalg.norm(key))
    return direction


@lru_cache(maxsize=64)
def hue_matrix(degrees: float) -> Matrix:
    """(3, 3) rotation of linear RGB about the grey axis."""
    if degrees % 360 == 0:
        return np.eye(3)
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    axis = np.full(3, math.sqrt(1 / 3))
    cross = np.cross(np.eye(3), axis)
    return c * np.eye(3) + s * cross + (1 - c) * np.outer(axis, axis)
