"""A killed run resumes with identical results: real processes, real signals."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from lie_ssl.cli import main
from lie_ssl.commands.bar import Bar
from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.methods.encoders import EncoderConfig, create_encoder
from lie_ssl.methods.weights import save_weights
from lie_ssl.storage.locks import folder_lock
from lie_ssl.training.checkpoint_io import AtomicCheckpointIO
from lie_ssl.training.checkpoints import read_checkpoint
from lie_ssl.training.config import PretrainConfig
from lie_ssl.training.coordinates import read_coordinates
from lie_ssl.training.folder import read_run_card, write_run_card
from lie_ssl.training.run import pretrain
from tests.training.tiny_runs import (
    ENVIRONMENT,
    LIE_SSL,
    Notes,
    StopError,
    checkpoint,
    differences,
    few_pairs,
    flags,
    rows,
    tiny_run,
)

STEPS, SAVE = 24, 5


@pytest.fixture(autouse=True)
def _one_thread(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    few_pairs(monkeypatch)
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def started(command: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*LIE_SSL, *command], env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def wait_for_step(process: subprocess.Popen[str], out: Path, least: int) -> int:
    """Pauses the process at a step of at least `least` that has no checkpoint, and returns the step."""
    for _ in range(6_000):
        assert process.poll() is None, process.communicate()
        if steps_logged(out) >= least and (out / "last.ckpt").exists():
            process.send_signal(signal.SIGSTOP)
            step = steps_logged(out)
            if step % SAVE not in (0, SAVE - 1):  # the row of the next step may be incomplete
                return step
            process.send_signal(signal.SIGCONT)
        time.sleep(0.01)
    raise AssertionError("the run never got to the step")


def steps_logged(out: Path) -> int:
    """The step of the second last row, which is complete."""
    path = out / "metrics.csv"
    lines = path.read_text().splitlines()[1:-1] if path.exists() else []
    return int(lines[-1].split(",")[0]) if lines else 0


@pytest.mark.parametrize(
    ("words", "more"),
    [
        (["mae", "lie"], []),
        (["simclr", "lie"], ["--optim.accumulate", "2"]),
        pytest.param(["vicreg", "frames"], ["--workers", "1"], marks=pytest.mark.slow),
    ],
    ids=lambda value: "-".join(value) or "plain",
)
def test_a_resumed_run_is_identical(tiny: FrameSet, tmp_path: Path, words: list[str], more: list[str]) -> None:
    def command(out: Path) -> list[str]:
        own = flags(tiny, out, "--optim.steps", str(STEPS), "--log.save-every", str(SAVE), "--device", "cpu", *more)
        return ["pretrain", *words, *own]

    out, whole = tmp_path / "killed", tmp_path / "whole"
    process = started(command(out))
    step = wait_for_step(process, out, least=SAVE + 2)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    saved = checkpoint(out / "last.ckpt")["global_step"]
    assert saved % SAVE == 0
    assert saved < step < STEPS
    assert not read_run_card(out)["finished"]

    main(command(out))
    main(command(whole))
    assert read_run_card(out)["finished"]
    a, b = checkpoint(out / "last.ckpt"), checkpoint(whole / "last.ckpt")
    assert a["global_step"] == STEPS
    assert a["optimizer_states"][0]["state"]
    for part in ("state_dict", "optimizer_states", "lr_schedulers", "lie_ssl"):
        assert differences(a[part], b[part], part) == []
    for table in ("metrics.csv", "checks.csv"):
        found, expected = ([r | {"images_per_second": ""} for r in rows(run / table)] for run in (out, whole))
        assert found == expected
    assert [int(r["step"]) for r in rows(out / "metrics.csv")] == list(range(1, STEPS + 1))
    assert a["lie_ssl"]["batches"] == STEPS * (2 if "2" in more else 1)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_sigint_and_sigterm_stop_the_command_cleanly(
    tiny: FrameSet, tmp_path: Path, number: int, code: int, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """Ctrl-C is one sentence and exit code 130, SIGTERM one and exit code 143; the same command resumes."""
    command = [
        "pretrain",
        "mae",
        "alone",
        *flags(tiny, tmp_path / "run", "--optim.steps", "6", "--log.save-every", "2"),
    ]
    signal.signal(signal.SIGINT, signal.default_int_handler)  # shells make background jobs ignore it
    handlers = [signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)]
    with monkeypatch.context() as patch:
        patch.setattr(Bar, "step", lambda bar, done, total, loss: os.kill(os.getpid(), number) if done == 3 else None)
        with pytest.raises(SystemExit) as stop:
            main(command)
    assert stop.value.code == code
    errors = capsys.readouterr().err
    assert "Traceback" not in errors
    assert len(errors.splitlines()) == 1
    assert "run the same command again to resume" in errors
    assert ("SIGTERM" in errors) == (number == signal.SIGTERM)
    assert not read_run_card(tmp_path / "run")["finished"]
    assert [signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)] == handlers
    main(command)
    assert "resuming at step 2" in capsys.readouterr().out
    assert [r["step"] for r in rows(tmp_path / "run" / "metrics.csv")] == list("123456")


def test_a_run_killed_after_its_last_step_is_completed(tiny: FrameSet, tmp_path: Path) -> None:
    """It was killed after the last step, before the card was written."""
    config = tiny_run(tiny)
    out = pretrain(config, tmp_path / "run")
    weights, coordinates = (out / "last.ckpt").read_bytes(), read_coordinates(out)
    metrics = (out / "metrics.csv").read_bytes()
    (out / "coordinates.safetensors").unlink()
    write_run_card(out, read_run_card(out) | {"finished": False})
    pretrain(config, out)
    assert read_run_card(out)["finished"]
    assert differences(coordinates, read_coordinates(out)) == []
    assert (out / "last.ckpt").read_bytes() == weights
    assert (out / "metrics.csv").read_bytes() == metrics


def test_irrelevant_settings_may_change_when_resuming(tiny: FrameSet, tmp_path: Path) -> None:
    """Log, workers and the location of the data may change; the weights are the same."""
    config = tiny_run(tiny, "vicreg", "lie", optim__steps=6, log__save_every=2)
    whole = pretrain(config, tmp_path / "whole")
    broken = tmp_path / "broken"
    stop_at(config, broken, 3)
    (tmp_path / "link").symlink_to(tiny.folder)
    again = tiny_run(tmp_path / "link", "vicreg", "lie", optim__steps=6, log__every=3, workers=1)
    pretrain(again, broken)
    a, b = (checkpoint(run / "last.ckpt") for run in (whole, broken))
    assert differences(a["state_dict"], b["state_dict"]) == []


def stop_at(config: PretrainConfig, out: Path, step: int) -> None:
    with pytest.raises(StopError):
        pretrain(config, out, Notes(stop=step))


def test_the_lock_is_released_and_temporary_files_are_removed(tiny: FrameSet, tmp_path: Path) -> None:
    config, out = tiny_run(tiny, arm="alone", log__save_every=1), tmp_path / "run"
    stop_at(config, out, 3)
    (out / ".last.ckpt.123.part").write_bytes(b"half a checkpoint")
    pretrain(config, out)
    assert not list(out.glob(".*"))
    with folder_lock(out):
        assert read_run_card(out)["finished"]


def test_a_checkpoint_is_replaced_atomically(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "last.ckpt"
    checkpoints = AtomicCheckpointIO()
    old, new = (
        {
            "global_step": 1,
            "lie_ssl": {"method": "mae", "batches": 1, "skipped": 0},
            "state_dict": {"w": torch.full((3,), v)},
        }
        for v in (1.0, 2.0)
    )
    checkpoints.save_checkpoint(old, path)

    def killed(self: Path, target: Path) -> Path:
        assert self.name != path.name  # it is written under another name
        assert self.stat().st_size > 0
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            checkpoints.save_checkpoint(new, path)
    assert differences(checkpoints.load_checkpoint(path), old) == []

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", full)
        with pytest.raises(UserError, match="No space left"):
            checkpoints.save_checkpoint(new, path)
    assert differences(checkpoints.load_checkpoint(path), old) == []
    checkpoints.save_checkpoint(new, path)
    assert differences(checkpoints.load_checkpoint(path), new) == []
    checkpoints.remove_checkpoint(path)
    assert not path.exists()


@pytest.mark.parametrize("damage", ["cut", "empty", "text", "foreign"])
def test_an_unreadable_checkpoint_is_a_user_error(tiny: FrameSet, tmp_path: Path, damage: str) -> None:
    config, out = tiny_run(tiny, arm="alone", log__save_every=1), tmp_path / "run"
    stop_at(config, out, 2)
    path = out / "last.ckpt"
    if damage == "foreign":
        torch.save({"state_dict": {}}, path)
    else:
        whole = path.read_bytes()
        path.write_bytes({"cut": whole[: len(whole) // 2], "empty": b"", "text": b"no checkpoint"}[damage])
    with pytest.raises(UserError, match=r"last\.ckpt is (damaged|not a checkpoint)") as stop:
        pretrain(config, out)
    assert "\n" not in str(stop.value)
    with pytest.raises(UserError, match=r"damaged|not a checkpoint"):
        read_checkpoint(path)


def test_a_finished_run_no_longer_needs_its_weight_file(tiny: FrameSet, tmp_path: Path) -> None:
    """Its checkpoint has all weights, so the original file may be deleted."""
    path = tmp_path / "start.safetensors"
    with torch.random.fork_rng(devices=[]):
        save_weights(create_encoder(EncoderConfig(name="vit_mini"), tiny.size, tiny.channels), path)
    config = tiny_run(tiny, arm="alone", encoder=EncoderConfig(name="vit_mini", weights=str(path)))
    run = pretrain(config, tmp_path / "run")
    path.unlink()
    assert pretrain(config, run) == run
