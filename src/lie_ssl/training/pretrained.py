"""A trained encoder and its operator as a folder to share: `save_pretrained`, `from_pretrained`.

The folder has the layout of the Hugging Face hub: config.json, model.safetensors and README.md.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import nn

from lie_ssl import __version__
from lie_ssl.errors import UserError
from lie_ssl.lie import LieOperator, OperatorConfig
from lie_ssl.migration import FORMAT, migrate
from lie_ssl.objectives.base import as_user_errors
from lie_ssl.serialization import from_plain, to_plain
from lie_ssl.storage.cards import parse_json
from lie_ssl.storage.files import write_whole
from lie_ssl.training.checkpoints import last_line
from lie_ssl.training.export import contiguous, model_card, operator_config, settings
from lie_ssl.training.loading import WEIGHTS, Loaded, build_encoder, encoder_config
from lie_ssl.training.moving import check_reaches

CONFIG, CARD = "config.json", "README.md"
KIND = "lie_ssl"


def save_pretrained(loaded: Loaded, folder: Path | str) -> Path:
    """Writes the encoder and the operator of a run to a folder; an earlier model there is replaced.

    Args:
        loaded: A loaded run, from :func:`lie_ssl.load`.
        folder: The folder to write.

    Returns:
        The folder.
    """
    if loaded.config is None or loaded.card is None:
        raise UserError("this is an exported encoder, not a run; load the folder of a run to save it")
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file; choose another folder")
    strangers = [p.name for p in folder.iterdir() if p.name not in (CONFIG, WEIGHTS, CARD)] if folder.is_dir() else []
    if strangers:
        raise UserError(f"{folder} contains other files ({', '.join(sorted(strangers)[:3])}); choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    operator = None if loaded.operator is None else to_plain(operator_config(loaded))
    config = {
        "format": FORMAT,
        "model_type": KIND, "lie_ssl_version": __version__, "encoder": settings(loaded), "operator": operator,
        "factors": list(loaded.card["factors"]), "reaches": list(loaded.reaches),
    }  # fmt: skip
    state = {f"encoder.{k}": v for k, v in loaded.encoder.state_dict().items()}
    if loaded.operator is not None:
        state |= {f"operator.{k}": v for k, v in loaded.operator.state_dict().items()}
    write_whole(folder / WEIGHTS, [save(contiguous(state))])
    write_whole(folder / CARD, [readme(loaded, folder.name).encode()])
    write_whole(folder / CONFIG, [json.dumps(config, indent=1).encode()])  # last, as it marks a complete model
    return folder


def from_pretrained(
    folder: Path | str, trust: Collection[str] = (), encoder: nn.Module | None = None
) -> Loaded:  # fmt: skip
    """Loads the encoder and the operator from a folder of :func:`save_pretrained`.

    Args:
        folder: The folder. Nothing in it is executed.
        trust: Import paths (`package.module:Class`) that it may name for its encoder. Importing runs code: give only
            names that you trust.
        encoder: The module that was adapted, if it was given from Python, as in :func:`lie_ssl.load`.
    """
    folder = Path(folder)
    config = read_config(folder)
    built = build_encoder(config["encoder"], str(folder / CONFIG), trust, encoder)
    operator: LieOperator | None = None
    if config["operator"] is not None:
        plain = from_plain(OperatorConfig, config["operator"], f"{folder / CONFIG}: operator")
        with as_user_errors(f"{folder / CONFIG}: operator: "):
            operator = plain.build(built.dim, config["factors"])
    try:
        state = load_file(folder / WEIGHTS)
        for name, module in (("encoder.", built), ("operator.", operator)):
            own_state = {k.removeprefix(name): v for k, v in state.items() if k.startswith(name)}
            if module is not None:
                module.load_state_dict(own_state)
                module.eval()
    except (SafetensorError, OSError) as error:
        raise UserError(f"cannot read {folder / WEIGHTS}: {error}; save or copy the model again") from error
    except RuntimeError as error:
        raise UserError(f"{folder / WEIGHTS} does not fit {CONFIG}: {last_line(error)}") from error
    reaches = check_reaches(config.get("reaches"), config["factors"], str(folder / CONFIG), "save the model again")
    return Loaded(
        built, operator, factors=tuple(config["factors"]), settings=encoder_config(config["encoder"]), reaches=reaches
    )


def read_config(folder: Path) -> dict[str, Any]:
    try:
        config = parse_json((folder / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{folder} is not a saved model ({CONFIG}: {error})") from error
    if not isinstance(config, dict) or config.get("model_type") != KIND:
        raise UserError(f"{folder / CONFIG} is not from save_pretrained; if this is a run, use lie_ssl.load")
    for name in ("encoder", "operator", "factors"):
        if name not in config:
            raise UserError(f"{folder / CONFIG} lacks {name!r}; save the model again")
    config = migrate("saved", config, str(folder / CONFIG))
    factors = config["factors"]
    if not isinstance(factors, list) or not factors or not all(isinstance(factor, str) for factor in factors):
        raise UserError(f"{folder / CONFIG}: factors is {factors!r}, but must be a list of names; save the model again")
    return config


def readme(loaded: Loaded, name: str) -> str:
    """The model card, with the metadata that the hub reads."""
    body = model_card(loaded, "pretrained", name)
    return "\n".join(["---", "library_name: lie_ssl", "tags: [self-supervised, equivariance]", "---", "", body])
