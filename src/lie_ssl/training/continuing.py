"""Continues an adapted run on pictures, with the last stages of its encoder in the loop (`--unfreeze`)."""

from __future__ import annotations

import copy
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lie_ssl.errors import UserError
from lie_ssl.methods.adapted import AdaptedEncoder
from lie_ssl.methods.encoders import Encoder
from lie_ssl.migration import migrate
from lie_ssl.objectives.registry import objective_config
from lie_ssl.serialization import first_difference, to_plain
from lie_ssl.storage.cards import read_json
from lie_ssl.training.config import PretrainConfig
from lie_ssl.training.folder import CONFIG, read_run_card
from lie_ssl.training.loading import Loaded, load

# Fewer steps than for the head alone, and smaller batches: each picture passes through the encoder, back and forth.
STEPS, BATCH, RATE = 300, 64, 1e-4


def adapted_run(word: str, trust: Collection[str] = ()) -> Loaded:
    """The adapted run that a user wants to continue.

    Args:
        word: Its folder.
        trust: Import paths that it may name. Importing runs code.
    """
    if not Path(word).exists():
        raise UserError(
            f"--unfreeze continues a run whose head is trained, and there is no run {word}; adapt it first without "
            "--unfreeze, then give the folder of that run as ENCODER"
        )
    return load(word, trust=trust)


def continued(
    first: Loaded, unfreeze: int, objective: str | None = None, method: str | None = None
) -> tuple[PretrainConfig, Encoder]:
    """The settings of a run that continues an adapted one, and a copy of its encoder.

    They are those of the first run, with fewer steps, smaller batches and a lower rate.

    Args:
        first: The first run.
        unfreeze: How many of the encoder's last stages are trained too.
        objective, method: If given, they must be those of the first run.
    """
    where = first.folder
    if first.config is None or first.card is None or where is None:
        raise UserError(
            "an exported or saved encoder has lost what --unfreeze needs; give the folder of the run of `lie-ssl adapt`"
        )
    if not isinstance(first.encoder, AdaptedEncoder):
        raise UserError(f"{where} has no head yet; adapt it first without --unfreeze, then continue that run")
    if not where.exists():
        raise UserError(f"the run {where} is no longer there; adapt with out=FOLDER to continue it")
    if not first.card["finished"]:
        raise UserError(f"{where} is not finished; run its command again, which resumes it, and continue it then")
    config = first.config
    names = {"objective": (None if objective is None else objective_config(objective).name, config.objective.name)}
    for part, (given, own) in (names | {"method": (method, config.method.name)}).items():
        if given not in (None, own):
            raise UserError(f"{where} was adapted with the {part} {own}, not {given}; continue it with {own}")
    optim = replace(config.optim, steps=STEPS, batch=min(BATCH, config.optim.batch), lr=RATE)
    objective_here = replace(config.objective, predict=0.0)  # the published features change now
    config = replace(
        config, optim=optim, objective=objective_here, start=str(where), unfreeze=unfreeze,
        variant=f"unfreeze{unfreeze}",
    )  # fmt: skip
    return config, copy.deepcopy(first.encoder.frozen)


def check_continued(config: PretrainConfig, factors: Sequence[str]) -> None:
    """Rejects settings and data for which the head and the operator of the first run have not been trained.

    Args:
        config: The config of the run that continues it.
        factors: The factors of variation of its data.
    """
    assert config.start is not None
    folder = Path(config.start)
    card = read_run_card(folder)
    if card["factors"] != list(factors):
        raise UserError(
            f"{folder} was adapted to moves of the kinds {', '.join(card['factors'])}, but this data set has "
            f"{', '.join(factors)}; continue it with data of the same kinds"
        )
    values: dict[str, Any] = migrate("config", read_json(folder / CONFIG, "copy the run again"), str(folder / CONFIG))
    there, here = ({k: plain.get(k) for k in ("objective", "adapt")} for plain in (values, to_plain(config)))
    for plain in (there, here):  # settings of training, and of stored views, may change
        plain["adapt"] = {k: v for k, v in (plain["adapt"] or {}).items() if k not in ("dropout", "views")}
        plain["objective"] = (plain["objective"] or {}).get("name")
    if wrong := first_difference(there, here):
        raise UserError(f"{folder} cannot be continued with other settings of its head ({wrong}); leave them out")
