"""Checks during a run: k-NN accuracy, losses on validation pairs, and diagnostics of the operator."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict

import numpy as np
import pandas as pd
import torch
from torch import Tensor
from torch import distributed as dist

from lie_ssl.contrast.gather import is_distributed
from lie_ssl.frames import FrameSet, PairSampler
from lie_ssl.frames.pairs import Instance, seen_instances, varied_factors
from lie_ssl.lie import LieOperator
from lie_ssl.lie.diagnostics import diagnose
from lie_ssl.methods.adapted import AdaptedEncoder
from lie_ssl.methods.features import embed_frames, knn_accuracy, to_float
from lie_ssl.objectives.pair_model import PairModel

BANK, QUERIES, PAIRS, CALIBRATION = 2000, 1000, 256, 512


class Checks:
    """Measures a model on a fixed sample of a data set.

    The bank of the k-NN classifier is drawn from the training frames, the queries from the validation instances in all
    poses. Validation pairs have 2D poses if there are any. Without validation instances, pairs of training instances
    are used, and there is no k-NN accuracy; nor is there one with a single class.
    """

    def __init__(
        self, frames: FrameSet, batch: int, diverse: float, seed: int, rank: int = 0, world: int = 1,
        kinds: Sequence[str] = (), clip: int = 2,
    ) -> None:  # fmt: skip
        self.frames = frames
        random = np.random.default_rng((seed, 1))
        self.split = "validation" if "validation" in set(frames.index["split"]) else "train"
        bank = np.concatenate(
            [np.array([i.typical]) if not i.kinds else np.concatenate(i.kinds)
             for i in seen_instances(frames.index, "train", diverse)]
        )  # fmt: skip
        own = frames.index[(frames.index["split"] == self.split) & frames.index["duplicate_of"].isna()]
        self.bank = np.sort(random.permutation(bank)[:BANK])
        self.queries = np.sort(random.permutation(own.index.to_numpy())[:QUERIES])
        self.knn = self.split == "validation" and len(frames.classes) > 1
        self.known = PairSampler(
            frames.index,
            batch_size=CALIBRATION,
            seed=seed,
            diverse=diverse,
            singles=False,
            kinds=kinds,
            drop_last=False,
        )
        varied = varied_factors(frames.index)
        self.pairs = validation_pairs(own, batch, diverse, seed, rank, world, kinds, varied, clip)

    @torch.no_grad()
    def run(self, model: PairModel) -> dict[str, float]:
        """Runs all checks; every process must call it, and all get the same numbers. A centred operator is calibrated
        first; no other part of the model changes."""
        model.eval()
        try:
            if model.operator is not None and model.operator.centred:
                self._calibrate(model, model.operator)
            result = {"knn": self._knn(model)} if self.knn else {}
            if model.objective.needs_pairs and self.pairs is not None:
                result |= self._pairs(model, self.pairs)
        finally:
            model.train()
        return result

    def _calibrate(self, model: PairModel, operator: LieOperator) -> None:
        """Sets the operator's centre and spread to those of the current encoder in eval mode, on training pairs."""
        batch = next(iter(self.known))
        rows = np.concatenate([batch.first, batch.second])
        z, z_next = embed_frames(model.method.encoder, self.frames, rows).to(_device(model)).chunk(2)
        operator.calibrate(z, z_next, torch.from_numpy(batch.delta).to(z.device))

    def _knn(self, model: PairModel) -> float:
        accuracy = torch.zeros(())
        if not is_distributed() or dist.get_rank() == 0:
            dims = recognised(model)
            bank, queries = (
                embed_frames(model.method.encoder, self.frames, r)[:, dims] for r in (self.bank, self.queries)
            )
            labels = [torch.from_numpy(self.frames.labels[rows]) for rows in (self.bank, self.queries)]
            accuracy += knn_accuracy(bank, labels[0], queries, labels[1])
        return float(_joined(accuracy.to(_device(model))))

    def _pairs(self, model: PairModel, sampler: PairSampler) -> dict[str, float]:
        sums: dict[str, Tensor] = {}
        pairs: list[tuple[Tensor, Tensor, Tensor]] = []
        for batch in sampler:
            others = [] if batch.more is None else list(batch.more.T)
            rows = np.concatenate([batch.first, batch.second, *others])
            images = to_float(torch.from_numpy(self.frames.inputs(rows)), _device(model))
            z, z_next, *more = model.method.encoder(images).chunk(2 + len(others))
            delta = torch.from_numpy(batch.delta).to(z.device)
            pose = torch.from_numpy(batch.pose).to(z.device)
            pairs.append((z, z_next, delta))
            clip = torch.stack(more, dim=1) if more else None
            for name, value in model.pair_terms(z, z_next, delta, pose, clip).items():
                sums[name] = sums.get(name, z.new_zeros(())) + value / len(sampler)
        result = {f"validation_{name}": float(_joined(v) / _world()) for name, v in sums.items()}
        if model.operator is not None:
            z, z_next, delta = (torch.cat(parts)[:PAIRS] for parts in zip(*pairs, strict=True))
            result |= asdict(diagnose(model.operator, z.float(), z_next.float(), delta))
        return result


def recognised(model: PairModel) -> slice:
    """The dimensions by which k-NN compares: the identity part of an adapted encoder, as v says the pose; else all."""
    if not isinstance(model.method.encoder, AdaptedEncoder) or model.operator is None:
        return slice(None)
    return slice(model.operator.fixed or None)


def validation_pairs(
    own: pd.DataFrame, batch: int, diverse: float, seed: int, rank: int, world: int, kinds: Sequence[str] = (),
    varied: Sequence[str] | None = None, clip: int = 2,
) -> PairSampler | None:  # fmt: skip
    """Pairs or clips of the given frames, the same at every check; None if no instance has two poses."""
    flat = own[own["pose"] == "2d"]
    index = flat if len(flat) else own
    if index.groupby(["class", "instance"]).size().max() < 2:
        return None
    split = str(index["split"].iloc[0])
    seen = seen_instances(index, split, diverse)
    instances = sum(bool(i.kinds) for i in seen)
    size = min(batch, instances) // world * world
    if size < max(2, world):
        return None
    distinct = distinct_pairs(seen)
    passes = max(1, round(PAIRS / instances) if distinct > PAIRS else distinct // instances)
    return PairSampler(
        index, batch_size=size, seed=seed, split=split, diverse=diverse, passes=passes, singles=False, kinds=kinds,
        varied=varied, clip=clip, rank=rank, world_size=world,
    )  # fmt: skip


def distinct_pairs(instances: Iterable[Instance]) -> int:
    """The number of ordered pairs of two frames of the same instance and kind."""
    return sum(len(kind) * (len(kind) - 1) for instance in instances for kind in instance.kinds)


def _device(model: PairModel) -> torch.device:
    return next(model.parameters()).device


def _world() -> int:
    return dist.get_world_size() if is_distributed() else 1


def _joined(value: Tensor) -> Tensor:
    value = value.detach().clone()
    if is_distributed():
        dist.all_reduce(value)
    return value
