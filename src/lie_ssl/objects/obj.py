"""Reads Wavefront OBJ models with their materials.

Shape letters: V vertices, P polygons, K corners of all polygons, F triangles.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lie_ssl.errors import UserError
from lie_ssl.objects.mesh import Mesh, make_mesh
from lie_ssl.objects.mesh_warnings import MeshWarning
from lie_ssl.objects.mtl import Material, read_materials
from lie_ssl.objects.polygons import triangulate
from lie_ssl.objects.textures import Textures, find_default_texture, printable

Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass
class _Lines:
    """The lines of a file by keyword; numbers are not parsed yet."""

    v: list[str] = field(default_factory=list)
    vt: list[str] = field(default_factory=list)
    vn: list[str] = field(default_factory=list)
    faces: list[list[str]] = field(default_factory=list)  # P lists of corners 'v/vt/vn'
    material: list[int] = field(default_factory=list)  # P indices into `names`
    names: list[str] = field(default_factory=lambda: [""])
    libraries: list[str] = field(default_factory=list)


def read_obj(path: Path) -> Mesh:
    """Reads an OBJ file. Raises `UserError` or `ValueError` if it is broken."""
    lines = _split_lines(path.read_bytes().decode("utf-8", "surrogateescape"))
    if not lines.faces:
        raise UserError("it has no faces")
    vertices, vertex_colours = _vertices(lines.v)
    corners = _corners(lines.faces)  # (K, 3)
    sizes = np.array([len(face) for face in lines.faces], np.int64)
    if corners[:, 0].min() < 0 or corners[:, 0].max() >= len(vertices):
        raise UserError("a face refers to a missing vertex")
    if not np.isfinite(vertices[corners[:, 0]]).all():
        raise UserError("it has vertices that are not finite numbers")
    triangles, polygon = triangulate(vertices[corners[:, 0]], sizes)
    if not len(triangles):
        raise UserError("it has no faces")
    index = corners[triangles]  # (F, 3, 3): vertex, uv, normal
    faces = index[..., 0]
    uv = _gather(_table(lines.vt, 2)[:, :2], index[..., 1])
    has_uv = np.asarray(np.isfinite(uv).all(axis=(1, 2)))
    paintable = has_uv if vertex_colours is None else np.zeros_like(has_uv)
    materials = _FaceMaterials(path, lines, np.asarray(lines.material, np.int64)[polygon], paintable)
    return make_mesh(
        vertices,
        faces,
        colours=materials.colours if vertex_colours is None else vertex_colours[faces],
        normals=_normals(vertices, faces, _gather(_table(lines.vn, 3)[:, :3], index[..., 2])),
        shine=materials.shine,
        opacity=materials.opacity,
        uv=np.nan_to_num(uv) * materials.uv_scale[:, None] + materials.uv_offset[:, None],
        # Without coordinates, a single texel would cover the face.
        texture=np.where(has_uv, materials.texture, -1),
        textures=materials.pictures,
    )


class _FaceMaterials:
    """The material of every triangle; all arrays have F rows.

    `paintable` marks the triangles that get the default texture of the folder if there is no material file.
    """

    def __init__(self, path: Path, lines: _Lines, which: Ints, paintable: NDArray[np.bool_]) -> None:
        known = read_materials(path, lines.libraries)
        used = [(known or {}).get(name, Material()) for name in lines.names]
        pictures = Textures(path)
        if known is None:
            picture = find_default_texture(path) if paintable.any() else ""
            if picture and pictures.add(picture) >= 0:
                which = np.where(paintable, len(used), which)
                used.append(Material(picture=picture))
            else:
                picture = ""
            _warn_missing(path, lines.libraries, picture)
        needed = set(np.unique(which).tolist())
        numbers = [pictures.add(m.picture, m.mask) if m.picture and i in needed else -1 for i, m in enumerate(used)]
        self.pictures = pictures.pictures
        self.texture = np.array(numbers)[which]
        self.colours = np.array([m.tint() if n >= 0 else m.untextured() for m, n in zip(used, numbers, strict=True)])[
            which
        ]
        self.shine = np.array([m.shine for m in used])[which]
        self.uv_scale = np.array([m.uv_scale for m in used])[which]
        self.uv_offset = np.array([m.uv_offset for m in used])[which]
        self.opacity = np.array([m.opacity for m in used])[which]
        if self.opacity.max() < 0.01:
            # Some exporters confuse opacity and transparency; nobody would store an invisible model.
            self.opacity = np.ones_like(self.opacity)


def _warn_missing(path: Path, libraries: list[str], picture: str) -> None:
    """Warns about what replaces a missing material file, unless none is named and there is no texture either."""
    names = ", ".join(printable(name) for name in libraries)
    if libraries:
        what, reason = f"material file {names} of {path} is missing", "the material file is missing"
    else:
        what, reason = f"{path} names no material file", "no material file is named"
    if picture:
        text = f"{what}; the texture {printable(picture)} is used."
        warnings.warn(MeshWarning(text, f"{reason}, so the texture next to the mesh is used"), stacklevel=3)
    elif libraries:
        text = f"{what}; faces without a colour are drawn grey."
        warnings.warn(MeshWarning(text, f"{reason}, so faces without a colour are drawn grey"), stacklevel=3)


def _split_lines(text: str) -> _Lines:
    lines = _Lines()
    numbers = {"": 0}
    current = 0
    for line in text.replace("\\\r\n", " ").replace("\\\n", " ").splitlines():
        key, _, rest = line.lstrip().replace("\t", " ").partition(" ")
        if key == "v":
            lines.v.append(rest)
        elif key == "vt":
            lines.vt.append(rest)
        elif key == "vn":
            lines.vn.append(rest)
        elif key == "f":
            words = rest.partition("#")[0].split()
            counts = (len(lines.v), len(lines.vt), len(lines.vn))
            lines.faces.append([_absolute(w, counts) for w in words] if "-" in rest else words)
            lines.material.append(current)
        elif key == "usemtl":
            name = rest.strip()
            current = numbers.setdefault(name, len(numbers))
        elif key == "mtllib":
            lines.libraries.append(rest.strip().strip('"'))
    lines.names = list(numbers)
    return lines


def _absolute(corner: str, counts: Sequence[int]) -> str:
    """Converts negative indices of a corner, which count backwards from the latest line, to positive ones."""
    parts = [int(part) if part else 0 for part in corner.split("/")]
    return "/".join(str(n + 1 + p if p < 0 else p) for p, n in zip(parts, counts[: len(parts)], strict=True))


def _corners(faces: list[list[str]]) -> Ints:
    """Parses corners 'v', 'v/vt', 'v//vn' and 'v/vt/vn' into (K, 3) indices from 0; -1 means missing."""
    joined = " ".join([" ".join(face) for face in faces])
    count = sum(map(len, faces))
    per = faces[0][0].count("/") if faces[0] else 0
    if joined.count("/") == per * count and (per == 2 or "//" not in joined):
        numbers = _parse_numbers(joined.replace("//", "/0/").replace("/", " "), (per + 1) * count, np.int64)
        if numbers is not None:
            return np.pad(numbers.reshape(-1, per + 1), ((0, 0), (0, 2 - per))) - 1
    words = [word for face in faces for word in face]
    flat = [int(part or 0) for word in words for part in [*word.split("/"), "", ""][:3]]
    return np.array(flat, np.int64).reshape(-1, 3) - 1


def _vertices(lines: list[str]) -> tuple[Doubles, Doubles | None]:
    """(V, 3) positions, and (V, 3) colours in [0, 1] if every line has three more numbers."""
    table = _table(lines, 3)
    if table.shape[1] != 6 or not np.isfinite(table[:, 3:]).all():
        return table[:, :3], None
    colours = table[:, 3:]
    return table[:, :3], np.clip(colours / 255 if colours.max(initial=0) > 1 else colours, 0, 1)


def _table(lines: list[str], width: int) -> Doubles:
    """Parses lines of numbers into an array with the columns that all lines have, at least `width`."""
    lines = [line.strip() for line in lines]
    if not lines:
        return np.zeros((0, width))
    spaces = lines[0].count(" ")
    if spaces + 1 >= width and all(line.count(" ") == spaces for line in lines):
        numbers = _parse_numbers(" ".join(lines), len(lines) * (spaces + 1), np.float64)
        if numbers is not None:
            return numbers.reshape(len(lines), -1)
    rows = [line.partition("#")[0].split() for line in lines]
    shortest = min(len(row) for row in rows)
    if width == 2 and shortest == 1:  # a texture coordinate may have one number
        rows = [[*row, "0"][:2] for row in rows]
    elif shortest < width:
        raise UserError("a line has too few numbers, so the file may be incomplete")
    return np.array([[float(word) for word in row[: max(shortest, width)]] for row in rows])


def _parse_numbers(text: str, count: int, dtype: type[np.int64] | type[np.float64]) -> NDArray[Any] | None:
    """Parses exactly `count` numbers; None if the text contains anything else."""
    try:
        with warnings.catch_warnings():
            # Older versions of numpy only warn about text that they cannot parse.
            warnings.simplefilter("error")
            numbers = np.fromstring(text, dtype, sep=" ")
    except (ValueError, DeprecationWarning):
        return None
    return numbers if len(numbers) == count else None


def _gather(table: Doubles, index: Ints) -> Doubles:
    """Rows of table (N, k) at index (F, 3) -> (F, 3, k), NaN for an invalid index."""
    if not len(table):
        return np.full((*index.shape, table.shape[1]), np.nan)
    valid = (index >= 0) & (index < len(table))
    return np.where(valid[..., None], table[np.where(valid, index, 0)], np.nan)


def _normals(vertices: Doubles, faces: Ints, given: Doubles) -> NDArray[np.floating]:
    """(F, 3, 3): the normals of the file for triangles that have all three, computed ones for the others."""
    with np.errstate(all="ignore"):
        good = (np.linalg.norm(given, axis=2) > 1e-6).all(axis=1) & np.isfinite(given).all(axis=(1, 2))
    if good.all():
        return given
    from lie_ssl.objects.normals import crease_normals  # needs numba, which comes with the extra `render`

    smooth = crease_normals(vertices.astype(np.float32), faces.astype(np.int32))
    return np.where(good[:, None, None], np.nan_to_num(given), smooth)
