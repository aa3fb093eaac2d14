"""A method with an objective on pairs: sums, objectives that differ only in weights, and batches without pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from lie_ssl.frames.kinds import AXES
from lie_ssl.lie import LieLoss, OperatorConfig
from lie_ssl.methods import Draws, EncoderConfig, method_config
from lie_ssl.objectives import ObjectiveConfig, PairModel, objective_config
from lie_ssl.objectives.alone import AloneConfig
from lie_ssl.objectives.frames import FramesConfig
from lie_ssl.objectives.lie import LieConfig
from lie_ssl.objectives.pair_model import PairOutput, frozen_statistics
from lie_ssl.objectives.rotations import RotationsConfig
from lie_ssl.recipes.pretrain import ARMS
from lie_ssl.training.config import OptimConfig, PretrainConfig
from lie_ssl.training.model import build_model
from lie_ssl.training.optimisers import build_optimiser, gradient_norms

SIZE, ROWS, DIM = 16, 6, 128
METHODS = ("mae", "vicreg", "simclr")
LIE = LieConfig(
    lie=0.7, euclidean=0.2, coordinates=0.3, invariant=0.4, temperature=0.5, operator=OperatorConfig(fixed=96),
    relative=False, by_kind=False, detach_fixed=False,
)  # fmt: skip
FRAMES = FramesConfig(frames=0.6, temperature=0.5)


def build(
    method: str, objective: ObjectiveConfig, seed: int = 0, factors: tuple[str, ...] = ("pose",), **changes: Any
) -> PairModel:
    encoder = (
        EncoderConfig(name="vit_mini", options=(("depth", 1),)) if method == "mae" else EncoderConfig("resnet_mini")
    )
    settings = {"vicreg": {"expander": [32, 32]}}.get(method, {})
    config = PretrainConfig(method=method_config(method, settings), encoder=encoder, objective=objective, seed=seed)
    return build_model(replace(config, **changes), SIZE, 3, factors)


def batch(seed: int = 0) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """x, x_next, delta and paired; the second and the fifth row have only one frame."""
    generator = torch.Generator().manual_seed(seed)
    x, x_next = torch.rand(2, ROWS, 3, SIZE, SIZE, generator=generator)
    paired = torch.tensor([True, False, True, True, False, True])
    x_next[~paired] = x[~paired]
    delta = torch.rand(ROWS, 1, generator=generator) * paired[:, None]
    return x, x_next, delta, paired


def run(model: PairModel, number: int = 0) -> PairOutput:
    out: PairOutput = model(*batch(number), Draws(0, number, ROWS))
    return out


def train(model: PairModel, steps: int = 5) -> None:
    optimiser = build_optimiser(model, OptimConfig(lr=1e-2))
    for step in range(steps):
        optimiser.zero_grad()
        run(model, step).total.backward()
        gradient_norms(model, 1.0)
        optimiser.step()


def same(a: nn.Module, b: nn.Module) -> bool:
    one, two = a.state_dict(), b.state_dict()
    return one.keys() == two.keys() and all(torch.equal(one[k], two[k]) for k in one)


def calls(model: PairModel) -> Counter[str]:
    """Counts the passes through the encoder, with whole and masked images."""
    count: Counter[str] = Counter()
    model.method.encoder.register_forward_hook(lambda *_: count.update(["forward"]))
    masked: Callable[..., Any] = model.method.encoder.masked
    model.method.encoder.masked = lambda *a: (count.update(["masked"]), masked(*a))[1]  # type: ignore[method-assign]
    return count


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("objective", [AloneConfig(ssl=0.5), FRAMES, LIE, replace(LIE, ssl=2.0, view="ssl")])
def test_the_total_is_the_weighted_sum(method: str, objective: ObjectiveConfig) -> None:
    out = run(build(method, objective))
    names = ["ssl"] + (["lie", "euclidean", "coordinates", "invariant"] if objective.name == "lie" else [])
    names += ["frames"] if objective.name == "frames" else []
    assert set(names) <= set(out.terms)
    total = sum(getattr(objective, name) * out.terms[name].item() for name in names)
    assert out.total.item() == pytest.approx(total, rel=1e-5)
    assert out.terms["loss"].item() == out.total.item()
    assert all(not value.requires_grad for value in out.terms.values())
    assert (out.t is not None) == (objective.name == "lie")
    if out.t is not None:
        assert out.t.shape == (4, 4)  # pairs, generators
    parts = {"mae": "reconstruction", "simclr": "contrast"}
    if method in parts:
        assert out.terms[parts[method]].item() == pytest.approx(out.terms["ssl"].item(), rel=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_the_ssl_loss_uses_both_frames(method: str) -> None:
    model, again = build(method, AloneConfig()), build(method, AloneConfig())
    x, x_next, _, _ = batch()
    draws = Draws(0, 0, ROWS)
    first, second = again.method([x, x_next], [draws.named("first"), draws.named("second")])
    assert run(model).terms["ssl"].item() == (first.loss + second.loss).item()


@pytest.mark.parametrize("method", METHODS)
def test_the_method_alone_builds_and_runs_nothing_else(method: str) -> None:
    model = build(method, AloneConfig())
    assert model.operator is None
    assert all(name.startswith("method.") for name, _ in model.named_parameters())
    count = calls(model)
    run(model)
    assert count.total() == 1
    start = build(method, AloneConfig())
    train(model)
    assert not same(model.method.encoder, start.method.encoder)  # it has learned


@pytest.mark.parametrize("method", METHODS)
def test_every_objective_starts_with_the_same_encoder_and_ssl_heads(method: str) -> None:
    torch.manual_seed(1)
    state = torch.get_rng_state()
    models = {arm: build(method, objective_config(arm), factors=("2d", "3d")) for arm in ARMS}
    assert torch.equal(torch.get_rng_state(), state)  # the random state of others does not change
    torch.manual_seed(2)
    assert all(
        same(model.method, build(method, objective_config(arm), factors=("2d", "3d")).method)
        for arm, model in models.items()
    )
    assert all(same(model.method, models["alone"].method) for model in models.values())
    assert same(models["lie"], models["lie_off"])
    assert not same(models["alone"].method.encoder, build(method, AloneConfig(), seed=1).method.encoder)


def test_operator_and_pair_heads_do_not_change_the_random_state() -> None:
    method = build("vicreg", AloneConfig()).method
    for objective in (FRAMES, LIE):
        state = torch.get_rng_state()
        assert list(PairModel(method, objective).groups())
        assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("method", ["vicreg", "simclr"])
@pytest.mark.parametrize("objective", [FRAMES, LIE])
def test_the_clean_pass_does_not_change_batch_norm_statistics(method: str, objective: ObjectiveConfig) -> None:
    base, model = build(method, AloneConfig()), build(method, objective)
    before = {k: v.clone() for k, v in model.method.state_dict().items()}
    for each in (base, model):
        run(each)
    found, expected = dict(model.method.named_buffers()), dict(base.method.named_buffers())
    names = [k for k in expected if k.endswith(("running_mean", "running_var", "num_batches_tracked"))]
    assert len(names) > 10
    for name in names:
        assert torch.equal(found[name], expected[name]), name
        assert not torch.equal(found[name], before[name]), name
    assert all(m.track_running_stats for m in model.modules() if isinstance(m, nn.modules.batchnorm._BatchNorm))


def test_frozen_statistics_still_normalise_by_the_batch() -> None:
    torch.manual_seed(0)
    layer = nn.Sequential(nn.BatchNorm1d(4))
    x = torch.randn(20, 4) * 3 + 7
    with frozen_statistics(layer):
        y = layer(x)
    assert y.mean(dim=0).abs().max() < 1e-5
    assert layer[0].num_batches_tracked == 0
    layer.eval()
    with frozen_statistics(layer):
        torch.testing.assert_close(
            layer(x), x, rtol=1e-4, atol=1e-4
        )  # in eval mode it uses the running statistics: 0 and 1
    with pytest.raises(RuntimeError, match="stop"), frozen_statistics(layer):
        raise RuntimeError("stop")
    assert layer[0].track_running_stats


def lie_terms(model: PairModel, negatives: bool) -> dict[str, float]:
    """The pair terms, by calling the loss on embeddings of the paired rows from a separate pass."""
    x, x_next, delta, paired = batch()
    loss = model.objective.loss
    assert isinstance(loss, LieLoss)
    z = model.method.encoder(torch.cat([x, x_next[paired]]))
    first, second = z[:ROWS], z[ROWS:]
    found = loss(first[paired], second, delta[paired], negatives=first[~paired] if negatives else None)
    return {name: getattr(found, name).item() for name in ("lie", "euclidean", "coordinates", "invariant", "total")}


@pytest.mark.parametrize("singles", [True, False])
def test_rows_without_a_pair_are_only_negatives(singles: bool) -> None:
    objective = replace(LIE, ssl=0.0, singles=singles)
    out = run(build("vicreg", objective))
    expected = lie_terms(build("vicreg", objective), singles)
    assert out.total.item() == pytest.approx(expected["total"], rel=1e-5)
    for name in ("lie", "euclidean", "coordinates", "invariant"):
        assert out.terms[name].item() == pytest.approx(expected[name], rel=1e-5), name
    x, x_next, delta, paired = batch()
    x_next[~paired], delta[~paired] = 0.5, 9.0  # these values are ignored
    other = build("vicreg", objective)(x, x_next, delta, paired, Draws(0, 0, ROWS))
    assert other.total.item() == out.total.item()
    without = run(build("vicreg", replace(objective, singles=not singles)))
    assert without.terms["lie"].item() != out.terms["lie"].item()
    assert without.terms["euclidean"].item() == out.terms["euclidean"].item()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("objective", [FRAMES, LIE, replace(LIE, ssl=0.0), replace(LIE, view="ssl")])
def test_a_batch_without_pairs_gives_zeros(method: str, objective: ObjectiveConfig) -> None:
    x, _, delta, _ = batch()
    model = build(method, objective)
    out = model(x, x, delta * 0, torch.zeros(ROWS, dtype=torch.bool), Draws(0, 0, ROWS))
    out.total.backward()
    names = ("frames",) if objective.name == "frames" else ("lie", "euclidean", "coordinates", "invariant")
    assert all(out.terms[name].item() == 0 for name in names)
    base = build(method, AloneConfig())(x, x, delta, torch.zeros(ROWS, dtype=torch.bool), Draws(0, 0, ROWS))
    assert out.total.item() == pytest.approx(objective.ssl * base.total.item())
    for name, parameter in model.named_parameters():
        if not parameter.requires_grad:
            continue
        assert parameter.grad is not None, name
        assert torch.isfinite(parameter.grad).all(), name
        if name.startswith("objective.") or objective.ssl == 0:
            assert not parameter.grad.any(), name


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("objective", [AloneConfig(), FRAMES, LIE, replace(LIE, ssl=0.0)])
def test_every_trained_parameter_has_a_gradient(method: str, objective: ObjectiveConfig) -> None:
    """DistributedDataParallel waits for all of them, even if a head has a weight of zero."""
    model = build(method, objective)
    run(model).total.backward()
    missing = [n for n, p in model.named_parameters() if p.requires_grad and p.grad is None]
    assert missing == []
    assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)
    assert any(p.grad is not None and p.grad.any() for p in model.method.encoder.parameters())


@pytest.mark.parametrize(
    ("method", "view", "expected"),
    [
        ("mae", "clean", {"masked": 1, "forward": 1}),
        ("mae", "ssl", {"masked": 1}),
        ("vicreg", "clean", {"forward": 2}),
        ("vicreg", "ssl", {"forward": 1}),
        ("simclr", "ssl", {"forward": 1}),
    ],
)
def test_number_of_passes_through_the_encoder(method: str, view: Any, expected: dict[str, int]) -> None:
    model = build(method, replace(LIE, view=view))
    count = calls(model)
    out = run(model)
    assert dict(count) == expected
    assert torch.isfinite(out.total)


def test_pairs_are_compared_by_the_view_of_the_method() -> None:
    model, again = (build("simclr", replace(LIE, view="ssl")) for _ in range(2))
    x, x_next, delta, paired = batch()
    draws = Draws(0, 0, ROWS)
    first, second = again.method([x, x_next], [draws.named("first"), draws.named("second")])
    assert isinstance(again.objective.loss, LieLoss)
    expected = again.objective.loss(first.z[paired], second.z[paired], delta[paired], negatives=first.z[~paired])
    assert run(model).terms["euclidean"].item() == pytest.approx(expected.euclidean.item(), rel=1e-5)
    assert run(model).terms["ssl"].item() == pytest.approx((first.loss + second.loss).item(), rel=1e-3)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("view", ["clean", "ssl"])
@pytest.mark.parametrize("objective", [FRAMES, LIE])
def test_bf16_keeps_the_pair_terms_in_float32(method: str, view: Any, objective: ObjectiveConfig) -> None:
    model = build(method, replace(objective, view=view))
    loss = model.objective.loss
    assert isinstance(loss, nn.Module)
    seen: list[torch.dtype] = []
    loss.register_forward_pre_hook(lambda module, inputs: seen.extend(x.dtype for x in inputs))
    loss.get_submodule("head").register_forward_hook(lambda module, inputs, output: seen.append(output.dtype))
    with torch.autocast("cpu", torch.bfloat16):
        out = run(model)
    assert set(seen) == {torch.float32}
    assert all(v.dtype == torch.float32 and v.isfinite() for v in out.terms.values())
    assert out.total.dtype == torch.float32
    out.total.backward()
    assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)
    exact = run(build(method, replace(objective, view=view)))
    assert out.total.item() == pytest.approx(exact.total.item(), rel=0.05)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("objective", [AloneConfig(), FRAMES, LIE])
def test_groups_are_a_partition_of_the_trained_parameters(method: str, objective: ObjectiveConfig) -> None:
    model = build(method, objective)
    next(iter(model.method.encoder.parameters())).requires_grad = False
    groups = model.groups()
    assert set(groups) == {"encoder", "heads"} | ({"operator"} if objective.name == "lie" else set())
    numbers = [id(p) for parameters in groups.values() for p in parameters]
    trained = {id(p) for p in model.parameters() if p.requires_grad}
    assert len(numbers) == len(set(numbers))
    assert set(numbers) == trained
    own = {id(p) for p in model.method.encoder.parameters()}
    assert {id(p) for p in groups["encoder"]} <= own
    if model.operator is not None:
        assert {id(p) for p in groups["operator"]} == {id(p) for p in model.operator.parameters()}


def test_pair_terms_agree_with_training_without_singles() -> None:
    model = build("vicreg", replace(LIE, singles=False, ssl=0.0))
    x, x_next, delta, paired = batch()
    z = model.method.encoder(torch.cat([x, x_next[paired]]))
    found = model.pair_terms(z[:ROWS][paired], z[ROWS:], delta[paired])
    assert set(found) == {"lie", "euclidean", "coordinates", "invariant"}
    expected = run(build("vicreg", replace(LIE, singles=False, ssl=0.0))).terms
    for name, value in found.items():
        assert value.item() == pytest.approx(expected[name].item(), rel=1e-5)


def test_a_first_frame_that_several_pairs_share_is_embedded_once() -> None:
    model = build("vicreg", replace(RotationsConfig(ssl=0.0, invariant=0.0), frames=4), factors=AXES).eval()
    sizes: list[int] = []
    model.method.encoder.register_forward_hook(lambda _, inputs, __: sizes.append(len(inputs[0])))
    x, x_next, *_ = batch()
    x = x[::3].repeat_interleave(3, dim=0)
    t = torch.randn(ROWS, 3)
    out = model(x, x_next, t, torch.ones(ROWS, dtype=torch.bool), Draws(0, 0, ROWS))
    assert sizes == [2 + ROWS]
    out.total.backward()
    assert out.t is not None
    assert len(out.t) == 2
