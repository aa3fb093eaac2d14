"""Two processes under torchrun train like one process with the joined batch, on CPUs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from lie_ssl.frames import FrameSet, PairSampler
from lie_ssl.training.config import PretrainConfig
from lie_ssl.training.folder import read_run_card
from lie_ssl.training.loading import load
from lie_ssl.training.model import build_model
from lie_ssl.training.run import pretrain
from tests.gloo import ROOT
from tests.training.tiny_runs import ENVIRONMENT, Notes, StopError, checkpoint, few_pairs, rows, tiny_run

ARMS = ("alone", "frames", "lie")
METHODS = ["simclr", pytest.param("mae", marks=pytest.mark.slow), pytest.param("vicreg", marks=pytest.mark.slow)]
STEPS = 8
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m"]


def train_all(data: Path, folder: Path, method: str) -> None:
    """Trains a method with every objective in turn, in a process of torchrun or alone."""
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        few_pairs(patch)
        for arm in ARMS:
            pretrain(tiny_run(data, method, arm, optim__steps=STEPS), folder / arm)


def torchrun(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*TORCHRUN, *map(str, arguments)], env=ENVIRONMENT, cwd=ROOT, capture_output=True, text=True, timeout=300,
        check=False,
    )  # fmt: skip


@pytest.fixture(scope="module", params=METHODS)
def runs(
    request: pytest.FixtureRequest, tiny: FrameSet, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Path, Path]:
    """A method, and the folders of its runs with one process and with two."""
    one, two = tmp_path_factory.mktemp("one"), tmp_path_factory.mktemp("two")
    done = torchrun("tests.training.test_distributed", tiny.folder, two, request.param)
    assert done.returncode == 0, done.stderr
    train_all(tiny.folder, one, request.param)
    return request.param, one, two


def worst_difference(one: dict[str, str], two: dict[str, str], names: set[str]) -> float:
    """The largest relative difference of the named columns in two rows of the log."""
    pairs = [(float(one[name]), float(two[name])) for name in names]
    return max(abs(x - y) / max(1e-2, abs(x)) for x, y in pairs)


def assert_alike(one: Path, two: Path, config: PretrainConfig, size: int) -> None:
    """Checks that loss curves agree and the encoders are much closer to each other than to their start.

    Rounding differs from the first step on, and AdamW makes a step of full size out of a gradient that is all but zero,
    so that the difference grows with the steps; ReLUs that change sides make gradient norms jump. At the first step,
    before any of this, the gradients must agree as well.
    """
    logs = [rows(run / "metrics.csv") for run in (one, two)]
    assert [len(log) for log in logs] == [STEPS, STEPS]
    assert logs[0][0].keys() == logs[1][0].keys()
    learned = set(logs[0][0]) - {"step", "images_per_second", "skipped"}
    terms = {name for name in learned if not name.startswith("gradient")}
    assert worst_difference(logs[0][0], logs[1][0], learned) < 2e-5
    for a, b in zip(*logs, strict=True):
        assert worst_difference(a, b, {"loss", "ssl", "lr"}) < 2e-4
        assert worst_difference(a, b, terms) < 5e-3
    first = build_model(config, size, 3).method.encoder.state_dict()
    a, b = (load(run).encoder.state_dict() for run in (one, two))
    keys = [k for k in a if a[k].is_floating_point()]
    apart, moved = (torch.cat([(x[k] - y[k]).flatten() for k in keys]).norm() for x, y in ((a, b), (a, first)))
    assert moved > 0.1
    assert apart < 0.02 * moved


@pytest.mark.parametrize("arm", ARMS)
def test_two_processes_train_like_one(runs: tuple[str, Path, Path], tiny: FrameSet, arm: str) -> None:
    method, one, two = runs[0], runs[1] / arm, runs[2] / arm
    assert_alike(one, two, tiny_run(tiny, method, arm), tiny.size)
    expected = {"config.json", "card.json", "metrics.csv", "checks.csv", "last.ckpt", "best.ckpt"}
    expected |= {"coordinates.safetensors"} if arm == "lie" else set()
    assert {p.name for p in two.iterdir()} == expected
    card = read_run_card(two)
    assert (card["finished"], card["machine"]["processes"]) == (True, 2)
    a, b = (rows(run / "checks.csv") for run in (one, two))
    assert a[0].keys() == b[0].keys()
    assert [r["step"] for r in b] == [str(STEPS)]


def test_the_ranks_have_different_numbers_of_pairs(tiny: FrameSet) -> None:
    """A precondition of the comparison above: equal shares would hide a wrong mean."""
    counts = []
    for rank in range(2):
        sampler = PairSampler(tiny.index, batch_size=8, rank=rank, world_size=2)
        counts.append([int(b.paired.sum()) for b, _ in zip(sampler.endless(), range(STEPS), strict=False)])
    assert sum(a != b for a, b in zip(*counts, strict=True)) >= STEPS // 2


def test_the_command_resumes_with_two_processes(runs: tuple[str, Path, Path], tiny: FrameSet, tmp_path: Path) -> None:
    """`torchrun -m lie_ssl pretrain` resumes a run that was started by one process."""
    config = tiny_run(tiny, runs[0], "lie", optim__steps=STEPS, log__save_every=2)
    out = tmp_path / "run"
    with pytest.raises(StopError):
        pretrain(config, out, Notes(stop=3))
    assert checkpoint(out / "last.ckpt")["global_step"] == 2
    done = torchrun("lie_ssl", "pretrain", "--config", out / "config.json", "--out", out)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("resuming at step 2") == 1  # only one process reports
    assert done.stdout.count("the run is finished") == 1
    assert_alike(runs[1] / "lie", out, config, tiny.size)


if __name__ == "__main__":
    train_all(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
