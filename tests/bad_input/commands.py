"""Builders of commands with bad input."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file

from tests.bad_input.workspace import Workspace

CLASSES = ("--classes", "car", "mug", "--instances", "2", "--step", "90", "--size", "16", "--workers", "1")


@dataclass(frozen=True)
class Case:
    """A command that must fail. `command` prepares bad input in a workspace and returns the arguments."""

    name: str
    command: Callable[[Workspace], list[Any]]
    words: str
    code: int = 2
    leaves: tuple[str, ...] = field(default=())  # names that the command may create in the folder of the case


def set_first(value: Any) -> Callable[[np.ndarray[Any, Any]], Any]:
    """Changes the first entry of a column."""

    def change(column: np.ndarray[Any, Any]) -> Any:
        column = column.astype(object)
        column[0] = value
        return column if isinstance(value, str) else column.astype(float if isinstance(value, float) else int)

    return change


def make(*flags: str) -> Callable[[Workspace], list[Any]]:
    return lambda w: ["data", "make", "demo", "--out", w.out, *CLASSES, *flags]


def import_photos(*flags: Any) -> Callable[[Workspace], list[Any]]:
    return lambda w: ["data", "import", *(f(w) if callable(f) else f for f in flags), "--out", w.out]


def train(*flags: Any) -> Callable[[Workspace], list[Any]]:
    return lambda w: ["pretrain", "mae", "lie", "--data", w.data, "--out", w.out, *flags]


def finished(change: Callable[[dict[str, Any]], Any]) -> Callable[[Workspace], list[Any]]:
    """Repeats a finished run with a modified checkpoint."""
    return lambda w: ["pretrain", "--config", w.config(), "--out", w.run_with_changed_checkpoint(change)]


def unfinished(change: Callable[[dict[str, Any]], Any]) -> Callable[[Workspace], list[Any]]:
    """Resumes an unfinished run with a modified checkpoint."""
    return lambda w: ["pretrain", "--config", w.config(), "--out", w.run_with_changed_checkpoint(change, False)]


def literal(*flags: str) -> Callable[[Workspace], list[Any]]:
    return lambda w: ["pretrain", "mae", "literal", "--data", w.data, "--out", w.out, *flags]


def show(damaged: Callable[[Workspace], Any], verb: str = "show") -> Callable[[Workspace], list[Any]]:
    return lambda w: ["data", verb, damaged(w)]


def export(damaged: Callable[[Workspace], Any], to: str = "imagefolder") -> Callable[[Workspace], list[Any]]:
    return lambda w: ["data", "export", damaged(w), "--to", to, "--out", w.out]


def evaluate(run: Callable[[Workspace], Any], *flags: str) -> Callable[[Workspace], list[Any]]:
    return lambda w: ["evaluate", run(w), "--data", w.data, "--out", w.out, *flags]


def report(source: Callable[[Workspace], Any], *flags: Any) -> Callable[[Workspace], list[Any]]:
    return lambda w: ["report", source(w), "--out", w.out / "page.html", *flags]


def transfer(photos: Callable[[Workspace], Any]) -> Callable[[Workspace], list[Any]]:
    return lambda w: ["transfer", w.run, "--photos", photos(w), "--out", w.out]


def foreign_tensors(w: Workspace) -> Any:
    path = w.tmp / "foreign.safetensors"
    save_file({"a": torch.zeros(1)}, path)
    return path
