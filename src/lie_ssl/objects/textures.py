"""Pictures on surfaces: read once, kept as RGBA of bounded size; a missing one is a warning, never the end."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from lie_ssl.errors import UserError
from lie_ssl.objects.remarks import MeshWarning
from lie_ssl.storage.images import open_image

LONGEST_SIDE = 1024

# Where data sets put pictures that their material files name without a folder.
_OTHER_FOLDERS = (".", "..", "../images", "textures", "../textures", "../materials/textures")

# Where Google Scanned Objects have the picture `texture.png`, and in which formats others may have it; the best first.
_LONE_FOLDERS = (".", "../materials/textures")
_LONE_FORMATS = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tga", ".tif", ".tiff")

Picture = NDArray[np.uint8]


class Textures:
    """The textures of one model in the order of first use."""

    def __init__(self, model: Path) -> None:
        self.model = model
        self.pictures: list[Picture] = []
        self._index: dict[tuple[str, str], int] = {}

    def add(self, name: str, mask: str = "") -> int:
        """The number of the picture `name` (with the opacity picture `mask`), -1 if it cannot be had."""
        if (name, mask) not in self._index:
            picture = self._try(name, lambda: _masked(self._find(name), self._find(mask) if mask else None))
            self._index[name, mask] = -1 if picture is None else len(self.pictures)
            self.pictures += [] if picture is None else [picture]
        return self._index[name, mask]

    def add_image(self, name: str, image: Image.Image) -> int:
        """The number of a picture that came inside the model file, -1 if it is broken."""
        picture = self._try(name, lambda: to_rgba(image))
        self.pictures += [] if picture is None else [picture]
        return -1 if picture is None else len(self.pictures) - 1

    def _find(self, name: str) -> Path:
        path = find_beside(self.model, name, _OTHER_FOLDERS)
        if path is None:
            raise FileNotFoundError("it is missing")
        return path

    def _try(self, name: str, read: Callable[[], Picture]) -> Picture | None:
        try:
            return read()
        except Exception as error:  # PIL throws many types at broken pictures, and none of them may stop a data set.
            warn_lost(self.model, name, str(error) if isinstance(error, FileNotFoundError) else "it cannot be read")
            return None


def warn_lost(model: Path, name: str, reason: str) -> None:
    """Tells the user about one picture that the model has to do without."""
    text = f"texture {printable(name)} of {model} is left out: {reason}; its faces keep their plain colour."
    warnings.warn(MeshWarning(text, f"a texture is left out, because {reason}"), stacklevel=3)


def find_beside(model: Path, name: str, folders: tuple[str, ...] = (".",)) -> Path | None:
    """The file that a model calls `name`: as written first, then by its bare name in `folders`, in any case."""
    name = name.replace("\\", "/")
    written = model.parent / name
    if not name.startswith("/") and written.is_file():  # an absolute path is of another machine, or a trick
        return written
    for folder in folders:
        wanted = name.rsplit("/", 1)[-1].lower()
        place = model.parent / folder
        if place.is_dir():
            matches = sorted(p for p in place.iterdir() if p.name.lower() == wanted and p.is_file())
            if matches:
                return matches[0]
    return None


def lone_picture(model: Path) -> str:
    """The picture `texture.*` that lies with a model, as a name that `find_beside` takes; '' if there is none."""
    for folder in _LONE_FOLDERS:
        place = model.parent / folder
        files = [p for p in place.iterdir() if p.stem.lower() == "texture" and p.is_file()] if place.is_dir() else []
        found = [p for p in files if p.suffix.lower() in _LONE_FORMATS]
        if found:
            best = min(found, key=lambda p: (_LONE_FORMATS.index(p.suffix.lower()), p.name))
            return (Path(folder) / best.name).as_posix()
    return ""


def to_rgba(image: Image.Image) -> Picture:
    """Any PIL picture -> (H, W, 4), at most `LONGEST_SIDE` on the longer side."""
    if image.mode.startswith(("I", "F")):
        # PIL clips 16-bit greys to white instead of scaling them.
        grey = np.asarray(image, np.float64)
        image = Image.fromarray((grey * (255 / max(float(grey.max()), 255.0))).astype(np.uint8))
    image = image.convert("RGBA")
    if max(image.size) > LONGEST_SIDE:
        factor = LONGEST_SIDE / max(image.size)
        size = (max(1, round(image.width * factor)), max(1, round(image.height * factor)))
        image = image.resize(size, Image.Resampling.BOX)
    return np.array(image, np.uint8)


def printable(name: str) -> str:
    """A file name that may hold undecodable bytes, fit for a message."""
    return name.encode("utf-8", "replace").decode()


def _masked(path: Path, mask: Path | None) -> Picture:
    picture = _read(path)
    if mask is None:
        return picture
    with open_image(mask) as image:
        band = image.convert("RGBA").getchannel("A") if "A" in image.getbands() else image.convert("L")
        picture[..., 3] = np.asarray(band.resize((picture.shape[1], picture.shape[0])), np.uint8)
    return picture


def _read(path: Path) -> Picture:
    with open_image(path) as image:
        # Lets the JPEG decoder skip detail that the size limit would throw away.
        image.draft("RGB", (LONGEST_SIDE, LONGEST_SIDE))
        picture = to_rgba(image)
    if picture.size == 0:
        raise UserError("the picture is empty")
    return picture
