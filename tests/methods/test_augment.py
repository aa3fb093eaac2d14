"""Augmentations against torchvision, and the reproducibility of views."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import pytest
import torch
from torch import Tensor

from lie_ssl._torchvision_compat import import_torchvision
from lie_ssl.errors import UserError
from lie_ssl.methods import colour
from lie_ssl.methods.augment import (
    COLOURS,
    AugmentConfig,
    augment,
    crop_only,
    draw_plan,
    none,
    resized_crop,
    simclr,
    vicreg,
)
from lie_ssl.methods.draws import Draws

import_torchvision()
from torchvision.transforms.v2 import functional  # noqa: E402

STRONG = dataclasses.replace(simclr(), solarise=0.3)


def pictures(count: int = 6, channels: int = 3, height: int = 40, width: int = 48, seed: int = 0) -> Tensor:
    """Noise, with some exactly grey, black and white pixels."""
    images = torch.rand(count, channels, height, width, generator=torch.Generator().manual_seed(seed))
    images[:, :, :3] = images[:, :1, :3]
    images[:, :, 3:5] = images[:, :, 3:5].round()
    return images


def draws(total: int, **more: Any) -> Draws:
    return Draws(seed=3, batch=1, total=total, **more)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (colour.brightness_, functional.adjust_brightness),
        (colour.contrast_, functional.adjust_contrast),
        (colour.saturation_, functional.adjust_saturation),
    ],
)
def test_blends_agree_with_torchvision(ours: Any, theirs: Any) -> None:
    images, factors = pictures(), torch.tensor([0.0, 0.2, 0.7, 1.0, 1.3, 1.8])
    expected = torch.stack([theirs(x, float(f)) for x, f in zip(images, factors, strict=True)])
    torch.testing.assert_close(ours(images.clone(), factors), expected, atol=2e-6, rtol=0)


def test_hue_agrees_with_torchvision() -> None:
    images, turns = pictures(), torch.tensor([-0.5, -0.21, 0.0, 0.1, 0.34, 0.5])
    expected = torch.stack([functional.adjust_hue(x, float(t)) for x, t in zip(images, turns, strict=True)])
    # Both divide by a small chroma for nearly grey pixels.
    torch.testing.assert_close(colour.hue_(images.clone(), turns), expected, atol=5e-6, rtol=0)


def test_hue_rotates_red_to_green_to_blue_and_preserves_grey() -> None:
    corners = torch.eye(3)[:, :, None, None]  # red, green, blue
    turned = colour.hue_(corners.clone(), torch.full((3,), 1 / 3))
    torch.testing.assert_close(turned, corners.roll(-1, dims=0), atol=1e-6, rtol=0)
    flat = torch.full((1, 3, 2, 2), 0.3)
    assert torch.equal(colour.hue_(flat.clone(), torch.tensor([0.2])), flat)


def test_grey_and_solarise_agree_with_torchvision() -> None:
    images = pictures()
    torch.testing.assert_close(colour.grey_(images.clone()), functional.rgb_to_grayscale(images, 3), atol=1e-6, rtol=0)
    torch.testing.assert_close(colour.solarise_(images.clone()), functional.solarize(images, 0.5), atol=0, rtol=0)


@pytest.mark.parametrize("size", [40, 224])
def test_blur_agrees_with_torchvision(size: int) -> None:
    images, sigmas = pictures(4, height=size, width=size), torch.tensor([0.1, 0.6, 1.3, 2.0])
    kernel = 2 * colour.kernel_radius(size, size) + 1
    expected = torch.stack(
        [functional.gaussian_blur(x, [kernel] * 2, [float(s)] * 2) for x, s in zip(images, sigmas, strict=True)]
    )
    # Ours truncates at four sigma, which is less than a ten-thousandth of the weight.
    torch.testing.assert_close(colour.blur_(images.clone(), sigmas), expected, atol=1e-4, rtol=0)


def test_blurs_of_a_batch_do_not_mix() -> None:
    images, sigmas = pictures(3, height=224, width=224), torch.tensor([0.3, 1.9, 1.0])
    together = colour.blur_(images.clone(), sigmas)
    alone = torch.cat([colour.blur_(images[i : i + 1].clone(), sigmas[i : i + 1]) for i in range(3)])
    assert torch.equal(together, alone)


def test_crop_agrees_with_torchvision() -> None:
    images = pictures()
    boxes = [(0, 0, 40, 48), (3, 5, 20, 30), (39, 47, 1, 1), (0, 10, 40, 7), (12, 0, 9, 48), (1, 1, 38, 46)]
    flipped = torch.tensor([False, True, False, True, False, True])
    result, space = torch.empty_like(images), torch.empty(2, *images.shape)
    resized_crop(images, torch.tensor(boxes, dtype=torch.float32), flipped, result, space)
    for image, box, flip, found in zip(images, boxes, flipped, result, strict=True):
        # Every crop is enlarged, so torchvision's antialiasing is also plain bilinear interpolation.
        expected = functional.resized_crop(image, *box, size=[40, 48], antialias=True)
        expected = functional.horizontal_flip(expected) if flip else expected
        torch.testing.assert_close(found, expected, atol=3e-6, rtol=0)
    assert torch.equal(result[0], images[0])


def test_a_whole_view_agrees_with_torchvision() -> None:
    images = pictures(12, height=64, width=64)
    plan = draw_plan(draws(12), STRONG, 3, 64, 64)
    found = augment(images, draws(12), STRONG)
    changes = (functional.adjust_brightness, functional.adjust_contrast, functional.adjust_saturation,
               functional.adjust_hue)  # fmt: skip
    for i, x in enumerate(images):
        x = functional.resized_crop(x, *plan.box[i].int().tolist(), size=[64, 64], antialias=True)
        x = x.flip(2) if plan.flipped[i] else x
        for place in range(16):
            if plan.who[i, place]:
                x = changes[place % 4](x, float(plan.factors[i, place % 4]))
        x = functional.rgb_to_grayscale(x, 3) if plan.who[i, 16] else x
        x = functional.gaussian_blur(x, [7, 7], [float(plan.sigma[i])] * 2) if plan.who[i, 17] else x
        x = functional.solarize(x, 0.5) if plan.who[i, 18] else x
        torch.testing.assert_close(found[i], x, atol=1e-4, rtol=0)
    assert plan.who.any(dim=0)[[16, 17, 18]].all()


@pytest.mark.parametrize("channels", [1, 3])
def test_no_augmentation_is_the_identity(channels: int) -> None:
    images = pictures(channels=channels)
    found = augment(images, draws(6), none())
    assert torch.equal(found, images)
    assert found.data_ptr() != images.data_ptr()


@pytest.mark.parametrize("name", ["flip", "jitter", "grey", "blur", "solarise"])
def test_an_operation_does_not_change_other_rows(name: str) -> None:
    images = pictures(32)
    setting: dict[str, Any] = {name: 0.5}
    config = dataclasses.replace(none(), **setting)
    plan = draw_plan(draws(32), config, 3, 40, 48)
    touched = plan.flipped | plan.who.any(dim=1)
    found = augment(images, draws(32), config)
    assert 5 < int(touched.sum()) < 27
    assert torch.equal(found[~touched], images[~touched])
    assert all(not torch.equal(a, b) for a, b in zip(found[touched], images[touched], strict=True))


@pytest.mark.parametrize("size", [64, 224])
def test_a_view_depends_only_on_its_row(size: int) -> None:
    images = pictures(7, height=size, width=size)
    whole = augment(images, draws(7), STRONG)
    parts = [augment(images[a : a + n], draws(7, start=a, count=n), STRONG) for a, n in ((0, 2), (2, 4), (6, 1))]
    assert torch.equal(whole, torch.cat(parts))
    assert torch.equal(whole[2:], augment(images[2:], draws(7, start=2), STRONG))


def test_views_are_reproducible_and_differ_by_name_and_batch() -> None:
    images = pictures()
    kept = images.clone()
    first = augment(images, draws(6), STRONG)
    assert torch.equal(first, augment(images, draws(6), STRONG))
    assert torch.equal(images, kept)
    for other in (draws(6).named("second"), Draws(seed=3, batch=2, total=6), Draws(seed=4, batch=1, total=6)):
        assert not torch.equal(first, augment(images, other, STRONG))


def test_views_are_valid_pictures() -> None:
    for channels in (1, 3):
        found = augment(pictures(64, channels), draws(64), STRONG)
        assert found.shape == (64, channels, 40, 48)
        assert found.isfinite().all()
        assert 0 <= found.min() <= found.max() <= 1


def test_bytes_and_strides_make_no_difference() -> None:
    raw = (pictures(5) * 255).round().to(torch.uint8)
    expected = augment(raw.float() / 255, draws(5), STRONG)
    assert torch.equal(augment(raw, draws(5), STRONG), expected)
    strided = (raw.float() / 255).contiguous(memory_format=torch.channels_last)
    assert torch.equal(augment(strided, draws(5), STRONG), expected)


def test_autocast_makes_no_difference() -> None:
    images = pictures()
    expected = augment(images, draws(6), STRONG)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(augment(images, draws(6), STRONG), expected)


def test_one_channel_has_no_colours() -> None:
    images = pictures(16, channels=1)
    colours = dataclasses.replace(none(), jitter=1.0, brightness=0.0, contrast=0.0, grey=1.0)
    assert torch.equal(augment(images, draws(16), colours), images)
    dull = dataclasses.replace(none(), jitter=1.0, brightness=0.0)
    factors = draw_plan(draws(16), dull, 1, 40, 48).factors[:, COLOURS.index("contrast")]
    expected = [functional.adjust_contrast(x, float(f)) for x, f in zip(images, factors, strict=True)]
    torch.testing.assert_close(augment(images, draws(16), dull), torch.stack(expected), atol=2e-6, rtol=0)


def test_an_empty_batch_stays_empty() -> None:
    assert augment(pictures(0), draws(6, start=2, count=0), STRONG).shape == (0, 3, 40, 48)


def test_the_draws_have_the_right_distributions() -> None:
    n = 4000
    plan = draw_plan(draws(n), STRONG, 3, 224, 224)
    top, left, height, width = plan.box.unbind(dim=1)
    assert (plan.box == plan.box.round()).all()
    assert (torch.stack([top, left, height - 1, width - 1]) >= 0).all()
    assert (top + height <= 224).all()
    assert (left + width <= 224).all()
    share, ratio = height * width / 224**2, width / height
    assert 0.078 < share.min() < 0.09
    assert 0.98 < share.max() <= 1
    assert 0.74 < ratio.min() < ratio.max() < 1.35
    # Areas are uniform up to the largest that fits with every aspect ratio.
    low = share[share < 0.75]
    quartiles = torch.quantile(low, torch.tensor([0.25, 0.5, 0.75]))
    torch.testing.assert_close(quartiles, 0.08 + 0.67 * torch.tensor([0.25, 0.5, 0.75]), atol=0.03, rtol=0)
    jittered = plan.who[:, :16].view(n, 4, 4)
    assert abs(float(jittered.any(dim=(1, 2)).float().mean()) - 0.8) < 0.03
    assert set(jittered.sum(dim=(1, 2)).tolist()) == {0, 4}
    torch.testing.assert_close(jittered.float().mean(dim=0), torch.full((4, 4), 0.2), atol=0.03, rtol=0)
    shares = plan.who[:, 16:].float().mean(dim=0)
    torch.testing.assert_close(shares, torch.tensor([0.2, 0.5, 0.3]), atol=0.03, rtol=0)
    torch.testing.assert_close(plan.factors.amin(dim=0), torch.tensor([0.2, 0.2, 0.2, -0.2]), atol=0.01, rtol=0)
    torch.testing.assert_close(plan.factors.amax(dim=0), torch.tensor([1.8, 1.8, 1.8, 0.2]), atol=0.01, rtol=0)
    assert 0.1 <= plan.sigma.min() < plan.sigma.max() < 2


def test_areas_of_crops_agree_with_torchvision() -> None:
    from torchvision.transforms import RandomResizedCrop

    torch.manual_seed(0)
    image, config = torch.zeros(3, 64, 96), AugmentConfig(crop_scale=(0.3, 1.0))
    theirs = torch.tensor([RandomResizedCrop.get_params(image, [0.3, 1.0], [3 / 4, 4 / 3]) for _ in range(3000)])
    ours = draw_plan(draws(3000), config, 3, 64, 96).box
    levels = torch.linspace(0.1, 0.9, 9)
    found, expected = (torch.quantile(b[:, 2].float() * b[:, 3] / (64 * 96), levels) for b in (ours, theirs))
    torch.testing.assert_close(found, expected, atol=0.03, rtol=0)


def test_crops_that_never_fit_are_central() -> None:
    config = dataclasses.replace(none(), crop_scale=(0.99, 1.0))
    wide, tall = (draw_plan(draws(4), config, 3, *size).box for size in ((30, 90), (90, 30)))
    assert (wide == torch.tensor([0.0, 25.0, 30.0, 40.0])).all()
    assert (tall == torch.tensor([25.0, 0.0, 40.0, 30.0])).all()


def test_presets_are_as_published() -> None:
    assert simclr().crop_scale == vicreg().crop_scale == (0.08, 1.0)
    assert [getattr(simclr(), n) for n in COLOURS] == pytest.approx([0.8, 0.8, 0.8, 0.2])
    assert [getattr(simclr(0.5), n) for n in COLOURS] == pytest.approx([0.4, 0.4, 0.4, 0.1])
    assert [getattr(vicreg(), n) for n in (*COLOURS, "solarise")] == [0.4, 0.4, 0.2, 0.1, 0.1]
    assert crop_only().crop_scale == (0.2, 1.0)
    assert (crop_only().flip, crop_only().jitter, crop_only().grey, crop_only().blur) == (0.5, 0, 0, 0)


def test_a_config_survives_json() -> None:
    text = json.dumps(dataclasses.asdict(vicreg()))
    assert AugmentConfig(**json.loads(text)) == vicreg()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("crop_scale", (0.0, 1.0)),
        ("crop_scale", (0.2, 1.1)),
        ("crop_scale", (0.9, 0.2)),
        ("crop_scale", 0.5),
        ("crop_scale", "ab"),
        ("crop_ratio", (1.0,)),
        ("crop_ratio", (0.5, math.inf)),
        ("blur_sigma", (math.nan, 1.0)),
        ("flip", 1.5),
        ("jitter", -0.1),
        ("blur", math.nan),
        ("brightness", -1.0),
        ("contrast", math.inf),
        ("hue", 0.6),
    ],
)
def test_bad_values_are_named(field: str, value: Any) -> None:
    with pytest.raises(UserError, match=field) as error:
        AugmentConfig(**{field: value})
    assert "but" in str(error.value)


@pytest.mark.parametrize(
    "images",
    [torch.zeros(6, 40, 48), torch.zeros(6, 2, 40, 48), torch.zeros(5, 3, 40, 48), torch.zeros(6, 3, 8, 8).double()],
)
def test_invalid_batches_are_rejected(images: Tensor) -> None:
    with pytest.raises(ValueError, match=r"images are|there are 5 pictures") as error:
        augment(images, draws(6), none())
    assert "must be" in str(error.value) or "draws for 6" in str(error.value)
