"""Getting files out of a Debian package without Debian's own tools."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from lie_ssl.errors import UserError


def cache_folder() -> Path:
    """Where fetched and unpacked files are kept between runs."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "lie_ssl"


def unpack(package: Path, suffix: str, target: Path) -> None:
    """Copies all files of `package` whose names end in `suffix` flat into the new folder `target`."""
    target.parent.mkdir(parents=True, exist_ok=True)
    # Unpacked aside and renamed, so that another process never sees half a folder.
    with tempfile.TemporaryDirectory(dir=target.parent) as temporary:
        aside = Path(temporary) / "files"
        aside.mkdir()
        try:
            with package.open("rb") as file:
                _seek_data(file)
                _copy_members(file, suffix, aside)
        except (OSError, EOFError, tarfile.TarError, ValueError) as error:
            raise UserError(
                f"{package} is not a complete Debian package ({error}): fetch it again, "
                "or unpack it with `dpkg-deb -x` and name the folder."
            ) from error
        if not any(aside.iterdir()):
            raise UserError(f"{package} holds no {suffix} file: check that it is the right package.")
        if not target.exists():
            aside.replace(target)


def fetch(package: str, folder: Path) -> Path:
    """Downloads a package by apt-get into `folder` and returns the file."""
    by_hand = f"on a Debian or Ubuntu machine type `apt-get download {package}` and give the .deb file as the location."
    if shutil.which("apt-get") is None:
        raise UserError(f"The package {package} cannot be fetched here, because there is no apt-get: {by_hand}")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        run = subprocess.run(["apt-get", "download", package], cwd=folder, capture_output=True, text=True, timeout=1800)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(f"apt-get could not fetch {package} ({type(error).__name__}): {by_hand}") from error
    files = sorted(folder.glob(f"{package}_*.deb"))
    if run.returncode or not files:
        reason = (run.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise UserError(f"apt-get could not fetch {package} ({reason}): run `apt-get update` first, or {by_hand}")
    return files[-1]


def _seek_data(file: BinaryIO) -> None:
    """Moves to the start of the data member; a package is an `ar` archive of three."""
    if file.read(8) != b"!<arch>\n":
        raise ValueError("it has no ar header")
    while len(header := file.read(60)) == 60:
        if header[58:] != b"`\n":
            raise ValueError("an ar header is damaged")
        if header[:16].startswith(b"data.tar"):
            return
        size = int(header[48:58])
        file.seek(size + size % 2, os.SEEK_CUR)
    raise ValueError("it has no data member")


def _copy_members(file: BinaryIO, suffix: str, target: Path) -> None:
    with tarfile.open(fileobj=file, mode="r|*") as tar:
        for member in tar:
            # Only the bare name is used, so that no name can lead out of the folder.
            name = PurePosixPath(member.name).name
            source = tar.extractfile(member) if member.isfile() and name.endswith(suffix) else None
            if source is not None:
                with (target / name).open("wb") as copy:
                    shutil.copyfileobj(source, copy)
