"""What a shared file must not make anybody import."""

from pathlib import Path

Path(__file__).with_name("evil_ran").mkdir(exist_ok=True)


def run(**options: object) -> None:
    """Would be called in place of an encoder."""
