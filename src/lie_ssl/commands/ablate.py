"""`lie-ssl ablate METHOD`: compares X Lie with variants that lack one of its parts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import pandas as pd
import tyro

from lie_ssl._text import count
from lie_ssl.commands.bar import Bar
from lie_ssl.commands.parsing import Jobs, call, check_data, check_jobs
from lie_ssl.commands.pretrain import pop_flag
from lie_ssl.errors import UserError
from lie_ssl.methods.registry import METHODS
from lie_ssl.protocol.ablate import FULL, TABLE
from lie_ssl.protocol.ablate import ablate as run
from lie_ssl.protocol.evaluate import EvaluateConfig
from lie_ssl.recipes.ablations import ABLATIONS, ablation_evaluation, select_ablations
from lie_ssl.recipes.pretrain import pretrain_recipe
from lie_ssl.report.names import BAR_SETTINGS
from lie_ssl.training.config import PretrainConfig


def ablate(arguments: list[str]) -> None:
    """Trains and evaluates X Lie and variants of it, and writes the drop in accuracy of each variant.

    METHOD is a registered name, which `lie-ssl ablate` lists, or `package.module:Class`. The flags are those of
    `lie-ssl pretrain METHOD lie`. It can be interrupted at any time; the same command resumes it.

    Example: lie-ssl ablate mae --data data/small --out runs/ablation --only no_euclidean mlp
    """
    recipe, rest = pop_flag(arguments, "--recipe", "small")
    if not rest or rest[0] in ("-h", "--help"):
        print(usage())
        sys.exit(0)
    if rest[0].startswith("-"):
        raise UserError("name a method to ablate: lie-ssl ablate METHOD, such as `mae`")
    method = rest.pop(0)
    default = pretrain_recipe(recipe, method, "lie")
    default_evaluation = ablation_evaluation(recipe, method)

    def main(
        config: Annotated[PretrainConfig, tyro.conf.arg(name="")] = default,
        evaluation: EvaluateConfig = default_evaluation,
        *,
        out: Path,
        seeds: tuple[int, ...] = (0, 1, 2),
        only: tuple[str, ...] = (),
        jobs: Jobs = None,
    ) -> None:
        """Ablations.

        Args:
            config: The full model.
            evaluation: The protocol's settings.
            out: Folder for ablation.csv and the runs.
            seeds: Seeds; every variant is trained with each of them.
            only: Names of ablations to run; all by default. The full model is always included.
            jobs: Variants to run in parallel; by default one per core, as far as memory allows.
        """
        check_jobs(jobs)
        check_data(config.data)
        if (config.seed, config.variant) != (default.seed, default.variant) or not seeds:
            raise UserError("an ablation needs --seeds instead of --seed, and no --variant")
        with Bar() as bar:
            table = run(config, select_ablations(only), seeds, evaluation, out, bar, jobs)
        print(f"{out / TABLE}: {count(table['ablation'].nunique(), 'variant')}\n{summary(table)}")

    call(main, f"lie-ssl ablate {method}", rest, description=ablate.__doc__)


def summary(table: pd.DataFrame) -> str:
    """Linear evaluation at the largest proportion, averaged over seeds: the full model's accuracy and the drops."""
    shown = (
        table["setting"].isin(BAR_SETTINGS)
        & (table["phase"] == "linear")
        & (table["diverse"] == table["diverse"].max())
    )
    linear = table[shown]
    names = linear["ablation"].unique()
    values = linear.assign(value=linear["top1"].where(linear["ablation"] == FULL, 0 - linear["drop"]))
    wide = values.pivot_table(index="ablation", columns=["setting", "poses"], values="value", sort=False).loc[names]
    title = f"linear evaluation at {linear['diverse'].max():g} % diverse: top-1 of {FULL}, then differences to it"
    return f"{title}\n{wide.round(1).to_string()}"


def usage() -> str:
    """The usage, with the names of all methods and ablations."""
    return "\n".join([
        "usage: lie-ssl ablate METHOD --data FOLDER --out FOLDER [--recipe RECIPE] [--seeds 0 1 2] [--only NAME ...]",
        "                             [--jobs N] [flags of pretrain]",
        "",
        f"  METHOD  {', '.join(METHODS)}, or package.module:Class",
        f"  NAME    {', '.join(ABLATIONS)}",
        "",
        "Example: lie-ssl ablate mae --data data/small --out runs/ablation --only no_euclidean mlp",
        "         lie-ssl ablate mae --help   shows every flag with its default",
    ])  # fmt: skip
