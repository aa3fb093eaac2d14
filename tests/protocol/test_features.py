"""Embeddings are computed once, and never confused with those of another encoder or data set."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from lie_ssl.frames import FrameSet, make_frames
from lie_ssl.methods.encoders import Encoder, EncoderConfig, create_encoder
from lie_ssl.methods.features import embed_frames
from lie_ssl.methods.hashing import encoder_hash
from lie_ssl.protocol.features import Features
from tests.conftest import tiny_config


class Counting(nn.Module):
    """Counts the pictures that it embeds."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 5)
        self.seen = 0

    def forward(self, images: Tensor) -> Tensor:
        self.seen += len(images)
        found: Tensor = self.layer(images.mean(dim=(2, 3)))
        return found


@pytest.fixture
def encoder() -> Counting:
    torch.manual_seed(0)
    return Counting().train()


def test_rows_come_in_any_order_and_are_computed_once(tiny: FrameSet, encoder: Counting) -> None:
    features = Features(encoder, tiny)
    rows = np.array([7, 3, 7, 40])
    torch.testing.assert_close(features(rows), embed_frames(encoder, tiny, rows), rtol=0, atol=1e-6)
    encoder.seen = 0
    first = features(np.array([40, 5, 3]))
    assert encoder.seen == 1
    assert torch.equal(features(np.array([5])), first[1:2])
    assert encoder.training  # as it was given
    assert features(rows[:0]).shape == (0, 5)


def test_a_second_evaluation_computes_nothing(tiny: FrameSet, encoder: Counting, tmp_path: Path) -> None:
    rows = np.arange(0, 60, 3)
    features = Features(encoder, tiny, tmp_path)
    wanted = features(rows)
    features.save()
    encoder.seen = 0
    again = Features(encoder, tiny, tmp_path)
    assert torch.equal(again(rows[::-1].copy()), wanted.flip(0))
    assert encoder.seen == 0
    again(np.array([1]))
    again.save()
    assert torch.equal(Features(encoder, tiny, tmp_path)(rows), wanted)
    assert encoder.seen == 1
    assert [p.suffix for p in tmp_path.iterdir()] == [".safetensors"]


def test_no_file_is_written_without_new_embeddings(tiny: FrameSet, encoder: Counting, tmp_path: Path) -> None:
    features = Features(encoder, tiny, tmp_path / "cache")
    features.save()
    assert not (tmp_path / "cache").exists()


def test_other_weights_or_data_have_another_file(tiny: FrameSet, encoder: Counting, tmp_path: Path) -> None:
    first = Features(encoder, tiny, tmp_path).path
    assert Features(encoder, tiny, tmp_path).path == first
    other = make_frames(tiny_config(step=180.0), tmp_path / "other", workers=1)
    assert Features(encoder, other, tmp_path).path != first
    with torch.no_grad():
        encoder.layer.weight[0, 0] += 1e-6
    assert Features(encoder, tiny, tmp_path).path != first


def test_encoders_with_the_same_weights_can_have_different_hashes() -> None:
    config = EncoderConfig(name="vit_tiny_patch16_224", patch_size=8, options=(("depth", 1),), pool="avg")
    torch.manual_seed(0)
    average = create_encoder(config, 16, 3)
    token = create_encoder(EncoderConfig(**{**vars(config), "pool": "token"}), 16, 3)
    token.load_state_dict(average.state_dict())
    assert encoder_hash(average) != encoder_hash(token)
    assert encoder_hash(average) == encoder_hash(average.train()) == encoder_hash(average.eval())
    brighter = Encoder(average.body, 16, 3, ((0.4,) * 3, (0.5,) * 3), "avg")
    assert encoder_hash(brighter) != encoder_hash(average)


@pytest.mark.parametrize("damage", ["cut", "flipped", "emptied", "foreign", "without a hash"])
def test_a_damaged_file_is_computed_again(tiny: FrameSet, encoder: Counting, tmp_path: Path, damage: str) -> None:
    rows = np.arange(10)
    features = Features(encoder, tiny, tmp_path)
    wanted = features(rows)
    features.save()
    assert features.path is not None
    content = bytearray(features.path.read_bytes())
    if damage == "cut":
        features.path.write_bytes(content[:-20])
    elif damage == "flipped":
        content[-3] ^= 0xFF
        features.path.write_bytes(content)
    elif damage == "emptied":
        features.path.write_bytes(b"")
    elif damage == "foreign":
        save_file({"other": torch.zeros(2)}, features.path)
    else:
        save_file(load_file(features.path), features.path)
    encoder.seen = 0
    again = Features(encoder, tiny, tmp_path)
    assert torch.equal(again(rows), wanted)
    assert encoder.seen == 10
    again.save()
    assert torch.equal(Features(encoder, tiny, tmp_path)(rows), wanted)
    assert encoder.seen == 10
