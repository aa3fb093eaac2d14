"""Transfer to photographs: folder layouts, photographs that are left out, finetuning, choice of the rate, rotation."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import zipfile
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image

from lie_ssl.cli import main
from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.frames.listing import open_tree
from lie_ssl.frames.photoset import PhotoSet, TurnedPhotos, turned
from lie_ssl.protocol.finetune import FinetuneConfig
from lie_ssl.protocol.studies import PhotoTransfer
from lie_ssl.protocol.transfer import check_distinct, selection_score, split_photos, transfer, transfer_run
from lie_ssl.training.folder import read_run_card, write_run_card
from lie_ssl.training.loading import load
from lie_ssl.training.run import pretrain
from tests.training.tiny_runs import tiny_run

QUICK = PhotoTransfer(FinetuneConfig(steps=40, batch=16, rates=(1e-2, 1e-6), start="zero"))


def photograph(kind: int, seed: int, size: int = 16) -> bytes:
    """Horizontal or vertical stripes in noise."""
    noise = np.random.default_rng(seed).integers(0, 60, (size, size, 3))
    stripes = 180 * (np.arange(size) // 2 % 2)[:, None, None]
    values = noise + (stripes if kind == 0 else stripes.transpose(1, 0, 2))
    buffer = io.BytesIO()
    Image.fromarray(values.astype(np.uint8)).save(buffer, "png")
    return buffer.getvalue()


def photographs(path: Path, parts: tuple[str, ...] = ("train", "test"), count: int = 24) -> Path:
    with zipfile.ZipFile(path, "w") as z:
        for p, part in enumerate(parts):
            for kind, name in enumerate(("lying", "standing")):
                for i in range(count):
                    z.writestr(f"{part}/{name}/{i:03d}.png", photograph(kind, 1000 * p + 100 * kind + i))
    return path


@pytest.fixture(scope="module")
def run(tiny: FrameSet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pretrain(tiny_run(tiny, "mae", "lie", optim__steps=1), tmp_path_factory.mktemp("runs") / "mae_lie")


def test_a_transfer_learns_the_classes_and_chooses_the_rate(run: Path, tmp_path: Path) -> None:
    photos = PhotoSet(photographs(tmp_path / "stripes.zip"), 16)
    encoder = load(run).encoder
    before = {k: v.clone() for k, v in encoder.state_dict().items()}
    scores, rate = transfer(encoder, photos, QUICK)
    assert rate == 1e-2
    assert scores["upright"] > 0.9
    # Stripes rotated by a random angle are as likely to look like the other class.
    assert scores["rotated"] < scores["upright"]
    assert all(torch.equal(before[k], v) for k, v in encoder.state_dict().items())
    assert (scores, rate) == transfer(encoder, photos, QUICK)


def test_rows_are_added_once(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    photos = photographs(tmp_path / "stripes.zip")
    command = ["transfer", str(run), "--photos", str(photos), "--out", str(tmp_path / "out")]
    command += ["--finetune.steps", "3", "--finetune.rates", "1e-3"]
    main(command)
    output = capsys.readouterr().out
    assert "MAE Lie" in output
    assert "upright" in output
    table = pd.read_csv(tmp_path / "out" / "transfer.csv")
    assert table["test"].tolist() == ["upright", "rotated"]
    assert set(table["photos"]) == {"stripes"}
    assert table["frames"].tolist() == [48, 48]
    main(command)
    assert "is already done" in capsys.readouterr().out
    main([*command[:-2], "--finetune.rates", "1e-4"])  # rows with other settings are added
    again = pd.read_csv(tmp_path / "out" / "transfer.csv")
    assert again["rate"].tolist() == [1e-3, 1e-3, 1e-4, 1e-4]
    (tmp_path / "more").mkdir()
    photographs(tmp_path / "more" / "stripes.zip", count=20)  # the same name, other photographs
    capsys.readouterr()
    main([*command[:3], str(tmp_path / "more" / "stripes.zip"), *command[4:]])
    assert "is already done" not in capsys.readouterr().out
    assert len(pd.read_csv(tmp_path / "out" / "transfer.csv")) == 6


def test_two_runs_of_the_same_arm_and_seed_are_rejected(run: Path, tmp_path: Path) -> None:
    twin = tmp_path / "twin"
    shutil.copytree(run, twin)
    check_distinct([run])
    with pytest.raises(UserError, match=r"twin are both mae lie with seed 0; transfer them separately"):
        check_distinct([run, twin])


def test_a_run_that_is_not_finished(run: Path, tmp_path: Path) -> None:
    half = tmp_path / "half"
    shutil.copytree(run, half)
    write_run_card(half, read_run_card(half) | {"finished": False})
    with pytest.raises(UserError, match="is not finished"):
        transfer_run(half, photographs(tmp_path / "stripes.zip"), QUICK, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_class_without_training_photographs(tmp_path: Path) -> None:
    archive = photographs(tmp_path / "a.zip")
    with zipfile.ZipFile(archive, "a") as z:
        z.writestr("test/newcomer/0.png", photograph(0, 5))
    with pytest.raises(UserError, match="test photographs of newcomer, but none in train/"):
        PhotoSet(archive, 16)


def test_photographs_are_split_for_validation(tmp_path: Path) -> None:
    photos = PhotoSet(photographs(tmp_path / "a.zip"), 16)
    train, validation = split_photos(photos, 0.25, seed=0)
    assert (len(train), len(validation)) == (36, 12)
    assert not set(train) & set(validation)
    assert set(photos.rows("test")).isdisjoint([*train, *validation])
    assert set(validation) != set(split_photos(photos, 0.25, seed=1)[1])
    whole = PhotoSet(photographs(tmp_path / "b.zip", ("train", "val", "test")), 16)
    assert np.array_equal(split_photos(whole, 0.25, 0)[1], whole.rows("validation"))
    imagenet = PhotoSet(photographs(tmp_path / "c.zip", ("train", "val")), 16)
    train, validation = split_photos(imagenet, 0.25, 0)
    assert set(imagenet.rows("validation")).isdisjoint([*train, *validation])  # they are the test set
    with pytest.raises(UserError, match="give a share of the training part"):
        split_photos(photos, 0.0, 0)
    with pytest.raises(UserError, match="has no test photographs"):
        split_photos(PhotoSet(photographs(tmp_path / "d.zip", ("train",)), 16), 0.1, 0)


def old_split(photos: PhotoSet, share: float, seed: int) -> tuple[list[int], list[int]]:
    """The split of earlier versions, which could leave a class without training photographs."""
    order = np.random.default_rng([seed, *b"transfer"]).permutation(photos.rows("train"))
    count = max(1, round(share * len(order)))
    return sorted(order[count:].tolist()), sorted(order[:count].tolist())


@pytest.mark.parametrize("share", [0.02, 0.1, 0.5])
def test_the_split_is_the_old_one_if_every_class_keeps_a_photograph(tmp_path: Path, share: float) -> None:
    photos = PhotoSet(photographs(tmp_path / "a.zip"), 16)
    for seed in range(20):
        train, validation = (rows.tolist() for rows in split_photos(photos, share, seed))
        assert len(set(photos.labels[train])) == 2
        assert (train, validation) == old_split(photos, share, seed)


@pytest.mark.parametrize("share", [0.1, 0.9])
def test_every_class_keeps_a_training_photograph(tmp_path: Path, share: float) -> None:
    archive = photographs(tmp_path / "a.zip", count=6)
    with zipfile.ZipFile(archive, "a") as z:
        z.writestr("train/rare/0.png", photograph(0, 5))
    photos = PhotoSet(archive, 16)
    changed = 0
    for seed in range(40):
        before = old_split(photos, share, seed)
        train, validation = split_photos(photos, share, seed)
        assert set(photos.labels[train]) == {0, 1, 2}
        assert sorted([*train, *validation]) == photos.rows("train").tolist()
        if set(photos.labels[before[0]]) == {0, 1, 2}:
            assert (train.tolist(), validation.tolist()) == before
        else:
            changed += 1
            assert len(validation) == min(len(before[1]), 10)
    assert changed


def test_one_training_photograph_of_each_class_is_too_few(tmp_path: Path) -> None:
    photos = PhotoSet(photographs(tmp_path / "a.zip", count=1), 16)
    with pytest.raises(UserError, match="one training photograph of each class, so none is left"):
        split_photos(photos, 0.1, 0)


@pytest.mark.parametrize("fault", ["newcomer", "unreadable", "lonely"])
def test_a_class_that_cannot_be_learned_is_reported_before_training(
    run: Path, tmp_path: Path, fault: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = photographs(tmp_path / "a.zip", count=1 if fault == "lonely" else 4)
    with zipfile.ZipFile(archive, "a") as z:
        if fault != "lonely":
            z.writestr("test/newcomer/0.png", photograph(0, 5))
        if fault == "unreadable":
            z.writestr("train/newcomer/0.png", b"no picture")
    trained = []
    monkeypatch.setattr("lie_ssl.protocol.transfer.finetune", lambda *_: trained.append(1))
    with pytest.raises(SystemExit):
        main(["transfer", str(run), "--photos", str(archive), "--out", str(tmp_path / "out")])
    error = capsys.readouterr().err
    assert ("newcomer" in error) == (fault != "lonely")
    assert "Traceback" not in error
    assert not trained
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("fault", "words"),
    [("missing", "no run"), ("half", "is not finished"), ("broken", "last.ckpt"), ("exported", "is not a run")],
)
def test_a_second_run_that_cannot_be_transferred_is_reported_before_the_first_is_transferred(
    run: Path,
    tmp_path: Path,
    fault: str,
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    second = tmp_path / "second"
    if fault == "exported":
        load(run).save_pretrained(second)
    elif fault != "missing":
        shutil.copytree(run, second)
    if fault == "half":
        write_run_card(second, read_run_card(second) | {"finished": False})
    if fault == "broken":
        (second / "last.ckpt").unlink()
    trained = []
    monkeypatch.setattr("lie_ssl.protocol.transfer.finetune", lambda *_: trained.append(1))
    photos = photographs(tmp_path / "a.zip", count=4)
    with pytest.raises(SystemExit):
        main(["transfer", str(run), str(second), "--photos", str(photos), "--out", str(tmp_path / "out")])
    error = capsys.readouterr().err
    assert "second" in error
    assert words in error
    assert not trained


def test_rows_with_other_angles_have_other_settings(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    photos = photographs(tmp_path / "a.zip", count=4)
    config = PhotoTransfer(FinetuneConfig(steps=1, batch=4, rates=(1e-3,), start="zero"))
    with open_tree(photos) as tree:
        loaded = load(run)
        assert loaded.config is not None
        assert loaded.card is not None
        parts = [asdict(config), loaded.config.digest(), loaded.card["data"]["card_hash"], tree.stamp()]
    before = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]  # with angles by position
    found = transfer_run(run, photos, config, tmp_path / "out")
    assert before not in set(found["settings"])
    messages: list[str] = []
    transfer_run(run, photos, config, tmp_path / "out", messages.append)
    assert any("is already done" in words for words in messages)
    monkeypatch.setattr("lie_ssl.protocol.transfer.ANGLES", "by something else")
    messages.clear()
    transfer_run(run, photos, config, tmp_path / "out", messages.append)
    assert not any("is already done" in words for words in messages)


def test_the_selection_score_covers_all_rows(run: Path, tmp_path: Path) -> None:
    from lie_ssl.protocol.finetune import Classifier

    photos = PhotoSet(photographs(tmp_path / "a.zip", count=150), 16)
    model = Classifier(load(run).encoder, 2)
    torch.nn.init.normal_(model.linear.weight)
    rows = np.arange(300)
    with torch.no_grad():
        logits = model.eval()(torch.from_numpy(photos.read(rows)).permute(0, 3, 1, 2) / 255)
    labels = torch.from_numpy(photos.labels[rows])
    assert selection_score(model, photos, rows, "loss") == pytest.approx(
        float(torch.nn.functional.cross_entropy(logits, labels)), rel=1e-5
    )
    share = float((logits.argmax(1) == labels).double().mean())
    assert selection_score(model, photos, rows, "accuracy") == pytest.approx(-share)


def test_rotated_photographs_are_the_same_for_all_runs(tmp_path: Path) -> None:
    photos = PhotoSet(photographs(tmp_path / "a.zip"), 16)
    one, two = TurnedPhotos(photos), TurnedPhotos(photos)
    assert np.array_equal(one.read([3, 7]), two.read([3, 7]))
    assert np.array_equal(one.read([7])[0], one.read([3, 7])[1])
    assert not np.array_equal(one.read([3, 7]), TurnedPhotos(photos, seed=1).read([3, 7]))
    picture = np.zeros((9, 9, 3), np.uint8)
    picture[0, 4] = 255
    assert turned(picture, 90)[4, 0].tolist() == [255, 255, 255]  # counter-clockwise: the top moves to the left
    white = np.full((16, 16, 1), 255, np.uint8)
    assert turned(white, 45)[0, 0, 0] == 0
    assert turned(white, 45)[8, 8, 0] == 255


@pytest.mark.parametrize("wrapped", [False, True])
def test_tiny_imagenet(tmp_path: Path, wrapped: bool) -> None:
    root = "tiny-imagenet-200/" if wrapped else ""
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as z:
        for name in ("n01", "n02"):
            z.writestr(f"{root}train/{name}/images/{name}_0.png", photograph(0, 1))
        z.writestr(f"{root}val/images/val_0.png", photograph(0, 2))
        z.writestr(f"{root}val/images/val_1.png", photograph(0, 3))
        z.writestr(f"{root}val/val_annotations.txt", "val_0.png\tn02\t0\t0\t9\t9\nval_1.png\tn01\t0\t0\t9\t9\n")
    photos = PhotoSet(tmp_path / "t.zip", 16)
    assert photos.classes == ["n01", "n02"]
    assert photos.labels[photos.rows("validation")].tolist() == [1, 0]


def test_ilab_has_six_categories(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "ilab.zip", "w") as z:
        for part in ("train_img", "test_img"):
            for name in ("bus", "car", "heli", "monster", "plane", "tank", "ufo", "boat"):
                z.writestr(f"iLab/{part}/{name}-i0001-b0002-c03-r04-l0-f1.png", photograph(0, 1))
    photos = PhotoSet(tmp_path / "ilab.zip", 16)
    assert photos.classes == ["bus", "car", "heli", "monster", "plane", "tank"]
    assert (len(photos.rows("train")), len(photos.rows("test"))) == (6, 6)


def test_coil_is_split_by_angle(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "coil.zip", "w") as z:
        for thing in (1, 2):
            for frame in range(6):
                z.writestr(f"{thing}/obj{thing}__{frame}.png", photograph(0, frame))
    photos = PhotoSet(tmp_path / "coil.zip", 16, channels=1)
    assert photos.read([0]).shape == (1, 16, 16, 1)
    assert [photos.files[i].name[-5] for i in photos.rows("test")] == ["1", "3", "5"] * 2


def test_bad_photographs_are_reported_and_left_out(tmp_path: Path) -> None:
    root = tmp_path / "p"
    for part in ("train", "test"):
        for kind, name in enumerate(("lying", "standing")):
            (root / part / name).mkdir(parents=True)
            (root / part / name / "0.png").write_bytes(photograph(kind, 0))
    bad = {
        "empty.png": b"", "text.png": b"no picture", "cut.png": photograph(0, 1)[:100],
    }  # fmt: skip
    for name, data in bad.items():
        (root / "train" / "lying" / name).write_bytes(data)
    Image.new("1", (30_000, 30_000)).save(root / "train" / "lying" / "huge.png")
    odd = Image.fromarray(np.asarray(Image.open(io.BytesIO(photograph(0, 1)))))
    odd.convert("CMYK").save(root / "train" / "lying" / "cmyk.tiff")
    odd.convert("LA").save(root / "train" / "lying" / "alpha.png")
    photos = PhotoSet(root, 16)
    assert len(photos.files) == 6
    assert len(photos.dropped) == 4
    for name in (*bad, "huge.png"):
        assert any(f"train/lying/{name}" in words for words in photos.dropped)


def test_unknown_folder_layouts_are_rejected(tmp_path: Path) -> None:
    for name, files, words in [
        ("none", [], "has no pictures"),
        ("flat", ["a.png"], "is not in a folder train, val or test"),
        ("classless", ["train/a.png"], "is not in the folder of a class"),
        ("one", ["train/a/0.png"], "photographs of 1 class,"),
        ("untrained", ["test/a/0.png", "test/b/0.png"], "has no training photographs"),
    ]:
        with zipfile.ZipFile(tmp_path / f"{name}.zip", "w") as z:
            z.writestr("readme.txt", "hello")
            for file in files:
                z.writestr(file, photograph(0, 0))
        with pytest.raises(UserError, match=words):
            PhotoSet(tmp_path / f"{name}.zip", 16)
    with pytest.raises(UserError, match="there is no folder or zip"):
        PhotoSet(tmp_path / "nowhere", 16)
    with pytest.raises(UserError, match=r"--finetune\.start zero"):
        PhotoTransfer(FinetuneConfig())


def test_a_large_set_is_read_on_demand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = photographs(tmp_path / "a.zip")
    small = PhotoSet(path, 16)
    monkeypatch.setattr("lie_ssl.frames.photoset.MAX_BYTES", 1000)
    large = PhotoSet(path, 16)
    assert large._pictures is None
    assert np.array_equal(small.read([5, 1]), large.read([5, 1]))
