"""Words for messages."""

from __future__ import annotations


def count(number: int, singular: str, plural: str | None = None) -> str:
    """A number with its noun in the right form.

    Args:
        number: How many there are.
        singular: The noun for one.
        plural: The noun for any other number; the singular with an s if it is not given.

    >>> count(1, "class", "classes"), count(2, "class", "classes"), count(1200, "frame")
    ('1 class', '2 classes', '1,200 frames')
    """
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"
