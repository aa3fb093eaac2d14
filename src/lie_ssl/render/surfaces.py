"""Precomputes properties of a mesh: which faces form a smooth surface, and which back faces are never visible.

Shape letters: F faces, E edges (three per face).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lie_ssl.objects.compiled import compiled
from lie_ssl.objects.mesh import Mesh
from lie_ssl.objects.normals import corner_points

Flags = NDArray[np.bool_]


def smooth_surfaces(mesh: Mesh) -> NDArray[np.int32]:
    """(F,) index of the smooth surface of each face, from 1.

    All inputs of shading are continuous across the edges within a surface, so the faces of a surface that meet in a
    pixel are shaded there only once.
    """
    attributes = np.concatenate([mesh.normals, mesh.colours, mesh.uv], axis=2)  # (F, 3, 8)
    material = np.stack([mesh.texture.astype(np.float32), mesh.shine, mesh.opacity], axis=1)
    first, second, _ = _shared_edges(mesh)
    (f, i), (g, j) = (first // 3, first % 3), (second // 3, second % 3)
    # Two faces traverse a shared edge in opposite directions: the start of one is the end of the other.
    same = np.abs(attributes[f, i] - attributes[g, (j + 1) % 3]).max(axis=1) < 1e-3
    same &= np.abs(attributes[f, (i + 1) % 3] - attributes[g, j]).max(axis=1) < 1e-3
    same &= (material[f] == material[g]).all(axis=1)
    surfaces: NDArray[np.int32] = _components(mesh.n_faces, f[same], g[same]) + np.int32(1)
    return surfaces


def hidden_backs(mesh: Mesh) -> Flags:
    """(F,) whether a face belongs to a closed solid, whose other faces hide its back."""
    first, second, unpaired = _shared_edges(mesh)
    parts = _components(mesh.n_faces, first // 3, second // 3)
    a, b, c = (mesh.vertices[mesh.faces[:, i]].astype(np.float64) for i in range(3))
    volume = np.bincount(parts, np.einsum("fi,fi->f", a, np.cross(b, c)))
    open_faces = np.zeros(mesh.n_faces, bool)
    open_faces[unpaired // 3] = True
    holes = np.array([bool((t[..., 3] < 255).any()) for t in mesh.textures] + [False])
    open_faces |= (mesh.opacity < 1) | holes[mesh.texture]
    is_open = np.bincount(parts, open_faces) > 0
    closed: Flags = (~is_open & (volume > 0))[parts]
    return closed


def _shared_edges(mesh: Mesh) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of half-edges (face * 3 + corner) along the same edge in opposite directions, and unpaired half-edges.

    Corners are matched by position, because textures and creases split vertices. An edge with several half-edges in one
    direction is not an edge of a solid; all its half-edges count as unpaired.
    """
    corners = corner_points(mesh.vertices, mesh.faces)  # (F, 3)
    start, end = corners.reshape(-1), np.roll(corners, -1, axis=1).reshape(-1)  # (E,)
    size = len(mesh.vertices)
    forward, backward = start * size + end, end * size + start
    order = np.argsort(forward, kind="stable")
    keys = forward[order]
    left = np.searchsorted(keys, backward, "left")
    count = np.searchsorted(keys, backward, "right") - left
    own = np.searchsorted(keys, forward, "right") - np.searchsorted(keys, forward, "left")
    paired = (count == 1) & (own == 1)
    half = np.flatnonzero(paired)
    twin = order[left[half]]
    return half, twin, np.flatnonzero(~paired)


@compiled()
def _components(n, first, second):  # type: ignore[no-untyped-def]
    """(n,) index of the connected component of each node, given pairs of neighbours."""
    root = np.arange(n)
    for k in range(len(first)):
        a, b = first[k], second[k]
        while root[a] != a:
            root[a] = root[root[a]]
            a = root[a]
        while root[b] != b:
            root[b] = root[root[b]]
            b = root[b]
        if a < b:
            root[b] = a
        elif b < a:
            root[a] = b
    number = np.empty(n, np.int32)
    count = 0
    for k in range(n):  # a root is the smallest node of its component, so it comes first
        a = k
        while root[a] != a:
            a = root[a]
        if a == k:
            number[k] = count
            count += 1
        else:
            number[k] = number[a]
    return number
