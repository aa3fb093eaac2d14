"""Configs: the digest, saving and loading, and user errors."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from lie_ssl.errors import UserError
from lie_ssl.methods.adapted import AdaptConfig
from lie_ssl.objectives import objective_type
from lie_ssl.objectives.literal import LiteralConfig
from lie_ssl.recipes.pretrain import ARMS, PRETRAIN_RECIPES, PUBLISHED, pretrain_recipe, short_run
from lie_ssl.serialization import to_plain
from lie_ssl.training.config import LogConfig, OptimConfig, PretrainConfig, load_config, read_config
from lie_ssl.training.folder import difference, write_config
from tests.training.tiny_runs import changed

OTHER: dict[str, Any] = {
    "variant": "mine", "seed": 1, "diverse": 0.25, "start": "elsewhere", "precision": "bf16", "on_nan": "skip",
    "data": "elsewhere", "device": "cpu", "workers": 3, "log": LogConfig(every=3, wandb="project"),
    "encoder": {"patch_size": 4}, "objective": {"ssl": 0.5}, "optim": {"lr": 0.5}, "method": {"mask": 0.5},
    "adapt": AdaptConfig(), "banks": "elsewhere", "unfreeze": 2, "poses": 5,
}  # fmt: skip


def other(config: PretrainConfig, name: str) -> PretrainConfig:
    value = OTHER[name]
    if isinstance(value, dict):
        value = dataclasses.replace(getattr(config, name), **value)
    return dataclasses.replace(config, **{name: value})


@pytest.mark.parametrize("name", [f.name for f in dataclasses.fields(PretrainConfig)])
def test_the_digest_only_covers_what_affects_learning(name: str) -> None:
    config = PretrainConfig(adapt=AdaptConfig(), start="run") if name == "unfreeze" else PretrainConfig()
    how = name in ("data", "log", "device", "workers", "banks")
    assert (other(config, name).digest() == config.digest()) == how
    assert other(config, name) != config


@pytest.mark.parametrize("name", [f.name for f in dataclasses.fields(OptimConfig)])
def test_the_digest_covers_every_setting_of_the_optimiser(name: str) -> None:
    values = {"name": "lars", "steps": 7, "batch": 6, "accumulate": 3}
    config = PretrainConfig()
    assert changed(config, **{f"optim__{name}": values.get(name, 0.123)}).digest() != config.digest()


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("method", PUBLISHED)
@pytest.mark.parametrize("recipe", PRETRAIN_RECIPES)
def test_every_recipe_survives_a_file(tmp_path: Path, recipe: str, method: str, arm: str) -> None:
    config = pretrain_recipe(recipe, method, arm)
    assert (config.method.name, config.arm) == (method, arm)
    kind = objective_type(config.objective.name)
    assert kind.needs_pairs == (arm != "alone")
    assert kind.has_mover == (arm in ("literal", "lie", "lie_off"))
    write_config(tmp_path, config)
    found = load_config(tmp_path / "config.json")
    assert found == config
    assert type(found.method) is type(config.method)
    assert found.digest() == config.digest()


def test_all_recipes_differ() -> None:
    digests = {pretrain_recipe(r, m, a).digest() for r in PRETRAIN_RECIPES for m in PUBLISHED for a in ARMS}
    assert len(digests) == len(PRETRAIN_RECIPES) * len(PUBLISHED) * len(ARMS)


def test_the_weight_of_the_mae_loss_is_larger_with_a_contrast_unless_steps_are_few() -> None:
    weights = {arm: pretrain_recipe("small", "mae", arm).objective.ssl for arm in ARMS}
    assert weights == {"alone": 1.0, "frames": 20.0, "literal": 20.0, "lie": 20.0, "lie_off": 20.0}
    few = short_run("mae", "lie", 500)
    assert (few.objective.ssl, few.optim.steps) == (1.0, 500)


def test_the_literal_objective_has_the_published_weights() -> None:
    for method, weights in {"mae": (1, 1, 1, 1), "vicreg": (1, 1, 1, 1), "simclr": (10, 10, 1, 1)}.items():
        objective = pretrain_recipe("paper", method, "literal").objective
        assert isinstance(objective, LiteralConfig)
        assert (objective.ssl, objective.lie, objective.euclidean, objective.coordinates) == weights


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"sede": 1}, "no setting 'sede'; did you mean 'seed'"),
        ({"optim": {"stesp": 1}}, r"optim has no setting 'stesp'; did you mean 'steps'"),
        ({"method": {"name": "vicreg", "expandr": [4]}}, "no setting 'expandr'; did you mean 'expander'"),
        ({"method": {"name": "simclrr"}}, "no method 'simclrr'; did you mean 'simclr'"),
        ({"method": "mae"}, "method is 'mae', but it must be a mapping of settings"),
        ({"objective": {"name": "lie", "operator": {"algebra": "skwe"}}}, "no algebra 'skwe'; did you mean 'skew'"),
        ({"seed": "one"}, "seed is 'one', but it must be of type int"),
        ({"seed": True}, "seed is True, but it must be of type int"),
        ({"optim": {"lr": "fast"}}, "lr is 'fast'"),
        ({"optim": 3}, "optim is 3, but it must be a mapping of settings"),
        ({"precision": "64"}, "precision is '64', but it must be one of 32, bf16, fp16"),
        ({"log": {"tensorboard": "yes"}}, "tensorboard"),
        ({"objective": {"name": "lie", "operator": {"generators": "4"}}}, "must be a list"),
        ({"seed": -1}, "seed is -1"),
        ({"diverse": 0.0}, "diverse is 0.0"),
        ({"optim": {"batch": 1}}, "must be at least 2 for contrast"),
        ({"optim": {"steps": 0}}, "steps is 0"),
        ({"optim": {"lr": float("nan")}}, "lr is nan"),
        ({"optim": {"warmup": 1.0}}, "warmup is 1.0"),
        ({"objective": {"name": "lie", "lie": -1}}, "objective.lie is -1.0, but weights must be finite and 0 or more"),
        ({"objective": {"lie": -1}}, "objective has no setting 'lie'"),
        ({"objective": {"lei": 1}}, "objective has no setting 'lei'"),
        ({"objective": {"name": "lei"}}, "no objective 'lei'; did you mean 'lie'"),
        ({"objective": "lie"}, "objective is 'lie', but it must be a mapping of settings"),
        ({"objective": {"ssl": 0}}, "nothing would be learned"),
        ({"objective": {"frames": 1, "lie": 1}}, "objective has no setting 'frames'"),
        ({"log": {"every": 0}}, "log.every"),
    ],
)  # fmt: skip
def test_an_invalid_file_is_a_user_error(tmp_path: Path, values: dict[str, Any], message: str) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(values))
    with pytest.raises(UserError, match=message) as stop:
        load_config(path)
    assert "\n" not in str(stop.value)


def test_files_that_are_not_configs(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot read"):
        load_config(tmp_path / "nothing.json")
    for text, message in (("{", "not valid JSON"), ("[1]", "not the config of a run")):
        (tmp_path / "c.json").write_text(text)
        with pytest.raises(UserError, match=message):
            load_config(tmp_path / "c.json")
    assert read_config({}) == PretrainConfig()


def test_integers_are_accepted_as_floats() -> None:
    found = read_config({"optim": {"lr": 1}})
    assert isinstance(found.optim.lr, float)
    assert found.digest() == changed(PretrainConfig(), optim__lr=1.0).digest()


def test_only_relevant_differences_are_named() -> None:
    a = PretrainConfig()
    b = changed(a, optim__lr=0.5, workers=4, data="x")
    assert difference(a, b) == "optim.lr is 0.001 there and 0.5 here"
    assert difference(a, changed(a, workers=4)) == "with the same settings"


def test_default_intervals_depend_on_the_steps() -> None:
    config = changed(PretrainConfig(), optim__steps=1000)
    assert (config.check_every, config.save_every) == (100, 100)
    assert [changed(config, optim__steps=n).check_every for n in (3, 100, 200, 210, 250)] == [20, 20, 20, 21, 25]
    assert changed(config, log__check_every=7).save_every == 7
    assert changed(config, log__check_every=7, log__save_every=2).save_every == 2
    assert json.dumps(to_plain(config))
