"""Imports photographs of rotating objects as a data set."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lie_ssl.errors import UserError
from lie_ssl.frames.frameset import FrameSet
from lie_ssl.frames.importing import ImportConfig, Importer, PosedPicture, import_instances
from lie_ssl.frames.kinds import ANGLE_KINDS
from lie_ssl.frames.listing import Layout, Photo, list_photos, open_tree
from lie_ssl.frames.pictures import load_picture


@dataclass(frozen=True)
class PhotoConfig(ImportConfig):
    """An import of photographs."""

    layout: Layout = "auto"
    angles: str | None = None  # a CSV file with the columns file and angle; None if they are in the file names
    pose: str = "yaw"  # yaw for a turntable, 2d for a rolling camera; 3d for a turntable as imported by 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pose not in ANGLE_KINDS:
            raise UserError(f"pose is {self.pose!r}, but photographs can have {', '.join(ANGLE_KINDS)}")


def import_photographs(
    config: PhotoConfig,
    out: Path | str,
    *,
    strict: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> FrameSet:
    """Makes a data set from photographs; unreadable ones are left out and listed in the card.

    Args:
        config: Settings of the import.
        out: Folder of the data set.
        strict: Raise `UserError` for the first unreadable photograph.
        progress: Called with the number of instances done and the number of all instances.
    """
    with open_tree(Path(config.path)) as tree:

        def add(importer: Importer, own: list[Photo]) -> None:
            pictures = _pictures(own, tree.read, config, importer)
            importer.add(own[0].class_name, own[0].instance, config.pose, pictures, own[0].turns)

        photos = list_photos(tree, config.layout, None if config.angles is None else Path(config.angles))
        return import_instances(config, "photographs", _by_instance(photos), add, Path(out), strict, progress)


def _pictures(
    photos: list[Photo], read: Callable[[str], bytes], config: PhotoConfig, importer: Importer
) -> Iterator[PosedPicture]:
    """The readable photographs of an instance."""
    for photo in photos:
        try:
            yield PosedPicture(photo.angle, load_picture(read(photo.name), photo.name, config.size, grey=config.grey))
        except UserError as error:
            importer.drop(photo.name, error)


def _by_instance(photos: list[Photo]) -> list[list[Photo]]:
    """Photographs by instance, the smallest angle first."""
    groups: dict[tuple[str, str], list[Photo]] = {}
    for photo in photos:
        groups.setdefault((photo.class_name, photo.instance), []).append(photo)
    return [sorted(groups[key], key=lambda p: (p.angle, p.name)) for key in sorted(groups)]
