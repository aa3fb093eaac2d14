"""Embeddings of frames, and the k-NN vote against a naive loop."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from lie_ssl.frames import FrameSet
from lie_ssl.methods.encoders import Encoder, EncoderConfig, create_encoder
from lie_ssl.methods.features import embed_frames, knn_accuracy, to_float


def naive(bank: Tensor, bank_labels: Tensor, queries: Tensor, labels: Tensor, k: int, temperature: float) -> float:
    """One query at a time, with Python floats."""

    def cosine(a: list[float], b: list[float]) -> float:
        return sum(x * y for x, y in zip(a, b, strict=True)) / math.sqrt(sum(x * x for x in a) * sum(x * x for x in b))

    right = 0
    for query, label in zip(queries.tolist(), labels.tolist(), strict=True):
        scored = [(cosine(query, row), c) for row, c in zip(bank.tolist(), bank_labels.tolist(), strict=True)]
        votes: dict[int, float] = {}
        for score, c in sorted(scored, reverse=True)[:k]:
            votes[c] = votes.get(c, 0.0) + math.exp(score / temperature)
        right += max(votes, key=lambda c: votes[c]) == label
    return right / len(queries)


@pytest.mark.parametrize(("k", "temperature"), [(1, 0.07), (5, 0.07), (20, 0.07), (20, 1.0), (500, 0.5)])
def test_knn_agrees_with_a_loop(k: int, temperature: float) -> None:
    torch.manual_seed(0)
    bank, queries = torch.randn(60, 4), torch.randn(80, 4)
    bank_labels, labels = torch.randint(0, 5, (60,)), torch.randint(0, 5, (80,))
    found = knn_accuracy(bank, bank_labels, queries, labels, k=k, temperature=temperature)
    assert found == pytest.approx(naive(bank, bank_labels, queries, labels, k, temperature))
    assert 0 < found < 1


def test_knn_is_perfect_on_clusters_and_at_chance_on_noise() -> None:
    torch.manual_seed(0)
    centres = torch.eye(10)
    labels = torch.arange(10).repeat(30)
    clusters = centres[labels] + 0.05 * torch.randn(300, 10)
    assert knn_accuracy(clusters[:200], labels[:200], clusters[200:], labels[200:]) == 1.0
    noise = torch.randn(3000, 10)
    classes = torch.randint(0, 10, (3000,))
    chance = knn_accuracy(noise[:1500], classes[:1500], noise[1500:], classes[1500:])
    assert chance == pytest.approx(0.1, abs=0.03)


def test_knn_with_classes_missing_from_bank_or_queries() -> None:
    bank = torch.eye(2)
    assert knn_accuracy(bank, torch.tensor([0, 1]), bank, torch.tensor([0, 7])) == 0.5
    assert knn_accuracy(bank, torch.tensor([9, 1]), bank, torch.tensor([0, 1])) == 0.5


@pytest.fixture
def encoder() -> Encoder:
    torch.manual_seed(0)
    return create_encoder(EncoderConfig(name="resnet_mini"), 16, 3)


@pytest.mark.parametrize("training", [True, False])
def test_embeddings_are_computed_in_eval_mode(tiny: FrameSet, encoder: Encoder, training: bool) -> None:
    with torch.no_grad():
        encoder(torch.rand(8, 3, 16, 16))  # so that batch and running statistics differ
    rows = np.array([5, 3, 100, 7, 3])
    images = torch.from_numpy(tiny.read(rows)).permute(0, 3, 1, 2).float() / 255
    expected = encoder.eval()(images).detach()
    encoder.train(training)
    buffers = [b.clone() for b in encoder.buffers()]
    for batch in (2, 256):
        found = embed_frames(encoder, tiny, rows, batch=batch)
        torch.testing.assert_close(found, expected)
        assert torch.equal(found[1], found[4]) or batch == 2
    assert not found.requires_grad
    assert found.dtype == torch.float32
    assert encoder.training is training
    assert all(torch.equal(a, b) for a, b in zip(buffers, encoder.buffers(), strict=True))
    assert len(embed_frames(encoder, tiny, [])) == 0


def test_the_mode_is_restored_after_an_error(tiny: FrameSet, encoder: Encoder) -> None:
    encoder.image_size = 32  # the frames have 16 pixels
    encoder.train()
    with pytest.raises(Exception, match="32"):
        embed_frames(encoder, tiny, [0])
    assert encoder.training


def test_to_float() -> None:
    bytes_ = torch.tensor([0, 51, 255], dtype=torch.uint8)
    assert to_float(bytes_).tolist() == pytest.approx([0.0, 0.2, 1.0])
    assert to_float(torch.tensor([0.25], dtype=torch.float64)).dtype == torch.float32
    assert to_float(torch.tensor([0.25])).item() == 0.25
