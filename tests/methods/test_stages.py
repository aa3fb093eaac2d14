"""The stages of encoders, and which weights belong to the last ones."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from lie_ssl.errors import UserError
from lie_ssl.methods.encoders import Encoder, EncoderConfig, create_encoder
from lie_ssl.methods.stages import find_stages, last_stages


@pytest.mark.parametrize(
    ("name", "size", "stages", "first", "trained"),
    [
        ("resnet_mini", 16, 4, "layer1", {"layer3", "layer4"}),
        ("vit_mini", 16, 4, "blocks.0", {"blocks.2", "blocks.3", "norm"}),
        ("tf_efficientnet_lite0", 32, 7, "blocks.0", {"blocks.5", "blocks.6", "conv_head", "bn2"}),
        ("test_convnext", 32, 4, "stages.0", {"stages.2", "stages.3", "head.norm"}),
        ("regnetx_002", 32, 4, "s1", {"s3", "s4"}),
    ],
)
def test_stages_of_published_encoders(name: str, size: int, stages: int, first: str, trained: set[str]) -> None:
    encoder = create_encoder(EncoderConfig(name), size, 3)
    found = find_stages(encoder)
    assert (len(found), found[0]) == (stages, first)
    last = last_stages(encoder, 2)
    assert last.names == found[-2:]
    keys = {id(p) for p in last.parameters}
    named = {key for key, p in encoder.body.named_parameters() if id(p) in keys}
    wanted = {key for key, _ in encoder.body.named_parameters() if key.startswith(tuple(f"{t}." for t in trained))}
    assert named == wanted


class Odd(nn.Module):
    """Registered in another order than it runs; a layer runs twice, and one is never called by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.last = nn.Linear(4, 4)
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))
        self.twice = nn.Linear(4, 4)
        self.attention = nn.MultiheadAttention(4, 1)
        self.shift = nn.Parameter(torch.zeros(4))

    def forward(self, images: Tensor) -> Tensor:
        x = self.twice(images[:, 0, :4, 0]) + self.shift
        for layer in reversed(self.layers):
            x = layer(x)
        x = self.attention(x, x, x)[0]
        found: Tensor = self.last(self.twice(x))
        return found


def test_the_order_is_that_of_running() -> None:
    encoder = Encoder(Odd(), 8, 3)
    assert find_stages(encoder) == ("layers.2", "layers.1", "layers.0")
    keys = {id(p) for p in last_stages(encoder, 1).parameters}
    named = {key.rpartition(".")[0] for key, p in encoder.body.named_parameters() if id(p) in keys}
    assert named == {"layers.0", "attention", "attention.out_proj", "last"}  # not `twice`, which begins before


def test_stages_that_are_not_there() -> None:
    encoder = create_encoder(EncoderConfig("resnet_mini"), 16, 3)
    with pytest.raises(UserError, match=r"unfreeze is 5, but ResNet has 4 stages \(layer1 to layer4\); give a number"):
        last_stages(encoder, 5)
    plain = Encoder(nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU()), 16, 3)
    assert find_stages(plain) == ()
    with pytest.raises(UserError, match="Sequential has no stages that can be recognised"):
        last_stages(plain, 1)
