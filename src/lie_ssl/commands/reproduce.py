"""`lie-ssl reproduce CARD|RECIPE`: an evaluation again from its card, or a whole grid of runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import pandas as pd
import tyro

from lie_ssl.commands.bar import Bar
from lie_ssl.commands.make import run as make_data
from lie_ssl.commands.parsing import Jobs, Trust, check_jobs
from lie_ssl.errors import UserError
from lie_ssl.methods.weights import weight_path
from lie_ssl.protocol.grid import CARDS, Recipe, chosen_units, done_units, run_units
from lie_ssl.protocol.reproduce import recorded, reproduce_card
from lie_ssl.protocol.unit import EVALUATION, duration
from lie_ssl.recipes.grids import GRIDS, PAPER, from_weights
from lie_ssl.recipes.paper import GAPS, TRANSFERS
from lie_ssl.serialization import suggestion
from lie_ssl.storage.cards import CARD
from lie_ssl.storage.paths import inside

if TYPE_CHECKING:
    from lie_ssl.protocol.dry_run import Phase


ASSUMPTIONS = """
Parameters are those of the encoder / the heads / the operator. A step has the batch of one of {gpus} GPUs, random
weights and frames of the recipe's size, and is measured after one to warm up. Hours here are those of all the work on
this CPU with {threads}. Hours on {gpus} GPUs are the counted operations at {tflops:g} TFLOP/s on each
(--tflops), with no time for reading frames and talking to each other: a bound from below. GB here is the largest
resident size of this process. GB a GPU are weights, gradients, the optimiser's state and what is kept for the backward
pass in 32 bits, without the buffers of libraries."""


def reproduce(
    what: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="CARD|RECIPE")],
    data: str = "",
    out: Path | None = None,
    work: Path | None = None,
    only: tuple[str, ...] = (),
    jobs: Jobs = None,
    test_data: str = "",
    tolerance: float = 0.0,
    weights: str = "",
    dry_run: bool = False,
    gpus: int = 8,
    tflops: float = 60.0,
    trust: Trust = (),
) -> None:
    """Runs an evaluation again from its card and compares all accuracies, or runs the grid of a recipe unit by unit.

    It can be killed at any time; the same command goes on. Several units of a recipe run side by side (--jobs), and
    the same command on other machines with a common folder shares the units with it. For a card the exit code is 0 if
    all rows agree, else 1. The recipe `small` trains and evaluates mae, vicreg and simclr in all arms with
    three seeds, `long` mae with four times the steps; `pretrained` and `backbone` begin with a trained encoder;
    `paper/mae`, `paper/vicreg` and `paper/simclr` have the paper's size. With --dry-run a recipe, also paper/gaps,
    paper/imagenet or paper/ilab, runs for a few steps at full size with random weights, and what the whole would cost
    is printed.

    Example: lie-ssl reproduce runs/mae_lie/evaluation --data data/small

    Example: lie-ssl reproduce paper/mae --dry-run --only literal

    Args:
        what: The card.json of an evaluation, its folder or its run, or a card in results/RECIPE/cards; or the name of
            a recipe.
        data: The data set. A card's must be the same to the last byte, and is its run's folder if it is not given; a
            recipe's is made if it is missing, and is data/RECIPE if it is not given (data/paper for paper/METHOD).
        out: Folder of the second run, runs/again/METHOD_ARM_SEED if it is not given; of a recipe the folder for its
            tables, results/RECIPE if it is not given.
        work: Folder for the runs of a recipe; runs/RECIPE if it is not given.
        only: Units of a recipe: methods, arms, seeds, or some of them joined, such as mae/lie or mae/lie/0.
        jobs: Units of a recipe that run at the same time; as many as there are cores and as fit into memory if it is
            not given.
        test_data: The data set of a card's evaluation, if that is another one than the run's.
        tolerance: Largest difference of two accuracies that agree, in points.
        weights: Published weights that the encoders of a paper recipe start from: a file, or what else
            encoder.weights takes.
        dry_run: Only try every phase of a recipe and estimate its cost.
        gpus: GPUs of the estimate, which share every batch.
        tflops: 10^12 operations a second that each of these GPUs does all of the time.
        trust: An import path (package.module:Class) that the card may name. Importing runs code.
    """
    check_jobs(jobs)
    recipes = [*GRIDS, *GAPS, *TRANSFERS]
    if dry_run:
        if what not in recipes:
            raise UserError(f"--dry-run is for recipes, and there is no {what!r}{suggestion(what, recipes)}")
        if data or out or work or weights or jobs:
            raise UserError("--dry-run has its own frames and weights and writes nothing; leave out the other flags")
        rehearse(what, only, gpus, tflops)
        return
    if what in recipes and (test_data or tolerance):
        raise UserError("--test-data and --tolerance are for cards; a recipe is run, not compared")
    if what in GRIDS:
        run_recipe(started(what, weights), data, out, work, only, jobs)
        return
    if what in recipes:
        raise UserError(f"{what} only has settings and no runs; `lie-ssl reproduce {what} --dry-run` tries them")
    if not Path(what).exists():
        raise UserError(f"there is no card and no recipe {what!r}{suggestion(what, recipes)}")
    if only or work is not None or jobs is not None:
        raise UserError("--only, --work and --jobs are for recipes; a card is one run")
    if weights:
        raise UserError("--weights is for the recipes of the paper; a card's run says itself what it started from")
    if not tolerance >= 0:
        raise UserError(f"tolerance is {tolerance}, but it must be 0 or more")
    again(evaluation_folder(Path(what)), data, out, test_data, tolerance, trust)


def started(name: str, weights: str) -> Recipe:
    """The recipe with the weights that it starts from."""
    recipe = GRIDS[name]()
    if name not in PAPER:
        if weights:
            raise UserError(f"--weights is for the recipes of the paper; {name} says itself where its encoders start")
        return recipe
    if not weights:
        encoder = recipe.units[0].pretraining.encoder.name
        raise UserError(f"the runs of {name} start from published weights of {encoder}; say --weights FILE")
    if weights != "timm" and not weight_path(weights).exists():  # said before hundreds of thousands of frames are drawn
        raise UserError(f"there is no file {weights}; say --weights FILE, package:NAME or timm")
    return from_weights(recipe, weights)


def rehearse(name: str, only: tuple[str, ...], gpus: int, tflops: float) -> None:
    """Tries a recipe and prints what it would cost."""
    from torch import get_num_threads

    from lie_ssl.protocol.dry_run import dry_run, gaps_jobs, grid_jobs, transfer_jobs

    if name in GRIDS:
        recipe = GRIDS[name]()
        jobs = grid_jobs(recipe, chosen_units(recipe, only))
    else:
        if only:
            raise UserError(f"--only chooses among the units of a grid, and {name} has none")
        jobs = gaps_jobs(GAPS[name]()) if name in GAPS else transfer_jobs(name, TRANSFERS[name]())
    if not tflops > 0:
        raise UserError(f"tflops is {tflops}, but it must be above 0")
    begin = time.perf_counter()
    phases = dry_run(jobs, gpus=gpus, say=partial(print, flush=True))
    table = as_table(phases, gpus, tflops)
    headings = {
        "parameters": "parameters (millions)", "seconds": "s a step", "tflop": "TFLOP a step", "hours": "hours here",
        "hours_gpus": f"hours on {gpus} GPUs", "gb": "GB here", "gb_gpu": "GB a GPU",
    }  # fmt: skip
    print(table.rename(columns=headings).to_string(index=False, na_rep="", float_format=lambda x: f"{x:.3g}"))
    units = {phase.job: phase.units for phase in phases}
    here = sum(phase.units * phase.hours for phase in phases)
    there = sum(phase.units * phase.hours_on(gpus, tflops) for phase in phases)
    print(
        f"{name}: {sum(units.values())} units, {here:,.3g} hours here, {there:,.3g} hours on {gpus} GPUs. "
        f"Tried in {duration(time.perf_counter() - begin)}."
    )
    threads = "1 thread" if get_num_threads() == 1 else f"{get_num_threads()} threads"
    print(ASSUMPTIONS.format(gpus=gpus, tflops=tflops, threads=threads))


def as_table(phases: Sequence[Phase], gpus: int, tflops: float) -> pd.DataFrame:
    """One row a phase, and one for the whole of every job with several phases; in millions, hours and GB."""
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
    """Of a card, of an evaluation, or of a run with its evaluation in it; a card that a recipe keeps is given back."""
    folder = path.parent if path.is_file() else path
    if path.is_file() and folder.name == CARDS:
        return path
    if path.is_file() and path.name != CARD:
        raise UserError(f"{path} is no {CARD} of an evaluation, and in no folder `{CARDS}` of a recipe's tables")
    return folder / EVALUATION if (folder / EVALUATION / CARD).exists() else folder


def again(
    evaluation: Path, data: str, out: Path | None, test_data: str, tolerance: float, trust: tuple[str, ...] = ()
) -> None:
    """Runs a card again; ends the program with 1 if a number differs."""
    card = recorded(evaluation)[1]
    folder = out or inside(Path("runs/again"), f"{card['method']}_{card['arm']}_{card['seed']}")
    if folder.resolve() in (evaluation.resolve(), evaluation.resolve().parent):
        raise UserError(f"{folder} holds what is to be reproduced; choose another --out")
    with Bar() as bar:
        found = reproduce_card(
            evaluation, folder, bar, data=data, test_data=test_data, tolerance=tolerance, trust=trust
        )
    print(f"{folder}: {found}")
    if not found.same:
        sys.exit(1)


def run_recipe(
    recipe: Recipe, data: str, out: Path | None, work: Path | None, only: tuple[str, ...], jobs: int | None
) -> None:
    """Makes the data set where it is missing, and runs the units."""
    units = chosen_units(recipe, only)
    of_data = recipe.name.partition("/")[0]  # the paper's methods share one data set
    frames, tables = Path(data or f"data/{of_data}"), out or Path("results") / recipe.name
    make_data(of_data, recipe.data, frames)
    with Bar() as bar:
        failed = run_units(recipe, units, frames, work or Path("runs") / recipe.name, tables, bar, jobs)
    done = len({unit.name for unit in units} & done_units(tables, recipe))
    print(f"{tables}: the rows of {done} of {len(units)} units of the recipe {recipe.name}")
    if failed:
        raise UserError(f"{len(failed)} of {len(units)} units failed: {', '.join(failed)}; see above why")
