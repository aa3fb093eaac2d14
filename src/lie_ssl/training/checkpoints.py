"""Reading checkpoints, which hold tensors and plain values only; lightning is not needed for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from lie_ssl.errors import UserError
from lie_ssl.migration import migrate
from lie_ssl.storage.torch_files import read_torch

LAST, BEST = "last.ckpt", "best.ckpt"


def read_checkpoint(path: Path) -> dict[str, Any]:
    """A checkpoint of a pretraining run, on the CPU."""
    try:
        checkpoint = read_torch(path, "copy the run again, or remove its folder and train it again")
    except FileNotFoundError:
        raise UserError(f"there is no checkpoint {path}; has the run begun?") from None
    if not (
        isinstance(checkpoint, dict)
        and isinstance(checkpoint.get("global_step"), int)
        and isinstance(own := checkpoint.get("lie_ssl"), dict)
        and isinstance(own.get("method"), str)
        and all(isinstance(own.get(name), int) for name in ("batches", "skipped"))
        and isinstance(state := checkpoint.get("state_dict"), dict)
        and all(isinstance(key, str) and isinstance(value, torch.Tensor) for key, value in state.items())
    ):
        raise UserError(f"{path} is no checkpoint of a pretraining run of lie_ssl")
    stated = own.get("format", 1)
    return migrate("checkpoint", checkpoint | {"format": stated}, str(path))


def last_line(error: Exception) -> str:
    """What torch says about weights that do not fit, as far as it fits into a sentence."""
    text = str(error).splitlines()[-1].strip()
    return text if len(text) <= 200 else f"{text[:200]} ..."


def model_state(checkpoint: dict[str, Any]) -> dict[str, torch.Tensor]:
    """The weights of the :class:`PairModel` in a checkpoint."""
    prefix = "model."
    return {k.removeprefix(prefix): v for k, v in checkpoint["state_dict"].items() if k.startswith(prefix)}
