"""The network that reads angles: principal components may lose a small part of an embedding."""

from __future__ import annotations

import pytest
import torch

from lie_ssl.protocol.readout import Readout, ReadoutConfig


@pytest.mark.parametrize("whole", [10, 12])
def test_embeddings_up_to_a_size_are_seen_whole(whole: int) -> None:
    """Two of twelve dimensions have a hundredth of the size of the others, and ten components are kept."""
    torch.manual_seed(0)
    z = torch.randn(400, 12)
    z[:, 10:] /= 100
    model = Readout(z, ReadoutConfig(components=10, whole=whole))
    part = model.components(z)
    # How much of the small part a linear map of the components can tell.
    fitted = part @ torch.linalg.lstsq(part, z[:, 10:]).solution
    told = 1 - float((fitted - z[:, 10:]).square().sum() / z[:, 10:].square().sum())
    assert told > 0.95 if whole == 12 else told < 0.1
    assert part.std(dim=0).tolist() == pytest.approx([1.0] * part.shape[1], rel=1e-3)
