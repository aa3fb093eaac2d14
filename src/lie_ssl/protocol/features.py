"""Embeddings of the frames of a data set, computed once and cached under a hash of the encoder and the data."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from lie_ssl.frames import FrameSet
from lie_ssl.methods.features import embed_frames
from lie_ssl.methods.hashing import encoder_hash
from lie_ssl.protocol.probe import check_finite
from lie_ssl.storage.files import write_whole
from lie_ssl.storage.paths import check_link, inside

Rows = NDArray[np.int64]

DIGEST = "sha256"


class Features:
    """Returns the embeddings of rows of the index, and computes those that are missing.

    Args:
        encoder: The encoder.
        frames: The data set.
        folder: Cache folder, from which embeddings are read and to which :meth:`save` writes them; None for no cache.
    """

    def __init__(self, encoder: nn.Module, frames: FrameSet, folder: Path | None = None) -> None:
        self.encoder, self.frames = encoder, frames
        self._place = np.full(len(frames), -1, np.int64)
        self._z = torch.zeros(0, 0)
        self._changed = False
        data = str(frames.card["card_hash"])[:12]
        if folder is not None:
            check_link(folder, folder.parent)
        self.path = None if folder is None else inside(folder, f"{encoder_hash(encoder)}-{data}.safetensors")
        if self.path is not None and self.path.exists():
            self._read(self.path)

    def __call__(self, rows: Rows) -> Tensor:
        """(rows,) -> (rows, M) on the CPU."""
        rows = np.asarray(rows, np.int64)
        missing = np.unique(rows[self._place[rows] < 0])
        if len(missing):
            z = embed_frames(self.encoder, self.frames, missing)
            check_finite(z)
            self._place[missing] = len(self._z) + np.arange(len(missing))
            self._z = torch.cat([self._z, z]) if len(self._z) else z
            self._changed = True
        return self._z[torch.from_numpy(self._place[rows])]

    def save(self) -> None:
        """Writes the embeddings to the cache folder, atomically."""
        if self.path is None or not self._changed:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        rows = np.flatnonzero(self._place >= 0)
        place = torch.from_numpy(self._place[rows])
        z = self._z[place].contiguous()
        tensors = {"rows": torch.from_numpy(rows), "z": z}
        write_whole(self.path, [save(tensors, metadata={DIGEST: _digest(rows, z)})])
        self._changed = False

    def _read(self, path: Path) -> None:
        try:
            with safe_open(path, framework="pt") as file:
                rows, z = file.get_tensor("rows").numpy(), file.get_tensor("z")
                valid = (file.metadata() or {}).get(DIGEST) == _digest(rows, z) and self._fits(rows, z)
        except (SafetensorError, OSError, TypeError, ValueError):
            valid = False
        if not valid:  # the embeddings of a damaged file are computed again
            path.unlink(missing_ok=True)
            return
        self._z = z
        self._place[rows] = np.arange(len(z))

    def _fits(self, rows: Rows, z: Tensor) -> bool:
        """Whether these can be embeddings of this encoder on this data set."""
        return (
            rows.dtype == np.int64 and rows.ndim == 1 and len(np.unique(rows)) == len(rows) == len(z)
            and (not len(rows) or (rows.min() >= 0 and rows.max() < len(self._place)))
            and z.dtype == torch.float32 and z.ndim == 2
            and z.shape[1] == getattr(self.encoder, "dim", z.shape[1]) and bool(torch.isfinite(z).all())
        )  # fmt: skip


def _digest(rows: Rows, z: Tensor) -> str:
    digest = hashlib.sha256(rows.tobytes())
    digest.update(z.numpy().tobytes())
    return digest.hexdigest()
