"""What a factor of variation is: how a value changes a frame, and how far apart two values are."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from lie_ssl.errors import UserError
from lie_ssl.frames.columns import COLUMNS, ROW, FrameKind
from lie_ssl.registry import Entry, Registry
from lie_ssl.render.view import RenderSettings, View
from lie_ssl.serialization import MOST

Range = tuple[float, float]
Values = NDArray[np.float64]
Picture = NDArray[np.uint8]  # (size, size, channels)


@dataclass(frozen=True)
class Factor:
    """One way in which frames differ beside the pose. A new factor is one file in this package:

        @factor("brightness", title="Brightness", order=50)
        class Brightness(Factor):
            \"""How bright the picture is.\"""      # the help of --brightness

            neutral = 1.0

            def apply_picture(self, picture, value):
                return np.clip(picture * value, 0, 255).astype(np.uint8)

    It overrides `apply_view` where the renderer can show it, and `apply_picture` where it is done to the drawn picture.
    """

    name: str
    title: str

    unit: ClassVar[str] = ""
    """What values are measured in, for readers."""
    neutral: ClassVar[float] = 0.0
    """The value of frames in which it does not vary, such as the typical pose."""
    limits: ClassVar[str] = "a finite number"
    """What :meth:`allows` asks for, in words that follow `it must be`."""
    in_every_index: ClassVar[bool] = False
    """Whether data sets in which it does not vary have its column and its key all the same. A new factor must leave it
    False: otherwise the hash of every data set would change."""

    @property
    def default(self) -> Range:
        """The range where the user gives none: the neutral value alone."""
        return (self.neutral, self.neutral)

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return (inspect.getdoc(type(self)) or self.title).splitlines()[0]

    def allows(self, values: Values) -> NDArray[np.bool_]:
        """Which of the values make sense."""
        return np.isfinite(values)

    def apply_view(self, view: View, value: float) -> View:
        """The view with this value of the factor; the same view where the renderer has nothing to do with it."""
        return view

    def apply_picture(self, picture: Picture, value: float) -> Picture:
        """The drawn picture with this value of the factor, of the same shape and type."""
        return picture

    def delta(self, first: Values, second: Values) -> Values:
        """(B,), (B,) values of two frames -> (B,) how far the second is from the first, in numbers around 1."""
        return second - first

    def no_effect(self, settings: RenderSettings) -> str | None:
        """Why it cannot be seen with these settings, as half a sentence; None where it can."""
        return None

    def check_range(self, values: object) -> Range:
        """The range if it is one; else one sentence."""
        if not isinstance(values, (tuple, list)):
            raise UserError(f"{self.name} is {values!r}, but it takes several values")
        if len(values) != 2 or not all(_is_number(x) for x in values):
            raise UserError(f"{self.name} is no range of values; a range is two finite numbers")
        low, high = values
        if not self.allows(np.array([low, high], np.float64)).all():
            raise UserError(f"{self.name} is {low:g} to {high:g}, but it must be {self.limits}")
        if low > high:
            raise UserError(f"{self.name} is {low:g} to {high:g}, but the lower end comes first")
        return (low, high)


def _is_number(value: object) -> bool:
    return isinstance(value, float) or (type(value) is int and abs(value) <= MOST)


class AngleFactor(Factor):
    """A factor in degrees: a full turn changes nothing."""

    unit = "degrees"

    def delta(self, first: Values, second: Values) -> Values:
        """The shorter way round, in radians."""
        return wrapped(second - first)


def wrapped(degrees: Values) -> Values:
    """Any angle in degrees -> radians in (-pi, pi]. Wrapped before it is turned into radians, where 180 is exact."""
    radians: Values = np.radians(180 - np.mod(180 - degrees, 360))
    return radians


FACTORS: Registry[Entry[Factor]] = Registry("factor of variation", "lie_ssl.frames.factors")

AnyFactor = TypeVar("AnyFactor", bound=Factor)


def factor(name: str, *, title: str, order: int = 1000) -> Callable[[type[AnyFactor]], type[AnyFactor]]:
    """Registers a :class:`Factor`.

    Args:
        name: The column of the index and, with two dashes, the flag for its range. Small letters, digits and _.
        title: What readers see.
        order: Its place among the factors. Values are drawn in this order, so that it is part of what a seed means.
    """
    if not re.fullmatch("[a-z][a-z0-9_]*", name) or name in (*COLUMNS, ROW, *get_args(FrameKind)):
        raise UserError(f"a factor of variation cannot be called {name!r}; choose another name in small letters")

    def register(kind: type[AnyFactor]) -> type[AnyFactor]:
        FACTORS.add(Entry(name, title, kind(name, title), order))
        return kind

    return register


def get_factor(name: str) -> Factor:
    """The registered factor of this name; `UserError` if there is none."""
    return FACTORS[name].value


def all_factors() -> list[Factor]:
    """All registered factors in their order."""
    return [entry.value for entry in FACTORS.entries()]


def factor_columns(columns: Iterable[str]) -> list[str]:
    """Which of the columns of an index are values of factors."""
    there = set(columns)
    return [name for name in FACTORS if name in there]
