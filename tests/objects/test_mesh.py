"""Meshes: validation, normals, normalisation and the hash that finds copies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lie_ssl.errors import UserError
from lie_ssl.objects.mesh import join, make_mesh
from lie_ssl.objects.shapes import ball, box

SQUARE = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], np.float32)
TWO = np.array([[0, 1, 2], [0, 2, 3]])


@pytest.mark.parametrize(
    ("vertices", "faces", "message"),
    [
        (SQUARE, np.zeros((0, 3), int), "no faces"),
        (SQUARE * np.nan, TWO, "not finite"),
        (SQUARE, np.array([[0, 1, 9]]), "a face refers to vertex 9"),
        (SQUARE * 0, TWO, "no face with an area"),
    ],
)
def test_invalid_meshes_raise_a_user_error(vertices: np.ndarray, faces: np.ndarray, message: str) -> None:
    with pytest.raises(UserError, match=message):
        make_mesh(vertices, faces)


def test_faces_without_area_are_dropped() -> None:
    mesh = make_mesh(SQUARE, np.array([[0, 1, 2], [0, 1, 1]]))
    assert mesh.n_faces == len(mesh.colours) == len(mesh.normals) == 1


def test_creases_stay_sharp_and_curves_become_smooth() -> None:
    cube = box(1, 1, 1).mesh()
    assert np.allclose(np.abs(cube.normals).max(axis=2), 1)  # every corner has the normal of its side
    sphere = ball(1.0, 24).mesh()
    corners = sphere.vertices[sphere.faces]
    assert np.abs(np.einsum("fki,fki->fk", corners, sphere.normals) - 1).max() < 0.02  # normals of a unit sphere


def test_normalised_fits_the_unit_sphere() -> None:
    mesh = box(3, 1, 1).at(10, 20, 30).mesh().normalised()
    assert np.linalg.norm(mesh.vertices, axis=1).max() == pytest.approx(1)
    assert (mesh.vertices.min(axis=0) + mesh.vertices.max(axis=0)) / 2 == pytest.approx([0, 0, 0], abs=1e-6)


def test_the_geometry_hash_depends_only_on_the_shape() -> None:
    mesh = ball(1.0).mesh()
    shuffled = replace(mesh, faces=mesh.faces[::-1, [1, 2, 0]], colours=mesh.colours * 0)
    moved = replace(mesh, vertices=mesh.vertices * 3 + 1)
    assert mesh.geometry_hash() == shuffled.geometry_hash() == moved.geometry_hash()
    assert mesh.geometry_hash() != ball(1.0).size(1, 1.1, 1).mesh().geometry_hash()


def test_join_keeps_textures_apart() -> None:
    red, blue = (np.full((2, 2, 4), c, np.uint8) for c in (1, 2))
    a = make_mesh(SQUARE, TWO, texture=0, textures=[red], uv=np.zeros((2, 3, 2)))
    plain = make_mesh(SQUARE, TWO)
    b = make_mesh(SQUARE, TWO, texture=0, textures=[blue], uv=np.zeros((2, 3, 2)))
    mesh = join([a, plain, b])
    assert mesh.texture.tolist() == [0, 0, -1, -1, 1, 1]
    assert mesh.faces.max() == 11
    assert len(mesh.textures) == 2
