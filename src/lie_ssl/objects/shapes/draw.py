"""Random choices of the procedural classes; every parameter of an instance is drawn here, by name."""

from __future__ import annotations

import colorsys
import hashlib
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from lie_ssl.objects.shapes.palettes import PALETTES
from lie_ssl.objects.shapes.part import Colour

Choice = TypeVar("Choice")
Range = tuple[float, float]


class Draw:
    """Random choices for one instance, determined by (seed, class, instance) and recorded by name.

    `choices` records the structural choices and `numbers` the continuous ones; together they describe the instance.
    """

    def __init__(self, seed: int, class_name: str, instance: int) -> None:
        key = hashlib.sha256(f"{seed}/{class_name}/{instance}".encode()).digest()
        self._random = np.random.default_rng(int.from_bytes(key[:8], "little"))
        self.choices: dict[str, object] = {}
        self.numbers: dict[str, float] = {}

    def pick(self, name: str, options: Sequence[Choice], weights: Sequence[float] | None = None) -> Choice:
        """Draws a structural choice, one of the options."""
        p = None if weights is None else np.asarray(weights, np.float64) / sum(weights)
        value = options[int(self._random.choice(len(options), p=p))]
        self.choices[name] = value
        return value

    def chance(self, name: str, probability: float = 0.5) -> bool:
        """Draws whether the instance has something, a structural choice."""
        value = bool(self._random.random() < probability)
        self.choices[name] = value
        return value

    def whole(self, name: str, low: int, high: int) -> int:
        """Draws an integer from `low` to `high` inclusive, a structural choice."""
        value = int(self._random.integers(low, high + 1))
        self.choices[name] = value
        return value

    def number(self, name: str, low: float, high: float) -> float:
        """Draws a continuous number."""
        value = float(self._random.uniform(low, high))
        self.numbers[name] = value
        return value

    def colour(self, palette: str = "any") -> Colour:
        """Draws a colour from a palette, slightly varied so that no two instances have exactly the same."""
        family = PALETTES[palette]
        hue, saturation, value = family[int(self._random.integers(len(family)))]
        hue = (hue + self._random.uniform(-8, 8)) % 360
        saturation = float(np.clip(saturation + self._random.uniform(-0.1, 0.1) * min(1, saturation * 4), 0, 1))
        value = float(np.clip(value + self._random.uniform(-0.08, 0.08), 0.03, 0.97))
        return colorsys.hsv_to_rgb(hue / 360, saturation, value)


def distinct(draw: Draw, *others: Colour, palette: str = "paint") -> Colour:
    """Draws a colour that differs clearly from `others`."""
    colour = draw.colour(palette)
    for _ in range(20):
        if all(sum(abs(a - b) for a, b in zip(colour, t, strict=True)) > 0.7 for t in others):
            break
        colour = draw.colour(palette)
    return colour
