"""The furniture library of Sweet Home 3D: about 450 textured models with manually checked classes.

The models are not part of this package but are read from the Debian package `sweethome3d-furniture`. The table next to
this file lists the class and the licence of each model.
"""

from __future__ import annotations

import csv
import re
import tempfile
import warnings
import zipfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from lie_ssl.errors import UserError
from lie_ssl.objects.checking import checked_catalogue
from lie_ssl.objects.debian import cache_folder, download, unpack
from lie_ssl.objects.files import load_mesh
from lie_ssl.objects.mesh import Mesh
from lie_ssl.objects.orientation import rotated
from lie_ssl.objects.sources.base import (
    Catalogue,
    CatalogueEntry,
    Dropped,
    Source,
    SourceSettings,
    select_classes,
    source,
)

PACKAGE = "sweethome3d-furniture"
MANIFEST = Path(__file__).with_suffix(".csv")

_PROPERTY = re.compile(r"^(\w+)#(\d+)\s*=\s*(.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Row:
    """One line of the manifest."""

    archive: str
    model: str  # path in the archive
    name: str
    class_name: str
    licence: str
    creator: str

    @property
    def entry(self) -> CatalogueEntry:
        instance = f"{self.archive}-{PurePosixPath(self.model).parent.name}"
        return CatalogueEntry(self.class_name, instance, self.licence, f"{self.archive}:{self.model}")


@source("sweethome3d", title="449 pieces of furniture from a Debian package", order=30)
@dataclass(frozen=True)
class SweetHome3D(Source):
    """The models of the Debian package `sweethome3d-furniture`.

    `location` is the .deb file, a folder that contains it, or a folder with its .sh3f files at any depth. By default
    the package is downloaded with apt-get and cached in the user's cache folder.
    """

    location: str | None = None

    settings: ClassVar[tuple[str, ...]] = ("path",)

    @classmethod
    def from_config(cls, config: SourceSettings) -> Self:
        return cls(config.path)

    @property
    def name(self) -> str:
        return "sweethome3d"

    def catalogue(self, *, strict: bool = False, classes: tuple[str, ...] = ()) -> Catalogue:
        """Lists all models of the manifest that are in the package; opens every model once."""
        archives = find_archives(self.location)
        present = {name: _names(path) for name, path in archives.items()}
        chosen = {e.key for e in select_classes((row.entry for row in manifest()), classes)}
        rows = [row for row in manifest() if row.entry.key in chosen]
        missing = [row.entry.key for row in rows if row.model not in present.get(row.archive, ())]
        if len(missing) == len(rows):
            where = self.location or "the cache"
            raise UserError(f"The archives in {where} contain none of the known models: download {PACKAGE} 1.8 again.")
        if missing and strict:
            raise UserError(
                f"{missing[0]} is not in this copy of {PACKAGE}: download version 1.8, or do not use strict."
            )
        dropped = [Dropped(key, f"it is not in this copy of {PACKAGE}") for key in missing]
        entries = [row.entry for row in rows if row.model in present.get(row.archive, ())]
        entries.sort(key=lambda e: (e.class_name, e.instance))
        return checked_catalogue(entries, self.mesh, dropped, strict=strict)

    def mesh(self, entry: CatalogueEntry) -> Mesh:
        """Loads the mesh of a model, upright and normalised."""
        archive, _, model = entry.key.partition(":")
        path = find_archives(self.location).get(archive)
        if path is None:
            raise UserError(
                f"There is no archive {archive}.sh3f in {self.location or 'the cache'}: download {PACKAGE} again."
            )
        mesh = _load(path, model)
        rotation = _rotations(path).get(model)
        return (mesh if rotation is None else rotated(mesh, rotation)).normalised()


def manifest() -> list[Row]:
    """Reads the list of models, in the order of the file."""
    with MANIFEST.open(newline="", encoding="utf-8") as file:
        return [
            Row(line["archive"], line["model"], line["name"], line["class"], line["licence"], line["creator"])
            for line in csv.DictReader(file)
        ]


def find_archives(location: str | None) -> dict[str, Path]:
    """Finds the .sh3f files by name; downloads or unpacks the package first if necessary."""
    if not location:
        return _by_name(cache_folder() / PACKAGE) or _by_name(_downloaded())
    path = Path(location).expanduser()
    if path.is_file():
        return _by_name(_unpacked(path))
    if not path.is_dir():
        raise UserError(f"There is no file or folder {path}: check the location of {PACKAGE}.")
    archives = _by_name(path)
    packages = sorted(path.glob(f"{PACKAGE}*.deb"))
    if not archives and not packages:
        raise UserError(f"{path} contains neither .sh3f files nor {PACKAGE}_*.deb: check the location.")
    return archives or _by_name(_unpacked(packages[-1]))


def _by_name(folder: Path) -> dict[str, Path]:
    return {path.stem: path for path in sorted(folder.rglob("*.sh3f"))} if folder.is_dir() else {}


def _downloaded() -> Path:
    target = cache_folder() / PACKAGE
    cache_folder().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache_folder()) as temporary:
        unpack(download(PACKAGE, Path(temporary)), ".sh3f", target)
    return target


def _unpacked(package: Path) -> Path:
    """Unpacks a package; size and time in the folder name distinguish packages with the same name."""
    stat = package.stat()
    target = cache_folder() / f"{package.stem}-{stat.st_size}-{int(stat.st_mtime)}"
    if not target.is_dir():
        unpack(package, ".sh3f", target)
    return target


def _open(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile) as error:
        raise UserError(f"{path} is not a complete archive ({error}): download {PACKAGE} again.") from error


def _names(path: Path) -> set[str]:
    with _open(path) as archive:
        return set(archive.namelist())


@cache
def _rotations(path: Path) -> dict[str, NDArray[np.float64]]:
    """The rotation (3, 3) to y up, front +z of each model that needs one."""
    with _open(path) as archive:
        try:
            text = archive.read("PluginFurnitureCatalog.properties").decode("latin-1")
        except KeyError:
            return {}
    properties = {(key, number): value.strip() for key, number, value in _PROPERTY.findall(text)}
    rotations = {}
    for (key, number), value in properties.items():
        numbers = value.split()
        if key == "modelRotation" and len(numbers) == 9:
            model = properties.get(("model", number), "").lstrip("/")
            rotations[model] = np.array([float(n) for n in numbers]).reshape(3, 3)
    return rotations


def _load(path: Path, model: str) -> Mesh:
    """Loads a model from an archive; it and its pictures are unpacked to a temporary folder."""
    folder = f"{PurePosixPath(model).parent}/"
    with tempfile.TemporaryDirectory() as temporary, _open(path) as archive:
        # zipfile neutralises names with '..', but no valid model needs them either.
        inside = [n for n in archive.namelist() if n.startswith(folder) and not n.endswith("/")]
        members = [n for n in inside if ".." not in PurePosixPath(n).parts]
        try:
            archive.extractall(temporary, members)
            # It is known which pictures are missing, and the models were checked without them.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                return load_mesh(Path(temporary) / model)
        except (OSError, zipfile.BadZipFile, RuntimeError, EOFError) as error:
            raise UserError(f"{path.name}:{model} cannot be unpacked ({error}): download {PACKAGE} again.") from error
        except UserError as error:
            raise UserError(str(error).replace(f"{temporary}/", f"{path.name}:")) from None
