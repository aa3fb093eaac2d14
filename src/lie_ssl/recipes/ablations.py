"""What can be taken away from X Lie, or exchanged in it, one thing at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

from lie_ssl.errors import UserError
from lie_ssl.lie.operator import AlgebraName
from lie_ssl.plain import suggestion
from lie_ssl.protocol.ablate import Change
from lie_ssl.protocol.evaluate import EvaluateConfig
from lie_ssl.recipes.evaluate import evaluate_recipe
from lie_ssl.training.config import PretrainConfig

GENERATORS = (1, 2, 8, 16)


def objective(**values: Any) -> Change:
    """Other values of the objective."""
    return lambda config: replace(config, objective=replace(config.objective, **values))


def operator(**values: Any) -> Change:
    """Other values of the operator."""
    return lambda config: objective(operator=replace(config.objective.operator, **values))(config)


def no_fixed(config: PretrainConfig) -> PretrainConfig:
    """The group acts on all of the embedding; without a fixed part there is no contrast on it."""
    own = config.objective
    return objective(invariant=0.0, operator=replace(own.operator, fixed=0))(config)


ABLATIONS: dict[str, Change] = {
    "no_euclidean": objective(euclidean=0.0),
    "lie_only": objective(euclidean=0.0, ssl=0.0),
    "no_ssl": objective(ssl=0.0),
    "no_own_negative": objective(own_negative=False),
    "identity": operator(action="identity"),
    "mlp": operator(action="mlp"),
    **{name: operator(algebra=name) for name in get_args(AlgebraName)},
    "no_fixed": no_fixed,
    **{f"generators_{n}": operator(generators=(n,)) for n in GENERATORS},
}


def chosen(only: tuple[str, ...]) -> dict[str, Change]:
    """The named ablations, or all of them."""
    for name in only:
        if name not in ABLATIONS:
            raise UserError(f"there is no ablation {name!r}{suggestion(name, list(ABLATIONS))}")
    return {name: change for name, change in ABLATIONS.items() if not only or name in only}


def evaluation(recipe: str, method: str) -> EvaluateConfig:
    """The recipe's, with Option 1; only MAE is finetuned as well, as in the paper's ablations."""
    config = replace(evaluate_recipe(recipe, method, "lie"), options=(1,))
    return config if method == "mae" else replace(config, finetune=replace(config.finetune, steps=0))
