"""Photo cameras. They face the front (+z)."""

from __future__ import annotations

from lie_ssl.objects.shapes.curves import rectangle, spline, symmetric
from lie_ssl.objects.shapes.draw import Draw
from lie_ssl.objects.shapes.palettes import CHROME, DARK
from lie_ssl.objects.shapes.part import Colour, Part
from lie_ssl.objects.shapes.registry import shape
from lie_ssl.objects.shapes.solids import ball, box, cylinder, disc, lathe, rod, slab, tube

FLASH: Colour = (0.95, 0.95, 0.9)


@shape("camera")
def camera(draw: Draw) -> Part:
    """A photo camera: reflex, compact, rangefinder or instant camera; lens, dials, flash and strap vary."""
    kind = draw.pick("kind", ["reflex", "compact", "rangefinder", "instant"], [3, 2, 2, 2])
    wide, tall = draw.number("width", 1.2, 1.5), draw.number("height", 0.72, 0.95)
    deep = draw.number("depth", 0.32, 0.5)
    if kind == "instant":
        wide, tall, deep = wide * 0.85, tall * 1.15, deep * 1.3
    paint, second = draw.colour(), draw.colour()
    body = slab(rectangle(wide, tall, draw.number("corner", 0.05, 0.16)), deep).paint(paint, 0.4)
    band = box(wide * 1.015, tall * draw.number("leather", 0.45, 0.62), deep * 1.05, 0.05).at(y=-tall * 0.05)
    place = wide * draw.number("lens_place", -0.14, 0.04)
    radius, reach = tall * draw.number("lens", 0.27, 0.38), draw.number("lens_length", 0.2, 0.6)
    if kind in ("compact", "instant"):
        reach *= 0.5
    parts = body + band.paint(second, 0.1) + _lens(draw, radius, reach).at(place, -tall * 0.05, deep / 2)
    parts += _camera_top(draw, kind, wide, tall, deep, place, paint) + _camera_back(draw, wide, tall, deep)
    if draw.chance("strap", 0.45):
        drop = draw.number("strap", 0.5, 0.9)
        side = [(wide / 2, tall * 0.35, 0), (wide * 0.62, tall * 0.8, -0.1)]
        path = symmetric(side, [(0, tall * 0.5 + drop, -0.25)])
        parts += tube(spline(path, 16), 0.05, 5, flat=0.35).paint(draw.colour(), 0.1)
    return parts


def _lens(draw: Draw, radius: float, reach: float) -> Part:
    """Barrel with rings, dark glass with a bright reflection, towards +z."""
    steps = [(0, 0), (1.12, 0), (1.12, 0.25), (1, 0.3), (1, 1), (0.8, 1), (0.72, 0.7), (0, 0.7)]
    barrel = lathe([(radius * r, reach * y) for r, y in steps], 20)
    n, step = draw.whole("rings", 1, 2), reach * 0.3
    rings = cylinder(radius * 1.05, reach * 0.14, n=20).row(n, dy=step).at(y=reach * 0.66)
    glass = ball(radius * 0.7, 12).size(1, 0.25, 1).at(y=reach * 0.72)
    gleam = ball(radius * 0.16, 6).size(1, 0.4, 1).at(radius * 0.22, reach * 0.72 + radius * 0.14, -radius * 0.24)
    parts = barrel.paint(draw.colour("black") if draw.chance("black_lens", 0.6) else draw.colour("metal"), 0.5)
    parts += rings.paint(draw.colour(), 0.3) + glass.paint((0.08, 0.1, 0.2), 1.0) + gleam.paint((0.8, 0.85, 0.95), 1.0)
    return parts.rot(x=90)


def _camera_top(draw: Draw, kind: str, wide: float, tall: float, deep: float, lens: float, paint: Colour) -> Part:
    """Viewfinder, flash, shutter button and dials; the hump and grip of a reflex camera."""
    button = cylinder(0.075, 0.1, n=10).at(-wide * 0.36, tall / 2 + 0.03, deep * 0.1).paint(draw.colour("metal"), 0.7)
    dial = cylinder(0.13, 0.1, n=12).at(wide * 0.34, tall / 2 + 0.04).paint(draw.colour("black"), 0.4)
    parts = button + dial + cylinder(0.1, 0.14, n=12).at(wide * 0.34, tall / 2 + 0.04).paint(draw.colour("metal"), 0.6)
    finder = box(0.22, 0.13, 0.06, 0.03).at(wide * 0.3, tall * 0.36, deep / 2 + 0.02).paint((0.12, 0.15, 0.22), 0.9)
    if kind == "reflex":
        high = draw.number("hump", 0.18, 0.3)
        prism = [(-0.31, -0.02), (0.31, -0.02), (0.2, high), (-0.2, high)]
        parts += slab(prism, deep * 0.9).at(lens, tall / 2, 0.02).paint(paint, 0.4)
        grip = box(wide * 0.17, tall * 0.92, deep * 0.5, 0.06).at(-wide * 0.41, 0, deep / 2)
        parts += grip.paint(draw.colour("black"), 0.1)
        parts += box(0.2, 0.05, 0.2).at(lens, tall / 2 + high + 0.02).paint(CHROME, 0.6)
        parts += box(0.26, 0.07, 0.04).at(lens, tall / 2 + high * 0.5, deep * 0.47 + 0.02).paint(draw.colour("white"))
        if draw.chance("flash", 0.4):
            head = box(0.5, 0.28, 0.28, 0.05) + box(0.16, 0.16, 0.16).at(y=-0.18)
            head = head.paint(draw.colour("black"), 0.3) + box(0.42, 0.2, 0.05).at(0, 0, 0.14).paint(FLASH, 0.8)
            parts += head.at(lens, tall / 2 + high + 0.2)
        return parts
    light = box(0.3, 0.15, 0.06, 0.03).at(-wide * 0.28, tall * 0.36, deep / 2 + 0.02).paint(FLASH, 0.8)
    if kind == "instant":
        parts += box(wide * 0.8, 0.06, 0.06).at(0, -tall * 0.4, deep / 2 + 0.01).paint(DARK)
        for i in range(3):
            stripe = box(wide * 0.07, tall * 0.3, 0.04).at(-wide * (0.38 - i * 0.075), -tall * 0.2, deep * 0.53)
            parts += stripe.paint(draw.colour("bright"))
    if kind == "rangefinder":
        parts += box(wide * 0.62, 0.14, deep * 0.8).at(wide * 0.05, tall / 2 + 0.05).paint(draw.colour("metal"), 0.6)
        light = box(0.12, 0.1, 0.06).at(0, tall * 0.36, deep / 2 + 0.02).paint((0.9, 0.85, 0.6), 0.8)
    return parts + finder + light


def _camera_back(draw: Draw, wide: float, tall: float, deep: float) -> Part:
    """A screen and buttons on the back, a tripod plate below, lugs at the sides."""
    screen = box(wide * 0.5, tall * 0.52, 0.05).at(wide * 0.12).paint((0.15, 0.2, 0.28), 0.8)
    screen += disc(0.06, 0.08, 8).row(3, dy=tall * 0.2).at(-wide * 0.3).paint(draw.colour("bright"))
    foot = cylinder(0.1, 0.05, n=10).at(0.1, -tall / 2).paint(CHROME, 0.5)
    lug = rod((wide / 2, tall * 0.35, 0), (wide / 2 + 0.06, tall * 0.36, 0), 0.035, n=6).mirror("x").paint(CHROME, 0.7)
    return screen.at(0, -tall * 0.04, -deep * 0.54) + foot + lug
