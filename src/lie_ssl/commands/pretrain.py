"""`lie-ssl pretrain METHOD OBJECTIVE ...`; a recipe sets the defaults of the flags."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import tyro
from torch import nn

from lie_ssl.commands.bar import Bar
from lie_ssl.commands.parsing import call, check_data, pop_values
from lie_ssl.errors import UserError
from lie_ssl.methods.registry import METHODS
from lie_ssl.objectives.registry import objective_type, trained_objectives
from lie_ssl.recipes.pretrain import PRETRAIN_RECIPES, pretrain_recipe
from lie_ssl.training.config import PretrainConfig, import_paths, load_config


def pretrain(arguments: list[str]) -> None:
    """Trains an encoder without labels.

    METHOD and OBJECTIVE are registered names, which `lie-ssl pretrain` lists, or `package.module:Class`. The same
    command resumes an unfinished run. Under torchrun, each batch is split over the processes. With --config, a file
    gives all settings; if it names code to import (`package.module:Class`), the same name must be given with --trust.

    Example: lie-ssl pretrain mae lie --data data/small --out runs/mae_lie
    """
    recipe, rest = pop_flag(arguments, "--recipe", "small")
    file, rest = pop_flag(rest, "--config", "")
    trust, rest = pop_values(rest, "--trust")
    words: list[str] = []
    while rest and not rest[0].startswith("-") and len(words) < 2:
        words.append(rest.pop(0))
    if file:
        if words:
            raise UserError(f"--config {file} already names the method and the objective; leave out {' '.join(words)}")
        default = load_config(Path(file), trust)
    elif len(words) < 2:
        if not rest or any(a in ("-h", "--help") for a in rest):
            print(usage())
            sys.exit(0)
        raise UserError("name a method and an objective: lie-ssl pretrain METHOD OBJECTIVE, such as `mae lie`")
    else:
        default = pretrain_recipe(recipe, *words)

    def main(config: Annotated[PretrainConfig, tyro.conf.arg(name="")] = default, *, out: Path) -> None:
        """Trains an encoder without labels.

        Args:
            config: Settings of the run.
            out: Folder of the run. An unfinished run is resumed; another run is never overwritten.
        """
        check_data(config.data)
        run(config, out)

    prog = " ".join(["lie-ssl pretrain", *words])
    call(main, prog, rest, description=pretrain.__doc__)


def run(config: PretrainConfig, out: Path, encoder: nn.Module | None = None) -> None:
    """Trains with a progress bar and prints where the run is; `encoder` is one that the config cannot build."""
    from lie_ssl.training.run import pretrain as train

    with Bar(shown=os.environ.get("RANK", "0") == "0") as bar:
        folder = train(config, out, bar, encoder)
        trust = f", trust={list(import_paths(config))}" if import_paths(config) else ""
        what = "encoder and operator" if objective_type(config.objective.name).has_mover else "encoder"
        bar.say(f"{folder}: the run is finished; load its {what} with `lie_ssl.load({str(folder)!r}{trust})`")


def pop_flag(arguments: list[str], flag: str, default: str) -> tuple[str, list[str]]:
    """The value of a flag that determines the others, and the arguments without it."""
    values, rest = pop_values(arguments, flag)
    if len(values) > 1:
        raise UserError(f"{flag} is given {len(values)} times; give it once")
    return (values[0] if values else default), rest


def usage() -> str:
    """The usage, with all methods, objectives and recipes."""
    lines = [
        "usage: lie-ssl pretrain METHOD OBJECTIVE --data FOLDER --out FOLDER",
        "                        [--recipe RECIPE] [flags]",
        "       lie-ssl pretrain --config FILE --out FOLDER",
        "                        [--trust package.module:Class] [flags]",
        "",
        f"  METHOD     {', '.join(METHODS)}, or package.module:Class",
        f"  OBJECTIVE  {', '.join(trained_objectives())}, or package.module:Class",
    ]
    lines += [
        f"  RECIPE     {name}: {(recipe.__doc__ or '').splitlines()[0]}" for name, recipe in PRETRAIN_RECIPES.items()
    ]
    lines += ["", "`lie-ssl pretrain mae lie --help` shows every flag with its default."]
    return "\n".join([*lines, "Example: lie-ssl pretrain mae lie --data data/small --out runs/mae_lie"])
