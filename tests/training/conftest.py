"""A bank of features for several files."""

from __future__ import annotations

import pytest
import torch

from lie_ssl.frames import FrameSet
from lie_ssl.methods.encoders import EncoderConfig
from lie_ssl.training.bank import FeatureBank
from tests.training.bank_examples import VIEWS, mini


@pytest.fixture(scope="session")
def weights(tmp_path_factory: pytest.TempPathFactory) -> EncoderConfig:
    """The same encoder as a config, which worker processes can use."""
    path = tmp_path_factory.mktemp("weights") / "mini.pt"
    torch.save(mini().body.state_dict(), path)
    return EncoderConfig("resnet_mini", weights=str(path))


@pytest.fixture(scope="session")
def bank(tiny: FrameSet, weights: EncoderConfig, tmp_path_factory: pytest.TempPathFactory) -> FeatureBank:
    return FeatureBank.fill(weights, tiny, tmp_path_factory.mktemp("banks"), views=VIEWS, jobs=1)
