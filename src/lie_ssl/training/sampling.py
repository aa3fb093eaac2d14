"""Which pairs a run trains on."""

from __future__ import annotations

import pandas as pd

from lie_ssl.frames import FrameSet, PairSampler
from lie_ssl.frames.pairs import varied_factors
from lie_ssl.frames.splits import is_diverse, training_counts, with_few_poses
from lie_ssl.training.config import PretrainConfig, kinds_of


def pair_sampler(
    config: PretrainConfig, frames: FrameSet, *, batch: int | None = None, rank: int = 0, world: int = 1
) -> PairSampler:
    """The sampler of a run.

    Args:
        config: Settings of the run.
        frames: Its data set.
        batch: Pairs in a batch, over all processes; by default those of the config.
        rank, world: This process, and the number of processes.
    """
    batch = config.optim.batch if batch is None else batch
    singles, objective = shows_singles(config), config.objective
    return PairSampler(
        training_index(config, frames), batch_size=batch, seed=config.seed, diverse=config.diverse, singles=singles,
        passes=passes_needed(frames, batch, None if singles else config.diverse), kinds=kinds_of(config, frames),
        varied=varied_factors(frames.index), clip=objective.clip, rank=rank, world_size=world,
        per_object=objective.pairs_per_object,
    )  # fmt: skip


def training_index(config: PretrainConfig, frames: FrameSet) -> pd.DataFrame:
    """The rows of the index that training may show, with those of the other splits."""
    return with_few_poses(frames.index, config.poses)


def shows_singles(config: PretrainConfig) -> bool:
    """Whether batches have instances seen in one pose only: as negatives, or for the method's own loss."""
    return config.objective.singles or config.objective.ssl > 0 or config.objective.view == "ssl"


def passes_needed(frames: FrameSet, batch: int, diverse: float | None = None) -> int:
    """How often an epoch shows every instance, or those seen in all poses, such that it has at least one batch."""
    training = frames.index[frames.index["split"] == "train"]
    if diverse is not None:
        training = training[is_diverse(training, diverse, training_counts(frames.index))]
    instances = len(training.drop_duplicates(["class", "instance"]))
    return max(1, -(-batch // max(1, instances)))
