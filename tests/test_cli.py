"""The command line in its own process, as for a user."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lie_ssl.cli import COMMANDS, main

TINY = ["--classes", "car", "mug", "--instances", "3", "--step", "90", "--size", "16", "--workers", "1"]


def lie_ssl(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "lie_ssl", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_help_loads_no_heavy_package() -> None:
    code = (
        "import sys\nfrom lie_ssl.cli import main\nmain(['--help'])\n"
        "heavy = {'torch', 'numba', 'pandas', 'pyarrow', 'trimesh', 'tyro'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "data make demo" in done.stdout


def test_import_loads_no_other_package() -> None:
    """So that it is fast."""
    code = (
        "import sys\nbefore = set(sys.modules)\nimport lie_ssl\n"
        "print({name.partition('.')[0] for name in set(sys.modules) - before} - sys.stdlib_module_names)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "{'lie_ssl'}"


@pytest.mark.parametrize("command", list(COMMANDS), ids=" ".join)
def test_every_command_has_help_with_an_example(command: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main([*command, "--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    assert "Example: lie-ssl" in text
    assert "--help" in text


@pytest.mark.parametrize("arguments", [["dtaa"], ["data", "mkae"], ["data", "make", "demmo"]])
def test_a_misspelt_command_gets_a_hint(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert "did you mean" in capsys.readouterr().err


def test_make_show_verify_export(tmp_path: Path) -> None:
    data = tmp_path / "d"
    made = lie_ssl("data", "make", "demo", "--out", data, *TINY)
    assert made.returncode == 0, made.stderr
    assert "48 frames of 6 instances in 2 classes" in made.stdout
    card = json.loads((data / "card.json").read_text())
    assert (card["recipe"], card["config"]["step"], card["size"]) == ("demo", 90.0, 16)
    shown = lie_ssl("data", "show", data)
    assert shown.returncode == 0, shown.stderr
    names = {p.name for p in (data / "figures").iterdir()}
    assert names == {"samples.png", "classes.png", "poses_2d.png", "poses_3d.png", "turning.gif"}
    assert lie_ssl("data", "verify", data).returncode == 0
    exported = lie_ssl("data", "export", data, "--out", tmp_path / "x")
    assert exported.returncode == 0, exported.stderr
    assert len(list((tmp_path / "x").rglob("*.png"))) == card["counts"]["distinct_frames"]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--classes", "chiar"], "did you mean chair"),
        (["--instances", "0"], "instances is 0"),
        (["--step", "0"], "step is 0"),
        (["--source", "folder"], "needs --path"),
        (["--source", "folder", "--path", "/does/not/exist"], "/does/not/exist"),
        (["--size", "0"], "size is 0"),
        (["--light", "0", "inf"], "finite number"),
        (["--validation", "nan"], "finite number"),
        (["--scale", "0", "1"], "scale is"),
        (["--test", "0.99"], "must leave instances for training"),
    ],
)
def test_invalid_settings_are_user_errors(flags: list[str], message: str, tmp_path: Path) -> None:
    done = lie_ssl("data", "make", "demo", "--out", tmp_path / "d", *flags)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""
    assert not (tmp_path / "d").exists()  # the corrected command can use the folder


def test_verify_names_the_changed_file_and_fails(tmp_path: Path) -> None:
    data = tmp_path / "d"
    assert lie_ssl("data", "make", "demo", "--out", data, *TINY).returncode == 0
    path = data / "frames-00001.bin"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    done = lie_ssl("data", "verify", data)
    assert done.returncode == 2
    assert "frames-00001.bin has changed" in done.stdout
    assert "frames-00001.bin has changed" in done.stderr


def test_a_folder_of_meshes_with_a_broken_file_and_a_copy(tmp_path: Path) -> None:
    """Unusable meshes are counted and named, the others become a data set; --strict stops instead."""
    import trimesh

    root = tmp_path / "meshes"
    for i, (name, shape) in enumerate(
        (n, s) for n in ("brick", "can") for s in (trimesh.creation.box, trimesh.creation.cylinder)
    ):
        folder = root / name
        folder.mkdir(parents=True, exist_ok=True)
        sizes = {"extents": (1, 2 + i, 3)} if shape is trimesh.creation.box else {"radius": 1, "height": 2 + i}
        shape(**sizes).export(folder / f"thing{i}.ply")
    (root / "can" / "copy.ply").write_bytes((root / "can" / "thing3.ply").read_bytes())
    (root / "can" / "broken.glb").write_text("no mesh at all")
    flags = ["--source", "folder", "--path", str(root), "--step", "90", "--size", "16", "--workers", "1"]
    made = lie_ssl("data", "make", "demo", "--out", tmp_path / "d", *flags)
    assert made.returncode == 0, made.stderr
    assert "left out can/broken.glb" in made.stdout
    assert "same geometry as can/copy" in made.stdout
    assert "left out 2 in all" in made.stdout
    assert "4 instances in 2 classes" in made.stdout
    named = lie_ssl("data", "make", "small", "--out", tmp_path / "s", *flags)  # this recipe names procedural classes
    assert "4 instances in 2 classes" in named.stdout, named.stderr
    strict = lie_ssl("data", "make", "demo", "--out", tmp_path / "e", "--strict", *flags)
    assert strict.returncode == 2
    assert "broken.glb" in strict.stderr
    assert not list((tmp_path / "e").glob("frames-*"))


def test_photographs_with_size_zero(tmp_path: Path) -> None:
    done = lie_ssl("data", "import", tmp_path, "--out", tmp_path / "d", "--size", "0")
    assert done.returncode == 2
    assert "size is 0" in done.stderr


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    data = tmp_path / "d"
    assert lie_ssl("data", "make", "demo", "--out", data, *TINY).returncode == 0
    (tmp_path / "file").write_text("")
    done = lie_ssl("data", "show", data, "--out", tmp_path / "file" / "figures")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
