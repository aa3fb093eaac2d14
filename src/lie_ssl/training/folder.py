"""The folder of a run: config.json, card.json, metrics.csv, checks.csv, last.ckpt, best.ckpt, coordinates.safetensors.

The config is written first and decides whether a run may be resumed; the card is written at the beginning, and again at
the end with the results.
"""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path
from typing import Any

import torch

import lie_ssl
from lie_ssl.errors import UserError
from lie_ssl.extras import versions_of
from lie_ssl.frames import FrameSet
from lie_ssl.frames.pairs import Deltas, reaches
from lie_ssl.migration import FORMAT, RENAMED_ARMS, arm_of, migrate
from lie_ssl.objectives.registry import objective_type
from lie_ssl.serialization import first_difference, to_plain
from lie_ssl.storage.cards import CARD, Kinds, check_fields, read_json
from lie_ssl.storage.files import write_whole
from lie_ssl.training.checkpoints import LAST, read_checkpoint
from lie_ssl.training.config import (
    NON_IDENTITY_FIELDS,
    PretrainConfig,
    config_bytes,
    import_paths,
    kinds_of,
    load_config,
)
from lie_ssl.training.coordinates import read_coordinates

CONFIG = "config.json"
CARD_FIELDS: dict[str, Kinds] = {
    "config_digest": str, "method": str, "arm": str, "seed": int, "data": dict, "classes": list, "size": int,
    "channels": int, "factors": list, "pool": str, "versions": dict, "machine": dict, "finished": bool,
}  # fmt: skip


def check_run(folder: Path, config: PretrainConfig, frames: FrameSet) -> bool:
    """Rejects a folder that holds anything but this run; returns whether the run is finished.

    The last checkpoint of a finished run must be readable, and from its last step.
    """
    if not folder.exists():
        return False
    if not folder.is_dir():
        raise UserError(f"{folder} is a file; choose another --out")
    entries = [p.name for p in folder.iterdir() if not p.name.startswith(".")]
    if not entries:
        return False
    if CONFIG not in entries:
        raise UserError(f"{folder} contains other files ({', '.join(sorted(entries)[:3])}); choose an empty folder")
    check_names(folder, config)
    found = load_config(folder / CONFIG, import_paths(config))
    if found.digest() != config.digest():
        raise UserError(f"{folder} contains another run ({difference(found, config)}); choose another --out")
    if CARD not in entries:
        return False
    card = read_run_card(folder)
    if card["data"]["card_hash"] != frames.card["card_hash"]:
        raise UserError(
            f"{folder} was started with another data set than {frames.folder}; use that one or choose another --out"
        )
    if not card["finished"]:
        return False
    check_finished(folder, config)
    return True


def check_names(folder: Path, config: PretrainConfig) -> None:
    """Rejects the folder of a run with another method or encoder, before their code is imported."""
    values = read_json(folder / CONFIG, "choose another --out")
    values = migrate("config", values, str(folder / CONFIG))
    names = {"method": config.method.name, "encoder": config.encoder.name, "objective": config.objective.name}
    for part, own in names.items():
        given = values.get(part)
        found = given.get("name") if isinstance(given, dict) else None
        if found != own:
            raise UserError(
                f"{folder} contains another run ({part}.name is {found} there and {own} here); choose another --out"
            )


def check_finished(folder: Path, config: PretrainConfig) -> None:
    """Rejects a run that is finished according to its card, but not according to its files."""
    checkpoint = read_checkpoint(folder / LAST)
    method, step = checkpoint["lie_ssl"]["method"], checkpoint["global_step"]
    remedy = "copy the run again, or remove its folder and train it again"
    if method != config.method.name:
        raise UserError(f"{folder / LAST} is from {method}, but the run from {config.method.name}; {remedy}")
    if step != config.optim.steps:
        raise UserError(f"{folder / LAST} is from step {step:,}, but the run has {config.optim.steps:,}; {remedy}")
    if objective_type(config.objective.name).has_mover:
        read_coordinates(folder)


def difference(a: PretrainConfig, b: PretrainConfig) -> str:
    """The first setting in which two configs differ, for a message."""
    return first_difference(to_plain(a), to_plain(b), NON_IDENTITY_FIELDS) or "with the same settings"


def write_config(folder: Path, config: PretrainConfig) -> None:
    write_whole(folder / CONFIG, [config_bytes(config)])


def write_run_card(folder: Path, card: dict[str, Any]) -> None:
    write_whole(folder / CARD, [json.dumps({"format": FORMAT, **card}, indent=1).encode()])


def read_run_card(folder: Path) -> dict[str, Any]:
    """Reads the card of a run; any other folder is a :class:`UserError`."""
    path = folder / CARD
    if not path.exists():
        raise UserError(f"{folder} is not a run: it has no {CARD}; make one with `lie-ssl pretrain`")
    remedy = "copy the run again"
    card = read_json(path, remedy)
    if card.get("kind") != "pretraining":
        raise UserError(f"{path} is not the card of a run; give the folder that `lie-ssl pretrain` made")
    old = "format" not in card
    card = migrate("run", card, str(path))
    check_run_card(card, str(path), remedy)
    if old and (folder / CONFIG).exists():
        _name_arm(card, folder)
    return card


def _name_arm(card: dict[str, Any], folder: Path) -> None:
    """Updates the arm in a card of format 1 from the config beside it, unless they contradict each other."""
    config = read_json(folder / CONFIG, "copy the run again")
    found = config.get("arm")
    if "format" not in config and RENAMED_ARMS.get(str(found), found) == card["arm"]:
        card["arm"] = arm_of(migrate("config", config, str(folder / CONFIG)))


def is_adapted(card: dict[str, Any]) -> bool:
    """Whether a run trained the head of an adapted encoder, from its card."""
    return bool(card.get("adapted"))


def check_run_card(card: dict[str, Any], where: str, remedy: str) -> None:
    """Rejects a card that lacks required fields."""
    check_fields(card, CARD_FIELDS, where, remedy)
    check_fields(card["data"], dict.fromkeys(("card_hash", "config_hash", "recipe", "source"), str), where, remedy)
    check_fields(card["versions"], {"lie_ssl": str}, f"{where}: versions", remedy)
    if not (1 <= card["size"] <= 4096 and 1 <= card["channels"] <= 64):
        raise UserError(f"{where} has an impossible picture size ({card['channels']} x {card['size']} px); {remedy}")
    for name in ("factors", "classes"):
        if not all(isinstance(word, str) for word in card[name]):
            raise UserError(f"{where} has names in {name!r} that are not strings; {remedy}")


def first_card(config: PretrainConfig, frames: FrameSet, encoder: Any, device: str, processes: int) -> dict[str, Any]:
    """The card at the beginning of a run."""
    data = frames.card
    report = encoder.weight_report
    factors = Deltas(frames.index, kinds_of(config, frames)).factors
    return {
        "kind": "pretraining",
        "config_digest": config.digest(),
        "method": config.subject,
        "arm": config.arm,
        "seed": config.seed,
        "data": {k: data[k] for k in ("card_hash", "config_hash", "recipe", "source", "counts")},
        "classes": frames.classes,
        "size": frames.size,
        "channels": frames.channels,
        "factors": list(factors),
        "reaches": list(reaches(frames.index, factors)),
        "adapted": config.adapt is not None,
        "dim": encoder.dim,
        "pool": encoder.pool if encoder.is_vit else "auto",  # the setting that rebuilds it
        "weights": None if report is None else str(report),
        "versions": versions(),
        "machine": machine(device, processes),
        "finished": False,
    }


def versions() -> dict[str, str]:
    """The versions of all packages that could change a weight."""
    packages = ("torch", "torchvision", "timm", "lightning", "numpy")
    return {"lie_ssl": lie_ssl.__version__, "python": platform.python_version()} | versions_of(packages)


def machine(device: str, processes: int) -> dict[str, Any]:
    """The hardware of a run; no names of hosts or people."""
    name = torch.cuda.get_device_name() if device == "cuda" else platform.machine()
    return {
        "device": device, "name": name, "system": platform.system(), "cores": os.cpu_count(),
        "threads": torch.get_num_threads(), "processes": processes,
    }  # fmt: skip
