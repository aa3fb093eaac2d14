"""The networks inside encoders: a small model of this package, a timm model, or the user's own factory."""

from __future__ import annotations

import difflib
import inspect
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.request import urlopen

from torch import nn

from lie_ssl._torchvision_compat import import_torchvision
from lie_ssl.errors import UserError
from lie_ssl.methods.minis import MINIS
from lie_ssl.storage.trust import is_import_path

if TYPE_CHECKING:
    from lie_ssl.methods.encoders import EncoderConfig

TIMM = "timm"  # value of `weights` for a download by timm


def build_body(config: EncoderConfig, image_size: int, channels: int) -> nn.Module:
    """Builds the network of a config, without weights unless timm downloads them.

    Args:
        config: Settings of the encoder.
        image_size, channels: Size and channels of the images.
    """
    if config.weights == TIMM and is_ours(config.name):
        raise UserError(f"timm has no weights for {config.name}; leave weights out or give a file")
    if is_import_path(config.name):
        body = _imported(config, image_size, channels)
    elif config.name in MINIS:
        body = _mini(config, image_size, channels)
    else:
        body = _timm_model(config, image_size, channels)
    patch = getattr(getattr(body, "patch_embed", None), "patch_size", None)
    if isinstance(patch, tuple) and image_size % patch[0]:
        raise UserError(f"images of {image_size} px cannot be cut into the {patch[0]} px patches of {config.name}")
    return body


def _mini(config: EncoderConfig, image_size: int, channels: int) -> nn.Module:
    patch = {"patch_size": config.patch_size} if config.patch_size else {}
    try:
        return MINIS[config.name](image_size=image_size, channels=channels, **patch, **dict(config.options))
    except Exception as error:  # timm raises many kinds for sizes that make no sense
        raise UserError(f"{config.name} cannot be built with these settings: {first_line(error)}") from error


def _timm_model(config: EncoderConfig, image_size: int, channels: int) -> nn.Module:
    import_torchvision()
    import timm

    if not timm.is_model(config.name):
        near = difflib.get_close_matches(config.name, [*MINIS, *timm.list_models()], n=1, cutoff=0.0)
        raise UserError(f"there is no encoder {config.name!r}; did you mean {near[0]}? (timm.list_models() has all)")
    sizes: dict[str, Any] = {"patch_size": config.patch_size} if config.patch_size else {}
    pretrained = config.weights == TIMM
    if pretrained:
        go_offline_if_unreachable()
    try:
        if getattr(timm.get_pretrained_cfg(config.name), "fixed_input_size", False):  # others accept images of any size
            sizes["img_size"] = image_size
        options = {**sizes, **dict(config.options)}
        return timm.create_model(config.name, pretrained=pretrained, num_classes=0, in_chans=channels, **options)
    except Exception as error:
        doing = "loaded with timm's weights (this needs network access)" if pretrained else "built with these settings"
        raise UserError(f"{config.name} cannot be {doing}: {first_line(error)}") from error


@cache
def go_offline_if_unreachable(seconds: float = 5.0) -> None:
    """Uses only cached downloads if the model hub does not respond; otherwise timm would retry for minutes."""
    from huggingface_hub import constants

    try:
        urlopen(constants.ENDPOINT, timeout=seconds).close()
    except HTTPError:
        pass  # it responds
    except OSError:
        constants.HF_HUB_OFFLINE = True


def _imported(config: EncoderConfig, image_size: int, channels: int) -> nn.Module:
    if config.patch_size:
        raise UserError(f"patch_size does not apply to {config.name}; use options with its own argument instead")
    module, _, attribute = config.name.partition(":")
    try:
        factory = getattr(import_module(module), attribute)
        accepted = inspect.signature(factory).parameters
    except Exception as error:  # importing runs user code, which may raise anything
        raise UserError(
            f"{config.name} cannot be imported (is its folder on PYTHONPATH?): {first_line(error)}"
        ) from error
    sizes = {k: v for k, v in {"image_size": image_size, "channels": channels}.items() if k in accepted}
    try:
        body = factory(**{**sizes, **dict(config.options)})
    except Exception as error:
        raise UserError(f"{config.name} cannot be built with these settings: {first_line(error)}") from error
    if not isinstance(body, nn.Module):
        raise UserError(f"{config.name} returns a {type(body).__name__}, but an encoder must be a torch.nn.Module")
    return body


def is_ours(name: str) -> bool:
    """Whether a model is not one of timm's."""
    return name in MINIS or is_import_path(name)


def first_line(error: Exception) -> str:
    """The first line of an error, for messages."""
    return (str(error) or repr(error)).splitlines()[0]
