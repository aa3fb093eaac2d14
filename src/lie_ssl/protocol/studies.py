"""What is studied of encoders that are there already: only classifiers are trained, and encoders with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lie_ssl.errors import UserError
from lie_ssl.frames import DataConfig
from lie_ssl.methods.encoders import EncoderConfig
from lie_ssl.protocol.evaluate import EvaluateConfig
from lie_ssl.protocol.finetune import FinetuneConfig

SIZE = 224


@dataclass(frozen=True)
class NamedEncoder:
    """An encoder as it is called in the tables, and how it is evaluated."""

    name: str
    encoder: EncoderConfig
    evaluation: EvaluateConfig
    how: str = ""  # to get its weights


@dataclass(frozen=True)
class GapsConfig:
    """The comparison of published encoders on one data set."""

    data: DataConfig
    encoders: tuple[NamedEncoder, ...]


@dataclass(frozen=True)
class TransferConfig:
    """Finetuning of an encoder on the labelled pictures of another data set."""

    encoder: EncoderConfig
    """With its weights: those of MAE, or of a run of MAE Lie."""
    finetune: FinetuneConfig
    """Steps, batch and the rates that are tried."""
    classes: int
    """Of the data set."""
    image_size: int = SIZE
    """Pixels of a side."""
    validation: float = 0.0
    """Share of the training part that chooses among the rates; 0: the data set has a validation part."""
    chosen_by: Literal["loss", "accuracy"] = "loss"
    """What is best on validation pictures."""

    def __post_init__(self) -> None:
        if self.classes < 2 or self.image_size < 1 or not 0 <= self.validation < 1:
            raise UserError("a transfer needs 2 classes or more, pictures of 1 px or more and a validation in [0, 1)")
