"""Pictures of unknown objects: angles that the operator reads, and turned objects that it finds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from itertools import islice

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from torch import Tensor

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.frames.pairs import Deltas, pose_kinds
from lie_ssl.protocol.features import Features
from lie_ssl.protocol.schema import POSES
from lie_ssl.report.pictures import data_uri
from lie_ssl.training.loading import Loaded
from lie_ssl.training.moving import reads_angles

Rows = NDArray[np.int64]
PAIRS = 12  # pairs of pictures, shared by all kinds of pose
SEARCHES = 6  # searches that are shown, shared by all kinds of pose
QUERIES = 200  # searches that are counted, for each kind of pose
FOUND = 5  # pictures that are shown of each search
TURN = 90.0  # degrees
NEAR = 0.5  # degrees within which an angle counts as TURN


@dataclass(frozen=True)
class ReadPair:
    """Two pictures of one object as data URIs, with the true angle between them and the one that was read."""

    first: str
    second: str
    name: str  # its class
    poses: str
    true: float  # degrees
    read: float

    @property
    def error(self) -> float:
        """The distance of both angles, around the circle."""
        return abs((self.read - self.true + 180) % 360 - 180)


@dataclass(frozen=True)
class FoundPicture:
    """A picture that a search returned, as a data URI."""

    uri: str
    text: str
    right: bool


@dataclass(frozen=True)
class Search:
    """A picture of an object, and the pictures that are nearest to its embedding after a turn."""

    query: str
    name: str  # its class
    poses: str
    rank: int  # of the right picture, from 1
    gallery: int  # number of pictures that were searched
    found: tuple[FoundPicture, ...]


class UnknownObjects:
    """The pictures of unknown objects, and their embeddings by a run with an operator.

    Args:
        loaded: The run.
        frames: Its data set.
        features: The embeddings of the frames.
        seed: Seed of all draws; pictures are drawn, not picked.
    """

    def __init__(self, loaded: Loaded, frames: FrameSet, features: Features, seed: int = 0) -> None:
        if loaded.operator is None:
            raise UserError("the run has no operator")
        index = frames.index
        self.loaded, self.frames, self.features = loaded, frames, features
        kinds = pose_kinds(index)
        self.deltas = Deltas(index, kinds if set(kinds) & set(loaded.factors) else ())
        if tuple(self.deltas.factors) != loaded.factors:
            raise UserError("the data set varies in other factors than the data set of the run")
        own = index[(index["split"] == "test") & index["duplicate_of"].isna()]
        self.kinds = [
            kind for kind in POSES.in_order(own["pose"])
            if kind in loaded.factors and reads_angles(loaded.operator, loaded.factors.index(kind))
        ]  # fmt: skip
        if not self.kinds:
            raise UserError("its operator does not read angles of unknown objects")
        self.tables = {kind: own[own["pose"] == kind] for kind in self.kinds}
        self.seed = seed

    def pairs(self, count: int = PAIRS) -> list[ReadPair]:
        """Draws pairs of pictures and reads the angle between them."""
        found = []
        for kind in self.kinds:
            first, second = _draw_pairs(self.tables[kind], count // len(self.kinds), self._random(1, kind))
            read = self.loaded.pose(self.features(first), self.features(second), kind).degrees.tolist()
            true = np.degrees(self.deltas(first, second)[:, self.loaded.factors.index(kind)]).tolist()
            names = self.frames.index.loc[first, "class"].astype(str)
            uris = [[data_uri(picture) for picture in self.frames.read(rows)] for rows in (first, second)]
            found += [ReadPair(a, b, n, kind, t, r) for a, b, n, t, r in zip(*uris, names, true, read, strict=True)]
        return found

    def searches(self, kind: str, count: int = SEARCHES) -> tuple[list[Search], list[int]]:
        """Finds objects turned by 90 degrees among all pictures of all unknown objects of one kind of pose.

        Returns:
            The first searches, and the ranks of the right pictures in all of them.
        """
        table = self.tables[kind]
        gallery = table.index.to_numpy(np.int64)
        queries, targets = _draw_turned(table, TURN, QUERIES, self._random(2, kind))
        if not len(queries):
            return [], []
        order = self.loaded.find(self.features(queries), self.features(gallery), TURN, kind, len(gallery)).rows
        ranks = _ranks(order, np.searchsorted(gallery, targets))
        shown = range(min(len(queries), count // len(self.kinds)))
        rows = [gallery[order[i, :FOUND].numpy()] for i in shown]
        return [
            self._search(kind, int(queries[i]), int(targets[i]), rows[i], ranks[i], len(gallery)) for i in shown
        ], ranks

    def _search(self, kind: str, query: int, target: int, rows: Rows, rank: int, gallery: int) -> Search:
        pictures = [data_uri(picture) for picture in self.frames.read(np.array([query, *rows]))]
        found = [
            FoundPicture(uri, self._describe(query, int(row)), int(row) == target)
            for uri, row in zip(pictures[1:], rows, strict=True)
        ]
        return Search(pictures[0], str(self.frames.index.loc[query, "class"]), kind, rank, gallery, tuple(found))

    def _describe(self, query: int, row: int) -> str:
        """What a found picture shows, compared with the query."""
        about = self.frames.index.loc[[query, row], ["class", "instance", "angle"]]
        (name, instance, angle), (other, other_instance, other_angle) = about.itertuples(index=False, name=None)
        if (name, instance) == (other, other_instance):
            return f"same object, {(other_angle - angle + 180) % 360 - 180:+.0f}°"
        return f"another {other}" if name == other else str(other)

    def _random(self, part: int, kind: str) -> np.random.Generator:
        return np.random.default_rng((self.seed, part, self.kinds.index(kind)))


def moves_html(objects: UnknownObjects) -> str:
    """Pairs with the true and the read angle, and searches with what they found, as HTML."""
    pairs = objects.pairs()
    text = "<h3>How far did it turn?</h3>"
    text += _paragraph(
        "Pairs of pictures of unknown objects, drawn at random. Below each: the true angle, and the angle that the "
        "operator reads. An object that looks the same in several poses has no single answer."
    )
    text += f'<div class="pairs">{"".join(map(_pair_html, pairs))}</div>'
    text += f"<h3>Find it turned by {TURN:.0f} degrees</h3>"
    text += _paragraph(
        "The embedding of the first picture is moved by the operator. Then all pictures of all unknown objects are "
        "ranked by their similarity to it. The right one has a green frame. The objects are drawn at random."
    )
    for kind in objects.kinds:
        searches, ranks = objects.searches(kind)
        if ranks:
            first = 100 * float(np.mean(np.array(ranks) == 1))
            text += _paragraph(
                f"{_capitalised(POSES.title_of(kind))}: the right picture among {searches[0].gallery:,} comes first in "
                f"{first:.0f} % of {len(ranks)} searches, for example:"
            )
            text += "".join(map(_search_html, searches))
    return text


def _pair_html(pair: ReadPair) -> str:
    images = "".join(_image(uri, pair.name) for uri in (pair.first, pair.second))
    caption = (
        f"{escape(pair.name)}, {escape(POSES.short_of(pair.poses))}<br>true {pair.true:.0f}°, read "
        f"<b>{pair.read:.1f}°</b><br>error {pair.error:.1f}°"
    )
    return f'<figure><div class="pair">{images}</div><figcaption>{caption}</figcaption></figure>'


def _search_html(search: Search) -> str:
    query = f"<figure>{_image(search.query, search.name)}<figcaption><b>{escape(search.name)}</b></figcaption></figure>"
    found = "".join(
        f'<figure class="{"right" if each.right else "other"}">{_image(each.uri, each.text)}'
        f"<figcaption>{'✓ ' if each.right else ''}{escape(each.text)}</figcaption></figure>"
        for each in search.found
    )
    missed = "" if search.rank <= len(search.found) else f"<p>right picture: rank {search.rank}</p>"
    return f'<div class="search">{query}<span aria-hidden="true">→</span>{found}{missed}</div>'


def _image(uri: str, text: str) -> str:
    return f'<img src="{uri}" alt="{escape(text)}">'


def _paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def _groups(table: pd.DataFrame, random: np.random.Generator) -> Iterator[pd.DataFrame]:
    """The frames of all objects, in random order, again and again."""
    groups = [own for _, own in table.groupby(["class", "instance"], sort=True) if len(own) > 1]
    while groups:
        for i in random.permutation(len(groups)):
            yield groups[i]


def _draw_pairs(table: pd.DataFrame, count: int, random: np.random.Generator) -> tuple[Rows, Rows]:
    """Draws two different frames of each of `count` objects."""
    pairs = [
        random.choice(own.index.to_numpy(np.int64), 2, replace=False) for own in islice(_groups(table, random), count)
    ]
    if not pairs:
        raise UserError("the data set has no unknown objects in several poses")
    first, second = np.stack(pairs).T
    return first, second


def _draw_turned(table: pd.DataFrame, degrees: float, count: int, random: np.random.Generator) -> tuple[Rows, Rows]:
    """Draws frames, and those of the same objects turned by an angle; objects without such frames are left out."""
    chosen = []
    for own in islice(_groups(table, random), count):
        angles, rows = own["angle"].to_numpy(np.float64), own.index.to_numpy(np.int64)
        off = np.abs((angles[None, :] - angles[:, None] - degrees + 180) % 360 - 180)  # [from, to]
        pairs = np.argwhere(off < NEAR)
        if len(pairs):
            a, b = pairs[random.integers(len(pairs))]
            chosen.append((rows[a], rows[b]))
    queries, targets = np.array(chosen, np.int64).reshape(-1, 2).T
    return queries, targets


def _ranks(order: Tensor, targets: Rows) -> list[int]:
    """(Q, N) places of the gallery, the best first, and (Q,) right places -> (Q,) ranks from 1."""
    return [int(np.flatnonzero(row == target)[0]) + 1 for row, target in zip(order.numpy(), targets, strict=True)]
