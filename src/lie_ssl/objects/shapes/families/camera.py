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
    width, height = draw.number("width", 1.2, 1.5), draw.number("height", 0.72, 0.95)
    depth = draw.number("depth", 0.32, 0.5)
    if kind == "instant":
        width, height, depth = width * 0.85, height * 1.15, depth * 1.3
    paint, second = draw.colour(), draw.colour()
    body = slab(rectangle(width, height, draw.number("corner", 0.05, 0.16)), depth).paint(paint, 0.4)
    band = box(width * 1.015, height * draw.number("leather", 0.45, 0.62), depth * 1.05, 0.05).at(y=-height * 0.05)
    place = width * draw.number("lens_place", -0.14, 0.04)
    radius, reach = height * draw.number("lens", 0.27, 0.38), draw.number("lens_length", 0.2, 0.6)
    if kind in ("compact", "instant"):
        reach *= 0.5
    parts = body + band.paint(second, 0.1) + _lens(draw, radius, reach).at(place, -height * 0.05, depth / 2)
    parts += _camera_top(draw, kind, width, height, depth, place, paint) + _camera_back(draw, width, height, depth)
    if draw.chance("strap", 0.45):
        drop = draw.number("strap", 0.5, 0.9)
        side = [(width / 2, height * 0.35, 0), (width * 0.62, height * 0.8, -0.1)]
        path = symmetric(side, [(0, height * 0.5 + drop, -0.25)])
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


def _camera_top(draw: Draw, kind: str, width: float, height: float, depth: float, lens: float, paint: Colour) -> Part:
    """Viewfinder, flash, shutter button and dials; the hump and grip of a reflex camera."""
    button = (
        cylinder(0.075, 0.1, n=10).at(-width * 0.36, height / 2 + 0.03, depth * 0.1).paint(draw.colour("metal"), 0.7)
    )
    dial = cylinder(0.13, 0.1, n=12).at(width * 0.34, height / 2 + 0.04).paint(draw.colour("black"), 0.4)
    parts = (
        button + dial + cylinder(0.1, 0.14, n=12).at(width * 0.34, height / 2 + 0.04).paint(draw.colour("metal"), 0.6)
    )
    finder = box(0.22, 0.13, 0.06, 0.03).at(width * 0.3, height * 0.36, depth / 2 + 0.02).paint((0.12, 0.15, 0.22), 0.9)
    if kind == "reflex":
        high = draw.number("hump", 0.18, 0.3)
        prism = [(-0.31, -0.02), (0.31, -0.02), (0.2, high), (-0.2, high)]
        parts += slab(prism, depth * 0.9).at(lens, height / 2, 0.02).paint(paint, 0.4)
        grip = box(width * 0.17, height * 0.92, depth * 0.5, 0.06).at(-width * 0.41, 0, depth / 2)
        parts += grip.paint(draw.colour("black"), 0.1)
        parts += box(0.2, 0.05, 0.2).at(lens, height / 2 + high + 0.02).paint(CHROME, 0.6)
        parts += (
            box(0.26, 0.07, 0.04).at(lens, height / 2 + high * 0.5, depth * 0.47 + 0.02).paint(draw.colour("white"))
        )
        if draw.chance("flash", 0.4):
            head = box(0.5, 0.28, 0.28, 0.05) + box(0.16, 0.16, 0.16).at(y=-0.18)
            head = head.paint(draw.colour("black"), 0.3) + box(0.42, 0.2, 0.05).at(0, 0, 0.14).paint(FLASH, 0.8)
            parts += head.at(lens, height / 2 + high + 0.2)
        return parts
    light = box(0.3, 0.15, 0.06, 0.03).at(-width * 0.28, height * 0.36, depth / 2 + 0.02).paint(FLASH, 0.8)
    if kind == "instant":
        parts += box(width * 0.8, 0.06, 0.06).at(0, -height * 0.4, depth / 2 + 0.01).paint(DARK)
        for i in range(3):
            stripe = box(width * 0.07, height * 0.3, 0.04).at(-width * (0.38 - i * 0.075), -height * 0.2, depth * 0.53)
            parts += stripe.paint(draw.colour("bright"))
    if kind == "rangefinder":
        parts += (
            box(width * 0.62, 0.14, depth * 0.8).at(width * 0.05, height / 2 + 0.05).paint(draw.colour("metal"), 0.6)
        )
        light = box(0.12, 0.1, 0.06).at(0, height * 0.36, depth / 2 + 0.02).paint((0.9, 0.85, 0.6), 0.8)
    return parts + finder + light


def _camera_back(draw: Draw, width: float, height: float, depth: float) -> Part:
    """A screen and buttons on the back, a tripod plate below, lugs at the sides."""
    screen = box(width * 0.5, height * 0.52, 0.05).at(width * 0.12).paint((0.15, 0.2, 0.28), 0.8)
    screen += disc(0.06, 0.08, 8).row(3, dy=height * 0.2).at(-width * 0.3).paint(draw.colour("bright"))
    foot = cylinder(0.1, 0.05, n=10).at(0.1, -height / 2).paint(CHROME, 0.5)
    lug = (
        rod((width / 2, height * 0.35, 0), (width / 2 + 0.06, height * 0.36, 0), 0.035, n=6)
        .mirror("x")
        .paint(CHROME, 0.7)
    )
    return screen.at(0, -height * 0.04, -depth * 0.54) + foot + lug
