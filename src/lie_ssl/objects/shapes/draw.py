"""The dice of the procedural classes: every number an instance is made from is drawn here, by name."""

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
    """Random choices for one instance, fixed by (seed, class, instance) and kept by name.

    `choices` holds the structural decisions, `numbers` the continuous ones; together they are the instance's recipe.
    """

    def __init__(self, seed: int, class_name: str, instance: int) -> None:
        key = hashlib.sha256(f"{seed}/{class_name}/{instance}".encode()).digest()
        self._random = np.random.default_rng(int.from_bytes(key[:8], "little"))
        self.choices: dict[str, object] = {}
        self.numbers: dict[str, float] = {}

    def pick(self, name: str, options: Sequence[Choice], weights: Sequence[float] | None = None) -> Choice:
        """A structural choice: one of the options."""
        p = None if weights is None else np.asarray(weights, np.float64) / sum(weights)
        value = options[int(self._random.choice(len(options), p=p))]
        self.choices[name] = value
        return value

    def chance(self, name: str, probability: float = 0.5) -> bool:
        """A structural choice between having something and not."""
        value = bool(self._random.random() < probability)
        self.choices[name] = value
        return value

    def whole(self, name: str, low: int, high: int) -> int:
        """A structural count, both ends included."""
        value = int(self._random.integers(low, high + 1))
        self.choices[name] = value
        return value

    def number(self, name: str, low: float, high: float) -> float:
        """A continuous choice."""
        value = float(self._random.uniform(low, high))
        self.numbers[name] = value
        return value

    def colour(self, palette: str = "any") -> Colour:
        """A colour of a shared palette, slightly varied, so that no two instances have exactly the same."""
        family = PALETTES[palette]
        hue, saturation, value = family[int(self._random.integers(len(family)))]
        hue = (hue + self._random.uniform(-8, 8)) % 360
        saturation = float(np.clip(saturation + self._random.uniform(-0.1, 0.1) * min(1, saturation * 4), 0, 1))
        value = float(np.clip(value + self._random.uniform(-0.08, 0.08), 0.03, 0.97))
        return colorsys.hsv_to_rgb(hue / 360, saturation, value)


def distinct(draw: Draw, *taken: Colour, palette: str = "paint") -> Colour:
    """A colour that can be told from those already taken."""
    colour = draw.colour(palette)
    for _ in range(20):
        if all(sum(abs(a - b) for a, b in zip(colour, t, strict=True)) > 0.7 for t in taken):
            break
        colour = draw.colour(palette)
    return colour
