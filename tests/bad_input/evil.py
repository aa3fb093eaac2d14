"""A module that no shared file may cause to be imported."""

from pathlib import Path

Path(__file__).with_name("evil_ran").mkdir(exist_ok=True)


def run(**options: object) -> None:
    """Would be called as an encoder factory."""
