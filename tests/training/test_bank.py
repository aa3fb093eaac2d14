"""Banks of features: their content, how they are filled and resumed, and what is rejected."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
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
from lie_ssl.storage.locks import try_lock
from lie_ssl.training import bank_filling
from lie_ssl.training.bank import BANKS, FeatureBank, banks_folder
from lie_ssl.training.bank_blocks import CHECKSUM, CHECKSUMS, FEATURES, NONE, PAGE, BlockFiller, prepare_files
from lie_ssl.training.bank_card import BLOCK, ViewConfig, bank_key, describe
from lie_ssl.training.bank_filling import run_blocks
from tests.conftest import tiny_config
from tests.training.tiny_runs import ENVIRONMENT

VIEWS = ViewConfig(count=2, augment=AugmentConfig(crop_scale=(0.5, 1.0)), seed=3)


def mini(seed: int = 0) -> Encoder:
    torch.manual_seed(seed)
    return create_encoder(EncoderConfig("resnet_mini"), 16, 3)


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> EncoderConfig:
    """The same encoder as a config, which worker processes can use."""
    path = tmp_path_factory.mktemp("weights") / "mini.pt"
    torch.save(mini().body.state_dict(), path)
    return EncoderConfig("resnet_mini", weights=str(path))


@pytest.fixture(scope="module")
def bank(tiny: FrameSet, weights: EncoderConfig, tmp_path_factory: pytest.TempPathFactory) -> FeatureBank:
    return FeatureBank.fill(weights, tiny, tmp_path_factory.mktemp("banks"), views=VIEWS, jobs=1)


def copied(bank: FeatureBank, folder: Path) -> Path:
    return Path(shutil.copytree(bank.folder, folder / bank.folder.name))


def files(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir()}


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


def test_statistics_are_those_of_training_frames(bank: FeatureBank, tiny: FrameSet) -> None:
    train = np.flatnonzero(tiny.index["split"] == "train")
    plain = bank.read(train)[:, 0].astype(np.float64)
    assert np.allclose(bank.mean, plain.mean(axis=0), rtol=1e-5, atol=1e-6)
    std = plain.std(axis=0)
    assert np.allclose(bank.std, np.where(std == 0, 1, std), rtol=1e-4, atol=1e-6)


def test_two_processes_give_the_same_bytes(
    bank: FeatureBank, tiny: FrameSet, weights: EncoderConfig, tmp_path: Path
) -> None:
    other = FeatureBank.fill(weights, tiny, tmp_path, views=VIEWS, jobs=2)
    assert other.folder.name == bank.folder.name
    assert files(other.folder) == files(bank.folder)


SLOW = """
import sys, time
from lie_ssl.frames import FrameSet
from lie_ssl.methods.augment import AugmentConfig
from lie_ssl.methods.encoders import EncoderConfig
from lie_ssl.training.bank import FeatureBank
from lie_ssl.training.bank_blocks import BlockFiller
from lie_ssl.training.bank_card import ViewConfig

fill = BlockFiller.__call__

def slow(self, block):
    count = fill(self, block)
    time.sleep(60 if block == 1 else 0)
    return count

BlockFiller.__call__ = slow
data, weights, folder = sys.argv[1:]
views = ViewConfig(count=2, augment=AugmentConfig(crop_scale=(0.5, 1.0)), seed=3)
FeatureBank.fill(EncoderConfig("resnet_mini", weights=weights), FrameSet(data), folder, views=views, jobs=1)
"""


def test_filling_resumes_after_kill(
    bank: FeatureBank, tiny: FrameSet, weights: EncoderConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    command = [sys.executable, str(tmp_path / "slow.py"), str(tiny.folder), str(weights.weights), str(tmp_path)]
    process = subprocess.Popen(command, env=ENVIRONMENT)
    folder = tmp_path / bank.folder.name
    try:
        wait_until(lambda: len(done_blocks(folder)) >= 2 or process.poll() is not None)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert done_blocks(folder) == [0, 1]
    with pytest.raises(UserError, match="is not finished; run the same command again"):
        FeatureBank.open(folder)
    with (folder / FEATURES).open("r+b") as file:  # a block that was only half written, and one that was damaged
        file.seek(2 * BLOCK * bank.read([0]).nbytes)
        file.write(b"half")
        file.seek(0)
        file.write(b"damaged")
    filled: list[int] = []
    original = BlockFiller.__call__

    def noted(self: BlockFiller, block: int) -> int:
        filled.append(block)
        return original(self, block)

    monkeypatch.setattr(BlockFiller, "__call__", noted)
    FeatureBank.fill(weights, tiny, tmp_path, views=VIEWS, jobs=1)
    assert filled == [0, 2, 3, 4]
    assert {n: b for n, b in files(folder).items() if n != ".lock"} == files(bank.folder)


def done_blocks(folder: Path) -> list[int]:
    path = folder / CHECKSUMS
    content = path.read_bytes() if path.exists() else b""
    return [i for i in range(len(content) // CHECKSUM) if content[i * CHECKSUM : (i + 1) * CHECKSUM] != NONE]


def wait_until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


class Recorder:
    """A reporter that keeps everything."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def step(self, done: int, total: int, loss: float) -> None:
        raise AssertionError

    def busy(self, what: str) -> None:
        self.texts.append(what)

    def say(self, text: str) -> None:
        self.texts.append(text)


def test_a_second_process_waits(tiny: FrameSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    extractor, recorder = FeatureExtractor(mini()), Recorder()
    folder = tmp_path / bank_key(describe(extractor, tiny, ViewConfig()))
    folder.mkdir()
    thread = threading.Thread(target=FeatureBank.fill, args=(mini(), tiny, tmp_path), kwargs={"reporter": recorder})
    with try_lock(folder) as held:
        assert held
        thread.start()
        wait_until(lambda: bool(recorder.texts))
    thread.join()
    assert recorder.texts[0] == f"waiting for another process that fills {folder}"
    assert len(FeatureBank.open(folder)) == len(tiny)
    monkeypatch.setattr(BlockFiller, "__call__", None)  # nothing is computed again
    FeatureBank.fill(mini(), tiny, tmp_path)


def test_progress_has_a_rate_and_the_time_left(tiny: FrameSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bank_filling, "EVERY", 0.0)
    recorder = Recorder()
    FeatureBank.fill(mini(), tiny, tmp_path, reporter=recorder)
    assert recorder.texts[0].startswith(f"computing features: 128 of {len(tiny)} frames, ")
    assert recorder.texts[0].endswith("left")
    assert "frames/s" in recorder.texts[0]


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
        Damage("statistics", lambda f: (f / "statistics.safetensors").write_bytes(b"?"), "is missing or damaged"),
        Damage("no statistics", lambda f: (f / "statistics.safetensors").unlink(), "is missing or damaged"),
        Damage("json", lambda f: (f / "card.json").write_text("{"), "card.json is damaged"),
        Damage("changed", lambda f: change_card(f, dim=5), "has been changed or is damaged"),
        Damage("format", lambda f: change_card(f, format=9), "has format 9, but this version reads 1"),
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


def test_a_full_disk_is_found_before(tiny: FrameSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10**6, 10**6, 1000))
    with pytest.raises(UserError, match=r"the features need .* GB, but .* has 1e-06 GB free; free some space"):
        FeatureBank.fill(mini(), tiny, tmp_path)


def test_a_disk_that_fills_up_keeps_what_is_finished(
    tiny: FrameSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = Path.open
    count = 0

    def full(self: Path, mode: str = "r", *rest: Any) -> Any:
        nonlocal count
        count += mode == "r+b"
        if count > 4:  # two files a block
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return opened(self, mode, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", full)
        with pytest.raises(UserError, match="No space left on device; free some space and run the same command again"):
            FeatureBank.fill(mini(), tiny, tmp_path)
    (folder,) = tmp_path.iterdir()
    assert done_blocks(folder) == [0, 1]
    assert len(FeatureBank.fill(mini(), tiny, tmp_path)) == len(tiny)


class Spoiled(nn.Module):
    """Gives a wrong value for the brightest picture of a batch."""

    def __init__(self, value: float) -> None:
        super().__init__()
        self.value = value

    def forward(self, x: Tensor) -> Tensor:
        features = x.flatten(1)[:, :3].clone()
        features[x.sum((1, 2, 3)).argmax(), 1] = self.value
        return features


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (float("nan"), "features that are not finite"),
        (float("-inf"), "features that are not finite"),
        (7e4, "features above 65,504, the largest number of float16"),
    ],
)
def test_features_that_cannot_be_stored_name_their_frame(
    tiny: FrameSet, tmp_path: Path, value: float, message: str
) -> None:
    brightest = int(tiny.read(range(BLOCK)).sum(axis=(1, 2, 3), dtype=np.int64).argmax())
    with pytest.raises(UserError, match=rf"{message}, for frame {brightest} \(\w+/.*; check its weights"):
        FeatureBank.fill(Spoiled(value), tiny, tmp_path)


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


def test_a_network_that_cannot_be_sent_runs_here(tiny: FrameSet, tmp_path: Path) -> None:
    encoder = mini()
    encoder.body.own = lambda: None  # type: ignore[assignment]
    filler = BlockFiller(FeatureExtractor(encoder), tiny, tmp_path, ViewConfig())
    prepare_files(tmp_path, len(tiny), 2 * filler.extractor.dim)
    assert list(run_blocks(filler, [0, 4], jobs=2)) == [64, 32]


def test_a_module_without_a_map_says_so(tiny: FrameSet, tmp_path: Path) -> None:
    recorder = Recorder()
    bank = FeatureBank.fill(nn.Flatten(), tiny, tmp_path, reporter=recorder)
    assert recorder.texts[0] == "Flatten gives no map, so only its pooled output is used"
    assert bank.dim == 3 * 16 * 16
    assert np.allclose(bank.read([9])[0, 0], tiny.read([9])[0].transpose(2, 0, 1).ravel() / 127.5 - 1, atol=1e-3)


def test_one_frame_only(tmp_path: Path) -> None:
    frames = make_frames(tiny_config(classes=("car",), instances=1, step=360.0, poses=("2d",)), tmp_path, workers=1)
    assert len(frames) == 1
    bank = FeatureBank.fill(mini(), frames)
    assert bank.folder.parent == tmp_path / BANKS
    assert bank.read([0]).shape == (1, 1, bank.dim)
    assert np.allclose(bank.mean, bank.read([0])[0, 0], atol=1e-6)
    assert (bank.std == 1).all()


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


def test_a_link_that_leads_elsewhere_is_not_followed(tiny: FrameSet, tmp_path: Path) -> None:
    mine = tmp_path / "mine.txt"
    mine.write_text("mine")
    folder = tmp_path / "banks" / bank_key(describe(FeatureExtractor(mini()), tiny, ViewConfig()))
    folder.mkdir(parents=True)
    (folder / FEATURES).symlink_to(mine)
    with pytest.raises(UserError, match="is a link that leads out of"):
        FeatureBank.fill(mini(), tiny, tmp_path / "banks")
    assert mine.read_text() == "mine"


@pytest.mark.parametrize("count", [-1, 65, 1.5])
def test_wrong_numbers_of_views_are_rejected(count: Any) -> None:
    with pytest.raises(UserError, match=r"views.count is .* from 0 to 64"):
        ViewConfig(count=count)


def test_wrong_numbers_of_jobs_are_rejected(tiny: FrameSet, weights: EncoderConfig, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="jobs is 0, but it must be at least 1"):
        FeatureBank.fill(weights, tiny, tmp_path, jobs=0)
