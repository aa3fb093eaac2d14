"""Reads glb, gltf, ply and stl models: trimesh parses the file, and the materials are converted here.

Shape letters: V vertices, F triangles.
"""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import trimesh
from numpy.typing import NDArray
from trimesh.resolvers import FilePathResolver
from trimesh.visual.color import ColorVisuals
from trimesh.visual.material import PBRMaterial
from trimesh.visual.texture import TextureVisuals

from lie_ssl.errors import UserError
from lie_ssl.objects.mesh import Mesh, join, make_mesh
from lie_ssl.objects.polygons import triangulate
from lie_ssl.objects.textures import Textures, find_beside, printable, warn_missing_texture
from lie_ssl.storage.images import without_ghostscript
from lie_ssl.storage.limits import check_memory

# trimesh logs what it cannot read; without a handler, Python would print it with tracebacks.
logging.getLogger("trimesh").addHandler(logging.NullHandler())

GREY = (0.7, 0.7, 0.7)
Doubles = NDArray[np.float64]


def read_scene(path: Path) -> Mesh:
    """Reads all parts of a file, placed by its scene graph."""
    for picture in _external_pictures(path):
        if find_beside(path, picture) is None:
            warn_missing_texture(path, picture, "it is missing")
    with without_ghostscript():  # around everything, as pictures are decoded on first access
        scene = trimesh.load_scene(path, process=False, resolver=_Resolver(path))
        parts = []
        for node in sorted(scene.graph.nodes_geometry):
            transform, name = scene.graph[node]
            part = scene.geometry[name]
            if isinstance(part, trimesh.Trimesh) and len(part.faces):
                parts.append(_part(path, str(name), part, np.asarray(transform, np.float64)))
    if not parts:
        raise UserError("it has no faces")
    return parts[0] if len(parts) == 1 else join(parts)


class _Resolver(FilePathResolver):
    """Opens the files that a model names for trimesh: regular files only, located like textures of OBJ models."""

    def __init__(self, model: Path) -> None:
        super().__init__(str(model), allow_anywhere=True)
        self.model = model

    def get(self, name: str) -> bytes:
        found = find_beside(self.model, unquote(str(name)))
        if found is None:
            raise FileNotFoundError(f"{printable(str(name))} is missing")
        check_memory(found.stat().st_size, str(found), "remove it from the folder")
        return found.read_bytes()


def _part(path: Path, name: str, part: Any, transform: Doubles) -> Mesh:
    vertices = np.asarray(part.vertices, np.float64) @ transform[:3, :3].T + transform[:3, 3]
    faces = np.asarray(part.faces, np.int64)
    # Invalid numbers must be found before any arithmetic.
    if faces.min() < 0 or faces.max() >= len(vertices):
        raise UserError("a face refers to a missing vertex")
    if not np.isfinite(vertices[faces]).all():
        raise UserError("it has vertices that are not finite numbers")
    linear = path.suffix.lower() in (".glb", ".gltf")
    outlines = _ply_outlines(part, faces)
    if outlines is not None:
        faces, owner = outlines
        colours = _ply_colours(part, faces, owner)
        return make_mesh(vertices, faces, colours=colours[..., :3], opacity=colours[..., 3].mean(axis=1))
    if isinstance(part.visual, TextureVisuals):
        return _textured(path, name, part, vertices, faces, linear)
    colours = _flat_colours(part.visual, faces)
    return make_mesh(vertices, faces, colours=_srgb(colours[..., :3], linear), opacity=colours[..., 3].mean(axis=1))


def _textured(path: Path, name: str, part: Any, vertices: Doubles, faces: NDArray[np.int64], linear: bool) -> Mesh:
    material, uv = part.visual.material, part.visual.uv
    pbr = isinstance(material, PBRMaterial)
    image = material.baseColorTexture if pbr else getattr(material, "image", None)
    mode = (material.alphaMode or "OPAQUE") if pbr else "BLEND"
    textures = Textures(path)
    number = -1
    if image is not None and uv is not None and len(uv) == len(vertices) and not _is_dummy(material, image):
        number = textures.add_image(str(getattr(image, "filename", "") or name), image)
    if number >= 0 and mode != "BLEND":
        # With any mode but 'BLEND', texels are either opaque or invisible.
        alpha = textures.pictures[number][..., 3]
        cutoff = 255 * (material.alphaCutoff if material.alphaCutoff is not None else 0.5)
        alpha[:] = 255 if mode == "OPAQUE" else np.where(alpha >= cutoff, 255, 0)
    # White is the default colour of glTF, but too bright as a substitute for a missing picture.
    lost = image is not None and number < 0
    factor = _factor(
        material.baseColorFactor if pbr else None, (*GREY, 1.0) if lost or not (pbr or number >= 0) else (1.0,) * 4
    )
    colours = np.broadcast_to(_srgb(factor[:3], linear), (len(faces), 3, 3))
    vertex_colours = part.visual.vertex_attributes.get("color") if hasattr(part.visual, "vertex_attributes") else None
    if vertex_colours is not None and len(vertex_colours) == len(vertices):
        colours = colours * _srgb(_unit(np.asarray(vertex_colours))[faces][..., :3], linear)
    return make_mesh(
        vertices,
        faces,
        colours=colours,
        shine=_shine(material) if pbr else 0.2,
        opacity=float(factor[3]) if mode == "BLEND" else 1.0,
        uv=np.asarray(uv, np.float64)[faces] if number >= 0 else None,
        texture=number,
        textures=textures.pictures,
    )


def _external_pictures(path: Path) -> list[str]:
    """The picture files that a model refers to; trimesh silently ignores missing ones."""
    if path.suffix.lower() == ".gltf":
        images = json.loads(path.read_bytes()).get("images", [])
        names = [unquote(image["uri"]) for image in images if "uri" in image]
        return [name for name in names if not name.startswith("data:")]
    if path.suffix.lower() == ".ply":
        with path.open("rb") as file:
            header = file.read(4096).partition(b"end_header")[0].decode("latin-1")
        return [name.strip() for name in re.findall(r"^comment TextureFile (.+)$", header, re.MULTILINE)]
    return []


def _is_dummy(material: Any, image: Any) -> bool:
    """Whether the picture is the tiny grey one that trimesh gives to parts without a material."""
    return not isinstance(material, PBRMaterial) and image.size[0] * image.size[1] <= 4


def _factor(given: NDArray[Any] | None, default: tuple[float, ...]) -> Doubles:
    """(4,) colour and opacity, multiplied with the texture if there is one."""
    value = np.array(default) if given is None else _unit(np.asarray(given)).reshape(-1)
    return np.concatenate([value, np.ones(1)])[:4]


def _shine(material: Any) -> float:
    roughness = 1.0 if material.roughnessFactor is None else float(material.roughnessFactor)
    metallic = 1.0 if material.metallicFactor is None else float(material.metallicFactor)
    return float(np.clip((1 - roughness) * (0.5 + 0.5 * metallic), 0, 1))


def _flat_colours(visual: Any, faces: NDArray[np.int64]) -> Doubles:
    """(F, 3, 4) colours from vertex or face colours; grey if the file has none."""
    kind = visual.kind if isinstance(visual, ColorVisuals) else None
    if kind == "vertex":
        return _unit(np.asarray(visual.vertex_colors))[faces]
    if kind == "face":
        return np.repeat(_unit(np.asarray(visual.face_colors))[:, None], 3, axis=1)
    return np.broadcast_to(np.array([*GREY, 1.0]), (len(faces), 3, 4))


def _ply_outlines(part: Any, faces: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """(F, 3) triangles and (F,) their polygons, for ply files with larger polygons, which trimesh splits into fans."""
    raw = part.metadata.get("_ply_raw")
    if raw is None or isinstance(part.visual, TextureVisuals):
        return None
    data = raw["face"]["data"]
    names = data.keys() if isinstance(data, dict) else (data.dtype.names or ())
    name = next((n for n in ("vertex_indices", "vertex_index") if n in names), None)
    if name is None:
        return None
    polygons = data[name] if isinstance(data, dict) else data[name]["f1"]
    sizes = np.array([len(polygon) for polygon in polygons], np.int64)
    if len(sizes) == 0 or sizes.max() <= 3:
        return None
    corners = np.concatenate([np.asarray(polygon, np.int64) for polygon in polygons])
    triangles, owner = triangulate(np.asarray(part.vertices, np.float64)[corners], sizes)
    return corners[triangles], owner


def _ply_colours(part: Any, faces: NDArray[np.int64], owner: NDArray[np.int64]) -> Doubles:
    """(F, 3, 4) colours for the triangles of `_ply_outlines`."""
    raw = part.metadata["_ply_raw"]
    for element, rows in (("vertex", faces), ("face", np.repeat(owner[:, None], 3, axis=1))):
        data = raw[element]["data"]
        names = data.keys() if isinstance(data, dict) else (data.dtype.names or ())
        if {"red", "green", "blue"} <= set(names):
            bands = [np.asarray(data[band]).reshape(-1)[rows] for band in ("red", "green", "blue")]
            rgb = _unit(np.stack(bands, axis=-1))
            return np.concatenate([rgb, np.ones((*rgb.shape[:2], 1))], axis=2)
    return np.broadcast_to(np.array([*GREY, 1.0]), (len(faces), 3, 4))


def _unit(colours: NDArray[Any]) -> Doubles:
    """Scales colours of any number type to [0, 1]."""
    scale = float(np.iinfo(colours.dtype).max) if np.issubdtype(colours.dtype, np.integer) else 1.0
    return np.clip(colours.astype(np.float64) / scale, 0, 1)


def _srgb(colours: Doubles, linear: bool) -> Doubles:
    """Converts linear colours to sRGB; glTF stores colours, but not pictures, in linear light."""
    if not linear:
        return colours
    return np.where(colours <= 0.0031308, 12.92 * colours, 1.055 * np.maximum(colours, 1e-9) ** (1 / 2.4) - 0.055)
