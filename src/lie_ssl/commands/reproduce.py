"""`lie-ssl reproduce CARD|RECIPE`: an evaluation again from its card, or a whole grid of runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import tyro

from lie_ssl.commands.make import run as make_data
from lie_ssl.commands.pretrain import Bar
from lie_ssl.errors import UserError
from lie_ssl.frames.card import CARD
from lie_ssl.plain import suggestion
from lie_ssl.protocol.grid import Recipe, chosen_units, run_units
from lie_ssl.protocol.reproduce import reproduce_card
from lie_ssl.protocol.unit import EVALUATION
from lie_ssl.recipes.grids import GRIDS


def reproduce(
    what: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="CARD|RECIPE")],
    data: str = "",
    out: Path | None = None,
    work: Path | None = None,
    only: tuple[str, ...] = (),
    test_data: str = "",
    tolerance: float = 0.0,
) -> None:
    """Runs an evaluation again from its card and compares all accuracies, or runs the grid of a recipe unit by unit.

    It can be killed at any time; the same command goes on. For a card the exit code is 0 if all rows agree, else 1. The
    recipe `small` trains and evaluates mae, vicreg and simclr in all arms with three seeds.

    Example: lie-ssl reproduce runs/mae_lie/evaluation --data data/small

    Args:
        what: The card.json of an evaluation, its folder or its run; or the name of a recipe.
        data: The data set. A card's must be the same to the last byte, and is its run's folder if it is not given; a
            recipe's is made if it is missing, and is data/RECIPE if it is not given.
        out: Folder of the second run, runs/again/METHOD_ARM_SEED if it is not given; of a recipe the folder for its
            tables, results/RECIPE if it is not given.
        work: Folder for the runs of a recipe; runs/RECIPE if it is not given.
        only: Units of a recipe: methods, arms, seeds, or some of them joined, such as mae/lie or mae/lie/0.
        test_data: The data set of a card's evaluation, if that is another one than the run's.
        tolerance: Largest difference of two accuracies that agree, in points.
    """
    if what in GRIDS:
        run_recipe(GRIDS[what](), data, out, work, only)
        return
    if not Path(what).exists():
        raise UserError(f"there is no card and no recipe {what!r}{suggestion(what, list(GRIDS))}")
    if only or work is not None:
        raise UserError("--only and --work are for recipes; a card is one run")
    if not tolerance >= 0:
        raise UserError(f"tolerance is {tolerance}, but it must be 0 or more")
    again(evaluation_folder(Path(what)), data, out, test_data, tolerance)


def evaluation_folder(path: Path) -> Path:
    """Of a card, of an evaluation, or of a run with its evaluation in it."""
    folder = path.parent if path.is_file() else path
    if path.is_file() and path.name != CARD:
        raise UserError(f"{path} is no {CARD} of an evaluation")
    return folder / EVALUATION if (folder / EVALUATION / CARD).exists() else folder


def again(evaluation: Path, data: str, out: Path | None, test_data: str, tolerance: float) -> None:
    """Runs a card again; ends the program with 1 if a number differs."""
    from lie_ssl.protocol.results import read_results

    card = read_results(evaluation)[1]
    folder = out or Path("runs/again") / f"{card['method']}_{card['arm']}_{card['seed']}"
    if folder.resolve() in (evaluation.resolve(), evaluation.resolve().parent):
        raise UserError(f"{folder} holds what is to be reproduced; choose another --out")
    with Bar() as bar:
        found = reproduce_card(evaluation, folder, bar, data=data, test_data=test_data, tolerance=tolerance)
    print(f"{folder}: {found}")
    if not found.same:
        sys.exit(1)


def run_recipe(recipe: Recipe, data: str, out: Path | None, work: Path | None, only: tuple[str, ...]) -> None:
    """Makes the data set where it is missing, and runs the units."""
    units = chosen_units(recipe, only)
    frames, tables = Path(data or f"data/{recipe.name}"), out or Path("results") / recipe.name
    make_data(recipe.name, recipe.data, frames, workers=0, strict=False)
    with Bar() as bar:
        failed = run_units(recipe, units, frames, work or Path("runs") / recipe.name, tables, bar)
    print(f"{tables}: the rows of {len(units) - len(failed)} units with the recipe {recipe.hash}")
    if failed:
        raise UserError(f"{len(failed)} of {len(units)} units failed: {', '.join(failed)}; see above why")
