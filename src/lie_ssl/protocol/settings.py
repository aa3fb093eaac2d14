"""Who is tested on what: the settings of the paper as rows of the index.

Training instances are known, test instances unknown. The self-supervised phase shows half of the training instances of
every class in all poses, the rest in the typical pose only; the supervised phase shows a proportion of them in all
poses. The proportions are nested, and what is new in both phases is the same at every proportion.

Where every class is a single object, half of the objects are seen in all poses, and there are no unknown instances.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lie_ssl.errors import UserError
from lie_ssl.frames.splits import is_diverse, n_diverse, training_counts
from lie_ssl.protocol.schema import SETTING

Rows = NDArray[np.int64]

SETTINGS = tuple(SETTING.words)
PROPORTIONS = (0.05, 0.25, 0.5)
SSL_PROPORTION = 0.5


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """What the supervised phase sees: instances in all poses, and the others in the typical pose."""

    varying: Rows
    typical: Rows

    @property
    def all(self) -> Rows:
        return np.concatenate([self.varying, self.typical])


class Settings:
    """The rows of every set of the protocol. Frames that repeat another are in none of them.

    `seen` is the largest share of the training instances that any phase shows in all poses: known_new lies beyond it.
    At most `limit` frames make a test set of a setting and kind of pose, drawn once with the seed; None takes all.
    """

    def __init__(
        self, index: pd.DataFrame, *, seen: float = SSL_PROPORTION, limit: int | None = None, seed: int = 0
    ) -> None:
        self._frames = index[index["duplicate_of"].isna()]
        self._typical = self._frames.groupby(["class", "instance"], sort=True).head(1).index
        self._training = training_counts(index)
        self.poses = tuple(sorted(set(index["pose"])))
        self.seen, self._limit, self._seed = seen, limit, seed
        if not self._training:
            raise UserError("the data set has no training instances, so that there is nothing to learn a class from")
        self.validation_frames = self._find_validation_frames()  # what rates are chosen on

    def varies(self, frames: pd.DataFrame, proportion: float) -> NDArray[np.bool_]:
        """Whether each frame's instance is seen in all poses at a proportion; see :func:`is_diverse`."""
        return is_diverse(frames, proportion, self._training)

    def training(self, proportion: float) -> TrainingRows:
        """The supervised training set at a proportion."""
        own = self._frames[self._frames["split"] == "train"]
        varies = self.varies(own, proportion)
        rest = own[~varies]
        return TrainingRows(_rows(own[varies]), _rows(rest[rest.index.isin(self._typical)]))

    def test(self, setting: str, poses: str, proportion: float = SSL_PROPORTION) -> Rows:
        """The frames of a setting; `poses` is one of the data set's kinds, and `proportion` matters to
        known_new_supervised only. Typical frames are the same for every kind of pose."""
        if setting not in SETTINGS:
            raise UserError(f"there is no setting {setting!r}; there are {', '.join(SETTINGS)}")
        frames = self._frames
        chosen = (frames["split"] == ("test" if setting.startswith("unknown") else "train")).to_numpy(bool)
        typical = frames.index.isin(self._typical)
        if setting.endswith("typical"):
            return self._sample(_rows(frames[chosen & typical]), setting)
        chosen = chosen & ~typical & (frames["pose"] == poses).to_numpy(bool)
        if setting.startswith("known"):
            chosen &= ~frames.index.isin(self.validation_frames.index)
            chosen &= ~self.varies(frames, self.seen if setting == "known_new" else proportion)
        return self._sample(_rows(frames[chosen]), setting + poses)

    def validation(self) -> tuple[Rows, Rows]:
        """Typical and other frames of the validation instances: a learning rate is chosen by the mean accuracy on
        both."""
        own = self.validation_frames
        if own.empty:
            raise UserError(
                "the data set has no validation instances to choose a learning rate on; make one with more instances a "
                "class, or a larger --validation"
            )
        typical = own.index.isin(self._typical)
        return _rows(own[typical]), self._sample(_rows(own[~typical]), "validation")

    def _find_validation_frames(self) -> pd.DataFrame:
        """Those of the validation instances. Where every class is one object, as on a turntable of 20 things, a third
        of the objects that are seen in one pose stand in; the others are left for the test."""
        frames = self._frames
        own = frames[frames["split"] == "validation"]
        if len(own) or not self.objects:
            return own
        still = sorted(set(frames["class"][~self.varies(frames, self.seen)]))
        random = np.random.default_rng([self._seed, *b"objects"])
        return frames[frames["class"].isin(random.permutation(still)[: len(still) // 3].tolist())]

    @property
    def objects(self) -> bool:
        """Whether every class is one object."""
        instances = self._frames.groupby("class")["instance"].nunique()
        return len(instances) > 1 and int(instances.max()) == 1

    def _sample(self, rows: Rows, name: str) -> Rows:
        if self._limit is None or len(rows) <= self._limit:
            return rows
        random = np.random.default_rng([self._seed, *name.encode()])
        return np.sort(random.permutation(rows)[: self._limit])


def check_proportions(index: pd.DataFrame, proportions: tuple[float, ...]) -> None:
    """Refuses proportions that give the same instances, for their rows in a table would only repeat each other."""
    counts = training_counts(index).values()
    sizes = {p: tuple(n_diverse(p, n) for n in counts) for p in proportions}
    for a, b in combinations(proportions, 2):
        if sizes[a] == sizes[b]:
            raise UserError(
                f"the classes have too few training instances ({min(counts, default=0)} at the least) to tell "
                f"{100 * a:g} % from {100 * b:g} % diverse; make a data set with more, or leave one of them out"
            )


def _rows(frames: pd.DataFrame) -> Rows:
    return frames.index.to_numpy(np.int64)
