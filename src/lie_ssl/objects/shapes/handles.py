"""Handles and knobs for doors, drawers and lids. They protrude to the front from z = 0 unless noted otherwise."""

from __future__ import annotations

from numpy.typing import ArrayLike

from lie_ssl.objects.shapes.curves import arc, bent, lift, spline, symmetric
from lie_ssl.objects.shapes.part import Part
from lie_ssl.objects.shapes.solids import ball, box, disc, rod, tube


def bow_handle(half: ArrayLike, thick: float, steps: int = 9, n: int = 6, axis: int = 0) -> Part:
    """A bent handle through the points of `half` and their mirror images across the plane of `axis`."""
    return tube(spline(symmetric(half, axis=axis), steps), thick, n)


def bar_handle(width: float, stand: float, thick: float = 0.03) -> Part:
    """A bar along x on two posts, at distance `stand` from the door."""
    post = rod((0.4 * width, 0, -0.01), (0.4 * width, 0, stand), 0.8 * thick, n=6).mirror()
    return rod((-width / 2, 0, stand), (width / 2, 0, stand), thick, n=8) + post


def door_pull(style: str, width: float) -> Part:
    """The door handle of an appliance: a round bar, a bow, or a ledge to reach behind."""
    if style == "bow":
        return bow_handle([(0.5 * width, 0.0, -0.01), (0.35 * width, 0.0, 0.09)], 0.035, n=7)
    if style == "shelf":
        return box(width, 0.05, 0.11).at(z=0.05) + box(width, 0.11, 0.03).at(y=-0.03, z=0.1)
    return bar_handle(width, 0.09, 0.032)


def furniture_handle(kind: str, length: float) -> Part:
    """The handle of a drawer or cupboard, along x: a knob, a bar, a bow or a hanging ring."""
    if kind == "knob":
        return disc(0.015, 0.05, 6).at(z=0.02) + ball(0.042, 8).at(z=0.055)
    if kind == "bar":
        return box(length, 0.035, 0.03).at(z=0.06) + box(0.025, 0.025, 0.06).at(z=0.03).row(2, dx=length * 0.7)
    if kind == "bow":
        return tube(bent(symmetric([(-length / 2, 0, 0), (-length / 2, 0, 0.07)]).tolist(), 0.04), 0.018, 5)
    ring = lift(arc(0.05, 90, 450, 11)[:-1] - [0, 0.05], 0.04)
    return box(0.06, 0.06, 0.03).at(z=0.01) + tube(ring, 0.014, 5, closed=True)


def dial_knob(radius: float, angle: float, depth: float = 0.06) -> Part:
    """A round knob whose grip shows its angle."""
    grip = box(0.35 * radius, 1.9 * radius, depth).at(z=depth).rot(z=angle)
    return disc(radius, depth, 14).at(z=depth / 2) + grip
