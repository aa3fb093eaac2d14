"""Photographs: folders, csv, COIL names, zips, and every kind of broken file."""

from __future__ import annotations

import io
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lie_ssl.cli import main
from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet, PhotoConfig, import_photographs, verify
from lie_ssl.frames.listing import list_photos, open_tree
from lie_ssl.frames.pictures import load_picture
from lie_ssl.frames.poses import rotation
from tests.refusals import refusal


def picture(seed: int, size: tuple[int, int] = (20, 20), mode: str = "RGB") -> bytes:
    channels = {"RGB": 3, "L": 1, "RGBA": 4, "CMYK": 4}[mode]
    values = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], channels)).astype(np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(values[..., 0] if channels == 1 else values, mode).save(buffer, "tiff" if mode == "CMYK" else "png")
    return buffer.getvalue()


def turntable(root: Path, classes: tuple[str, ...] = ("cup", "toy"), instances: int = 2) -> Path:
    for c, name in enumerate(classes):
        for i in range(instances):
            folder = root / name / f"thing{i}"
            folder.mkdir(parents=True)
            for angle in (0, 45, 90, 350):
                (folder / f"view2_{angle:03d}.png").write_bytes(picture(1000 * c + 100 * i + angle))
    return root


def load(root: Path, out: Path, **settings: object) -> FrameSet:
    return import_photographs(PhotoConfig(path=str(root), size=20, **settings), out)  # type: ignore[arg-type]


def test_folders_with_angles_in_the_names(tmp_path: Path) -> None:
    frames = load(turntable(tmp_path / "p"), tmp_path / "d", licence="CC0")
    assert len(frames) == 16
    assert frames.classes == ["cup", "toy"]
    one = frames.index[(frames.index["class"] == "toy") & (frames.index["instance"] == "thing1")]
    assert one["angle"].tolist() == [0, 45, 90, 350]
    assert set(one["pose"]) == {"yaw"}
    assert set(one["licence"]) == {"CC0"}
    assert np.array(one["rotation"].iloc[2]).reshape(3, 3) == pytest.approx(rotation("yaw", 90), abs=1e-6)
    expected = np.asarray(Image.open(tmp_path / "p" / "toy" / "thing1" / "view2_090.png"))
    assert np.array_equal(frames.read([one.index[2]])[0], expected)
    assert verify(tmp_path / "d") == []
    assert frames.card["config"]["angles"] == ""  # None, as older versions wrote it, so that hashes stay the same


def test_angles_in_a_csv(tmp_path: Path) -> None:
    root = turntable(tmp_path / "p", ("cup",), 1)
    table = tmp_path / "angles.csv"
    table.write_text("file,angle\n" + "".join(f"cup/thing0/view2_{a:03d}.png,{-a / 2}\n" for a in (0, 45, 90, 350)))
    frames = load(root, tmp_path / "d", angles=str(table))
    assert frames.index["angle"].tolist() == [0, 185, 315, 337.5]
    table.write_text("file,angle\ncup/thing0/view2_000.png,ninety\n")
    with pytest.raises(UserError, match="line 2: the angle 'ninety' is not a number"):
        load(root, tmp_path / "e", angles=str(table))
    table.write_text("file,angle\ncup/thing0/view2_000.png,nan\n")
    with pytest.raises(UserError, match="is not a number"):
        load(root, tmp_path / "e", angles=str(table))
    table.write_text("name,degrees\n")
    with pytest.raises(UserError, match="needs the columns file and angle"):
        load(root, tmp_path / "e", angles=str(table))
    table.write_text("file,angle\ncup/thing0/view2_000.png,0\n")
    with pytest.raises(UserError, match="has no angle for cup/thing0/view2_045"):
        load(root, tmp_path / "e", angles=str(table))
    assert not (tmp_path / "e").exists()


@pytest.mark.parametrize(("numbers", "angles"), [((0, 1, 71), (0, 5, 355)), ((0, 5, 355), (0, 5, 355))])
def test_coil_names(tmp_path: Path, numbers: tuple[int, ...], angles: tuple[int, ...]) -> None:
    archive = tmp_path / "coil.zip"
    with zipfile.ZipFile(archive, "w") as z:
        z.writestr("readme.txt", "hello")
        for thing in (1, 12):
            for n in numbers:
                z.writestr(f"{thing}/obj{thing}__{n}.png", picture(n + thing, mode="L"))
    frames = load(archive, tmp_path / "d", grey=True)
    assert frames.classes == ["obj001", "obj012"]
    assert frames.index["angle"].tolist() == [-a % 360 for a in (*angles, *angles)]  # counter-clockwise, as in renders
    assert set(frames.index["pose"]) == {"yaw"}
    assert frames.read([0]).shape == (1, 20, 20, 1)
    old = load(archive, tmp_path / "old", grey=True, pose="3d")
    assert old.index["angle"].tolist() == [*angles, *angles]


def test_turntables_can_be_imported_as_in_the_first_version(tmp_path: Path) -> None:
    frames = load(turntable(tmp_path / "p"), tmp_path / "d", pose="3d")
    assert set(frames.index["pose"]) == {"3d"}
    assert frames.index["angle"].tolist()[:4] == [0, 45, 90, 350]
    quarter = np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0]])  # about the y axis of the camera
    assert np.array(frames.index["rotation"].iloc[2]).reshape(3, 3) == pytest.approx(quarter, abs=1e-6)


def test_the_kind_of_pose_of_photographs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    turntable(tmp_path / "p")
    command = ["data", "import", str(tmp_path / "p"), "--size", "20", "--out"]
    main([*command, str(tmp_path / "d"), "--pose", "2d"])
    frames = FrameSet(tmp_path / "d")
    assert set(frames.index["pose"]) == {"2d"}
    assert np.array(frames.index["rotation"].iloc[1]).reshape(3, 3) == pytest.approx(rotation("2d", 45), abs=1e-6)
    capsys.readouterr()
    error = refusal(capsys, *command, tmp_path / "e", "--pose", "so3")
    assert "pose is 'so3', but photographs can have 2d, 3d, yaw" in error
    assert "pose is 2d there and yaw here" in refusal(capsys, *command, tmp_path / "d")  # nothing is overwritten


def test_a_zip_cannot_write_outside_its_folder(tmp_path: Path) -> None:
    archive = tmp_path / "in" / "evil.zip"
    archive.parent.mkdir()
    with zipfile.ZipFile(archive, "w") as z:
        z.writestr("../../cup/a/0.png", picture(1))
    before = sorted(p for p in tmp_path.rglob("*"))
    with pytest.raises(UserError, match=r"evil\.zip has a file \.\./\.\./cup/a/0\.png, which leads out of it"):
        load(archive, tmp_path / "d")
    assert sorted(p for p in tmp_path.rglob("*")) == before


def test_a_damaged_file_in_a_zip_is_named(tmp_path: Path) -> None:
    archive = tmp_path / "photos.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as z:
        for angle in (0, 90, 180):
            z.writestr(f"cup/a/{angle}.png", bytes(5000) + picture(angle))
        place = z.getinfo("cup/a/90.png").header_offset + 60
    data = bytearray(archive.read_bytes())
    data[place : place + 20] = b"\xff" * 20
    archive.write_bytes(data)
    with pytest.raises(
        UserError, match=r"no file in .*photos\.zip can be read \(cup/a/0\.png: cannot read the picture"
    ):
        load(archive, tmp_path / "d")
    with pytest.raises(UserError, match=r"cannot read cup/a/90\.png in .*photos\.zip"), open_tree(archive) as tree:
        tree.read("cup/a/90.png")


def test_the_folder_of_a_failed_import_can_be_used_again(tmp_path: Path) -> None:
    (tmp_path / "bad" / "cup" / "a").mkdir(parents=True)
    (tmp_path / "bad" / "cup" / "a" / "0.png").write_bytes(b"")
    with pytest.raises(UserError, match=r"no file in .*bad can be read"):
        load(tmp_path / "bad", tmp_path / "d")
    assert len(load(turntable(tmp_path / "p"), tmp_path / "d")) == 16


@pytest.mark.parametrize(
    ("name", "angle"), [("v-030", 30), ("2-30", 30), ("v_-30", 330), ("-30", 330), ("a1_b12.5", 12.5), ("é-90", 90)]
)
def test_a_hyphen_after_a_word_is_not_a_minus(tmp_path: Path, name: str, angle: float) -> None:
    (tmp_path / "cup" / "a").mkdir(parents=True)
    (tmp_path / "cup" / "a" / f"{name}.png").write_bytes(picture(1))
    with open_tree(tmp_path) as tree:
        assert [p.angle for p in list_photos(tree)] == [angle]


@pytest.mark.parametrize("kind", ["truncated", "empty", "text"])
@pytest.mark.parametrize("strict", [False, True])
def test_broken_pictures_are_named(tmp_path: Path, kind: str, strict: bool) -> None:
    root = turntable(tmp_path / "p")
    whole = picture(0)
    broken = {"truncated": whole[: len(whole) // 2], "empty": b"", "text": b"this is not a picture"}[kind]
    (root / "cup" / "thing0" / "view2_045.png").write_bytes(broken)
    config = PhotoConfig(path=str(root), size=20)
    if strict:
        with pytest.raises(UserError, match=r"cup/thing0/view2_045\.png"):
            import_photographs(config, tmp_path / "d", strict=True)
        assert not (tmp_path / "d" / "card.json").exists()
    else:
        frames = import_photographs(config, tmp_path / "d")
        assert len(frames) == 15
        assert [d["key"] for d in frames.card["dropped"]] == ["cup/thing0/view2_045.png"]


def test_an_instance_without_a_readable_picture_is_dropped(tmp_path: Path) -> None:
    root = turntable(tmp_path / "p")
    for path in (root / "toy" / "thing1").iterdir():
        path.write_bytes(b"")
    frames = load(root, tmp_path / "d")
    assert len(frames) == 12
    assert "toy/thing1" in [d["key"] for d in frames.card["dropped"]]
    for path in root.rglob("*.png"):
        path.write_bytes(b"")
    with pytest.raises(UserError, match=r"no file in .* can be read \(cup"):
        load(root, tmp_path / "e")


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ([], "has no pictures"),
        (["notes.txt"], "has no pictures"),
        (["a.png"], "is not in class/instance"),
        (["cup/a/front.png"], "has no angle; rename it"),
    ],
)
def test_invalid_folder_structures(tmp_path: Path, files: list[str], message: str) -> None:
    (tmp_path / "p").mkdir()
    for name in files:
        path = tmp_path / "p" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(picture(0))
    with pytest.raises(UserError, match=message):
        load(tmp_path / "p", tmp_path / "d")
    assert not (tmp_path / "d").exists()


def test_missing_and_unreadable_sources(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no folder or zip"):
        load(tmp_path / "none", tmp_path / "d")
    (tmp_path / "x.zip").write_bytes(b"nonsense")
    with pytest.raises(UserError, match="neither a folder nor a readable zip"):
        load(tmp_path / "x.zip", tmp_path / "d")


def test_equal_pictures_are_stored_once(tmp_path: Path) -> None:
    root = turntable(tmp_path / "p", ("cup",), 1)
    (root / "cup" / "thing0" / "view2_350.png").write_bytes((root / "cup" / "thing0" / "view2_045.png").read_bytes())
    frames = load(root, tmp_path / "d")
    assert frames.index["duplicate_of"].fillna(-1).tolist() == [-1, -1, -1, 1]
    assert np.array_equal(*frames.read([1, 3]))


@pytest.mark.parametrize("mode", ["RGB", "L", "RGBA", "CMYK"])
def test_every_kind_of_picture_becomes_a_square(mode: str) -> None:
    for shape in ((40, 20), (20, 40), (7, 7)):
        assert load_picture(picture(0, shape, mode), "x", 16).shape == (16, 16, 3)
        assert load_picture(picture(0, shape, mode), "x", 16, grey=True).shape == (16, 16, 1)


def test_transparency_is_white_16_bits_are_scaled_and_exif_is_applied() -> None:
    clear = io.BytesIO()
    Image.new("RGBA", (8, 8), (255, 0, 0, 0)).save(clear, "png")
    assert (load_picture(clear.getvalue(), "x", 8) == 255).all()
    deep = io.BytesIO()
    Image.fromarray(np.full((8, 8), 32768, np.uint16)).save(deep, "png")
    assert (load_picture(deep.getvalue(), "x", 8) == 127).all()
    turned = io.BytesIO()
    image = Image.new("RGB", (8, 8), "black")
    image.paste("white", (0, 0, 8, 4))
    exif = image.getexif()
    exif[0x0112] = 3  # upside down
    image.save(turned, "jpeg", exif=exif, quality=95)
    frame = load_picture(turned.getvalue(), "x", 8)
    assert frame[:3].max() < 60
    assert frame[5:].min() > 200


def test_a_huge_picture_is_rejected() -> None:
    data = bytearray(picture(0, (10, 10)))
    data[16:24] = struct.pack(">II", 30000, 30000)  # the size in the PNG header
    with pytest.raises(UserError, match=r"30000 x 30000|cannot read"):
        load_picture(bytes(data), "big.png", 16)
