"""Imports video clips of moving objects as a data set; needs the extra `video` (PyAV).

The difference of two frames is the time between them. Only the longest shot of a clip is kept, and frames in which
nothing moves are left out, with the clock stopped meanwhile.
"""

from __future__ import annotations

import io
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from lie_ssl._text import count
from lie_ssl.errors import UserError
from lie_ssl.extras import require
from lie_ssl.frames.frameset import FrameSet
from lie_ssl.frames.importing import ImportConfig, Importer, PosedPicture, import_instances
from lie_ssl.frames.listing import Tree, open_tree
from lie_ssl.frames.pictures import MAX_PIXELS, squared

EXTENSIONS = (".mp4", ".mov", ".m4v", ".avi", ".mkv", ".webm", ".mpg", ".mpeg", ".ogv")
UNLABELLED = "unlabelled"
THUMBNAIL = 32  # side in pixels of the thumbnails on which changes are measured
SMALLEST_CUT = 12.0  # smallest mean change of a cut, of 255


@dataclass(frozen=True)
class VideoConfig(ImportConfig):
    """An import of clips."""

    rate: float = 5.0  # frames per second to keep
    unit: float = 1.0  # seconds between two frames that count as a delta of 1
    cut: float = 5.0  # a change that exceeds the clip's median change by this factor is a cut
    still: float = 1.0  # frames that differ less from the last one kept (mean, of 255) are left out

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (self.rate > 0 and self.unit > 0 and self.cut > 1 and self.still >= 0):
            raise UserError("rate and unit of a video must be above 0, cut above 1, and still 0 or more")


@dataclass(frozen=True)
class Clip:
    """One file."""

    name: str
    class_name: str
    instance: str


@dataclass(frozen=True, eq=False)
class Moment:
    """A frame of a clip."""

    time: float  # seconds
    picture: NDArray[np.uint8]  # (size, size, channels)
    small: NDArray[np.float32]  # (THUMBNAIL, THUMBNAIL), for changes


def import_video(
    config: VideoConfig,
    out: Path | str,
    *,
    strict: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> FrameSet:
    """Makes a data set from video clips; clips that cannot be used are left out and listed in the card.

    Args:
        config: Settings of the import.
        out: Folder of the data set.
        strict: Raise `UserError` for the first clip that cannot be used.
        progress: Called with the number of clips done and the number of all clips.
    """
    require_av()
    with open_tree(Path(config.path)) as tree:

        def add(importer: Importer, clip: Clip) -> None:
            _add(importer, clip, tree, config)

        return import_instances(config, "video", list_clips(tree), add, Path(out), strict, progress)


def require_av() -> None:
    """Raises an error if PyAV is missing."""
    require("reading clips", "video")


def list_clips(tree: Tree) -> list[Clip]:
    """Lists class/instance.mp4, or clips without folders, which have no labels and form one class."""
    names = sorted(n for n in tree.names() if n.lower().endswith(EXTENSIONS))
    if not names:
        raise UserError(f"{tree.label} has no clips ({', '.join(EXTENSIONS)})")
    labelled = [len(PurePosixPath(n).parts) > 1 for n in names]
    if any(labelled) and not all(labelled):
        alone = names[labelled.index(False)]
        raise UserError(f"{alone} in {tree.label} is not in the folder of a class, but other clips are; move it to one")
    clips = []
    for name in names:
        path = PurePosixPath(name)
        instance = "/".join([*path.parts[1:-1], path.stem]) if len(path.parts) > 1 else path.stem
        clips.append(Clip(name, path.parts[0] if len(path.parts) > 1 else UNLABELLED, instance))
    (key, count), *_ = Counter((c.class_name, c.instance) for c in clips).most_common(1)
    if count > 1:
        raise UserError(f"{count} clips in {tree.label} are called {key[0]}/{key[1]}; rename all but one")
    return clips


def _add(importer: Importer, clip: Clip, tree: Tree, config: VideoConfig) -> None:
    try:
        moments = list(sampled(tree.read(clip.name), clip.name, config))
        parts = split_shots(moments, config.cut)
        kept = drop_still_frames(max(parts, key=len), config.still)
        if len(kept) < 2:
            raise UserError(f"{clip.name} shows no movement; film the object while it turns")
    except UserError as error:
        importer.drop(clip.name, error)
        return
    if len(parts) > 1:
        lost = len(moments) - max(len(p) for p in parts)
        words = f"{count(len(parts) - 1, 'cut')}: {lost} of {len(moments)} frames outside the longest shot"
        importer.note(clip.name, words)
    # One unit of time is one radian, as for rotations, so that a delta of 1 means the same to every operator.
    shown = (PosedPicture(math.degrees(time / config.unit), picture) for time, picture in kept)
    importer.add(clip.class_name, clip.instance, "time", shown)


def sampled(data: bytes, name: str, config: VideoConfig) -> Iterator[Moment]:
    """The frames of a clip at the config's rate."""
    import av

    try:
        with av.open(io.BytesIO(data), "r") as container:
            if not container.streams.video:
                raise UserError(f"{name} has no video stream; leave it out")
            stream = container.streams.video[0]
            stream.codec_context.options = {"err_detect": "explode"}  # otherwise damaged frames become grey
            size, start, due, time, number = None, 0.0, -math.inf, 0.0, 0
            for frame in container.decode(stream):
                size = size or (frame.width, frame.height)
                _check_size(name, size, (frame.width, frame.height))
                # A stream without time stamps is assumed to have 25 frames per second.
                time = frame.time if frame.time is not None else number / 25
                start = start if number else time
                number += 1
                if time + 1e-6 < due:
                    continue
                due = start + (math.floor((time - start) * config.rate + 1e-6) + 1) / config.rate
                yield _moment(time, _upright(frame), config)
            if not number:
                raise UserError(f"{name} has no frames, perhaps because its recording was interrupted; leave it out")
            _check_end(name, time - start, _seconds(container, stream))
    except UserError:
        raise
    except (av.FFmpegError, OSError, ValueError, EOFError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UserError(f"cannot read the clip {name}: {reason}") from error


def _seconds(container: Any, stream: Any) -> float | None:
    """The nominal duration of the video stream; the duration of the file may be that of its sound."""
    if stream.duration is not None and stream.time_base is not None:
        return float(stream.duration * stream.time_base)
    if container.duration is not None and len(container.streams) == 1:
        return float(container.duration / 1_000_000 - max(0, container.start_time or 0) / 1_000_000)
    return None


def _check_end(name: str, found: float, nominal: float | None) -> None:
    if nominal is not None and found < 0.9 * nominal - 1:
        raise UserError(
            f"{name} ends after {found:.1f} of {nominal:.1f} seconds, so it may be truncated; copy it again"
        )


def _check_size(name: str, first: tuple[int, int], now: tuple[int, int]) -> None:
    if now[0] * now[1] > MAX_PIXELS:
        raise UserError(f"{name} has {now[0]} x {now[1]} pixels, too many to read; make it smaller")
    if now != first:
        raise UserError(
            f"{name} changes its size from {first[0]} x {first[1]} to {now[0]} x {now[1]} pixels; cut it there"
        )


def _upright(frame: object) -> Image.Image:
    """The picture as a player shows it: phones store their orientation beside the frames."""
    image: Image.Image = frame.to_image()  # type: ignore[attr-defined]
    turned = int(getattr(frame, "rotation", 0) or 0)
    return image.rotate(turned, expand=True) if turned % 360 else image


def _moment(time: float, image: Image.Image, config: VideoConfig) -> Moment:
    small = image.convert("L").resize((THUMBNAIL, THUMBNAIL), Image.Resampling.BOX)
    return Moment(time, squared(image, config.size, config.grey), np.asarray(small, np.float32))


def split_shots(moments: Sequence[Moment], cut: float) -> list[list[Moment]]:
    """The shots of a clip; a cut is a change far larger than the usual one."""
    changes = np.array([change(a, b) for a, b in pairwise(moments)])
    if not len(changes):
        return [list(moments)]  # a single frame
    limit = max(SMALLEST_CUT, cut * float(np.median(changes)))
    parts = [[moments[0]]]
    for moment, difference in zip(moments[1:], changes, strict=True):
        if difference > limit:
            parts.append([])
        parts[-1].append(moment)
    return parts


def drop_still_frames(moments: Sequence[Moment], still: float) -> list[tuple[float, NDArray[np.uint8]]]:
    """(time, picture) of the frames in which something moved; the clock is stopped while nothing does."""
    last = previous = moments[0]
    kept, clock = [(0.0, last.picture)], 0.0
    for moment in moments[1:]:
        if change(last, moment) >= still:
            clock += moment.time - previous.time
            kept.append((clock, moment.picture))
            last = moment
        previous = moment
    return kept


def change(a: Moment, b: Moment) -> float:
    """The mean difference of two frames, of 255."""
    return float(np.abs(a.small - b.small).mean())
