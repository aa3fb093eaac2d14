"""Extracts files from Debian packages without Debian's own tools."""

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
    """The folder in which downloaded and unpacked files are cached between runs."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "lie_ssl"


def unpack(package: Path, suffix: str, target: Path) -> None:
    """Extracts all files of `package` whose names end in `suffix` to the new folder `target`, without subfolders."""
    target.parent.mkdir(parents=True, exist_ok=True)
    # Unpacked elsewhere and then renamed, so that other processes never see an incomplete folder.
    with tempfile.TemporaryDirectory(dir=target.parent) as temporary:
        staging = Path(temporary) / "files"
        staging.mkdir()
        try:
            with package.open("rb") as file:
                _seek_data(file)
                _copy_members(file, suffix, staging)
        except (OSError, EOFError, tarfile.TarError, ValueError) as error:
            raise UserError(
                f"{package} is not a complete Debian package ({error}): download it again, "
                "or unpack it with `dpkg-deb -x` and give the folder."
            ) from error
        if not any(staging.iterdir()):
            raise UserError(f"{package} contains no {suffix} file: check that it is the right package.")
        if not target.exists():
            staging.replace(target)


def download(package: str, folder: Path) -> Path:
    """Downloads a package with apt-get into `folder` and returns the file."""
    by_hand = f"run `apt-get download {package}` on a Debian or Ubuntu machine and give the .deb file as the location."
    if shutil.which("apt-get") is None:
        raise UserError(f"The package {package} cannot be downloaded here, because there is no apt-get: {by_hand}")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        run = subprocess.run(["apt-get", "download", package], cwd=folder, capture_output=True, text=True, timeout=1800)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(f"apt-get could not download {package} ({type(error).__name__}): {by_hand}") from error
    files = sorted(folder.glob(f"{package}_*.deb"))
    if run.returncode or not files:
        reason = (run.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise UserError(f"apt-get could not download {package} ({reason}): run `apt-get update` first, or {by_hand}")
    return files[-1]


def _seek_data(file: BinaryIO) -> None:
    """Seeks to the data member; a package is an `ar` archive with three members."""
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
            # Only the base name is used, so that no name can point outside the folder.
            name = PurePosixPath(member.name).name
            source = tar.extractfile(member) if member.isfile() and name.endswith(suffix) else None
            if source is not None:
                with (target / name).open("wb") as copy:
                    shutil.copyfileobj(source, copy)
