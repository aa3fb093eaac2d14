"""A small batch for the objectives whose networks are told the move, references with loops, and steps in processes."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
from torch import Tensor, nn

from lie_ssl.cli import main
from lie_ssl.contrast import ProjectionHead
from lie_ssl.frames import FrameSet
from lie_ssl.objectives import PairObjective, Pairs, objective_config
from tests.gloo import run_in_processes
from tests.training.adapted_runs import flags
from tests.training.tiny_runs import few_pairs

DIM, FACTORS = 6, ("2d", "yaw")
OBJECTS = (0, 1, 0, 2, 3, 1, 4, 5)  # two of them have two pairs
CUTS = (5, 8)  # rows in the first of two processes; in the second case, the other one has none
EVALUATION = ("--probe.steps", "2", "--readout.steps", "2", "--limit", "20", "--pairs", "2")


def batch(rows: int = len(OBJECTS)) -> Pairs:
    """Pairs that change the first factor, the second, or both."""
    draws = torch.Generator().manual_seed(0)
    z, z_next = torch.randn(2, rows, DIM, generator=draws, dtype=torch.float64)
    delta = (torch.rand(rows, 2, generator=draws, dtype=torch.float64) - 0.5) * 2 * math.pi
    delta[::3, 0] = 0
    delta[1::3, 1] = 0
    negatives = torch.randn(3, DIM, generator=draws, dtype=torch.float64)
    return Pairs(z, z_next, delta, negatives, objects=torch.tensor(OBJECTS[:rows]))


def made(name: str, **settings: Any) -> Any:
    """The objective with random weights, also in batch-norm, which otherwise starts as 1 and 0."""
    torch.manual_seed(0)
    objective = objective_config(name, {"width": 5} | settings).build(DIM, FACTORS).double()
    for layer in objective.modules():
        if isinstance(layer, nn.BatchNorm1d) and layer.affine:
            nn.init.uniform_(layer.weight, 0.5, 1.5)
            nn.init.uniform_(layer.bias, -0.5, 0.5)
    return objective


def frames_share(objective: PairObjective, pairs: Pairs) -> float:
    """The contrast of Frames with the same head."""
    frames: Any = objective_config("frames").build(DIM, FACTORS).double()
    frames.loss.load_state_dict(objective.loss.state_dict())  # type: ignore[union-attr]
    return float(frames(pairs).terms["frames"].detach())


def naive_features(delta: Tensor) -> Tensor:
    """(B, F) -> (B, 8 F), number by number."""
    found = []
    for row in delta.tolist():
        own: list[float] = []
        for angle in row:
            waves = [math.cos(k * angle) for k in (1, 2, 3, 4)] + [math.sin(k * angle) for k in (1, 2, 3, 4)]
            own += waves if angle != 0 else [0.0] * 8
        found.append(own)
    return torch.tensor(found, dtype=torch.float64)


def naive_linear(x: Tensor, layer: nn.Module) -> Tensor:
    assert isinstance(layer, nn.Linear)
    bias = 0.0 if layer.bias is None else layer.bias
    return torch.stack([(layer.weight * row).sum(dim=1) + bias for row in x])


def naive_norm(x: Tensor, layer: nn.Module) -> Tensor:
    """Batch-norm in training mode."""
    assert isinstance(layer, nn.BatchNorm1d)
    mean = sum(x) / len(x)
    variance = sum((row - mean) ** 2 for row in x) / len(x)
    y = (x - mean) / (variance + layer.eps) ** 0.5
    return y * layer.weight + layer.bias if layer.affine else y


def naive_layers(x: Tensor, layers: Any) -> Tensor:
    """A chain of linear layers, batch-norm and ReLU, which may hold projection heads."""
    for layer in layers:
        if isinstance(layer, ProjectionHead):
            x = naive_layers(x, layer.layers)
        elif isinstance(layer, nn.ReLU):
            x = torch.where(x > 0, x, torch.zeros_like(x))
        else:
            x = (naive_linear if isinstance(layer, nn.Linear) else naive_norm)(x, layer)
    return x


def cosine(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).sum() / ((a * a).sum() * (b * b).sum()) ** 0.5


def steps(rank: int, world: int, name: str) -> list[dict[str, Tensor]]:
    """A step on the joined batch for each split of its rows: terms and gradients, averaged as in DDP, and buffers."""
    return [step(rank, world, name, cut) for cut in CUTS]


def step(rank: int, world: int, name: str, cut: int) -> dict[str, Tensor]:
    own = slice(None) if world == 1 else slice(0, cut) if rank == 0 else slice(cut, None)
    single = slice(None) if world == 1 else slice(0, 1) if rank == 0 else slice(1, None)
    pairs, objective = batch(), made(name)
    torch.manual_seed(1)
    encoder = nn.Linear(DIM, DIM).double()
    assert pairs.negatives is not None
    assert pairs.objects is not None
    z, z_next, negatives = encoder(pairs.z[own]), encoder(pairs.z_next[own]), encoder(pairs.negatives[single])
    found = objective(Pairs(z, z_next, pairs.delta[own], negatives, objects=pairs.objects[own]))
    found.total.backward()
    parameters = [*encoder.parameters(), *objective.parameters()]
    means = {"total": found.total, **found.terms}
    means["gradient"] = torch.cat([torch.zeros_like(p).flatten() if p.grad is None else p.grad.flatten()
                                   for p in parameters])  # fmt: skip
    means = {key: value.detach().clone() for key, value in means.items()}
    if world > 1:
        for value in means.values():
            torch.distributed.all_reduce(value)
    return {key: value / world for key, value in means.items()} | dict(objective.named_buffers())


def check_two_processes(name: str, folder: Path) -> None:
    """Two processes have the losses, gradients and buffers of one, also if one of them has no pairs."""
    alone = step(0, 1, name, 0)
    assert alone["gradient"].abs().max() > 0
    for splits in run_in_processes(steps, 2, folder, name):
        for found in splits:
            assert found.keys() == alone.keys()
            for key, value in alone.items():
                assert torch.allclose(found[key], value, rtol=1e-9, atol=1e-12), key


def check_few_pairs(name: str) -> None:
    """A batch without pairs, or with a single one, has a finite loss and gradients for everything."""
    for rows in (0, 1):
        objective, pairs = made(name), batch(rows)._replace(negatives=None)
        pairs.z.requires_grad_()
        found = objective(pairs)
        found.total.backward()
        assert pairs.z.grad is not None
        assert torch.isfinite(found.total)
        assert all(torch.isfinite(p.grad).all() for p in objective.parameters() if p.grad is not None)
        assert found.terms.keys() == objective(batch()).terms.keys()
        if rows == 0:
            assert found.total == 0


def check_adapts(name: str, term: str, frames: FrameSet, folder: Path, patch: pytest.MonkeyPatch) -> None:
    """The commands `adapt` and `evaluate` take it."""
    few_pairs(patch)
    main(["adapt", "resnet_mini", name, *flags(frames, folder / "banks", folder / "run")])
    assert pd.read_csv(folder / "run" / "metrics.csv")[term].notna().all()
    assert f"validation_{term}" in pd.read_csv(folder / "run" / "checks.csv")
    main(["evaluate", str(folder / "run"), "--out", str(folder / "evaluation"), *EVALUATION])
    assert set(pd.read_csv(folder / "evaluation" / "accuracy.csv")["arm"]) == {name}
