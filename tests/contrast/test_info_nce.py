"""InfoNCE between frames: several pairs of the same object in a batch are no negatives of each other."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from torch.nn import functional

from lie_ssl.contrast import FramesLoss, JoinedBatch, frames_info_nce
from lie_ssl.frames import FrameSet, PairSampler
from lie_ssl.frames.loader import pair_loader
from lie_ssl.lie import LieLoss, LieOperator
from lie_ssl.training.run import pretrain
from tests.training.adapted_runs import tiny_adapted

ROWS, DIM = 6, 8
OBJECTS = torch.tensor([0, 1, 0, 2, 1, 0])
DIFFERENT = torch.arange(ROWS)


def unit_vectors(rows: int, seed: int) -> torch.Tensor:
    return functional.normalize(torch.randn(rows, DIM, generator=torch.Generator().manual_seed(seed)), dim=1)


def naive(first: torch.Tensor, second: torch.Tensor, negatives: torch.Tensor, objects: torch.Tensor) -> list[float]:
    """With loops, from the definition."""
    losses = []
    for i in range(len(first)):
        total = 0.0
        for anchors, others in ((first, second), (second, first)):
            score = [float(anchors[i] @ x) / 0.2 for x in negatives] + [float(anchors[i] @ others[i]) / 0.2]
            for j in range(len(first)):
                if objects[j] != objects[i]:
                    score += [float(anchors[i] @ anchors[j]) / 0.2, float(anchors[i] @ others[j]) / 0.2]
            positive = float(anchors[i] @ others[i]) / 0.2
            total += math.log(sum(math.exp(s - positive) for s in score)) / 2
        losses.append(total)
    return losses


@pytest.mark.parametrize("objects", [OBJECTS, DIFFERENT, torch.zeros(ROWS, dtype=torch.long)])
def test_against_loops(objects: torch.Tensor) -> None:
    first, second, negatives = (unit_vectors(n, seed) for seed, n in enumerate((ROWS, ROWS, 3)))
    found = frames_info_nce(first, second, negatives, temperature=0.2, objects=objects)
    assert found.tolist() == pytest.approx(naive(first, second, negatives, objects), rel=1e-4)


def test_without_repeated_objects_nothing_changes() -> None:
    first, second = unit_vectors(ROWS, 0), unit_vectors(ROWS, 1)
    plain = frames_info_nce(first, second, temperature=0.2)
    assert torch.equal(frames_info_nce(first, second, temperature=0.2, objects=DIFFERENT), plain)


def test_both_losses_leave_them_out() -> None:
    torch.manual_seed(0)
    z, z_next = torch.randn(2, ROWS, DIM)
    frames = FramesLoss(DIM, temperature=0.2, batch_norm=False)
    lie = LieLoss(LieOperator(DIM, 1, algebra="skew", fixed=DIM // 2), invariant=1.0, lie=0.0, batch_norm=False)
    assert frames(z, z_next, objects=OBJECTS) < frames(z, z_next)
    delta = torch.rand(ROWS)
    assert lie(z, z_next, delta, objects=OBJECTS).invariant < lie(z, z_next, delta).invariant


def test_processes_know_the_objects_of_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    loss = FramesLoss(DIM, temperature=0.2, batch_norm=False)
    z, z_next = torch.randn(2, ROWS, DIM)
    whole = loss(z, z_next, objects=OBJECTS).detach()
    everything = {ROWS: (z, z_next, OBJECTS)}
    shares = []
    for rank, rows in enumerate((slice(0, 4), slice(4, ROWS))):
        joined = JoinedBatch((4, 2), rank)
        own = (z[rows], z_next[rows], OBJECTS[rows])

        def gather(self: JoinedBatch, x: torch.Tensor, own: tuple[torch.Tensor, ...] = own) -> torch.Tensor:
            return next(e for e, o in zip(everything[ROWS], own, strict=True) if o is x)

        monkeypatch.setattr(JoinedBatch, "of", lambda rows, device, joined=joined: joined)
        monkeypatch.setattr(JoinedBatch, "gather", gather)
        shares.append(loss(own[0], own[1], objects=own[2]).detach())
    torch.testing.assert_close(sum(shares) / 2, whole)


def test_batches_number_their_objects(tiny: FrameSet) -> None:
    sampler = PairSampler(tiny.index, batch_size=24, passes=3, singles=False)
    for batch, tensors in zip(sampler, pair_loader(tiny, sampler), strict=True):
        names = tiny.index.loc[batch.first, ["class", "instance"]].agg("/".join, axis=1).to_numpy()
        same = names[:, None] == names[None]
        assert (same == (batch.objects[:, None] == batch.objects[None])).all()
        assert same.sum() > len(names)  # the data set has nine objects that are seen in all poses
        assert tensors["objects"].tolist() == batch.objects.tolist()


def test_a_batch_may_be_larger_than_the_number_of_objects(tiny: FrameSet, tmp_path: Path) -> None:
    """With objects as their own negatives, a contrast cannot fall below the logarithm of their repetitions."""
    config = tiny_adapted(tiny, tmp_path / "banks", "frames", optim__batch=96, optim__steps=40, objective__predict=0.0)
    out = pretrain(config, tmp_path / "run")
    last = (out / "metrics.csv").read_text().splitlines()
    heads = last[0].split(",")
    losses = [
        float(line.split(",")[heads.index("frames")]) for line in last[1:] if line.split(",")[heads.index("frames")]
    ]
    assert losses[-1] < math.log(96 / 9) / 2
