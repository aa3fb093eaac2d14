"""What the tests of objectives share: InfoNCE with loops, batches without pairs, and two processes against one."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from lie_ssl.objectives import PairObjective, Pairs
from tests.gloo import run_in_processes

ROWS = 8
CUTS = (3, ROWS)  # rows of the first process; in the second case the other one has none
OBJECTS = torch.tensor([0, 1, 2, 0, 3, 4, 1, 5])  # two objects have two pairs, one of them in different processes


def cosine(a: Tensor, b: Tensor) -> float:
    return float(a @ b) / math.sqrt(float(a @ a) * float(b @ b))


def cross_entropy(positive: float, negatives: list[float]) -> float:
    """Minus the log of the softmax of the first score."""
    return math.log(sum(math.exp(score - positive) for score in [positive, *negatives]))


def naive_frames(
    head: nn.Module, z: Tensor, z_next: Tensor, negatives: Tensor, objects: Tensor, temperature: float
) -> float:
    """InfoNCE between frames with loops, from its definition."""
    first, second, extra = head(torch.cat([z, z_next, negatives])).detach().split([len(z), len(z), len(negatives)])
    total = 0.0
    for anchors, others in ((first, second), (second, first)):
        for i, anchor in enumerate(anchors):
            different = [j for j in range(len(z)) if objects[j] != objects[i]]
            against = [*extra, *(each[j] for j in different for each in (first, second))]
            scores = [cosine(anchor, x) / temperature for x in against]
            total += cross_entropy(cosine(anchor, others[i]) / temperature, scores)
    return total / (2 * len(z))


def steps(
    build: Callable[[], PairObjective], pairs: Callable[[], Pairs], rank: int, world: int
) -> list[dict[str, Tensor]]:
    """The terms and the gradients of a batch that is spread over the processes in two ways, as DDP averages them."""
    return [_step(build(), pairs(), rank, world, cut) for cut in CUTS]


def _step(objective: PairObjective, pairs: Pairs, rank: int, world: int, cut: int) -> dict[str, Tensor]:
    torch.manual_seed(1)
    encoder = nn.Linear(objective.dim, objective.dim).double()
    own, single = (slice(None) if world == 1 else slice(0, at) if rank == 0 else slice(at, None) for at in (cut, 2))
    assert pairs.negatives is not None
    assert pairs.objects is not None
    found = objective.double()(Pairs(
        encoder(pairs.z[own]), encoder(pairs.z_next[own]), pairs.delta[own], encoder(pairs.negatives[single]),
        None if pairs.more is None else encoder(pairs.more[own]), objects=pairs.objects[own],
    ))  # fmt: skip
    found.total.backward()
    weights = [*encoder.parameters(), *objective.parameters()]
    values = {"total": found.total, **found.terms, "gradients": torch.cat([_gradient(p).flatten() for p in weights])}
    values = {name: value.detach().clone() for name, value in values.items()}
    for value in values.values() if world > 1 else ():
        torch.distributed.all_reduce(value)
    return {name: value / world for name, value in values.items()}


def _gradient(parameter: nn.Parameter) -> Tensor:
    return torch.zeros_like(parameter) if parameter.grad is None else parameter.grad


def check_two_processes(function: Callable[[int, int], Any], folder: Path) -> None:
    """Two processes have the terms and the gradients of one; the function returns its :func:`steps`."""
    alone = function(0, 1)[0]
    assert alone["gradients"].abs().sum() > 0
    for results in run_in_processes(function, 2, folder, timeout=300):
        for found in results:
            assert found.keys() == alone.keys()
            for name, value in alone.items():
                assert torch.allclose(found[name], value, rtol=1e-9, atol=1e-12), name


def check_empty(objective: PairObjective, clip: int = 2) -> None:
    """A batch without pairs has a loss of 0 and finite gradients."""
    z = torch.zeros(0, objective.dim, requires_grad=True)
    more = z[:, None].expand(0, clip - 2, -1) if clip > 2 else None
    delta = torch.zeros(0, len(objective.factors))
    for negatives in (None, torch.randn(3, objective.dim)):
        found = objective(Pairs(z, z, delta, negatives, more, objects=torch.zeros(0, dtype=torch.long)))
        found.total.backward()
        assert found.total == 0
        assert all(term == 0 for term in found.terms.values())
        assert all(p.grad is None or not p.grad.any() for p in objective.parameters())
