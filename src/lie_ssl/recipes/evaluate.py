"""Named evaluations. A recipe is a function of method and arm that returns a complete config."""

from __future__ import annotations

from lie_ssl.errors import UserError
from lie_ssl.protocol.evaluate import EvaluateConfig
from lie_ssl.protocol.finetune import FinetuneConfig
from lie_ssl.protocol.probe import ProbeConfig
from lie_ssl.protocol.readout import ReadoutConfig
from lie_ssl.serialization import suggestion

# The regression of poses is left out: a network reads them better, and with thousands of features it takes minutes.
ANGLE_METRICS = ("retrieval", "alignment", "readout", "retrieval_all", "crosstalk", "speeds", "predicted", "symmetry")


def small_evaluation(method: str = "mae", arm: str = "alone") -> EvaluateConfig:
    """For a CPU: 4,000 steps of 14 parallel linear trials, 400 steps of finetuning at one rate, 2,000 frames per
    setting; minutes for the small encoders."""
    # With 1,000 steps of linear evaluation the largest rate was the best, and the choice of the rate mattered.
    # Started at zero, or with 150 steps at two rates, finetuned classifiers stayed below linear ones.
    return EvaluateConfig(probe=ProbeConfig(steps=4000), finetune=FinetuneConfig(steps=400, rates=(1e-3,)), limit=2000)


def paper_evaluation(method: str = "mae", arm: str = "alone") -> EvaluateConfig:
    """The paper's: Adam, batches of 64, 20,000 steps (linear) and 10,000 (finetuning), all test frames.

    X Lie as the paper describes it (the arm literal) has Option 2 with one neighbour for MAE and VICReg. VICReg is
    not finetuned.
    """
    return EvaluateConfig(
        probe=ProbeConfig(steps=20_000, batch=64, rates=(5e-3, 5e-4, 5e-5), optimisers=("adamw",)),
        finetune=FinetuneConfig(
            steps=0 if method == "vicreg" else 10_000,
            batch=64,
            rates=(5e-3, 5e-4, 5e-5, 5e-6),
            optimisers=("adamw",),
            start="zero",
        ),
        options=(2,) if arm == "literal" and method in ("mae", "vicreg") else (1,),
        neighbours=1,
        limit=None,
    )


def gaps_evaluation(method: str = "mae", arm: str = "alone") -> EvaluateConfig:
    """The paper's comparison of published models: 7 rates, SGD and Adam, batches of 32, half of the instances diverse.

    Its 100 epochs are counted over 1,924 training instances, as for pretraining. VICReg is not finetuned.
    """
    steps = 100 * (52 * 37 // 32)
    finetune_steps = 0 if method == "vicreg" else steps
    return EvaluateConfig(
        proportions=(0.5,),
        probe=ProbeConfig(steps=steps, batch=32, rates=rates(-1, -6), optimisers=("sgd", "adamw")),
        finetune=FinetuneConfig(
            steps=finetune_steps, batch=32, rates=rates(-2, -6), optimisers=("sgd", "adamw"), start="zero"
        ),
        limit=None,
    )


def adapt_evaluation(method: str = "mae", arm: str = "alone") -> EvaluateConfig:
    """For adapted encoders: linear classifiers on what the group leaves unchanged, and angles read by the operator
    and by a network; a minute."""
    return EvaluateConfig(
        proportions=(0.05, 0.5), probe=ProbeConfig(steps=1000, rates=rates(-1, -4, 4), optimisers=("adamw",)),
        finetune=FinetuneConfig(steps=0), limit=2000, pairs=20, part="identity", metrics=ANGLE_METRICS,
        readout=ReadoutConfig(whole=1024),
    )  # fmt: skip


def rates(first: int, last: int, count: int = 7) -> tuple[float, ...]:
    """Learning rates from one power of ten to another, evenly spaced on a logarithmic scale."""
    return tuple(float(f"{10 ** (first + (last - first) * i / (count - 1)):.6g}") for i in range(count))


EVALUATE_RECIPES = {
    "small": small_evaluation, "paper": paper_evaluation, "gaps": gaps_evaluation, "adapt": adapt_evaluation,
}  # fmt: skip


def evaluate_recipe(name: str, method: str = "mae", arm: str = "alone") -> EvaluateConfig:
    """A recipe by its name."""
    if name not in EVALUATE_RECIPES:
        raise UserError(f"there is no recipe {name!r}{suggestion(name, list(EVALUATE_RECIPES))}")
    return EVALUATE_RECIPES[name](method, arm)
