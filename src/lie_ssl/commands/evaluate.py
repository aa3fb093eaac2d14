"""`lie-ssl evaluate RUN` and `lie-ssl evaluate --encoder.name NAME`: the flags have the defaults of a recipe."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro

from lie_ssl.commands.parsing import Trust, call, say
from lie_ssl.commands.pretrain import pop_flag
from lie_ssl.errors import UserError
from lie_ssl.methods.encoders import EncoderConfig
from lie_ssl.protocol.evaluate import EvaluateConfig, Results
from lie_ssl.protocol.results import evaluate_encoder, evaluate_run
from lie_ssl.recipes.evaluate import evaluate_recipe
from lie_ssl.training.folder import read_run_card
from lie_ssl.training.loading import Which

ABOUT = """Measures an encoder by the paper's protocol and writes long tables with a card.

RUN comes first: a folder of `lie-ssl pretrain`, or a file of `lie-ssl export`. In its place --encoder.name takes any
encoder, such as a model of timm. --recipe small, paper or gaps chooses the defaults of the flags.

Example: lie-ssl evaluate runs/mae_lie --finetune.steps 0

Example: lie-ssl evaluate --encoder.name resnet50 --encoder.weights timm --data data/small --out results/resnet50
"""


def evaluate(arguments: list[str]) -> None:
    """Reads what decides about the flags, then the flags."""
    recipe, rest = pop_flag(arguments, "--recipe", "small")
    word = rest.pop(0) if rest and not rest[0].startswith("-") else ""
    if any(a.startswith("--encoder.") for a in rest):
        if word:
            raise UserError(f"give a run or --encoder.name, not both ({word})")
        _encoder(recipe, rest)
    elif word or any(a in ("-h", "--help") for a in rest):
        _run(recipe, word, rest)
    else:
        raise UserError("say what to evaluate, first of all: lie-ssl evaluate RUN, or --encoder.name NAME")


def _run(recipe: str, run: str, arguments: list[str]) -> None:
    of_run = Path(run).is_dir()
    card = read_run_card(Path(run)) if run and of_run else {"method": "mae", "arm": "alone"}
    default = evaluate_recipe(recipe, card["method"], card["arm"])

    def main(
        config: Annotated[EvaluateConfig, tyro.conf.arg(name="")] = default,
        out: Path | None = None,
        data: str = "",
        which: Which = "last",
        trust: Trust = (),
    ) -> None:
        """Of a run.

        Args:
            config: The protocol's settings.
            out: Folder for the tables; the folder `evaluation` in the run if it is not given.
            data: Another data set than that of the run, with the same classes.
            which: The last checkpoint, or the one that was best on validation.
            trust: An import path (package.module:Class) that the run or file may name. Importing runs code.
        """
        if Path(run).is_file():
            if out is None or not data:
                raise UserError(f"{run} is a file: say which data set to test on and where to write, --data and --out")
            show(evaluate_encoder(run, data, config, out, say=say, trust=trust), out)
            return
        folder = out or Path(run) / "evaluation"
        show(evaluate_run(run, config, folder, data, which, say=say, trust=trust), folder)

    call(main, "lie-ssl evaluate RUN", arguments, description=ABOUT)


def _encoder(recipe: str, arguments: list[str]) -> None:
    default = evaluate_recipe(recipe)

    def main(
        encoder: EncoderConfig,
        config: Annotated[EvaluateConfig, tyro.conf.arg(name="")] = default,
        *,
        data: str,
        out: Path,
        method: str = "",
    ) -> None:
        """Of an encoder.

        Args:
            encoder: Which encoder, with which weights.
            config: The protocol's settings.
            data: The data set.
            out: Folder for the tables.
            method: Its name in the tables, if it should not be the encoder's own.
        """
        show(evaluate_encoder(encoder, data, config, out, method, say=say), out)

    call(main, "lie-ssl evaluate", arguments, description=ABOUT)


def show(results: Results, folder: Path) -> None:
    """The linear evaluation, as a table to read."""
    linear = results.accuracy.query("phase == 'linear'")
    keys = ["setting", "poses"] if linear["option"].nunique() == 1 else ["option", "setting", "poses"]
    table = linear.pivot_table(index=keys, columns="diverse", values="top1", sort=False)
    print(f"linear evaluation, top-1 in per cent, by per cent of diverse instances\n{table.round(1).to_string()}")
    print(f"wrote {folder}")
