"""The coordinates t that a run has seen: later phases draw neighbours of an embedding from them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save
from torch import Tensor

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet, PairSampler
from lie_ssl.frames.pairs import seen_instances
from lie_ssl.frames.shards import write_whole
from lie_ssl.methods.features import embed_frames
from lie_ssl.methods.pair_model import PairModel
from lie_ssl.training.config import PretrainConfig, kinds_of
from lie_ssl.training.folder import COORDINATES

MOST = 4096


@torch.no_grad()
def store_coordinates(folder: Path, model: PairModel, frames: FrameSet, config: PretrainConfig) -> None:
    """Infers t for pairs of training instances with the trained weights, and writes t (N, D) and delta (N, F)."""
    if model.operator is None:
        return
    varied = sum(bool(i.kinds) for i in seen_instances(frames.index, "train", config.diverse))
    sampler = PairSampler(
        frames.index, batch_size=256, seed=config.seed, diverse=config.diverse, passes=-(-MOST // varied),
        singles=False, drop_last=False, kinds=kinds_of(config, frames),
    )  # fmt: skip
    ts: list[Tensor] = []
    deltas: list[Tensor] = []
    device = next(model.parameters()).device
    for batch in sampler:
        rows = np.concatenate([batch.first, batch.second])
        z, z_next = embed_frames(model.method.encoder, frames, rows).to(device).chunk(2)
        delta = torch.from_numpy(batch.delta)
        ts.append(model.operator.infer(z, z_next, delta.to(device)).cpu())
        deltas.append(delta)
    tensors = {"t": torch.cat(ts)[:MOST].contiguous(), "delta": torch.cat(deltas)[:MOST].contiguous()}
    write_whole(folder / COORDINATES, [save(tensors)])


def read_coordinates(folder: Path) -> tuple[Tensor, Tensor]:
    """t (N, D) and delta (N, F) of a finished run."""
    path = folder / COORDINATES
    if not path.exists():
        raise UserError(f"{folder} has no coordinates: the run has no operator, or it is not finished")
    tensors = load_file(path)
    return tensors["t"], tensors["delta"]
