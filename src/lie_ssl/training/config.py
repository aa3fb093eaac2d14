"""The config of a pretraining run. Two equal configs on equal data give the same weights."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.frames.pairs import pose_kinds
from lie_ssl.methods.adapted import AdaptConfig
from lie_ssl.methods.encoders import EncoderConfig
from lie_ssl.methods.mae import MAEConfig
from lie_ssl.methods.method import MethodConfig
from lie_ssl.methods.registry import method_config
from lie_ssl.migration import FORMAT, legacy_config, migrate
from lie_ssl.objectives.alone import AloneConfig
from lie_ssl.objectives.base import ObjectiveConfig
from lie_ssl.objectives.registry import check_objective, objective_config, objective_entry
from lie_ssl.serialization import added_field, check_numbers, from_plain, to_plain
from lie_ssl.storage.cards import parse_json
from lie_ssl.storage.hashes import digest
from lie_ssl.storage.limits import check_steps
from lie_ssl.storage.trust import check_trust, is_import_path

MAX_WORKERS, MAX_RATE = 256, 1e30
VARIANT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")  # ASCII only: many Unicode letters look alike
INSTEAD = ", or encoder=MODULE for a module that was adapted from Python"
# Settings that may change when a run is resumed.
NON_IDENTITY_FIELDS = ("data", "log", "device", "workers", "banks")


@dataclass(frozen=True)
class OptimConfig:
    """Optimiser and schedule."""

    name: Literal["adamw", "lars"] = "adamw"
    """Name of the optimiser."""
    lr: float = 1e-3
    """Peak learning rate."""
    operator_lr: float = 1.0
    """Learning rate of the operator, as a multiple of `lr`; 0 freezes it."""
    weight_decay: float = 0.05
    """Weight decay; biases, norms and the operator have none."""
    momentum: float = 0.9
    """Momentum of LARS; the first beta of AdamW."""
    beta: float = 0.95
    """Second beta of AdamW."""
    steps: int = 1000
    """Optimiser steps."""
    batch: int = 64
    """Pairs per batch, over all processes."""
    accumulate: int = 1
    """Batches per optimiser step (gradient accumulation)."""
    warmup: float = 0.1
    """Share of the steps in which the learning rate warms up."""
    floor: float = 0.0
    """Final learning rate, as a share of the peak."""
    clip: float | None = 5.0
    """Gradient norm to which each group (encoder, operator, heads) is clipped; None for no clipping."""
    stage_lr: float = added_field(0.1)
    """Learning rate of the stages that `unfreeze` names, as a multiple of `lr`."""

    def __post_init__(self) -> None:
        check_steps("optim.steps x optim.accumulate", self.steps * self.accumulate)
        check_numbers(self, "optim")
        for name in ("steps", "accumulate"):
            if getattr(self, name) < 1:
                raise UserError(f"optim.{name} is {getattr(self, name)}, but it must be 1 or more")
        if self.batch < 2:
            raise UserError(f"optim.batch is {self.batch}, but it must be at least 2 for contrast and batch-norm")
        if not 0 < self.lr <= MAX_RATE:
            raise UserError(f"optim.lr is {self.lr}, but it must be above 0 and at most {MAX_RATE:g}")
        for name in ("operator_lr", "stage_lr", "weight_decay"):
            if not getattr(self, name) >= 0:
                raise UserError(f"optim.{name} is {getattr(self, name)}, but it must be 0 or more")
        if self.clip is not None and not self.clip > 0:
            raise UserError(f"optim.clip is {self.clip}, but it must be above 0, or None for no limit")
        for name in ("momentum", "beta", "warmup", "floor"):
            if not 0 <= getattr(self, name) < 1:
                raise UserError(f"optim.{name} is {getattr(self, name)}, but it must lie in [0, 1)")


@dataclass(frozen=True)
class LogConfig:
    """What is logged, and how often."""

    every: int = 10
    """Steps between two log rows."""
    check_every: int | None = None
    """Steps between two checks (k-NN accuracy, losses on validation pairs, diagnostics); None for ten checks per run,
    at least 20 steps apart. There is always one after the last step."""
    save_every: int | None = None
    """Steps between two checkpoints; None for one with every check."""
    tensorboard: bool = True
    """Also write TensorBoard files."""
    wandb: str | None = None
    """Project of Weights & Biases to which to log as well (needs the extra `wandb`)."""

    def __post_init__(self) -> None:
        check_numbers(self, "log")
        for name in ("every", "check_every", "save_every"):
            if (value := getattr(self, name)) is not None and value < 1:
                raise UserError(f"log.{name} is {value}, but it must be 1 or more")


@dataclass(frozen=True)
class PretrainConfig:
    """A pretraining run."""

    data: str = ""
    """Folder of the data set."""
    method: MethodConfig = field(default_factory=MAEConfig)
    """The self-supervised method."""
    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    """The encoder."""
    objective: ObjectiveConfig = field(default_factory=AloneConfig)
    """The objective that is learned from pairs."""
    variant: str | None = None
    """Name of a variant of the objective, shown after the objective's name in tables."""
    optim: OptimConfig = field(default_factory=OptimConfig)
    """Optimiser and schedule."""
    log: LogConfig = field(default_factory=LogConfig)
    """Logging, checks and checkpoints."""
    seed: int = 0
    """Seed of the weights, pairs, masks and augmentations."""
    diverse: float = 0.5
    """Share of the training instances of each class that are shown in all poses."""
    poses: int | None = added_field(None)
    """How many frames of each kind of pose training shows of these instances, drawn at random; None for all."""
    start: str | None = None
    """Run to start from: its encoder, and its heads and operator if the method is the same and they fit."""
    precision: Literal["32", "bf16", "fp16"] = "32"
    """Precision of the encoder; the operator computes in float32 or better."""
    on_nan: Literal["stop", "skip"] = "stop"
    """What to do if a loss or gradient is not finite: stop with an error, or skip the step."""
    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    """Device to train on."""
    workers: int = 0
    """Worker processes that read frames; 0 reads in the training process."""
    adapt: AdaptConfig | None = added_field(None)
    """Train a small head on stored features of the frozen encoder; None to train the encoder itself."""
    banks: str | None = added_field(None)
    """Folder for stored features, which all runs on the same data share; None for `.banks` in the data set's folder."""
    unfreeze: int | None = added_field(None)
    """Continue an adapted run on pictures, and train this many of the encoder's last stages too; None for none."""

    def __post_init__(self) -> None:
        check_numbers(self)
        if self.seed < 0 or self.workers < 0:
            raise UserError(f"seed is {self.seed} and workers {self.workers}, but they must be 0 or more")
        if not 0 < self.diverse <= 1:
            raise UserError(f"diverse is {self.diverse}, but it must be above 0 and at most 1")
        if self.poses is not None and self.poses < 2:
            raise UserError(f"poses is {self.poses}, but pairs need 2 or more, or None for all")
        if self.workers > MAX_WORKERS:
            raise UserError(f"workers is {self.workers:,}, but a run can have at most {MAX_WORKERS}")
        if self.variant is not None and not VARIANT.fullmatch(self.variant):
            raise UserError(
                f"variant is {self.variant!r:.80}, but it must consist of up to 64 letters, digits, _, - and dots"
            )
        check_objective(self.objective)
        self._check_unfreeze()

    def _check_unfreeze(self) -> None:
        if self.unfreeze is None:
            return
        if not isinstance(self.unfreeze, int) or self.unfreeze < 1:
            raise UserError(f"unfreeze is {self.unfreeze}, but it must be a whole number of stages, 1 or more")
        if self.adapt is None or self.start is None:
            raise UserError("unfreeze continues a run of `lie-ssl adapt`; adapt first, then give that run as ENCODER")

    @property
    def arm(self) -> str:
        """The name of the run in tables: the registered name of its objective, and the variant."""
        name = objective_entry(self.objective.name).name
        return name if self.variant is None else f"{name}-{self.variant}"

    @property
    def subject(self) -> str:
        """The name of the run in the column `method`: its method, or the encoder that is adapted."""
        return subject_name(to_plain(self))

    @property
    def check_every(self) -> int:
        return self.log.check_every or max(20, self.optim.steps // 10)

    @property
    def save_every(self) -> int:
        return self.log.save_every or self.check_every

    def digest(self) -> str:
        """A hash of 12 hex digits, equal for configs that give the same weights."""
        return digest(_identity(to_plain(self)))

    def known_digests(self) -> tuple[str, str]:
        """The current digest, and that of the same config in files of lie_ssl 0.1."""
        return self.digest(), digest(_identity(legacy_config(to_plain(self))))


def _identity(plain: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that determine the weights of a run."""
    return {name: value for name, value in plain.items() if name not in NON_IDENTITY_FIELDS}


def kinds_of(config: PretrainConfig, frames: FrameSet) -> tuple[str, ...]:
    """The kinds of pose that are separate factors in a run: all of the data set's, or none."""
    return config.objective.kinds(pose_kinds(frames.index))


def subject_name(plain: Mapping[str, Any]) -> str:
    """The name of a run in the column `method`, from its plain config."""
    name = str(plain["encoder"]["name"] if plain.get("adapt") else plain["method"]["name"])
    return name.partition(":")[2] if plain.get("adapt") and is_import_path(name) else name


def import_paths(config: PretrainConfig) -> tuple[str, ...]:
    """The import paths in a config."""
    names = (config.method.name, config.encoder.name, config.objective.name)
    return tuple(name for name in names if is_import_path(name))


def read_config(
    values: Mapping[str, Any], where: str = "config", trust: Collection[str] = (), builds: bool = True
) -> PretrainConfig:
    """Builds a config from plain data, with the settings of its method and objective.

    Import paths in it are rejected before anything is imported, except those in `trust`.

    Args:
        values: The plain data.
        where: Its file, for messages.
        trust: Import paths that it may name.
        builds: Whether the encoder is built from the config. If the user gives a module, its name is never imported.
    """
    if not isinstance(values, Mapping):
        raise UserError(f"{where} is not the config of a run; give the config.json of one")
    values = migrate("config", values, where)
    config = from_plain(PretrainConfig, {k: v for k, v in values.items() if k not in ("method", "objective")}, where)
    if builds:
        check_trust(config.encoder.name, f"{where}: encoder.name", trust, INSTEAD if config.adapt else "")
    method = _named(values, "method", "mae", where, trust)
    objective = _named(values, "objective", "alone", where, trust)
    return replace(config, method=method_config(**method), objective=objective_config(**objective))


def _named(
    values: Mapping[str, Any], part: str, default: str, where: str, trust: Collection[str]
) -> dict[str, Any]:  # fmt: skip
    """The name and the other settings of a method or an objective, before its code is imported."""
    given = values.get(part, {})
    if not isinstance(given, Mapping):
        raise UserError(f"{where}.{part} is {given!r}, but it must be a mapping of settings")
    name = str(given.get("name", default))
    check_trust(name, f"{where}: {part}.name", trust)
    return {"name": name, "values": {k: v for k, v in given.items() if k != "name"}}


def config_bytes(config: PretrainConfig) -> bytes:
    """A config as the bytes of a JSON file."""
    return json.dumps({"format": FORMAT, **to_plain(config)}, indent=1).encode()


def load_config(path: Path, trust: Collection[str] = (), builds: bool = True) -> PretrainConfig:
    """Reads a config from a JSON file, such as the config.json of a run.

    Args:
        path: The file.
        trust: Import paths that it may name. Importing runs code.
        builds: Whether the encoder is built from the config, as in :func:`read_config`.
    """
    if path.exists() and not path.is_file():
        raise UserError(f"{path} is not a file; give the config.json of a run")
    try:
        values = parse_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise UserError(f"{path} is not valid JSON: {error}") from error
    return read_config(values, str(path), trust, builds)
