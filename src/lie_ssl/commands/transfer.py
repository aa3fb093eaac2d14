"""`lie-ssl transfer RUN ... --photos SET`: encoders from renders on photographs, upright and rotated."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro

from lie_ssl.protocol.studies import PhotoTransfer
from lie_ssl.recipes.transfer import small


def transfer(
    runs: Annotated[tuple[Path, ...], tyro.conf.Positional],
    config: Annotated[PhotoTransfer, tyro.conf.arg(name="")] = small(),  # noqa: B008  (frozen)
    *,
    photos: Path,
    out: Path,
) -> None:
    """Finetunes the encoders of runs on labelled photographs, and tests them on the test photographs as they are and
    turned by random angles (the same for all runs, with black corners).

    Photographs are train/CLASS/*.jpg with test/ or val/ beside it (ImageNet, CIFAR-10, Tiny-ImageNet), iLab-2M or
    COIL, as a folder or a zip. Rows are added to OUT/transfer.csv; a run whose rows are there is skipped.

    Example: lie-ssl transfer runs/mae_base runs/mae_lie --photos cifar10.zip --out results/transfer

    Args:
        runs: Folders of runs.
        config: Settings; the paper's are `--finetune.steps 20000 --finetune.rates 5e-4 5e-5 5e-6`.
        photos: The photographs.
        out: Folder for the table.
    """
    import pandas as pd

    from lie_ssl.errors import UserError
    from lie_ssl.protocol.transfer import transfer_run
    from lie_ssl.report.transfer import transfer_table

    if not runs:
        raise UserError("say which runs to transfer, first of all: lie-ssl transfer RUN ... --photos SET --out FOLDER")
    rows = [transfer_run(run, photos, config, out, print) for run in runs]
    print(transfer_table(pd.concat(rows, ignore_index=True)))
    print(f"wrote {out}")
