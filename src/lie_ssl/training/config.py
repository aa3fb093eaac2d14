"""Everything that decides what a pretraining run learns. Two equal configs on equal data give the same weights."""

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
from lie_ssl.methods.encoders import EncoderConfig
from lie_ssl.methods.mae import MAEConfig
from lie_ssl.methods.method import MethodConfig
from lie_ssl.methods.registry import method_config
from lie_ssl.migration import FORMAT, legacy_config, migrate
from lie_ssl.objectives.alone import AloneConfig
from lie_ssl.objectives.base import ObjectiveConfig
from lie_ssl.objectives.registry import check_objective, objective_config, objective_entry
from lie_ssl.serialization import check_numbers, from_plain, to_plain
from lie_ssl.storage.cards import parse_json
from lie_ssl.storage.hashes import digest
from lie_ssl.storage.limits import check_steps
from lie_ssl.storage.trust import check_trust, is_import_path

MOST_WORKERS, MOST_RATE = 256, 1e30
VARIANT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")  # plain ASCII: elsewhere too many letters look alike
# What may be changed between the parts of a run that is stopped and resumed.
NON_IDENTITY_FIELDS = ("data", "log", "device", "workers")


@dataclass(frozen=True)
class OptimConfig:
    """Optimiser and schedule."""

    name: Literal["adamw", "lars"] = "adamw"
    """Which optimiser."""
    lr: float = 1e-3
    """Learning rate at its highest."""
    operator_lr: float = 1.0
    """Learning rate of the operator, as a multiple of `lr`; 0 leaves it as it starts."""
    weight_decay: float = 0.05
    """On weights, not on biases and norms, nor on the operator."""
    momentum: float = 0.9
    """Of LARS; the first beta of AdamW."""
    beta: float = 0.95
    """The second beta of AdamW."""
    steps: int = 1000
    """Steps of the optimiser."""
    batch: int = 64
    """Pairs in a batch, over all processes."""
    accumulate: int = 1
    """Batches whose gradients make one step."""
    warmup: float = 0.1
    """Share of the steps in which the rate rises."""
    floor: float = 0.0
    """Learning rate at the end, as a share of the highest."""
    clip: float | None = 5.0
    """Largest norm of the gradient of each group (encoder, operator, heads); None for no limit."""

    def __post_init__(self) -> None:
        check_steps("optim.steps x optim.accumulate", self.steps * self.accumulate)
        check_numbers(self, "optim")
        for name in ("steps", "accumulate"):
            if getattr(self, name) < 1:
                raise UserError(f"optim.{name} is {getattr(self, name)}, but it must be 1 or more")
        if self.batch < 2:
            raise UserError(f"optim.batch is {self.batch}, but contrast and batch-norm need at least 2 pairs")
        if not 0 < self.lr <= MOST_RATE:
            raise UserError(f"optim.lr is {self.lr}, but it must be above 0 and at most {MOST_RATE:g}")
        for name in ("operator_lr", "weight_decay"):
            if not getattr(self, name) >= 0:
                raise UserError(f"optim.{name} is {getattr(self, name)}, but it must be 0 or more")
        if self.clip is not None and not self.clip > 0:
            raise UserError(f"optim.clip is {self.clip}, but it must be above 0, or None for no limit")
        for name in ("momentum", "beta", "warmup", "floor"):
            if not 0 <= getattr(self, name) < 1:
                raise UserError(f"optim.{name} is {getattr(self, name)}, but it must lie in [0, 1)")


@dataclass(frozen=True)
class LogConfig:
    """What is written down, and how often."""

    every: int = 10
    """Steps between two rows of the log."""
    check_every: int | None = None
    """Steps between two checks (k-NN accuracy, losses on validation pairs, diagnostics); None: ten in a run, 20 steps
    apart or more. The last step is always followed by one."""
    save_every: int | None = None
    """Steps between two checkpoints; None: with every check."""
    tensorboard: bool = True
    """Also write TensorBoard files."""
    wandb: str | None = None
    """Also log to this project of Weights & Biases (needs the extra `wandb`)."""

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
    """What is learned from pairs."""
    variant: str | None = None
    """A word for a variant of the objective, which tables show behind its name."""
    optim: OptimConfig = field(default_factory=OptimConfig)
    """Optimiser and schedule."""
    log: LogConfig = field(default_factory=LogConfig)
    """The log."""
    seed: int = 0
    """Of the weights, the pairs, the masks and the augmentations."""
    diverse: float = 0.5
    """Share of the training instances of each class that are seen in all poses."""
    start: str | None = None
    """Another run to start from: its encoder, and its heads and operator where they fit the same method."""
    precision: Literal["32", "bf16", "fp16"] = "32"
    """Of the encoder's products; the operator computes in float32 or better."""
    on_nan: Literal["stop", "skip"] = "stop"
    """What to do when a loss or a gradient is not finite: stop with a sentence, or leave the step out."""
    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    """Where to compute."""
    workers: int = 0
    """Processes that read frames; 0 reads in the training process."""

    def __post_init__(self) -> None:
        check_numbers(self)
        if self.seed < 0 or self.workers < 0:
            raise UserError(f"seed is {self.seed} and workers {self.workers}, but they must be 0 or more")
        if not 0 < self.diverse <= 1:
            raise UserError(f"diverse is {self.diverse}, but it must lie above 0 and at most at 1")
        if self.workers > MOST_WORKERS:
            raise UserError(f"workers is {self.workers:,}, but a run takes {MOST_WORKERS} processes at the most")
        if self.variant is not None and not VARIANT.fullmatch(self.variant):
            raise UserError(
                f"variant is {self.variant!r:.80}, but it is a word of up to 64 letters, digits, _, - and dots"
            )
        check_objective(self.objective)

    @property
    def arm(self) -> str:
        """What the run is called in tables: the name that its objective is registered under, and the variant."""
        name = objective_entry(self.objective.name).name
        return name if self.variant is None else f"{name}-{self.variant}"

    @property
    def check_every(self) -> int:
        return self.log.check_every or max(20, self.optim.steps // 10)

    @property
    def save_every(self) -> int:
        return self.log.save_every or self.check_every

    def digest(self) -> str:
        """Twelve hex digits, equal for configs that learn the same."""
        return digest(_identity(to_plain(self)))

    def known_digests(self) -> tuple[str, str]:
        """Today's digest, and the one that the same config had in files of lie_ssl 0.1."""
        return self.digest(), digest(_identity(legacy_config(to_plain(self))))


def _identity(plain: Mapping[str, Any]) -> dict[str, Any]:
    """What decides the weights of a run."""
    return {name: value for name, value in plain.items() if name not in NON_IDENTITY_FIELDS}


def kinds_of(config: PretrainConfig, frames: FrameSet) -> tuple[str, ...]:
    """The kinds of pose that count as factors of their own in a run: all of the data set's, or none."""
    return config.objective.kinds(pose_kinds(frames.index))


def import_paths(config: PretrainConfig) -> tuple[str, ...]:
    """The names in a config that stand for code of the user's own."""
    names = (config.method.name, config.encoder.name, config.objective.name)
    return tuple(name for name in names if is_import_path(name))


def read_config(values: Mapping[str, Any], where: str = "config", trust: Collection[str] = ()) -> PretrainConfig:
    """A config from plain data, with the settings of its own method and objective.

    Import paths in it are refused before anything is imported, but for those in `trust`.
    """
    if not isinstance(values, Mapping):
        raise UserError(f"{where} is no config of a run")
    values = migrate("config", values, where)
    config = from_plain(PretrainConfig, {k: v for k, v in values.items() if k not in ("method", "objective")}, where)
    check_trust(config.encoder.name, f"{where}: encoder.name", trust)
    method = _named(values, "method", "mae", where, trust)
    objective = _named(values, "objective", "alone", where, trust)
    return replace(config, method=method_config(**method), objective=objective_config(**objective))


def _named(
    values: Mapping[str, Any], part: str, default: str, where: str, trust: Collection[str]
) -> dict[str, Any]:  # fmt: skip
    """The name and the other settings of a method or an objective, before any code of its own is imported."""
    given = values.get(part, {})
    if not isinstance(given, Mapping):
        raise UserError(f"{where}.{part} is {given!r}, but it takes named values")
    name = str(given.get("name", default))
    check_trust(name, f"{where}: {part}.name", trust)
    return {"name": name, "values": {k: v for k, v in given.items() if k != "name"}}


def config_bytes(config: PretrainConfig) -> bytes:
    """A config as a JSON file."""
    return json.dumps({"format": FORMAT, **to_plain(config)}, indent=1).encode()


def load_config(path: Path, trust: Collection[str] = ()) -> PretrainConfig:
    """From a JSON file, such as the config.json of a run."""
    if path.exists() and not path.is_file():
        raise UserError(f"{path} is no file; give the config.json of a run")
    try:
        values = parse_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise UserError(f"{path} is no JSON: {error}") from error
    return read_config(values, str(path), trust)
