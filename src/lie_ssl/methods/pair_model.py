"""A method together with what it learns from pairs: X, X Frames and X Lie are one model with different weights.

Shape letters: B batch, C channels, H height, W width, F factors, M embedding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from lie_ssl.contrast import FramesLoss
from lie_ssl.errors import UserError
from lie_ssl.lie import LieLoss, LieOperator
from lie_ssl.methods.draws import Draws
from lie_ssl.methods.method import Method, SSLOutput
from lie_ssl.methods.objective import ObjectiveConfig, OperatorConfig


class PairOutput(NamedTuple):
    """Of one batch of pairs."""

    total: Tensor
    terms: dict[str, Tensor]  # unweighted, detached, for the log; `ssl` is that of both frames together
    t: Tensor | None = None  # (B', D) coordinates of the paired rows, where there is an operator


class PairModel(nn.Module):
    """L = w_ssl (L_ssl(x) + L_ssl(x')) + what the weights of the objective ask for beside it."""

    def __init__(self, method: Method, objective: ObjectiveConfig, factors: Sequence[str] = ("pose",)) -> None:
        super().__init__()
        self.method, self.objective = method, objective
        dim = method.encoder.dim
        self.frames_loss: FramesLoss | None = None
        self.lie_loss: LieLoss | None = None
        # The operator draws its own numbers: what comes before and after is the same with and without it.
        with torch.random.fork_rng(devices=[]):
            if objective.frames > 0:
                self.frames_loss = FramesLoss(dim, temperature=objective.temperature, batch_norm=objective.batch_norm)
            if objective.moves:
                self.lie_loss = build_lie_loss(dim, objective, factors)

    @property
    def operator(self) -> LieOperator | None:
        return None if self.lie_loss is None else self.lie_loss.operator

    def groups(self) -> dict[str, list[nn.Parameter]]:
        """The trained parameters by what they belong to; gradients are clipped group by group."""
        encoder = trained(self.method.encoder)
        operator = [] if self.operator is None else trained(self.operator)
        taken = {id(p) for p in (*encoder, *operator)}
        groups = {"encoder": encoder, "operator": operator, "heads": [p for p in trained(self) if id(p) not in taken]}
        return {name: parameters for name, parameters in groups.items() if parameters}

    def forward(self, x: Tensor, x_next: Tensor, delta: Tensor, paired: Tensor, draws: Draws) -> PairOutput:
        """(B, C, H, W) twice, in [0, 1]; (B, F); (B,) False where there is one frame only; random numbers."""
        total = x.new_zeros(())
        terms: dict[str, Tensor] = {}
        outputs: list[SSLOutput] = []
        if self.objective.ssl > 0 or self.objective.view == "ssl":
            outputs = self.method([x, x_next], [draws.named("first"), draws.named("second")])
            ssl = outputs[0].loss + outputs[1].loss
            total = self.objective.ssl * ssl
            terms["ssl"] = ssl
            terms |= {name: outputs[0].terms[name] + outputs[1].terms[name] for name in outputs[0].terms}
        t: Tensor | None = None
        if self.objective.pairs:
            z, z_next = self._embeddings(x, x_next, paired, outputs)
            own = z[paired]
            negatives = z[~paired] if self.objective.singles else None
            with torch.autocast(x.device.type, enabled=False):  # half precision would blur small differences of z
                found, weighted, t = self._pair_terms(own, z_next, delta[paired], negatives)
            total, terms = total + weighted, terms | found
            # Distributed training wants a gradient for everything, also for what takes no part in this batch.
            total = total + 0.0 * sum(p.sum() for p in self._idle(ssl=bool(outputs), pairs=len(own) > 0))
        return PairOutput(total, {"loss": total.detach()} | {k: v.detach() for k, v in terms.items()}, t)

    def _embeddings(self, x: Tensor, x_next: Tensor, paired: Tensor, outputs: list[SSLOutput]) -> tuple[Tensor, Tensor]:
        """z of all rows (B, M), and z^g of the paired ones."""
        if self.objective.view == "ssl":
            return outputs[0].z.float(), outputs[1].z[paired].float()
        with frozen_statistics(self.method.encoder):
            z: Tensor = self.method.encoder(torch.cat([x, x_next[paired]]))
        return z[: len(x)].float(), z[len(x) :].float()

    def pair_terms(self, z: Tensor, z_next: Tensor, delta: Tensor) -> dict[str, Tensor]:
        """(B, M), (B, M), (B, F) -> the unweighted terms that are learned from pairs."""
        return self._pair_terms(z, z_next, delta, None)[0]

    def _pair_terms(
        self, z: Tensor, z_next: Tensor, delta: Tensor, negatives: Tensor | None
    ) -> tuple[dict[str, Tensor], Tensor, Tensor | None]:
        """The terms, their weighted sum, and t where there is an operator."""
        if self.frames_loss is not None:
            frames = self.frames_loss(z, z_next, negatives=negatives)
            return {"frames": frames}, self.objective.frames * frames, None
        assert self.lie_loss is not None
        moved = self.lie_loss(z, z_next, delta, negatives=negatives)
        names = ("lie", "euclidean", "coordinates", "invariant")
        return {name: getattr(moved, name) for name in names}, moved.total, moved.t.detach()

    def _idle(self, ssl: bool, pairs: bool) -> Iterator[nn.Parameter]:
        """Parameters of the heads and the operator that a batch leaves alone: it may lack an SSL loss, or pairs."""
        encoder = {id(p) for p in self.method.encoder.parameters()}
        for module, used in ((self.method, ssl), (self.frames_loss, pairs), (self.lie_loss, pairs)):
            if module is not None and not used:
                yield from (p for p in module.parameters() if id(p) not in encoder)


def build_lie_loss(dim: int, objective: ObjectiveConfig, factors: Sequence[str]) -> LieLoss:
    """The operator and its loss for embeddings of the given size."""
    return LieLoss(
        build_operator(dim, objective.operator, factors),
        lie=objective.lie,
        euclidean=objective.euclidean,
        coordinates=objective.coordinates,
        invariant=objective.invariant,
        temperature=objective.temperature,
        invariant_temperature=objective.invariant_temperature or None,
        batch_norm=objective.batch_norm,
        own_negative=objective.own_negative,
        detach_fixed=objective.detach_fixed,
        relative=objective.relative,
    )


def build_operator(dim: int, config: OperatorConfig, factors: Sequence[str]) -> LieOperator:
    """The operator; what does not fit the embedding or the data set is said in one sentence."""
    n_factors = len(factors)
    counts = config.generators * n_factors if len(config.generators) == 1 else config.generators
    sees = config.sees * n_factors if len(config.sees) == 1 else config.sees
    for name, found in (("generators", counts), ("sees", sees)):
        if len(found) != n_factors:
            raise UserError(
                f"objective.operator.{name} has {len(found)} entries, but the data set varies in {', '.join(factors)}"
            )
    standardised = [name in config.standardised for name in (factors if config.split_factors else factors[:1])]
    settings: dict[str, Any] = {
        name: getattr(config, name) for name in ("scale", "rank", "block_size") if getattr(config, name) > 0
    }
    try:
        return LieOperator(
            dim, counts, algebra=config.algebra, fixed=config.fixed, sees=sees, hidden=config.hidden or None,
            max_norm=config.max_norm or None, split_factors=config.split_factors, action=config.action,
            frequencies=config.frequencies, centred=config.centred, standardised=standardised, **settings,
        )  # fmt: skip
    except (ValueError, TypeError) as error:
        raise UserError(f"objective.operator does not fit an embedding of {dim}: {error}") from error


def trained(module: nn.Module) -> list[nn.Parameter]:
    return [p for p in module.parameters() if p.requires_grad]


@contextmanager
def frozen_statistics(module: nn.Module) -> Iterator[None]:
    """Batch-norm uses the statistics of the batch, as in training, but does not remember them."""
    layers = [m for m in module.modules() if isinstance(m, _BatchNorm) and m.track_running_stats]
    for layer in layers:
        layer.track_running_stats = False
    try:
        yield
    finally:
        for layer in layers:
            layer.track_running_stats = True
