"""Kinds of pose: the properties of all, turntable poses, and the poses of data sets made before there was yaw."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from lie_ssl.errors import UserError
from lie_ssl.frames import DataConfig, FrameSet, PairSampler, make_frames
from lie_ssl.frames.factors import wrapped
from lie_ssl.frames.figures import draw_figures
from lie_ssl.frames.kinds import ANGLE_KINDS, KINDS, RENDERED_KINDS
from lie_ssl.frames.pairs import Deltas, pose_kinds
from lie_ssl.frames.poses import Pose, geodesic, instance_poses, rotation
from lie_ssl.objects.mesh import Mesh
from lie_ssl.objects.shapes import make_instance
from lie_ssl.protocol.schema import POSES
from lie_ssl.render import RenderSettings, View, render
from lie_ssl.render.view import typical_view
from tests.conftest import tiny_config

ANGLES = st.floats(-720, 720)
FACTORS = {"hue": (-40.0, 40.0), "elevation": (-10.0, 20.0)}
# Hashes of poses that were made before there was yaw.
OLD_POSES = [
    (DataConfig(step=30.0, repeats=2, ranges=FACTORS), "e33dd51bdde2"),
    (DataConfig(step=4.0), "40ea483916e6"),
    (DataConfig(poses=("2d", "so3"), step=60.0, rotations=8, ranges={"scale": (0.5, 1.0)}), "5d7eb68900ae"),
]


@pytest.fixture(scope="module")
def turned(tmp_path_factory: pytest.TempPathFactory) -> FrameSet:
    config = tiny_config(poses=("2d", "3d", "yaw"))
    return make_frames(config, tmp_path_factory.mktemp("data") / "turned", workers=1)


def about_y(mesh: Mesh, degrees: float) -> Mesh:
    """The mesh, turned counter-clockwise (seen from above) about its upright axis, written out by hand."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))

    def turn(points: NDArray[np.float32]) -> NDArray[np.float32]:
        x, y, z = np.moveaxis(points.astype(np.float64), -1, 0)
        return np.stack([c * x + s * z, y, c * z - s * x], axis=-1).astype(np.float32)

    return replace(mesh, vertices=turn(mesh.vertices), normals=turn(mesh.normals))


def digest(poses: list[Pose]) -> str:
    lines = [
        f"{p.kind} {p.angle:.6f} {[round(float(x), 6) + 0.0 for x in p.rotation.reshape(-1)]} "
        f"{sorted((k, round(v, 6)) for k, v in p.values.items())} {p.duplicate_of}"
        for p in poses
    ]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]


@pytest.mark.parametrize("name", KINDS)
def test_every_kind(name: str) -> None:
    kind = KINDS[name]
    assert kind.name == name
    assert POSES.title_of(name) == kind.title
    assert POSES.short_of(name) == kind.short
    assert kind.about
    assert (name in RENDERED_KINDS) == (name in ANGLE_KINDS or kind.free)
    if name not in ANGLE_KINDS:
        with pytest.raises(ValueError, match="does not determine its rotation"):
            rotation(name, 30.0)


@pytest.mark.parametrize("name", ANGLE_KINDS)
@given(angle=ANGLES, elevation=st.floats(-60, 60))
def test_kinds_with_an_angle(name: str, angle: float, elevation: float) -> None:
    matrix = rotation(name, angle, elevation)
    assert matrix @ matrix.T == pytest.approx(np.eye(3))
    assert np.linalg.det(matrix) == pytest.approx(1)
    assert rotation(name, 0.0, elevation) == pytest.approx(np.eye(3))
    assert KINDS[name].periodic
    assert rotation(name, angle + 360, elevation) == pytest.approx(matrix)


def test_titles_and_colours_are_distinct() -> None:
    assert list(POSES.categories) == ["2d", "3d", "yaw", "so3", "time", "2d - 3d"]
    assert POSES.title_of("yaw") == "turntable poses"
    assert POSES.short_of("unheard of") == "unheard of"
    for values in ([k.title for k in KINDS.values()], [c for k in KINDS.values() for c in k.colours]):
        assert len(set(values)) == len(values)


@given(ANGLES, ANGLES)
def test_yaws_add_up(first: float, second: float) -> None:
    assert rotation("yaw", first) @ rotation("yaw", second) == pytest.approx(rotation("yaw", first + second), abs=1e-6)


@given(ANGLES, st.floats(-60, 60))
def test_the_upright_axis_stays(angle: float, elevation: float) -> None:
    up = typical_view(elevation) @ [0, 1, 0]
    assert rotation("yaw", angle, elevation) @ up == pytest.approx(up)
    assert np.radians(geodesic(rotation("yaw", angle))) == pytest.approx(abs(float(wrapped(np.array(angle)))), abs=1e-5)


@pytest.mark.parametrize("elevation", [0.0, -15.0, 30.0])
@pytest.mark.parametrize("name", ["car", "chair", "guitar"])
def test_a_yaw_pose_is_the_typical_view_of_the_turned_mesh(name: str, elevation: float) -> None:
    mesh, _ = make_instance(name, 0)
    settings = RenderSettings(size=48, supersample=3)
    typical = View(elevation=elevation)
    for angle in (0, 35, 90, 200, 340):
        (found,) = render(mesh, [View(rotation("yaw", angle, elevation), elevation=elevation)], settings)
        (expected,) = render(about_y(mesh, angle), [typical], settings)
        assert (np.abs(found.astype(int) - expected) > 2).mean() < 0.01  # float32 vertices move edges slightly
        (other_way,) = render(about_y(mesh, -angle - 20), [typical], settings)
        assert (np.abs(found.astype(int) - other_way) > 2).mean() > 0.02


def test_stored_turntable_frames_turn_about_the_upright_axis_at_every_elevation(tmp_path: Path) -> None:
    config = tiny_config(poses=("yaw",), classes=("chair",), instances=1, ranges={"elevation": (-10.0, 30.0)})
    frames = make_frames(config, tmp_path / "d", workers=1)
    mesh, _ = make_instance("chair", int(frames.index["instance"].iloc[0]))
    angles, elevations = frames.index["angle"].tolist(), frames.index["elevation"].tolist()
    for found, angle, elevation in zip(frames.read(frames.index.index), angles, elevations, strict=True):
        (expected,) = render(about_y(mesh, angle), [View(elevation=elevation)], config.render)
        assert (np.abs(found.astype(int) - expected) > 4).mean() < 0.03
    assert frames.index["elevation"].nunique() == 6


def test_yaw_0_is_the_typical_pose_again() -> None:
    poses = instance_poses(DataConfig(poses=("2d", "3d", "yaw"), step=4), "chair", "0000")
    assert len(poses) == 270
    twins = {(p.kind, p.angle): p.duplicate_of for p in poses if p.duplicate_of >= 0}
    assert twins == {("3d", 0.0): 0, ("3d", 180.0): 0, ("yaw", 0.0): 0}
    (first, *others) = instance_poses(DataConfig(poses=("yaw",), step=4), "chair", "0000")
    assert first.rotation == pytest.approx(np.eye(3))
    assert all(p.duplicate_of == -1 for p in (first, *others))


@pytest.mark.parametrize(("config", "expected"), OLD_POSES)
def test_old_data_sets_keep_their_poses(config: DataConfig, expected: str) -> None:
    assert digest(instance_poses(config, "mug", "0003")) == expected


def test_more_kinds_do_not_change_the_frames_of_others(turned: FrameSet, tiny: FrameSet) -> None:
    others = turned.index[turned.index["pose"] != "yaw"]
    for column in ("class", "instance", "pose", "angle", "split", "diverse_rank"):
        assert others[column].tolist() == tiny.index[column].tolist()
    assert np.array_equal(turned.read(others.index), tiny.read(tiny.index.index))


@given(st.integers(0, 2**32 - 1))
def test_deltas_are_the_wrapped_angles_between_frames(turned: FrameSet, seed: int) -> None:
    kinds = pose_kinds(turned.index)
    assert kinds == ("2d", "3d", "yaw")
    deltas, index = Deltas(turned.index, kinds), turned.index
    own = index[(index["pose"] == "yaw") & (index["instance"] == index["instance"].iloc[0])]
    first, second, third = np.random.default_rng(seed).choice(own.index.to_numpy(), 3)
    there, back = (deltas(np.array([a]), np.array([b]))[0] for a, b in ((first, second), (second, first)))
    assert there[:2].tolist() == [0, 0]
    assert -np.pi < there[2] <= np.float32(np.pi)
    assert np.cos(there) == pytest.approx(np.cos(back), abs=1e-6)
    # The relative rotation of the frames is the yaw by delta, up to the rounding of the index.
    a, b = (np.array(index.loc[row, "rotation"]).reshape(3, 3) for row in (first, second))
    assert b @ a.T == pytest.approx(rotation("yaw", np.degrees(there[2])), abs=1e-5)
    further = deltas(np.array([second]), np.array([third]))[0] + there
    whole = deltas(np.array([first]), np.array([third]))[0]
    assert np.exp(1j * further) == pytest.approx(np.exp(1j * whole), abs=1e-5)


def test_pairs_of_turntable_poses(turned: FrameSet) -> None:
    sampler = PairSampler(turned.index, batch_size=9, passes=20, singles=False, kinds=pose_kinds(turned.index))
    assert sampler.deltas.factors == ("2d", "3d", "yaw")
    delta = np.concatenate([batch.delta for batch in sampler])
    assert ((delta != 0).sum(axis=1) == 1).all()  # one kind per pair, and never the same angle
    assert (delta != 0).any(axis=0).all()


def test_figures_show_every_kind(turned: FrameSet, tmp_path: Path) -> None:
    names = {path.name for path in draw_figures(turned, tmp_path)}
    assert names == {
        "classes.png", "samples.png", "poses_2d.png", "poses_3d.png", "poses_yaw.png", "turning.gif",
    }  # fmt: skip


def test_errors_name_the_kinds() -> None:
    with pytest.raises(UserError, match="poses has 'yaww', but the kinds are 2d, 3d, yaw, so3"):
        DataConfig(poses=("2d", "yaww"))
    with pytest.raises(UserError, match="poses is empty; give one or more of 2d, 3d, yaw, so3"):
        DataConfig(poses=())
