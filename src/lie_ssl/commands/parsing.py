"""Turns flags into function calls, with one sentence for flags that cannot be understood."""

from __future__ import annotations

import functools
import inspect
import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr
from typing import Annotated, Any

import tyro

from lie_ssl.errors import UserError
from lie_ssl.storage.paths import shown

Jobs = Annotated[int | None, tyro.conf.arg(metavar="N")]  # --jobs N; None for one per core
Trust = Annotated[tuple[str, ...], tyro.conf.UseAppendAction]  # --trust NAME, once per name
# What tyro says about a value that fits none of several types.
_NO_TYPE = re.compile(r"Error parsing (\S+): no type matching (\S+) could be instantiated from \[(.*?)\]\. Got .*")


def check_jobs(jobs: int | None) -> None:
    """Rejects a number of jobs below 1, before any work begins."""
    if jobs is not None and jobs < 1:
        raise UserError(f"jobs is {jobs}, but it must be at least 1")


def check_data(folder: str) -> None:
    """Rejects a run without a data set."""
    if not folder:
        raise UserError("give the data set to train on: --data FOLDER (make one with `lie-ssl data make small`)")


def say(text: str) -> None:
    """Prints a line; control characters in it, perhaps from files, are escaped."""
    print(shown(text), flush=True)


def call(
    function: Callable[..., None], prog: str, arguments: Sequence[str], *, description: str | None = None,
    config: Sequence[Any] = (),
) -> None:  # fmt: skip
    """Calls the function with the parsed flags; its signature and docstring define the flags and the help.

    Optional groups of settings, such as `adapt`, have flags like all others if there is a default for them, and none
    otherwise; tyro would make subcommands of them. It reports wrong flags in a box of text, which becomes one
    :class:`UserError`.
    """

    @functools.wraps(function)
    def later(*values: Any, **named: Any) -> Callable[[], None]:
        return functools.partial(function, *values, **named)

    box = io.StringIO()
    try:
        with redirect_stderr(box):  # captured while the flags are parsed, not while the function runs
            chosen: Callable[[], None] = tyro.cli(
                later, prog=prog, args=list(arguments), description=help_text(description or function.__doc__ or ""),
                config=(tyro.conf.AvoidSubcommands, *config),
            )  # fmt: skip
    except ValueError as error:  # from a setting that its component rejects
        raise UserError(str(error)) from error
    except SystemExit as stop:
        if stop.code == 0:  # help
            raise
        raise UserError(f"{sentence(box.getvalue())}; `{prog} --help` shows all flags") from None
    chosen()


def help_text(docstring: str) -> str:
    """A docstring without its sections and indentation, one line per paragraph and per example.

    >>> help_text("Trains\\n    it.\\n\\n    Example: a\\n    Example: b\\n\\n    Args:\\n        x: It.\\n    ")
    'Trains it.\\n\\nExample: a\\n\\nExample: b'
    """
    text = re.split(r"^(?:Args|Returns|Raises):$", inspect.cleandoc(docstring), maxsplit=1, flags=re.MULTILINE)[0]
    paragraphs = re.split(r"\n\n|\n(?=Example:)", text.strip())
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def sentence(box: str) -> str:
    """The text of tyro's box, without its frame, help texts and hints.

    >>> sentence('╭─ Title ─╮\\n│ Unrecognized options: --b │\\n│ ─── │\\n│ For full helptext, run x │\\n╰───╯')
    'Unrecognized options: --b'
    >>> sentence("╭─╮\\n│ Error parsing --b: no type matching {None}|INT could be instantiated from ['x']. Got ... │")
    "--b is 'x', but it must be {None}|INT"
    """
    sections = [words for words in map(_joined, _sections(box)) if not words.startswith(("For full", "Argument help"))]
    text = "; ".join(filter(None, sections)).rstrip(".").replace("Error parsing config.", "")
    return _NO_TYPE.sub(r"\1 is \3, but it must be \2", text) or "these flags cannot be understood"


def _sections(box: str) -> Iterator[list[str]]:
    """The lines between the rules, dedented. A terminal without box characters shows only rules, with the title above
    the first one."""
    lines = [line.strip("│|").rstrip() for line in box.splitlines()]
    lines = [line for line in lines if line and not line.startswith(("╭", "╰", "+-"))]
    if "╭" not in box and "+-" not in box:
        lines = lines[1:]
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip("─- ")), default=0)
    section: list[str] = []
    for line in [*lines, "─"]:
        if line.strip("─- "):
            section.append(line[indent:])
        else:
            yield section
            section = []


def _joined(lines: list[str]) -> str:
    """A headline and the items under it; lines that are indented further are help."""
    listed = [line.strip() for line in lines if line.startswith("    ") and not line.startswith("     ")]
    head = " ".join(line.strip() for line in lines if not line.startswith(" "))
    return f"{head} {', '.join(listed)}".strip()


def pop_values(arguments: list[str], flag: str) -> tuple[list[str], list[str]]:
    """All values of a flag that must be known before the others are parsed, and the arguments without it."""
    values: list[str] = []
    rest: list[str] = []
    words = iter(arguments)
    for word in words:
        if word.startswith(f"{flag}="):
            values.append(word.split("=", 1)[1])
        elif word == flag:
            if (value := next(words, None)) is None:
                raise UserError(f"{flag} needs a value")
            values.append(value)
        else:
            rest.append(word)
    return values, rest
