"""Angles derived from the contents of files, and classes without training photographs."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lie_ssl.errors import UserError
from lie_ssl.frames import photoset
from lie_ssl.frames.listing import FolderTree, ZipTree
from lie_ssl.frames.photoset import PhotoSet, TurnedPhotos, angle_of


def noise(seed: int) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(np.random.default_rng(seed).integers(0, 256, (12, 12, 3)).astype(np.uint8)).save(buffer, "png")
    return buffer.getvalue()


def folder(root: Path, files: Mapping[str, bytes]) -> Path:
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    return root


def archive(path: Path, files: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as z:
        for name, data in files.items():
            z.writestr(name, data)
    return path


@pytest.fixture(params=[4 << 30, 100], ids=["whole", "lazy"])
def _most(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(photoset, "MAX_BYTES", request.param)


def test_two_layouts_of_the_same_photographs_have_equal_angles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = {f"{p}/{c}/{i}.png": noise(100 * (p == "test") + 10 * (c == "b") + i)
             for p in ("train", "test") for c in ("a", "b") for i in range(4)}  # fmt: skip
    # Other folders, other names in another order, and more training pictures.
    other = {f"set/v2/{n[: n.rindex('/')]}/x{9 - int(n[-5])}.png": data for n, data in plain.items()}
    other |= {f"set/v2/train/a/more{i}.png": noise(1000 + i) for i in range(5)}
    first = PhotoSet(folder(tmp_path / "first", plain), 12)
    second = PhotoSet(archive(tmp_path / "second.zip", other), 12)
    monkeypatch.setattr(photoset, "MAX_BYTES", 100)
    lazy = PhotoSet(tmp_path / "second.zip", 12)
    assert lazy._pictures is None
    pairs = [(i, j) for i in first.rows("test") for j in second.rows("test")
             if np.array_equal(first.read([i]), second.read([j]))]  # fmt: skip
    assert len(pairs) == 8
    assert any(i != j for i, j in pairs)
    rows, places = ([p[k] for p in pairs] for k in (0, 1))
    turned = TurnedPhotos(first).read(rows)
    assert np.array_equal(turned, TurnedPhotos(second).read(places))
    assert np.array_equal(turned, TurnedPhotos(lazy).read(places))
    assert not np.array_equal(turned, TurnedPhotos(first, seed=1).read(rows))
    assert not any(np.array_equal(a, b) for a, b in zip(turned, first.read(rows), strict=True))
    digests = [s.read_with_digests(r)[1] for s, r in ((first, rows), (second, places), (lazy, places))]
    assert digests[0] == digests[1] == digests[2]


def test_angles_are_uniform() -> None:
    angles = np.array([angle_of(i.to_bytes(32, "big")) for i in range(4000)])
    assert angles.min() >= 0
    assert angles.max() < 360
    counts = np.histogram(angles, 10, (0, 360))[0]
    assert abs(counts - 400).max() < 80  # four standard deviations
    assert angle_of(b"\x00" * 32) == angle_of(b"\x00" * 32)
    assert angle_of(b"\x00" * 32) != angle_of(b"\x00" * 32, seed=1)


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize(
    ("files", "message"),
    [
        (("train/a/0.png", "train/b/0.png", "test/c/0.png"), "test photographs of c, but none .* train/c/"),
        (("train/a/0.png", "train/b/0.png"), "has no test photographs"),
        (("train/a/0.png", "test/a/0.png"), "photographs of 1 class,"),
        (("test/a/0.png", "test/b/0.png"), "has no training photographs"),
    ],
)
def test_missing_classes_are_found_before_anything_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: tuple[str, ...], message: str, zipped: bool
) -> None:
    given = {name: noise(0) for name in files}
    path = archive(tmp_path / "a.zip", given) if zipped else folder(tmp_path / "a", given)

    def read(*_: object) -> bytes:
        raise AssertionError("a picture was read")

    monkeypatch.setattr(FolderTree, "read", read)
    monkeypatch.setattr(ZipTree, "read", read)
    with pytest.raises(UserError, match=message):
        PhotoSet(path, 12)


@pytest.mark.usefixtures("_most")
@pytest.mark.parametrize("tested", [True, False])
def test_a_class_without_a_readable_training_photograph(tmp_path: Path, tested: bool) -> None:
    files = {f"{p}/{c}/{i}.png": noise(i) for p in ("train", "test") for c in ("a", "b") for i in range(2)}
    broken = {"train/c/0.png": b"no picture", "train/c/1.png": noise(0)[:60]}
    more = {"test/c/0.png": noise(7)} if tested else {}
    with pytest.raises(
        UserError, match=r"no training photograph of c that can be read \(.*train/c/0\.png.*\); replace"
    ):
        PhotoSet(folder(tmp_path / "bad", files | broken | more), 12)
    photos = PhotoSet(folder(tmp_path / "good", files | broken | more | {"train/c/2.png": noise(8)}), 12)
    assert photos.classes == ["a", "b", "c"]
    assert photos.labels.max() == 2
