"""Named sweeps. A recipe is a function that returns the whole grid; its first line of documentation is the help."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from lie_ssl.errors import UserError
from lie_ssl.methods.simclr import SimCLRConfig
from lie_ssl.objectives.literal import LiteralConfig
from lie_ssl.protocol.sweep import Grid
from lie_ssl.recipes.evaluate import paper_evaluation
from lie_ssl.recipes.pretrain import PUBLISHED, SMALL_STEPS, paper_run, short_run
from lie_ssl.serialization import suggestion
from lie_ssl.training.config import PretrainConfig

LR, SSL, LIE, EUCLIDEAN = "optim.lr", "objective.ssl", "objective.lie", "objective.euclidean"
RATES = (5e-4, 5e-5, 5e-6)
PAPER_PROBE = paper_evaluation().probe


def paper_mae() -> Grid:
    """3 rates x each lambda in {1, 5}: 24 runs of the paper's size."""
    weights = (1.0, 5.0)
    values = {LR: RATES, SSL: weights, LIE: weights, EUCLIDEAN: weights}
    return Grid(paper_run("mae", "literal"), values, probe=PAPER_PROBE)


def paper_vicreg() -> Grid:
    """3 rates x each lambda in {0, 1, 5}, without those that learn nothing: 72 runs of the paper's size."""
    weights = (0.0, 1.0, 5.0)
    values = {LR: RATES, SSL: weights, LIE: weights, EUCLIDEAN: weights}
    return Grid(paper_run("vicreg", "literal"), values, probe=PAPER_PROBE)


def paper_simclr() -> Grid:
    """2 rates x lambda_lie, lambda_ssl in {1, 5, 10} x lambda_euc in {1, 2}, filtered: 36 runs of the paper's size."""
    weights = (1.0, 5.0, 10.0)
    values = {LR: RATES[1:], SSL: weights, LIE: weights, EUCLIDEAN: (1.0, 2.0)}
    return Grid(with_own_temperature(paper_run("simclr", "literal")), values, ratio=0.6, probe=PAPER_PROBE)


def small_grid(method: str, arm: str) -> Grid:
    """For a CPU, 800 steps at the most: three rates of X, or two weights of what X Frames or X Lie adds."""
    return Grid(short_run(method, arm, min(SMALL_STEPS[method], 800)), SMALL_VALUES[arm])


def with_own_temperature(config: PretrainConfig) -> PretrainConfig:
    """SimCLR's temperature for the Lie term too: at 1 its loss has a floor of about 0.81 of the first value (190
    negatives, cosines of 1 and 0), and no run could pass the filter."""
    own = config.objective
    assert isinstance(config.method, SimCLRConfig)
    assert isinstance(own, LiteralConfig)
    return replace(
        config,
        objective=replace(own, temperature=config.method.temperature, invariant_temperature=own.temperature),
    )


WEIGHTS = (1.0, 3.0)
# X has a trial more than what is added to it, so that its rate has neighbours on both sides; lie_off takes what is
# found for lie.
SMALL_VALUES: dict[str, dict[str, tuple[float, ...]]] = {
    "alone": {LR: (5e-4, 1e-3, 2e-3)},
    "frames": {"objective.frames": WEIGHTS},
    "literal": {LIE: WEIGHTS},
    "lie": {"objective.invariant": WEIGHTS},
}
SWEEPS: dict[str, Callable[[], Grid]] = {
    "paper/mae": paper_mae, "paper/vicreg": paper_vicreg, "paper/simclr": paper_simclr,
    **{f"small/{method}/{arm}": partial(small_grid, method, arm) for method in PUBLISHED for arm in SMALL_VALUES},
}  # fmt: skip


def sweep_recipe(name: str) -> Grid:
    """A grid by its name."""
    if name not in SWEEPS:
        raise UserError(f"there is no sweep {name!r}{suggestion(name, list(SWEEPS))}")
    return SWEEPS[name]()
