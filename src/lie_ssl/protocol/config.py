"""The settings of an evaluation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

from lie_ssl.errors import UserError
from lie_ssl.protocol.finetune import FinetuneConfig
from lie_ssl.protocol.probe import ProbeConfig
from lie_ssl.protocol.readout import ReadoutConfig
from lie_ssl.protocol.settings import PROPORTIONS
from lie_ssl.serialization import added_field, check_numbers

MAX_PAIRS = 1000
Part = Literal["whole", "identity"]


@dataclass(frozen=True)
class EvaluateConfig:
    """The settings of the protocol."""

    proportions: tuple[float, ...] = PROPORTIONS
    """Shares of the training instances that the supervised phase sees in all poses."""
    probe: ProbeConfig = field(default_factory=ProbeConfig)
    """Settings of linear evaluation."""
    finetune: FinetuneConfig = field(default_factory=FinetuneConfig)
    """Settings of finetuning."""
    options: tuple[int, ...] = (1,)
    """1: classifiers are trained on the embedding; 2: also on neighbours of it, moved by the operator."""
    neighbours: int = 1
    """Neighbours per embedding in Option 2."""
    limit: int | None = 4000
    """Maximum number of frames per test setting and kind of pose; None for all."""
    pairs: int = 4
    """Moves per instance in the tests of the operator."""
    seed: int = 0
    """Seed of the sampling of frames, batches and moves."""
    readout: ReadoutConfig | None = added_field(None)
    """Settings of a network that reads the angle between two frames, to compare with the operator; None for none."""
    part: Part = added_field("whole")
    """Part of the embedding that classifiers see: whole, or identity, which is what the group leaves unchanged."""
    metrics: tuple[str, ...] | None = added_field(None)
    """Names of the metrics of moves; None for all."""

    def __post_init__(self) -> None:
        check_numbers(self)
        if not self.proportions or any(not 0 < p <= 1 for p in self.proportions):
            raise UserError(f"proportions are {self.proportions}, but they must be above 0 and at most 1")
        if not self.options or any(o not in (1, 2) for o in self.options):
            raise UserError(f"options are {self.options}, but only 1 and 2 exist")
        if self.limit is not None and self.limit < 1:
            raise UserError(f"limit is {self.limit}, but it must be 1 or more, or None for all frames")
        if self.pairs < 1 or self.neighbours < 1 or self.seed < 0:
            raise UserError("pairs and neighbours must be 1 or more, seed 0 or more")
        if self.pairs > MAX_PAIRS or self.neighbours > MAX_PAIRS:
            raise UserError(
                f"pairs is {self.pairs:,} and neighbours {self.neighbours:,}, but they must be at most {MAX_PAIRS:,}"
            )
        if self.part not in get_args(Part):
            raise UserError(f"part is {self.part!r}, but it must be one of {', '.join(get_args(Part))}")
        if self.part == "identity" and (2 in self.options or self.finetune.steps):
            raise UserError("classifiers of the identity part need --options 1 and --finetune.steps 0")
        if self.finetune.steps and self.finetune.start == "linear" and not self.probe.normalise:
            raise UserError(
                "finetuning can start from linear evaluation only if probe.normalise is on; give --finetune.start zero"
            )
