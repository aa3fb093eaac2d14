"""Many runs that differ in a few settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from lie_ssl.training.config import PretrainConfig


@dataclass(frozen=True)
class Trial:
    """One combination of settings."""

    name: str
    settings: dict[str, float]
    config: PretrainConfig


def combinations(
    base: PretrainConfig, values: Mapping[str, Sequence[float]], keep: Callable[[PretrainConfig], bool]
) -> list[Trial]:
    """Every combination of the values of dotted settings, such as optim.lr, that is worth a run."""
    trials = []
    for combination in product(*values.values()):
        settings = dict(zip(values, combination, strict=True))
        config = base
        for path, value in settings.items():
            config = changed(config, path, value)
        if keep(config):
            short = {path.rsplit(".", 1)[-1]: value for path, value in settings.items()}
            trials.append(Trial("-".join(f"{k}_{v:g}" for k, v in short.items()), short, config))
    return trials


def changed(config: Any, path: str, value: Any) -> Any:
    """A config with another value of a dotted setting."""
    first, _, rest = path.partition(".")
    return replace(config, **{first: changed(getattr(config, first), rest, value) if rest else value})
