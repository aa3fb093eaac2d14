"""Loading a run: encoder, operator, and embeddings of pictures of every type."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import lie_ssl
from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.methods.features import embed_frames
from lie_ssl.training.checkpoints import model_state
from lie_ssl.training.coordinates import read_coordinates
from lie_ssl.training.run import pretrain
from tests.training.tiny_runs import checkpoint, differences, few_pairs, tiny_run


@pytest.fixture(scope="module", autouse=True)
def _quick() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        few_pairs(patch)
        yield


@pytest.fixture(scope="module")
def run(tiny: FrameSet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """MAE Lie with a vision transformer."""
    config = tiny_run(tiny, log__check_every=2, log__tensorboard=True)
    return pretrain(config, tmp_path_factory.mktemp("runs") / "mae")


@pytest.fixture(scope="module")
def residual(tiny: FrameSet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """VICReg Lie with a residual network."""
    return pretrain(tiny_run(tiny, "vicreg"), tmp_path_factory.mktemp("runs") / "vicreg")


def test_the_folder_contains_everything(run: Path) -> None:
    expected = {"config.json", "card.json", "metrics.csv", "checks.csv", "last.ckpt", "best.ckpt", "tensorboard"}
    assert {p.name for p in run.iterdir()} == expected | {"coordinates.safetensors"}
    assert list((run / "tensorboard").iterdir())
    card = json.loads((run / "card.json").read_text())
    assert (card["kind"], card["method"], card["arm"], card["finished"], card["steps"]) == (
        "pretraining", "mae", "lie", True, 4,
    )  # fmt: skip
    assert card["seconds"] > 0
    t, delta = read_coordinates(run)
    assert card["factors"] == ["2d", "3d"]
    assert torch.equal(t, delta)  # linear coordinates
    assert t.shape == (64, 2)
    assert ((t != 0).sum(dim=1) == 1).all()  # every pair has one kind of pose
    assert (t != 0).any(dim=0).all()


@pytest.mark.parametrize("name", ["run", "residual"])
def test_weights_come_from_the_checkpoint(name: str, request: pytest.FixtureRequest, tiny: FrameSet) -> None:
    folder: Path = request.getfixturevalue(name)
    loaded = lie_ssl.load(folder)
    assert loaded.model is not None
    assert loaded.operator is not None
    assert not any(m.training for m in loaded.model.modules())
    assert differences(loaded.model.state_dict(), model_state(checkpoint(folder / "last.ckpt"))) == []
    pictures = tiny.read([0, 5, 7])
    found = loaded.embed(pictures)
    assert found.shape == (3, 128)
    assert torch.equal(found, embed_frames(loaded.encoder, tiny, [0, 5, 7]))
    z, z_next = found[:1], found[1:2]
    moved = loaded.operator(z, loaded.operator.infer(z, z_next, torch.tensor([[0.5, 0.0]])))
    assert moved.shape == z.shape
    assert loaded.operator.centre.any()  # it was updated in training
    assert int(loaded.operator.centre_updates) > 0


def test_pictures_of_every_type_give_the_same_embeddings(run: Path, tiny: FrameSet) -> None:
    loaded, array = lie_ssl.load(run), tiny.read([3, 9])
    reference = loaded.embed(array)
    tensor = torch.from_numpy(array).permute(0, 3, 1, 2)
    pictures = [Image.fromarray(a) for a in array]
    for images in (tensor, tensor.float() / 255, pictures, list(array), list(tensor), tuple(pictures)):
        torch.testing.assert_close(loaded.embed(images), reference)
    for single in (array[0], tensor[0], pictures[0]):
        torch.testing.assert_close(loaded.embed(single), reference[:1])
    assert loaded.embed([]).shape == (0, 128)
    torch.testing.assert_close(loaded.embed(array, batch=1), reference)
    assert not reference.requires_grad


def test_other_sizes_are_scaled(run: Path, tiny: FrameSet) -> None:
    loaded, array = lie_ssl.load(run), tiny.read([3])
    reference = loaded.embed(array)
    large = array.repeat(3, axis=1).repeat(3, axis=2)
    for images in (large, torch.from_numpy(large).permute(0, 3, 1, 2), [Image.fromarray(large[0])]):
        found = loaded.embed(images)
        assert found.shape == (1, 128)
        assert torch.nn.functional.cosine_similarity(found, reference) > 0.99
    grey = loaded.embed(Image.fromarray(array[0]).convert("L").resize((40, 20)))
    assert bool(torch.isfinite(grey).all())
    one = torch.from_numpy(np.asarray(Image.fromarray(array[0]).convert("L")).copy())[None, None]
    torch.testing.assert_close(loaded.embed(one), loaded.embed(one.expand(-1, 3, -1, -1)))
    torch.testing.assert_close(loaded.embed(one[0]), loaded.embed(one))
    two = one[:, 0].repeat(5, 1, 1)  # grey, without a channel axis
    torch.testing.assert_close(loaded.embed(two.numpy()), loaded.embed(two[:, None]))


def test_pictures_that_are_not_square_are_padded(run: Path, tiny: FrameSet) -> None:
    loaded, array = lie_ssl.load(run), tiny.read([3])[:, 4:-4].repeat(2, axis=1).repeat(2, axis=2)
    reference = loaded.embed(Image.fromarray(array[0]))
    stretched = loaded.embed(Image.fromarray(array[0]).resize((40, 40)))
    for images in (array, torch.from_numpy(array).permute(0, 3, 1, 2)):
        found = loaded.embed(images)
        assert (found - reference).norm() < 0.2 * (stretched - reference).norm()


@pytest.mark.parametrize(
    "images",
    [
        np.zeros((2, 16, 16, 3), np.float32),
        np.zeros((16, 16), np.uint8),
        torch.zeros(2, 2, 16, 16),
        torch.zeros(16),
        torch.full((1, 3, 16, 16), 200.0),
        torch.full((1, 3, 16, 16), -1.0),
    ],
    ids=["floats", "flat", "two channels", "vector", "255", "normalised"],
)
def test_invalid_pictures(run: Path, images: object) -> None:
    with pytest.raises(UserError):
        lie_ssl.load(run).embed(images)


def test_the_best_checkpoint(run: Path) -> None:
    best = lie_ssl.load(run, which="best")
    saved = checkpoint(run / "best.ckpt")
    assert best.model is not None
    assert differences(best.model.state_dict(), model_state(saved)) == []
    assert saved["global_step"] in (2, 4)
    with pytest.raises(UserError, match="there are last and best"):
        lie_ssl.load(run, which="first")  # type: ignore[arg-type]


def test_folders_that_are_not_runs(run: Path, tiny: FrameSet, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no run"):
        lie_ssl.load(tmp_path / "nothing")
    with pytest.raises(UserError, match=r"not a run: it has no card\.json"):
        lie_ssl.load(tmp_path)
    with pytest.raises(UserError, match="not the card of a run"):
        lie_ssl.load(tiny.folder)
    with pytest.raises(UserError, match="not a safetensors file"):
        lie_ssl.load(run / "last.ckpt")


def test_a_checkpoint_that_does_not_fit_the_folder(run: Path, residual: Path, tmp_path: Path) -> None:
    broken = tmp_path / "run"
    shutil.copytree(run, broken)
    shutil.copy(residual / "last.ckpt", broken / "last.ckpt")
    with pytest.raises(UserError, match="is from vicreg, but its config has mae"):
        lie_ssl.load(broken)
    foreign = checkpoint(run / "last.ckpt")
    foreign["state_dict"].popitem()
    torch.save(foreign, broken / "last.ckpt")
    with pytest.raises(UserError, match="does not fit its config") as stop:
        lie_ssl.load(broken)
    assert "\n" not in str(stop.value)
    (broken / "last.ckpt").unlink()
    with pytest.raises(UserError, match="there is no checkpoint"):
        lie_ssl.load(broken)


def test_only_runs_with_an_operator_have_coordinates(tiny: FrameSet, tmp_path: Path) -> None:
    out = pretrain(tiny_run(tiny, arm="frames", optim__steps=1), tmp_path / "run")
    assert lie_ssl.load(out).operator is None
    with pytest.raises(UserError, match="has no coordinates"):
        read_coordinates(out)
