"""Labelled photographs for classification: ImageFolder trees, Tiny-ImageNet, iLab-2M and COIL, as folders or zips."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from lie_ssl._text import count
from lie_ssl.errors import UserError
from lie_ssl.frames.listing import COIL_NAME, Tree, open_tree
from lie_ssl.frames.pictures import EXTENSIONS, load_picture

Rows = NDArray[np.int64]
Part = Literal["train", "validation", "test"]
PARTS: dict[str, Part] = {
    **dict.fromkeys(("train", "training", "train_img"), "train"),
    **dict.fromkeys(("val", "valid", "validation"), "validation"),
    **dict.fromkeys(("test", "testing", "test_img"), "test"),
}
# category-instance-background-camera-rotation-light-focus
ILAB_NAME = re.compile(r"^([a-z0-9]+)-i\d+-b\d+-c\d+-r\d+-l\d+-f\d+\.\w+$")
# The categories of iLab-2M that Madan et al. (2021) use, of 15.
ILAB_CLASSES = ("bus", "car", "heli", "monster", "plane", "tank")
ANNOTATIONS = "val_annotations.txt"
MAX_BYTES = 4 << 30  # of decoded pictures in memory


@dataclass(frozen=True)
class Labelled:
    """One file."""

    name: str
    class_name: str
    part: Part


class PhotoSet:
    """Labelled photographs, read as (N, size, size, channels) uint8, like a FrameSet.

    Sets of up to 4 GB are read into memory; unreadable files are left out and listed in `dropped`. Files of larger sets
    are read on demand. Every class must have a readable training photograph; the names are checked before anything is
    read.
    """

    def __init__(
        self, path: Path | str, size: int, channels: int = 3,
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> None:  # fmt: skip
        self.path, self.size, self.channels = Path(path), size, channels
        self.dropped: list[str] = []
        self._pictures: NDArray[np.uint8] | None = None
        self._digests: list[bytes] = []
        with open_tree(self.path) as tree:
            self.files = list_labelled(tree)
            self.classes = sorted({f.class_name for f in self.files})
            self._check_names()
            if len(self.files) * size * size * channels <= MAX_BYTES:
                self._read_all(tree, progress)
            else:
                self._try_classes(tree)
        self.labels: Rows = np.searchsorted(self.classes, [f.class_name for f in self.files]).astype(np.int64)

    def rows(self, part: Part) -> Rows:
        """The rows of one part (train, val or test)."""
        return np.array([i for i, f in enumerate(self.files) if f.part == part], np.int64)

    def read(self, rows: Sequence[int] | Rows) -> NDArray[np.uint8]:
        """(len(rows), size, size, channels)."""
        return self.read_with_digests(rows)[0]

    def read_with_digests(self, rows: Sequence[int] | Rows) -> tuple[NDArray[np.uint8], list[bytes]]:
        """The photographs and the SHA-256 of each file."""
        if self._pictures is not None:
            return self._pictures[np.asarray(rows, np.int64)], [self._digests[i] for i in rows]
        with open_tree(self.path) as tree:
            pictures, digests = zip(*(self._load(tree, self.files[i]) for i in rows), strict=True)
        return np.stack(pictures), list(digests)

    def _load(self, tree: Tree, file: Labelled) -> tuple[NDArray[np.uint8], bytes]:
        data = tree.read(file.name)
        return load_picture(data, file.name, self.size, grey=self.channels == 1), hashlib.sha256(data).digest()

    def _check_names(self) -> None:
        if len(self.classes) < 2:
            found = count(len(self.classes), "class", "classes")
            raise UserError(f"{self.path} has photographs of {found}, but a classifier needs two; add others")
        trained = {f.class_name for f in self.files if f.part == "train"}
        if not trained:
            raise UserError(f"{self.path} has no training photographs; put them into train/CLASS/")
        if untrained := sorted(set(self.classes) - trained):
            raise UserError(
                f"{self.path} has test photographs of {untrained[0]}, but none in train/; "
                f"put some into train/{untrained[0]}/ or remove the class"
            )
        if all(f.part == "train" for f in self.files):
            raise UserError(f"{self.path} has no test photographs; put them into test/CLASS/ or val/CLASS/")

    def _read_all(self, tree: Tree, progress: Callable[[int, int], None]) -> None:
        pictures, kept, failed = [], [], []
        for number, file in enumerate(self.files, 1):
            try:
                picture, digest = self._load(tree, file)
                pictures.append(picture)
                kept.append(file)
                self._digests.append(digest)
            except UserError as error:
                failed.append((file, str(error)))
            progress(number, len(self.files))
        self.dropped = [words for _, words in failed]
        if not kept:
            raise UserError(f"no file in {self.path} can be read ({self.dropped[0]}); replace the files")
        self._check_read({f.class_name for f in kept if f.part == "train"}, failed)
        for part in {f.part for f in self.files} - {f.part for f in kept}:
            raise UserError(f"no {part} photograph in {self.path} can be read ({self.dropped[0]}); replace them")
        self.files, self._pictures = kept, np.stack(pictures)

    def _try_classes(self, tree: Tree) -> None:
        """Tries training photographs of every class until one can be read."""
        good: set[str] = set()
        failed = []
        for file in self.files:
            if file.part == "train" and file.class_name not in good:
                try:
                    self._load(tree, file)
                    good.add(file.class_name)
                except UserError as error:
                    failed.append((file, str(error)))
        self._check_read(good, failed)

    def _check_read(self, trained: set[str], failed: Sequence[tuple[Labelled, str]]) -> None:
        for file, words in failed:
            if file.part == "train" and file.class_name not in trained:
                raise UserError(
                    f"{self.path} has no training photograph of {file.class_name} that can be read ({words}); "
                    "replace them or remove the class"
                )


class TurnedPhotos:
    """The same photographs, each rotated by a random angle; the corners are black.

    The angle depends on the content of the file, not on its name or folder.
    """

    def __init__(self, photos: PhotoSet, seed: int = 0) -> None:
        self.photos, self.classes, self.labels, self.seed = photos, photos.classes, photos.labels, seed

    def read(self, rows: Sequence[int] | Rows) -> NDArray[np.uint8]:
        """(len(rows), size, size, channels)."""
        pictures, digests = self.photos.read_with_digests(rows)
        return np.stack([turned(p, angle_of(d, self.seed)) for p, d in zip(pictures, digests, strict=True)])


def angle_of(digest: bytes, seed: int = 0) -> float:
    """The angle of a file with this SHA-256, in degrees, uniform in [0, 360)."""
    drawn = hashlib.sha256(f"turned {seed} ".encode() + digest).digest()
    return (int.from_bytes(drawn[:8], "big") >> 11) / 2**53 * 360


def turned(picture: NDArray[np.uint8], degrees: float) -> NDArray[np.uint8]:
    """Rotates a picture (S, S, C) about its centre, counter-clockwise."""
    flat = picture[..., 0] if picture.shape[-1] == 1 else picture
    image = Image.fromarray(flat).rotate(degrees, Image.Resampling.BILINEAR, fillcolor=0)
    return np.asarray(image, np.uint8).reshape(picture.shape)


def list_labelled(tree: Tree) -> list[Labelled]:
    """All photographs with their class and part, sorted by name."""
    names = sorted(n for n in tree.names() if n.lower().endswith(EXTENSIONS))
    if not names:
        raise UserError(f"{tree.label} has no pictures ({', '.join(EXTENSIONS)})")
    files = [PurePosixPath(n) for n in names]
    if all(COIL_NAME.match(f.name) for f in files):
        return [_coil(f) for f in files]
    parts = [_part(f, tree) for f in files]
    if all(ILAB_NAME.match(f.name) for f in files):
        found = [(f, ILAB_NAME.match(f.name)[1], p) for f, p in zip(files, parts, strict=True)]  # type: ignore[index]
        return [Labelled(str(f), c, p) for f, c, p in found if c in ILAB_CLASSES]
    given = _annotations(tree)
    return [
        Labelled(str(f), given[f.name] if p == "validation" and f.name in given else _class(f, tree), p)
        for f, p in zip(files, parts, strict=True)
    ]


def _place(file: PurePosixPath) -> int:
    """The position in a path of the first folder that names a part (train, val or test)."""
    return next((i for i, word in enumerate(file.parts[:-1]) if word.lower() in PARTS), -1)


def _part(file: PurePosixPath, tree: Tree) -> Part:
    place = _place(file)
    if place < 0:
        raise UserError(f"{file} in {tree.label} is not in a folder train, val or test; move it to one of them")
    return PARTS[file.parts[place].lower()]


def _class(file: PurePosixPath, tree: Tree) -> str:
    below = file.parts[_place(file) + 1 : -1]
    if not below:
        raise UserError(f"{file} in {tree.label} is not in the folder of a class; move it to PART/CLASS/NAME.jpg")
    return below[0]


def _annotations(tree: Tree) -> dict[str, str]:
    """The classes of Tiny-ImageNet's validation pictures, by file name."""
    lists = [n for n in tree.names() if PurePosixPath(n).name == ANNOTATIONS]
    if not lists:
        return {}
    try:
        lines = tree.read(lists[0]).decode().splitlines()
    except UnicodeDecodeError as error:
        raise UserError(f"{lists[0]} in {tree.label} is not valid UTF-8; save it again") from error
    return {words[0]: words[1] for line in lines if len(words := line.split("\t")) > 1}


def _coil(file: PurePosixPath) -> Labelled:
    """The class and part of a COIL file: objects are classes; every second photograph is for training."""
    match = COIL_NAME.match(file.name)
    assert match is not None
    number = int(match[2])
    # COIL-20 numbers frames, COIL-100 degrees in steps of five.
    return Labelled(str(file), f"obj{int(match[1]):03d}", "test" if number % 2 else "train")
