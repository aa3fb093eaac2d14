"""The furniture library: the manifest, and reading models from a package without Debian's tools."""

from __future__ import annotations

import io
import os
import pickle
import stat
import tarfile
import tempfile
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from lie_ssl.errors import UserError
from lie_ssl.objects.sources import CatalogueEntry
from lie_ssl.objects.sources.sweethome3d import PACKAGE, SweetHome3D, manifest

BED = "scopia/bed1/bed1.obj"
BLACK_TABLE = "scopia/black_table/black_table.obj"
# The second model lies on its side: its long axis is z and is rotated to y.
CATALOGUE = f"""id=SweetHome3D#ScopiaModels
name#1=Bed
model#1=/{BED}
name#2=Table caf\xe9
model#2=/{BLACK_TABLE}
modelRotation#2=1 0 0 0 0 1 0 -1 0
"""


def spike(length_axis: int, size: float) -> str:
    points = np.eye(3) * 0.3 * size
    points[0] = 0
    points[0, length_axis] = 2
    rows = [f"v {x} {y} {z}" for x, y, z in [*points, (-0.2, -0.2, -0.2)]]
    return "\n".join(["mtllib m.mtl", *rows, "usemtl a", "f 1 2 3", "f 1 2 4", "f 2 3 4", "f 1 3 4"])


def archive(extra: dict[str, str] | None = None) -> bytes:
    files = {
        "PluginFurnitureCatalog.properties": CATALOGUE,
        BED: spike(1, 1.0),
        "scopia/bed1/m.mtl": "newmtl a\nKd 1 0 0\n",
        BLACK_TABLE: spike(2, 1.5),
        "scopia/black_table/m.mtl": "newmtl a\nKd 0 1 0\n",
        **(extra or {}),
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, text in files.items():
            file.writestr(name, text.encode("latin-1"))
    return buffer.getvalue()


def ar_member(name: str, data: bytes) -> bytes:
    header = f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n"
    return header.encode() + data + b"\n" * (len(data) % 2)


def package(path: Path, content: bytes, name: str = "./usr/share/sweethome3d/furniture/Scopia.sh3f") -> Path:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:xz") as tar:
        info = tarfile.TarInfo(name)
        info.size = len(content)
        tar.addfile(info, io.BytesIO(content))
    members = [("debian-binary", b"2.0\n"), ("control.tar.xz", b"odd"), ("data.tar.xz", buffer.getvalue())]
    path.write_bytes(b"!<arch>\n" + b"".join(ar_member(n, d) for n, d in members))
    return path


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "lie_ssl"


def check(source: SweetHome3D) -> None:
    catalogue = source.catalogue()
    assert [(e.class_name, e.instance) for e in catalogue.entries] == [
        ("bed", "Scopia-bed1"),
        ("table", "Scopia-black_table"),
    ]
    assert len(catalogue.dropped) == len(manifest()) - 2
    copy = pickle.loads(pickle.dumps(source))
    for entry, colour in zip(catalogue.entries, ([1, 0, 0], [0, 1, 0]), strict=True):
        mesh = copy.mesh(entry)
        assert int(mesh.vertices[np.abs(mesh.vertices).argmax() // 3].argmax()) == 1  # it is upright
        assert np.linalg.norm(mesh.vertices, axis=1).max() == pytest.approx(1, abs=1e-5)
        np.testing.assert_allclose(mesh.colours[0, 0], colour)


def test_the_manifest() -> None:
    rows = manifest()
    counts = Counter(row.class_name for row in rows)
    assert len(counts) >= 20
    assert min(counts.values()) >= 10
    assert {row.licence for row in rows} <= {"CC0-1.0", "CC-BY-3.0", "CC-BY-3.0-US"}
    assert all(row.name and row.creator and row.model.endswith(".obj") for row in rows)
    assert len({(row.archive, row.model) for row in rows}) == len(rows)
    assert len({(row.entry.class_name, row.entry.instance) for row in rows}) == len(rows)


def test_from_a_package_file(tmp_path: Path, cache: Path) -> None:
    check(SweetHome3D(str(package(tmp_path / "any.deb", archive()))))
    assert [p.name for p in cache.rglob("*.sh3f")] == ["Scopia.sh3f"]
    assert len(list(cache.iterdir())) == 1  # nothing incomplete is left


def test_from_a_folder_with_the_package(tmp_path: Path) -> None:
    package(tmp_path / f"{PACKAGE}_1.8-1_all.deb", archive())
    check(SweetHome3D(str(tmp_path)))


def test_from_an_unpacked_folder(tmp_path: Path) -> None:
    folder = tmp_path / "un" / "usr" / "share"
    folder.mkdir(parents=True)
    (folder / "Scopia.sh3f").write_bytes(archive())
    check(SweetHome3D(str(tmp_path / "un")))


def test_the_package_is_downloaded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deb = package(tmp_path / f"{PACKAGE}_1.8-1_all.deb", archive())
    tools = tmp_path / "bin"
    tools.mkdir()
    apt = tools / "apt-get"
    apt.write_text(
        f'#!/bin/sh\n[ "$1 $2" = "download {PACKAGE}" ] || exit 3\ncp "{deb}" .\necho x >> "{tools}/calls"\n'
    )
    apt.chmod(apt.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    check(SweetHome3D())
    assert (tools / "calls").read_text() == "x\n"


def test_apt_fails_or_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="no apt-get"):
        SweetHome3D().catalogue()
    (tmp_path / "apt-get").write_text("#!/bin/sh\necho 'E: no such package' >&2\nexit 100\n")
    (tmp_path / "apt-get").chmod(0o755)
    with pytest.raises(UserError, match=r"no such package.*apt-get download"):
        SweetHome3D().catalogue()


def test_names_cannot_escape_the_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / "a" / "b" / "c" / "d"
    deep.mkdir(parents=True)
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    evil = {"scopia/bed1/../../../../evil.txt": "x", "scopia/bed1/sub/../../../x.txt": "x"}
    source = SweetHome3D(str(package(tmp_path / "a.deb", archive(evil), "../../../../out/Scopia.sh3f")))
    before = {p for p in tmp_path.rglob("*") if "cache" not in p.parts}
    source.mesh(CatalogueEntry("bed", "Scopia-bed1", "", f"Scopia:{BED}"))
    assert {p for p in tmp_path.rglob("*") if "cache" not in p.parts} == before


def test_a_broken_model_is_dropped_and_named(tmp_path: Path) -> None:
    source = SweetHome3D(str(package(tmp_path / "a.deb", archive({BED: "v 0 0 0\n"}))))
    catalogue = source.catalogue()
    assert [e.class_name for e in catalogue.entries] == ["table"]
    why = {d.key: d.why for d in catalogue.dropped}[f"Scopia:{BED}"]
    assert "no faces" in why
    assert f"Scopia.sh3f:{BED}" in why
    with pytest.raises(UserError, match="not in this copy"):
        source.catalogue(strict=True)


def test_copies_are_dropped(tmp_path: Path) -> None:
    source = SweetHome3D(
        str(package(tmp_path / "a.deb", archive({"scopia/children_bed/children_bed.obj": spike(1, 1.0)})))
    )
    names = {row.model for row in manifest()}
    assert "scopia/children_bed/children_bed.obj" in names
    assert (
        "Scopia-bed1"
        in {d.key: d.why for d in source.catalogue().dropped}["Scopia:scopia/children_bed/children_bed.obj"]
    )


def test_user_errors(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no file or folder"):
        SweetHome3D(str(tmp_path / "nowhere")).catalogue()
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="neither"):
        SweetHome3D(str(tmp_path / "empty")).catalogue()
    whole = package(tmp_path / "a.deb", archive()).read_bytes()
    for name, data in {"text.deb": b"hello", "cut.deb": whole[:-300], "none.deb": whole[:8]}.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(UserError, match=name):
            SweetHome3D(str(tmp_path / name)).catalogue()
    other = package(tmp_path / "other.deb", b"x", "./usr/share/readme.txt")
    with pytest.raises(UserError, match="right package"):
        SweetHome3D(str(other)).catalogue()
    with pytest.raises(UserError, match="not a complete archive"):
        SweetHome3D(str(package(tmp_path / "nozip.deb", b"hello"))).catalogue()


@pytest.mark.slow
def test_the_real_package() -> None:
    catalogue = SweetHome3D().catalogue()
    counts = Counter(entry.class_name for entry in catalogue.entries)
    assert catalogue.dropped == []
    assert len(counts) >= 20
    assert min(counts.values()) >= 10
