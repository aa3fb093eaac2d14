"""The kinds of pose. This is their only list: configs, indexes, pairs, tables and figures take them from here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lie_ssl.render.view import Matrix, axis_rotation, typical_view


@dataclass(frozen=True)
class PoseKind:
    """A kind of pose: a value of the column pose of an index."""

    name: str
    title: str
    """Its title in tables and figures."""
    short: str
    """A shorter title, for captions and narrow columns."""
    about: str
    """What varies, for the help of `lie-ssl data make`."""
    colours: tuple[str, str]
    """Colours of known and of unknown instances in the figure of published models."""
    rotation: Callable[[float, float], Matrix] | None = None
    """The rotation (3, 3) in camera axes for an angle and an elevation of the camera above its usual height, both in
    degrees; None if the angle does not determine it."""
    periodic: bool = False
    """Whether angles that differ by 360 degrees are the same pose."""
    free: bool = False
    """Whether rotations are drawn at random; the angle is then the geodesic one, from 0 to 180 degrees."""


def _in_plane(angle: float, elevation: float) -> Matrix:
    return axis_rotation(2, angle)


def _euler(angle: float, elevation: float) -> Matrix:
    return axis_rotation(2, angle) @ axis_rotation(1, angle) @ axis_rotation(0, angle)


def _turntable(angle: float, elevation: float) -> Matrix:
    # The upright axis of the object leans towards a raised camera, so it depends on the elevation.
    view = typical_view(elevation)
    return view @ axis_rotation(1, angle) @ view.T


# In the order of tables and figures.
KINDS: dict[str, PoseKind] = {
    kind.name: kind
    for kind in (
        PoseKind(
            "2d", "2D poses", "2D", "rotations in the picture plane", ("#9ecae1", "#fdae6b"), _in_plane, periodic=True
        ),
        PoseKind(
            "3d", "3D poses", "3D", "rotations about x, y and z by the same angle", ("#3182bd", "#e6550d"), _euler,
            periodic=True,
        ),
        PoseKind(
            "yaw", "turntable poses", "turntable", "rotations about the upright axis of the object, as on a turntable",
            ("#08519c", "#a63603"), _turntable, periodic=True,
        ),
        PoseKind("so3", "free rotations", "SO3", "random rotations", ("#6baed6", "#fd8d3c"), free=True),
        PoseKind("time", "moments of a clip", "TIME", "moments of a video clip", ("#c6dbef", "#fdd0a2")),
    )
}  # fmt: skip
ANGLE_KINDS = tuple(name for name, kind in KINDS.items() if kind.rotation is not None)
AXES = ("rotation_x", "rotation_y", "rotation_z")  # factors of objectives that take poses as rotations of space
RENDERED_KINDS = tuple(name for name, kind in KINDS.items() if kind.rotation is not None or kind.free)
