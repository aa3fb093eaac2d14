"""Loads mesh files of all formats."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from lie_ssl.errors import UserError
from lie_ssl.extras import require
from lie_ssl.objects.mesh import Mesh

# In order of preference if an object has several formats: those with materials first.
EXTENSIONS = (".obj", ".glb", ".gltf", ".ply", ".off", ".stl")


def load_mesh(path: Path | str) -> Mesh:
    """Loads a mesh file; axes and scale are those of the file.

    A broken file raises a `UserError` that names it; an unreadable texture is only a warning.
    """
    require("reading mesh files", "render")
    path = Path(path)
    extension = path.suffix.lower()
    if extension not in EXTENSIONS:
        known = ", ".join(each[1:] for each in EXTENSIONS)
        raise UserError(f"{path} has no known mesh format: convert it to one of {known}.")
    if not path.is_file():
        raise UserError(f"There is no file {path}: check the path.")
    reader = _reader(extension)
    try:
        with np.errstate(all="ignore"):
            return reader(path)
    except UserError as error:
        raise UserError(f"{path} cannot be used ({error}): export it again or remove it.") from None
    except Exception as error:  # parsers raise anything on garbage, and the user needs the file name
        raise UserError(
            f"{path} cannot be read as a {extension[1:]} file ({type(error).__name__}): export it again or remove it."
        ) from error


def _reader(extension: str) -> Callable[[Path], Mesh]:
    """The reader of a format, imported on first use because numba and trimesh are slow to load."""
    require(f"reading {extension[1:]} files", "render")
    if extension == ".obj":
        from lie_ssl.objects.obj import read_obj

        return read_obj
    if extension == ".off":
        from lie_ssl.objects.off import read_off

        return read_off
    from lie_ssl.objects.scenes import read_scene

    return read_scene
