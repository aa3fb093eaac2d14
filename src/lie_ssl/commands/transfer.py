"""`lie-ssl transfer RUN ... --photos SET`: encoders from renders on photographs, upright and rotated."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro

from lie_ssl.commands.parsing import Trust, call, say
from lie_ssl.commands.pretrain import pop_flag
from lie_ssl.errors import UserError
from lie_ssl.protocol.studies import PhotoTransfer
from lie_ssl.recipes.transfer import transfer_recipe

ABOUT = """Finetunes the encoders of runs on labelled photographs, and tests them on the test photographs as they are
and turned by random angles (the same for all runs, with black corners).

Photographs are train/CLASS/*.jpg with test/ or val/ beside it (ImageNet, CIFAR-10, Tiny-ImageNet), iLab-2M or COIL, as
a folder or a zip. Rows are added to OUT/transfer.csv; a run whose rows are there is skipped. --recipe small,
paper/imagenet or paper/ilab chooses the defaults of the flags.

Example: lie-ssl transfer runs/mae_alone runs/mae_lie --photos cifar10.zip --out results/transfer

Example: lie-ssl transfer runs/mae_lie --recipe paper/imagenet --photos ILSVRC --out results/imagenet
"""


def transfer(arguments: list[str]) -> None:
    """Reads what decides about the flags, then the flags."""
    recipe, rest = pop_flag(arguments, "--recipe", "small")

    def main(
        runs: Annotated[tuple[Path, ...], tyro.conf.Positional],
        config: Annotated[PhotoTransfer, tyro.conf.arg(name="")] = transfer_recipe(recipe),  # noqa: B008  (frozen)
        *,
        photos: Path,
        out: Path,
        trust: Trust = (),
    ) -> None:
        """Of runs.

        Args:
            runs: Folders of runs.
            config: Settings of the transfer.
            photos: The photographs.
            out: Folder for the table.
            trust: An import path (package.module:Class) that the runs may name. Importing runs code.
        """
        import pandas as pd

        from lie_ssl.protocol.transfer import check_distinct, transfer_run
        from lie_ssl.report.transfer import transfer_table

        if not runs:
            raise UserError("say which runs to transfer, first of all: lie-ssl transfer RUN ... --photos SET --out DIR")
        check_distinct(runs, trust)
        rows = [transfer_run(run, photos, config, out, say, trust) for run in runs]
        print(transfer_table(pd.concat(rows, ignore_index=True)))
        print(f"wrote {out}")

    call(main, "lie-ssl transfer", rest, description=ABOUT)
