"""The objective against a naive reference written with loops, its settings, and two processes against one."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor

from lie_ssl import LieLoss, LieOperator
from lie_ssl.lie.loss import similarity


def batch(m: int = 10, b: int = 5, n: int = 3) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    torch.manual_seed(0)
    z, z_next, negatives = (torch.randn(k, m).double() for k in (b, b, n))
    return z, z_next, torch.randn(b).double(), negatives


def cosine(a: Tensor, b: Tensor) -> float:
    return float(a @ b) / (math.sqrt(float(a @ a)) * math.sqrt(float(b @ b)))


def naive(loss: LieLoss, z: Tensor, z_next: Tensor, delta: Tensor, negatives: Tensor | None) -> dict[str, float]:
    """Every term with loops over instances, in float64, from the formulas of the paper."""
    operator = loss.operator
    t = operator.infer(z, z_next, delta)
    matrix = [sum(t[i, k] * operator.generators[k] for k in range(t.shape[1])) for i in range(len(z))]
    moved = torch.stack([torch.linalg.matrix_exp(matrix[i]) @ z[i] for i in range(len(z))])
    others = [] if negatives is None else list(negatives)
    everything = torch.stack([*z, *z_next, *moved, *others])
    p = loss.head(everything).detach()
    b = len(z)
    pz, pn, pm, extra = p[:b], p[b : 2 * b], p[2 * b : 3 * b], p[3 * b :]
    lie = 0.0
    for i in range(b):
        positive = math.exp(cosine(pm[i], pn[i]) / loss.temperature)
        total = positive
        for j in range(b):
            if j != i:
                total += sum(math.exp(cosine(x[j], pn[i]) / loss.temperature) for x in (pz, pn, pm))
        if loss.own_negative:
            total += math.exp(cosine(pz[i], pn[i]) / loss.temperature)
        total += sum(math.exp(cosine(x, pn[i]) / loss.temperature) for x in extra)
        lie -= math.log(positive / total) / b
    euclidean = sum(float(((z_next[i] - moved[i]) ** 2).sum().detach()) for i in range(b)) / b
    coordinates = sum(float((t[i] ** 2).sum().detach()) / (1 + math.exp(abs(float(delta[i])))) for i in range(b)) / b
    result = {"lie": lie, "euclidean": euclidean, "coordinates": coordinates, "invariant": 0.0}
    if loss.invariant_head is not None:
        result["invariant"] = naive_invariant(loss, z, z_next, negatives)
    result["total"] = sum(loss.weights[k] * result[k] for k in loss.weights)
    return result


def naive_invariant(loss: LieLoss, z: Tensor, z_next: Tensor, negatives: Tensor | None) -> float:
    u, b, tau = loss.operator.fixed, len(z), loss.invariant_temperature
    others = [] if negatives is None else list(negatives[:, :u])
    assert loss.invariant_head is not None
    p = loss.invariant_head(torch.stack([*z[:, :u], *z_next[:, :u], *others])).detach()
    total = 0.0
    for a, o in ((p[:b], p[b : 2 * b]), (p[b : 2 * b], p[:b])):
        for i in range(b):
            positive = math.exp(cosine(a[i], o[i]) / tau)
            rest = sum(math.exp(cosine(a[i], x[j]) / tau) for j in range(b) if j != i for x in (a, o))
            rest += sum(math.exp(cosine(a[i], x) / tau) for x in p[2 * b :])
            total -= math.log(positive / (positive + rest)) / (2 * b)
    return total


SETTINGS: list[dict[str, object]] = [
    {},
    {"batch_norm": False, "temperature": 0.2},
    {"own_negative": False, "lie": 0.3, "euclidean": 5.0, "coordinates": 0.7},
    {"invariant": 0.5, "temperature": 0.5},
    {"invariant": 1.0, "invariant_temperature": 0.1, "detach_fixed": True, "batch_norm": False},
]


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("with_negatives", [False, True])
def test_agrees_with_the_naive_reference(settings: dict[str, object], with_negatives: bool) -> None:
    z, z_next, delta, negatives = batch()
    torch.manual_seed(1)
    operator = LieOperator(10, 3, fixed=4).double()
    loss = LieLoss(operator, **settings).double()  # type: ignore[arg-type]
    extra = negatives if with_negatives else None
    terms = loss(z, z_next, delta, negatives=extra)
    for name, value in naive(loss, z, z_next, delta, extra).items():
        assert float(getattr(terms, name)) == pytest.approx(value, abs=1e-10, rel=1e-10), name
    assert terms.t.shape == (5, 3)
    assert terms.z_moved.shape == (5, 10)


def test_every_term_trains_what_it_should() -> None:
    z, z_next, delta, _ = batch()
    z.requires_grad_()
    z_next.requires_grad_()
    operator = LieOperator(10, 3, fixed=4).double()
    loss = LieLoss(operator, invariant=1.0, detach_fixed=True).double()
    terms = loss(z, z_next, delta)
    for name in ("lie", "euclidean"):
        gz, gn = torch.autograd.grad(getattr(terms, name), (z, z_next), retain_graph=True)
        assert not gz[:, :4].any()  # kept out of the fixed part
        assert not gn[:, :4].any()
        assert gz[:, 4:].abs().min() > 0
    gz = torch.autograd.grad(terms.invariant, z, retain_graph=True)[0]
    assert gz[:, :4].abs().min() > 0
    assert not gz[:, 4:].any()
    terms.total.backward()
    assert all(p.grad is not None and torch.isfinite(p.grad).all() for p in loss.parameters())


def test_identity_ablation_and_similarity() -> None:
    z, z_next, delta, _ = batch()
    loss = LieLoss(LieOperator(10, 3, action="identity").double()).double()
    assert torch.equal(loss(z, z_next, delta).z_moved, z)
    s = similarity(torch.tensor([0.0, 1.0, -1.0, 30.0]).double())
    assert s.tolist() == pytest.approx([0.5, 1 / (1 + math.e), 1 / (1 + math.e), 0], abs=1e-12)


def test_several_factors_have_penalties_of_their_own() -> None:
    z, z_next, _, _ = batch()
    delta = torch.tensor([[0.0, 3.0]]).double().expand(5, 2)
    operator = LieOperator(10, (2, 1)).double()
    terms = LieLoss(operator).double()(z, z_next, delta)
    first, second = terms.t[:, :2].square().sum(1).mean(), terms.t[:, 2:].square().sum(1).mean()
    assert float(terms.coordinates) == pytest.approx(float(0.5 * first + second / (1 + math.exp(3))))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"lie": -1.0}, "weight lie is -1"),
        ({"temperature": 0.0}, "above 0"),
        ({"invariant": 1.0}, "needs a fixed part"),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        LieLoss(LieOperator(10, 2), **settings)  # type: ignore[arg-type]


def test_wrong_shapes_are_named() -> None:
    with pytest.raises(ValueError, match=r"\(4, 10\)"):
        LieLoss(LieOperator(10, 2))(torch.zeros(5, 10), torch.zeros(4, 10), torch.zeros(5))


WORKER = """
import os, sys, torch
from torch import distributed as dist
from lie_ssl import LieLoss, LieOperator
rank, world, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
if world > 1:
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=world)
torch.manual_seed(0)
z, z_next, delta, negatives = (torch.randn(*s).double() for s in ((8, 10), (8, 10), (8,), (4, 10)))
encoder = torch.nn.Linear(10, 10).double()
loss = LieLoss(LieOperator(10, 3, fixed=4), invariant=0.7, temperature=0.3).double()
cut, cut_few = (int(x) for x in sys.argv[4:6])  # where the second process' rows begin
own, few = slice(None), slice(None)
if world > 1:
    own, few = (slice(0, cut), slice(0, cut_few)) if rank == 0 else (slice(cut, None), slice(cut_few, None))
terms = loss(encoder(z[own]), encoder(z_next[own]), delta[own], negatives=encoder(negatives[few]))
terms.total.backward()
grads = torch.cat([p.grad.flatten() for p in [*encoder.parameters(), *loss.parameters()]])
total = terms.total.detach().clone()
if world > 1:  # as DistributedDataParallel does
    dist.all_reduce(grads)
    dist.all_reduce(total)
torch.save((total / world, grads / world), f"{folder}/{world}-{rank}.pt")
if world > 1:
    dist.barrier()
    dist.destroy_process_group()
"""


@pytest.mark.parametrize(("cut", "cut_few"), [(4, 2), (5, 1), (8, 0)])
def test_two_processes_give_the_gradients_of_one(tmp_path: Path, cut: int, cut_few: int) -> None:
    def start(rank: int, world: int) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", WORKER, str(rank), str(world), str(tmp_path), str(cut), str(cut_few)]
        return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)

    for process in [start(0, 1), start(0, 2), start(1, 2)]:
        assert process.wait(timeout=120) == 0, process.stderr.read() if process.stderr else ""
    alone, grads = torch.load(tmp_path / "1-0.pt", weights_only=True)
    for rank in (0, 1):
        total, found = torch.load(tmp_path / f"2-{rank}.pt", weights_only=True)
        assert float(total) == pytest.approx(float(alone), rel=1e-12)
        assert torch.allclose(found, grads, rtol=1e-9, atol=1e-12)
