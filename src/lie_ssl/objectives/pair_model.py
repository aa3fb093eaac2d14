"""A self-supervised method together with an objective on pairs.

Shape letters: B batch, C channels, H height, W width, F factors, M embedding, D coordinates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from lie_ssl.errors import UserError
from lie_ssl.lie import LieOperator
from lie_ssl.methods.adapted import AdaptedEncoder, Head
from lie_ssl.methods.draws import Draws
from lie_ssl.methods.encoders import Encoder
from lie_ssl.methods.method import Method, SSLOutput
from lie_ssl.objectives.base import Mover, ObjectiveConfig, Pairs
from lie_ssl.objectives.prediction import FeaturePrediction


class PairOutput(NamedTuple):
    """The output of the model for one batch of pairs."""

    total: Tensor
    terms: dict[str, Tensor]  # unweighted, detached, for the log; `ssl` is the sum over both frames
    t: Tensor | None = None  # (B', D) coordinates of the paired rows, if embeddings are moved


class PairModel(nn.Module):
    """L = w_ssl (L_ssl(x) + L_ssl(x')) + the terms of the objective."""

    def __init__(self, method: Method, config: ObjectiveConfig, factors: Sequence[str] = ("pose",)) -> None:
        super().__init__()
        self.method, self.config = method, config
        # The objective has its own random stream, so that everything else is the same with every objective.
        with torch.random.fork_rng(devices=[]):
            self.objective = config.build(method.encoder.dim, factors)
            self.prediction = build_prediction(method.encoder, config)
        if isinstance(self.mover, LieOperator):
            method.encoder.output = self.mover.normalisation()
        self._unused = self.objective.unused()
        if config.ssl == 0 and config.view != "ssl":  # no term uses the method's own layers
            self._unused += without(list(method.encoder.parameters()), trained(method))
        for parameter in self._unused:
            parameter.requires_grad_(False)

    @property
    def mover(self) -> Mover | None:
        """The module that moves embeddings, if the objective has one."""
        return self.objective.mover

    @property
    def operator(self) -> LieOperator | None:
        """The module that moves embeddings, if it is a Lie operator."""
        return self.mover if isinstance(self.mover, LieOperator) else None

    def groups(self) -> dict[str, list[nn.Parameter]]:
        """The parameters of the optimiser by group; gradients are clipped group by group.

        The groups are encoder, operator and heads, and stages for those of an adapted encoder that are not frozen.
        Heads that no term uses are among them, without gradients, so that the optimiser's state of earlier runs fits.
        """
        own = self.method.encoder
        stages = own.stage_parameters() if isinstance(own, AdaptedEncoder) else []
        encoder = without(stages, trained(own))
        operator: list[nn.Parameter] = trained(self.mover) if isinstance(self.mover, nn.Module) else []
        unused = {id(p) for p in self._unused}
        others = [p for p in self.parameters() if p.requires_grad or id(p) in unused]
        heads = without([*stages, *encoder, *operator], others)
        groups = {"encoder": encoder, "stages": stages, "operator": operator, "heads": heads}
        return {name: parameters for name, parameters in groups.items() if parameters}

    def forward(
        self, x: Tensor, x_next: Tensor, delta: Tensor, paired: Tensor, draws: Draws, pose: Tensor | None = None,
        x_more: Tensor | None = None, objects: Tensor | None = None,
    ) -> PairOutput:  # fmt: skip
        """Computes the loss of a batch.

        Args:
            x, x_next: Pictures (B, C, H, W) in [0, 1].
            delta: Differences of the poses (B, F).
            paired: (B,), False for rows with one frame only.
            draws: Random numbers.
            pose: Poses of the first frames (B, F), for objectives that ask for them.
            x_more: The other frames of clips (B, L - 2, C, H, W), if the objective asks for clips.
            objects: Numbers of the objects (B,); None if all are different.
        """
        total = x.new_zeros(())
        terms: dict[str, Tensor] = {}
        outputs: list[SSLOutput] = []
        if self.config.ssl > 0 or self.config.view == "ssl":
            outputs = self.method([x, x_next], [draws.named("first"), draws.named("second")])
            ssl = outputs[0].loss + outputs[1].loss
            total = self.config.ssl * ssl
            terms["ssl"] = ssl
            terms |= {name: outputs[0].terms[name] + outputs[1].terms[name] for name in outputs[0].terms}
        t: Tensor | None = None
        if self.objective.needs_pairs:
            z, z_next, more = self._embeddings(x, x_next, x_more, paired, outputs)
            own = z[paired]
            negatives = z[~paired] if self.config.singles else None
            with torch.autocast(x.device.type, enabled=False):  # half precision would lose small differences of z
                poses = None if pose is None else pose[paired]
                numbers = None if objects is None else objects[paired]
                pairs = Pairs(own, z_next, delta[paired], negatives, more, self.config.pairs_per_object, poses, numbers)
                weighted, found, t = self.objective(pairs)
            total, terms = total + weighted, terms | found
            if self.prediction is not None:
                terms["predict"] = self._prediction_error(self.prediction, own, z_next, x[paired], x_next[paired])
                total = total + self.config.predict * terms["predict"]
            # Distributed training needs gradients for all parameters, also for those that this batch does not use.
            total = total + 0.0 * sum(p.sum() for p in self._idle(ssl=bool(outputs), pairs=len(own) > 0))
        return PairOutput(total, {"loss": total.detach()} | {k: v.detach() for k, v in terms.items()}, t)

    def _prediction_error(
        self, prediction: FeaturePrediction, z: Tensor, z_next: Tensor, x: Tensor, x_next: Tensor
    ) -> Tensor:  # fmt: skip
        """The error of predicting the stored features of each frame of the pairs (B', 1 + V, K) from the other one."""
        encoder, u = self.method.encoder, slice(self.config.identity_dims(self.method.encoder.dim))
        assert isinstance(encoder, AdaptedEncoder)
        targets, targets_next = encoder.targets(x), encoder.targets(x_next)
        error: Tensor = prediction(z[:, u], z_next[:, u], targets, targets_next)
        return error

    def _embeddings(
        self, x: Tensor, x_next: Tensor, x_more: Tensor | None, paired: Tensor, outputs: list[SSLOutput]
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """z of all rows (B, M), z^g of the paired ones, and the other frames of their clips (B', L - 2, M)."""
        if self.config.view == "ssl":
            return outputs[0].z.float(), outputs[1].z[paired].float(), None
        clips = [] if x_more is None else [x_more[paired].flatten(0, 1)]
        same = self.config.pairs_per_object  # rows in sequence with the same first frame, which is embedded once
        first = x[::same]
        with frozen_statistics(self.method.encoder):
            z: Tensor = self.method.encoder(torch.cat([first, x_next[paired], *clips])).float()
        rows = len(first) + int(paired.sum())
        more = None if x_more is None else z[rows:].unflatten(0, (-1, x_more.shape[1]))
        return z[: len(first)].repeat_interleave(same, dim=0), z[len(first) : rows], more

    def pair_terms(
        self, z: Tensor, z_next: Tensor, delta: Tensor, pose: Tensor | None = None, more: Tensor | None = None
    ) -> dict[str, Tensor]:
        """(B, M), (B, M), (B, F), poses (B, F) of the first frames, and for clips (B, L - 2, M) -> the unweighted terms
        of the objective."""
        terms: dict[str, Tensor] = self.objective(Pairs(z, z_next, delta, more=more, pose=pose)).terms
        return terms

    def _idle(self, ssl: bool, pairs: bool) -> Iterator[nn.Parameter]:
        """Parameters of the heads and the objective that a batch does not use, as it may lack an SSL loss or pairs."""
        encoder = {id(p) for p in self.method.encoder.parameters()}
        for module, used in ((self.method, ssl), (self.objective, pairs), (self.prediction, pairs)):
            if not used and module is not None:
                yield from (p for p in module.parameters() if p.requires_grad and id(p) not in encoder)


def build_prediction(encoder: Encoder, config: ObjectiveConfig) -> FeaturePrediction | None:
    """What predicts published features from u, if the settings ask for it."""
    if config.predict == 0:
        return None
    targets = encoder.head.target_count if isinstance(encoder, AdaptedEncoder) and isinstance(encoder.head, Head) else 0
    if not targets:
        raise UserError("objective.predict needs an adapted encoder whose head has a u; leave it out, or set it to 0")
    return FeaturePrediction(config.identity_dims(encoder.dim), targets)


def trained(module: nn.Module) -> list[nn.Parameter]:
    return [p for p in module.parameters() if p.requires_grad]


def without(taken: Sequence[nn.Parameter], parameters: Sequence[nn.Parameter]) -> list[nn.Parameter]:
    """The parameters that are not taken."""
    keys = {id(p) for p in taken}
    return [p for p in parameters if id(p) not in keys]


@contextmanager
def frozen_statistics(module: nn.Module) -> Iterator[None]:
    """Lets batch-norm use the statistics of the batch, as in training, without updating the running ones."""
    layers = [m for m in module.modules() if isinstance(m, _BatchNorm) and m.track_running_stats]
    for layer in layers:
        layer.track_running_stats = False
    try:
        yield
    finally:
        for layer in layers:
            layer.track_running_stats = True
