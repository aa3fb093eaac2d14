"""Compares the grid of linear classifiers with torch's layers and optimisers, trained one by one."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from lie_ssl.errors import UserError
from lie_ssl.lie import LieOperator
from lie_ssl.protocol.neighbours import NeighbourSampler
from lie_ssl.protocol.probe import Probe, ProbeConfig, best_trial

Group = tuple[Tensor, Tensor]


def toy(count: int, seed: int, dim: int = 6, classes: int = 3, noise: float = 1.0) -> Group:
    random = torch.Generator().manual_seed(seed)
    centres = torch.randn(classes, dim, generator=torch.Generator().manual_seed(99))
    labels = torch.randint(classes, (count,), generator=random)
    return 2 * centres[labels] + noise * torch.randn(count, dim, generator=random) + 3, labels


class Record:
    """Replaces the sampler of neighbours: records every batch and adds no neighbours."""

    def __init__(self) -> None:
        self.batches: list[Tensor] = []

    def __call__(self, z: Tensor, generator: torch.Generator) -> list[Tensor]:
        self.batches.append(z.clone())
        return []


def rows_of(batch: Tensor, features: Tensor) -> Tensor:
    """The row of the features for each row of a batch; -1 for none."""
    same = (batch[:, None] == features[None]).all(dim=2)
    return torch.where(same.any(dim=1), same.int().argmax(dim=1), -1)


def reference(probe: Probe, name: str, rate: float, batches: list[Group]) -> tuple[Tensor, Tensor]:
    """Weight (C, M) and bias (C,) by autograd in double precision, on the same batches."""
    layer = nn.Linear(probe.weight.shape[2], probe.weight.shape[1]).double()
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
    optimiser: torch.optim.Optimizer
    if name == "adamw":
        optimiser = torch.optim.Adam(layer.parameters(), lr=rate)
    else:
        optimiser = torch.optim.SGD(layer.parameters(), lr=rate, momentum=0.9)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, len(batches))
    for z, labels in batches:
        x = (z.double() - probe.mean.double()) / probe.std.double()
        optimiser.zero_grad()
        functional.cross_entropy(layer(x), labels).backward()
        optimiser.step()
        schedule.step()
    return layer.weight.detach(), layer.bias.detach()


@pytest.mark.parametrize("optimisers", [("adamw", "sgd"), ("sgd", "adamw"), ("sgd",), ("adamw",)])
def test_every_trial_is_what_torch_trains(optimisers: tuple[str, ...]) -> None:
    diverse, typical = toy(90, 0), toy(40, 1)
    config = ProbeConfig(steps=60, batch=20, rates=(1e-1, 1e-3), optimisers=optimisers)  # type: ignore[arg-type]
    record = Record()
    probe = Probe(config, 6, 3).fit(diverse, typical, seed=5, neighbours=record)
    features, labels = (torch.cat(parts) for parts in zip(diverse, typical, strict=True))
    batches = [(z, labels[rows_of(z, features)]) for z in record.batches]
    assert len(batches) == 60
    assert [t[0] for t in config.trials] == [o for o in optimisers for _ in range(2)]
    for trial, (name, rate) in enumerate(config.trials):
        weight, bias = reference(probe, name, rate, batches)
        torch.testing.assert_close(probe.weight[trial].double(), weight, rtol=1e-3, atol=2e-5)
        torch.testing.assert_close(probe.bias[trial].double(), bias, rtol=1e-3, atol=2e-5)


def test_batches_have_as_many_varying_as_typical_frames() -> None:
    diverse, typical = toy(200, 0), toy(9, 1)
    record = Record()
    Probe(ProbeConfig(steps=50, batch=16), 6, 3).fit(diverse, typical, seed=0, neighbours=record)
    for batch in record.batches:
        assert int((rows_of(batch, diverse[0]) >= 0).sum()) == 8
        assert int((rows_of(batch, typical[0]) >= 0).sum()) == 8
    seen = {int(r) for b in record.batches for r in rows_of(b, typical[0])} - {-1}
    assert seen == set(range(9))


def test_a_single_group_fills_the_batch() -> None:
    record = Record()
    diverse, none = toy(30, 0), toy(0, 1)
    Probe(ProbeConfig(steps=3, batch=16), 6, 3).fit(diverse, none, seed=0, neighbours=record)
    assert [len(b) for b in record.batches] == [16] * 3
    with pytest.raises(UserError, match="no frames to train"):
        Probe(ProbeConfig(), 6, 3).fit(none, none, seed=0)


def test_both_groups_have_the_same_weight_in_the_statistics() -> None:
    diverse, typical = toy(300, 0), toy(20, 1)
    probe = Probe(ProbeConfig(steps=1, batch=4), 6, 3).fit(diverse, typical, seed=0)
    repeated = torch.cat([diverse[0], typical[0].repeat(15, 1)]).double()  # 300 of each
    torch.testing.assert_close(probe.mean.double(), repeated.mean(dim=0), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(probe.std.double(), repeated.std(dim=0, unbiased=False), rtol=1e-5, atol=1e-5)
    plain = Probe(ProbeConfig(steps=1, batch=4, normalise=False), 6, 3).fit(diverse, typical, seed=0)
    assert not plain.mean.any()
    assert bool((plain.std == 1).all())


def test_a_separable_problem_is_solved() -> None:
    diverse, typical, test = toy(200, 0, noise=0.1), toy(60, 1, noise=0.1), toy(100, 2, noise=0.1)
    probe = Probe(ProbeConfig(steps=200, batch=32), 6, 3).fit(diverse, typical, seed=0)
    scores = probe.accuracy(*test)
    assert scores.shape == (14,)
    assert float(scores[best_trial(scores)]) == 1
    assert torch.equal(probe.predict(test[0], best_trial(scores)), test[1])


def test_the_same_seed_gives_the_same_bits_with_any_number_of_threads() -> None:
    found = []
    for seed, threads in ((3, 1), (3, 2), (4, 1)):
        before = torch.get_num_threads()
        torch.set_num_threads(threads)
        found.append(Probe(ProbeConfig(steps=20, batch=32), 6, 3).fit(toy(80, 0), toy(30, 1), seed).weight)
        assert torch.get_num_threads() == threads
        torch.set_num_threads(before)
    assert torch.equal(found[0], found[1])
    assert not torch.equal(found[0], found[2])


def test_option_2_averages_the_loss_over_neighbours() -> None:
    """After one step of SGD from zero, the weights are -rate times the gradient of the mean of three losses."""
    torch.manual_seed(0)
    diverse, typical = toy(40, 0), toy(40, 1)
    sampler = NeighbourSampler(LieOperator(6, 2), torch.randn(20, 2), count=2)
    seen: list[list[Tensor]] = []

    def neighbours(z: Tensor, generator: torch.Generator) -> list[Tensor]:
        seen.append([z, *sampler(z, generator)])
        return seen[-1][1:]

    probe = Probe(ProbeConfig(steps=1, batch=10, rates=(0.5,), optimisers=("sgd",)), 6, 3)
    probe.fit(diverse, typical, seed=0, neighbours=neighbours)
    features, labels = (torch.cat(parts) for parts in zip(diverse, typical, strict=True))
    own = labels[rows_of(seen[0][0], features)]
    layer = nn.Linear(6, 3).double()
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
    views = [(v.double() - probe.mean) / probe.std for v in seen[0]]
    assert len(views) == 3
    losses = [functional.cross_entropy(layer(v), own) for v in views]
    (sum(losses[1:], losses[0]) / 3).backward()
    assert layer.weight.grad is not None
    torch.testing.assert_close(probe.weight[0].double(), -0.5 * layer.weight.grad, rtol=1e-4, atol=1e-6)
    # Predictions use the embedding itself.
    test = toy(30, 2)[0]
    wanted = ((test - probe.mean) / probe.std) @ probe.weight[0].T + probe.bias[0]
    assert torch.equal(probe.predict(test, 0), wanted.argmax(dim=1))
    assert len(seen) == 1


def test_features_that_are_not_finite() -> None:
    diverse, typical = toy(20, 0), toy(20, 1)
    typical[0][3, 2] = math.nan
    typical[0][5, 1] = math.inf
    with pytest.raises(UserError, match="2 of 20 embeddings are not finite"):
        Probe(ProbeConfig(steps=2, batch=4), 6, 3).fit(diverse, typical, seed=0)
    probe = Probe(ProbeConfig(steps=2, batch=4), 6, 3).fit(diverse, diverse, seed=0)
    with pytest.raises(UserError, match="the encoder's weights are damaged or its run diverged"):
        probe.accuracy(*typical)


def test_the_first_of_equal_trials_is_chosen() -> None:
    assert best_trial(torch.tensor([0.2, 0.7, 0.7, 0.1])) == 1


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"steps": 0}, "steps must be 1 or more"),
        ({"batch": 7}, "batch must be even"),
        ({"rates": ()}, "learning rates above 0"),
        ({"rates": (0.1, -1.0)}, "learning rates above 0"),
        ({"optimisers": ()}, "at least one optimiser"),
        ({"optimisers": ("sgd", "adamw", "sgd")}, "each optimiser may be given only once"),
    ],
)
def test_wrong_settings(settings: dict[str, object], words: str) -> None:
    with pytest.raises(UserError, match=words):
        ProbeConfig(**settings)  # type: ignore[arg-type]
