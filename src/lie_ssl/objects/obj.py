"""Reader of Wavefront OBJ models with their materials.

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
from lie_ssl.objects.mtl import Material, read_materials
from lie_ssl.objects.polygons import triangulate
from lie_ssl.objects.remarks import MeshWarning
from lie_ssl.objects.textures import Textures, lone_picture, printable

Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass
class _Lines:
    """The lines of a file, sorted by what they say; numbers are still text."""

    v: list[str] = field(default_factory=list)
    vt: list[str] = field(default_factory=list)
    vn: list[str] = field(default_factory=list)
    faces: list[list[str]] = field(default_factory=list)  # P lists of corners 'v/vt/vn'
    material: list[int] = field(default_factory=list)  # P, which of `names`
    names: list[str] = field(default_factory=lambda: [""])
    libraries: list[str] = field(default_factory=list)


def read_obj(path: Path) -> Mesh:
    """The mesh of an OBJ file. Raises `UserError` or `ValueError` where the file is broken."""
    lines = _sort_lines(path.read_bytes().decode("utf-8", "surrogateescape"))
    if not lines.faces:
        raise UserError("it has no faces")
    vertices, vertex_colours = _vertices(lines.v)
    corners = _corners(lines.faces)  # (K, 3)
    sizes = np.array([len(face) for face in lines.faces], np.int64)
    if corners[:, 0].min() < 0 or corners[:, 0].max() >= len(vertices):
        raise UserError("a face names a vertex that is not there")
    if not np.isfinite(vertices[corners[:, 0]]).all():
        raise UserError("it has vertices that are not finite numbers")
    triangles, polygon = triangulate(vertices[corners[:, 0]], sizes)
    if not len(triangles):
        raise UserError("it has no faces")
    index = corners[triangles]  # (F, 3, 3): vertex, uv, normal
    faces = index[..., 0]
    uv = _gather(_table(lines.vt, 2)[:, :2], index[..., 1])
    has_uv = np.asarray(np.isfinite(uv).all(axis=(1, 2)))
    bare = has_uv if vertex_colours is None else np.zeros_like(has_uv)
    look = _Look(path, lines, np.asarray(lines.material, np.int64)[polygon], bare)
    return make_mesh(
        vertices,
        faces,
        colours=look.colours if vertex_colours is None else vertex_colours[faces],
        normals=_normals(vertices, faces, _gather(_table(lines.vn, 3)[:, :3], index[..., 2])),
        shine=look.shine,
        opacity=look.opacity,
        uv=np.nan_to_num(uv) * look.uv_scale[:, None] + look.uv_offset[:, None],
        # Without coordinates a picture would become a single dot of it.
        texture=np.where(has_uv, look.texture, -1),
        textures=look.pictures,
    )


class _Look:
    """Materials spread over the triangles: every array has F rows.

    `bare` marks the triangles that a picture beside the model may cover where there is no material file.
    """

    def __init__(self, path: Path, lines: _Lines, which: Ints, bare: NDArray[np.bool_]) -> None:
        known = read_materials(path, lines.libraries)
        used = [(known or {}).get(name, Material()) for name in lines.names]
        pictures = Textures(path)
        if known is None:
            picture = lone_picture(path) if bare.any() else ""
            if picture and pictures.add(picture) >= 0:
                which = np.where(bare, len(used), which)
                used.append(Material(picture=picture))
            else:
                picture = ""
            _warn_missing(path, lines.libraries, picture)
        needed = set(np.unique(which).tolist())
        numbers = [pictures.add(m.picture, m.mask) if m.picture and i in needed else -1 for i, m in enumerate(used)]
        self.pictures = pictures.pictures
        self.texture = np.array(numbers)[which]
        self.colours = np.array([m.tint() if n >= 0 else m.plain() for m, n in zip(used, numbers, strict=True)])[which]
        self.shine = np.array([m.shine for m in used])[which]
        self.uv_scale = np.array([m.uv_scale for m in used])[which]
        self.uv_offset = np.array([m.uv_offset for m in used])[which]
        self.opacity = np.array([m.opacity for m in used])[which]
        if self.opacity.max() < 0.01:
            # Some exporters write opacity for transparency; nobody keeps a model that cannot be seen.
            self.opacity = np.ones_like(self.opacity)


def _warn_missing(path: Path, libraries: list[str], picture: str) -> None:
    """Says what stands in for the material file; a model that names none and gets no picture needs no words."""
    names = ", ".join(printable(name) for name in libraries)
    if libraries:
        what, reason = f"material file {names} of {path} is missing", "the material file is missing"
    else:
        what, reason = f"{path} names no material file", "no material file is named"
    if picture:
        text = f"{what}; the texture {printable(picture)} is used."
        warnings.warn(MeshWarning(text, f"{reason}, so the texture beside the mesh is used"), stacklevel=3)
    elif libraries:
        text = f"{what}; faces without another colour are drawn grey."
        warnings.warn(MeshWarning(text, f"{reason}, so faces without another colour are drawn grey"), stacklevel=3)


def _sort_lines(text: str) -> _Lines:
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
    """A corner with negative numbers, which count back from the newest line, turned into ordinary ones."""
    parts = [int(part) if part else 0 for part in corner.split("/")]
    return "/".join(str(n + 1 + p if p < 0 else p) for p, n in zip(parts, counts[: len(parts)], strict=True))


def _corners(faces: list[list[str]]) -> Ints:
    """Corners 'v', 'v/vt', 'v//vn' and 'v/vt/vn' -> (K, 3), counting from 0, -1 where there is none."""
    joined = " ".join([" ".join(face) for face in faces])
    count = sum(map(len, faces))
    per = faces[0][0].count("/") if faces[0] else 0
    if joined.count("/") == per * count and (per == 2 or "//" not in joined):
        numbers = _fast(joined.replace("//", "/0/").replace("/", " "), (per + 1) * count, np.int64)
        if numbers is not None:
            return np.pad(numbers.reshape(-1, per + 1), ((0, 0), (0, 2 - per))) - 1
    words = [word for face in faces for word in face]
    flat = [int(part or 0) for word in words for part in [*word.split("/"), "", ""][:3]]
    return np.array(flat, np.int64).reshape(-1, 3) - 1


def _vertices(lines: list[str]) -> tuple[Doubles, Doubles | None]:
    """(V, 3) places and, where every line has three more numbers, (V, 3) colours in [0, 1]."""
    table = _table(lines, 3)
    if table.shape[1] != 6 or not np.isfinite(table[:, 3:]).all():
        return table[:, :3], None
    colours = table[:, 3:]
    return table[:, :3], np.clip(colours / 255 if colours.max(initial=0) > 1 else colours, 0, 1)


def _table(lines: list[str], width: int) -> Doubles:
    """Lines of numbers -> (len(lines), width or more): as many columns as all lines have."""
    lines = [line.strip() for line in lines]
    if not lines:
        return np.zeros((0, width))
    spaces = lines[0].count(" ")
    if spaces + 1 >= width and all(line.count(" ") == spaces for line in lines):
        numbers = _fast(" ".join(lines), len(lines) * (spaces + 1), np.float64)
        if numbers is not None:
            return numbers.reshape(len(lines), -1)
    rows = [line.partition("#")[0].split() for line in lines]
    shortest = min(len(row) for row in rows)
    if width == 2 and shortest == 1:  # a texture coordinate may have one number
        rows = [[*row, "0"][:2] for row in rows]
    elif shortest < width:
        raise UserError("one of its lines has too few numbers, so it may have been cut off")
    return np.array([[float(word) for word in row[: max(shortest, width)]] for row in rows])


def _fast(text: str, count: int, dtype: type[np.int64] | type[np.float64]) -> NDArray[Any] | None:
    """The numbers of a text, None unless it holds just `count` of them and nothing else."""
    try:
        with warnings.catch_warnings():
            # Older versions of numpy only warn where they cannot read on.
            warnings.simplefilter("error")
            numbers = np.fromstring(text, dtype, sep=" ")
    except (ValueError, DeprecationWarning):
        return None
    return numbers if len(numbers) == count else None


def _gather(table: Doubles, index: Ints) -> Doubles:
    """Rows of table (N, k) at index (F, 3) -> (F, 3, k), NaN where the index leads nowhere."""
    if not len(table):
        return np.full((*index.shape, table.shape[1]), np.nan)
    valid = (index >= 0) & (index < len(table))
    return np.where(valid[..., None], table[np.where(valid, index, 0)], np.nan)


def _normals(vertices: Doubles, faces: Ints, given: Doubles) -> NDArray[np.floating]:
    """The file's normals (F, 3, 3) where a triangle has three of them, smoothed ones elsewhere."""
    with np.errstate(all="ignore"):
        good = (np.linalg.norm(given, axis=2) > 1e-6).all(axis=1) & np.isfinite(given).all(axis=(1, 2))
    if good.all():
        return given
    from lie_ssl.objects.normals import crease_normals  # compiled by numba, which comes with the extra `render`

    smooth = crease_normals(vertices.astype(np.float32), faces.astype(np.int32))
    return np.where(good[:, None, None], np.nan_to_num(given), smooth)
