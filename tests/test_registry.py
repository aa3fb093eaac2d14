"""What all registries have in common."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lie_ssl.errors import UserError
from lie_ssl.objectives import OBJECTIVES, PairObjective, objective, objective_type
from lie_ssl.registry import Entry, Registry

CELL = """
class Again: ...
def again(): ...
"""


def cell(name: str) -> object:
    """What a cell of a notebook defines when it is run."""
    found: dict[str, object] = {"__name__": "__main__"}
    exec(CELL, found)
    return found[name]


@pytest.mark.parametrize("name", ["Again", "again"])
def test_code_that_is_run_again_replaces_what_it_registered(name: str) -> None:
    registry: Registry[Entry[object]] = Registry("toy", "lie_ssl.storage")
    registry.add(Entry("a", "A", cell(name)))
    registry.add(Entry("a", "B", after := cell(name)))
    assert registry["a"] == Entry("a", "B", after)


def test_other_code_cannot_take_a_name() -> None:
    registry: Registry[Entry[object]] = Registry("toy", "lie_ssl.storage")
    registry.add(Entry("a", "A", before := cell("Again")))
    for value in (cell("again"), before):
        with pytest.raises(UserError, match="the toy 'a' is already registered; choose another name"):
            registry.add(Entry("a", "B", value))


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A package with a module that cannot be imported."""
    package = "broken_package_of_a_test"
    (tmp_path / package).mkdir()
    (tmp_path / package / "__init__.py").touch()
    (tmp_path / package / "wrong.py").write_text("raise ValueError('wrong')")
    monkeypatch.syspath_prepend(tmp_path)
    yield package
    sys.modules.pop(package, None)


def test_a_module_that_fails_is_reported_every_time(broken: str) -> None:
    registry: Registry[Entry[object]] = Registry("toy", broken)
    for _ in range(2):
        with pytest.raises(ValueError, match="wrong"):
            registry.names()


def test_a_registered_class_without_a_config() -> None:
    @objective("test_bare", title="Bare")
    class Bare(PairObjective): ...

    try:
        with pytest.raises(UserError, match="'test_bare' is not an objective; make it a subclass"):
            objective_type("test_bare")
    finally:
        OBJECTIVES.remove("test_bare")
