"""Named transfers to photographs."""

from __future__ import annotations

from collections.abc import Callable

from lie_ssl.errors import UserError
from lie_ssl.protocol.finetune import FinetuneConfig
from lie_ssl.protocol.studies import PhotoTransfer, UprightTransfer
from lie_ssl.serialization import suggestion


def small_transfer() -> PhotoTransfer:
    """For a CPU: 1,000 steps at two rates, selected by the loss on a tenth of the training photographs."""
    return PhotoTransfer(FinetuneConfig(steps=1000, batch=64, rates=(1e-3, 3e-4), start="zero"))


def paper_transfer() -> PhotoTransfer:
    """The paper's transfer to ImageNet and iLab-2M: 20,000 steps, three rates."""
    return PhotoTransfer(FinetuneConfig(steps=20_000, batch=64, rates=(5e-4, 5e-5, 5e-6), start="zero"))


def upright_transfer() -> UprightTransfer:
    """For a CPU: an adapted encoder that turns photographs upright before it classifies them, with three seeds."""
    return UprightTransfer()


TRANSFER_RECIPES: dict[str, Callable[[], PhotoTransfer | UprightTransfer]] = {
    "small": small_transfer, "paper/imagenet": paper_transfer, "paper/ilab": paper_transfer,
    "upright": upright_transfer,
}  # fmt: skip


def transfer_recipe(name: str) -> PhotoTransfer | UprightTransfer:
    """A recipe by its name."""
    if name not in TRANSFER_RECIPES:
        raise UserError(f"there is no recipe {name!r}{suggestion(name, list(TRANSFER_RECIPES))}")
    return TRANSFER_RECIPES[name]()
