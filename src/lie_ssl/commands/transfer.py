"""`lie-ssl transfer RUN ... --photos SET`: tests encoders on photographs, upright and rotated."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro

from lie_ssl.commands.bar import Bar
from lie_ssl.commands.parsing import Trust, call, say
from lie_ssl.commands.pretrain import pop_flag
from lie_ssl.errors import UserError
from lie_ssl.protocol.studies import PhotoTransfer, UprightTransfer
from lie_ssl.recipes.transfer import transfer_recipe

ABOUT = """Finetunes the encoders of runs on labelled photographs, and tests them on the test photographs, upright and
rotated by random angles (the same for all runs, with black corners).

Photographs are train/CLASS/*.jpg with test/ or val/ beside it (ImageNet, CIFAR-10, Tiny-ImageNet), iLab-2M or COIL, as
a folder or a zip file. Rows are added to OUT/transfer.csv; runs whose rows are there are skipped. --recipe small,
paper/imagenet or paper/ilab sets the defaults of the flags.

With --recipe upright, a published encoder is adapted instead: unlabelled rotated photographs train a head, upright ones
a classifier. See `lie-ssl transfer --recipe upright --help`.

Example: lie-ssl transfer runs/mae_alone runs/mae_lie --photos cifar10.zip --out results/transfer

Example: lie-ssl transfer runs/mae_lie --recipe paper/imagenet --photos ILSVRC --out results/imagenet

Example: lie-ssl transfer package:efficientnet_lite0 --recipe upright --photos cifar10.zip --out results/upright
"""
ABOUT_UPRIGHT = """Adapts a published encoder to photographs, and tests it on upright and on rotated ones.

ENCODER is as in `lie-ssl adapt`. Rotated copies of the training photographs, without labels, train heads (Lie, and
Frames as the control); linear classifiers are trained on upright photographs. OUT/upright.csv compares the frozen
encoder, the invariant embeddings, and Lie turning pictures upright before they are classified. All pictures are shown
inside a circle. An interrupted transfer is resumed by the same command.

Example: lie-ssl transfer package:efficientnet_lite0 --recipe upright --photos cifar10.zip --out results/upright
"""


def transfer(arguments: list[str]) -> None:
    """Reads the recipe, which sets the defaults of the flags, then the flags."""
    recipe, rest = pop_flag(arguments, "--recipe", "small")
    settings = transfer_recipe(recipe)
    if isinstance(settings, UprightTransfer):
        _upright(settings, rest)
    else:
        _finetune(settings, rest)


def _finetune(default: PhotoTransfer, arguments: list[str]) -> None:
    def main(
        runs: Annotated[tuple[Path, ...], tyro.conf.Positional],
        config: Annotated[PhotoTransfer, tyro.conf.arg(name="")] = default,
        *,
        photos: Path,
        out: Path,
        trust: Trust = (),
    ) -> None:
        """Transfers runs.

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
            raise UserError("name the runs first: lie-ssl transfer RUN ... --photos SET --out FOLDER")
        check_distinct(runs, trust)
        rows = [transfer_run(run, photos, config, out, say, trust) for run in runs]
        print(transfer_table(pd.concat(rows, ignore_index=True)))
        print(f"wrote {out}")

    call(main, "lie-ssl transfer", arguments, description=ABOUT)


def _upright(default: UprightTransfer, arguments: list[str]) -> None:
    def main(
        encoder: Annotated[tuple[str, ...], tyro.conf.Positional],
        config: Annotated[UprightTransfer, tyro.conf.arg(name="")] = default,
        *,
        photos: Path,
        out: Path,
        data: Path | None = None,
        runs: Path | None = None,
        weights: str | None = None,
        trust: Trust = (),
    ) -> None:
        """Transfers an encoder.

        Args:
            encoder: The encoder to adapt.
            config: Settings of the transfer.
            photos: The photographs.
            out: Folder for the table.
            data: Folder for the rotated photographs and their features; by default `data` in OUT.
            runs: Folder for the heads; by default `runs` in OUT.
            weights: For a timm name: timm, package:NAME or a weight file.
            trust: An import path (package.module:Class) that the encoder may name. Importing runs code.
        """
        from lie_ssl.protocol.upright import transfer_upright
        from lie_ssl.report.transfer import upright_table
        from lie_ssl.training.adapting import find_encoder

        if len(encoder) != 1:
            raise UserError("name one encoder: lie-ssl transfer ENCODER --recipe upright --photos SET --out FOLDER")
        published = find_encoder(encoder[0], weights, trust)
        with Bar() as bar:
            rows = transfer_upright(published, photos, config, out, data=data, runs=runs, reporter=bar)
        print(upright_table(rows))
        print(f"wrote {out}")

    call(main, "lie-ssl transfer", arguments, description=ABOUT_UPRIGHT)
