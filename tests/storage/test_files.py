"""Files are written completely or not at all, and links are never followed."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.frames.figures import draw_figures
from lie_ssl.storage.files import write_whole
from lie_ssl.storage.locks import folder_lock


def test_a_link_under_the_final_name_is_replaced(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / "out").symlink_to(victim)
    write_whole(tmp_path / "out", [b"a", b"b"])
    assert victim.read_text() == "mine"
    assert (tmp_path / "out").read_bytes() == b"ab"
    assert not (tmp_path / "out").is_symlink()


def test_a_link_under_a_temporary_name_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if an attacker guesses the name."""
    victim = tmp_path / "victim"
    victim.write_text("mine")
    monkeypatch.setattr("secrets.token_hex", lambda size: "guessed")
    (tmp_path / ".out.guessed.part").symlink_to(victim)
    with pytest.raises(UserError, match="cannot write"):
        write_whole(tmp_path / "out", [b"theirs"])
    assert victim.read_text() == "mine"


def test_permissions_follow_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "out", [b""])
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o640


def test_figures_do_not_overwrite_the_target_of_a_link(tiny: FrameSet, tmp_path: Path) -> None:
    victim, out = tmp_path / "victim", tmp_path / "figures"
    victim.write_text("mine")
    out.mkdir()
    for name in ("classes.png", "turning.gif"):
        (out / name).symlink_to(victim)
    draw_figures(tiny, out)
    assert victim.read_text() == "mine"
    assert (out / "turning.gif").read_bytes().startswith(b"GIF")


def test_a_lock_must_not_be_a_link(tmp_path: Path) -> None:
    (tmp_path / ".lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="is a link"), folder_lock(tmp_path):
        pass
    assert not (tmp_path / "elsewhere").exists()
