"""Rotates models to our axes: y up, front along +z."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lie_ssl.objects.mesh import Mesh

Z_UP = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])  # front along -y, as in most z-up tools
FRONT_MINUS_Z = np.array([[-1.0, 0, 0], [0, 1, 0], [0, 0, -1]])
FRONT_X = np.array([[0.0, 0, -1], [0, 1, 0], [1, 0, 0]])


def rotated(mesh: Mesh, rotation: NDArray[np.floating]) -> Mesh:
    """Applies a rotation matrix (3, 3), which acts on column vectors."""
    matrix = np.asarray(rotation, np.float64).T
    vertices = (mesh.vertices.astype(np.float64) @ matrix).astype(np.float32)
    normals = (mesh.normals.astype(np.float64) @ matrix).astype(np.float32)
    return replace(mesh, vertices=vertices, normals=normals)
