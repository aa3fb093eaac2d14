"""Which instances are for training, validation and testing, and in which order they become 'diverse'."""

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
    """2.5 -> 3, as people round (Python's own `round` goes to the even number)."""
    return math.floor(x + 0.5 + 1e-9)


def check_shares(validation: float, test: float) -> None:
    """One sentence for shares that leave nothing to train on."""
    if not (validation >= 0 and test >= 0 and validation + test < 1):
        raise UserError(f"validation {validation} and test {test} must leave instances for training")


def assign(
    instances: Sequence[str], class_name: str, *, validation: float = 0.10, test: float = 0.15, seed: int = 0
) -> Assignment:
    """Instance -> (split, diverse_rank) for one class.

    Splits go by instance. Training instances are ranked 0, 1, ... in a random order drawn once: the first p of them are
    the diverse ones at proportion p, so a smaller proportion is part of a larger one. Others have rank -1.
    """
    key = hashlib.sha256(f"splits/{seed}/{class_name}".encode()).digest()
    order = np.random.default_rng(int.from_bytes(key[:8], "little")).permutation(len(instances))
    n_validation = round_half_up(validation * len(instances))
    n_test = round_half_up(test * len(instances))
    # A class of one or two instances still has something to train on.
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
    """Object -> diverse_rank where every class is one object: half of the objects, at least one, have rank 0 and are
    seen in all poses at every proportion; the others have rank 1 and are known by their typical pose only."""
    key = hashlib.sha256(f"objects/{seed}".encode()).digest()
    order = np.random.default_rng(int.from_bytes(key[:8], "little")).permutation(len(names))
    half = max(1, round_half_up(len(names) / 2))
    return {names[i]: int(position >= half) for position, i in enumerate(order)}


def n_diverse(proportion: float, n_training: int) -> int:
    """How many training instances of a class are seen in all poses: at least one, so that no class goes without."""
    return min(n_training, max(1, round_half_up(proportion * n_training)))


def training_counts(index: pd.DataFrame) -> dict[str, int]:
    """Class -> its training instances; classes without any are not in it."""
    counts = index[index["split"] == "train"].groupby("class")["instance"].nunique()
    return {str(name): int(n) for name, n in counts.items()}


def is_diverse(frames: pd.DataFrame, proportion: float, training: Mapping[str, int]) -> NDArray[np.bool_]:
    """Which frames show an instance that is seen in all poses: one of the first `proportion` of the training instances
    of its class, by rank. Pretraining and the protocol both ask here.

    Args:
        frames: Rows of an index.
        proportion: Above 0 and at most 1.
        training: The training instances of every class, as :func:`training_counts` finds them in the whole index.

    Returns:
        (frames,) booleans; False for instances of the other splits.
    """
    if not 0 < proportion <= 1:
        raise UserError(f"a proportion of diverse instances is {proportion}, but it must lie above 0 and at most at 1")
    codes, names = pd.factorize(frames["class"])
    limits = np.array([n_diverse(proportion, training.get(name, 0)) for name in names], np.int64)
    known: NDArray[np.bool_] = (frames["split"] == "train").to_numpy(bool)
    return known & (frames["diverse_rank"].to_numpy() < limits[codes])
