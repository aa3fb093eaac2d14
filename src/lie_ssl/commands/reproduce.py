"""`lie-ssl reproduce CARD|RECIPE`: repeats an evaluation from its card, or runs a whole grid."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import pandas as pd
import tyro

from lie_ssl._text import count
from lie_ssl.commands.bar import Bar
from lie_ssl.commands.make import run as make_data
from lie_ssl.commands.parsing import Jobs, Trust, check_jobs
from lie_ssl.errors import UserError
from lie_ssl.methods.weights import weight_path
from lie_ssl.protocol.grid import CARDS, Recipe, done_units, run_units, select_units
from lie_ssl.protocol.reproduce import read_recorded, reproduce_card
from lie_ssl.protocol.unit import EVALUATION, duration
from lie_ssl.recipes.grids import GRIDS, PAPER, from_weights
from lie_ssl.recipes.paper import GAPS, TRANSFERS
from lie_ssl.serialization import suggestion
from lie_ssl.storage.cards import CARD
from lie_ssl.storage.paths import inside

if TYPE_CHECKING:
    from lie_ssl.protocol.dry_run import Phase


ASSUMPTIONS = """
Parameters are those of the encoder / the heads / the operator. A step has the batch of one of {gpus}, random weights
and frames of the recipe's size, and is measured after a warm-up step. Hours here are for all units on this CPU with
{threads}. Hours on {gpus} are the counted operations at {tflops:g} TFLOP/s each (--tflops), without
reading and communication: a lower bound. GB here is the largest resident size of this process. GB per GPU are weights,
gradients, optimiser state and activations in 32 bits, without the buffers of libraries."""


def reproduce(
    what: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="CARD|RECIPE")],
    data: str | None = None,
    out: Path | None = None,
    work: Path | None = None,
    only: tuple[str, ...] = (),
    jobs: Jobs = None,
    test_data: str | None = None,
    tolerance: float = 0.0,
    weights: str | None = None,
    dry_run: bool = False,
    gpus: int = 8,
    tflops: float = 60.0,
    trust: Trust = (),
) -> None:
    """Repeats an evaluation from its card and compares all accuracies, or runs the grid of a recipe unit by unit.

    It can be interrupted at any time; the same command resumes it. Several units of a recipe run in parallel (--jobs);
    the same command on other machines with a shared folder takes its share of the units. For a card, the exit code is
    0 if all rows agree, else 1. The recipe `small` trains and evaluates mae, vicreg and simclr in all arms with three
    seeds; `long` trains mae with four times the steps; `pretrained` and `backbone` start from a trained encoder;
    `adapt` puts heads on published encoders, and so do `adapt/classes`, `adapt/objects`, `adapt/furniture`,
    `adapt/ablations`, `adapt/curve`, `adapt/poses`, `adapt/factors`, `adapt/rotations`, `adapt/symmetric` and
    `adapt/untold`; `paper/mae`, `paper/vicreg` and `paper/simclr` have the paper's size. With --dry-run, a recipe (also
    paper/gaps, paper/imagenet or paper/ilab) runs for a few steps at full size with random weights, and the cost of the
    whole recipe is estimated.

    Example: lie-ssl reproduce runs/mae_lie/evaluation --data data/small

    Example: lie-ssl reproduce paper/mae --dry-run --only literal

    Args:
        what: The card.json of an evaluation, its folder or its run, or a card in results/RECIPE/cards; or the name of
            a recipe.
        data: The data set. For a card, it must be identical to the original, and is the run's own by default. For a
            recipe, it is made if it is missing, and is data/RECIPE by default (data/paper for paper/METHOD, and
            data/adapt_factors for adapt/factors).
        out: Folder of the repeated run, runs/again/METHOD_ARM_SEED by default; for a recipe, the folder of its tables,
            results/RECIPE by default.
        work: Folder for the runs of a recipe; runs/RECIPE by default.
        only: Units of a recipe to run: methods, arms, seeds, or combinations such as mae/lie or mae/lie/0.
        jobs: Units of a recipe to run in parallel; by default one per core, as far as memory allows.
        test_data: The data set of a card's evaluation, if it differs from that of the run.
        tolerance: Largest difference of two accuracies that count as equal, in percentage points.
        weights: Published weights from which the encoders of a paper recipe start: a file, or another value of
            encoder.weights.
        dry_run: Only try every phase of a recipe and estimate its cost.
        gpus: Number of GPUs in the estimate; they share every batch.
        tflops: Sustained speed of each GPU in the estimate, in 10^12 operations per second.
        trust: An import path (package.module:Class) that the card may name. Importing runs code.
    """
    check_jobs(jobs)
    recipes = [*GRIDS, *GAPS, *TRANSFERS]
    if dry_run:
        if what not in recipes:
            raise UserError(f"--dry-run is for recipes, and there is no {what!r}{suggestion(what, recipes)}")
        if any(given is not None for given in (data, out, work, weights, jobs)):
            raise UserError("--dry-run uses random frames and weights and writes nothing; leave out the other flags")
        estimate_cost(what, only, gpus, tflops)
        return
    if what in recipes and (test_data is not None or tolerance):
        raise UserError("--test-data and --tolerance are for cards; leave them out for a recipe")
    if what in GRIDS:
        run_recipe(with_weights(what, weights), data, out, work, only, jobs)
        return
    if what in recipes:
        raise UserError(f"{what} has settings but no runs; try it with `lie-ssl reproduce {what} --dry-run`")
    if not Path(what).exists():
        raise UserError(f"there is no card and no recipe {what!r}{suggestion(what, recipes)}")
    if only or work is not None or jobs is not None:
        raise UserError("--only, --work and --jobs are for recipes; leave them out for a card")
    if weights is not None:
        raise UserError("--weights is for the paper recipes; leave it out for a card")
    if not tolerance >= 0:
        raise UserError(f"tolerance is {tolerance}, but it must be 0 or more")
    repeat_evaluation(evaluation_folder(Path(what)), data, out, test_data, tolerance, trust)


def with_weights(name: str, weights: str | None) -> Recipe:
    """The recipe with the weights from which it starts."""
    recipe = GRIDS[name]()
    if name not in PAPER:
        if weights is not None:
            raise UserError(f"--weights is for the paper recipes; leave it out for {name}")
        return recipe
    if weights is None:
        encoder = recipe.units[0].pretraining.encoder.name
        raise UserError(f"the runs of {name} start from published weights of {encoder}; give --weights FILE")
    if weights != "timm" and not weight_path(weights).exists():  # before a large data set is rendered
        raise UserError(f"there is no file {weights}; give --weights FILE, package:NAME or timm")
    return from_weights(recipe, weights)


def estimate_cost(name: str, only: tuple[str, ...], gpus: int, tflops: float) -> None:
    """Tries a recipe for a few steps and prints an estimate of its cost."""
    from torch import get_num_threads

    from lie_ssl.protocol.dry_run import dry_run, gaps_jobs, grid_jobs, transfer_jobs

    if name in GRIDS:
        recipe = GRIDS[name]()
        jobs = grid_jobs(recipe, select_units(recipe, only))
    else:
        if only:
            raise UserError(f"--only selects units of a grid, and {name} has none; leave it out")
        jobs = gaps_jobs(GAPS[name]()) if name in GAPS else transfer_jobs(name, TRANSFERS[name]())
    if not tflops > 0:
        raise UserError(f"tflops is {tflops}, but it must be above 0")
    begin = time.perf_counter()
    phases = dry_run(jobs, gpus=gpus, say=partial(print, flush=True))
    table = as_table(phases, gpus, tflops)
    headings = {
        "parameters": "parameters (millions)", "seconds": "s per step", "tflop": "TFLOP per step",
        "hours": "hours here", "hours_gpus": f"hours on {count(gpus, 'GPU')}", "gb": "GB here", "gb_gpu": "GB per GPU",
    }  # fmt: skip
    print(table.rename(columns=headings).to_string(index=False, na_rep="", float_format=lambda x: f"{x:.3g}"))
    units = {phase.job: phase.units for phase in phases}
    here = sum(phase.units * phase.hours for phase in phases)
    there = sum(phase.units * phase.hours_on(gpus, tflops) for phase in phases)
    print(
        f"{name}: {count(sum(units.values()), 'unit')}, {here:,.3g} hours here, {there:,.3g} hours on "
        f"{count(gpus, 'GPU')}. Tried in {duration(time.perf_counter() - begin)}."
    )
    threads = count(get_num_threads(), "thread")
    print(ASSUMPTIONS.format(gpus=count(gpus, "GPU"), tflops=tflops, threads=threads))


def as_table(phases: Sequence[Phase], gpus: int, tflops: float) -> pd.DataFrame:
    """One row per phase, and one for the total of every job with several phases; in millions, hours and GB."""
    rows = []
    for job in dict.fromkeys(phase.job for phase in phases):
        own = [phase for phase in phases if phase.job == job]
        rows += [
            {
                "arm": job, "phase": phase.name, "work": phase.work,
                "parameters": " / ".join(f"{n / 1e6:.3g}" for n in phase.parameters), "seconds": phase.cost.seconds,
                "tflop": phase.cost.flops / 1e12, "hours": phase.hours, "hours_gpus": phase.hours_on(gpus, tflops),
                "gb": _gb(phase.cost.resident), "gb_gpu": _gb(phase.cost.gpu),
            }
            for phase in own
        ]  # fmt: skip
        if len(own) > 1:
            hours = sum(phase.hours for phase in own), sum(phase.hours_on(gpus, tflops) for phase in own)
            rows.append({"arm": job, "phase": "whole", "hours": hours[0], "hours_gpus": hours[1]})
    return pd.DataFrame(rows)


def _gb(size: int | None) -> float | None:
    return None if size is None else size / 1e9


def evaluation_folder(path: Path) -> Path:
    """The evaluation's folder for a card, an evaluation or an evaluated run; the path itself for a recipe's card."""
    folder = path.parent if path.is_file() else path
    if path.is_file() and folder.name == CARDS:
        return path
    if path.is_file() and path.name != CARD:
        raise UserError(f"{path} is not the {CARD} of an evaluation or a card in `{CARDS}` of a recipe's tables")
    return folder / EVALUATION if (folder / EVALUATION / CARD).exists() else folder


def repeat_evaluation(
    evaluation: Path,
    data: str | None,
    out: Path | None,
    test_data: str | None,
    tolerance: float,
    trust: tuple[str, ...] = (),
) -> None:
    """Repeats the evaluation of a card; exits with code 1 if a number differs."""
    card = read_recorded(evaluation)[1]
    folder = out or inside(Path("runs/again"), f"{card['method']}_{card['arm']}_{card['seed']}")
    if folder.resolve() in (evaluation.resolve(), evaluation.resolve().parent):
        raise UserError(f"{folder} holds the original evaluation; choose another --out")
    with Bar() as bar:
        found = reproduce_card(
            evaluation, folder, bar, data=data, test_data=test_data, tolerance=tolerance, trust=trust
        )
    print(f"{folder}: {found}")
    if not found.same:
        sys.exit(1)


def data_name(recipe: str) -> str:
    """The name of a recipe's data set. The paper's methods share one.

    >>> data_name("paper/mae"), data_name("adapt/factors")
    ('paper', 'adapt_factors')
    """
    return recipe.partition("/")[0] if recipe in PAPER else recipe.replace("/", "_")


def run_recipe(
    recipe: Recipe, data: str | None, out: Path | None, work: Path | None, only: tuple[str, ...], jobs: int | None
) -> None:
    """Makes the data set if it is missing, and runs the units."""
    units = select_units(recipe, only)
    of_data = data_name(recipe.name)
    frames, tables = Path(f"data/{of_data}" if data is None else data), out or Path("results") / recipe.name
    make_data(of_data, recipe.data, frames)
    with Bar() as bar:
        failed = run_units(recipe, units, frames, work or Path("runs") / recipe.name, tables, bar, jobs)
    done = len({unit.name for unit in units} & done_units(tables, recipe))
    print(f"{tables}: the rows of {done} of {len(units)} units of the recipe {recipe.name}")
    if failed:
        raise UserError(f"{len(failed)} of {len(units)} units failed: {', '.join(failed)}; see the messages above")
