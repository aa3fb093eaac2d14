"""The number of threads, and how they wait."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from lie_ssl import threads
from lie_ssl.frames import FrameSet
from lie_ssl.methods.encoders import EncoderConfig, create_encoder
from lie_ssl.methods.size import expected_size, size_of
from lie_ssl.threads import child_environment, core_budget, is_automatic, is_small, one_thread, usable_cores
from lie_ssl.training import capacity
from lie_ssl.training.capacity import encoder_threads, expected_memory, run_threads, worker_count
from tests.training.tiny_runs import tiny_run

NAMES = ("OMP_NUM_THREADS", "OMP_WAIT_POLICY", "KMP_BLOCKTIME", threads.AUTOMATIC)


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def _two_threads() -> object:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def environment_of(code: str, **settings: str) -> list[str]:
    shown = f"import os; {code}; print(*(os.environ.get(n, '-') for n in {NAMES}))"
    place = {k: v for k, v in os.environ.items() if k not in NAMES} | settings
    done = subprocess.run([sys.executable, "-c", shown], env=place, capture_output=True, text=True, check=True)
    return done.stdout.split()[-4:]


def test_only_the_command_line_sets_how_threads_wait() -> None:
    typed = "import sys; sys.argv = ['lie-ssl', '--version']; from lie_ssl.cli import main; main()"
    assert environment_of(typed) == ["-", "PASSIVE", "0", "1"]
    # Settings of the user are kept, and then we do not choose the number of threads.
    own = {"OMP_NUM_THREADS": "4", "OMP_WAIT_POLICY": "ACTIVE"}
    assert environment_of(typed, **own) == ["4", "ACTIVE", "0", "-"]
    assert environment_of("import lie_ssl.cli; lie_ssl.cli.main(['--version'])") == ["-", "-", "-", "-"]


def test_children_know_whether_the_user_has_chosen_their_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    found = child_environment(3)
    assert [found[name] for name in NAMES] == ["3", "PASSIVE", "0", "1"]
    monkeypatch.setenv("OMP_NUM_THREADS", "6")
    monkeypatch.setenv("OMP_WAIT_POLICY", "ACTIVE")
    found = child_environment(2)
    assert [found.get(name) for name in NAMES] == ["2", "ACTIVE", "0", None]
    monkeypatch.setenv(threads.AUTOMATIC, "1")  # in such a child process
    assert child_environment(1)[threads.AUTOMATIC] == "1"


def test_cores(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    quota = tmp_path / "cpu.max"
    monkeypatch.setattr(threads, "QUOTA", quota)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1, 2, 5}, raising=False)
    assert usable_cores() == core_budget() == 4
    for words, cores in (("max 100000\n", 4), ("250000 100000\n", 2), ("50000 100000\n", 1), ("damaged", 4)):
        quota.write_text(words)
        assert usable_cores() == cores
    for value, cores in (("3", 3), ("2,4", 2), ("0", 1), ("many", 4), ("", 4)):
        monkeypatch.setenv("OMP_NUM_THREADS", value)
        assert core_budget() == cores


def test_the_size_of_an_encoder_is_known_before_it_is_built() -> None:
    config = EncoderConfig(name="vit_mini")
    encoder = create_encoder(config, 32, 3)
    state = torch.get_rng_state()
    size = expected_size(config, 32, 3)
    assert size == size_of(encoder)
    assert encoder.training
    assert torch.equal(torch.get_rng_state(), state)
    assert size.weights == sum(p.numel() for p in encoder.parameters())
    # Every token is multiplied with every weight of the blocks once.
    assert 0.8 < size.products / (encoder.grid[0] * encoder.grid[1] * size.weights) < 1.5
    assert expected_size(config, 64, 3).outputs > 3 * size.outputs
    assert size.layer_products(10) == pytest.approx(10 * size.products / size.layers)


@pytest.mark.usefixtures("_two_threads")
def test_small_work_gets_one_thread_unless_the_user_has_chosen(tiny: FrameSet, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tiny_run(tiny)
    encoder = create_encoder(config.encoder, tiny.size, tiny.channels)
    small, large = config, tiny_run(tiny, optim__batch=10**6)

    def counts() -> list[int]:
        found = []
        for context in (run_threads(small, tiny), run_threads(large, tiny), encoder_threads(encoder)):
            with context:
                found.append(torch.get_num_threads())
            assert torch.get_num_threads() == 2
        return found

    assert not is_automatic()
    assert counts() == [2, 2, 2]
    monkeypatch.setenv(threads.AUTOMATIC, "1")
    assert counts() == [1, 2, 1]
    with one_thread(), one_thread(False):
        assert torch.get_num_threads() == 1
    assert is_small(1e6)
    assert not is_small(1e10)


def test_the_number_of_workers_is_limited_by_cores_and_memory(tiny: FrameSet, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [tiny_run(tiny, seed=seed) for seed in range(5)]
    monkeypatch.setattr(capacity, "core_budget", lambda: 4)
    monkeypatch.setattr(capacity, "available_memory", lambda: 1e12)
    assert worker_count(None, runs) == 4
    assert worker_count(None, runs[:2]) == 2
    assert worker_count(None, []) == worker_count(None, runs[:1]) == 1
    assert [worker_count(asked, runs) for asked in (1, 3, 9)] == [1, 3, 5]
    needed = expected_memory(runs[0], tiny)
    assert needed == pytest.approx(capacity.BASE_MEMORY, rel=0.1)
    monkeypatch.setattr(capacity, "available_memory", lambda: 2.5 * needed)
    assert worker_count(None, runs) == 2
    monkeypatch.setattr(capacity, "available_memory", lambda: 0)
    assert worker_count(None, runs) == 1
    assert worker_count(3, runs) == 3  # the user's choice
    monkeypatch.setattr(capacity, "available_memory", lambda: 1e12)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert worker_count(None, runs) == 1
    assert worker_count(None, [tiny_run(tiny, device="cpu", seed=s) for s in (0, 1)]) == 2


def test_an_unknown_encoder_gets_base_memory_but_all_threads(tiny: FrameSet) -> None:
    config = tiny_run(tiny, encoder__name="no.such.module:Class")
    assert expected_memory(config, tiny) == capacity.BASE_MEMORY
