"""Unusual environments: a read-only installation, a terminal without UTF-8, limits, signals, killed processes."""

from __future__ import annotations

import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

import lie_ssl
from lie_ssl.frames import FrameSet
from lie_ssl.frames.frameset import shard_name
from tests.training.test_distributed import TORCHRUN
from tests.training.tiny_runs import ENVIRONMENT, LIE_SSL, flags

TINY = ["--classes", "car", "mug", "--instances", "3", "--step", "90", "--size", "16"]


def command(*arguments: str | Path, limits: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs `lie-ssl` with resource limits of the shell."""
    words = [*LIE_SSL, *map(str, arguments)]
    shell = ["sh", "-c", f'{limits} exec "$@"', "sh", *words] if limits else words
    return subprocess.run(
        shell, env=ENVIRONMENT | environment, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_read_only_installation_without_a_home(tmp_path: Path, workers: str) -> None:
    """Files replace the folders that numba would create, so that not even root can write there."""
    source = Path(lie_ssl.__file__).parent
    shutil.copytree(source, tmp_path / "site" / "lie_ssl", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in ("render", "objects"):
        (tmp_path / "site" / "lie_ssl" / folder / "__pycache__").write_text("")
    (tmp_path / "tmp").mkdir()
    home = {"HOME": "/dev/null", "XDG_CACHE_HOME": "/dev/null", "TMPDIR": str(tmp_path / "tmp")}
    place = home | {"PYTHONPATH": str(tmp_path / "site"), "NUMBA_CACHE_DIR": ""}
    made = command("data", "make", "demo", "--out", tmp_path / "d", *TINY, "--workers", workers, **place)
    assert made.returncode == 0, made.stderr
    shown = command("data", "show", tmp_path / "d", **place)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert not list((tmp_path / "tmp").iterdir())  # the temporary cache is gone


def test_a_terminal_without_utf8(tiny: FrameSet, tmp_path: Path) -> None:
    shown = command("data", "show", tiny.folder, "--out", tmp_path, LC_ALL="C", PYTHONUTF8="0")
    assert (shown.returncode, shown.stderr) == (0, "")
    shown.stdout.encode("ascii")
    refused = command("data", "show", tmp_path / "tässe", LC_ALL="C", PYTHONUTF8="0")
    assert refused.returncode == 2
    assert len(refused.stderr.splitlines()) == 1


def test_few_open_files(tmp_path: Path) -> None:
    """There are more shards than files may be open."""
    made = command("data", "make", "demo", "--out", tmp_path / "d", *TINY, "--instances", "40", "--poses", "2d")
    assert made.returncode == 0, made.stderr
    assert (tmp_path / "d" / shard_name(70)).exists()
    shown = command("data", "export", tmp_path / "d", "--out", tmp_path / "x", limits="ulimit -n 40;")
    assert (shown.returncode, shown.stderr) == (0, "")


@pytest.mark.parametrize("size", [300_000, 1_400_000])
def test_too_little_memory_is_a_user_error(tiny: FrameSet, tmp_path: Path, size: int) -> None:
    done = command("pretrain", "mae", "alone", *flags(tiny, tmp_path / "run"), limits=f"ulimit -v {size};")
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert "out of memory" in done.stderr or "GB are free" in done.stderr
    assert not (tmp_path / "run").exists()


def test_a_library_that_does_not_fit_in_memory_is_not_reported_as_missing(tiny: FrameSet, tmp_path: Path) -> None:
    done = command("data", "show", tiny.folder, "--out", tmp_path / "f", limits="ulimit -v 250000;")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "out of memory" in done.stderr


def test_sigterm_while_rendering_gives_one_sentence(tmp_path: Path) -> None:
    words = ["data", "make", "demo", "--out", str(tmp_path / "d"), "--instances", "30", "--workers", "2"]
    process = subprocess.Popen([*LIE_SSL, *words], env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: any((tmp_path / "d").glob("frames-*.bin")))
    process.send_signal(signal.SIGTERM)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    assert error.strip().splitlines()[-1].startswith("lie-ssl: terminated by SIGTERM")
    assert "Traceback" not in error
    assert not (tmp_path / "d" / "card.json").exists()
    assert not (tmp_path / "d" / ".lock").exists()


def test_a_killed_rank_gives_one_sentence_of_the_others(tiny: FrameSet, tmp_path: Path) -> None:
    code = (
        "import os, signal, sys\nfrom lie_ssl.training import module\nstep = module.Pretraining.training_step\n"
        "def dying(self, batch, number):\n"
        "    if self.batches == 2 and self.global_rank == 1: os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return step(self, batch, number)\n"
        "module.Pretraining.training_step = dying\nfrom lie_ssl.cli import main\nmain(sys.argv[1:])"
    )
    (tmp_path / "dying.py").write_text(code)
    words = ["pretrain", "simclr", "frames", *flags(tiny, tmp_path / "run", "--optim.steps", "6")]
    done = subprocess.run(
        [*TORCHRUN[:-1], str(tmp_path / "dying.py"), *words], env=ENVIRONMENT, capture_output=True, text=True,
        timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    ours = [line for line in done.stderr.splitlines() if "lie-ssl: " in line]
    # torchrun may stop the other process before it notices by itself; then the message differs.
    assert any("lost its connection" in line or "terminated by SIGTERM" in line for line in ours), done.stderr
    assert "gloo" not in done.stderr


def wait_for(condition: object, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        if time.monotonic() > end:
            pytest.fail(f"nothing happened for {seconds:g} seconds")
        time.sleep(0.05)
