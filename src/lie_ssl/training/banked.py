"""The data set of a run that trains a head: stored features of a frozen encoder in place of pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor, nn

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.frames.pairs import Rows, seen_instances
from lie_ssl.methods.adapted import AdaptConfig, AdaptedEncoder, Head
from lie_ssl.methods.encoders import EncoderConfig, create_encoder
from lie_ssl.methods.extractor import FeatureExtractor, as_encoder
from lie_ssl.storage.files import write_whole
from lie_ssl.training.bank import FeatureBank
from lie_ssl.training.bank_card import ViewConfig
from lie_ssl.training.checkpoints import last_line
from lie_ssl.training.config import PretrainConfig
from lie_ssl.training.progress import ProgressReporter
from lie_ssl.training.sampling import training_index

FROZEN = "encoder.safetensors"  # the frozen encoder, in the folder of a run
PREFIX = "method.encoder.extractor.encoder."  # its keys in the model of a run
CHUNK = 1024  # rows at a time
SAMPLE = 4096  # most rows from which principal components are computed
WITHIN = 12_000  # about as many rows show how frames of the same object differ
# Features that vary less than float16 can store are ignored: divided by their deviation, rounding errors would be as
# large as everything else, and a feature that is 0 in all training frames would explode in the first other one.
RESOLUTION, SMALLEST = 2.0**-10, 1e-6
IGNORED = 1e6  # as deviation of a feature that is ignored
MOST_COMPONENTS = 2**30  # bytes of principal components in memory; more are computed in every step


class BankedFrames(FrameSet):
    """A data set whose inputs are stored features (rows, 1 + V, K) instead of pictures.

    Args:
        frames: The data set.
        bank: The features of its frames.
    """

    def __init__(self, frames: FrameSet, bank: FeatureBank) -> None:
        super().__init__(frames.folder)
        self.bank = bank
        self._components: StoredComponents | None = None

    def inputs(self, rows: NDArray[np.integer]) -> NDArray[Any]:
        """Reads the features of the given rows, (len(rows), 1 + V, K) float16. Those of frames that training shows are
        followed by their principal components, once a head is standardised."""
        features = self.bank.read(rows)
        components = None if self._components is None else self._components.read(rows)
        return features if components is None else np.concatenate([features, components], axis=2)

    def standardise(self, encoder: AdaptedEncoder, config: PretrainConfig) -> None:
        """Gives the head the mean, deviation and principal components of the features of all frames that training
        shows, and how frames of the same object differ.

        Features that are constant there, up to rounding, get a deviation that makes them nearly zero.
        """
        seen = seen_instances(training_index(config, self), "train", config.diverse)
        rows = np.sort(np.concatenate([np.concatenate(i.kinds) if i.kinds else np.array([i.typical]) for i in seen]))
        total, squares = (torch.zeros(self.bank.dim, dtype=torch.float64) for _ in range(2))
        for start in range(0, len(rows), CHUNK):
            part = torch.from_numpy(self.bank.read(rows[start : start + CHUNK])[:, 0]).double()
            total += part.sum(dim=0)
            squares += part.square().sum(dim=0)
        mean = total / len(rows)
        std = (squares / len(rows) - mean.square()).clamp_min(0).sqrt()
        constant = std <= RESOLUTION * mean.abs() + SMALLEST
        assert isinstance(encoder.head, Head)
        encoder.head.standardise(mean, std.masked_fill(constant, IGNORED))
        sample = rows[:: -(-len(rows) // SAMPLE)]
        features = torch.from_numpy(self.bank.read(sample)[:, 0]).float()
        encoder.head.reduce(features)
        encoder.head.scale_down(self._within([np.concatenate(i.kinds) for i in seen if i.kinds]), features)
        size = 2 * len(rows) * (1 + self.bank.views) * encoder.head.basis.shape[1]
        if encoder.head.identity is not None and size <= MOST_COMPONENTS:
            self._components = StoredComponents(encoder.head, self.bank, rows)

    def _within(self, objects: Sequence[Rows]) -> Tensor:
        """(N, K) features of some frames of each object, evenly spaced, minus their mean."""
        most = max(2, WITHIN // len(objects))
        found = []
        for rows in objects:
            own = torch.from_numpy(self.bank.read(np.sort(rows)[:: -(-len(rows) // most)])[:, 0]).float()
            found.append(own - own.mean(dim=0))
        return torch.cat(found)


class StoredComponents:
    """Principal components of the features of some frames: training reads each frame many times.

    They are computed in a fixed order, so that a resumed run gets the same bits.

    Args:
        head: The head that has the components, C of them.
        bank: The features.
        rows: The frames, in ascending order.
    """

    @torch.no_grad()
    def __init__(self, head: Head, bank: FeatureBank, rows: Rows) -> None:
        self._places = np.full(len(bank), -1, np.int64)
        self._places[rows] = np.arange(len(rows))
        self._values = np.empty((len(rows), 1 + bank.views, head.basis.shape[1]), np.float16)
        for start in range(0, len(rows), CHUNK):
            features = torch.from_numpy(bank.read(rows[start : start + CHUNK])).float()
            found = head.components(features.flatten(0, 1)).unflatten(0, features.shape[:2])
            self._values[start : start + CHUNK] = found.numpy()

    def read(self, rows: NDArray[np.integer]) -> NDArray[np.float16] | None:
        """Rows (B,) -> (B, 1 + V, C); None if one of them is not stored."""
        places = self._places[rows]
        return None if (places < 0).any() else self._values[places]


def stored_features(
    encoder: EncoderConfig | nn.Module, config: PretrainConfig, frames: FrameSet, reporter: ProgressReporter | None
) -> BankedFrames:
    """The features of a data set for the head of a run; those that are missing are computed first."""
    assert config.adapt is not None
    views = ViewConfig(config.adapt.views, getattr(config.method, "augment", ViewConfig().augment))
    bank = FeatureBank.fill(encoder, frames, config.banks, config.adapt.features, views, reporter=reporter)
    return BankedFrames(frames, bank)


def write_frozen(folder: Path, extractor: FeatureExtractor) -> None:
    """Stores the frozen encoder in the folder of a run; checkpoints hold the head alone."""
    state = {name: value.contiguous() for name, value in extractor.encoder.state_dict().items()}
    write_whole(folder / FROZEN, [save(state)])


def check_frozen(folder: Path, extractor: FeatureExtractor) -> None:
    """Rejects another encoder than the one with which a run was started, such as a module with other weights."""
    if not (folder / FROZEN).exists():
        return
    stored, own = _read(folder), extractor.encoder.state_dict()
    same = stored.keys() == own.keys() and all(torch.equal(own[name].cpu(), stored[name]) for name in own)
    if not same:
        raise UserError(f"{folder} was started with another encoder, or with other weights; choose another --out")


def read_frozen(
    folder: Path, encoder: EncoderConfig | nn.Module, config: AdaptConfig, card: Mapping[str, Any]
) -> FeatureExtractor:  # fmt: skip
    """Builds the frozen encoder of a run with the weights in the run's folder."""
    sizes = card["size"], card["channels"]
    built = as_encoder(encoder, *sizes) if isinstance(encoder, nn.Module) else create_encoder(encoder, *sizes)
    try:
        built.load_state_dict(_read(folder))
    except RuntimeError as error:
        wrong = "the given module" if isinstance(encoder, nn.Module) else "the run's config"
        raise UserError(f"{folder / FROZEN} does not fit {wrong}: {last_line(error)}") from error
    return FeatureExtractor(built, config.features)


def _read(folder: Path) -> dict[str, Tensor]:
    try:
        return load_file(folder / FROZEN)
    except FileNotFoundError as error:
        raise UserError(f"{folder} lacks {FROZEN}, the encoder that was adapted; copy the run again") from error
    except (SafetensorError, OSError) as error:
        raise UserError(f"cannot read {folder / FROZEN}: {error}; copy the run again") from error


def stored_state(folder: Path) -> dict[str, Tensor]:
    """The frozen encoder in the folder of a run, with the keys that it has in the model of a run."""
    return {f"{PREFIX}{name}": value for name, value in _read(folder).items()}


def frozen_state(extractor: FeatureExtractor | None) -> dict[str, Tensor]:
    """The state of the frozen encoder with the keys that it has in the model of a run."""
    if extractor is None:
        return {}
    return {f"{PREFIX}{name}": value for name, value in extractor.encoder.state_dict().items()}


def check_adapted(encoder: object) -> AdaptedEncoder:
    """The given encoder, if it is an adapted one."""
    if not isinstance(encoder, AdaptedEncoder):
        raise UserError("this is not an adapted encoder; make one with `lie-ssl adapt`")
    return encoder
