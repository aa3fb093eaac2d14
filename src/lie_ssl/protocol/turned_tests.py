"""Tests on upright and rotated photographs: linear classifiers on features of one picture, or of its turned copies.

Shape letters: N photographs, K turned copies, D features, C classes, M embedding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lie_ssl.frames import FrameSet
from lie_ssl.frames.turned import Turned, test_rows
from lie_ssl.lie import LieOperator
from lie_ssl.protocol.probe import Linear, Probe, ProbeConfig, best_trial
from lie_ssl.training.upright import angle_posterior, best_angle, copy_weights

Rows = NDArray[np.int64]
By = Literal["accuracy", "loss"]
SMALLEST = 1e-12  # probability
View = Callable[[Rows], Tensor]  # rows of a data set -> features (rows, D)


class Scores(NamedTuple):
    """Accuracies from 0 to 1."""

    upright: float
    rotated: float

    @property
    def mean(self) -> float:
        return (self.upright + self.rotated) / 2


class Angles(NamedTuple):
    """Errors of read angles in degrees."""

    median: float
    mean: float
    within: float  # share within 30 degrees


class TurnedTests:
    """The labelled training pictures, and the validation and test pictures of a data set of rotated photographs.

    Args:
        frames: A data set of :func:`lie_ssl.frames.turned.import_turned`.
        turns: Its number of turned copies.
        probe: Settings of linear classifiers.
        seed: Their seed.
    """

    def __init__(self, frames: FrameSet, turns: int, probe: ProbeConfig, seed: int) -> None:
        self.frames, self.turns, self.probe, self.seed = frames, turns, probe, seed
        own = frames.index[(frames.index["split"] == "train") & frames.index["duplicate_of"].isna()]
        self._train, self._angle = own.index.to_numpy(np.int64), wrapped(own["angle"].to_numpy())
        self.validation, self.test = (test_rows(frames, split, turns) for split in ("validation", "test"))

    def training(self, within: float = 0.0) -> Rows:
        """The training pictures that are rotated by at most so many degrees; by default the upright ones."""
        return self._train[np.abs(self._angle) <= within]

    def labels(self, rows: Rows) -> Tensor:
        return torch.from_numpy(self.frames.labels[rows])

    def fit(self, view: View, within: float = 0.0, *, rotated: bool = False, by: By = "accuracy") -> Linear:
        """Trains classifiers on pictures rotated by at most `within` degrees, and takes the best on validation.

        Args:
            view: The features that they see.
            within: See :meth:`training`.
            rotated: Whether validation photographs are upright and rotated, or upright only.
            by: What is compared. A classifier that is averaged over copies needs honest probabilities: the loss.
        """
        rows = self.training(within)
        features, labels = view(rows), self.labels(rows)
        probe = Probe(self.probe, features.shape[1], len(self.frames.classes))
        probe.fit((features, labels), (features[:0], labels[:0]), self.seed)
        tests = [self.validation.upright, self.validation.rotated] if rotated else [self.validation.upright]
        trials = [probe.trial(i) for i in range(len(self.probe.trials))]
        found = [[score(c, view(rows[:, 0]), self.labels(rows[:, 0]), by) for c in trials] for rows in tests]
        return trials[best_trial(torch.tensor(found).mean(dim=0))]

    def single(self, view: View, classifier: Linear, at: Turned) -> Scores:
        """Classifies each picture as it is given."""
        return self._scores(lambda rows: probabilities(classifier, view(rows[:, 0])), at)

    def averaged(
        self, view: View, classifiers: Sequence[Linear], at: Turned, weights: Callable[[Rows], Tensor]
    ) -> Scores:  # fmt: skip
        """Classifies each picture by the mean of classifiers over its turned copies, weighted by `weights`: rows ->
        (N, K)."""

        def predicted(rows: Rows) -> Tensor:
            features = view(rows.ravel())
            each = torch.stack([probabilities(c, features) for c in classifiers]).mean(dim=0).unflatten(0, rows.shape)
            found: Tensor = (weights(rows)[:, :, None] * each).sum(dim=1)
            return found

        return self._scores(predicted, at)

    def _scores(self, predicted: Callable[[Rows], Tensor], at: Turned) -> Scores:
        return Scores(*(
            float((predicted(rows).argmax(dim=1) == self.labels(rows[:, 0])).double().mean()) for rows in at
        ))  # fmt: skip

    def relative(self, operator: LieOperator, z: View, at: Turned) -> Angles:
        """The angle between the upright and the rotated picture of a photograph, read from both."""
        first, second = at.upright[:, 0], at.rotated[:, 0]
        found = operator.align(z(first), z(second)).t.rad2deg()
        return self._angles(found, self._given(second) - self._given(first))

    def absolute(self, operator: LieOperator, z: View, at: Turned) -> Angles:
        """The angle of a rotated picture, read from it alone."""
        rows = at.rotated[:, 0]
        return self._angles(operator.read(z(rows)).t.rad2deg(), self._given(rows))

    def agreed(self, operator: LieOperator, z: View, at: Turned, sharpness: float) -> Angles:
        """The angle of a rotated picture, read from its turned copies."""
        posterior = self.posterior(operator, z, at.rotated, sharpness=sharpness)
        return self._angles(best_angle(posterior, self.turns)[0], self._given(at.rotated[:, 0]))

    def posterior(self, operator: LieOperator, z: View, rows: Rows, *, prior: float = 0, sharpness: float) -> Tensor:
        """(N, K) rows -> how likely each angle of the pictures is (N, T)."""
        copies = z(rows.ravel()).unflatten(0, rows.shape)
        return angle_posterior(operator, copies, prior=prior, sharpness=sharpness)

    def weights(self, operator: LieOperator, z: View, prior: float, sharpness: float) -> Callable[[Rows], Tensor]:
        """For :meth:`averaged`: how likely each copy is the upright one."""
        return lambda rows: copy_weights(
            self.posterior(operator, z, rows, prior=prior, sharpness=sharpness), self.turns
        )  # fmt: skip

    def even(self, rows: Rows) -> Tensor:
        """For :meth:`averaged`: the same weight for all copies."""
        return torch.full(rows.shape, 1 / self.turns)

    def _given(self, rows: Rows) -> NDArray[np.float64]:
        found: NDArray[np.float64] = self.frames.index["angle"].to_numpy()[rows]
        return found

    @staticmethod
    def _angles(found: Tensor, true: NDArray[np.float64]) -> Angles:
        errors = np.abs(wrapped(found.detach().double().numpy() - true))
        return Angles(float(np.median(errors)), float(errors.mean()), float((errors <= 30).mean()))


def wrapped(degrees: NDArray[np.float64]) -> NDArray[np.float64]:
    """Degrees in [-180, 180)."""
    return np.mod(degrees + 180, 360) - 180


def score(classifier: Linear, features: Tensor, labels: Tensor, by: By) -> float:
    """The accuracy, or the negative loss; larger is better."""
    found = probabilities(classifier, features)
    if by == "accuracy":
        return float((found.argmax(dim=1) == labels).double().mean())
    return float(found.gather(1, labels[:, None]).clamp_min(SMALLEST).log().mean())


def probabilities(classifier: Linear, features: Tensor) -> Tensor:
    """(N, D) -> (N, C)."""
    standardised = (features - classifier.mean) / classifier.std
    return (standardised @ classifier.weight.T + classifier.bias).softmax(dim=1)
