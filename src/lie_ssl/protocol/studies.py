"""Settings of studies without pretraining: gaps of published encoders, and transfer to photographs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from lie_ssl.errors import UserError
from lie_ssl.frames import DataConfig
from lie_ssl.methods.adapted import IDENTITY, AdaptConfig
from lie_ssl.methods.encoders import EncoderConfig
from lie_ssl.methods.extractor import FeatureConfig
from lie_ssl.protocol.evaluate import EvaluateConfig
from lie_ssl.protocol.finetune import FinetuneConfig
from lie_ssl.protocol.probe import ProbeConfig
from lie_ssl.serialization import check_numbers
from lie_ssl.training.config import OptimConfig

SIZE = 224


@dataclass(frozen=True)
class NamedEncoder:
    """An encoder with its name in the tables, and the settings of its evaluation."""

    name: str
    encoder: EncoderConfig
    evaluation: EvaluateConfig
    how_to_get: str = ""  # what to do to get its weights


@dataclass(frozen=True)
class GapsConfig:
    """The comparison of published encoders on one data set."""

    data: DataConfig
    encoders: tuple[NamedEncoder, ...]


@dataclass(frozen=True)
class PhotoTransfer:
    """Finetuning of an encoder on labelled photographs."""

    finetune: FinetuneConfig
    """Settings of finetuning."""
    validation: float = 0.1
    """Share of the training photographs used for validation, if the set has no validation part."""
    chosen_by: Literal["loss", "accuracy"] = "loss"
    """Validation score by which the rate is chosen."""

    def __post_init__(self) -> None:
        check_numbers(self)
        if not 0 <= self.validation < 1:
            raise UserError(f"validation is {self.validation}, but it must be at least 0 and below 1")
        if not self.finetune.steps:
            raise UserError("finetune.steps is 0, but a transfer consists of finetuning; give --finetune.steps above 0")
        if self.finetune.start == "linear":
            raise UserError("a transfer has no linear evaluation to start from; give --finetune.start zero")


@dataclass(frozen=True)
class TransferConfig:
    """A transfer to a data set with a given number of classes, for dry runs."""

    encoder: EncoderConfig
    """The encoder with its weights, such as those of MAE or of a run of MAE Lie."""
    transfer: PhotoTransfer
    """Settings of the transfer."""
    classes: int
    """Number of classes of the data set."""
    image_size: int = SIZE
    """Side of a picture in pixels."""

    def __post_init__(self) -> None:
        if self.classes < 2 or self.image_size < 1:
            raise UserError(
                f"classes is {self.classes} and image_size {self.image_size}, but a transfer needs 2 classes or more "
                "and pictures of 1 px or more"
            )


@dataclass(frozen=True)
class UprightTransfer:
    """Settings of a transfer to rotated photographs by adapting an encoder."""

    seeds: tuple[int, ...] = (0, 1, 2)
    """Seeds of the heads."""
    size: int = 96
    """Side of the pictures in pixels."""
    copies: int = 3
    """Random rotations of each training photograph."""
    turns: int = 8
    """Turned copies of each test picture."""
    validation: float = 0.05
    """Share of the training photographs used for validation, if the set has no validation part."""
    adapt: AdaptConfig = field(
        default_factory=lambda: AdaptConfig(features=FeatureConfig(depth=1, grid=6), linear=True, identity=IDENTITY)
    )
    """The features of the frozen encoder, and the heads on them."""
    optim: OptimConfig = field(default_factory=lambda: OptimConfig(steps=800, batch=192))
    """Training of the heads; `operator_lr` is that of the objective."""
    anchor: float = 1.0
    """Weight of the anchor."""
    prior: float = 0.5
    """How likely it is that a test picture is upright as it is given; otherwise all rotations are equally likely."""
    sharpness: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0)
    """How much more the copies of a picture tell together than one alone; chosen on validation photographs."""
    probe: ProbeConfig = field(default_factory=lambda: ProbeConfig(1000, 256, (1e-2, 3e-3, 1e-3, 3e-4), ("adamw",)))
    """Settings of linear classifiers."""

    def __post_init__(self) -> None:
        check_numbers(self)
        if not self.seeds or not self.sharpness:
            raise UserError("a transfer needs at least one seed and one sharpness; give --seeds 0 --sharpness 2")
        if not 0 <= self.prior < 1 or not self.anchor > 0 or min(self.sharpness) <= 0:
            raise UserError(
                f"prior is {self.prior}, anchor {self.anchor} and sharpness {self.sharpness}, but prior must be at "
                "least 0 and below 1, and the others above 0"
            )
