"""A queue shared by several processes: every unit is run once, and the tables show which units are done."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from torch import distributed as dist

from lie_ssl.errors import UserError
from lie_ssl.protocol import grid, unit
from lie_ssl.protocol.evaluate import EvaluateConfig, Results
from lie_ssl.protocol.grid import TABLES, UNIT_KEYS, Recipe, Unit, add_rows, done_units, run_units
from lie_ssl.storage.locks import try_lock
from lie_ssl.training.config import PretrainConfig
from tests.conftest import tiny_config
from tests.gloo import run_in_processes
from tests.training.tiny_runs import Notes, tiny_run


def tiny_recipe(**changes: Any) -> Recipe:
    arms = [(arm, seed) for seed in (0, 1, 2) for arm in ("alone", "literal")]
    units = [Unit(tiny_run(Path(), "mae", arm, seed=seed, **changes), EvaluateConfig()) for arm, seed in arms]
    return Recipe("tiny", tiny_config(), tuple(units))


class Worker:
    """Replaces training and evaluation: records the units, and writes tables of a few rows."""

    def __init__(self, seconds: float = 0.0, fails: str = "") -> None:
        self.seconds, self.fails = seconds, fails
        self.done: list[str] = []

    def __call__(self, config: PretrainConfig, evaluation: EvaluateConfig, run: Path, reporter: Any) -> Results:
        self.done.append(run.name)
        time.sleep(self.seconds)
        if run.name == self.fails:
            raise UserError("it is broken")
        values = {"method": config.method.name, "arm": config.arm, "seed": config.seed}
        shares = evaluation.proportions  # one row for each
        table = pd.DataFrame([values | {"diverse": share} for share in shares])
        (run / "evaluation").mkdir(parents=True, exist_ok=True)
        (run / "evaluation" / "card.json").write_text(f'"{run.name}"')
        table.to_csv(run / "evaluation" / "table.csv", index=False)
        return results_of(run / "evaluation")[0]


def results_of(folder: Path) -> tuple[Results, dict[str, Any]]:
    """Reads the tables of a worker: the same few rows in each of them."""
    table = pd.read_csv(folder / "table.csv")
    return Results(**dict.fromkeys(TABLES, table), predictions=pd.DataFrame(), others={}), {}


def work(folder: Path, recipe: Recipe, worker: Worker) -> tuple[list[str], list[str]]:
    """Runs a recipe; returns its messages and the units that failed."""
    notes = Notes()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unit, "train_and_evaluate", worker)
        patch.setattr(grid, "read_results", results_of)
        failed = run_units(recipe, recipe.units, folder / "data", folder / "work", folder / "out", notes)
    return notes.messages, failed


def share_the_queue(rank: int, world: int, folder: str) -> list[str]:
    worker = Worker(seconds=0.1 + 0.05 * rank)
    dist.barrier()
    _, failed = work(Path(folder), tiny_recipe(), worker)
    assert not failed
    return worker.done


def test_two_processes_do_every_unit_once(tmp_path: Path) -> None:
    (tmp_path / "processes").mkdir()
    done = run_in_processes(share_the_queue, 2, tmp_path / "processes", str(tmp_path), timeout=300)
    names = ["_".join(u.key) for u in tiny_recipe().units]
    assert sorted(done[0] + done[1]) == sorted(names)
    assert min(len(part) for part in done) > 0  # both had work
    for name in TABLES:
        table = pd.read_csv(tmp_path / "out" / f"{name}.csv")
        assert len(table) == 3 * len(names)
        assert not table.duplicated([*UNIT_KEYS, "diverse"]).any()
    assert {p.read_text() for p in (tmp_path / "out" / "cards").iterdir()} == {f'"{name}"' for name in names}
    assert done_units(tmp_path / "out", tiny_recipe()) == {u.name for u in tiny_recipe().units}
    assert not list(tmp_path.rglob(".lock"))


def test_units_that_another_process_is_running_are_skipped(tmp_path: Path) -> None:
    recipe, worker = tiny_recipe(), Worker()
    place = tmp_path / "work" / ".queue" / "mae_literal_0"
    place.mkdir(parents=True)
    with try_lock(place):
        messages, failed = work(tmp_path, recipe, worker)
    assert failed == []
    assert "mae/literal/0 is running in another process: 2 of 6" in " ".join(messages)
    assert len(worker.done) == 5
    assert "mae_literal_0" not in worker.done
    assert sum("mae/literal/0" in text for text in messages) == 2  # it is checked again at the end
    again = Worker()
    messages, _ = work(tmp_path, recipe, again)
    assert messages[0] == "5 of 6 units are already done"
    assert again.done == ["mae_literal_0"]
    assert done_units(tmp_path / "out", recipe) == {u.name for u in recipe.units}


def test_the_unit_of_a_process_that_was_killed_is_taken_over(tmp_path: Path) -> None:
    recipe, place = tiny_recipe(), tmp_path / "work" / ".queue" / "mae_literal_0"
    place.mkdir(parents=True)
    lock = try_lock(place)
    lock.__enter__()

    class Killing(Worker):
        def __call__(self, config: PretrainConfig, evaluation: EvaluateConfig, run: Path, reporter: Any) -> Results:
            if run.name == "mae_literal_2":  # the last one
                lock.__exit__(None, None, None)
            return super().__call__(config, evaluation, run, reporter)

    worker = Killing()
    work(tmp_path, recipe, worker)
    assert worker.done[-1] == "mae_literal_0"
    assert len(worker.done) == 6


def test_a_unit_that_fails_is_named_and_can_be_tried_again(tmp_path: Path) -> None:
    recipe = tiny_recipe()
    messages, failed = work(tmp_path, recipe, Worker(fails="mae_alone_1"))
    assert failed == ["mae/alone/1"]
    assert any(text.startswith("mae/alone/1 failed: it is broken; 3 of 6") for text in messages)
    again = Worker()
    assert work(tmp_path, recipe, again)[1] == []
    assert again.done == ["mae_alone_1"]


def test_only_a_unit_that_was_changed_is_run_again(tmp_path: Path) -> None:
    recipe = tiny_recipe()
    work(tmp_path, recipe, Worker())
    first = recipe.units[0]
    other = replace(first, evaluation=EvaluateConfig(proportions=(0.5,)))
    changed = replace(recipe, units=(other, *recipe.units[1:]))
    assert recipe.hash_of(other) != recipe.hash_of(first)
    assert done_units(tmp_path / "out", changed) == {u.name for u in recipe.units[1:]}
    worker = Worker()
    work(tmp_path, changed, worker)
    assert worker.done == ["mae_alone_0"]
    table = pd.read_csv(tmp_path / "out" / "accuracy.csv")
    # All its old rows are gone, including those without a new version.
    assert set(table["recipe"]) == {changed.hash_of(u) for u in changed.units}
    assert len(table) == 5 * 3 + 1
    assert done_units(tmp_path / "out", tiny_recipe(optim__lr=0.5)) == set()
    assert done_units(tmp_path / "out", replace(recipe, data=tiny_config(seed=9))) == set()
    assert done_units(tmp_path / "nowhere", recipe) == set()


def test_rows_are_in_the_order_of_the_recipe_whichever_unit_finishes_first(tmp_path: Path) -> None:
    order = [unit.key for unit in tiny_recipe().units]
    rows = {key: pd.DataFrame([(*key[:2], int(key[2]), i) for i in (0, 1)]) for key in order}
    found = []
    for name, finished in (("a.csv", order), ("b.csv", order[::-1]), ("c.csv", order[2:] + order[:2])):
        for key in finished:
            add_rows(tmp_path / name, rows[key].set_axis([*UNIT_KEYS, "diverse"], axis=1), order)
        found.append((tmp_path / name).read_bytes())
    assert found[0] == found[1] == found[2]
    # Rows of other units stay in place, and a unit that is run again keeps its position.
    add_rows(tmp_path / "a.csv", pd.DataFrame([("vicreg", "lie", 0, 0)], columns=[*UNIT_KEYS, "diverse"]), order)
    again = rows[order[0]].set_axis([*UNIT_KEYS, "diverse"], axis=1)
    add_rows(tmp_path / "a.csv", again, order)
    table = pd.read_csv(tmp_path / "a.csv")
    assert list(zip(table["arm"], table["seed"], strict=True))[:2] == [(order[0][1], 0)] * 2
    assert sorted(table["method"].unique()) == ["mae", "vicreg"]
    assert len(table) == 2 * len(order) + 1


def test_units_start_from_the_first_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = replace(tiny_recipe(), first=tiny_run(Path(), "mae", "alone", seed=5))
    assert recipe.hash_of(recipe.units[0]) != tiny_recipe().hash_of(recipe.units[0])
    trained: list[tuple[str, int]] = []
    monkeypatch.setattr(grid, "pretrain", lambda config, out, reporter: trained.append((out.name, config.seed)))
    starts: list[str | None] = []

    class Starts(Worker):
        def __call__(self, config: PretrainConfig, evaluation: EvaluateConfig, run: Path, reporter: Any) -> Results:
            starts.append(config.start)
            return super().__call__(config, evaluation, run, reporter)

    assert work(tmp_path, recipe, Starts())[1] == []
    assert trained == [("first", 5)]  # once, before the units
    assert set(starts) == {str(tmp_path / "work" / "first")}
    assert work(tmp_path, recipe, Starts())[1] == []
    assert len(trained) == 1  # nothing is left to do, so the first run is not needed
