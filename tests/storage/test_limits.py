"""Work that does not fit is rejected with an estimate."""

from __future__ import annotations

import pytest

from lie_ssl.errors import UserError
from lie_ssl.storage import limits


def test_available_memory_is_accepted() -> None:
    assert limits.available_memory() > 0
    limits.check_memory(1000, "a little", "none")
    with pytest.raises(UserError, match=r"^a lot needs at least 1e\+11 GB, but .* GB are free; take less$"):
        limits.check_memory(1e20, "a lot", "take less")


def test_the_smallest_limit_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("_machine", 10), ("_group", 7), ("_own_limit", None)):
        monkeypatch.setattr(limits, name, lambda value=value: value)
    assert limits.available_memory() == 7
    monkeypatch.setattr(limits, "_own_limit", lambda: -5)
    assert limits.available_memory() == 0


def test_too_many_steps_are_rejected() -> None:
    limits.check_steps("optim.steps", 100_000_000)
    with pytest.raises(UserError, match=r"optim\.steps is 1e\+30, which takes 3\.17e\+19 years"):
        limits.check_steps("optim.steps", 10**30)
