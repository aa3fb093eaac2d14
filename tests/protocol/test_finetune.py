"""Finetuning trains a copy; the given encoder stays the same, bit for bit."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.frames.loader import to_tensor
from lie_ssl.lie import LieOperator
from lie_ssl.methods.encoders import Encoder, EncoderConfig, create_encoder
from lie_ssl.methods.features import to_float
from lie_ssl.protocol.evaluate import EvaluateConfig
from lie_ssl.protocol.finetune import Classifier, DivergedError, FinetuneConfig, finetune, predict
from lie_ssl.protocol.neighbours import NeighbourSampler
from lie_ssl.protocol.probe import Probe, ProbeConfig
from lie_ssl.protocol.settings import Settings, TrainingRows
from tests.training.tiny_runs import differences


class Small(nn.Module):
    """A convolution with batch-norm, whose buffers training would change."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(channels, 8, 5, 4), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten())

    def forward(self, images: Tensor) -> Tensor:
        found: Tensor = self.layers(images)
        return found


@pytest.fixture
def encoder() -> Encoder:
    torch.manual_seed(0)
    return Encoder(Small(3), 16, 3)


@pytest.fixture(scope="module")
def rows(tiny: FrameSet) -> TrainingRows:
    return Settings(tiny.index).training(0.5)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("option", [1, 2])
def test_the_encoder_is_not_changed(
    tiny: FrameSet, rows: TrainingRows, encoder: Encoder, training: bool, option: int
) -> None:
    encoder.train(training)
    operator = LieOperator(encoder.dim, 2)
    before = {k: v.clone() for k, v in (encoder.state_dict() | operator.state_dict()).items()}
    neighbours = NeighbourSampler(operator, torch.randn(9, 2)) if option == 2 else None
    model = finetune(encoder, tiny, rows, "adamw", 1e-2, FinetuneConfig(steps=3, batch=8), 0, neighbours)
    predict(model, tiny, rows.typical)
    assert differences(before, encoder.state_dict() | operator.state_dict()) == []
    assert encoder.training is training
    assert all(p.grad is None for p in (*encoder.parameters(), *operator.parameters()))
    assert not model.training
    moved = differences(encoder.state_dict(), model.encoder.state_dict())
    assert {"/body.layers.0.weight", "/body.layers.1.running_mean", "/body.layers.1.weight"} <= set(moved)


def test_frames_are_learned(tiny: FrameSet, rows: TrainingRows, encoder: Encoder) -> None:
    config = FinetuneConfig(steps=60, batch=32)
    model = finetune(encoder, tiny, rows, "adamw", 1e-2, config, seed=0)
    found = predict(model, tiny, rows.all, batch=7)
    assert float((found.numpy() == tiny.labels[rows.all]).mean()) > 0.9
    assert torch.equal(found, predict(model, tiny, rows.all))
    assert predict(model, tiny, rows.all[:0]).shape == (0,)


@pytest.mark.parametrize("name", ["adamw", "sgd"])
def test_steps_against_a_plain_loop(tiny: FrameSet, encoder: Encoder, name: str) -> None:
    """There is a single frame, so every batch consists of four copies of it."""
    row = TrainingRows(np.array([5]), np.array([5]))
    config = FinetuneConfig(steps=4, batch=4, warmup=0.5)
    model = finetune(encoder, tiny, row, name, 1e-3, config, seed=0)  # type: ignore[arg-type]
    wanted = Classifier(encoder, 3).train()
    images = torch.from_numpy(tiny.read([5] * 4)).permute(0, 3, 1, 2).float() / 255
    labels = torch.tensor([int(tiny.labels[5])] * 4)
    parameters = list(wanted.parameters())
    optimiser: torch.optim.Optimizer = (
        torch.optim.Adam(parameters) if name == "adamw" else torch.optim.SGD(parameters, momentum=0.9)
    )
    for step in range(4):
        for group in optimiser.param_groups:
            group["lr"] = 1e-3 * min((step + 1) / 2, (1 + math.cos(math.pi * step / 4)) / 2)
        optimiser.zero_grad()
        functional.cross_entropy(wanted(images), labels).backward()
        nn.utils.clip_grad_norm_(parameters, 5.0)
        optimiser.step()
    for key, value in wanted.state_dict().items():
        torch.testing.assert_close(model.state_dict()[key], value, rtol=1e-4, atol=1e-6)


def test_the_initial_classifier_is_that_of_the_probe(tiny: FrameSet, rows: TrainingRows, encoder: Encoder) -> None:
    z, labels = encoder.eval()(to_float(to_tensor(tiny.read(rows.all)))), torch.from_numpy(tiny.labels[rows.all])
    probe = Probe(ProbeConfig(steps=50, batch=16), encoder.dim, len(tiny.classes))
    probe.fit((z, labels), (z[:0], labels[:0]), 0)
    model = Classifier(encoder, len(tiny.classes))
    model.load_linear(probe.trial(2))
    same = predict(model, tiny, rows.all) == probe.predict(z, 2)
    assert float(same.double().mean()) > 0.95  # batch-norm adds its own epsilon to small variances
    config = FinetuneConfig(steps=1, batch=8, warmup=0.0)
    near = finetune(encoder, tiny, rows, "sgd", 1e-9, config, seed=0, start=probe.trial(2))
    torch.testing.assert_close(near.linear.weight, probe.weight[2])
    with pytest.raises(UserError, match=r"--finetune.start zero"):
        EvaluateConfig(probe=ProbeConfig(normalise=False), finetune=config)


class Batches(FrameSet):
    """Records the rows that are read."""

    rows_read: list[np.ndarray]

    def read(self, rows: object) -> np.ndarray:
        self.rows_read.append(np.asarray(rows))
        return super().read(rows)  # type: ignore[arg-type]


@pytest.fixture
def batches(tiny: FrameSet) -> Batches:
    frames = Batches(tiny.folder)
    frames.rows_read = []
    return frames


def test_batches_have_as_many_varying_as_typical_frames(batches: Batches, rows: TrainingRows, encoder: Encoder) -> None:
    finetune(encoder, batches, rows, "sgd", 1e-3, FinetuneConfig(steps=6, batch=8), seed=0)
    assert len(batches.rows_read) == 6
    for batch in batches.rows_read:
        assert int(np.isin(batch, rows.diverse).sum()) == 4
        assert int(np.isin(batch, rows.typical).sum()) == 4


def test_the_same_seed_gives_the_same_bits(tiny: FrameSet, rows: TrainingRows, encoder: Encoder) -> None:
    config = FinetuneConfig(steps=2, batch=8)
    a, b, c = (finetune(encoder, tiny, rows, "adamw", 1e-3, config, seed).state_dict() for seed in (1, 1, 2))
    assert differences(a, b) == []
    assert differences(a, c) != []


def test_neighbours_enter_the_loss(tiny: FrameSet, rows: TrainingRows, encoder: Encoder) -> None:
    seen: list[Tensor] = []

    def neighbours(z: Tensor, generator: torch.Generator) -> list[Tensor]:
        seen.append(z)
        return [0 * z, 2 * z]

    config = FinetuneConfig(steps=1, batch=4)
    one = finetune(encoder, tiny, rows, "sgd", 1e-2, config, 0)
    three = finetune(encoder, tiny, rows, "sgd", 1e-2, config, 0, neighbours)
    assert seen[0].shape == (4, encoder.dim)
    assert seen[0].requires_grad
    z = torch.cat([seen[0].detach(), 0 * seen[0].detach(), 2 * seen[0].detach()])
    running = 0.1 * z.mean(dim=0)  # momentum of batch-norm
    torch.testing.assert_close(three.norm.running_mean, running, rtol=1e-4, atol=1e-6)
    assert differences(one.state_dict(), three.state_dict()) != []


def test_a_rate_that_diverges_is_named(tiny: FrameSet, rows: TrainingRows, encoder: Encoder) -> None:
    with torch.no_grad():
        encoder.body.layers[0].weight[0] = math.nan  # type: ignore[index, union-attr]
    with pytest.raises(DivergedError, match=r"rate 0.01 diverged at step 1; leave out that rate"):
        finetune(encoder, tiny, rows, "adamw", 1e-2, FinetuneConfig(steps=2, batch=4), 0)


def test_no_frames(tiny: FrameSet, encoder: Encoder) -> None:
    none = TrainingRows(np.zeros(0, np.int64), np.zeros(0, np.int64))
    with pytest.raises(UserError, match="no frames to train"):
        finetune(encoder, tiny, none, "adamw", 1e-2, FinetuneConfig(steps=2, batch=4), 0)


def test_a_timm_model_can_be_finetuned(tiny: FrameSet, rows: TrainingRows) -> None:
    encoder = create_encoder(EncoderConfig(name="vit_tiny_patch16_224", patch_size=8, options=(("depth", 1),)), 16, 3)
    model = finetune(encoder, tiny, rows, "adamw", 1e-3, FinetuneConfig(steps=1, batch=4), 0)
    assert predict(model, tiny, rows.typical).shape == rows.typical.shape


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"steps": -1}, "steps must be 0 or more"),
        ({"batch": 5}, "batch must be even and 4 or more"),
        ({"batch": 2}, "batch must be even and 4 or more"),
        ({"rates": ()}, "rates above 0"),
        ({"rates": (0.0,)}, "rates above 0"),
        ({"warmup": 1.0}, "warm-up in"),
        ({"weight_decay": -0.1}, "decay of 0 or more"),
        ({"optimisers": ()}, "adamw, sgd or both"),
    ],
)
def test_wrong_settings(settings: dict[str, object], words: str) -> None:
    with pytest.raises(UserError, match=words):
        FinetuneConfig(**settings)  # type: ignore[arg-type]


def test_trials_are_every_optimiser_with_every_rate() -> None:
    config = FinetuneConfig(rates=(1.0, 2.0), optimisers=("sgd", "adamw"))
    assert config.trials == [("sgd", 1.0), ("sgd", 2.0), ("adamw", 1.0), ("adamw", 2.0)]
