"""Named transfers to photographs."""

from __future__ import annotations

from lie_ssl.errors import UserError
from lie_ssl.protocol.finetune import FinetuneConfig
from lie_ssl.protocol.studies import PhotoTransfer
from lie_ssl.serialization import suggestion


def small_transfer() -> PhotoTransfer:
    """For a CPU: 1,000 steps at two rates, selected by the loss on a tenth of the training photographs."""
    return PhotoTransfer(FinetuneConfig(steps=1000, batch=64, rates=(1e-3, 3e-4), start="zero"))


def paper_transfer() -> PhotoTransfer:
    """The paper's transfer to ImageNet and iLab-2M: 20,000 steps, three rates."""
    return PhotoTransfer(FinetuneConfig(steps=20_000, batch=64, rates=(5e-4, 5e-5, 5e-6), start="zero"))


TRANSFER_RECIPES = {"small": small_transfer, "paper/imagenet": paper_transfer, "paper/ilab": paper_transfer}


def transfer_recipe(name: str) -> PhotoTransfer:
    """A recipe by its name."""
    if name not in TRANSFER_RECIPES:
        raise UserError(f"there is no recipe {name!r}{suggestion(name, list(TRANSFER_RECIPES))}")
    return TRANSFER_RECIPES[name]()
