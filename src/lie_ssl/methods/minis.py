"""Small encoders for training on a CPU: a vision transformer and a residual network with 128 features each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import nn

from lie_ssl._torchvision_compat import import_torchvision

if TYPE_CHECKING:
    from timm.models.resnet import ResNet
    from timm.models.vision_transformer import VisionTransformer

SMALL_IMAGE = 32  # below this size, the first layer of the residual network keeps the full resolution


def vit_mini(image_size: int = 64, channels: int = 3, patch_size: int = 8, **options: Any) -> VisionTransformer:
    """A vision transformer, (B, C, S, S) -> (B, 128): 0.6 million weights, mean of the normed patch tokens.

    Args:
        image_size, channels: Size and channels of the images; the size is a multiple of the patch size.
        patch_size: 8 gives 64 tokens for an image of 64 px.
        options: Other keyword arguments of timm's VisionTransformer, such as depth or drop_path_rate.
    """
    import_torchvision()
    from timm.models.vision_transformer import VisionTransformer

    # An MLP twice as wide as the tokens instead of four times: a training step takes three quarters of the time.
    shape: dict[str, Any] = {"embed_dim": 128, "depth": 4, "num_heads": 4, "mlp_ratio": 2.0, **options}
    image: dict[str, Any] = {"img_size": image_size, "patch_size": patch_size, "in_chans": channels}
    return VisionTransformer(num_classes=0, global_pool="avg", fc_norm=False, **image, **shape)


def resnet_mini(image_size: int = 64, channels: int = 3) -> ResNet:
    """A residual network, (B, C, S, S) -> (B, 128): 0.3 million weights, four basic blocks of 16 to 128 channels.

    The stem is one 3x3 convolution without max-pooling, with stride 2 from 32 px on.
    """
    import_torchvision()
    from timm.models.resnet import BasicBlock, ResNet

    widths = (16, 32, 64, 128)
    block: Any = BasicBlock  # timm's annotation requires an instance
    model: Any = ResNet(block, (1, 1, 1, 1), num_classes=0, in_chans=channels, channels=widths)
    # timm's stem always has 64 channels, which would cost more than the rest of the network.
    stride = 1 if image_size < SMALL_IMAGE else 2
    model.conv1 = nn.Conv2d(channels, widths[0], kernel_size=3, stride=stride, padding=1, bias=False)
    model.bn1 = nn.BatchNorm2d(widths[0])
    model.maxpool = nn.Identity()
    model.layer1 = nn.Sequential(BasicBlock(widths[0], widths[0]))
    model.init_weights()
    # From 32 px on, convolutions of few channels are faster on a CPU in the channels-last format.
    layout = torch.contiguous_format if image_size < SMALL_IMAGE else torch.channels_last
    return cast("ResNet", model.to(memory_format=layout))


MINIS: dict[str, Callable[..., nn.Module]] = {"vit_mini": vit_mini, "resnet_mini": resnet_mini}
