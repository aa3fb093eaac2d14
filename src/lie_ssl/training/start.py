"""Starts a run from the weights of another run."""

from __future__ import annotations

from pathlib import Path

from torch import nn

from lie_ssl._text import count
from lie_ssl.errors import UserError
from lie_ssl.migration import migrate
from lie_ssl.objectives.pair_model import PairModel
from lie_ssl.serialization import from_plain
from lie_ssl.storage.cards import read_json
from lie_ssl.training.banked import stored_state
from lie_ssl.training.checkpoints import LAST, model_state, read_checkpoint
from lie_ssl.training.config import PretrainConfig
from lie_ssl.training.folder import CONFIG, read_run_card

ENCODER = "method.encoder."


def start_from(model: PairModel, config: PretrainConfig, data: str | None = None) -> str:
    """Loads the encoder of another run, and its heads and operator as far as they fit.

    The encoder must fit completely. Other tensors that are missing there or have another shape stay as initialised.

    Args:
        model: The model to change.
        config: The config of the new run.
        data: The hash of its data set, if known. If the other run had the same one, it must not have seen more of it.

    Returns:
        A message about what was loaded.
    """
    assert config.start is not None
    path = Path(config.start)
    folder = path if path.is_dir() else path.parent
    if (folder / CONFIG).exists() and read_run_card(folder)["data"]["card_hash"] == data:
        seen = _diverse(folder / CONFIG)
        if seen > config.diverse:  # evaluation would count poses that the first run saw as new
            raise UserError(
                f"{config.start} has seen {seen:g} of the training instances in all poses, more than the "
                f"{config.diverse:g} of this run; raise --diverse, or start from another run"
            )
    checkpoint = read_checkpoint(path / LAST if path.is_dir() else path)
    found, own = model_state(checkpoint), model.state_dict()
    if config.unfreeze is not None:
        found = stored_state(folder) | found  # checkpoints have only what was trained
    for key, tensor in own.items():
        if key.startswith(ENCODER) and (key not in found or found[key].shape != tensor.shape):
            given = f"of shape {tuple(found[key].shape)}" if key in found else "missing"
            raise UserError(
                f"the encoder of {config.start} does not fit: {key.removeprefix(ENCODER)} is {given}, but must be "
                f"{tuple(tensor.shape)}; use the same encoder and frames of the same size"
            )
    theirs = checkpoint["lie_ssl"]["method"]
    same = theirs == config.method.name
    taken = {k: v for k, v in found.items() if k in own and own[k].shape == v.shape and (same or k.startswith(ENCODER))}
    if config.unfreeze is not None and (missing := own.keys() - taken.keys()):
        raise UserError(
            f"{config.start} has no {min(missing)} of this shape, so it cannot be continued; leave the settings of its "
            "objective and method as they are"
        )
    nn.Module.load_state_dict(model, own | taken)
    rest = len(own) - len(taken)
    return f"loaded {count(len(taken), 'tensor')} from {config.start} ({theirs}); {rest} newly initialised"


def _diverse(path: Path) -> float:
    """The share of instances that a run has seen in all poses. Its method, objective and encoder are not needed for it,
    and may be code that is not trusted."""
    values = migrate("config", read_json(path, "copy the run again"), str(path))
    rest = {name: value for name, value in values.items() if name not in ("method", "objective", "encoder")}
    return from_plain(PretrainConfig, rest, str(path)).diverse
