"""Behaviour common to all backends."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lie_ssl.objects.shapes import make_instance
from lie_ssl.render import RenderSettings, View, render


def test_clay_leaves_only_the_shape() -> None:
    mesh, _ = make_instance("mug", 0)
    painted = replace(mesh, colours=np.random.default_rng(0).random(mesh.colours.shape, np.float32))
    settings = RenderSettings(size=32, clay=True)
    frames = [render(m, [View()], settings) for m in (mesh, painted)]
    assert np.array_equal(frames[0], frames[1])
    assert not np.array_equal(render(painted, [View()], RenderSettings(size=32)), frames[0])
    assert np.ptp(frames[0].astype(int), axis=3).max() <= 1  # grey
