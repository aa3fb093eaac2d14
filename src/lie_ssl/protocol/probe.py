"""Linear evaluation: trains classifiers with all learning rates and optimisers of a grid at once on stored features.

Shape letters: N frames, B batch, M embedding, C classes, G trials (one for each optimiser and learning rate).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from lie_ssl.errors import UserError
from lie_ssl.methods.draws import derive_seed
from lie_ssl.serialization import check_numbers
from lie_ssl.storage.limits import check_steps
from lie_ssl.threads import is_small, one_thread
from lie_ssl.training.schedule import half_cosine

OptimiserName = Literal["adamw", "sgd"]
MAX_BATCH = 1_000_000
Neighbours = Callable[[Tensor, torch.Generator], list[Tensor]]


@dataclass(frozen=True)
class ProbeConfig:
    """Settings of linear evaluation."""

    steps: int = 2000
    """Steps per trial."""
    batch: int = 256
    """Frames per batch, half of them of instances shown in all poses."""
    rates: tuple[float, ...] = (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4)
    """Learning rates to try."""
    optimisers: tuple[OptimiserName, ...] = ("adamw", "sgd")
    """Optimisers to try, each with every rate."""
    normalise: bool = True
    """Standardise embeddings before the classifier, like the batch-norm in MAE's linear probe."""

    def __post_init__(self) -> None:
        check_steps("probe.steps", self.steps)
        check_numbers(self, "probe")
        if self.batch > MAX_BATCH:
            raise UserError(f"probe.batch is {self.batch:.3g}, but it must be at most {MAX_BATCH:,} frames")
        if self.steps < 1 or self.batch < 2 or self.batch % 2:
            raise UserError(
                f"probe.steps is {self.steps} and probe.batch {self.batch}, but steps must be 1 or more, and a batch "
                "must be even and 2 or more"
            )
        if not self.rates or min(self.rates) <= 0 or not self.optimisers:
            raise UserError("a probe needs learning rates above 0, and at least one optimiser: give adamw, sgd or both")
        if len(set(self.optimisers)) < len(self.optimisers):
            raise UserError(f"probe.optimisers is {self.optimisers}, but each optimiser may be given only once")

    @property
    def trials(self) -> list[tuple[OptimiserName, float]]:
        """(optimiser, rate) of each of the G trials."""
        return [(o, r) for o in self.optimisers for r in self.rates]


class Linear(NamedTuple):
    """A classifier of standardised embeddings."""

    mean: Tensor  # (M,)
    std: Tensor  # (M,)
    weight: Tensor  # (C, M)
    bias: Tensor  # (C,)


class Probe:
    """G linear classifiers, one per trial. :meth:`fit` trains them on the same batches; :meth:`accuracy` tests each."""

    def __init__(self, config: ProbeConfig, dim: int, classes: int) -> None:
        self.config = config
        count = len(config.trials)
        self.weight, self.bias = torch.zeros(count, classes, dim), torch.zeros(count, classes)
        self.mean, self.std = torch.zeros(dim), torch.ones(dim)

    @torch.no_grad()
    def fit(
        self,
        diverse: tuple[Tensor, Tensor],
        typical: tuple[Tensor, Tensor],
        seed: int,
        neighbours: Neighbours | None = None,
    ) -> Probe:
        """Trains all classifiers.

        Args:
            diverse: Features (N, M) and labels (N,) of instances shown in all poses.
            typical: The same of the other instances. Both are sampled 1:1.
            seed: Seed of the batches.
            neighbours: Adds moved embeddings to every batch (Option 2).

        Returns:
            This object.
        """
        groups = [g for g in (diverse, typical) if len(g[0])]
        if not groups:
            raise UserError("there are no frames to train the classifier on; choose a data set with training instances")
        check_finite(*(g[0] for g in groups))
        if self.config.normalise:
            # Both groups have the same weight, as in the batches.
            means = torch.stack([g[0].mean(dim=0) for g in groups])
            self.mean = means.mean(dim=0)
            self.std = torch.stack([(g[0] - self.mean).square().mean(dim=0) for g in groups]).mean(dim=0).sqrt() + 1e-6
        generator = torch.Generator().manual_seed(derive_seed(seed, "probe"))
        step = _Step(self.config, self.weight, self.bias)
        share = self.config.batch // len(groups)
        with one_thread(is_small(self.config.batch * self.weight.numel())):
            for i in range(self.config.steps):
                chosen = [(g, torch.randint(len(g[0]), (share,), generator=generator)) for g in groups]
                z = torch.cat([g[0][rows] for g, rows in chosen])
                labels = torch.cat([g[1][rows] for g, rows in chosen])
                views = [z, *(neighbours(z, generator) if neighbours else [])]
                step(i, self._standardised(torch.cat(views)), labels.repeat(len(views)))
        return self

    @torch.no_grad()
    def accuracy(self, features: Tensor, labels: Tensor) -> Tensor:
        """(N, M), (N,) -> (G,) accuracy of every trial, from 0 to 1."""
        return torch.stack([(self.predict(features, g) == labels).double().mean() for g in range(len(self.weight))])

    @torch.no_grad()
    def predict(self, features: Tensor, trial: int) -> Tensor:
        """(N, M) -> (N,) indices of the classes predicted by one trial."""
        check_finite(features)
        return (self._standardised(features) @ self.weight[trial].T + self.bias[trial]).argmax(dim=1)

    def trial(self, trial: int) -> Linear:
        """The classifier of one trial."""
        return Linear(self.mean, self.std, self.weight[trial], self.bias[trial])

    def _standardised(self, features: Tensor) -> Tensor:
        return (features - self.mean) / self.std


class _Step:
    """One step of all trials. The gradient is computed in closed form, which is faster than autograd."""

    def __init__(self, config: ProbeConfig, weight: Tensor, bias: Tensor) -> None:
        self.config = config
        # The trials of an optimiser are adjacent, so a slice selects them.
        names = [name for name, _ in config.trials]
        self.adamw, self.sgd = (_slice_of(names, o) for o in ("adamw", "sgd"))
        self.rates = torch.tensor([rate for _, rate in config.trials])[:, None, None]
        self.parameters = (weight, bias[:, :, None])
        self.first = [torch.zeros_like(p) for p in self.parameters]
        self.second = [torch.zeros_like(p[self.adamw]) for p in self.parameters]

    @torch.no_grad()
    def __call__(self, i: int, x: Tensor, labels: Tensor) -> None:
        weight, bias = self.parameters
        trials, classes = weight.shape[:2]
        # One matrix product for all trials.
        logits = torch.addmm(bias.flatten(), x, weight.flatten(0, 1).T).view(len(x), trials, classes)
        error = logits.softmax(dim=2)
        error[torch.arange(len(x)), :, labels] -= 1
        flat = error.view(len(x), -1).div_(len(x))
        gradients = ((flat.T @ x).view_as(weight), flat.sum(dim=0).view_as(bias))
        rates = self.rates * half_cosine(i, self.config.steps)
        for p, g, m, v in zip(self.parameters, gradients, self.first, self.second, strict=True):
            m.mul_(0.9)
            m[self.adamw].add_(g[self.adamw], alpha=0.1)
            m[self.sgd].add_(g[self.sgd])
            v.mul_(0.999).addcmul_(g[self.adamw], g[self.adamw], value=0.001)
            size = (v / (1 - 0.999 ** (i + 1))).sqrt_().add_(1e-8)
            p[self.adamw].addcdiv_(m[self.adamw] * rates[self.adamw], size, value=-1 / (1 - 0.9 ** (i + 1)))
            p[self.sgd].sub_(m[self.sgd] * rates[self.sgd])


def _slice_of(names: list[OptimiserName], name: str) -> slice:
    """The slice of the adjacent occurrences of a name."""
    places = [i for i, each in enumerate(names) if each == name]
    return slice(places[0], places[-1] + 1) if places else slice(0)


def best_trial(scores: Tensor) -> int:
    """The index of the best validation accuracy (G,); the first one in case of a tie."""
    return int(scores.argmax())


def check_finite(*features: Tensor) -> None:
    """Rejects embeddings that are infinite or not a number."""
    for z in features:
        if not bool(torch.isfinite(z).all()):
            rows = int((~torch.isfinite(z).all(dim=1)).sum())
            raise UserError(
                f"{rows} of {len(z)} embeddings are not finite, because the encoder's weights are damaged or its run "
                "diverged; evaluate another checkpoint or encoder"
            )
