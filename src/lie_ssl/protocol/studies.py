"""What is studied of encoders that are there already: only classifiers are trained, and encoders with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lie_ssl.errors import UserError
from lie_ssl.frames import DataConfig
from lie_ssl.methods.encoders import EncoderConfig
from lie_ssl.protocol.evaluate import EvaluateConfig
from lie_ssl.protocol.finetune import FinetuneConfig
from lie_ssl.serialization import check_numbers

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
class PhotoTransfer:
    """Finetuning of an encoder on labelled photographs."""

    finetune: FinetuneConfig
    """Steps, batch and the rates that are tried."""
    validation: float = 0.1
    """Share of the training part that chooses among the rates, where the set has no part of its own for it."""
    chosen_by: Literal["loss", "accuracy"] = "loss"
    """What is best on validation photographs."""

    def __post_init__(self) -> None:
        check_numbers(self)
        if not 0 <= self.validation < 1:
            raise UserError(f"validation is {self.validation}, but a share lies between 0 and 1")
        if not self.finetune.steps:
            raise UserError("a transfer is a finetuning: --finetune.steps must be above 0")
        if self.finetune.start == "linear":
            raise UserError("a transfer has no linear evaluation to start from; give --finetune.start zero")


@dataclass(frozen=True)
class TransferConfig:
    """A transfer to a data set of known size, for dry runs."""

    encoder: EncoderConfig
    """With its weights: those of MAE, or of a run of MAE Lie."""
    transfer: PhotoTransfer
    """How it is finetuned."""
    classes: int
    """Of the data set."""
    image_size: int = SIZE
    """Pixels of a side."""

    def __post_init__(self) -> None:
        if self.classes < 2 or self.image_size < 1:
            raise UserError("a transfer needs 2 classes or more and pictures of 1 px or more")
