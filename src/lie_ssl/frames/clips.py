"""Clips: several frames of one instance at equal steps of its pose, as a video of a turntable shows them.

Steps go forward (the angle or the time grows) and are shorter than half a turn. How long a step is differs from clip to
clip, and is no part of a clip.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lie_ssl.errors import UserError
from lie_ssl.frames.kinds import KINDS

Rows = NDArray[np.int64]

TURN = 360.0  # degrees
CLOSE = 1e-3  # of a step; poses that are as near as this to whole steps are at whole steps


class Clips:
    """Draws clips of instances.

    Args:
        index: Rows of an index. The poses of each kind must be at whole multiples of a step; some may be missing.
        length: Frames of a clip.

    Example:
        >>> angles = {"pose": "yaw", "angle": [0.0, 90.0, 180.0, 270.0]}
        >>> clips = Clips(pd.DataFrame(angles), length=3)
        >>> clips.possible(np.arange(4)).tolist()
        [[0, 1, 2], [1, 2, 3], [2, 3, 0], [3, 0, 1]]
    """

    def __init__(self, index: pd.DataFrame, length: int) -> None:
        if length < 3:
            raise ValueError(f"length is {length}, but a clip has at least 3 frames")
        self.length = length
        self._slots: dict[int, int] = {}  # row -> its pose in steps
        self._kinds: dict[int, str] = {}  # row -> its kind of pose
        self._sizes: dict[str, int | None] = {}  # kind -> steps of a whole turn; None if it has no turns
        self._known: dict[tuple[int | None, bytes], Rows] = {}
        for kind, frames in index.groupby("pose", sort=True):
            self._sizes[str(kind)], slots = _slots(str(kind), frames["angle"].to_numpy(np.float64))
            self._slots |= dict(zip(frames.index.tolist(), slots.tolist(), strict=True))
            self._kinds |= dict.fromkeys(frames.index.tolist(), str(kind))

    def kind(self, rows: Rows) -> str:
        """The kind of pose of the given frames."""
        return self._kinds[int(rows[0])]

    def possible(self, rows: Rows) -> Rows:
        """All clips of the given frames, which are of one instance and kind: (clips, length) positions in `rows`."""
        slots = np.array([self._slots[row] for row in rows.tolist()], np.int64)
        key = self._sizes[self.kind(rows)], slots.tobytes()
        if key not in self._known:
            self._known[key] = _possible(slots, key[0], self.length)
        return self._known[key]

    def draw(self, rows: Rows, random: np.random.Generator) -> Rows:
        """One of these clips: (length,) rows."""
        clips = self.possible(rows)
        chosen: Rows = rows[clips[int(random.integers(len(clips)))]]
        return chosen


def _slots(kind: str, angles: NDArray[np.float64]) -> tuple[int | None, Rows]:
    """The steps of a whole turn, and the pose of each frame in steps."""
    if KINDS[kind].free:
        raise UserError(
            f"{KINDS[kind].title} are drawn at random, so they make no clips; use a data set of other poses"
        )
    places = np.unique(np.round(angles, 6))
    step = float(np.diff(places).min()) if len(places) > 1 else 1.0
    slots = (angles - places[0]) / step
    turn = TURN / step if KINDS[kind].periodic else None
    whole = np.abs(slots - np.round(slots)).max(initial=0) < CLOSE
    if not whole or (turn is not None and abs(turn - round(turn)) > CLOSE * turn):
        raise UserError(
            f"the {KINDS[kind].title} are not at equal steps, so they make no clips; use a data set with equal steps, "
            "or an objective that learns from pairs"
        )
    return None if turn is None else round(turn), np.round(slots).astype(np.int64)


def _possible(slots: Rows, size: int | None, length: int) -> Rows:
    """All clips of frames at the given slots: (clips, length) positions, ordered by step and start."""
    count = int(slots.max()) + 1 if size is None else size
    longest = (count - 1) // (length - 1) if size is None else (count - 1) // 2
    position = np.full(count, -1, np.int64)
    position[slots % count] = np.arange(len(slots))
    steps, starts = np.divmod(np.arange(longest * count), count)
    places = starts[:, None] + (steps[:, None] + 1) * np.arange(length)
    inside = np.ones(len(places), bool) if size is not None else places[:, -1] < count
    places = places % count
    different = (np.diff(np.sort(places, axis=1), axis=1) > 0).all(axis=1)
    found = position[places]
    return found[inside & different & (found >= 0).all(axis=1)]
