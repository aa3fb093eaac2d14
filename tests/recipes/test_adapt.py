"""The grids of adapted encoders: every unit can be built, and each variant differs from the full model."""

from __future__ import annotations

import pytest

from lie_ssl.recipes.adapt import ADAPT_GRIDS, OBJECTS, SEEDS, TRAINING_OBJECTS, VARIANTS
from lie_ssl.training.model import build_model

FACTORS = ("2d", "3d", "yaw")
STORED = {"pooled": slice(0, 1280), "blocks.4": slice(1280, 3072)}


@pytest.mark.parametrize("name", ADAPT_GRIDS)
def test_units_have_names_and_hashes_of_their_own(name: str) -> None:
    recipe = ADAPT_GRIDS[name]()
    assert recipe.name == name
    assert len({unit.name for unit in recipe.units}) == len(recipe.units)
    assert len({recipe.hash_of(unit) for unit in recipe.units}) == len(recipe.units)


def test_every_variant_can_be_built_and_is_another_model() -> None:
    units = [u for u in ADAPT_GRIDS["adapt/ablations"]().units if u.pretraining.seed == SEEDS[0]]
    assert [u.pretraining.variant for u in units] == [None, *VARIANTS]
    for unit in units:
        model = build_model(unit.pretraining, 96, 3, FACTORS, stored=STORED)
        assert model.operator is not None
        assert len(model.operator.shares) == len(FACTORS)


def test_the_curve_shows_the_numbers_of_objects_that_it_names() -> None:
    recipe = ADAPT_GRIDS["adapt/curve"]()
    data = recipe.data
    assert data.instances - round(data.validation * data.instances) - round(data.test * data.instances) == 51
    assert TRAINING_OBJECTS == 51
    shown = {unit.pretraining.diverse * TRAINING_OBJECTS for unit in recipe.units}
    assert sorted(round(count) for count in shown) == list(OBJECTS)
