"""Batch norm over two processes against that of torch in one, and the conversion of whole models."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from lie_ssl._torchvision_compat import import_torchvision
from lie_ssl.errors import UserError
from lie_ssl.training.batchnorm import SyncBatchNorm, SyncBatchNormAct, convert_batchnorm
from tests.gloo import run_in_processes

ROWS = 7
CUTS = (3, 1, 0, 7)  # rows in the first of two processes
TIMM = ("test_resnet", "test_efficientnet")  # the second has an activation in its norms


def flat() -> nn.Module:
    return nn.Sequential(
        nn.Linear(4, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 3), nn.BatchNorm1d(3, momentum=None)
    )


def lines() -> nn.Module:
    return nn.Sequential(nn.Conv1d(4, 3, 2), nn.BatchNorm1d(3, momentum=0.3))


def pictures() -> nn.Module:
    return nn.Sequential(nn.Conv2d(4, 5, 2), nn.BatchNorm2d(5, eps=1e-2), nn.GELU(), nn.BatchNorm2d(5, affine=False))


def volumes() -> nn.Module:
    return nn.Sequential(nn.BatchNorm3d(4), nn.Conv3d(4, 2, 2), nn.BatchNorm3d(2, track_running_stats=False))


MODELS: dict[Callable[[], nn.Module], tuple[int, ...]] = {
    flat: (4,),
    lines: (4, 5),
    pictures: (4, 5, 4),
    volumes: (4, 3, 3, 3),
}


def train(model: nn.Module, x: Tensor, own: slice, world: int) -> dict[str, Tensor]:
    """Two steps of gradients without an update; the second does not change the running statistics.

    The loss is this process's share of the mean over the joined batch.
    """
    layers = [m for m in model.modules() if isinstance(m, nn.modules.batchnorm._BatchNorm)]
    local = x[own].clone().requires_grad_()
    first = model(local)
    (first.sin().sum() * world / ROWS).backward()
    tracked = [m.track_running_stats for m in layers]
    for m in layers:
        m.track_running_stats = False
    second = model(1 + 2 * local)
    (second.sin().sum() * world / ROWS).backward()
    for m, t in zip(layers, tracked, strict=True):
        m.track_running_stats = t
    found = {"first": first.detach(), "second": second.detach(), "input": local.grad / world}  # type: ignore[operator]
    inner = model.module if isinstance(model, DistributedDataParallel) else model
    found |= {f"gradient of {k}": p.grad for k, p in inner.named_parameters() if p.grad is not None}
    return found | {f"buffer {k}": b.clone() for k, b in inner.named_buffers()}


def own_rows(rank: int, cut: int) -> slice:
    return slice(0, cut) if rank == 0 else slice(cut, ROWS)


def batch(shape: tuple[int, ...]) -> Tensor:
    return 3 + 2 * torch.randn(ROWS, *shape, generator=torch.Generator().manual_seed(5)).double()


def seeded(make: Callable[[], nn.Module]) -> nn.Module:
    torch.manual_seed(1)
    model = make().double()
    for p in model.parameters():
        nn.init.uniform_(p, -1, 1)  # including the norms, which otherwise start as 1 and 0
    return model


def timm_model(name: str) -> nn.Module:
    import_torchvision()
    import timm

    model: nn.Module = timm.create_model(name, num_classes=3)
    return model


def train_small_models(rank: int, world: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for make, shape in MODELS.items():
        for cut in CUTS:
            model = convert_batchnorm(seeded(make))
            joined = DistributedDataParallel(model, broadcast_buffers=False) if cut != 1 else model
            result = train(joined, batch(shape), own_rows(rank, cut), world)
            if cut == 1:  # without DDP: gradients are averaged manually
                for name in result:
                    if name.startswith("gradient"):
                        torch.distributed.all_reduce(result[name])
                        result[name] /= world
            found[f"{make.__name__} {cut}"] = result
    return found


def edges(rank: int) -> dict[str, Any]:
    """Few values, low precision, and values far from zero."""
    layer = SyncBatchNorm(4)
    one_each = layer(torch.full((1, 4), float(rank)))
    messages = []
    for rows in (1 - rank, 0):
        with pytest.raises(ValueError, match="values per channel") as error:
            layer(torch.zeros(rows, 4))
        messages.append(str(error.value))
    tracked = layer.num_batches_tracked
    far = (1e4 + batch((4,)).float())[own_rows(rank, 3)]
    far_layer = SyncBatchNorm(4)
    low = SyncBatchNorm(4)(batch((4,)).bfloat16()[own_rows(rank, 3)])
    far_y = far_layer(far)
    return {
        "one each": one_each.detach(), "messages": messages, "tracked": tracked, "low": low.detach(),
        "far": far_y.detach(), "far variance": far_layer.running_var,
        "evaluated": layer.eval()(torch.full((2, 4), float(rank))).detach(),
    }  # fmt: skip


def train_timm_models(rank: int, world: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in TIMM:
        model = convert_batchnorm(seeded(partial(timm_model, name)))
        found[name] = train(DistributedDataParallel(model), batch((3, 32, 32)), own_rows(rank, 3), world)
    return found


def everything(rank: int, world: int) -> dict[str, Any]:
    """The work of both processes in one run, as starting them takes longer than the work."""
    return train_small_models(rank, world) | train_timm_models(rank, world) | edges(rank)


def agree(found: list[dict[str, Tensor]], expected: dict[str, Tensor]) -> None:
    """Checks the joined rows, and everything else on each rank, to 1e-10."""
    for name, value in expected.items():
        rows = name in ("first", "second", "input")
        values = [torch.cat([f[name] for f in found])] if rows else [f[name] for f in found]
        for v in values:
            assert torch.allclose(v, value, rtol=1e-10, atol=1e-10), name


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    return run_in_processes(everything, 2, tmp_path_factory.mktemp("two"))


@pytest.mark.parametrize("make", MODELS)
@pytest.mark.parametrize("cut", CUTS)
def test_two_processes_equal_one_on_the_joined_batch(
    two: list[dict[str, Any]], make: Callable[[], nn.Module], cut: int
) -> None:
    expected = train(seeded(make), batch(MODELS[make]), slice(None), 1)
    found = [rank[f"{make.__name__} {cut}"] for rank in two]
    assert found[0].keys() == expected.keys()
    assert len(expected) > 7
    agree(found, expected)


def test_one_row_per_process_is_enough_but_one_row_in_total_is_not(two: list[dict[str, Any]]) -> None:
    expected = nn.BatchNorm1d(4)(torch.tensor([[0.0], [1.0]]).expand(2, 4)).detach()
    assert torch.allclose(torch.cat([rank["one each"] for rank in two]), expected, atol=1e-6)
    for rank in two:
        assert "more than 1 values" in rank["messages"][0]
        assert "more than 0 values" in rank["messages"][1]
        assert rank["tracked"] == 1


def test_statistics_are_accurate_far_from_zero_and_in_low_precision(two: list[dict[str, Any]]) -> None:
    far = nn.BatchNorm1d(4).double()
    x = (1e4 + batch((4,)).float()).double()
    expected = far(x).detach()
    assert torch.allclose(torch.cat([rank["far"] for rank in two]).double(), expected, atol=2e-3)
    assert torch.allclose(two[0]["far variance"].double(), far.running_var, rtol=1e-4)  # type: ignore[arg-type]
    low = torch.cat([rank["low"] for rank in two])
    assert low.dtype == torch.bfloat16
    assert torch.allclose(low.double(), nn.BatchNorm1d(4).double()(batch((4,)).bfloat16().double()), atol=1e-2)


def test_evaluation_uses_the_running_statistics_of_each_process(two: list[dict[str, Any]]) -> None:
    # After one batch with values 0 and 1: mean 0.1 * 0.5, variance 0.9 + 0.1 * 0.5.
    for number, rank in enumerate(two):
        assert rank["evaluated"].flatten().tolist() == pytest.approx([(number - 0.05) / (0.95 + 1e-5) ** 0.5] * 8)


@pytest.mark.parametrize("name", TIMM)
def test_timm_models_in_two_processes(two: list[dict[str, Any]], name: str) -> None:
    expected = train(seeded(partial(timm_model, name)), batch((3, 32, 32)), slice(None), 1)
    assert two[0][name].keys() == expected.keys()
    agree([rank[name] for rank in two], expected)


@pytest.mark.parametrize("make", MODELS)
@pytest.mark.parametrize("training", [True, False])
def test_one_process_equals_torch_exactly(make: Callable[[], nn.Module], training: bool) -> None:
    x = batch(MODELS[make])
    plain, ours = seeded(make).train(training), convert_batchnorm(seeded(make).train(training))
    expected, found = train(plain, x, slice(None), 1), train(ours, x, slice(None), 1)
    assert found.keys() == expected.keys()
    assert all(torch.equal(found[k], expected[k]) for k in expected)
    assert all(m.training == training for m in ours.modules())


@pytest.mark.parametrize(("name", "kind"), [("resnet18", SyncBatchNorm), ("efficientnet_b0", SyncBatchNormAct)])
@pytest.mark.parametrize("training", [True, False])
def test_conversion_of_timm_models_has_no_effect_in_one_process(name: str, kind: type, training: bool) -> None:
    torch.manual_seed(0)
    plain = timm_model(name).train(training)
    ours = copy.deepcopy(plain)
    before = dict(ours.state_dict(keep_vars=True))
    assert convert_batchnorm(ours) is ours
    after = ours.state_dict(keep_vars=True)
    assert list(after) == list(before)
    assert all(after[k] is before[k] for k in before)  # shared, not copied
    assert not [m for m in ours.modules() if isinstance(m, (nn.BatchNorm1d, nn.BatchNorm2d))]
    count = sum(isinstance(m, nn.BatchNorm2d) for m in plain.modules())
    assert sum(type(m) is kind for m in ours.modules()) == count > 0
    x = torch.randn(2, 3, 64, 64)
    outputs = []
    for model in (plain, ours):
        torch.manual_seed(0)
        outputs.append(model(x))
        outputs[-1].square().sum().backward()
    assert torch.equal(*outputs)
    assert all(torch.equal(p.grad, q.grad) for p, q in zip(plain.parameters(), ours.parameters(), strict=True))  # type: ignore[arg-type]
    assert all(torch.equal(p, q) for p, q in zip(plain.buffers(), ours.buffers(), strict=True))


def test_conversion_of_a_root_layer_and_of_shared_layers() -> None:
    root = convert_batchnorm(nn.BatchNorm2d(3))
    assert type(root) is SyncBatchNorm
    assert type(convert_batchnorm(root)) is SyncBatchNorm  # again
    shared = nn.BatchNorm1d(3)
    others = [nn.LayerNorm(3), nn.GroupNorm(1, 3), nn.InstanceNorm1d(3), nn.SyncBatchNorm(3)]
    tree = nn.ModuleList([shared, nn.Sequential(shared), *others])
    kinds = [type(m) for m in others]
    convert_batchnorm(tree)
    assert tree[0] is tree[1][0] is shared  # type: ignore[index]
    assert isinstance(shared, SyncBatchNorm)
    assert [type(m) for m in others] == kinds


def test_converted_layers_can_be_copied_and_pickled() -> None:
    model = convert_batchnorm(seeded(pictures))
    x = batch(MODELS[pictures])
    expected = copy.deepcopy(model)(x)
    assert torch.equal(pickle.loads(pickle.dumps(model))(x), expected)


class OwnForward(nn.BatchNorm1d):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) + 1


@pytest.mark.parametrize("layer", [OwnForward(3), nn.LazyBatchNorm1d()])
def test_an_unknown_batch_norm_is_named_and_nothing_is_changed(layer: nn.Module) -> None:
    model = nn.Sequential(nn.BatchNorm1d(3), layer)
    with pytest.raises(UserError, match=rf"layer 1 is a {type(layer).__name__}"):
        convert_batchnorm(model)
    assert type(model[0]) is nn.BatchNorm1d


@pytest.mark.parametrize("shape", [(3,), (2, 4), (2, 4, 3)])
def test_invalid_shapes_are_named(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"expected \(N, 3, \.\.\.\)"):
        SyncBatchNorm(3)(torch.zeros(shape))
