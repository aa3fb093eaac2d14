"""The coordinates t that occurred in a run; evaluation draws neighbours of an embedding from them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet, PairSampler
from lie_ssl.frames.pairs import seen_instances, varied_factors
from lie_ssl.methods.features import embed_frames
from lie_ssl.objectives.pair_model import PairModel
from lie_ssl.storage.files import write_whole
from lie_ssl.training.checks import distinct_pairs
from lie_ssl.training.config import PretrainConfig, kinds_of
from lie_ssl.training.sampling import training_index

COORDINATES = "coordinates.safetensors"
MAX_PAIRS = 4096


@torch.no_grad()
def store_coordinates(folder: Path, model: PairModel, frames: FrameSet, config: PretrainConfig) -> None:
    """Infers t for pairs of training instances with the trained weights, and writes t (N, D) and delta (N, F).

    There are 4,096 pairs, or all distinct pairs if there are fewer.
    """
    if model.mover is None:
        return
    index = training_index(config, frames)
    seen = seen_instances(index, "train", config.diverse)
    varied, most = sum(bool(i.kinds) for i in seen), min(MAX_PAIRS, distinct_pairs(seen))
    sampler = PairSampler(
        index, batch_size=256, seed=config.seed, diverse=config.diverse, passes=-(-most // varied),
        singles=False, drop_last=False, kinds=kinds_of(config, frames), varied=varied_factors(frames.index),
    )  # fmt: skip
    batches = list(sampler)
    rows = np.unique(np.concatenate([r for batch in batches for r in (batch.first, batch.second)]))
    embedded = embed_frames(model.method.encoder, frames, rows)  # every frame once
    ts: list[Tensor] = []
    deltas: list[Tensor] = []
    device = next(model.parameters()).device
    for batch in batches:
        z, z_next = (embedded[np.searchsorted(rows, own)].to(device) for own in (batch.first, batch.second))
        delta = torch.from_numpy(batch.delta)
        ts.append(model.mover.infer(z, z_next, delta.to(device)).cpu())
        deltas.append(delta)
    tensors = {"t": torch.cat(ts)[:most].contiguous(), "delta": torch.cat(deltas)[:most].contiguous()}
    write_whole(folder / COORDINATES, [save(tensors)])


def read_coordinates(folder: Path) -> tuple[Tensor, Tensor]:
    """Reads t (N, D) and delta (N, F) of a finished run."""
    path = folder / COORDINATES
    if not path.exists():
        raise UserError(f"{folder} has no coordinates; give a finished run with an operator")
    try:
        tensors = load_file(path)
        return tensors["t"], tensors["delta"]
    except (SafetensorError, OSError, KeyError) as error:
        raise UserError(f"{path} is damaged; copy the run again, or remove its folder and train it again") from error
