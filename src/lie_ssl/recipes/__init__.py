"""Named, complete configurations of data sets, pretraining, evaluations, grids and sweeps.

Example:
    >>> from lie_ssl.recipes import pretrain_recipe
    >>> pretrain_recipe("small", "mae", "lie").optim.steps
    1600
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lie_ssl._lazy import lazy_exports

if TYPE_CHECKING:
    from lie_ssl.recipes.ablations import ABLATIONS
    from lie_ssl.recipes.data import DATA_RECIPES, demo_data, paper_data, small_data
    from lie_ssl.recipes.demo import demo_recipe, from_scratch_recipe
    from lie_ssl.recipes.evaluate import EVALUATE_RECIPES, evaluate_recipe
    from lie_ssl.recipes.grids import GRIDS
    from lie_ssl.recipes.pretrain import PRETRAIN_RECIPES, pretrain_recipe
    from lie_ssl.recipes.sweeps import SWEEPS, sweep_recipe
    from lie_ssl.recipes.transfer import TRANSFER_RECIPES, transfer_recipe

__all__ = [
    "ABLATIONS", "DATA_RECIPES", "EVALUATE_RECIPES", "GRIDS", "PRETRAIN_RECIPES", "SWEEPS", "TRANSFER_RECIPES",
    "demo_data", "demo_recipe", "evaluate_recipe", "from_scratch_recipe", "paper_data", "pretrain_recipe", "small_data",
    "sweep_recipe", "transfer_recipe",
]  # fmt: skip
__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "ablations": ("ABLATIONS",),
        "data": ("DATA_RECIPES", "demo_data", "paper_data", "small_data"),
        "demo": ("demo_recipe", "from_scratch_recipe"),
        "evaluate": ("EVALUATE_RECIPES", "evaluate_recipe"),
        "grids": ("GRIDS",),
        "pretrain": ("PRETRAIN_RECIPES", "pretrain_recipe"),
        "sweeps": ("SWEEPS", "sweep_recipe"),
        "transfer": ("TRANSFER_RECIPES", "transfer_recipe"),
    },
)
