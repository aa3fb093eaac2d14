"""Precomputed properties of meshes hardly change the picture, or not at all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lie_ssl.frames.poses import rotation
from lie_ssl.objects.mesh import join
from lie_ssl.objects.shapes import ball, box, class_names, cylinder, make_instance, sheet
from lie_ssl.render import RenderSettings, View
from lie_ssl.render.rasteriser import Rasteriser
from lie_ssl.render.surfaces import hidden_backs, smooth_surfaces

PER_FACE = ("faces", "normals", "colours", "shine", "opacity", "uv", "texture")
VIEWS = [View(rotation("3d", a)) for a in (0, 70, 140, 220, 300)]


def test_smooth_surfaces_end_at_creases_and_colours() -> None:
    assert smooth_surfaces(ball(1.0).mesh()).max() == 1
    assert smooth_surfaces(box(1, 1, 1).mesh()).max() == 6
    assert smooth_surfaces(cylinder(1, 1).mesh()).max() == 3
    two = ball(1.0).paint((1, 0, 0)).mesh()
    halves = replace(
        two, colours=np.where(np.arange(two.n_faces)[:, None, None] % 2, two.colours, 0).astype(np.float32)
    )
    assert smooth_surfaces(halves).max() > 2


def test_backs_are_hidden_only_in_closed_solids() -> None:
    cloth = sheet(np.array([[[0, 0, 0], [1, 0, 0]], [[0, 1, 0], [1, 1, 0.0]]])).mesh()
    solid = ball(1.0).mesh()
    inside_out = replace(solid, faces=solid.faces[:, ::-1], normals=solid.normals[:, ::-1])
    glass = replace(solid, opacity=np.full(solid.n_faces, 0.5, np.float32))
    holed = replace(solid, **{f: getattr(solid, f)[3:] for f in PER_FACE})
    assert hidden_backs(solid).all()
    for mesh in (cloth, inside_out, glass, holed):
        assert not hidden_backs(mesh).any()
    mixed = hidden_backs(join([solid, cloth]))
    assert mixed[: solid.n_faces].all()
    assert not mixed[solid.n_faces :].any()


@pytest.mark.parametrize("name", class_names())
def test_culling_hidden_backs_changes_nothing(name: str) -> None:
    mesh, _ = make_instance(name, 1)
    drawer = Rasteriser(mesh, RenderSettings(size=48, supersample=2))
    quick = np.stack([drawer.draw(v) for v in VIEWS]).astype(int)
    drawer._hidden_back[:] = False
    complete = np.stack([drawer.draw(v) for v in VIEWS])
    # On the silhouette, front and back are equally near, and either may win.
    assert (np.abs(quick - complete) > 2).mean() < 0.002


@pytest.mark.parametrize("name", class_names()[::4])
def test_shading_a_surface_once_per_pixel_is_close_to_shading_every_face(name: str) -> None:
    mesh, _ = make_instance(name, 0)
    drawer = Rasteriser(mesh, RenderSettings(size=96, supersample=2))
    once = np.stack([drawer.draw(v) for v in VIEWS]).astype(int)
    drawer._surfaces[:] = np.arange(1, mesh.n_faces + 1)
    every = np.stack([drawer.draw(v) for v in VIEWS])
    assert (np.abs(once - every) > 4).mean() < 0.002
