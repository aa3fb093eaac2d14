"""The training and test sets of the paper's settings, as rows of the index.

Training instances are known, test instances are unknown. The self-supervised phase shows half of the training
instances of every class in all poses, and the others in the typical pose only. The supervised phase shows a given
proportion of them in all poses. The proportions are nested, and the poses that are new in both phases are the same at
every proportion.

If every class is a single object, half of the objects are shown in all poses, and there are no unknown instances.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lie_ssl._text import count
from lie_ssl.errors import UserError
from lie_ssl.frames.splits import is_diverse, n_diverse, training_counts
from lie_ssl.protocol.schema import SETTING

Rows = NDArray[np.int64]

SETTINGS = tuple(SETTING.categories)
PROPORTIONS = (0.05, 0.25, 0.5)
SSL_PROPORTION = 0.5


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """The supervised training set: the frames of diverse instances, and the typical frames of the others."""

    diverse: Rows
    typical: Rows

    @property
    def all(self) -> Rows:
        return np.concatenate([self.diverse, self.typical])


class Settings:
    """The rows of every training, validation and test set of the protocol, without duplicate frames.

    Args:
        index: The index of the data set.
        seen: The largest share of the training instances that any phase shows in all poses. The setting known_new
            consists of other instances.
        limit: Maximum number of frames per test setting and kind of pose; None for all.
        seed: Seed of the frames drawn if there are more.
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
            raise UserError("the data set has no training instances; make one with smaller --validation and --test")
        self.validation_frames = self._find_validation_frames()  # for the choice of learning rates

    def is_diverse(self, frames: pd.DataFrame, proportion: float) -> NDArray[np.bool_]:
        """Whether the instance of each frame is shown in all poses at a proportion."""
        return is_diverse(frames, proportion, self._training)

    def training(self, proportion: float) -> TrainingRows:
        """The supervised training set at a proportion."""
        own = self._frames[self._frames["split"] == "train"]
        diverse = self.is_diverse(own, proportion)
        rest = own[~diverse]
        return TrainingRows(_rows(own[diverse]), _rows(rest[rest.index.isin(self._typical)]))

    def test(self, setting: str, poses: str, proportion: float = SSL_PROPORTION) -> Rows:
        """The test set of a setting.

        Args:
            setting: One of :data:`SETTINGS`.
            poses: One of the kinds of pose of the data set; ignored by settings with typical poses.
            proportion: The proportion of the supervised phase; used by known_new_supervised only.
        """
        if setting not in SETTINGS:
            raise UserError(f"there is no setting {setting!r}; choose {', '.join(SETTINGS)}")
        frames = self._frames
        chosen = (frames["split"] == ("test" if setting.startswith("unknown") else "train")).to_numpy(bool)
        typical = frames.index.isin(self._typical)
        if setting.endswith("typical"):
            return self._sample(_rows(frames[chosen & typical]), setting)
        chosen = chosen & ~typical & (frames["pose"] == poses).to_numpy(bool)
        if setting.startswith("known"):
            chosen &= ~frames.index.isin(self.validation_frames.index)
            chosen &= ~self.is_diverse(frames, self.seen if setting == "known_new" else proportion)
        return self._sample(_rows(frames[chosen]), setting + poses)

    def validation(self) -> tuple[Rows, Rows]:
        """The typical and the other frames of the validation instances.

        The learning rate with the best mean accuracy on both is chosen.
        """
        own = self.validation_frames
        if own.empty:
            raise UserError(
                "the data set has no validation instances, which are needed to choose a learning rate; make one with "
                "more instances per class, or with a larger --validation"
            )
        typical = own.index.isin(self._typical)
        return _rows(own[typical]), self._sample(_rows(own[~typical]), "validation")

    def _find_validation_frames(self) -> pd.DataFrame:
        """The frames of the validation instances.

        If every class is a single object, as in a data set of 20 objects on a turntable, they are a third of the
        objects that are shown in one pose; the others are for testing.
        """
        frames = self._frames
        own = frames[frames["split"] == "validation"]
        if len(own) or not self.one_object_per_class:
            return own
        typical_only = sorted(set(frames["class"][~self.is_diverse(frames, self.seen)]))
        random = np.random.default_rng([self._seed, *b"objects"])
        return frames[frames["class"].isin(random.permutation(typical_only)[: len(typical_only) // 3].tolist())]

    @property
    def one_object_per_class(self) -> bool:
        """Whether every class is a single object."""
        instances = self._frames.groupby("class")["instance"].nunique()
        return len(instances) > 1 and int(instances.max()) == 1

    def _sample(self, rows: Rows, name: str) -> Rows:
        if self._limit is None or len(rows) <= self._limit:
            return rows
        random = np.random.default_rng([self._seed, *name.encode()])
        return np.sort(random.permutation(rows)[: self._limit])


def check_proportions(index: pd.DataFrame, proportions: tuple[float, ...]) -> None:
    """Rejects proportions that select the same instances, because their results would be identical."""
    counts = training_counts(index).values()
    sizes = {p: tuple(n_diverse(p, n) for n in counts) for p in proportions}
    for a, b in combinations(proportions, 2):
        if sizes[a] == sizes[b]:
            raise UserError(
                f"{100 * a:g} % and {100 * b:g} % diverse select the same instances, because classes have as few as "
                f"{count(min(counts, default=0), 'training instance')}; make a data set with more, or leave out one "
                "of the proportions"
            )


def _rows(frames: pd.DataFrame) -> Rows:
    return frames.index.to_numpy(np.int64)
