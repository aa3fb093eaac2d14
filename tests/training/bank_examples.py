"""An encoder and views for the tests of banks."""

from __future__ import annotations

import torch

from lie_ssl.methods.augment import AugmentConfig
from lie_ssl.methods.encoders import Encoder, EncoderConfig, create_encoder
from lie_ssl.training.bank_card import ViewConfig

VIEWS = ViewConfig(count=2, augment=AugmentConfig(crop_scale=(0.5, 1.0)), seed=3)


def mini(seed: int = 0) -> Encoder:
    torch.manual_seed(seed)
    return create_encoder(EncoderConfig("resnet_mini"), 16, 3)
