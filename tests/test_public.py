"""Exports of packages: every public name exists, has a docstring, and only needs its extra."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import lie_ssl
from tests.training.tiny_runs import ENVIRONMENT

ROOT = Path(__file__).parents[1]
# The extras without which a package cannot be imported.
EXTRAS: dict[tuple[str, ...], tuple[str, ...]] = {
    (): ("lie_ssl", "contrast", "lie", "objects", "protocol", "recipes", "render", "report", "storage"),
    ("vision",): ("methods", "objectives", "training"),
    ("data",): ("frames",),
}  # fmt: skip
PACKAGES = [name for names in EXTRAS.values() for name in names]


def full_name(package: str) -> str:
    return package if package == "lie_ssl" else f"lie_ssl.{package}"


def test_dir_lists_public_names_and_loads_nothing() -> None:
    code = (
        "import sys, lie_ssl\n"
        "assert set(lie_ssl.__all__) <= set(dir(lie_ssl)), dir(lie_ssl)\n"
        "assert '__doc__' in dir(lie_ssl)\n"
        "assert 'torch' not in sys.modules\n"
        "assert all(getattr(lie_ssl, name) is not None for name in lie_ssl.__all__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_package_is_listed() -> None:
    folders = Path(lie_ssl.__file__).parent.glob("*/__init__.py")
    assert {path.parent.name for path in folders} - {"commands"} == set(PACKAGES) - {"lie_ssl"}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_exists_and_is_documented(package: str) -> None:
    module = import_module(full_name(package))
    names = module.__all__
    assert module.__doc__
    assert len(names) == len(set(names))
    assert set(names) <= set(dir(module))
    for name in names:
        found = getattr(module, name)
        assert not inspect.ismodule(found), f"{package}.{name} is hidden by a module of the same name"
        if inspect.isclass(found) or inspect.isroutine(found):
            own = found.__doc__ if inspect.isroutine(found) else vars(found).get("__doc__")
            assert own, f"{package}.{name} has no docstring"
            assert not own.startswith(f"{name}("), f"{package}.{name} has no docstring of its own"


@pytest.mark.parametrize(("extras", "packages"), EXTRAS.items())
def test_importing_a_package_only_needs_its_extra(extras: tuple[str, ...], packages: tuple[str, ...]) -> None:
    imports = "\n".join(f"import {full_name(package)}" for package in packages)
    code = f"from tests.bare import only\nonly(*{extras})\n{imports}"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
