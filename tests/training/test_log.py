"""The log: tables that survive a kill, TensorBoard's files, and a missing wandb."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lie_ssl.errors import UserError
from lie_ssl.training.config import LogConfig, PretrainConfig
from lie_ssl.training.log import CHECKS, METRICS, RunLog, Table, read_rows


def filled(path: Path, steps: int) -> Table:
    table = Table(path, 0)
    for step in range(1, steps + 1):
        table.write({"step": step, "loss": step / 3, "lr": 0.1})
    return table


def test_a_table_is_a_plain_csv_file(tmp_path: Path) -> None:
    filled(tmp_path / "t.csv", 2)
    assert (tmp_path / "t.csv").read_bytes() == b"step,loss,lr\r\n1,0.33333333,0.1\r\n2,0.66666667,0.1\r\n"
    assert read_rows(tmp_path / "t.csv")[1] == {"step": "2", "loss": "0.66666667", "lr": "0.1"}


@pytest.mark.parametrize("torn", ["", "6", "6,", "6,0.1", "6,0.1,"[:4], '6,"0.'])
def test_rows_after_the_resumed_step_and_an_incomplete_line_are_dropped(tmp_path: Path, torn: str) -> None:
    path, whole = tmp_path / "t.csv", tmp_path / "whole.csv"
    filled(path, 5)
    with path.open("a") as file:
        file.write(torn)
    assert [r["step"] for r in read_rows(path)] == ["1", "2", "3", "4", "5"]
    table = Table(path, resumed_at=3)
    assert [r["step"] for r in read_rows(path)] == ["1", "2", "3"]
    table.write({"step": 4, "loss": 4 / 3, "lr": 0.1})
    filled(whole, 4)
    assert path.read_bytes() == whole.read_bytes()


def test_a_run_without_a_checkpoint_restarts_its_table(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    filled(path, 3)
    table = Table(path, resumed_at=0)
    assert read_rows(path) == []
    table.write({"step": 1, "other": 2.5})
    assert path.read_text().splitlines() == ["step,other", "1,2.5"]


def test_columns_are_those_of_the_first_row(tmp_path: Path) -> None:
    table = filled(tmp_path / "t.csv", 1)
    table.write({"step": 2, "lr": 0.2, "more": 1.0})
    assert (tmp_path / "t.csv").read_text().splitlines()[-1] == "2,,0.2"


def scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder))
    events.Reload()
    return {tag: [(e.step, e.value) for e in events.Scalars(tag)] for tag in events.Tags()["scalars"]}


def test_tensorboard_has_the_same_numbers_and_drops_repeated_steps(tmp_path: Path) -> None:
    config = PretrainConfig()
    log = RunLog(tmp_path, config, 0)
    for step in (1, 2, 3):
        log.write(METRICS, step, {"loss": step / 2})
    log.write(CHECKS, 3, {"knn": 0.25})
    log.close()
    assert scalars(tmp_path / "tensorboard") == {
        "metrics/loss": [(1, 0.5), (2, 1.0), (3, 1.5)],
        "checks/knn": [(3, 0.25)],
    }
    again = RunLog(tmp_path, config, resumed_at=1)
    again.write(METRICS, 2, {"loss": 8.0})
    again.close()
    assert scalars(tmp_path / "tensorboard")["metrics/loss"] == [(1, 0.5), (2, 8.0)]
    assert [r["loss"] for r in read_rows(tmp_path / METRICS)] == ["0.5", "8"]


def test_without_tensorboard_there_are_no_event_files(tmp_path: Path) -> None:
    log = RunLog(tmp_path, PretrainConfig(log=LogConfig(tensorboard=False)), 0)
    log.write(METRICS, 1, {"loss": 1.0})
    log.close()
    assert [p.name for p in tmp_path.iterdir()] == [METRICS]


def test_a_missing_wandb_is_a_user_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(UserError, match=r"lie_ssl\[wandb\]"):
        RunLog(tmp_path, PretrainConfig(log=LogConfig(tensorboard=False, wandb="project")), 0)
