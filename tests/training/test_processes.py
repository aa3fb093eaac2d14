"""Parallel jobs: outcomes, reasons, progress, and the end of processes.

Most of these processes are small scripts in place of `lie-ssl job`, which would take seconds to start.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from lie_ssl.errors import UserError
from lie_ssl.training import processes
from lie_ssl.training.events import EventReader, EventWriter
from lie_ssl.training.jobs import Job, Outcome, run_jobs
from lie_ssl.training.processes import run_in_processes
from lie_ssl.training.progress import JobsReporter, ProgressReporter
from tests.training.tiny_runs import Notes

SLEEP = "import time; time.sleep(600)"


class NamedNotes(Notes):
    """Records messages with the names of their jobs, and which jobs have started and ended."""

    def __init__(self, name: str = "", parent: NamedNotes | None = None) -> None:
        super().__init__()
        self.name, self.parent = name, parent
        self.open: list[str] = []
        self.lines: list[str] = []

    def step(self, done: int, total: int, loss: float) -> None:
        self._note(f"step {done} {total} {loss}")

    def busy(self, what: str) -> None:
        self._note(f"busy {what}")

    def say(self, text: str) -> None:
        self._note(f"say {text}")

    def _note(self, text: str) -> None:
        (self.parent or self).lines.append(f"{self.name}: {text}")

    @contextmanager
    def part(self, name: str) -> Iterator[Notes]:
        self.open.append(name)
        yield NamedNotes(name, self)
        self.open.remove(name)


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the file of a job Python code that runs instead of `lie-ssl job FILE`."""
    monkeypatch.setattr(processes, "command", lambda job: [sys.executable, str(job.file)])
    monkeypatch.setattr(processes, "POLL_INTERVAL", 0.01)


def script(folder: Path, name: str, code: str) -> Job:
    (folder / f"{name}.json").write_text(code)
    return Job(name, folder / f"{name}.json")


@pytest.mark.usefixtures("scripts")
def test_outcomes_are_yielded_as_jobs_finish_with_reasons_of_failures(tmp_path: Path) -> None:
    wait = f"import pathlib, time\nwhile not pathlib.Path({str(tmp_path / 'go')!r}).exists(): time.sleep(0.01)"
    codes = {
        "slow": wait,
        "sentence": "import sys; print('a warning', file=sys.stderr); sys.exit('lie-ssl: optim.lr is -1; raise it')",
        "trace": "raise KeyError('x')",
        "silent": "import os; os._exit(3)",
        "shot": "import os; os.kill(os.getpid(), 9)",
        "good": "",
    }
    outcomes = run_in_processes([script(tmp_path, *item) for item in codes.items()], 2, 1, Notes())
    found: list[Outcome] = []
    with closing(outcomes):
        for outcome in outcomes:
            found.append(outcome)
            if len(found) == len(codes) - 1:
                (tmp_path / "go").touch()
    assert [outcome.job.name for outcome in found] == [*list(codes)[1:], "slow"]
    errors = {outcome.job.name: outcome.error for outcome in found}
    assert errors.pop("trace") == f"KeyError: 'x' (more in {tmp_path / 'trace.err'})"
    assert errors.pop("shot").startswith("it was killed by the signal SIGKILL, perhaps because memory ran out")
    assert errors == {
        "slow": "", "good": "", "sentence": "optim.lr is -1; raise it", "silent": "it exited with code 3",
    }  # fmt: skip
    assert (tmp_path / "sentence.err").read_text().startswith("a warning")


@pytest.mark.usefixtures("scripts")
def test_the_next_job_is_requested_when_a_worker_is_free(tmp_path: Path) -> None:
    requested: list[str] = []

    def jobs() -> Iterator[Job]:
        for name in "abcd":
            requested.append(name)
            yield script(tmp_path, name, "")

    with closing(run_in_processes(jobs(), 2, 1, Notes())) as outcomes:
        next(outcomes)
        assert requested in (["a", "b", "c"], ["a", "b", "c", "d"])  # two may end at the same time
        assert len(list(outcomes)) == 3
    assert list(run_in_processes([], 2, 1, Notes())) == []


@pytest.mark.usefixtures("scripts")
def test_each_process_gets_its_share_of_threads_with_passive_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "6")
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    names = ["OMP_NUM_THREADS", "OMP_WAIT_POLICY"]
    code = f"import json, os; print(json.dumps({{'say': ' '.join(os.environ[n] for n in {names})}}))"
    notes = Notes()
    assert not any(o.error for o in run_jobs([script(tmp_path, n, code) for n in "ab"], no_work, 2, notes))
    assert notes.messages == ["3 PASSIVE", "3 PASSIVE"]


def no_work(file: Path, trust: Collection[str], reporter: ProgressReporter) -> None:
    raise AssertionError("this is for other processes")


@pytest.mark.usefixtures("scripts")
def test_progress_is_reported_under_the_name_of_the_job(tmp_path: Path) -> None:
    code = "\n".join([
        "import json, sys",
        "events = {'say': 'a\\nb'}, {'step': [1, 5, float('nan')]}, ['x'], {'step': 'x'}, {'busy': 'evaluating'}",
        "for event in events:",
        "    print(json.dumps(event), flush=True)",
        "print('whatever the code of a user prints')",
        "sys.stdout.write(json.dumps({'say': 'cut off'}))",  # without a newline
    ])  # fmt: skip
    notes = NamedNotes()
    list(run_in_processes([script(tmp_path, "one", code)], 2, 1, notes))
    assert notes.lines == ["one: say a\nb", "one: step 1 5 nan", "one: busy evaluating"]
    assert notes.open == []


def test_events_are_read_as_they_are_written(tmp_path: Path) -> None:
    notes, path = NamedNotes(), tmp_path / "out"
    path.touch()
    reader = EventReader(path, notes)
    with path.open("w") as file:
        writer = EventWriter(file)
        writer.say("first")
        reader.forward()
        assert notes.lines == [": say first"]
        file.write('{"step": [2, ')
        file.flush()
        reader.forward()
        file.write("4, 0.5]}\n")
        file.flush()
        reader.forward()
        writer.busy("evaluating")
        writer.step(3, 4, 0.25)
    reader.forward()
    reader.forward()
    assert notes.lines == [": say first", ": step 2 4 0.5", ": busy evaluating", ": step 3 4 0.25"]


@pytest.mark.usefixtures("scripts")
@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_all_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: signal.Signals) -> None:
    started: list[processes.Child] = []

    class Noted(processes.Child):
        def __init__(self, job: Job, threads: int, reporter: JobsReporter) -> None:
            super().__init__(job, threads, reporter)
            started.append(self)

    monkeypatch.setattr(processes, "Child", Noted)
    monkeypatch.setattr(processes, "time", SimpleNamespace(sleep=lambda seconds: os.kill(os.getpid(), stop)))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell ignore it
    outcomes = run_in_processes([script(tmp_path, name, SLEEP) for name in "abc"], 2, 1, Notes())
    with pytest.raises(SystemExit if stop == signal.SIGTERM else KeyboardInterrupt), closing(outcomes):
        next(outcomes)
    signal.signal(signal.SIGINT, before)
    assert [child.job.name for child in started] == ["a", "b"]  # as many as there are workers
    assert [child.process.returncode for child in started] == [-signal.SIGTERM] * 2


@pytest.mark.usefixtures("scripts")
def test_a_process_that_ignores_sigterm_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "GRACE_PERIOD", 0.1)
    deaf = "import json, os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN)"
    deaf = f"{deaf}; print(json.dumps({{'say': str(os.getpid())}}), flush=True); time.sleep(600)"
    path = str(tmp_path / "deaf.out")
    wait = f"import pathlib, time\nwhile not pathlib.Path({path!r}).stat().st_size: time.sleep(0.01)"
    notes = Notes()
    jobs = [script(tmp_path, "deaf", deaf), script(tmp_path, "quick", wait)]
    with closing(run_in_processes(jobs, 2, 1, notes)) as outcomes:
        assert next(outcomes).job.name == "quick"
        pid = json.loads((tmp_path / "deaf.out").read_text())["say"]
        os.kill(int(pid), 0)  # it is running
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid), 0)


def test_a_single_worker_runs_in_this_process(tmp_path: Path) -> None:
    notes, done = NamedNotes(), list[str]()

    def work(file: Path, trust: Collection[str], reporter: ProgressReporter) -> None:
        reporter.say(f"{json.loads(file.read_text())} {list(trust)}")
        if "b" in file.name:
            raise UserError("it cannot be")
        done.append(file.stem)

    jobs = [Job(name, tmp_path / f"{name}.json", ("m:C",)) for name in "abc"]
    for job in jobs:
        job.file.write_text("1")
    found = list(run_jobs(jobs, work, 1, notes))
    assert [(o.job.name, o.error) for o in found] == [("a", ""), ("b", "it cannot be"), ("c", "")]
    assert notes.lines == [f"{name}: say 1 ['m:C']" for name in "abc"]
    assert done == ["a", "c"]

    def broken(file: Path, trust: Collection[str], reporter: ProgressReporter) -> None:
        raise KeyError("a mistake of ours")

    with pytest.raises(KeyError):
        list(run_jobs(jobs, broken, 1, notes))


def test_a_job_ends_when_its_parent_is_killed() -> None:
    """Even with kill -9, as its input pipe is then closed."""
    code = "import sys, threading, time\nfrom lie_ssl.commands.job import end_with_input\n"
    code += f"threading.Thread(target=end_with_input, daemon=True).start()\nprint(flush=True)\n{SLEEP}"
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"\n"
        assert process.poll() is None
        process.stdin.close()
        assert process.wait(60) == -signal.SIGTERM
