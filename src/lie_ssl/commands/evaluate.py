"""`lie-ssl evaluate RUN` and `lie-ssl evaluate --encoder.name NAME`; a recipe sets the defaults of the flags."""

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
from lie_ssl.training.folder import is_adapted, read_run_card
from lie_ssl.training.loading import Which

ABOUT = """Evaluates an encoder with the paper's protocol and writes long tables with a card.

RUN, the first argument, is a folder made by `lie-ssl adapt` or `lie-ssl pretrain`, or a file made by `lie-ssl export`.
Alternatively, --encoder.name gives any encoder, such as a timm model. --recipe small, paper, gaps or adapt sets the
defaults of the flags; it is adapt for an adapted encoder and small for everything else.

Example: lie-ssl evaluate runs/mae_lie --finetune.steps 0

Example: lie-ssl evaluate --encoder.name resnet50 --encoder.weights timm --data data/small --out results/resnet50
"""


def evaluate(arguments: list[str]) -> None:
    """Reads the arguments that determine the flags, then the flags."""
    recipe, rest = pop_flag(arguments, "--recipe", "")
    word = rest.pop(0) if rest and not rest[0].startswith("-") else ""
    if any(a.startswith("--encoder.") for a in rest):
        if word:
            raise UserError(f"give a run or --encoder.name, not both ({word})")
        _encoder(recipe or "small", rest)
    elif word or any(a in ("-h", "--help") for a in rest):
        _run(recipe, word, rest)
    else:
        raise UserError("name what to evaluate as the first argument: lie-ssl evaluate RUN, or --encoder.name NAME")


def _run(recipe: str, run: str, arguments: list[str]) -> None:
    of_run = Path(run).is_dir()
    card = read_run_card(Path(run)) if run and of_run else {"method": "mae", "arm": "alone"}
    default = evaluate_recipe(recipe or ("adapt" if is_adapted(card) else "small"), card["method"], card["arm"])

    def main(
        config: Annotated[EvaluateConfig, tyro.conf.arg(name="")] = default,
        out: Path | None = None,
        data: str | None = None,
        which: Which = "last",
        trust: Trust = (),
    ) -> None:
        """Evaluates a run.

        Args:
            config: The protocol's settings.
            out: Folder for the tables; `evaluation` in the run's folder by default.
            data: A data set with the same classes, to test on instead of the run's own.
            which: The last checkpoint, or the best one on the validation set.
            trust: An import path (package.module:Class) that the run or file may name. Importing runs code.
        """
        if Path(run).is_file():
            if out is None or data is None:
                raise UserError(f"{run} is a file; give a data set with --data and a folder with --out")
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
        method: str | None = None,
    ) -> None:
        """Evaluates an encoder.

        Args:
            encoder: The encoder and its weights.
            config: The protocol's settings.
            data: The data set.
            out: Folder for the tables.
            method: Its name in the tables; the encoder's name by default.
        """
        show(evaluate_encoder(encoder, data, config, out, method, say=say), out)

    call(main, "lie-ssl evaluate", arguments, description=ABOUT)


def show(results: Results, folder: Path) -> None:
    """Prints the linear evaluation as a table."""
    linear = results.accuracy.query("phase == 'linear'")
    keys = ["setting", "poses"] if linear["option"].nunique() == 1 else ["option", "setting", "poses"]
    table = linear.pivot_table(index=keys, columns="diverse", values="top1", sort=False)
    print(f"linear evaluation: top-1 accuracy in %, by % of diverse instances\n{table.round(1).to_string()}")
    print(f"wrote {folder}")
