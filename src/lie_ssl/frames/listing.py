"""Lists photographs: the class and the instance of each file, and the angle at which it was taken."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import lzma
import math
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal, Protocol

from lie_ssl.errors import UserError
from lie_ssl.frames.pictures import EXTENSIONS
from lie_ssl.storage.limits import check_memory
from lie_ssl.storage.paths import check_name

Layout = Literal["auto", "folders", "coil20", "coil100"]
PARTS = {"train", "training", "val", "valid", "validation", "test", "testing"}
COIL_NAME = re.compile(r"^obj(\d{1,6})__(\d{1,6})\.\w+$")
# A hyphen after a letter or a digit is a separator (view-030); any other is a minus sign (view_-30).
_LAST_NUMBER = re.compile(r"((?:(?<![^\W_])-)?\d+(?:\.\d+)?)(?!.*\d)")


@dataclass(frozen=True)
class Photo:
    """One file; `angle` in degrees, 0 to 360."""

    name: str
    class_name: str
    instance: str
    angle: float
    turns: int = 1  # direction of rotation for increasing angles, seen from above: 1 counter-clockwise, -1 clockwise


class Tree(Protocol):
    """The files of a folder or a zip, by names with forward slashes. A zip is never unpacked to disk."""

    label: str

    def names(self) -> list[str]: ...

    def read(self, name: str) -> bytes: ...

    def stamp(self) -> str:
        """A hash of 12 hex digits, equal for trees with equal files (in a folder: equal names and sizes)."""
        ...


class FolderTree:
    def __init__(self, root: Path) -> None:
        self.root, self.label = root, str(root)

    def names(self) -> list[str]:
        names = [p.relative_to(self.root).as_posix() for p in self.root.rglob("*") if p.is_file()]
        for name in names:
            check_name(name, "the file", f"in {self.label}")
        return names

    def read(self, name: str) -> bytes:
        try:
            return (self.root / name).read_bytes()
        except OSError as error:
            raise UserError(f"cannot read {self.root / name}: {error.strerror}") from error

    def stamp(self) -> str:
        return _stamp([(name, (self.root / name).stat().st_size) for name in self.names()])


class ZipTree:
    def __init__(self, archive: zipfile.ZipFile, label: str) -> None:
        self.archive, self.label = archive, label

    def names(self) -> list[str]:
        names = [n for n in self.archive.namelist() if not n.endswith("/") and not n.startswith("__MACOSX/")]
        seen: set[str] = set()
        for name in names:
            check_name(name, "the file", f"in {self.label}")
            path = PurePosixPath(name)
            if path.is_absolute() or ".." in path.parts:
                raise UserError(f"{self.label} has a file {name}, which leads out of it; remove it from the zip")
            if name in seen:
                raise UserError(f"{self.label} has two files called {name}; remove one from the zip")
            seen.add(name)
        return names

    def read(self, name: str) -> bytes:
        check_memory(self.archive.getinfo(name).file_size, f"{name} in {self.label}", "remove it from the zip")
        try:
            return self.archive.read(name)
        except (
            zipfile.BadZipFile,
            NotImplementedError,
            zlib.error,
            lzma.LZMAError,
            OSError,
            RuntimeError,
            EOFError,
        ) as error:
            raise UserError(f"cannot read {name} in {self.label}: {error}") from error

    def stamp(self) -> str:
        return _stamp([(i.filename, i.file_size, i.CRC) for i in self.archive.infolist()])


def _stamp(files: Sequence[tuple[str | int, ...]]) -> str:
    return hashlib.sha256(json.dumps(sorted(files)).encode()).hexdigest()[:12]


@contextmanager
def open_tree(path: Path) -> Iterator[Tree]:
    """Opens a folder or a zip file for reading."""
    if path.is_dir():
        yield FolderTree(path)
    elif path.is_file():
        try:
            archive = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError) as error:
            raise UserError(f"{path} is neither a folder nor a readable zip file; give one of them") from error
        with archive:
            yield ZipTree(archive, str(path))
    else:
        raise UserError(f"there is no folder or zip file {path}; check the path")


def list_photos(tree: Tree, layout: Layout = "auto", angles: Path | None = None) -> list[Photo]:
    """All photographs, sorted by class, instance and angle. A name or angle that cannot be parsed is an error."""
    names = sorted(n for n in tree.names() if n.lower().endswith(EXTENSIONS))
    if not names:
        raise UserError(f"{tree.label} has no pictures ({', '.join(EXTENSIONS)})")
    if layout == "auto":
        layout = _recognised(names)
    if layout == "folders":
        table = read_angles(angles) if angles else None
        photos = [_in_folders(name, table, angles) for name in names]
    else:
        photos = [_coil(name, layout) for name in names]
    if {photo.class_name.lower() for photo in photos} <= PARTS:
        raise UserError(f"the folders of {tree.label} are splits (train, test); sort the pictures into class/instance/")
    return sorted(photos, key=lambda p: (p.class_name, p.instance, p.angle, p.name))


def read_angles(path: Path) -> dict[str, float]:
    """Reads a CSV file with the columns file and angle; returns degrees by file name."""
    try:
        rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"))))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"cannot read the angles in {path}: {error}") from error
    if not rows or not {"file", "angle"} <= set(rows[0]):
        raise UserError(f"{path} needs the columns file and angle in its first line")
    table: dict[str, float] = {}
    lines: dict[str, int] = {}
    for number, row in enumerate(rows, 2):
        try:
            angle = float(row["angle"])
            if not math.isfinite(angle):
                raise ValueError
        except (TypeError, ValueError) as error:
            raise UserError(f"{path}, line {number}: the angle {row['angle']!r} is not a number") from error
        if (name := row["file"]) in table:
            raise UserError(f"{path}, line {number}: {name} already has an angle in line {lines[name]}; remove one")
        table[name], lines[name] = angle, number
    return table


def _recognised(names: list[str]) -> Layout:
    matches = [COIL_NAME.match(PurePosixPath(n).name) for n in names]
    if not all(matches):
        return "folders"
    # COIL-20 numbers frames, COIL-100 degrees: only the former has numbers that are not multiples of five.
    counts_frames = any(m and int(m[2]) % 5 for m in matches)
    return "coil20" if counts_frames else "coil100"


def _coil(name: str, layout: Layout) -> Photo:
    match = COIL_NAME.match(PurePosixPath(name).name)
    if not match:
        raise UserError(f"{name} is not named as in COIL (obj7__35.png); try --layout folders")
    angle = float(match[2]) * (5 if layout == "coil20" else 1)
    label = f"obj{int(match[1]):03d}"
    return Photo(name, label, label, angle % 360, turns=-1)  # observed in COIL-20, assumed for COIL-100


def _in_folders(name: str, table: dict[str, float] | None, source: Path | None) -> Photo:
    path = PurePosixPath(name)
    if len(path.parts) < 3:
        raise UserError(f"{name} is not in class/instance/; move it there or give the --layout")
    if table is None:
        match = _LAST_NUMBER.search(path.stem)
        if not match:
            raise UserError(f"the name of {name} has no angle; rename it or give the angles in a CSV file (--angles)")
        angle = float(match[1])
        if not math.isfinite(angle):
            raise UserError(f"the angle in the name of {name[:80]} is not a number of degrees; rename it")
    else:
        known = [table[key] for key in (name, "/".join(path.parts[-3:]), path.name) if key in table]
        if not known:
            raise UserError(f"{source} has no angle for {name}; add it")
        angle = known[0]
    return Photo(name, path.parts[-3], path.parts[-2], angle % 360)
