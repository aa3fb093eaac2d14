"""Rejects methods and data sets from which the head of an adapted encoder cannot learn, before features are stored."""

from __future__ import annotations

import numpy as np

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet, PairSampler
from lie_ssl.frames.pairs import seen_instances
from lie_ssl.methods.mae import MAEConfig
from lie_ssl.objectives.registry import objective_entry, objective_type
from lie_ssl.training.config import PretrainConfig
from lie_ssl.training.sampling import training_index

CLOSE = 1e-4  # radians; moves that are as near as this are the same


def check_adaptable(config: PretrainConfig, frames: FrameSet, sampler: PairSampler) -> None:
    """Rejects a config without a loss on stored features, a single object, and moves that are all the same."""
    if config.adapt is None:
        return
    check_views(config)
    seen = seen_instances(training_index(config, frames), "train", config.diverse)
    if objective_type(config.objective.name).needs_pairs:
        seen = [instance for instance in seen if instance.kinds]
    if len(seen) < 2:
        raise UserError(
            f"training would show a single object of {frames.folder}, with nothing to tell it from; use a data set "
            "with more objects, or a larger --diverse"
        )
    if objective_entry(config.objective.name).told == "move":
        groups = [rows for instance in seen for rows in instance.kinds]
        # From each frame to the next, and from the first to each.
        first = np.concatenate([np.concatenate([rows[:-1], np.full(len(rows) - 1, rows[0])]) for rows in groups])
        second = np.concatenate([np.concatenate([rows[1:], rows[1:]]) for rows in groups])
        for factor, moves in zip(sampler.deltas.factors, np.abs(sampler.deltas(first, second)).T, strict=True):
            moved = moves[moves > CLOSE]
            if len(moved) and np.ptp(moved) < CLOSE:
                raise UserError(
                    f"all pairs of {frames.folder} have the same move ({factor}), so nothing can be learned about it; "
                    "use a data set with more poses, or an objective that is not told the moves, such as frames"
                )


def check_views(config: PretrainConfig) -> None:
    """Rejects a self-supervised loss that cannot be computed from stored features."""
    assert config.adapt is not None
    if isinstance(config.method, MAEConfig):
        raise UserError(
            "mae hides patches of pictures, so it has no loss on the stored features of an adapted encoder; give "
            "--method simclr or vicreg"
        )
    objective = config.objective
    if (objective.ssl > 0 or objective.view == "ssl") and config.adapt.views < 2:
        raise UserError(f"the loss of {config.method.name} needs stored views of frames; give --adapt.views 2 or more")
