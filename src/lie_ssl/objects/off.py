"""Reads OFF models in text form: OFF, COFF, NOFF and combinations."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lie_ssl.errors import UserError
from lie_ssl.objects.mesh import Mesh, make_mesh
from lie_ssl.objects.polygons import triangulate

GREY = (0.7, 0.7, 0.7)
Doubles = NDArray[np.float64]

_HEADER = re.compile(r"\s*(ST)?(C)?(N)?OFF(?![A-Za-z])", re.IGNORECASE)


def read_off(path: Path) -> Mesh:
    """Reads an OFF file. Raises `UserError` or `ValueError` if it is broken."""
    text = re.sub(r"#[^\n]*", "", path.read_bytes().decode("utf-8", "replace"))
    header = _HEADER.match(text)
    if header is None:
        raise UserError("it does not start with OFF")
    lines = [line for line in text[header.end() :].splitlines() if line.strip()]
    if not lines or len(lines[0].split()) < 2:
        raise UserError("it does not give the number of vertices")
    n_vertices, n_faces = (int(word) for word in lines[0].split()[:2])
    if len(lines) < 1 + n_vertices + n_faces:
        raise UserError(f"it should have {n_vertices} vertices and {n_faces} faces but ends before")
    if n_vertices < 1 or n_faces < 1:
        raise UserError("it has no faces")
    rows = np.array([[float(w) for w in line.split()] for line in lines[1 : 1 + n_vertices]])  # (V, at least 3)
    words = [line.split() for line in lines[1 + n_vertices : 1 + n_vertices + n_faces]]
    colours = _vertex_colours(rows, header) if header.group(2) else None
    return _build(rows[:, :3], words, colours)


def _vertex_colours(rows: Doubles, header: re.Match[str]) -> Doubles | None:
    """(V, 3 or 4) colours, from the columns after the position and the normal, if there is one."""
    first = 6 if header.group(3) else 3
    # Texture coordinates come last, if the header announces them.
    last = rows.shape[1] - (2 if header.group(1) else 0)
    return _unit_range(rows[:, first:last][:, :4]) if last - first >= 3 else None


def _build(vertices: Doubles, words: list[list[str]], vertex_colours: Doubles | None) -> Mesh:
    sizes = np.array([int(row[0]) for row in words])
    if any(len(row) <= size for row, size in zip(words, sizes, strict=True)):
        raise UserError("a face has fewer corners than it states")
    corners = np.array([int(w) for row, size in zip(words, sizes, strict=True) for w in row[1 : size + 1]], np.int64)
    if not len(corners) or corners.min() < 0 or corners.max() >= len(vertices):
        raise UserError("a face refers to a missing vertex")
    if not np.isfinite(vertices[corners]).all():
        raise UserError("it has vertices that are not finite numbers")
    triangles, polygon = triangulate(vertices[corners], sizes)
    faces = corners[triangles]
    if vertex_colours is not None:
        rgba = vertex_colours[faces]
    else:
        rgba = np.repeat(_face_colours(words, sizes)[polygon][:, None], 3, axis=1)
    opacity = rgba[..., 3].mean(axis=1) if rgba.shape[-1] == 4 else 1.0
    return make_mesh(vertices, faces, colours=rgba[..., :3], opacity=opacity)


def _face_colours(words: list[list[str]], sizes: NDArray[np.int64]) -> Doubles:
    """(P, 4) colours, from the numbers after the corners of each face; grey if there are none."""
    colours = np.array([[*GREY, 1.0]] * len(words))
    for i, (row, size) in enumerate(zip(words, sizes, strict=True)):
        rest = row[size + 1 :]
        if len(rest) >= 3:
            values = np.array([float(w) for w in rest[:4]])
            # Integers range up to 255, even if they happen to be 0 or 1.
            colours[i, : len(values)] = np.clip(values / (1 if "." in "".join(rest[:3]) else 255), 0, 1)
    return colours


def _unit_range(colours: Doubles) -> Doubles:
    return np.clip(colours / 255 if colours.max() > 1 else colours, 0, 1)
