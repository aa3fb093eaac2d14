"""Everything that decides what a data set holds. Two equal configs give the same bytes."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from lie_ssl.errors import UserError
from lie_ssl.frames.splits import check_shares
from lie_ssl.render.view import RenderSettings
from lie_ssl.serialization import check_numbers

PoseKind = Literal["2d", "3d", "so3"]
FrameKind = Literal[PoseKind, "time"]  # time for the frames of a clip
SourceName = Literal["procedural", "folder", "sweethome3d"]
RANGES = ("elevation", "light", "hue", "scale")
LAYOUTS = ("auto", "plain", "shapenet", "modelnet", "gso")
UPS = ("auto", "y", "z")


@dataclass(frozen=True)
class DataConfig:
    """A pose data set."""

    source: SourceName = "procedural"
    """Where the objects come from."""
    path: str = ""
    """The mesh folder, or the Sweet Home 3D package; not for procedural objects."""
    layout: Literal["auto", "plain", "shapenet", "modelnet", "gso"] = "auto"
    """How a mesh folder is laid out."""
    up: Literal["auto", "y", "z"] = "auto"
    """Which axis points upwards in mesh files; auto: z for ModelNet and Google Scanned Objects, y otherwise."""
    classes: tuple[str, ...] = ()
    """Classes to take; none means all."""
    instances: int = 50
    """Instances of a class (at most, where the source has a fixed number)."""
    poses: tuple[PoseKind, ...] = ("2d", "3d")
    """Kinds of poses: in-plane, all three Euler angles equal, free rotations."""
    step: float = 4.0
    """Degrees from one 2d or 3d pose to the next."""
    rotations: int = 64
    """Free rotations of an instance, where so3 is among the poses."""
    repeats: int = 1
    """Frames of every pose, each with its own draw of the further factors."""
    elevation: tuple[float, float] = (0.0, 0.0)
    """Range of the camera's extra height, degrees."""
    light: tuple[float, float] = (0.0, 0.0)
    """Range of the light's turn, degrees."""
    hue: tuple[float, float] = (0.0, 0.0)
    """Range of the colours' turn, degrees."""
    scale: tuple[float, float] = (1.0, 1.0)
    """Range of the object's size."""
    validation: float = 0.10
    """Share of the instances of a class for validation."""
    test: float = 0.15
    """Share of the instances of a class for testing."""
    seed: int = 0
    """Of the objects, the splits, the free rotations and the further factors."""
    backend: Literal["raster", "blender"] = "raster"
    """What draws the frames."""
    render: RenderSettings = field(default_factory=RenderSettings)

    def __post_init__(self) -> None:
        check_numbers(self)
        for name in ("classes", "poses", *RANGES):
            if isinstance(value := getattr(self, name), str) or not isinstance(value, Sequence):
                raise UserError(f"{name} is {value!r}, but it takes several values")
            object.__setattr__(self, name, tuple(value))
        known = {"source": get_args(SourceName), "layout": LAYOUTS, "up": UPS, "backend": ("raster", "blender")}
        for name, options in known.items():
            if getattr(self, name) not in options:
                raise UserError(f"{name} is {getattr(self, name)!r}, but it can be {', '.join(options)}")
        if unknown := [p for p in self.poses if p not in get_args(PoseKind)]:
            raise UserError(f"poses has {unknown[0]!r}, but there are {', '.join(get_args(PoseKind))}")
        if self.instances < 1:
            raise UserError(f"instances is {self.instances}, but a class needs at least one")
        if not self.poses:
            raise UserError("poses is empty; give one or more of 2d, 3d, so3")
        if len(set(self.poses)) < len(self.poses):
            raise UserError(f"poses names a kind twice: {', '.join(self.poses)}")
        if not 0.1 <= self.step <= 360:
            raise UserError(f"step is {self.step}, but it can be 0.1 to 360 degrees")
        if self.rotations < 1 or self.repeats < 1:
            raise UserError("rotations and repeats must be 1 or more")
        check_shares(self.validation, self.test)
        for name in RANGES:
            if len(getattr(self, name)) != 2 or not all(math.isfinite(x) for x in getattr(self, name)):
                raise UserError(f"{name} is {getattr(self, name)}, but a range is two finite numbers")
            low, high = getattr(self, name)
            if low > high:
                raise UserError(f"{name} is {low} to {high}, but the lower end comes first")
        if self.scale[0] <= 0 or self.scale[1] > 1:
            raise UserError(f"scale is {self.scale}, but sizes lie above 0 and reach to 1, the whole frame")

    @property
    def varied(self) -> tuple[str, ...]:
        """The further factors that are not constant."""
        return tuple(n for n in RANGES if getattr(self, n)[0] < getattr(self, n)[1])


def to_dict(config: DataConfig) -> dict[str, Any]:
    """Plain lists and numbers, as the card holds them."""
    plain: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(config)))
    return plain
