"""Textures: read once, stored as RGBA of limited size. A missing texture is a warning, not an error."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from lie_ssl.errors import UserError
from lie_ssl.objects.mesh_warnings import MeshWarning
from lie_ssl.storage.images import open_image

LONGEST_SIDE = 1024

# Folders in which data sets store pictures that material files name without a folder.
_OTHER_FOLDERS = (".", "..", "../images", "textures", "../textures", "../materials/textures")

# Folders of `texture.png` in Google Scanned Objects, and the formats of other data sets, in order of preference.
_DEFAULT_FOLDERS = (".", "../materials/textures")
_DEFAULT_FORMATS = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tga", ".tif", ".tiff")

Picture = NDArray[np.uint8]


class Textures:
    """The textures of one model, in the order of first use."""

    def __init__(self, model: Path) -> None:
        self.model = model
        self.pictures: list[Picture] = []
        self._index: dict[tuple[str, str], int] = {}

    def add(self, name: str, mask: str = "") -> int:
        """Adds the picture `name` (with the opacity picture `mask`) and returns its index, -1 if it cannot be read."""
        if (name, mask) not in self._index:
            picture = self._try(name, lambda: _masked(self._find(name), self._find(mask) if mask else None))
            self._index[name, mask] = -1 if picture is None else len(self.pictures)
            self.pictures += [] if picture is None else [picture]
        return self._index[name, mask]

    def add_image(self, name: str, image: Image.Image) -> int:
        """Adds a picture embedded in the model file and returns its index, -1 if it is broken."""
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
        except Exception as error:  # PIL raises many types for broken pictures, and none may stop a data set
            warn_missing_texture(
                self.model, name, str(error) if isinstance(error, FileNotFoundError) else "it cannot be read"
            )
            return None


def warn_missing_texture(model: Path, name: str, reason: str) -> None:
    """Warns that a texture of the model is missing or unreadable."""
    text = f"texture {printable(name)} of {model} is left out: {reason}; its faces have their plain colour instead."
    warnings.warn(MeshWarning(text, f"a texture is left out because {reason}"), stacklevel=3)


def find_beside(model: Path, name: str, folders: tuple[str, ...] = (".",)) -> Path | None:
    """Finds the file that a model calls `name`: first by that path, then by base name in `folders`, ignoring case."""
    name = name.replace("\\", "/")
    written = model.parent / name
    if not name.startswith("/") and written.is_file():  # an absolute path is from another machine, or malicious
        return written
    for folder in folders:
        wanted = name.rsplit("/", 1)[-1].lower()
        place = model.parent / folder
        if place.is_dir():
            matches = sorted(p for p in place.iterdir() if p.name.lower() == wanted and p.is_file())
            if matches:
                return matches[0]
    return None


def find_default_texture(model: Path) -> str:
    """Finds a picture `texture.*` next to a model and returns its name for `find_beside`; '' if there is none."""
    for folder in _DEFAULT_FOLDERS:
        place = model.parent / folder
        files = [p for p in place.iterdir() if p.stem.lower() == "texture" and p.is_file()] if place.is_dir() else []
        found = [p for p in files if p.suffix.lower() in _DEFAULT_FORMATS]
        if found:
            best = min(found, key=lambda p: (_DEFAULT_FORMATS.index(p.suffix.lower()), p.name))
            return (Path(folder) / best.name).as_posix()
    return ""


def to_rgba(image: Image.Image) -> Picture:
    """Converts a PIL picture to (H, W, 4); the longer side has at most `LONGEST_SIDE` pixels."""
    if image.mode.startswith(("I", "F")):
        # PIL clips 16-bit grey levels to white instead of scaling them.
        grey = np.asarray(image, np.float64)
        image = Image.fromarray((grey * (255 / max(float(grey.max()), 255.0))).astype(np.uint8))
    image = image.convert("RGBA")
    if max(image.size) > LONGEST_SIDE:
        factor = LONGEST_SIDE / max(image.size)
        size = (max(1, round(image.width * factor)), max(1, round(image.height * factor)))
        image = image.resize(size, Image.Resampling.BOX)
    return np.array(image, np.uint8)


def printable(name: str) -> str:
    """A file name for messages, with undecodable bytes replaced."""
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
        # Lets the JPEG decoder skip detail that the size limit would discard.
        image.draft("RGB", (LONGEST_SIDE, LONGEST_SIDE))
        picture = to_rgba(image)
    if picture.size == 0:
        raise UserError("the picture is empty")
    return picture
