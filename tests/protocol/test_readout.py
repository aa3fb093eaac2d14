"""The network that reads angles: a small part of an embedding counts as much as a large one, if it is standardised."""

from __future__ import annotations

import pytest
import torch

from lie_ssl.protocol.readout import Readout, ReadoutConfig


@pytest.mark.parametrize("standardise", [False, True])
def test_a_small_part_is_kept_if_dimensions_are_standardised(standardise: bool) -> None:
    """Two of twelve dimensions have a hundredth of the size of the others, and ten components are kept."""
    torch.manual_seed(0)
    z = torch.randn(400, 12)
    z[:, 10] = 0.7 * z[:, 11]
    small = z.clone()
    small[:, 10:] /= 100
    model = Readout(small, ReadoutConfig(components=10, standardise=standardise))
    part = model.components(small)
    # How much of the small part a linear map of the components can tell.
    fitted = part @ torch.linalg.lstsq(part, z[:, 11:]).solution
    told = 1 - float((fitted - z[:, 11:]).square().sum() / z[:, 11:].square().sum())
    assert told > 0.95 if standardise else told < 0.1
    assert part.std(dim=0).tolist() == pytest.approx([1.0] * 10, rel=1e-3)
