"""MAE: patches, masks, the loss against loops, hidden patches, and official weight files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from lie_ssl.errors import UserError
from lie_ssl.methods.augment import augment, crop_only
from lie_ssl.methods.draws import Draws
from lie_ssl.methods.encoders import Encoder, EncoderConfig, create_encoder
from lie_ssl.methods.mae import MAE, Decoder, MAEConfig, patchify, sincos
from lie_ssl.training.config import PretrainConfig
from lie_ssl.training.model import build_model

SMALL = EncoderConfig(name="vit_mini", options=(("depth", 2), ("embed_dim", 32)))


def mae(size: int = 32, channels: int = 3, encoder: EncoderConfig = SMALL, **settings: Any) -> MAE:
    torch.manual_seed(0)
    return MAE(create_encoder(encoder, size, channels), MAEConfig(**settings))


def pictures(rows: int = 4, size: int = 32, channels: int = 3, seed: int = 1) -> Tensor:
    return torch.rand(rows, channels, size, size, generator=torch.Generator().manual_seed(seed))


def orders(method: MAE, draws: Draws) -> Tensor:
    """(rows, N): the random order of patches, from the draws, not the method; the first ones are visible."""
    patches = method.encoder.grid[0] * method.encoder.grid[1]
    return torch.tensor(
        [sorted(range(patches), key=row.__getitem__) for row in draws.uniform("mask", patches).tolist()]
    )


def masks(method: MAE, frames: list[Tensor], draws: list[Draws]) -> Tensor:
    """(rows, n): the visible patches."""
    seen: list[Tensor] = []
    original = method.encoder.masked
    method.encoder.masked = lambda images, keep: seen.append(keep) or original(images, keep)  # type: ignore[method-assign, func-returns-value]
    method(frames, draws)
    method.encoder.masked = original  # type: ignore[method-assign]
    return seen[0].sort(dim=1).values


@pytest.mark.parametrize(("size", "channels", "patch"), [(16, 3, 8), (12, 1, 4), (8, 3, 2)])
def test_patchify_agrees_with_a_loop(size: int, channels: int, patch: int) -> None:
    images = pictures(2, size, channels)
    found = patchify(images, patch, normalise=False)
    n = size // patch
    assert found.shape == (2, n * n, patch * patch * channels)
    for row in range(n):
        for column in range(n):
            part = images[:, :, row * patch : (row + 1) * patch, column * patch : (column + 1) * patch]
            for y in range(patch):
                for x in range(patch):
                    place = (y * patch + x) * channels
                    assert torch.equal(found[:, row * n + column, place : place + channels], part[:, :, y, x])
    back = found.reshape(2, n, n, patch, patch, channels).permute(0, 5, 1, 3, 2, 4).reshape(images.shape)
    assert torch.equal(back, images)


def test_every_patch_is_normalised_separately() -> None:
    images = pictures(3, 16).double()
    images[0] = 0.25  # nothing to scale
    images[1] *= torch.linspace(0.1, 1, 16).double()  # patches with different deviations
    plain, found = patchify(images, 8, normalise=False), patchify(images, 8, normalise=True)
    for b in range(3):
        for n in range(4):
            values = plain[b, n].tolist()
            mean = sum(values) / len(values)
            variance = sum((v - mean) ** 2 for v in values) / (len(values) - 1)
            expected = torch.tensor([(v - mean) / (variance + 1e-6) ** 0.5 for v in values], dtype=torch.float64)
            torch.testing.assert_close(found[b, n], expected, rtol=1e-9, atol=1e-9)
    assert not found[0].any()
    assert found[1:].var(dim=2) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("normalise", [True, False])
@pytest.mark.parametrize("augmented", [False, True])
def test_the_loss_agrees_with_a_loop_over_hidden_patches(normalise: bool, augmented: bool) -> None:
    settings: dict[str, Any] = {"normalise": normalise} | ({"augment": crop_only()} if augmented else {})
    method = mae(**settings).double()
    with torch.no_grad():
        method.encoder.mean.copy_(
            torch.tensor([0.2, 0.5, 0.7]).view(1, 3, 1, 1)
        )  # targets are normalised like the input of the encoder
    frames = [pictures(3), pictures(2, seed=2)]
    draws = [Draws(0, 5, 3).named("a"), Draws(0, 5, 2).named("b")]
    outputs = method(frames, draws)
    assert len(outputs) == 2
    for x, d, out in zip(frames, draws, outputs, strict=True):
        seen = augment(x, d.named("augment"), method.config.augment) if augmented else x
        order = orders(method, d)
        prefix, tokens = method.encoder.masked(seen.double(), order[:, :4])
        drawn = method.decoder(prefix, tokens, order).detach()
        target = patchify((seen.double() - method.encoder.mean) / method.encoder.std, 8, normalise)
        total = 0.0
        for b in range(len(x)):
            hidden = [n for n in range(16) if n not in order[b, :4]]
            assert len(hidden) == 12
            values = [((drawn[b, n] - target[b, n]) ** 2).sum().item() / (8 * 8 * 3) for n in hidden]
            total += sum(values) / len(hidden) / len(x)
        assert out.loss.item() == pytest.approx(total, rel=1e-10)
        assert out.terms["reconstruction"].item() == pytest.approx(total, rel=1e-10)
        assert not out.terms["reconstruction"].requires_grad
        torch.testing.assert_close(out.z, tokens.mean(dim=1))


@pytest.mark.parametrize(("size", "mask", "visible"), [(32, 0.75, 4), (32, 0.5, 8), (64, 0.75, 16), (32, 0.99, 1)])
def test_the_number_of_visible_patches(size: int, mask: float, visible: int) -> None:
    method = mae(size, mask=mask)
    seen = masks(method, [pictures(2, size)], [Draws(0, 0, 2)])
    assert method.visible == visible
    assert seen.shape == (2, visible)
    assert all(len(set(row.tolist())) == visible for row in seen)


def test_masks_depend_on_rows() -> None:
    method = mae(64)
    images = pictures(8, 64)
    whole = masks(method, [images], [Draws(0, 3, 8)])
    parts = [masks(method, [images[a:b]], [Draws(0, 3, 8, a, b - a)]) for a, b in ((0, 3), (3, 8))]
    assert torch.equal(torch.cat(parts), whole)
    assert len(whole.unique(dim=0)) == 8  # rows differ
    other_batch = masks(method, [images], [Draws(0, 4, 8)])
    first, second = masks(
        method, [images, images], [Draws(0, 3, 8).named("first"), Draws(0, 3, 8).named("second")]
    ).chunk(2)
    for other in (other_batch, first, second):
        assert (other != whole).any(dim=1).all()
    assert (first != second).any(dim=1).all()  # the two frames of a pair


def test_hidden_patches_never_reach_the_encoder() -> None:
    method = mae().eval()
    images, draws = pictures(), Draws(0, 0, 4)
    order = orders(method, draws)
    changed = images.clone()
    for b in range(4):
        for n in order[b, method.visible :].tolist():
            row, column = divmod(n, 4)
            changed[b, :, 8 * row : 8 * row + 8, 8 * column : 8 * column + 8] = torch.rand(3, 8, 8)
    for normalise in (True, False):
        method.config = replace(method.config, normalise=normalise)
        before, after = method([images], [draws])[0], method([changed], [draws])[0]
        assert torch.equal(before.z, after.z)
        assert before.loss != after.loss  # the targets have changed
    keep = order[:, : method.visible]
    for before_, after_ in zip(method.encoder.masked(images, keep), method.encoder.masked(changed, keep), strict=True):
        assert torch.equal(before_, after_)
    visible = images.clone()
    row, column = divmod(int(order[0, 0]), 4)
    visible[0, :, 8 * row, 8 * column] += 0.5
    assert not torch.equal(method([visible], [draws])[0].z[0], before.z[0])


def test_the_decoder_puts_every_token_in_its_position() -> None:
    """With identity layers, the output is the token of the patch, or the mask token, plus its position."""
    decoder = Decoder(dim=8, width=8, depth=1, heads=2, grid=(3, 4), prefix=1, values=8)
    decoder.embed, decoder.norm, decoder.pred = nn.Identity(), nn.Identity(), nn.Identity()  # type: ignore[assignment]
    decoder.blocks = nn.ModuleList()
    tokens = torch.randn(5, 12, 8)
    order = torch.stack([torch.randperm(12, generator=torch.Generator().manual_seed(i)) for i in range(5)])
    seen = torch.stack([tokens[b, order[b, :4]] for b in range(5)])
    out = decoder(torch.randn(5, 1, 8), seen, order)
    assert out.shape == (5, 12, 8)
    for b in range(5):
        for n in range(12):
            token = tokens[b, n] if n in order[b, :4] else decoder.mask_token[0, 0]
            torch.testing.assert_close(out[b, n], token + decoder.pos_embed[0, 1 + n])


def test_the_decoder_is_independent_of_the_order_of_patches() -> None:
    torch.manual_seed(0)
    decoder = Decoder(dim=8, width=16, depth=2, heads=2, grid=(3, 4), prefix=1, values=6).double()
    prefix, tokens, order = torch.randn(1, 1, 8).double(), torch.randn(1, 5, 8).double(), torch.randperm(12)[None]
    shuffled = torch.tensor([3, 0, 4, 1, 2])
    hidden = order[:, 5:].flip(1)
    same = decoder(prefix, tokens[:, shuffled], torch.cat([order[:, :5][:, shuffled], hidden], dim=1))
    torch.testing.assert_close(decoder(prefix, tokens, order), same)
    moved = decoder(prefix, tokens[:, shuffled], order)  # the same tokens for other patches
    assert not torch.allclose(moved, same)


def test_positions_are_sines_of_column_then_row() -> None:
    found = sincos(8, (3, 5), prefix=2)
    assert found.shape == (1, 17, 8)
    assert not found[0, :2].any()
    for row in range(3):
        for column in range(5):
            angles = torch.tensor([column, column / 100, row, row / 100], dtype=torch.float64)
            expected = torch.cat([angles[:2].sin(), angles[:2].cos(), angles[2:].sin(), angles[2:].cos()])
            torch.testing.assert_close(found[0, 2 + row * 5 + column].double(), expected, atol=1e-7, rtol=1e-6)
    assert not mae().decoder.pos_embed.requires_grad


OFFICIAL = EncoderConfig(name="vit_tiny_patch16_224", options=(("depth", 2), ("embed_dim", 48)))
SETTINGS = MAEConfig(decoder_dim=32, decoder_depth=2, decoder_heads=4)


def official_state(method: MAE) -> dict[str, Tensor]:
    """A state dict with the names of the MAE authors: the decoder is flat, next to a vision transformer."""
    state = dict(method.encoder.body.state_dict())
    for key, value in method.decoder.state_dict().items():
        state[key if key == "mask_token" else f"decoder_{key}"] = value
    return state


@pytest.mark.parametrize("wrapped", [True, False])
def test_an_official_file_loads_encoder_and_decoder(tmp_path: Path, wrapped: bool) -> None:
    source = mae(encoder=OFFICIAL, **{k: getattr(SETTINGS, k) for k in ("decoder_dim", "decoder_depth")})
    state = official_state(source)
    expected_names = {
        "cls_token", "pos_embed", "patch_embed.proj.weight", "blocks.1.attn.qkv.weight", "norm.weight", "mask_token",
        "decoder_embed.weight", "decoder_pos_embed", "decoder_blocks.1.mlp.fc2.bias", "decoder_norm.weight",
        "decoder_pred.weight",
    }  # fmt: skip
    assert expected_names <= set(state)
    path = tmp_path / "mae.pth"
    torch.save({"model": state} if wrapped else state, path)
    encoder = replace(OFFICIAL, weights=str(path), parts=("decoder",))
    model = build_model(PretrainConfig(method=SETTINGS, encoder=encoder, seed=9), 32, 3)
    found = model.method
    assert isinstance(found, MAE)
    for ours, theirs in ((found.encoder.body, source.encoder.body), (found.decoder, source.decoder)):
        assert ours.state_dict().keys() == theirs.state_dict().keys()
        assert all(torch.equal(v, theirs.state_dict()[k]) for k, v in ours.state_dict().items())
    report = found.encoder.weight_report
    assert report is not None
    assert (report.layout, set(report.parts), dict(report.left_out)) == ("mae", {"encoder", "decoder"}, {})
    assert found.encoder.mean.flatten().tolist() == pytest.approx([0.485, 0.456, 0.406])
    without = build_model(PretrainConfig(method=SETTINGS, encoder=replace(encoder, parts=()), seed=9), 32, 3).method
    assert isinstance(without, MAE)
    assert not torch.equal(without.decoder.pred.weight, source.decoder.pred.weight)


def test_parts_that_cannot_be_loaded(tmp_path: Path) -> None:
    path = tmp_path / "mae.pth"
    torch.save(official_state(mae(encoder=OFFICIAL)), path)  # the decoder has other sizes than SETTINGS
    encoder = replace(OFFICIAL, weights=str(path), parts=("decoder",))
    with pytest.raises(UserError, match=r"does not fit the model.*decoder\."):
        build_model(PretrainConfig(method=SETTINGS, encoder=encoder), 32, 3)
    with pytest.raises(UserError, match=r"encoder.parts has 'projector', but this method has decoder"):
        build_model(PretrainConfig(method=SETTINGS, encoder=replace(encoder, parts=("projector",))), 32, 3)
    with pytest.raises(UserError, match=r"encoder\.parts needs a weight file"):
        build_model(PretrainConfig(method=SETTINGS, encoder=replace(encoder, weights=None)), 32, 3)


def test_an_encoder_without_patches() -> None:
    with pytest.raises(UserError, match=r"mae masks patches, so it needs a vision transformer; use .* vit_mini"):
        mae(encoder=EncoderConfig(name="resnet_mini"))


def test_a_mask_that_hides_nothing() -> None:
    with pytest.raises(UserError, match=r"mask 0\.1 of 4 patches masks none; use larger pictures"):
        mae(16, mask=0.1)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mask": 0.0}, "mask is 0.0"),
        ({"mask": 1.0}, "mask is 1.0"),
        ({"mask": float("nan")}, "mask is nan"),
        ({"decoder_dim": 0}, "a decoder of width 0"),
        ({"decoder_depth": 0}, "depth 0"),
        ({"decoder_heads": 0}, "0 heads"),
        ({"decoder_heads": -4}, "-4 heads"),
        ({"decoder_dim": 30}, "width 30.*multiple of the number of heads"),
    ],
)
def test_invalid_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message) as error:
        MAEConfig(**settings)
    assert "\n" not in str(error.value)


def test_the_width_of_the_decoder_must_be_a_multiple_of_4() -> None:
    with pytest.raises(UserError, match="decoder_dim is 6, but it must be a multiple of 4"):
        mae(decoder_dim=6, decoder_heads=1)


def test_bf16_and_gradients() -> None:
    method = mae()
    with torch.autocast("cpu", torch.bfloat16):
        out = method([pictures()], [Draws(0, 0, 4)])[0]
    assert out.loss.dtype == torch.float32
    out.loss.backward()
    assert isinstance(method.encoder, Encoder)
    for name, parameter in method.named_parameters():
        if parameter.requires_grad:
            assert parameter.grad is not None, name
            assert torch.isfinite(parameter.grad).all(), name
