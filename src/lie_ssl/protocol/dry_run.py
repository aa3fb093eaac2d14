"""A dry run: runs a few steps of every phase of a recipe, and estimates the cost of the whole recipe.

Models have their full size and random weights. A step has the batch of one of several GPUs. A few frames are rendered
at the size of the recipe, into a temporary folder; nothing is left on disk.
"""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn

from lie_ssl._text import count
from lie_ssl.errors import UserError
from lie_ssl.frames import DataConfig, FrameSet, make_frames
from lie_ssl.frames.columns import ROW
from lie_ssl.frames.index import build_index
from lie_ssl.frames.loader import endless_loader
from lie_ssl.frames.plan import make_plan
from lie_ssl.lie import LieOperator
from lie_ssl.methods.draws import Draws
from lie_ssl.methods.encoders import Encoder, EncoderConfig, create_encoder
from lie_ssl.methods.features import embed_frames, to_float
from lie_ssl.objectives.pair_model import PairModel, trained
from lie_ssl.protocol.evaluate import EvaluateConfig, Say
from lie_ssl.protocol.finetune import FinetuneConfig, finetune
from lie_ssl.protocol.grid import Recipe, Unit
from lie_ssl.protocol.measuring import Cost, measure
from lie_ssl.protocol.neighbours import NeighbourSampler
from lie_ssl.protocol.probe import Neighbours, Probe, ProbeConfig
from lie_ssl.protocol.settings import SETTINGS, SSL_PROPORTION, Settings
from lie_ssl.protocol.studies import GapsConfig, TransferConfig
from lie_ssl.render import RenderSettings
from lie_ssl.training.config import PretrainConfig
from lie_ssl.training.model import build_model
from lie_ssl.training.optimisers import build_optimiser, gradient_norms
from lie_ssl.training.sampling import pair_sampler

PROBE_STEPS = 20  # the time of a single step would mostly be set-up
STATES = {"adamw": 2, "sgd": 1, "lars": 1}  # numbers that an optimiser stores per weight


@dataclass(frozen=True)
class Job:
    """The phases of one encoder; a phase that is None is left out."""

    name: str
    encoder: EncoderConfig
    data: DataConfig  # of the frames; only their size and factors of variation matter
    classes: int
    finetune: FinetuneConfig
    probe: ProbeConfig | None = None
    pretraining: PretrainConfig | None = None
    embedded: int = 0  # frames that are only embedded, without training
    option: int = 1
    neighbours: int = 1
    classifiers: int = 1  # how often the grid of rates is trained: once for every proportion and option
    units: int = 1  # units of the recipe that differ from this one in their seed only, and itself


@dataclass(frozen=True)
class Phase:
    """One phase of a job."""

    job: str
    name: str
    work: str
    parameters: tuple[int, int, int]  # of the encoder, the heads and the operator
    repeats: float  # how often the whole phase on one device repeats the measured step
    cost: Cost
    units: int = 1

    @property
    def hours(self) -> float:
        """Duration of the whole phase on this machine."""
        return self.repeats * self.cost.seconds / 3600

    def hours_on(self, gpus: int, tflops: float) -> float:
        """Duration of the whole phase on several GPUs, each sustaining `tflops` 10^12 operations per second."""
        return self.repeats * self.cost.flops / (gpus * tflops * 1e12 * 3600)


def grid_jobs(recipe: Recipe, units: Sequence[Unit]) -> list[Job]:
    """One job for every method and arm, with its first seed."""
    index = planned_index(recipe.data)
    classes, embedded = index["class"].nunique(), cache(lambda config: embedded_frames(index, config))
    arms: dict[tuple[str, str], list[Unit]] = {}
    for unit in units:
        arms.setdefault(unit.key[:2], []).append(unit)
    return [
        evaluated_job(
            "/".join(words), own[0].pretraining.encoder, recipe.data, classes, own[0].evaluation,
            embedded(own[0].evaluation), own[0].pretraining, len(own),
        )
        for words, own in arms.items()
    ]  # fmt: skip


def evaluated_job(
    name: str, encoder: EncoderConfig, data: DataConfig, classes: int, config: EvaluateConfig, embedded: int,
    pretraining: PretrainConfig | None = None, units: int = 1,
) -> Job:  # fmt: skip
    """A job with the evaluation of an encoder; of several options the most expensive is measured."""
    return Job(
        name, encoder, data, classes, config.finetune, config.probe, pretraining, embedded, max(config.options),
        config.neighbours, len(config.options) * len(config.proportions), units,
    )  # fmt: skip


def gaps_jobs(config: GapsConfig) -> list[Job]:
    """One job for every encoder."""
    index = planned_index(config.data)
    return [
        evaluated_job(
            own.name, own.encoder, config.data, index["class"].nunique(), own.evaluation,
            embedded_frames(index, own.evaluation),
        )
        for own in config.encoders
    ]  # fmt: skip


def transfer_jobs(name: str, config: TransferConfig) -> list[Job]:
    """One job, as MAE and MAE Lie are finetuned alike. Validation and test pictures are not counted."""
    like = DataConfig(render=RenderSettings(size=config.image_size))
    return [Job(name, config.encoder, like, config.classes, config.transfer.finetune)]


def planned_index(config: DataConfig) -> pd.DataFrame:
    """The index that a data set would have, without making it."""
    index: pd.DataFrame = build_index(make_plan(config).rows).drop(["rotation"]).to_pandas()
    return index.rename_axis(index=ROW)


def embedded_frames(index: pd.DataFrame, config: EvaluateConfig) -> int:
    """The number of frames that an evaluation embeds, apart from the steps of finetuning.

    These are all frames once for linear evaluation, and for finetuning the validation frames for every trial and the
    test frames for the best trial.
    """
    settings = Settings(index, seen=max(SSL_PROPORTION, *config.proportions), limit=config.limit, seed=config.seed)
    validation = np.concatenate(settings.validation())
    tests = [
        np.unique(np.concatenate([settings.test(s, poses, p) for s in SETTINGS for poses in settings.poses]))
        for p in config.proportions
    ]
    training = [settings.training(p).all for p in config.proportions]
    total = len(np.unique(np.concatenate([validation, *tests, *training])))
    if config.finetune.steps:
        each = len(config.finetune.trials) * len(validation)
        total += len(config.options) * sum(each + len(rows) for rows in tests)
    return total


class StandInFrames(FrameSet):
    """A few frames of a few classes, with as many class labels as the full data set."""

    def __init__(self, folder: Path, classes: int) -> None:
        super().__init__(folder)
        self._count = classes

    @cached_property
    def classes(self) -> list[str]:
        own = sorted(self.index["class"].unique())
        return own + [f"~{i}" for i in range(len(own), self._count)]  # ~ sorts after all letters


def reduced_config(config: DataConfig) -> DataConfig:
    """The same settings with four classes, two instances per class, one of them diverse, and a few poses."""
    own = replace(config, instances=2, step=90.0, rotations=4, validation=0.0, test=0.0)
    names = sorted({row.class_name for row in make_plan(own).rows})
    return replace(own, classes=tuple(names[:4]))


def dry_run(jobs: Sequence[Job], *, gpus: int = 8, steps: int = 1, say: Say = lambda _: None) -> list[Phase]:
    """Runs every phase of every job for one step to warm up and `steps` more, and measures their cost.

    The evaluation is measured once for all arms with the same encoder and evaluation.

    Args:
        jobs: The jobs to measure.
        gpus: The number of GPUs that would share a batch.
        steps: Measured steps per phase.
        say: Called with messages for the user.
    """
    if gpus < 1 or steps < 1:
        raise UserError(f"gpus is {gpus} and steps {steps}, but they must be 1 or more")
    phases: list[Phase] = []
    known: dict[Job, list[Phase]] = {}
    with tempfile.TemporaryDirectory(prefix="lie_ssl_dry_run_") as folder:
        places: dict[DataConfig, Path] = {}
        for job in jobs:
            place = places.setdefault(job.data, Path(folder) / str(len(places)))
            make_frames(reduced_config(job.data), place, workers=1)
            say(f"{job.name}: {', '.join(phase_names(job))}")
            runner = PhaseRunner(job, StandInFrames(place, job.classes), gpus, steps)
            phases += runner.pretraining()
            # The cost of classifiers depends on the run only through its operator, and only in Option 2.
            alike = replace(job, name="", units=1, pretraining=job.pretraining if job.option == 2 else None)
            if alike not in known:
                known[alike] = runner.supervised()
            phases += [replace(phase, job=job.name, units=job.units) for phase in known[alike]]
            del runner
            gc.collect()  # so that the peak memory of the next arm does not include this one
    return phases


def phase_names(job: Job) -> list[str]:
    """The names of the phases of a job."""
    included = {
        "pretraining": job.pretraining is not None, "embedding": job.embedded > 0, "linear": job.probe is not None,
        "finetuning": job.finetune.steps > 0,
    }  # fmt: skip
    return [name for name, is_included in included.items() if is_included]


class PhaseRunner:
    """Measures the phases of one job, in order."""

    def __init__(self, job: Job, frames: FrameSet, gpus: int, steps: int) -> None:
        self.job, self.frames, self.gpus, self.steps = job, frames, gpus, steps
        self.operator: LieOperator | None = None
        self.coordinates: Tensor | None = None
        random = replace(job.encoder, weights=None, parts=())
        self.run = job.pretraining and replace(job.pretraining, encoder=random, start="", data=str(frames.folder))
        if self.run is None:
            self.encoder = create_encoder(random, frames.size, frames.channels)

    def pretraining(self) -> list[Phase]:
        if self.run is None:
            return []
        optim = self.run.optim
        step = PretrainingStep(self.run, self.frames, batch_per_gpu(optim.batch, self.gpus, 2))
        cost = measure(step, self.steps, STATES[optim.name])
        groups = step.model.groups()
        encoder, heads, operator = (
            sum(p.numel() for p in groups.get(name, [])) for name in ("encoder", "heads", "operator")
        )
        step.model.zero_grad(set_to_none=True)
        self.encoder, self.operator, self.coordinates = step.model.method.encoder, step.model.operator, step.t
        work, repeats = f"{optim.steps:,} steps of {optim.batch}", optim.steps * optim.accumulate * self.gpus
        return [Phase(self.job.name, "pretraining", work, (encoder, heads, operator), repeats, cost, self.job.units)]

    def supervised(self) -> list[Phase]:
        runs = {"embedding": self._embedding, "linear": self._linear, "finetuning": self._finetuning}
        return [run() for name, run in runs.items() if name in phase_names(self.job)]

    def _embedding(self) -> Phase:
        rows = np.arange(min(8, len(self.frames)))

        def step() -> Encoder:
            embed_frames(self.encoder, self.frames, rows)
            return self.encoder

        cost = measure(step, self.steps, 0)
        return self._phase(
            "embedding", f"{self.job.embedded:,} frames, {len(rows)} at once", 0, self.job.embedded / len(rows), cost
        )

    def _linear(self) -> Phase:
        config, job = self.job.probe, self.job
        assert config is not None
        few = replace(config, steps=PROBE_STEPS)
        rows = np.arange(min(16, len(self.frames)))
        z, labels = embed_frames(self.encoder, self.frames, rows), torch.from_numpy(self.frames.labels[rows])
        neighbours = self._neighbours()

        def step() -> nn.Module:
            probe = Probe(few, self.encoder.dim, job.classes)
            probe.fit((z[::2], labels[::2]), (z[1::2], labels[1::2]), 0, neighbours)
            return nn.ParameterList([probe.weight, probe.bias])

        cost = measure(step, self.steps, STATES["adamw"])
        cost = cost._replace(seconds=cost.seconds / PROBE_STEPS, flops=cost.flops // PROBE_STEPS)
        work = f"{job.classifiers} x {config.steps:,} steps of {config.batch}, {len(config.trials)} rates at once"
        heads = len(config.trials) * job.classes * (self.encoder.dim + 1)
        return self._phase("linear", work, heads, job.classifiers * config.steps, cost)

    def _finetuning(self) -> Phase:
        config, job = self.job.finetune, self.job
        share = batch_per_gpu(config.batch, self.gpus, 4)
        few, name = replace(config, steps=1, batch=share), max(config.optimisers, key=lambda n: STATES[n])
        rows = Settings(self.frames.index).training(SSL_PROPORTION)
        neighbours = self._neighbours()

        def step() -> nn.Module:
            return finetune(self.encoder, self.frames, rows, name, min(config.rates), few, 0, neighbours)

        cost = measure(step, self.steps, STATES[name])
        fits = job.classifiers * len(config.trials)
        work = f"{fits} x {config.steps:,} steps of {config.batch}"
        heads = job.classes * (self.encoder.dim + 1)
        return self._phase("finetuning", work, heads, fits * config.steps * config.batch / share, cost)

    def _phase(self, name: str, work: str, heads: int, repeats: float, cost: Cost) -> Phase:
        encoder = sum(p.numel() for p in trained(self.encoder))
        operator = sum(p.numel() for p in self.operator.parameters()) if self.operator and self.job.option == 2 else 0
        return Phase(self.job.name, name, work, (encoder, heads, operator), repeats, cost)

    def _neighbours(self) -> Neighbours | None:
        if self.job.option == 1:
            return None
        if self.operator is None or self.coordinates is None:
            raise UserError(
                f"{self.job.name}: Option 2 moves embeddings and needs a run with an operator; use Option 1"
            )
        return NeighbourSampler(self.operator, self.coordinates, self.job.neighbours)


class PretrainingStep:
    """A model with its optimiser; each call is one training step on a new batch."""

    def __init__(self, config: PretrainConfig, frames: FrameSet, batch: int) -> None:
        self.config, self.batch, self.count = config, batch, 0
        sampler = pair_sampler(config, frames, batch=batch)
        self.model = build_model(config, frames.size, frames.channels, sampler.deltas.factors).train()
        self.optimiser = build_optimiser(self.model, config.optim)
        self.batches = iter(endless_loader(frames, sampler))
        self.t: Tensor | None = None

    def __call__(self) -> PairModel:
        batch, draws = next(self.batches), Draws(self.config.seed, self.count, self.batch)
        pictures = (to_float(batch["x"]), to_float(batch["x_next"]))
        more = to_float(batch["x_more"]) if "x_more" in batch else None
        out = self.model(*pictures, batch["delta"], batch["paired"], draws, batch["pose"], more, batch["objects"])
        if not bool(torch.isfinite(out.total)):
            raise UserError(
                f"the loss of {self.config.method.name}/{self.config.arm} is not finite in the first steps; lower the "
                "learning rate of the recipe"
            )
        self.optimiser.zero_grad(set_to_none=True)
        out.total.backward()
        gradient_norms(self.model, self.config.optim.clip)
        self.optimiser.step()
        self.count += 1
        self.t = out.t
        return self.model


def batch_per_gpu(batch: int, gpus: int, least: int) -> int:
    """The batch of each of several GPUs."""
    if batch % gpus or batch // gpus < least:
        raise UserError(
            f"a batch of {batch} cannot be divided equally among {count(gpus, 'GPU')} with {least} or more for each; "
            "change --gpus"
        )
    return batch // gpus
