"""How banks of features are filled and resumed."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch import Tensor, nn

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.methods.encoders import EncoderConfig
from lie_ssl.methods.extractor import FeatureExtractor
from lie_ssl.storage.locks import try_lock
from lie_ssl.training import bank_filling
from lie_ssl.training.bank import FeatureBank
from lie_ssl.training.bank_blocks import CHECKSUM, CHECKSUMS, FEATURES, NONE, BlockFiller, prepare_files
from lie_ssl.training.bank_card import BLOCK, ViewConfig, bank_key, describe
from lie_ssl.training.bank_filling import run_blocks
from tests.training.bank_examples import VIEWS, mini
from tests.training.tiny_runs import ENVIRONMENT


def files(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir()}


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


def test_a_link_that_leads_elsewhere_is_not_followed(tiny: FrameSet, tmp_path: Path) -> None:
    mine = tmp_path / "mine.txt"
    mine.write_text("mine")
    folder = tmp_path / "banks" / bank_key(describe(FeatureExtractor(mini()), tiny, ViewConfig()))
    folder.mkdir(parents=True)
    (folder / FEATURES).symlink_to(mine)
    with pytest.raises(UserError, match="is a link that leads out of"):
        FeatureBank.fill(mini(), tiny, tmp_path / "banks")
    assert mine.read_text() == "mine"


def test_wrong_numbers_of_jobs_are_rejected(tiny: FrameSet, weights: EncoderConfig, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="jobs is 0, but it must be at least 1"):
        FeatureBank.fill(weights, tiny, tmp_path, jobs=0)
