"""Named palettes, shared by all classes so that colour does not reveal the class.

A colour is (hue in degrees, saturation, value). ``any`` combines most palettes and is the right choice for the main
body of almost everything; ``wood``, ``metal`` and the like are for parts that would look wrong in any other colour.
"""

from __future__ import annotations

from lie_ssl.objects.shapes.part import Colour

HSV = tuple[float, float, float]

_BRIGHT: list[HSV] = [
    (0, 0.8, 0.75), (18, 0.85, 0.85), (42, 0.85, 0.9), (75, 0.7, 0.7), (125, 0.65, 0.55), (165, 0.65, 0.6),
    (190, 0.75, 0.75), (215, 0.8, 0.7), (250, 0.6, 0.65), (285, 0.6, 0.6), (325, 0.65, 0.75),
]  # fmt: skip
_PASTEL: list[HSV] = [(hue, 0.28, 0.9) for hue in (0, 30, 55, 100, 150, 190, 220, 265, 320)]
_DARK: list[HSV] = [
    (10, 0.6, 0.35),
    (30, 0.5, 0.3),
    (110, 0.5, 0.28),
    (200, 0.5, 0.3),
    (230, 0.55, 0.32),
    (290, 0.4, 0.3),
]
_NEUTRAL: list[HSV] = [(40, 0.04, 0.92), (210, 0.04, 0.8), (210, 0.05, 0.55), (220, 0.06, 0.32), (220, 0.08, 0.14)]
_WOOD: list[HSV] = [(24, 0.62, 0.36), (26, 0.6, 0.5), (29, 0.55, 0.62), (33, 0.45, 0.75), (14, 0.6, 0.32)]
_METAL: list[HSV] = [(215, 0.05, 0.72), (215, 0.07, 0.55), (40, 0.08, 0.66), (44, 0.5, 0.72), (22, 0.5, 0.6)]

PALETTES: dict[str, list[HSV]] = {
    "bright": _BRIGHT,
    "pastel": _PASTEL,
    "dark": _DARK,
    "neutral": _NEUTRAL,
    "wood": _WOOD,
    "metal": _METAL,
    "any": _BRIGHT + _PASTEL + _DARK + _NEUTRAL + _WOOD,
    "paint": _BRIGHT + _PASTEL + _NEUTRAL,
    "black": [(220, 0.1, 0.1), (30, 0.1, 0.12), (250, 0.15, 0.16)],
    "white": [(40, 0.03, 0.93), (210, 0.03, 0.9)],
    "glass": [(200, 0.35, 0.35), (205, 0.3, 0.5), (185, 0.25, 0.65), (215, 0.4, 0.25)],
    "leaf": [(95, 0.6, 0.4), (115, 0.55, 0.35), (140, 0.5, 0.4), (75, 0.55, 0.5)],
    "light": [(50, 0.3, 0.95), (45, 0.15, 0.95), (0, 0.75, 0.75), (200, 0.2, 0.95)],
}

# Materials that look the same on all objects.
STEEL: Colour = (0.75, 0.77, 0.8)
CHROME: Colour = (0.78, 0.8, 0.83)
BRASS: Colour = (0.78, 0.62, 0.28)
RUBBER: Colour = (0.09, 0.09, 0.1)
COAL: Colour = (0.1, 0.1, 0.11)
DARK: Colour = (0.1, 0.1, 0.12)
LAMP: Colour = (0.97, 0.95, 0.8)
TAIL_LIGHT: Colour = (0.75, 0.08, 0.06)


def darker(colour: Colour, share: float) -> Colour:
    """Scales the brightness of a colour by `share`."""
    return (colour[0] * share, colour[1] * share, colour[2] * share)
