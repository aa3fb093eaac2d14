"""One way in for every mesh file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from lie_ssl.errors import UserError
from lie_ssl.extras import require
from lie_ssl.objects.mesh import Mesh

# In the order of preference where one object comes in several formats: those with a look of their own first.
EXTENSIONS = (".obj", ".glb", ".gltf", ".ply", ".off", ".stl")


def load_mesh(path: Path | str) -> Mesh:
    """The mesh of a file, in the axes and the size of the file.

    Whatever is wrong with the file is a `UserError` that names it; a texture that cannot be read is only a warning.
    """
    require("a mesh file", "render")
    path = Path(path)
    extension = path.suffix.lower()
    if extension not in EXTENSIONS:
        known = ", ".join(each[1:] for each in EXTENSIONS)
        raise UserError(f"{path} is not a mesh file that can be read: convert it to one of {known}.")
    if not path.is_file():
        raise UserError(f"There is no file {path}: check the path.")
    reader = _reader(extension)
    try:
        with np.errstate(all="ignore"):
            return reader(path)
    except UserError as error:
        raise UserError(f"{path} cannot be used, {error}: export it again or take it out of the folder.") from None
    except Exception as error:  # Parsers throw whatever they like at garbage; the user needs the name of the file.
        raise UserError(
            f"{path} cannot be read as a {extension[1:]} file ({type(error).__name__}): "
            "export it again or take it out of the folder."
        ) from error


def _reader(extension: str) -> Callable[[Path], Mesh]:
    """The reader of a format, imported on first use: it needs numba or trimesh, which take their time to load."""
    require(f"reading {extension[1:]} files", "render")
    if extension == ".obj":
        from lie_ssl.objects.obj import read_obj

        return read_obj
    if extension == ".off":
        from lie_ssl.objects.off import read_off

        return read_off
    from lie_ssl.objects.scenes import read_scene

    return read_scene
