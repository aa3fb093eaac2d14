"""Checkpoints that are whole or not there, and that hold tensors and plain values only."""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any

import torch
from lightning.pytorch.plugins.io import CheckpointIO

from lie_ssl.errors import UserError
from lie_ssl.frames.shards import write_whole

LAST, BEST = "last.ckpt", "best.ckpt"


class WholeCheckpoints(CheckpointIO):
    """Writes under another name, flushes to the disk and moves into place; reads without running code."""

    def save_checkpoint(self, checkpoint: dict[str, Any], path: Any, storage_options: Any | None = None) -> None:
        buffer = io.BytesIO()
        torch.save(checkpoint, buffer)
        write_whole(Path(path), [buffer.getvalue()])

    def load_checkpoint(self, path: Any, map_location: Any | None = None, weights_only: bool | None = None) -> Any:
        return read_checkpoint(Path(path))

    def remove_checkpoint(self, path: Any) -> None:
        Path(path).unlink(missing_ok=True)


def read_checkpoint(path: Path) -> dict[str, Any]:
    """A checkpoint of a pretraining run, on the CPU."""
    try:
        checkpoint = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise UserError(f"there is no checkpoint {path}; has the run begun?") from None
    except (OSError, RuntimeError, pickle.UnpicklingError, EOFError, ValueError, KeyError) as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UserError(f"{path} is no checkpoint that can be read: {first}") from error
    if not isinstance(checkpoint, dict) or "lie_ssl" not in checkpoint or "state_dict" not in checkpoint:
        raise UserError(f"{path} is no checkpoint of a pretraining run of lie_ssl")
    return checkpoint


def model_state(checkpoint: dict[str, Any]) -> dict[str, torch.Tensor]:
    """The weights of the :class:`PairModel` in a checkpoint."""
    prefix = "model."
    return {k.removeprefix(prefix): v for k, v in checkpoint["state_dict"].items() if k.startswith(prefix)}
