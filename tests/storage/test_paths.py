"""No name points outside its folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lie_ssl.errors import UserError
from lie_ssl.storage.paths import as_one_part, check_link, check_name, inside, shown


@pytest.mark.parametrize(
    "name",
    [
        "..",
        ".",
        "",
        "/etc",
        "../x",
        "a/../../x",
        "a//b",
        "..\\x",
        "a\\..\\x",
        "C:x",
        "a\0",
        "a\nb",
        "\udcff",
        "a\u202eb",
        "a\u2028b",
    ],
)
def test_names_that_point_outside_are_rejected(name: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        inside(tmp_path, "train", name)
    assert "\n" not in str(caught.value)
    assert "\0" not in str(caught.value)


@pytest.mark.parametrize(
    "name", ["car", "plant pot", "a.b", "...", "-x", "tässe", "a\xa0b", "カップ\u3000大", "a/b", "package.module:Class"]
)
def test_other_names_are_accepted(name: str, tmp_path: Path) -> None:
    assert inside(tmp_path, name) == tmp_path / name


@given(st.lists(st.text(alphabet=st.sampled_from("./\\ab:\n~\0é")), min_size=1, max_size=3))
def test_a_path_is_inside_or_rejected(names: list[str]) -> None:
    folder = Path("/some/folder")
    try:
        path = inside(folder, *names)
    except UserError:
        return
    assert path.resolve().is_relative_to(folder.resolve())
    assert path != folder


@given(st.text(alphabet=st.sampled_from("./\\ab")))
def test_a_name_is_a_single_part(name: str) -> None:
    assert inside(Path("/some/folder"), as_one_part(name)).parent == Path("/some/folder")


def test_the_message_can_be_printed() -> None:
    with pytest.raises(UserError, match=r"m\\xffg") as caught:
        check_name("m\udcffg", "the file", "in photos")
    str(caught.value).encode("ascii")


def test_text_from_files_cannot_control_the_terminal() -> None:
    assert shown("two\nlines\tand \x1b[2J\x07") == "two\nlines\tand \\x1b[2J\\x07"


def test_links_that_point_outside_are_rejected(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "inner").mkdir()
    (folder / "good").symlink_to(folder / "inner")
    (folder / "bad").symlink_to(tmp_path)
    check_link(folder / "good", folder)
    check_link(folder / "nothing", folder)
    with pytest.raises(UserError, match="leads out of"):
        check_link(folder / "bad", folder)
