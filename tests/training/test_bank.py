"""Banks of features: their content, their names, and what is rejected."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet, make_frames
from lie_ssl.frames.loader import to_tensor
from lie_ssl.methods.augment import AugmentConfig, augment
from lie_ssl.methods.draws import Draws
from lie_ssl.methods.encoders import Encoder, EncoderConfig, create_encoder
from lie_ssl.methods.extractor import FeatureConfig, FeatureExtractor
from lie_ssl.methods.features import to_float
from lie_ssl.training.bank import BANKS, FeatureBank, banks_folder
from lie_ssl.training.bank_blocks import FEATURES, PAGE
from lie_ssl.training.bank_card import BLOCK, ViewConfig, bank_key, describe
from tests.conftest import tiny_config
from tests.training.bank_examples import VIEWS, mini


def copied(bank: FeatureBank, folder: Path) -> Path:
    return Path(shutil.copytree(bank.folder, folder / bank.folder.name))


@torch.no_grad()
def test_reading_equals_a_forward_pass(bank: FeatureBank, tiny: FrameSet, weights: EncoderConfig) -> None:
    extractor = FeatureExtractor(create_encoder(weights, 16, 3))
    rows = [3, 200, 64, 3]
    found = bank.read(rows)
    assert found.shape == (4, 3, extractor.dim)
    assert found.dtype == np.float16
    assert len(bank) == len(tiny)
    assert bank.slices == extractor.slices
    wanted = extractor(to_float(to_tensor(tiny.read(rows)))).numpy()
    assert np.allclose(found[:, 0], wanted, rtol=1e-3, atol=1e-5)


@torch.no_grad()
def test_a_view_depends_on_its_frame_only(bank: FeatureBank, tiny: FrameSet, weights: EncoderConfig) -> None:
    extractor = FeatureExtractor(create_encoder(weights, 16, 3))
    row, view = 130, 2
    draws = Draws(VIEWS.seed, row // PAGE, PAGE, row % PAGE, 1).named(f"view{view}")
    wanted = extractor(augment(to_tensor(tiny.read([row])), draws, VIEWS.augment)).numpy()
    assert np.allclose(bank.read([row])[0, view], wanted[0], rtol=2e-3, atol=1e-4)
    assert not np.allclose(bank.read([row])[0, 1], wanted[0], rtol=1e-2, atol=1e-2)
    assert PAGE % BLOCK == 0


def test_the_key_changes_with_each_ingredient(tiny: FrameSet, tmp_path: Path) -> None:
    other_data = make_frames(tiny_config(seed=1), tmp_path / "other", workers=1)

    def key(
        encoder: Encoder | None = None,
        frames: FrameSet = tiny,
        features: FeatureConfig | None = None,
        views: ViewConfig = VIEWS,
    ) -> str:
        return bank_key(describe(FeatureExtractor(encoder or mini(), features), frames, views))

    keys = [
        key(), key(mini(seed=1)), key(frames=other_data), key(features=FeatureConfig(grid=2)),
        key(features=FeatureConfig(layers=("layer2",))), key(views=replace(VIEWS, count=1)),
        key(views=replace(VIEWS, seed=4)), key(views=replace(VIEWS, augment=AugmentConfig())), key(views=ViewConfig()),
    ]  # fmt: skip
    assert len(set(keys)) == len(keys)
    assert key() == keys[0]
    assert key(views=ViewConfig(seed=9)) == keys[-1]  # the seed does not matter without views


def test_a_bank_of_something_else_is_rejected(bank: FeatureBank, tiny: FrameSet, tmp_path: Path) -> None:
    FeatureBank.open(bank.folder, FeatureExtractor(mini()), tiny)
    with pytest.raises(UserError, match=r"another encoder or data set \(encoder.hash is .* there and"):
        FeatureBank.open(bank.folder, FeatureExtractor(mini(seed=1)), tiny)
    with pytest.raises(UserError, match=r"another encoder or data set \(grid is 4 there and 2 here"):
        FeatureBank.open(bank.folder, FeatureExtractor(mini(), FeatureConfig(grid=2)))
    other = make_frames(tiny_config(seed=1), tmp_path / "other", workers=1)
    with pytest.raises(UserError, match=r"another encoder or data set \(data is "):
        FeatureBank.open(bank.folder, frames=other)
    wrong = tmp_path / bank_key(describe(FeatureExtractor(mini()), tiny, ViewConfig()))
    shutil.copytree(bank.folder, wrong)  # under the name of another bank
    with pytest.raises(UserError, match=r"another encoder or data set \(views"):
        FeatureBank.fill(mini(), tiny, tmp_path)


class Damage(NamedTuple):
    name: str
    change: Callable[[Path], Any]
    message: str


def change_card(folder: Path, **values: Any) -> None:
    card = json.loads((folder / "card.json").read_text())
    (folder / "card.json").write_text(json.dumps(card | values))


@pytest.mark.parametrize(
    "damage",
    [
        Damage("short", lambda f: os.truncate(f / FEATURES, 100), "has 100 bytes instead of"),
        Damage("missing", lambda f: (f / FEATURES).unlink(), "has 0 bytes instead of"),
        Damage("json", lambda f: (f / "card.json").write_text("{"), "card.json is damaged"),
        Damage("changed", lambda f: change_card(f, dim=5), "has been changed or is damaged"),
        Damage("format", lambda f: change_card(f, format=9), "has format 9, but this version reads 2"),
        Damage("field", lambda f: change_card(f, dim="5"), "has '5' for 'dim'"),
    ],
    ids=lambda damage: damage.name,
)
def test_damage_is_one_sentence_with_a_remedy(bank: FeatureBank, tmp_path: Path, damage: Damage) -> None:
    folder = copied(bank, tmp_path)
    damage.change(folder)
    with pytest.raises(UserError, match=damage.message) as caught:
        FeatureBank.open(folder)
    assert f"delete {folder} and run the same command again" in str(caught.value)


def test_other_folders_are_not_banks(tiny: FrameSet, tmp_path: Path) -> None:
    for folder in (tmp_path, tiny.folder, tmp_path / "nothing"):
        with pytest.raises(UserError, match="is not a bank of features"):
            FeatureBank.open(folder)


class Scaled(nn.Module):
    """Has a setting that is neither a weight nor printed."""

    def __init__(self, scale: float) -> None:
        super().__init__()
        self.scale = scale

    def forward(self, x: Tensor) -> Tensor:
        return self.scale * x.flatten(1)


def test_a_module_that_computes_something_else_is_noticed(tiny: FrameSet, tmp_path: Path) -> None:
    FeatureBank.fill(Scaled(1.0), tiny, tmp_path)
    FeatureBank.fill(Scaled(1.0), tiny, tmp_path)
    with pytest.raises(UserError, match="has other features of the first frame than the encoder gives now"):
        FeatureBank.fill(Scaled(1.1), tiny, tmp_path)


def test_one_frame_only(tmp_path: Path) -> None:
    frames = make_frames(tiny_config(classes=("car",), instances=1, step=360.0, poses=("2d",)), tmp_path, workers=1)
    assert len(frames) == 1
    bank = FeatureBank.fill(mini(), frames)
    assert bank.folder.parent == tmp_path / BANKS
    assert bank.read([0]).shape == (1, 1, bank.dim)


def test_pictures_of_another_size_are_rejected(tiny: FrameSet, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"takes pictures of 3 x 32 px, but those of .* are 3 x 16 px"):
        FeatureBank.fill(EncoderConfig("resnet_mini", image_size=32), tiny, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_data_set_that_cannot_be_written_needs_another_folder(
    tiny: FrameSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert banks_folder(tiny, None) == tiny.folder / BANKS
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert banks_folder(tiny, tmp_path) == tmp_path
    with pytest.raises(UserError, match="cannot be written; give another folder"):
        banks_folder(tiny, None)


@pytest.mark.parametrize("count", [-1, 65, 1.5])
def test_wrong_numbers_of_views_are_rejected(count: Any) -> None:
    with pytest.raises(UserError, match=r"views.count is .* from 0 to 64"):
        ViewConfig(count=count)
