"""Evaluation settings of older versions can be read, and can be written again to compute their hashes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from lie_ssl.migration import legacy_evaluation, modern_evaluation
from lie_ssl.protocol.config import EvaluateConfig
from lie_ssl.protocol.finetune import FinetuneConfig
from lie_ssl.protocol.results import read_card
from lie_ssl.protocol.studies import PhotoTransfer
from lie_ssl.protocol.transfer import settings_hashes
from lie_ssl.recipes.ablations import ablation_evaluation
from lie_ssl.recipes.demo import demo_recipe, from_scratch_recipe
from lie_ssl.recipes.evaluate import EVALUATE_RECIPES
from lie_ssl.recipes.gaps import published
from lie_ssl.recipes.grids import GRIDS
from lie_ssl.serialization import from_plain, to_plain
from lie_ssl.storage.hashes import digest

METHODS = ("mae", "vicreg", "simclr")
CARDS = sorted((Path(__file__).parents[2] / "results").glob("*/cards/*.json"))


def recipes() -> list[EvaluateConfig]:
    """The evaluations of all recipes."""
    found = [unit.evaluation for make in (*GRIDS.values(), demo_recipe, from_scratch_recipe) for unit in make().units]
    found += [
        make(method, arm) for make in EVALUATE_RECIPES.values() for method in METHODS for arm in ("lie", "literal")
    ]
    found += [encoder.evaluation for name in ("small", "paper") for encoder in published(name)]
    found += [ablation_evaluation("small", method) for method in METHODS]
    return [EvaluateConfig(), replace(EvaluateConfig(), limit=None), *dict.fromkeys(found)]


@pytest.mark.parametrize("config", recipes(), ids=lambda config: digest(to_plain(config)))
def test_old_and_new_forms_are_inverse(config: EvaluateConfig) -> None:
    plain, old = to_plain(config), legacy_evaluation(to_plain(config))
    assert modern_evaluation(old) == plain
    assert modern_evaluation(plain) == plain
    assert from_plain(EvaluateConfig, modern_evaluation(old)) == config
    assert isinstance(old["limit"], int)
    text = json.dumps(old)
    assert "adamw" not in text
    assert "null" not in text


def test_the_old_form_is_that_of_older_versions() -> None:
    config = EvaluateConfig(limit=None)
    old = legacy_evaluation(to_plain(config))
    assert old["limit"] == 0
    assert old["probe"]["optimisers"] == ["adam", "sgd"]
    assert old["finetune"]["optimisers"] == ["adam"]
    assert list(old) == list(to_plain(config))


@pytest.mark.skipif(not CARDS, reason="there are no results")
def test_old_cards_are_read() -> None:
    for path in CARDS[:5]:
        written = json.loads(path.read_text())["config"]
        config = from_plain(EvaluateConfig, read_card(path)["config"])
        assert written in (legacy_evaluation(to_plain(config)), to_plain(config))


def test_malformed_settings_are_kept() -> None:
    malformed = {"probe": {"optimisers": [["adam"], {}, 3]}, "finetune": "adam", "limit": "0", "optimisers": "adam"}
    assert modern_evaluation(malformed) == malformed
    assert modern_evaluation({}) == {}


def test_rows_of_older_transfers_are_recognised() -> None:
    config = PhotoTransfer(FinetuneConfig(steps=3, start="zero"))
    new, old = settings_hashes(config, ("today", "run"), ["data", "photos"])
    plain = to_plain(config)
    plain["finetune"]["optimisers"] = ["adam"]
    assert old == digest([plain, "run", "data", "photos", "by content"]) != new
