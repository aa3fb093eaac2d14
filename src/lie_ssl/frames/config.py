"""The config of a data set. Two equal configs give the same bytes."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, get_args

from lie_ssl.errors import UserError
from lie_ssl.frames.factors.base import FACTORS, Range, all_factors, get_factor
from lie_ssl.frames.kinds import RENDERED_KINDS
from lie_ssl.frames.ranges import Ranges
from lie_ssl.frames.splits import check_shares
from lie_ssl.objects.sources.base import SOURCES, SPECIFIC_SETTINGS, Source
from lie_ssl.render.renderer import Backend
from lie_ssl.render.view import RenderSettings
from lie_ssl.serialization import check_numbers


@dataclass(frozen=True)
class DataConfig:
    """The config of a pose data set.

    >>> DataConfig(classes=("chair", "mug"), ranges={"hue": (-40.0, 40.0)}).varied
    ('hue',)
    """

    source: str = "procedural"
    """Source of the objects: a name in :data:`lie_ssl.objects.SOURCES`."""
    path: str | None = None
    """Mesh folder or Sweet Home 3D package; not needed for procedural objects."""
    layout: str = "auto"
    """Layout of a mesh folder: auto, plain, shapenet, modelnet or gso."""
    up: str = "auto"
    """Axis that points up in mesh files, y or z; auto is z for ModelNet and Google Scanned Objects, y otherwise."""
    classes: tuple[str, ...] = ()
    """Classes to include; all by default."""
    instances: int = 50
    """Instances per class (at most, if the source has a fixed number)."""
    poses: tuple[str, ...] = ("2d", "3d")
    """Kinds of poses: names in :data:`lie_ssl.frames.kinds.RENDERED_KINDS`."""
    step: float = 4.0
    """Degrees between two neighbouring poses of a kind; so3 has none."""
    rotations: int = 64
    """Free rotations per instance, if so3 is among the poses."""
    repeats: int = 1
    """Frames per pose, each with its own values of the factors of variation."""
    ranges: Mapping[str, Range] = Ranges()
    """Range of each factor of variation; factors that are left out do not vary."""
    validation: float = 0.10
    """Share of the instances of each class in the validation set."""
    test: float = 0.15
    """Share of the instances of each class in the test set."""
    seed: int = 0
    """Seed of the objects, splits, free rotations and factors of variation."""
    backend: Backend = "raster"
    """Renderer."""
    render: RenderSettings = field(default_factory=RenderSettings)

    def __post_init__(self) -> None:
        check_numbers(self)
        _check_factor_names()
        object.__setattr__(self, "ranges", Ranges(self.ranges))
        for name in ("classes", "poses"):
            if isinstance(value := getattr(self, name), str) or not isinstance(value, Sequence):
                raise UserError(f"{name} is {value!r}, but it must be a list")
            object.__setattr__(self, name, tuple(value))
        if self.backend not in get_args(Backend):
            raise UserError(f"backend is {self.backend!r}, but it must be one of {', '.join(get_args(Backend))}")
        self._check_poses()
        if self.instances < 1:
            raise UserError(f"instances is {self.instances}, but it must be at least 1")
        check_shares(self.validation, self.test)
        self.make_source()

    def _check_poses(self) -> None:
        kinds = ", ".join(RENDERED_KINDS)
        if unknown := [p for p in self.poses if p not in RENDERED_KINDS]:
            raise UserError(f"poses has {unknown[0]!r}, but the kinds are {kinds}")
        if not self.poses:
            raise UserError(f"poses is empty; give one or more of {kinds}")
        if len(set(self.poses)) < len(self.poses):
            raise UserError(f"poses names a kind twice: {', '.join(self.poses)}")
        if not 0.1 <= self.step <= 360:
            raise UserError(f"step is {self.step}, but it must be 0.1 to 360 degrees")
        if self.rotations < 1 or self.repeats < 1:
            raise UserError("rotations and repeats must be 1 or more")

    @property
    def varied(self) -> tuple[str, ...]:
        """The factors of variation that are not constant."""
        return tuple(name for name, (low, high) in self.ranges.items() if low < high)

    @property
    def turns(self) -> int:
        """Number of angles of a kind of pose that has angles at equal steps."""
        return math.ceil(360 / self.step - 1e-9)

    def make_source(self) -> Source:
        """Creates the source that this config names, without reading any file."""
        return SOURCES[self.source].value.from_config(self)

    def notes(self) -> list[str]:
        """Sentences about settings that have no effect."""
        useless = [s for s in SPECIFIC_SETTINGS if s not in SOURCES[self.source].value.settings]
        given = [f.name for f in fields(self) if f.name in useless and getattr(self, f.name) != f.default]
        notes = [f"--{name} has no effect on the source {self.source}" for name in given]
        for name, (low, high) in self.ranges.items():
            if low == high:
                notes.append(f"--{name} {low:g} {high:g} has no effect; give two different values")
            elif (why := get_factor(name).no_effect(self.render)) is not None:
                notes.append(f"--{name} has no effect: {why}")
        return notes


def to_dict(config: DataConfig) -> dict[str, Any]:
    """Converts a config to plain lists and numbers, as in the card. Hashes depend on this form; never change it."""
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
    """Rejects a factor with the name of a setting, as they share flags and keys."""
    settings = {f.name for kind in (DataConfig, RenderSettings) for f in fields(kind)}
    if clash := settings.intersection(FACTORS):
        raise UserError(f"the factor of variation {min(clash)!r} has the name of a setting; rename it")
