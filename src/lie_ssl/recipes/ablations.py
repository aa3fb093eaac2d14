"""Variants of X Lie in which one part is removed or replaced."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from lie_ssl.errors import UserError
from lie_ssl.lie.coordinates import Sees
from lie_ssl.objectives.lie import LieConfig
from lie_ssl.objectives.lie_off import LieOffConfig
from lie_ssl.objectives.literal import LiteralConfig
from lie_ssl.protocol.ablate import Change
from lie_ssl.protocol.evaluate import EvaluateConfig
from lie_ssl.recipes.evaluate import evaluate_recipe
from lie_ssl.serialization import suggestion
from lie_ssl.training.config import PretrainConfig

GENERATORS = (1, 8)


def objective(**values: Any) -> Change:
    """A change of settings of the objective."""
    return lambda config: replace(config, objective=replace(config.objective, **values))


def operator(**values: Any) -> Change:
    """A change of settings of the operator."""
    return lambda config: objective(operator=replace(lie_of(config).operator, **values))(config)


def lie_of(config: PretrainConfig) -> LieConfig:
    """The full model's objective."""
    assert isinstance(config.objective, LieConfig)
    return config.objective


def learned(change: Change, rate: float = 1.0) -> Change:
    """A change in which the operator has the common learning rate, as it does not start at its solution."""
    return lambda config: change(replace(config, optim=replace(config.optim, operator_lr=rate)))


def inferred(sees: Sees, generators: int = 4) -> Change:
    """t from the paper's inference network, with the given number of random generators for each factor."""
    return learned(operator(sees=(sees,), generators=(generators,), frequencies=()))


def algebra(name: str) -> Change:
    """Another algebra. The low-rank and block algebras cannot start as plane rotations."""
    return learned(operator(algebra=name) if name in PLANES else operator(algebra=name, frequencies=()))


def no_fixed(config: PretrainConfig) -> PretrainConfig:
    """The group acts on all of the embedding; without a fixed part there is no contrast on it."""
    own = lie_of(config)
    settings = {f.name: getattr(own, f.name) for f in fields(LiteralConfig) if f.name not in ("name", "invariant")}
    return replace(config, objective=LiteralConfig(**settings | {"operator": replace(own.operator, fixed=0)}))


def no_euclidean(config: PretrainConfig) -> PretrainConfig:
    """No distance between moved and true embeddings, and so no term for the operator."""
    return replace(config, objective=LieOffConfig.of(lie_of(config)))


def one_group(config: PretrainConfig) -> PretrainConfig:
    """One group, with the same action on standardised dimensions, for all kinds of pose."""
    return objective(by_kind=False, operator=replace(lie_of(config).operator, standardised=("pose",)))(config)


def batch_128(config: PretrainConfig) -> PretrainConfig:
    """Twice as many pairs, and so negatives, in half as many steps."""
    return replace(config, optim=replace(config.optim, batch=128, steps=config.optim.steps // 2))


PLANES = ("general", "skew", "commuting")
ABLATIONS: dict[str, Change] = {
    # The terms of the loss.
    "no_euclidean": no_euclidean,
    "no_invariant": objective(invariant=0.0),
    "no_ssl": objective(ssl=0.0),
    "with_lie": objective(lie=0.3),
    "euclidean_1": objective(euclidean=1.0),
    "euclidean_9": objective(euclidean=9.0),
    # What moves, and how the error is measured.
    "identity": operator(action="identity"),
    "mlp": learned(operator(action="mlp")),
    "no_fixed": no_fixed,
    "fixed_64": operator(fixed=64),
    "fixed_112": operator(fixed=112),
    "no_centre": operator(centred=False, standardised=()),
    "no_spread": operator(standardised=()),
    "not_relative": objective(relative=False, euclidean=0.1),  # 3 x squares of norms would dominate
    "one_group": one_group,
    # Where t comes from.
    **{f"sees_{name}": inferred(name) for name in ("pair", "source", "delta")},
    **{f"sees_pair_{n}": inferred("pair", n) for n in GENERATORS},
    # The algebra and its start.
    **{name: algebra(name) for name in ("general", "skew", "low_rank", "block")},  # the full model has it
    "frequency_1": operator(frequencies=(1.0,)),
    "random_start": learned(operator(frequencies=())),
    "fast_operator": learned(objective()),
    "frozen_operator": learned(objective(), rate=0.0),
    # The contrast between frames.
    "temperature_0.1": objective(temperature=0.1),
    "temperature_0.5": objective(temperature=0.5),
    "no_batch_norm": objective(batch_norm=False),
    "no_singles": objective(singles=False),
    "ssl_view": objective(view="ssl"),
    "batch_128": batch_128,
}


def select_ablations(only: tuple[str, ...]) -> dict[str, Change]:
    """The named ablations, or all of them."""
    for name in only:
        if name not in ABLATIONS:
            near = suggestion(name, list(ABLATIONS))
            raise UserError(f"there is no ablation {name!r}{near or '; `lie-ssl ablate` lists them'}")
    return {name: change for name, change in ABLATIONS.items() if not only or name in only}


def ablation_evaluation(recipe: str, method: str) -> EvaluateConfig:
    """The recipe's evaluation with Option 1; only MAE is also finetuned, as in the paper's ablations."""
    config = replace(evaluate_recipe(recipe, method, "lie"), options=(1,))
    return config if method == "mae" else replace(config, finetune=replace(config.finetune, steps=0))
