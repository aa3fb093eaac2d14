"""Draws: the numbers of a row depend only on seed, batch, name and row, and have the right moments."""

from __future__ import annotations

import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lie_ssl.methods.draws import Draws, derive_seed


@given(st.integers(0, 2**40), st.integers(0, 10**6), st.integers(1, 40), st.data())
def test_any_split_of_the_rows_gives_the_same_numbers(seed: int, batch: int, total: int, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, total), max_size=4)))
    whole = Draws(seed, batch, total)
    for draw in ("uniform", "normal"):
        parts = [
            getattr(Draws(seed, batch, total, start, stop - start).named("view"), draw)("x", 3)
            for start, stop in itertools.pairwise([0, *cuts, total])
        ]
        assert torch.equal(torch.cat(parts), getattr(whole.named("view"), draw)("x", 3))


def test_rows_and_shapes() -> None:
    assert Draws(0, 0, 10).rows == 10
    assert Draws(0, 0, 10, start=4).rows == 6
    assert Draws(0, 0, 10, start=4, count=2).rows == 2
    assert Draws(0, 0, 10, start=4, count=2).uniform("x").shape == (2,)
    assert Draws(0, 0, 10, start=4).normal("x", 2, 5).shape == (6, 2, 5)
    assert Draws(0, 0, 10, start=10).uniform("x", 3).shape == (0, 3)


def test_a_name_always_gives_the_same_numbers_without_using_torchs_generator() -> None:
    draws = Draws(3, 7, 5)
    before = torch.get_rng_state()
    assert torch.equal(draws.uniform("mask", 9), draws.uniform("mask", 9))
    assert torch.equal(torch.get_rng_state(), before)


def test_seed_batch_name_prefix_and_row_all_matter() -> None:
    kinds = [
        Draws(0, 0, 8).uniform("x", 4),
        Draws(1, 0, 8).uniform("x", 4),
        Draws(0, 1, 8).uniform("x", 4),
        Draws(0, 0, 8).uniform("y", 4),
        Draws(0, 0, 8).named("a").uniform("x", 4),
        Draws(0, 0, 8).named("b").uniform("x", 4),
        Draws(0, 0, 8).named("a").named("b").uniform("x", 4),
        Draws(0, 0, 8).named("b").named("a").uniform("x", 4),
    ]
    rows = torch.cat(kinds)
    assert len(rows.unique(dim=0)) == len(rows) == 64


def test_moments() -> None:
    uniform = Draws(0, 0, 1000).uniform("u", 200).double()
    assert 0 <= float(uniform.min()) < 1e-4
    assert 1 - 1e-4 < float(uniform.max()) < 1
    assert float(uniform.mean()) == pytest.approx(1 / 2, abs=0.003)  # 200,000 numbers: five standard deviations
    assert float(uniform.var()) == pytest.approx(1 / 12, abs=0.001)
    normal = Draws(0, 0, 1000).normal("n", 200).double()
    assert float(normal.mean()) == pytest.approx(0, abs=0.012)
    assert float(normal.var()) == pytest.approx(1, abs=0.016)
    assert float((normal**4).mean()) == pytest.approx(3, abs=0.11)


def test_parts_of_a_key_are_kept_separate() -> None:
    """(1, 23) differs from (12, 3), and seeds are valid for torch."""
    assert derive_seed(1, 23) != derive_seed(12, 3)
    assert derive_seed("ab", "c") != derive_seed("a", "bc")
    seeds = {derive_seed(i, "step", j) for i in range(50) for j in range(50)}
    assert len(seeds) == 2500
    assert all(0 <= s < 2**63 for s in seeds)
