"""Locks of a folder: failing, trying and waiting, within a process and between two."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from lie_ssl.errors import UserError
from lie_ssl.storage.locks import blocking_lock, folder_lock, try_lock

HOLDER = """
import sys
from pathlib import Path
from lie_ssl.storage.locks import try_lock
with try_lock(Path(sys.argv[1])) as held:
    print(held, flush=True)
    input()
"""


def test_a_lock_is_exclusive_and_its_file_is_removed(tmp_path: Path) -> None:
    with try_lock(tmp_path) as first:
        assert first is True
        assert (tmp_path / ".lock").exists()
        with try_lock(tmp_path) as second:
            assert second is False
        with try_lock(tmp_path) as third:  # a failed attempt does not release the lock
            assert third is False
    assert list(tmp_path.iterdir()) == []
    with try_lock(tmp_path) as again:
        assert again is True


def test_the_lock_is_free_after_an_error_in_the_block(tmp_path: Path) -> None:
    for lock in (try_lock, folder_lock, blocking_lock):
        with pytest.raises(OSError, match="disk"), lock(tmp_path):
            raise OSError("disk is full")  # not mistaken for a held lock
        with try_lock(tmp_path) as held:
            assert held is True


def test_an_error_in_a_block_without_the_lock_is_passed_on(tmp_path: Path) -> None:
    with try_lock(tmp_path), pytest.raises(KeyError, match="mine"), try_lock(tmp_path) as held:
        raise KeyError("mine" if held is False else "nobody's")


def test_a_locked_folder_is_a_user_error(tmp_path: Path) -> None:
    with folder_lock(tmp_path):
        with pytest.raises(UserError, match="another process is writing to") as error, folder_lock(tmp_path):
            raise AssertionError
        assert "\n" not in str(error.value)
        with try_lock(tmp_path) as held:
            assert held is False


class Clock:
    """A clock that only advances during sleep."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_waiting_times_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lie_ssl.storage.locks.time", clock := Clock())
    refused = pytest.raises(UserError, match=r"has locked .* for 0\.2 seconds")
    with try_lock(tmp_path), refused, blocking_lock(tmp_path, seconds=0.2):
        raise AssertionError
    assert 0.2 <= clock.now - 100 < 0.4


def test_waiting_for_a_lock_that_is_released(tmp_path: Path) -> None:
    taken, order = threading.Event(), []

    def hold() -> None:
        with try_lock(tmp_path):
            taken.set()
            time.sleep(0.3)
            order.append("first")

    thread = threading.Thread(target=hold)
    thread.start()
    taken.wait(10)
    with blocking_lock(tmp_path, seconds=20):
        order.append("second")
    thread.join()
    assert order == ["first", "second"]


def test_another_process_holds_the_lock_until_it_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "True\n"
        with try_lock(tmp_path) as held:
            assert held is False
        holder.kill()
        holder.wait()
    assert (tmp_path / ".lock").exists()  # a killed process cannot remove it
    with try_lock(tmp_path) as held:
        assert held is True


def test_many_writers_one_at_a_time(tmp_path: Path) -> None:
    """Threads increment a number in a file; without the lock some increments would be lost."""
    number = tmp_path / "number.txt"
    number.write_text("0")

    def write() -> None:
        for _ in range(5):
            with blocking_lock(tmp_path):
                value = int(number.read_text())
                time.sleep(0.002)
                number.write_text(str(value + 1))

    threads = [threading.Thread(target=write) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert number.read_text() == "15"
