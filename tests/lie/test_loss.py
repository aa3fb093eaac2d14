"""The loss: against a naive reference with loops, its settings, and two processes against one."""

from __future__ import annotations

import copy
import math
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from scipy.linalg import expm
from torch import Tensor

from lie_ssl import LieLoss, LieOperator
from lie_ssl.lie.loss import relative_error, similarity
from tests.gloo import run_in_processes


def batch(m: int = 10, b: int = 5, n: int = 3) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    torch.manual_seed(0)
    z, z_next, negatives = (torch.randn(k, m).double() for k in (b, b, n))
    return z, z_next, torch.randn(b).double(), negatives


def cosine(a: Tensor, b: Tensor) -> float:
    return float(a @ b) / (math.sqrt(float(a @ a)) * math.sqrt(float(b @ b)))


def naive(loss: LieLoss, z: Tensor, z_next: Tensor, delta: Tensor, negatives: Tensor | None) -> dict[str, float]:
    """All terms with loops over instances in float64, from the formulas in the paper."""
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
        positive = math.exp(cosine(pm[i], pn[i]) / loss.config.temperature)
        total = positive
        for j in range(b):
            if j != i:
                total += sum(math.exp(cosine(x[j], pn[i]) / loss.config.temperature) for x in (pz, pn, pm))
        if loss.config.own_negative:
            total += math.exp(cosine(pz[i], pn[i]) / loss.config.temperature)
        total += sum(math.exp(cosine(x, pn[i]) / loss.config.temperature) for x in extra)
        lie -= math.log(positive / total) / b
    euclidean = sum(float(((z_next[i] - moved[i]) ** 2).sum().detach()) for i in range(b)) / b
    coordinates = sum(float((t[i] ** 2).sum().detach()) / (1 + math.exp(abs(float(delta[i])))) for i in range(b)) / b
    result = {"lie": lie, "euclidean": euclidean, "coordinates": coordinates, "invariant": 0.0}
    if loss.invariant_head is not None:
        result["invariant"] = naive_invariant(loss, z, z_next, negatives)
    result["total"] = sum(getattr(loss.config, k) * result[k] for k in ("lie", "euclidean", "coordinates", "invariant"))
    return result


def naive_invariant(loss: LieLoss, z: Tensor, z_next: Tensor, negatives: Tensor | None) -> float:
    u, b = loss.operator.fixed, len(z)
    tau = loss.config.invariant_temperature or loss.config.temperature
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


def test_every_term_trains_the_right_parameters() -> None:
    z, z_next, delta, _ = batch()
    z.requires_grad_()
    z_next.requires_grad_()
    operator = LieOperator(10, 3, fixed=4).double()
    loss = LieLoss(operator, invariant=1.0, detach_fixed=True).double()
    terms = loss(z, z_next, delta)
    for name in ("lie", "euclidean"):
        gz, gn = torch.autograd.grad(getattr(terms, name), (z, z_next), retain_graph=True)
        assert not gz[:, :4].any()  # no gradient for the fixed part
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


def test_several_factors_have_separate_penalties() -> None:
    z, z_next, _, _ = batch()
    delta = torch.tensor([[0.0, 3.0]]).double().expand(5, 2)
    operator = LieOperator(10, (2, 1)).double()
    terms = LieLoss(operator).double()(z, z_next, delta)
    first, second = terms.t[:, :2].square().sum(1).mean(), terms.t[:, 2:].square().sum(1).mean()
    assert float(terms.coordinates) == pytest.approx(float(0.5 * first + second / (1 + math.exp(3))))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"lie": -1.0}, "lie is -1.0, but weights must be finite"),
        ({"temperature": 0.0}, "above 0"),
        ({"invariant": 1.0}, "needs a fixed part"),
    ],
)
def test_invalid_settings_are_named(settings: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LieLoss(LieOperator(10, 2), **settings)  # type: ignore[arg-type]


def test_invalid_shapes_are_named() -> None:
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
cut, cut_few = (int(x) for x in sys.argv[4:6])  # first row of the second process
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


EVEN = (False, True)


def split_loss(standardised: tuple[bool, bool] = (False, False), m: int = 10, **settings: object) -> LieLoss:
    """A loss with a centred operator, two linear factors, three fixed dimensions and a relative Euclidean term."""
    torch.manual_seed(1)
    operator = LieOperator(
        m, (1, 1), fixed=3, sees="linear", split_factors=True, centred=True, standardised=standardised
    )
    return LieLoss(operator, relative=True, **settings).double()  # type: ignore[arg-type]


def split_batch(b: int = 7, m: int = 10) -> tuple[Tensor, Tensor, Tensor]:
    """Pairs that move in one of two factors; the last pair moves in none, the one before it in both."""
    torch.manual_seed(0)
    z, z_next = 3 + torch.randn(b, m).double(), 3 + torch.randn(b, m).double()
    delta = torch.randn(b, 2).double()
    delta[::2, 0] = 0
    delta[1::2, 1] = 0
    delta[-2] = 0.7
    delta[-1] = 0
    return z, z_next, delta


def batch_frame(loss: LieLoss, z: Tensor, z_next: Tensor, delta: Tensor) -> tuple[Tensor, Tensor]:
    """Centre and spread of each share, over both frames of the pairs that move in its factor."""
    operator, place = loss.operator, loss.operator.fixed
    centres: list[Tensor] = []
    spreads: list[Tensor] = []
    for f, m in enumerate(operator.shares):
        own = [x[i, place : place + m] for i in range(len(z)) if delta[i, f] != 0 for x in (z, z_next)]
        zeros = torch.zeros(m).double()
        centres.append(sum(own, zeros) / len(own))
        squares = sum(((v - centres[f]) ** 2 for v in own), zeros) / len(own)
        spreads.append((squares + 1e-6).sqrt() if operator.standardised[f] else torch.ones(m).double())
        place += m
    return torch.cat(centres), torch.cat(spreads)


def naive_relative(loss: LieLoss, z: Tensor, z_next: Tensor, delta: Tensor, frame: tuple[Tensor, Tensor]) -> float:
    """The Euclidean term, pair by pair and factor by factor."""
    operator = loss.operator
    total = 0.0
    for i in range(len(z)):
        place = operator.fixed
        for f, m in enumerate(operator.shares):
            dims, inner = slice(place, place + m), slice(place - operator.fixed, place - operator.fixed + m)
            place += m
            if delta[i, f] == 0:
                continue
            centre, spread = frame[0][inner], frame[1][inner]
            x, y = ((v[i, dims] - centre) / spread for v in (z, z_next))
            turned = torch.tensor(expm((delta[i, f] * operator.generators[f, dims, dims]).detach().numpy())) @ x
            error = float(((y - turned) ** 2).sum())
            if operator.standardised[f]:
                total += error / (2 * m)
            else:
                total += error / (2 * math.sqrt(float((turned**2).sum())) * math.sqrt(float((y**2).sum())))
    return total / len(z)


@pytest.mark.parametrize("standardised", [(False, False), EVEN, (True, True)])
def test_the_relative_term_agrees_with_loops(standardised: tuple[bool, bool]) -> None:
    loss, (z, z_next, delta) = split_loss(standardised), split_batch()
    frame = batch_frame(loss, z, z_next, delta)
    terms = loss(z, z_next, delta)
    assert float(terms.euclidean) == pytest.approx(naive_relative(loss, z, z_next, delta, frame), rel=1e-9)
    kept = loss.operator.centre, loss.operator.spread
    assert torch.allclose(kept[0], frame[0])  # after one batch
    assert torch.allclose(kept[1], frame[1])
    assert torch.equal(terms.t, delta)
    assert torch.allclose(terms.z_moved[-1], z[-1])  # a pair that does not move
    loss.eval()
    other = z + torch.randn_like(z), z_next, delta
    before = copy.deepcopy(loss.operator.state_dict())
    found = float(loss(*other).euclidean)
    assert found == pytest.approx(naive_relative(loss, *other, kept), rel=1e-9)
    assert all(torch.equal(value, before[name]) for name, value in loss.operator.state_dict().items())


def test_relative_without_a_centre_is_relative_to_the_origin() -> None:
    z, z_next, delta, _ = batch()
    torch.manual_seed(1)
    loss = LieLoss(LieOperator(10, 2, fixed=4), relative=True).double()
    terms = loss(z, z_next, delta)
    x, y = terms.z_moved[:, 4:], z_next[:, 4:]
    expected = sum(float((y[i] - x[i]) @ (y[i] - x[i])) / float(2 * x[i].norm() * y[i].norm()) for i in range(5)) / 5
    assert float(terms.euclidean) == pytest.approx(expected, rel=1e-12)


def test_known_relative_errors() -> None:
    x = torch.tensor([[1.0, 0], [1, 0], [1, 0], [2, 0], [0, 0]]).double()
    y = torch.tensor([[1.0, 0], [0, 1], [-1, 0], [1, 0], [0, 0]]).double()
    assert relative_error(x, y).tolist() == [0, 1, 2, 0.25, 0]
    x.requires_grad_()
    relative_error(x, y).sum().backward()
    assert x.grad is not None
    assert torch.isfinite(x.grad).all()


@pytest.mark.parametrize("scale", [1e-3, 1.0, 40.0])
@pytest.mark.parametrize("shift", [0.0, 5.0])
@pytest.mark.parametrize("standardised", [(False, False), EVEN])
def test_neither_scale_nor_shift_of_all_embeddings_changes_the_relative_term(
    scale: float, shift: float, standardised: tuple[bool, bool]
) -> None:
    z, z_next, delta = split_batch()
    move = shift * torch.randn(10, generator=torch.Generator().manual_seed(5)).double()
    found = float(split_loss(standardised)(scale * z + move, scale * z_next + move, delta).euclidean)
    # A standardised spread includes a small constant that does not scale.
    precise = 1e-9 if not any(standardised) else 2e-6 / scale**2 if scale < 1 else 1e-5
    assert found == pytest.approx(float(split_loss(standardised)(z, z_next, delta).euclidean), rel=max(precise, 1e-9))


@pytest.mark.parametrize("standardised", [(False, False), EVEN])
def test_gradients_of_the_relative_term(standardised: tuple[bool, bool]) -> None:
    z, z_next, delta = split_batch(5, 8)
    loss = split_loss(standardised, m=8)
    inputs = (z.requires_grad_(), z_next.requires_grad_(), *loss.operator.parameters())
    assert torch.autograd.gradcheck(lambda *_: loss(z, z_next, delta).euclidean, inputs)
    grad = torch.autograd.grad(loss(z, z_next, delta).euclidean, z)[0]
    assert not grad[:, :3].any()  # the fixed part is not included
    # The gradient along scale and shift of the embeddings is zero, because the centre moves too.
    if not any(standardised):
        both = torch.autograd.grad(loss(z, z_next, delta).euclidean, (z, z_next))
        assert torch.allclose(sum(g.sum(dim=0) for g in both), torch.zeros(8).double(), atol=1e-10)  # type: ignore[arg-type]
        assert abs(float(sum((g * x).sum() for g, x in zip(both, (z, z_next), strict=True)))) < 1e-9


def test_the_centre_of_a_share_without_pairs_does_not_change() -> None:
    loss, (z, z_next, delta) = split_loss(), split_batch()
    loss(z, z_next, delta)
    first = loss.operator.centre.clone()
    only = delta.clone()
    only[:, 1] = 0
    loss(z + 1, z_next + 1, only)
    cut = loss.operator.shares[0]
    assert torch.equal(loss.operator.centre[cut:], first[cut:])
    assert (loss.operator.centre[:cut] != first[:cut]).all()
    state = copy.deepcopy(loss.operator.state_dict())
    empty = loss(z[:0], z_next[:0], delta[:0])
    assert float(empty.total) == 0
    still = loss(z, z_next, torch.zeros_like(delta))  # no pair moves
    assert float(still.euclidean) == 0
    for name in ("centre", "spread"):
        assert torch.equal(loss.operator.state_dict()[name], state[name])


def test_the_plain_terms_are_unchanged() -> None:
    """Without centre and relative term, it is exactly the formula and has no state."""
    torch.manual_seed(0)
    z, z_next, delta = torch.randn(6, 10), torch.randn(6, 10), torch.rand(6)
    loss = LieLoss(LieOperator(10, 3, fixed=4))
    assert not any("centre" in name or "spread" in name for name in loss.state_dict())
    t = loss.operator.infer(z, z_next, delta)
    moved = copy.deepcopy(loss.operator)(z, t)
    terms = loss(z, z_next, delta)
    assert torch.equal(terms.z_moved, moved)
    assert torch.equal(terms.euclidean, (z_next - moved).square().sum(dim=1).sum() * (1 / 6))


def centred_steps(rank: int, world: int) -> list[dict[str, Tensor]]:
    """Steps of a centred, relative, split loss for two splits of the rows; in the second, one process has none."""
    return [centred_step(rank, world, cut) for cut in (3, 8)]


def centred_step(rank: int, world: int, cut: int) -> dict[str, Tensor]:
    """One step of a centred, relative, split loss on the rows of this process; gradients as in DDP."""
    z, z_next, delta = split_batch(8)
    encoder = torch.nn.Linear(10, 10).double()
    loss = split_loss(EVEN, invariant=0.7)
    own = slice(None) if world == 1 else slice(0, cut) if rank == 0 else slice(cut, None)
    terms = loss(encoder(z[own]), encoder(z_next[own]), delta[own])
    terms.total.backward()
    parameters = [*encoder.parameters(), *loss.parameters()]
    means = {
        "total": terms.total.detach().clone(),
        "euclidean": terms.euclidean.detach().clone(),
        "grads": torch.cat([torch.zeros_like(p).flatten() if p.grad is None else p.grad.flatten() for p in parameters]),
    }
    if world > 1:
        for value in means.values():
            torch.distributed.all_reduce(value)
    return {k: v / world for k, v in means.items()} | {"centre": loss.operator.centre, "spread": loss.operator.spread}


def test_two_processes_have_the_centre_of_one(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    ((alone, _),) = run_in_processes(centred_steps, 1, tmp_path / "one", timeout=300)
    assert (alone["spread"] != 1).any()
    for steps in run_in_processes(centred_steps, 2, tmp_path / "two", timeout=300):
        for found in steps:
            for name, value in alone.items():
                assert torch.allclose(found[name], value, rtol=1e-9, atol=1e-12), name
