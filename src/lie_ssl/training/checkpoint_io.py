"""How lightning writes and reads checkpoints here: atomically, and without running code."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import torch
from lightning.pytorch.plugins.io import CheckpointIO

from lie_ssl.storage.files import write_whole
from lie_ssl.training.checkpoints import read_checkpoint


class AtomicCheckpointIO(CheckpointIO):
    """Writes under a temporary name, flushes to disk and moves into place; reads without running code."""

    def save_checkpoint(self, checkpoint: dict[str, Any], path: Any, storage_options: Any | None = None) -> None:
        buffer = io.BytesIO()
        torch.save(checkpoint, buffer)
        write_whole(Path(path), [buffer.getvalue()])

    def load_checkpoint(self, path: Any, map_location: Any | None = None, weights_only: bool | None = None) -> Any:
        return read_checkpoint(Path(path))

    def remove_checkpoint(self, path: Any) -> None:
        Path(path).unlink(missing_ok=True)
