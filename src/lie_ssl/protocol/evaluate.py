"""The whole protocol for one encoder: accuracies in every setting, k-NN, equivariance, accuracy against angle.

Results come as long tables, one row a measurement, and go into a folder with a card; see `lie_ssl.protocol.results`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property, partial
from typing import Any, get_args

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.frames.columns import FrameKind
from lie_ssl.frames.pairs import Deltas, pose_kinds
from lie_ssl.lie import LieOperator
from lie_ssl.methods.encoders import Encoder
from lie_ssl.methods.features import knn_accuracy
from lie_ssl.protocol.equivariance import Moves, Retrieval, draw_moves, leaks, retrieve
from lie_ssl.protocol.features import Features
from lie_ssl.protocol.finetune import DivergedError, FinetuneConfig, finetune, predict
from lie_ssl.protocol.neighbours import NeighbourSampler
from lie_ssl.protocol.pose import PoseRegression, regress_pose, relative_quaternions
from lie_ssl.protocol.probe import Linear, Neighbours, Probe, ProbeConfig, choose
from lie_ssl.protocol.settings import PROPORTIONS, SETTINGS, SSL_PROPORTION, Settings, check_proportions
from lie_ssl.serialization import check_numbers

Rows = NDArray[np.int64]
Say = Callable[[str], None]
MOST_PAIRS = 1000
EQUIVARIANCE = [
    *("method", "arm", "poses", "instances", "part", "seed"), *(f.name for f in fields(Retrieval)),
    *("pose_r2", "pose_degrees", "constant_r2"),
]  # fmt: skip


@dataclass(frozen=True)
class EvaluateConfig:
    """The protocol's settings."""

    proportions: tuple[float, ...] = PROPORTIONS
    """Shares of the training instances that the supervised phase sees in all poses."""
    probe: ProbeConfig = field(default_factory=ProbeConfig)
    """Linear evaluation."""
    finetune: FinetuneConfig = field(default_factory=FinetuneConfig)
    """Finetuning."""
    options: tuple[int, ...] = (1,)
    """1: classifiers see the embedding; 2: and neighbours of it, moved by the operator."""
    neighbours: int = 1
    """Neighbours of an embedding for Option 2."""
    limit: int = 4000
    """Most frames of a test setting and kind of pose; 0 for all."""
    pairs: int = 4
    """Moves of an instance in the tests of the operator."""
    seed: int = 0
    """Of the sampling of frames, batches and moves."""

    def __post_init__(self) -> None:
        check_numbers(self)
        if not self.proportions or any(not 0 < p <= 1 for p in self.proportions):
            raise UserError(f"proportions are {self.proportions}, but they must lie above 0 and at most at 1")
        if not self.options or any(o not in (1, 2) for o in self.options):
            raise UserError(f"options are {self.options}, but there are 1 and 2")
        if self.limit < 0 or self.pairs < 1 or self.neighbours < 1 or self.seed < 0:
            raise UserError("limit and seed must be 0 or more, pairs and neighbours 1 or more")
        if self.pairs > MOST_PAIRS or self.neighbours > MOST_PAIRS:
            raise UserError(
                f"pairs is {self.pairs:,} and neighbours {self.neighbours:,}, but they go to {MOST_PAIRS:,}"
            )
        if self.finetune.steps and self.finetune.start == "linear" and not self.probe.normalise:
            raise UserError(
                "finetuning can start from linear evaluation only if that standardises; give --finetune.start zero"
            )


@dataclass(frozen=True)
class Subject:
    """What is evaluated, and what it is called in the tables."""

    encoder: Encoder
    method: str
    arm: str
    seed: int = 0
    operator: LieOperator | None = None
    coordinates: Tensor | None = None
    classes: tuple[str, ...] = ()  # that the encoder was trained among; empty if it does not matter
    factors: tuple[str, ...] = ("pose",)  # that the operator knows, as the run's data set names them
    seen: float = SSL_PROPORTION  # share of the training instances that it saw in all poses


@dataclass(frozen=True, eq=False)
class Results:
    """Long tables, one row a measurement."""

    accuracy: pd.DataFrame
    equivariance: pd.DataFrame
    curve: pd.DataFrame
    trials: pd.DataFrame
    predictions: pd.DataFrame  # of the linear classifier at the largest proportion, for pictures


def check_labels(frames: FrameSet) -> None:
    """Refuses data sets without classes to tell apart."""
    if len(frames.classes) < 2:
        raise UserError(
            f"{frames.folder} has one class ({frames.classes[0]}), but an evaluation asks for the class; sort the "
            "pictures or clips into folders class/instance, or evaluate on another data set"
        )


class Evaluation:
    """One subject on one data set. The parts can be run by themselves; :meth:`run` runs all."""

    def __init__(
        self, subject: Subject, frames: FrameSet, config: EvaluateConfig, features: Features, say: Say = lambda _: None
    ) -> None:
        # A run on data without labels has one class only, and may be evaluated anywhere.
        if len(subject.classes) > 1 and set(subject.classes) != set(frames.classes):
            strange = sorted(set(frames.classes) ^ set(subject.classes))
            raise UserError(
                f"{frames.folder} has other classes than the run's data set ({', '.join(strange[:3])} ...); evaluate "
                "on that one, or on one with the same classes"
            )
        check_labels(frames)
        if 2 in config.options and (subject.operator is None or subject.coordinates is None):
            raise UserError(
                "Option 2 moves embeddings and needs a run with an operator; take a Lie arm or leave it out"
            )
        check_proportions(frames.index, config.proportions)
        self.subject, self.frames, self.config, self.features, self.say = subject, frames, config, features, say
        # What is new must be new in every phase, and the same at every proportion.
        seen = max(subject.seen, *config.proportions)
        self.settings = Settings(frames.index, seen=seen, limit=config.limit, seed=config.seed)
        self.settings.validation()
        self.deltas = Deltas(frames.index, [f for f in subject.factors if f in get_args(FrameKind)])
        new_kinds = set(pose_kinds(frames.index)) - set(self.deltas.kinds or pose_kinds(frames.index))
        if subject.operator is not None and (new_kinds or self.deltas.factors != subject.factors):
            raise UserError(
                f"{frames.folder} varies in {', '.join([*self.deltas.factors, *sorted(new_kinds)])}, but the run's "
                f"operator knows {', '.join(subject.factors)}; evaluate on a data set that varies as the run's own does"
            )
        self.moves = {poses: self._draw_moves(poses) for poses in self.settings.poses}
        self._accuracy: list[dict[str, Any]] = []
        self._curve: list[dict[str, Any]] = []
        self._trials: list[dict[str, Any]] = []
        self._predictions = pd.DataFrame()
        self._probes: dict[tuple[int, float], tuple[Probe, Tensor]] = {}

    def run(self) -> Results:
        self.linear()
        self.knn()
        if self.config.finetune.steps:
            self.finetuning()
        equivariance = self.equivariance()
        self.features.save()
        return Results(
            accuracy=self.accuracy,
            equivariance=equivariance,
            curve=pd.DataFrame(self._curve),
            trials=pd.DataFrame(self._trials),
            predictions=self._predictions,
        )

    @property
    def accuracy(self) -> pd.DataFrame:
        """What was measured so far, one row a setting."""
        return pd.DataFrame(self._accuracy)

    def linear(self) -> None:
        """Linear classifiers on the frozen encoder's embeddings."""
        every = [
            *(rows for p in self.config.proportions for _, rows in self._tests(p)),
            *self.settings.validation(),
            *(self.settings.training(p).all for p in self.config.proportions),
            *(moves.rows for sets in self.moves.values() for moves in sets.values()),
        ]
        self.features(np.unique(np.concatenate(every)))  # all at once, in large batches
        self.features.save()
        for option, proportion in self._combinations():
            probe, scores = self._probe(option, proportion)
            best = choose(scores)
            for (name, rate), score in zip(self.config.probe.trials, scores.tolist(), strict=True):
                self._note_trial("linear", option, proportion, name, rate, score)
            self._test("linear", option, proportion, partial(self._probed, probe, best))

    def _probe(self, option: int, proportion: float) -> tuple[Probe, Tensor]:
        """All trials of linear evaluation, and their scores (G,) on validation instances; trained once."""
        if (option, proportion) not in self._probes:
            self._probes[option, proportion] = self._fitted(option, proportion)
        return self._probes[option, proportion]

    def _fitted(self, option: int, proportion: float) -> tuple[Probe, Tensor]:
        rows = self.settings.training(proportion)
        probe = Probe(self.config.probe, self.subject.encoder.dim, len(self.frames.classes))
        groups = [(self.features(r), self.labels(r)) for r in (rows.varying, rows.typical)]
        probe.fit(groups[0], groups[1], self.config.seed, self._neighbours(option))
        scores = torch.stack([probe.accuracy(self.features(r), self.labels(r)) for r in self.settings.validation()])
        return probe, scores.mean(dim=0)

    def _start(self, option: int, proportion: float) -> Linear | None:
        """The classifier that finetuning begins with."""
        if self.config.finetune.start == "zero":
            return None
        probe, scores = self._probe(option, proportion)
        return probe.trial(choose(scores))

    def finetuning(self) -> None:
        """Encoder and classifier together; a copy, so that the subject stays as it was."""
        config = self.config.finetune
        for option, proportion in self._combinations():
            rows = self.settings.training(proportion)
            best, best_score = None, -1.0
            for name, rate in config.trials:
                self.say(f"finetuning at {100 * proportion:g} % diverse, {name}, rate {rate:g}")
                try:
                    model = finetune(
                        self.subject.encoder, self.frames, rows, name, rate, config, self.config.seed,
                        self._neighbours(option), self._start(option, proportion),
                    )  # fmt: skip
                except DivergedError as error:
                    self.say(str(error))
                    self._note_trial("finetune", option, proportion, name, rate, math.nan)
                    continue
                score = float(np.mean([
                    float((predict(model, self.frames, r) == self.labels(r)).double().mean())
                    for r in self.settings.validation()
                ]))  # fmt: skip
                self._note_trial("finetune", option, proportion, name, rate, score)
                if score > best_score:
                    best, best_score = model, score
            if best is None:
                raise UserError(
                    f"finetuning at {100 * proportion:g} % diverse diverged at every rate; try lower --finetune.rates"
                )
            self._test("finetune", option, proportion, partial(predict, best, self.frames))

    def knn(self) -> None:
        """Nearest neighbours among the supervised training frames, both kinds weighted by their number."""
        for proportion in self.config.proportions:
            rows = self.settings.training(proportion).all
            rows = np.random.default_rng(self.config.seed).permutation(rows)[: self.config.limit or None]
            bank, labels = self.features(rows), self.labels(rows)
            for (setting, poses), test in self._tests(proportion):
                # In parts: all queries against a bank without a limit would not fit into memory.
                parts = np.array_split(test, -(-len(test) // 1024))
                right = [len(p) * knn_accuracy(bank, labels, self.features(p), self.labels(p)) for p in parts]
                self._note("knn", 1, proportion, poses, setting, sum(right) / len(test))

    def equivariance(self) -> pd.DataFrame:
        """Retrieval by moved embeddings, and regression of the relative pose, on known and unknown instances."""
        rows = [row for poses in self.settings.poses for row in self._equivariance(poses)]
        return pd.DataFrame(rows, columns=EQUIVARIANCE)

    def _draw_moves(self, poses: str) -> dict[str, Moves]:
        """Moves of the instances that the encoder saw in all poses, of validation instances and of unknown ones."""
        index = self.frames.index
        frames = index[index["duplicate_of"].isna() & (index["pose"] == poses)]
        varies = self.settings.varies(frames, self.subject.seen)
        known, validation = frames[varies], frames[frames.index.isin(self.settings.validation_frames.index)]
        # Where every class is one object, those seen in one pose are the unknown ones to the operator.
        new = ~varies & ~frames.index.isin(validation.index) if self.settings.objects else frames["split"] == "test"
        unknown = frames[new]
        if unknown.empty:
            raise UserError(
                f"{self.frames.folder} has no test instances in {poses} poses, so that nothing can be said about "
                "unknown objects; make one with more instances a class, or a larger --test"
            )
        return {
            name: draw_moves(part, self.config.pairs, self.config.seed)
            for name, part in (("known", known), ("validation", validation), ("unknown", unknown))
        }

    def _equivariance(self, poses: str) -> Iterator[dict[str, Any]]:
        operator = self.subject.operator
        for name in ("known", "unknown"):
            moves, pose = self.moves[poses][name], self._regress(poses, name)
            parts: dict[str, slice | Tensor] = {"whole": slice(None)}
            if operator is not None:
                delta = torch.from_numpy(self.deltas(moves.source, moves.target))
                parts = {"moved": operator.moved_dims(delta), **parts}
            for part, dims in parts.items():
                row: dict[str, Any] = {
                    "method": self.subject.method, "arm": self.subject.arm, "poses": poses, "instances": name,
                    "part": part, "seed": self.subject.seed,
                }  # fmt: skip
                if operator is not None:
                    found = retrieve(operator, moves, self.features, self.deltas, dims)
                    row |= asdict(found)
                    chance = float(np.mean([np.mean(1 / np.arange(1, len(c) + 1)) for c in moves.candidates]))
                    if part == "moved" and leaks(found, chance):
                        self.say(
                            f"the coordinates leak: on {name} instances in {poses} poses their own t finds the target "
                            f"(MRR {found.mrr:.2f}), that of another instance's equal move does not "
                            f"({found.mrr_transfer:.2f})"
                        )
                yield row | {"pose_r2": pose.r2, "pose_degrees": pose.degrees, "constant_r2": pose.constant_r2}

    def _regress(self, poses: str, instances: str) -> PoseRegression:
        """Learns from the moves of every second known instance, and is tested on the other known or on the unknown."""
        known, tested = self.moves[poses]["known"], self.moves[poses][instances]
        learned, validation = known.instance % 2 == 0, self.moves[poses]["validation"]
        return regress_pose(
            self._move_pairs(known, learned),
            self._move_pairs(validation),
            self._move_pairs(tested, ~learned if instances == "known" else slice(None)),
        )

    def _move_pairs(self, moves: Moves, chosen: NDArray[np.bool_] | slice = slice(None)) -> tuple[Tensor, Tensor]:
        first, second = moves.source[chosen], moves.target[chosen]
        z = torch.cat([self.features(first), self.features(second)], dim=1)
        return z, relative_quaternions(self._rotations, first, second)

    @cached_property
    def _rotations(self) -> NDArray[np.float64]:
        return np.stack(self.frames.index["rotation"].to_list()).reshape(-1, 3, 3).astype(np.float64)

    def labels(self, rows: Rows) -> Tensor:
        return torch.from_numpy(self.frames.labels[rows])

    def _probed(self, probe: Probe, trial: int, rows: Rows) -> Tensor:
        return probe.predict(self.features(rows), trial)

    def _combinations(self) -> list[tuple[int, float]]:
        return [(option, p) for option in self.config.options for p in self.config.proportions]

    def _neighbours(self, option: int) -> Neighbours | None:
        if option == 1:
            return None
        assert self.subject.operator is not None
        assert self.subject.coordinates is not None
        return NeighbourSampler(self.subject.operator, self.subject.coordinates, self.config.neighbours)

    def _tests(self, proportion: float) -> Iterator[tuple[tuple[str, str], Rows]]:
        for poses in self.settings.poses:
            for setting in SETTINGS:
                rows = self.settings.test(setting, poses, proportion)
                if len(rows):
                    yield (setting, poses), rows

    def _test(self, phase: str, option: int, proportion: float, answers: Callable[[Rows], Tensor]) -> None:
        """Tests a classifier in every setting, and writes its accuracy by angle down."""
        known: dict[int, int] = {}
        for (setting, poses), rows in self._tests(proportion):
            fresh = rows[[int(r) not in known for r in rows]]
            known |= dict(zip(fresh.tolist(), answers(fresh).tolist(), strict=True))
            right = np.array([known[int(r)] for r in rows]) == self.frames.labels[rows]
            self._note(phase, option, proportion, poses, setting, float(right.mean()))
            if setting in ("known_new", "unknown_diverse"):
                self._note_curve(phase, option, proportion, poses, setting, rows, right)
        if phase == "linear" and option == 1 and proportion == max(self.config.proportions):
            rows = np.array(sorted(known), np.int64)
            found = pd.Series([self.frames.classes[known[int(r)]] for r in rows])
            true = self.frames.index["class"].to_numpy(str)[rows]
            self._predictions = pd.DataFrame({"row": rows, "class": true, "predicted": found})

    def _note(self, phase: str, option: int, proportion: float, poses: str, setting: str, share: float) -> None:
        self._accuracy.append({
            "method": self.subject.method, "arm": self.subject.arm, "phase": phase, "option": option,
            "diverse": round(100 * proportion, 6), "poses": poses, "setting": setting, "seed": self.subject.seed,
            "top1": 100 * share,
        })  # fmt: skip

    def _note_trial(
        self, phase: str, option: int, proportion: float, optimiser: str, rate: float, score: float
    ) -> None:
        self._trials.append({
            "method": self.subject.method, "arm": self.subject.arm, "phase": phase, "option": option,
            "diverse": round(100 * proportion, 6), "seed": self.subject.seed, "optimiser": optimiser, "rate": rate,
            "validation": 100 * score,
        })  # fmt: skip

    def _note_curve(
        self, phase: str, option: int, proportion: float, poses: str, setting: str, rows: Rows, right: NDArray[np.bool_]
    ) -> None:
        angles = self.frames.index["angle"].to_numpy(np.float64)[rows]
        for angle in np.unique(angles):
            at = angles == angle
            self._curve.append({
                "method": self.subject.method, "arm": self.subject.arm, "phase": phase, "option": option,
                "diverse": round(100 * proportion, 6), "poses": poses, "setting": setting, "seed": self.subject.seed,
                "angle": float(angle), "frames": int(at.sum()), "top1": 100 * float(right[at].mean()),
            })  # fmt: skip
