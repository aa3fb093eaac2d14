"""A saved model is loaded completely; pictures of any type are embedded; the encoder works in scikit-learn."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import lie_ssl
from lie_ssl.cli import main
from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.sklearn import LieEmbedding
from lie_ssl.training.export import export_run
from lie_ssl.training.run import pretrain
from tests.training.tiny_runs import differences, tiny_run


@pytest.fixture(scope="module", params=["alone", "lie", "literal"])
def run(request: pytest.FixtureRequest, tiny: FrameSet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = tiny_run(tiny, "mae", request.param, optim__steps=2)
    return pretrain(config, tmp_path_factory.mktemp("runs") / request.param)


@pytest.fixture(scope="module")
def folder(tiny: FrameSet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A saved MAE Lie."""
    root = tmp_path_factory.mktemp("saved")
    lie_ssl.load(pretrain(tiny_run(tiny, "mae", "lie", optim__steps=1), root / "run")).save_pretrained(root / "model")
    return root / "model"


def test_a_saved_model_is_loaded_exactly(run: Path, tiny: FrameSet, tmp_path: Path) -> None:
    original = lie_ssl.load(run)
    original.save_pretrained(tmp_path / "model")
    original.save_pretrained(tmp_path / "model")  # overwrites itself
    assert sorted(p.name for p in (tmp_path / "model").iterdir()) == ["README.md", "config.json", "model.safetensors"]
    for loaded in (lie_ssl.from_pretrained(tmp_path / "model"), lie_ssl.load(tmp_path / "model")):
        assert differences(original.encoder.state_dict(), loaded.encoder.state_dict()) == []
        assert not loaded.encoder.training
        pictures = tiny.read(range(6))
        z = original.embed(pictures)
        assert torch.equal(z, loaded.embed(pictures))
        assert (loaded.operator is None) == (original.operator is None)
        if original.operator is not None and loaded.operator is not None:
            delta = torch.rand(3, 2 if run.name == "lie" else 1)
            t = original.operator.infer(z[:3], z[3:], delta)
            assert torch.equal(t, loaded.operator.infer(z[:3], z[3:], delta))
            assert torch.equal(original.operator(z[:3], t), loaded.operator(z[:3], t))
    text = (tmp_path / "model" / "README.md").read_text()
    assert text.startswith("---\nlibrary_name: lie_ssl")
    assert 'lie_ssl.from_pretrained("model")' in text


def test_from_the_command_line(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["export", str(run), "--to", "pretrained", "--out", str(tmp_path / "model")])
    assert "wrote" in capsys.readouterr().out
    assert lie_ssl.from_pretrained(tmp_path / "model").encoder.dim == 128


def test_folders_without_a_model(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is not a saved model"):
        lie_ssl.from_pretrained(tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UserError, match=r"contains other files \(notes.txt\)"):
        lie_ssl.load(folder.parent / "run").save_pretrained(tmp_path)
    broken = shutil.copytree(folder, tmp_path / "broken")
    config = json.loads((broken / "config.json").read_text())
    for change, message in [
        ({"model_type": "bert"}, "is not from save_pretrained"),
        ({"operator": {"algebr": "skew"}}, "has no setting 'algebr'; did you mean 'algebra'"),
        ({"encoder": {"name": "vit_mini"}}, "lacks the encoder's patch_size; export or save"),
        ({"operator": {**config["operator"], "fixed": 100}}, "does not fit"),
    ]:
        (broken / "config.json").write_text(json.dumps(config | change))
        with pytest.raises(UserError, match=message):
            lie_ssl.from_pretrained(broken)
    (broken / "config.json").write_text(json.dumps(config))
    (broken / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(UserError, match=r"cannot read .*model.safetensors"):
        lie_ssl.from_pretrained(broken)
    exported = export_run(folder.parent / "run", tmp_path / "encoder.safetensors")
    with pytest.raises(UserError, match="is an exported encoder, not a run"):
        lie_ssl.load(exported).save_pretrained(tmp_path / "again")


def test_pictures_of_every_type_give_the_same_embedding(folder: Path, tiny: FrameSet, tmp_path: Path) -> None:
    loaded, arrays = lie_ssl.from_pretrained(folder), tiny.read(range(4))
    expected = loaded.embed(arrays)
    images = [Image.fromarray(a) for a in arrays]
    (tmp_path / "p" / "deep").mkdir(parents=True)
    paths = [tmp_path / "p" / name for name in ("a.png", "b.PNG", "c.png", "deep/d.png")]
    for image, path in zip(images, paths, strict=True):
        image.save(path)
    (tmp_path / "p" / "notes.txt").write_text("no picture")
    for pictures in (images, torch.from_numpy(arrays).permute(0, 3, 1, 2), paths, [str(p) for p in paths],
                     tmp_path / "p", str(tmp_path / "p"),
                     np.array([str(p) for p in paths]), [images[0], arrays[1], paths[2], images[3]]):  # fmt: skip
        torch.testing.assert_close(loaded.embed(pictures), expected)
    torch.testing.assert_close(loaded.embed(paths[2]), expected[2:3])


def test_unusual_pictures(folder: Path, tiny: FrameSet) -> None:
    loaded, plain = lie_ssl.from_pretrained(folder), Image.fromarray(tiny.read([0])[0])
    expected = loaded.embed(plain)
    clear = plain.convert("RGBA")
    torch.testing.assert_close(loaded.embed([clear]), expected)
    turned = plain.transpose(Image.Transpose.ROTATE_90)
    turned.getexif()[0x0112] = 6  # shown rotated by 90 degrees clockwise
    torch.testing.assert_close(loaded.embed(turned), expected)
    grey = plain.convert("L")
    deep = Image.fromarray(np.asarray(grey).astype(np.uint16) * 257)
    torch.testing.assert_close(loaded.embed(deep), loaded.embed(grey), atol=1e-3, rtol=1e-3)
    assert torch.isfinite(loaded.embed(plain.convert("CMYK"))).all()


@pytest.mark.parametrize("kind", ["empty", "text", "truncated", "huge", "missing", "folder"])
def test_bad_files_are_named(folder: Path, tiny: FrameSet, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "bad.png"
    Image.fromarray(tiny.read([0])[0]).save(path)
    if kind == "huge":
        Image.new("1", (30_000, 30_000)).save(path)
    elif kind == "missing":
        path.unlink()
    elif kind == "folder":
        path.unlink()
        path.mkdir()
    else:
        path.write_bytes({"empty": b"", "text": b"hello", "truncated": path.read_bytes()[:200]}[kind])
    message = r"bad\.png has far too many pixels" if kind == "huge" else r"bad\.png"
    with pytest.raises(UserError, match=message):
        lie_ssl.from_pretrained(folder).embed([path])


def test_the_encoder_in_a_pipeline(folder: Path, tiny: FrameSet) -> None:
    rows = tiny.index.groupby("class").head(20).index
    pictures, names = tiny.read(rows), tiny.index["class"][rows].to_numpy()
    step = LieEmbedding(str(folder), batch=16)
    z = step.fit(pictures).transform(pictures)
    np.testing.assert_allclose(z, lie_ssl.load(folder).embed(pictures).numpy(), rtol=1e-4, atol=1e-5)
    assert step.get_feature_names_out()[-1] == "z127"
    assert clone(step).get_params() == {"run": str(folder), "which": "last", "batch": 16, "trust": ()}
    pipeline = make_pipeline(clone(step), LogisticRegression(max_iter=500)).fit(pictures, names)
    assert pipeline.score(pictures, names) > 0.9
    assert LieEmbedding(str(folder)).transform(list(map(Image.fromarray, pictures[:2]))).shape == (2, 128)
