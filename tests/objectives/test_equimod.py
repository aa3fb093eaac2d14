"""EquiMod against loops, and what its two forms take for negatives."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.methods.adapted import IDENTITY
from lie_ssl.objectives import Pairs
from lie_ssl.objectives.equimod import EquiModConfig, prediction_nt_xent
from tests.objectives.told_moves import (
    OBJECTS,
    batch,
    check_adapts,
    check_few_pairs,
    check_two_processes,
    cosine,
    frames_share,
    made,
    naive_features,
    naive_layers,
)

SETTINGS = {"equivariance": 2.0, "contrast": 0.5, "equivariance_temperature": 0.3}


@torch.no_grad()
def naive(objective: Any, pairs: Pairs, form: str, temperature: float, objects: tuple[int, ...]) -> float:
    """The mean of -log softmax, with loops over rows and candidates."""
    rows = len(pairs.z)
    y = naive_layers(torch.cat([pairs.z, pairs.z_next]), objective.projector)
    first, second = y[:rows], y[rows:]
    code = naive_layers(naive_features(pairs.delta), objective.code)
    predicted = naive_layers(torch.cat([first, code], dim=1), objective.predictor)
    total = 0.0
    for i in range(rows):
        positive = float(cosine(predicted[i], second[i])) / temperature
        scores = [positive] + ([float(cosine(predicted[i], first[i])) / temperature] if form == "original" else [])
        for j in range(rows):
            if objects[j] != objects[i]:
                scores += [float(cosine(predicted[i], x[j])) / temperature for x in (first, second)]
        total += math.log(sum(math.exp(score - positive) for score in scores)) / rows
    return total


@pytest.mark.parametrize("form", ["pairs", "original"])
def test_the_loss_is_that_of_loops(form: str) -> None:
    objective, pairs = made("equimod", form=form, **SETTINGS), batch()
    found = objective(pairs)
    wanted = naive(objective, pairs, form, 0.3, OBJECTS)
    assert found.terms["equivariance"].item() == pytest.approx(wanted, rel=1e-9)
    assert found.total.item() == pytest.approx(2 * wanted + 0.5 * frames_share(objective, pairs), rel=1e-9)
    alone = objective(pairs._replace(objects=None)).terms["equivariance"]
    assert alone.item() == pytest.approx(naive(objective, pairs, form, 0.3, tuple(range(8))), rel=1e-9)


def test_only_the_original_form_repels_the_first_frame() -> None:
    """If y and y' are equal, the best prediction still costs log 2; with other objects far away, nothing otherwise."""
    y = torch.eye(4)
    losses = [
        prediction_nt_xent(y, y, y, rows=slice(None), temperature=0.01, own_negative=own) for own in (False, True)
    ]
    assert losses[0].abs().max() < 1e-6
    torch.testing.assert_close(losses[1], torch.full((4,), math.log(2.0)))


def test_the_forms_differ_by_one_negative() -> None:
    y, y_next, predicted = torch.nn.functional.normalize(torch.randn(3, 5, 4), dim=2)
    some, all_rows = slice(1, 3), slice(None)
    for own in (False, True):
        losses = prediction_nt_xent(predicted, y, y_next, rows=all_rows, own_negative=own)
        part = prediction_nt_xent(predicted, y, y_next, rows=some, own_negative=own)
        torch.testing.assert_close(losses[some], part)
    likelihoods = [
        (-prediction_nt_xent(predicted, y, y_next, rows=all_rows, temperature=0.2, own_negative=own)).exp()
        for own in (False, True)
    ]
    positive = ((predicted * y_next).sum(dim=1) / 0.2).exp()
    extra = ((predicted * y).sum(dim=1) / 0.2).exp()
    torch.testing.assert_close(positive / likelihoods[1], positive / likelihoods[0] + extra)


def test_without_a_contrast_there_is_no_head() -> None:
    objective = made("equimod", contrast=0.0)
    assert objective.loss is None
    assert set(objective(batch()).terms) == {"equivariance"}


def test_settings() -> None:
    for settings, message in (
        ({"equivariance": 0.0}, r"objective\.equivariance is 0, so the move would have no effect"),
        ({"equivariance": -1.0}, r"objective\.equivariance is -1"),
        ({"contrast": -1.0}, r"objective\.contrast is -1"),
        ({"temperature": 0.0}, r"objective\.temperature is 0"),
        ({"equivariance_temperature": -0.2}, r"objective\.equivariance_temperature is -0.2"),
        ({"width": 0}, r"objective\.width is 0, but it must be 1 or more"),
        ({"form": "both"}, r"objective\.form is 'both', but it must be one of pairs, original"),
    ):
        with pytest.raises(UserError, match=message) as error:
            EquiModConfig(**settings)
        assert "\n" not in str(error.value)
    config = EquiModConfig(ssl=0.0, contrast=0.0)
    assert config.separates
    assert config.kinds(["2d", "3d"]) == ("2d", "3d")
    assert (config.identity_dims(700), config.identity_dims(16)) == (IDENTITY, 16)


def test_few_pairs() -> None:
    check_few_pairs("equimod")


def test_two_processes_equal_one(tmp_path: Path) -> None:
    check_two_processes("equimod", tmp_path)


def test_the_commands(tiny: FrameSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_adapts("equimod", "equivariance", tiny, tmp_path, monkeypatch)
