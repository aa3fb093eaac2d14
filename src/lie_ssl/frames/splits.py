"""Splits instances into training, validation and test sets, and ranks the training instances for diversity."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lie_ssl.errors import UserError

Assignment = dict[str, tuple[str, int]]


def round_half_up(x: float) -> int:
    """Rounds 2.5 to 3 (Python's `round` rounds half to even)."""
    return math.floor(x + 0.5 + 1e-9)


def check_shares(validation: float, test: float) -> None:
    """Rejects shares that leave no instances for training."""
    if not (validation >= 0 and test >= 0 and validation + test < 1):
        raise UserError(f"validation {validation} and test {test} must leave instances for training")


def assign(
    instances: Sequence[str], class_name: str, *, validation: float = 0.10, test: float = 0.15, seed: int = 0
) -> Assignment:
    """Assigns (split, diverse_rank) to every instance of one class.

    Training instances are ranked 0, 1, ... in a random order: at proportion p, the first share p of them is diverse, so
    smaller proportions are contained in larger ones. Other instances have rank -1.
    """
    key = hashlib.sha256(f"splits/{seed}/{class_name}".encode()).digest()
    order = np.random.default_rng(int.from_bytes(key[:8], "little")).permutation(len(instances))
    n_validation = round_half_up(validation * len(instances))
    n_test = round_half_up(test * len(instances))
    # Also a class of one or two instances has one for training.
    n_test = min(n_test, max(0, len(instances) - 1))
    n_validation = min(n_validation, max(0, len(instances) - 1 - n_test))
    result: Assignment = {}
    for position, i in enumerate(order):
        if position < n_validation:
            result[instances[i]] = ("validation", -1)
        elif position < n_validation + n_test:
            result[instances[i]] = ("test", -1)
        else:
            result[instances[i]] = ("train", position - n_validation - n_test)
    return result


def assign_objects(names: Sequence[str], seed: int = 0) -> dict[str, int]:
    """Assigns diverse_rank if every class has one instance: half of them, at least one, have rank 0 and are seen in all
    poses at every proportion; the others have rank 1 and are seen in their typical pose only."""
    key = hashlib.sha256(f"objects/{seed}".encode()).digest()
    order = np.random.default_rng(int.from_bytes(key[:8], "little")).permutation(len(names))
    half = max(1, round_half_up(len(names) / 2))
    return {names[i]: int(position >= half) for position, i in enumerate(order)}


def n_diverse(proportion: float, n_training: int) -> int:
    """The number of training instances of a class that are seen in all poses, at least one."""
    return min(n_training, max(1, round_half_up(proportion * n_training)))


def training_counts(index: pd.DataFrame) -> dict[str, int]:
    """The number of training instances by class, without classes that have none."""
    counts = index[index["split"] == "train"].groupby("class")["instance"].nunique()
    return {str(name): int(n) for name, n in counts.items()}


def is_diverse(frames: pd.DataFrame, proportion: float, training: Mapping[str, int]) -> NDArray[np.bool_]:
    """Whether frames show a diverse instance: one in the first share `proportion` of its class's training instances.

    Pretraining and the protocol share this rule.

    Args:
        frames: Rows of an index.
        proportion: Above 0 and at most 1.
        training: The number of training instances by class, from :func:`training_counts` of the whole index.

    Returns:
        (frames,) booleans; False for instances of the other splits.
    """
    if not 0 < proportion <= 1:
        raise UserError(f"a proportion of diverse instances is {proportion}, but it must be above 0 and at most 1")
    codes, names = pd.factorize(frames["class"])
    limits = np.array([n_diverse(proportion, training.get(name, 0)) for name in names], np.int64)
    known: NDArray[np.bool_] = (frames["split"] == "train").to_numpy(bool)
    return known & (frames["diverse_rank"].to_numpy() < limits[codes])


def with_few_poses(index: pd.DataFrame, most: int | None) -> pd.DataFrame:
    """The rows of an index that training may show if it knows few poses of every object.

    Args:
        index: The index of a data set.
        most: Distinct frames of each kind of pose to keep of a training instance: the first one, and others drawn at
            random. None for all.

    Returns:
        The rows that are kept, with their row numbers; all rows of the other splits.
    """
    if most is None:
        return index
    own = index[(index["split"] == "train") & index["duplicate_of"].isna()]
    kept = [index.index[index["split"] != "train"].to_numpy(np.int64)]
    for _, frames in own.groupby(["class", "instance", "pose"], sort=True):
        first, *others = frames.index.to_list()
        random = np.random.default_rng(first)
        kept.append(np.array([first, *random.permutation(others)[: most - 1]], np.int64))
    return index.loc[np.sort(np.concatenate(kept))]
