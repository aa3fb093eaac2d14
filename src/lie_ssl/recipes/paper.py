"""The paper's studies of existing encoders: only classifiers are trained, or encoders are finetuned with them.

The runs with pretraining are the grids paper/mae, paper/vicreg and paper/simclr in :mod:`lie_ssl.recipes.grids`.
"""

from __future__ import annotations

from lie_ssl.methods.encoders import EncoderConfig
from lie_ssl.protocol.studies import GapsConfig, TransferConfig
from lie_ssl.recipes.data import paper_data
from lie_ssl.recipes.gaps import FROM_FILE, FROM_TIMM, published
from lie_ssl.recipes.transfer import paper_transfer


def gaps() -> GapsConfig:
    """Seven published encoders on the paper's data set; `lie-ssl gaps --recipe paper` measures them and others."""
    own = [*FROM_TIMM, *FROM_FILE]
    return GapsConfig(paper_data(), tuple(e for e in published("paper") if e.name in own))


def imagenet() -> TransferConfig:
    """ImageNet and its rotated validation pictures: 20,000 steps, the best rate by the loss on validation pictures."""
    return TransferConfig(EncoderConfig(name="vit_base_patch16_224"), paper_transfer(), classes=1000)


def ilab() -> TransferConfig:
    """iLab-2M with the six categories of Madan et al. (2021): a tenth of the training set selects the rate.

    The paper gives its rates and steps for both transfers in one paragraph.
    """
    return TransferConfig(EncoderConfig(name="vit_base_patch16_224"), paper_transfer(), classes=6)


GAPS = {"paper/gaps": gaps}
TRANSFERS = {"paper/imagenet": imagenet, "paper/ilab": ilab}
