"""Factors of variation: how a value changes a frame, and how different two values are."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from lie_ssl.errors import UserError
from lie_ssl.frames.columns import COLUMNS, ROW
from lie_ssl.frames.kinds import KINDS
from lie_ssl.registry import Entry, Registry
from lie_ssl.render.view import RenderSettings, View
from lie_ssl.serialization import MAX_INTEGER

Range = tuple[float, float]
Values = NDArray[np.float64]
Picture = NDArray[np.uint8]  # (size, size, channels)
EIGHTH = np.pi / 4  # of a turn, in radians


@dataclass(frozen=True)
class Factor:
    """One way in which frames differ besides the pose. A new factor is one file in this package:

        @factor("brightness", title="Brightness", order=50)
        class Brightness(Factor):
            \"""How bright the picture is.\"""      # the help of --brightness

            neutral = 1.0

            def apply_picture(self, picture, value):
                return np.clip(picture * value, 0, 255).astype(np.uint8)

    It overrides `apply_view` if the renderer shows it, or `apply_picture` if it acts on the rendered picture.
    """

    name: str
    title: str

    unit: ClassVar[str] = ""
    """Unit of the values, for readers."""
    move_unit: ClassVar[str] = ""
    """Unit of moves (see :meth:`to_move`), for readers; empty for that of the values."""
    neutral: ClassVar[float] = 0.0
    """Value of frames in which it does not vary, such as the typical pose."""
    limits: ClassVar[str] = "a finite number"
    """The condition of :meth:`allows`, in words that follow `it must be`."""
    in_every_index: ClassVar[bool] = False
    """Whether data sets in which it does not vary still have its column and its key. A new factor must leave it False;
    otherwise the hash of every data set would change."""

    @property
    def default(self) -> Range:
        """The default range: only the neutral value."""
        return (self.neutral, self.neutral)

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return (inspect.getdoc(type(self)) or self.title).splitlines()[0]

    def allows(self, values: Values) -> NDArray[np.bool_]:
        """Whether each value is valid."""
        return np.isfinite(values)

    def apply_view(self, view: View, value: float) -> View:
        """The view with this value of the factor; the same view if the factor does not concern the renderer."""
        return view

    def apply_picture(self, picture: Picture, value: float) -> Picture:
        """The rendered picture with this value of the factor, with the same shape and dtype."""
        return picture

    def delta(self, first: Values, second: Values) -> Values:
        """(B,), (B,) values of two frames -> (B,) their difference, of the order of 1."""
        return second - first

    def to_move(self, delta: Values) -> Values:
        """(B,) differences -> (B,) what a reader calls them, such as degrees; :meth:`from_move` is the inverse."""
        return delta

    def from_move(self, move: Values) -> Values:
        """(B,) moves in the unit of readers -> (B,) differences; nan for values that are no move."""
        return move

    def reach(self, values: Values) -> float:
        """The largest absolute difference between any two of these values. Moves are searched up to it."""
        ends = np.array([values.min()]), np.array([values.max()])
        return float(np.abs(self.delta(*ends))[0])

    def rate(self, reach: float) -> float:
        """How far the slowest plane of an adapted encoder's group turns with a difference of 1.

        The largest difference is then an eighth of a turn. The fastest plane, at four times that speed, makes half a
        turn, so no reading is ambiguous. Faster planes read light worse and scale no better.
        """
        return EIGHTH / reach if reach > 0 else 1.0

    def no_effect(self, settings: RenderSettings) -> str | None:
        """Why it is invisible with these settings, as the end of a sentence; None if it is visible."""
        return None

    def check_range(self, values: object) -> Range:
        """Validates a range and returns it."""
        if not isinstance(values, (tuple, list)):
            raise UserError(f"{self.name} is {values!r}, but it must be a list")
        if len(values) != 2 or not all(_is_number(x) for x in values):
            raise UserError(f"{self.name} is not a range; give two finite numbers")
        low, high = values
        if not self.allows(np.array([low, high], np.float64)).all():
            raise UserError(f"{self.name} is {low:g} to {high:g}, but it must be {self.limits}")
        if low > high:
            raise UserError(f"{self.name} is {low:g} to {high:g}, but the lower end must come first")
        return (low, high)


def _is_number(value: object) -> bool:
    return isinstance(value, float) or (type(value) is int and abs(value) <= MAX_INTEGER)


class AngleFactor(Factor):
    """A factor in degrees, with a period of 360."""

    unit = "degrees"

    def delta(self, first: Values, second: Values) -> Values:
        """The shorter way around, in radians."""
        return wrapped(second - first)

    def to_move(self, delta: Values) -> Values:
        """Radians -> degrees."""
        degrees: Values = np.degrees(delta)
        return degrees

    def from_move(self, move: Values) -> Values:
        """Degrees -> radians."""
        radians: Values = np.radians(move)
        return radians

    def reach(self, values: Values) -> float:
        """The range in radians, at most half a turn."""
        return float(min(np.pi, np.radians(np.ptp(values))))

    def rate(self, reach: float) -> float:
        """1 for a whole circle, where the group must close after a turn."""
        return 1.0 if reach >= np.pi else super().rate(reach)


def wrapped(degrees: Values) -> Values:
    """Converts degrees to radians in (-pi, pi]. Wrapping comes first, in degrees, where 180 is exact."""
    radians: Values = np.radians(180 - np.mod(180 - degrees, 360))
    return radians


FACTORS: Registry[Entry[Factor]] = Registry("factor of variation", "lie_ssl.frames.factors")

AnyFactor = TypeVar("AnyFactor", bound=Factor)


def factor(name: str, *, title: str, order: int = 1000) -> Callable[[type[AnyFactor]], type[AnyFactor]]:
    """Registers a :class:`Factor`.

    Args:
        name: The column of the index, and the flag for its range. Lower-case letters, digits and _.
        title: Its title for readers.
        order: Its position among the factors. Values are drawn in this order, so seeds depend on it.
    """
    if not re.fullmatch("[a-z][a-z0-9_]*", name) or name in (*COLUMNS, ROW, *KINDS):
        raise UserError(f"a factor of variation cannot be called {name!r}; choose another name in lower-case letters")

    def register(kind: type[AnyFactor]) -> type[AnyFactor]:
        FACTORS.add(Entry(name, title, kind(name, title), order))
        return kind

    return register


def get_factor(name: str) -> Factor:
    """The registered factor with this name; `UserError` if there is none."""
    return FACTORS[name].value


def all_factors() -> list[Factor]:
    """All registered factors, in order."""
    return [entry.value for entry in FACTORS.entries()]


def factor_columns(columns: Iterable[str]) -> list[str]:
    """The columns of an index that hold values of factors."""
    there = set(columns)
    return [name for name in FACTORS if name in there]
