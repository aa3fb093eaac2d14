"""Clips through a real encoder and decoder: frames that are kept or left out, and broken files of every kind."""

from __future__ import annotations

import math
import wave
import zipfile
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from numpy.typing import NDArray

from lie_ssl.cli import main
from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet, PairSampler, VideoConfig, import_video, verify
from lie_ssl.frames.export import export_image_folder
from lie_ssl.frames.video import sampled
from lie_ssl.objects.shapes.registry import make_instance
from lie_ssl.render import RenderSettings, View, render
from lie_ssl.render.view import axis_rotation

Pictures = NDArray[np.uint8]


def rotating(name: str, count: int = 20, instance: int = 0, size: int = 48) -> Pictures:
    """Renders of one object, 6 degrees apart."""
    mesh, _ = make_instance(name, instance)
    views = [View(axis_rotation(1, 6.0 * i)) for i in range(count)]
    return render(mesh, views, RenderSettings(size=size, supersample=1))


def write(path: Path, pictures: Sequence[Pictures] | Pictures, rate: int = 10, codec: str = "mpeg4") -> Path:
    """Writes a clip, 10 frames per second by default."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=rate)
        assert isinstance(stream, av.VideoStream)
        stream.height, stream.width = pictures[0].shape[:2]
        stream.pix_fmt = "yuv420p"
        stream.bit_rate = 4_000_000
        for picture in pictures:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode())
    return path


def load(root: Path, out: Path, **settings: object) -> FrameSet:
    return import_video(VideoConfig(path=str(root), size=48, **settings), out)  # type: ignore[arg-type]


def test_frames_have_the_rate_and_the_pictures_of_the_clip(tmp_path: Path) -> None:
    pictures = rotating("mug")
    write(tmp_path / "v" / "mug" / "blue.mp4", pictures)
    write(tmp_path / "v" / "chair" / "old.mkv", rotating("chair"))
    frames = load(tmp_path / "v", tmp_path / "d", rate=5.0, unit=2.0, licence="CC0")
    assert frames.classes == ["chair", "mug"]
    own = frames.index[frames.index["class"] == "mug"]
    assert set(own["instance"]) == {"blue"}
    assert set(own["pose"]) == {"time"}
    # Every second frame at 10 per second, so 0.2 seconds apart; 2 seconds are one radian.
    assert np.radians(own["angle"].to_numpy()) == pytest.approx(0.1 * np.arange(10), abs=1e-3)
    shown = frames.read(own.index).astype(float)
    assert np.abs(shown - pictures[::2]).mean() < 8  # of 255, the loss of the codec
    assert verify(tmp_path / "d") == []


def test_delta_is_the_time_between_two_frames_and_is_never_wrapped(tmp_path: Path) -> None:
    for i in range(3):
        write(tmp_path / "v" / f"clip{i}.mp4", rotating("mug", 30, i))
    frames = load(tmp_path / "v", tmp_path / "d", rate=10.0, unit=0.25)
    assert frames.classes == ["unlabelled"]
    sampler = PairSampler(frames.index, batch_size=2, diverse=1.0, passes=20)
    deltas = np.concatenate([b.delta[:, 0] for b in sampler])
    between = np.concatenate([
        frames.index["angle"].to_numpy()[b.second] - frames.index["angle"].to_numpy()[b.first] for b in sampler
    ])  # fmt: skip
    assert deltas == pytest.approx(np.radians(between), rel=1e-5)
    assert np.abs(deltas).max() > math.pi


def test_the_longest_shot_between_cuts_is_kept(tmp_path: Path) -> None:
    clip = np.concatenate([rotating("mug", 6), rotating("car", 16), rotating("sofa", 8)])
    write(tmp_path / "v" / "a" / "x.mp4", clip)
    write(tmp_path / "v" / "b" / "y.mp4", rotating("car", 16))
    frames = load(tmp_path / "v", tmp_path / "d", rate=10.0)
    found = frames.read(frames.index[frames.index["class"] == "a"].index).astype(float)
    assert len(found) == 16
    assert np.abs(found - clip[6:22]).mean() < 8
    (note,) = frames.card["dropped"]
    assert note["key"] == "a part of a/x.mp4"
    assert "2 cuts: 14 of 30 frames" in note["why"]


def test_time_stops_while_nothing_moves(tmp_path: Path) -> None:
    pictures = rotating("mug", 10)
    clip = np.concatenate([pictures[:5], np.repeat(pictures[4:5], 12, axis=0), pictures[5:]])
    write(tmp_path / "v" / "x.mp4", clip)
    write(tmp_path / "v" / "y.mp4", rotating("car", 10))
    frames = load(tmp_path / "v", tmp_path / "d", rate=10.0)
    own = frames.index[frames.index["instance"] == "x"]
    # A key frame of the codec may look like a small move: at most one more frame.
    assert 10 <= len(own) <= 11
    assert np.radians(own["angle"].to_numpy()) == pytest.approx(0.1 * np.arange(len(own)), abs=1e-3)


def test_a_clip_of_a_phone_in_portrait_mode(tmp_path: Path) -> None:
    pictures = np.zeros((8, 32, 64, 3), np.uint8)
    for i, picture in enumerate(pictures):
        picture[:, : 20 + 4 * i] = 255  # white from the left
    path = write(tmp_path / "v" / "x.mp4", pictures)
    # The 3 x 3 matrix of the track, in 16.16 fixed point: stored in landscape, to be shown rotated by 90 degrees.
    data = bytearray(path.read_bytes())
    plain = bytes.fromhex("00010000" + "00000000" * 3 + "00010000" + "00000000" * 3 + "40000000")
    turned = bytes.fromhex("00000000" + "00010000" + "00000000" + "ffff0000" + "00000000" * 4 + "40000000")
    place = data.index(plain, data.index(b"tkhd"))
    data[place : place + 36] = turned
    path.write_bytes(data)
    write(tmp_path / "v" / "y.mp4", rotating("car", 10))
    frames = load(tmp_path / "v", tmp_path / "d", rate=10.0)
    shown = frames.read(frames.index[frames.index["instance"] == "x"].index)[0]
    # As in a video player: 32 wide and 64 high, white from the top.
    assert shown[4, 24].min() > 200
    assert shown[40, 24].max() < 60


def broken(kind: str, path: Path) -> None:
    whole = write(path, rotating("mug", 10))
    if kind == "empty":
        whole.write_bytes(b"")
    elif kind == "text":
        whole.write_text("this is not a clip")
    elif kind == "truncated":
        whole.write_bytes(whole.read_bytes()[:200])
    elif kind in ("damaged", "half"):
        clip = write(path.with_suffix(".mkv"), rotating("mug", 40), codec="libx264")
        data = bytearray(clip.read_bytes())
        with av.open(str(clip)) as container:
            packet = bytes(list(container.demux(video=0))[20])
        clip.unlink()
        # From the start of a packet; further in, the decoder may accept any bytes as a picture.
        begin = data.index(packet)
        data[begin : begin + 200] = bytes(200)
        path.write_bytes(data if kind == "damaged" else data[: len(data) // 2])
    elif kind == "still":
        write(path, np.repeat(rotating("mug", 1), 10, axis=0))
    elif kind == "sound":
        sound = path.with_suffix(".wav")
        with wave.open(str(sound), "wb") as w:
            w.setparams((1, 2, 8000, 0, "NONE", ""))
            w.writeframes(bytes(16000))
        sound.rename(path)
    elif kind == "sizes":
        # Two concatenated MPEG-2 streams: a valid file whose pictures change size.
        first = write(path.with_suffix(".mpg"), rotating("mug", 6), rate=25, codec="mpeg2video").read_bytes()
        second = write(path.with_suffix(".mpg"), rotating("mug", 6, size=64), rate=25, codec="mpeg2video").read_bytes()
        path.with_suffix(".mpg").unlink()
        path.write_bytes(first + second)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("empty", "cannot read the clip"), ("text", "cannot read the clip"), ("truncated", "cannot read the clip"),
        ("damaged", "cannot read the clip"), ("half", "ends after"),
        ("still", "shows no movement"), ("sound", "has no video stream"), ("sizes", "changes its size"),
    ],
)  # fmt: skip
def test_unusable_clips_are_named_and_the_others_are_kept(tmp_path: Path, kind: str, message: str) -> None:
    write(tmp_path / "v" / "cup" / "good.mp4", rotating("mug"))
    write(tmp_path / "v" / "car" / "good.mp4", rotating("car"))
    broken(kind, tmp_path / "v" / "cup" / "bad.mp4")
    frames = load(tmp_path / "v", tmp_path / "d")
    assert set(frames.index["instance"]) == {"good"}
    (note,) = frames.card["dropped"]
    assert note["key"] == "cup/bad.mp4"
    assert message in note["why"]
    assert "cup/bad.mp4" in note["why"]
    with pytest.raises(UserError, match="bad"):
        import_video(VideoConfig(path=str(tmp_path / "v"), size=48), tmp_path / "e", strict=True)
    assert not (tmp_path / "e" / "card.json").exists()


def test_a_zip_of_clips(tmp_path: Path) -> None:
    clip = write(tmp_path / "x.mp4", rotating("mug")).read_bytes()
    other = write(tmp_path / "y.mp4", rotating("car")).read_bytes()
    with zipfile.ZipFile(tmp_path / "clips.zip", "w") as z:
        z.writestr("cup/one.mp4", clip)
        z.writestr("cup/monday/two.mp4", other)
    frames = load(tmp_path / "clips.zip", tmp_path / "d")
    assert len(frames) == 20
    assert set(frames.index["instance"]) == {"one", "monday/two"}
    export_image_folder(frames, tmp_path / "e")
    assert len(list((tmp_path / "e").glob("*/cup/*.png"))) == 20
    assert sorted(p.name for p in tmp_path.iterdir()) == ["clips.zip", "d", "e", "x.mp4", "y.mp4"]


def test_a_zip_with_a_name_that_points_outside(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "evil.zip", "w") as z:
        z.writestr("../../evil.mp4", write(tmp_path / "x.mp4", rotating("mug", 4)).read_bytes())
    with pytest.raises(UserError, match=r"evil\.zip has a file \.\./\.\./evil\.mp4, which leads out of it"):
        load(tmp_path / "evil.zip", tmp_path / "d")


def test_a_late_start_and_a_gap_add_no_frames(tmp_path: Path) -> None:
    times = [1.5, 1.6, 1.7, 1.8, 1.9, 2.0, 2.5, 4.1, 4.2, 4.3, 4.4, 4.5, 4.6]
    path = tmp_path / "late.mkv"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=10)
        stream.height = stream.width = 48
        stream.pix_fmt = "yuv420p"
        for time, picture in zip(times, rotating("mug", len(times)), strict=True):
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts, frame.time_base = round(time * 10), Fraction(1, 10)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    config = VideoConfig(path="", size=48, rate=2.0)
    found = [m.time for m in sampled(path.read_bytes(), "late.mkv", config)]
    assert np.array(found) - found[0] == pytest.approx([0, 0.5, 1.0, 2.6, 3.0], abs=1e-3)


def test_invalid_collections_of_clips(tmp_path: Path) -> None:
    (tmp_path / "v").mkdir()
    with pytest.raises(UserError, match="has no clips"):
        load(tmp_path / "v", tmp_path / "d")
    (tmp_path / "v" / "a.mp4").write_bytes(b"")
    with pytest.raises(UserError, match=r"no file in .*v can be read \(a.mp4: cannot read the clip a.mp4"):
        load(tmp_path / "v", tmp_path / "d")
    (tmp_path / "v" / "a.mov").write_bytes(b"")
    with pytest.raises(UserError, match=r"2 clips in .* are called unlabelled/a"):
        load(tmp_path / "v", tmp_path / "e")
    (tmp_path / "v" / "cup").mkdir()
    (tmp_path / "v" / "cup" / "b.mp4").write_bytes(b"")
    with pytest.raises(UserError, match=r"a.mov in .* is not in the folder of a class"):
        load(tmp_path / "v", tmp_path / "e")
    with pytest.raises(UserError, match="rate and unit"):
        VideoConfig(path="v", rate=0)
    assert not (tmp_path / "e").exists()


@pytest.mark.parametrize("arm", ["alone", "lie"])
def test_unlabelled_clips_can_be_used_for_pretraining_but_not_for_evaluation(
    tmp_path: Path, arm: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for i in range(4):
        write(tmp_path / "v" / f"clip{i}.mp4", rotating("mug", 12, i))
    load(tmp_path / "v", tmp_path / "d", rate=10.0)
    words = f"--data {tmp_path / 'd'} --out {tmp_path / 'run'} --optim.steps 2 --optim.batch 4 --log.no-tensorboard"
    main(["pretrain", "mae", arm, *words.split()])
    assert "the run is finished" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["evaluate", str(tmp_path / "run"), "--proportions", "0.5"])
    assert "has a single class (unlabelled), but an evaluation needs two or more" in capsys.readouterr().err


def test_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "v" / "one.mp4", rotating("mug"))
    write(tmp_path / "v" / "two.mp4", rotating("car"))
    main(["data", "import", str(tmp_path / "v"), "--video", "--out", str(tmp_path / "d"), "--size", "32"])
    assert "20 frames of 2 instances in 1 class," in capsys.readouterr().out
