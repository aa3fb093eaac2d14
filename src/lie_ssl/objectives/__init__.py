"""What is learned from pairs of frames: one file for each objective, which registers itself."""

from lie_ssl.objectives.base import Mover, ObjectiveConfig, PairObjective, Pairs, Terms
from lie_ssl.objectives.pair_model import PairModel, PairOutput
from lie_ssl.objectives.registry import OBJECTIVES, ObjectiveEntry, objective, objective_config, objective_type

__all__ = [
    "OBJECTIVES", "Mover", "ObjectiveConfig", "ObjectiveEntry", "PairModel", "PairObjective", "PairOutput", "Pairs",
    "Terms", "objective", "objective_config", "objective_type",
]  # fmt: skip
