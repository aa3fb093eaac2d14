"""`lie-ssl sweep GRID`: trains all runs of a grid and selects the best one by validation accuracy."""

from __future__ import annotations

import sys
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import Annotated

import tyro

from lie_ssl.commands.bar import Bar
from lie_ssl.commands.parsing import Jobs, call, check_data, check_jobs
from lie_ssl.errors import UserError
from lie_ssl.protocol.probe import ProbeConfig
from lie_ssl.protocol.sweep import BEST, TABLE
from lie_ssl.protocol.sweep import sweep as run
from lie_ssl.recipes.sweeps import SWEEPS, sweep_recipe
from lie_ssl.training.config import PretrainConfig, import_paths

FILTER = (
    "SimCLR's filter keeps runs whose L_lie on 2D validation pairs falls to `ratio` of its value after the first "
    "epoch. The paper's '60 % smaller or equal' can mean 0.6 or 0.4. At temperature 1 with 190 negatives the loss "
    "cannot fall below about 0.81, so SimCLR's own temperature is used for the Lie term"
)


def sweep(arguments: list[str]) -> None:
    """Trains every trial of a grid, and writes a table of all trials and the config of the best one.

    The flags are those of `lie-ssl pretrain`, for settings that the grid does not vary. It can be interrupted at any
    time; the same command resumes it.

    Example: lie-ssl sweep small/mae/lie --data data/small --out runs/sweep --jobs 2
    """
    if not arguments or arguments[0] in ("-h", "--help"):
        print(usage())
        sys.exit(0)
    if arguments[0].startswith("-"):
        raise UserError("name a grid: lie-ssl sweep GRID, such as `small/mae/lie`")
    name, rest = arguments[0], arguments[1:]
    grid = sweep_recipe(name)

    def main(
        config: Annotated[PretrainConfig, tyro.conf.arg(name="")] = grid.base,
        probe: ProbeConfig = grid.probe,
        *,
        out: Path,
        jobs: Jobs = None,
        ratio: float | None = grid.ratio,
    ) -> None:
        """A sweep.

        Args:
            config: Settings that all trials share.
            probe: The linear classifiers whose validation accuracy selects the best trial.
            out: Folder for the table, the best config and the runs.
            jobs: Trials to run in parallel; by default one per core, as far as memory allows.
            ratio: Only select runs whose L_lie on validation pairs falls to this share of its value after the first
                epoch; None for no such filter. The paper's '60 % smaller or equal' can mean 0.6 or 0.4. In the grids of
                SimCLR the Lie term has SimCLR's own temperature, because at 1 the loss cannot fall below about 0.81.
        """
        check_jobs(jobs)
        check_data(config.data)
        if ratio is not None and not ratio > 0:
            raise UserError(f"ratio is {ratio}, but it must be above 0, or None for no filter")
        for path in grid.values:
            if attrgetter(path)(config) != attrgetter(path)(grid.base):
                raise UserError(f"the grid {name} varies {path}; leave that flag out")
        if ratio is not None:
            print(f"{FILTER}; here it is {getattr(config.objective, 'temperature', 1.0):g}", flush=True)
        with Bar() as bar:
            run(replace(grid, base=config, probe=probe, ratio=ratio), out, jobs, bar)
        again = " ".join([f"lie-ssl pretrain --config {out / BEST}", *(f"--trust {n}" for n in import_paths(config))])
        print(f"wrote {out / TABLE} and {out / BEST}; train it again with `{again}`")

    call(main, f"lie-ssl sweep {name}", rest, description=sweep.__doc__)


def usage() -> str:
    """The usage, with all grids."""
    width = max(len(name) for name in SWEEPS)
    lines = ["usage: lie-ssl sweep GRID --data FOLDER --out FOLDER [--jobs N] [--ratio R] [flags of pretrain]", ""]
    lines += [
        f"  {name:<{width}}  {(getattr(grid, 'func', grid).__doc__ or '').splitlines()[0]}"
        for name, grid in SWEEPS.items()
    ]
    lines += ["", f"{FILTER}.", "", "Example: lie-ssl sweep small/mae/lie --data data/small --out runs/sweep --jobs 2"]
    return "\n".join([*lines, "         lie-ssl sweep small/mae/lie --help   shows every flag with its default"])
