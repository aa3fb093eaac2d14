"""Everything that decides what a data set holds. Two equal configs give the same bytes."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, get_args

from lie_ssl.errors import UserError
from lie_ssl.frames.columns import PoseKind
from lie_ssl.frames.factors.base import FACTORS, Range, all_factors, get_factor
from lie_ssl.frames.ranges import Ranges
from lie_ssl.frames.splits import check_shares
from lie_ssl.objects.sources.base import SOURCES, SPECIFIC_SETTINGS, Source
from lie_ssl.render.renderer import Backend
from lie_ssl.render.view import RenderSettings
from lie_ssl.serialization import check_numbers


@dataclass(frozen=True)
class DataConfig:
    """A pose data set.

    >>> DataConfig(classes=("chair", "mug"), ranges={"hue": (-40.0, 40.0)}).varied
    ('hue',)
    """

    source: str = "procedural"
    """Where the objects come from: a name of :data:`lie_ssl.objects.SOURCES`."""
    path: str | None = None
    """The mesh folder, or the Sweet Home 3D package; procedural objects need none."""
    layout: str = "auto"
    """How a mesh folder is laid out: auto, plain, shapenet, modelnet or gso."""
    up: str = "auto"
    """Which axis points upwards in mesh files, y or z; auto: z for ModelNet and Google Scanned Objects, y otherwise."""
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
    """Frames of every pose, each with its own draw of the factors of variation."""
    ranges: Mapping[str, Range] = Ranges()
    """From where to where each factor of variation goes; those that are left out do not vary."""
    validation: float = 0.10
    """Share of the instances of a class for validation."""
    test: float = 0.15
    """Share of the instances of a class for testing."""
    seed: int = 0
    """Of the objects, the splits, the free rotations and the factors of variation."""
    backend: Backend = "raster"
    """What draws the frames."""
    render: RenderSettings = field(default_factory=RenderSettings)

    def __post_init__(self) -> None:
        check_numbers(self)
        _check_factor_names()
        object.__setattr__(self, "ranges", Ranges(self.ranges))
        for name in ("classes", "poses"):
            if isinstance(value := getattr(self, name), str) or not isinstance(value, Sequence):
                raise UserError(f"{name} is {value!r}, but it takes several values")
            object.__setattr__(self, name, tuple(value))
        if self.backend not in get_args(Backend):
            raise UserError(f"backend is {self.backend!r}, but it can be {', '.join(get_args(Backend))}")
        self._check_poses()
        if self.instances < 1:
            raise UserError(f"instances is {self.instances}, but a class needs at least one")
        check_shares(self.validation, self.test)
        self.make_source()

    def _check_poses(self) -> None:
        if unknown := [p for p in self.poses if p not in get_args(PoseKind)]:
            raise UserError(f"poses has {unknown[0]!r}, but there are {', '.join(get_args(PoseKind))}")
        if not self.poses:
            raise UserError("poses is empty; give one or more of 2d, 3d, so3")
        if len(set(self.poses)) < len(self.poses):
            raise UserError(f"poses names a kind twice: {', '.join(self.poses)}")
        if not 0.1 <= self.step <= 360:
            raise UserError(f"step is {self.step}, but it can be 0.1 to 360 degrees")
        if self.rotations < 1 or self.repeats < 1:
            raise UserError("rotations and repeats must be 1 or more")

    @property
    def varied(self) -> tuple[str, ...]:
        """The factors of variation that are not constant."""
        return tuple(name for name, (low, high) in self.ranges.items() if low < high)

    def make_source(self) -> Source:
        """The source that this config names; it has read no file yet."""
        return SOURCES[self.source].value.from_config(self)

    def notes(self) -> list[str]:
        """Sentences about settings that change nothing."""
        useless = [s for s in SPECIFIC_SETTINGS if s not in SOURCES[self.source].value.settings]
        given = [f.name for f in fields(self) if f.name in useless and getattr(self, f.name) != f.default]
        notes = [f"--{name} has no effect on the source {self.source}" for name in given]
        for name, (low, high) in self.ranges.items():
            if low == high:
                notes.append(f"--{name} {low:g} {high:g} has no effect: a factor varies between two different values")
            elif (why := get_factor(name).no_effect(self.render)) is not None:
                notes.append(f"--{name} has no effect: {why}")
        return notes


def to_dict(config: DataConfig) -> dict[str, Any]:
    """Plain lists and numbers, as the card holds them. Hashes are of this form, so it must never change."""
    values: dict[str, Any] = {}
    for each in fields(config):
        if each.name == "ranges":
            factors = (f for f in all_factors() if f.in_every_index or f.name in config.ranges)
            values |= {f.name: config.ranges.get(f.name, f.default) for f in factors}
        else:
            values[each.name] = getattr(config, each.name)
    values["path"] = config.path or ""
    values["render"] = dataclasses.asdict(config.render)
    plain: dict[str, Any] = json.loads(json.dumps(values))
    return plain


def _check_factor_names() -> None:
    """Refuses a factor with the name of a setting: they share flags and keys."""
    settings = {f.name for kind in (DataConfig, RenderSettings) for f in fields(kind)}
    if clash := settings.intersection(FACTORS):
        raise UserError(f"the factor of variation {min(clash)!r} has the name of a setting; give it another one")
