"""The command line: `lie-ssl VERB ...`.

This file only finds the function behind a verb, so that help appears at once and nothing heavy is imported for it; the
functions are in `lie_ssl.commands`, and their arguments and docstrings become the flags and the help text.
"""

from __future__ import annotations

import difflib
import errno
import io
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import FrameType

from lie_ssl import __version__
from lie_ssl.errors import UserError
from lie_ssl.extras import explained, needs, require
from lie_ssl.storage.limits import LEAST, available_memory
from lie_ssl.storage.paths import shown
from lie_ssl.threads import prepare_environment

TERMINATED = 128 + signal.SIGTERM
GOES_ON = "what can be resumed goes on with the same command"
MEMORY = "memory is short; close other programs, or take smaller batches, pictures or models"
# What can be done about errors of the system.
REMEDIES = {
    errno.EMFILE: "raise the limit on open files, for example with `ulimit -n 4096`",
    errno.ENFILE: "close other programs, which hold too many files open",
    errno.ENOSPC: "free some space or choose another folder",
    errno.EACCES: "change its permissions or choose another folder",
    errno.EROFS: "choose another folder",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.ENOMEM: MEMORY,
}

# Words of the command -> (module, function, one line of help).
COMMANDS: dict[tuple[str, ...], tuple[str, str, str]] = {
    ("demo",): ("demo", "demo", "the effect in minutes: MAE, MAE Frames and MAE Lie on objects in new poses"),
    ("data", "make", "demo"): ("make", "make_demo", "all 52 classes, 9,360 frames of 64 px: seconds"),
    ("data", "make", "small"): ("make", "make_small", "24 classes, 57,600 frames of 32 px in grey clay: half a minute"),
    ("data", "make", "paper"): ("make", "make_paper", "52 x 50 x 180 frames of 224 px, as in the paper"),
    ("data", "import"): ("data", "import_photos", "photographs (turntables, COIL) into the same kind of folder"),
    ("data", "show"): ("data", "show", "print the card of a data set and draw its figures"),
    ("data", "export"): ("data", "export", "write a data set as ImageFolder or Hugging Face parquet"),
    ("data", "verify"): ("data", "verify", "find any changed byte in a data set"),
    ("pretrain",): ("pretrain", "pretrain", "train MAE, VICReg or SimCLR, alone or with pairs and the Lie operator"),
    ("evaluate",): ("evaluate", "evaluate", "an encoder on known and unknown instances in typical and new poses"),
    ("gaps",): ("gaps", "gaps", "what published models lose on new poses and new instances"),
    ("transfer",): ("transfer", "transfer", "encoders of runs on photographs, upright and rotated"),
    ("ablate",): ("ablate", "ablate", "what a Lie model loses without each of its parts"),
    ("sweep",): ("sweep", "sweep", "many runs of a grid, and the best one by validation accuracy"),
    ("reproduce",): ("reproduce", "reproduce", "an evaluation again from its card, or all runs of a recipe"),
    ("report",): ("report", "report", "one page with the tables and plots of evaluations"),
    ("export",): ("export", "export", "an encoder from a run as safetensors, timm weights or ONNX"),
    ("bench", "render"): ("bench", "render", "frames a second against Panda3D and Blender"),
    ("bench", "frames"): ("bench", "frames", "reading random frames against torchvision's ImageFolder"),
    ("bench", "choices"): ("bench", "choices", "the measurements behind docs/decisions.md"),
    ("bench", "action"): ("bench", "action", "the exponential action against matrix_exp and other ways"),
    ("bench", "augment"): ("bench", "augment", "augmentations of whole batches against torchvision's one by one"),
    ("bench", "train"): ("bench", "train", "time and memory of a step of X Lie against X Frames"),
    ("bench", "option2"): ("bench", "option2", "a supervised step with neighbours (Option 2) against one without"),
    ("bench", "linear"): ("bench", "linear", "the whole grid of linear evaluations on stored features"),
    ("bench", "shared"): ("bench", "shared", "a short demo while another program keeps one core busy"),
    ("doctor",): ("doctor", "doctor", "what is installed, what works, and what to type for what is missing"),
}
# Commands whose flags depend on their first words or on what is registered; their functions take the arguments.
WITH_WORDS = {
    ("data", "make", "demo"), ("data", "make", "small"), ("data", "make", "paper"), ("pretrain",), ("evaluate",),
    ("ablate",), ("sweep",), ("transfer",),
}  # fmt: skip
# What other commands start, and nobody types.
HIDDEN: dict[tuple[str, ...], tuple[str, str, str]] = {("job",): ("job", "job", "one of several units side by side")}


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs one command; a :class:`UserError` becomes one line on standard error and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal without UTF-8 shows a ? for what it does not have
            stream.reconfigure(errors="replace" if stream is sys.stdout else "backslashreplace")
    if arguments is None:  # typed, and so before anything has imported torch
        prepare_environment()
    try:
        with terminated_by_exception():
            run(list(sys.argv[1:] if arguments is None else arguments))
    except UserError as error:
        _stop(str(error), 2)
    except KeyboardInterrupt:
        _stop(f"stopped; {GOES_ON}", 130)
    except SystemExit as stop:
        if stop.code == TERMINATED:
            _stop(f"stopped by SIGTERM; {GOES_ON}", TERMINATED)
        raise
    except BrokenPipeError:  # the reader of our output has gone, as in `lie-ssl ... | head`
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:  # a disk or a permission: nothing that a traceback would help with
        if error.errno is None and available_memory() < LEAST:  # a library could not be loaded for want of memory
            _stop(MEMORY, 2)
        remedy = REMEDIES.get(error.errno or 0)
        where = f": {error.filename}" if error.filename else ""
        _stop(f"{error.strerror or error}{where}{f'; {remedy}' if remedy else ''}", 2)
    except (MemoryError, RuntimeError, ImportError) as error:
        if isinstance(error, ModuleNotFoundError) and (missing := explained(error)):
            _stop(str(missing), 2)
        if not is_out_of_memory(error):
            raise
        _stop(MEMORY, 2)


def _stop(sentence: str, code: int) -> None:
    """Says why, on one line, and ends the program."""
    print(f"lie-ssl: {shown(' '.join(sentence.split()))}", file=sys.stderr)
    sys.exit(code)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether Python, torch or the loader of a library could not get memory."""
    words = (
        "can't start new thread",
        "can't allocate memory",
        "not enough memory",
        "failed to map segment",
        "cannot allocate memory",
    )
    text = str(error).lower()
    return isinstance(error, MemoryError) or "out of memory" in text or any(word in text for word in words)


@contextmanager
def terminated_by_exception() -> Iterator[None]:
    """SIGTERM ends the program as Ctrl-C does: with a sentence, and after cleaning up."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise SystemExit(TERMINATED)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def run(arguments: list[str]) -> None:
    words: tuple[str, ...] = tuple(arguments[:1]) if tuple(arguments[:1]) in HIDDEN else ()
    while words not in COMMANDS | HIDDEN:
        branches = _branches(words)
        rest = arguments[len(words) :]
        if words == () and rest[:1] == ["--version"]:
            print(f"lie-ssl {__version__}")
            return
        if not rest or rest[0] in ("-h", "--help"):
            print(_overview(words))
            return
        if rest[0] not in branches:
            raise UserError(_unknown(words, rest[0], branches))
        words = (*words, rest[0])
    require(f"`{' '.join(('lie-ssl', *words))}`", *needs(words))
    function, rest = _load(words), arguments[len(words) :]
    if words in WITH_WORDS:
        function(rest)
        return
    from lie_ssl.commands.parsing import call

    call(function, " ".join(("lie-ssl", *words)), rest)


def _load(words: tuple[str, ...]) -> Callable[..., None]:
    module, function, _ = (COMMANDS | HIDDEN)[words]
    loaded: Callable[..., None] = getattr(import_module(f"lie_ssl.commands.{module}"), function)
    return loaded


def _branches(words: tuple[str, ...]) -> list[str]:
    """The words that may follow, in the order of the table."""
    return list(dict.fromkeys(c[len(words)] for c in COMMANDS if c[: len(words)] == words))


def _overview(words: tuple[str, ...]) -> str:
    prefix = " ".join(("lie-ssl", *words))
    rows = [(" ".join(c[len(words) :]), text) for c, (_, _, text) in COMMANDS.items() if c[: len(words)] == words]
    width = max(len(name) for name, _ in rows)
    lines = [f"usage: {prefix} COMMAND ...", ""]
    lines += [f"  {name:<{width}}  {text}" for name, text in rows]
    lines += ["", f"example: {prefix} {rows[0][0]} --help"]
    return "\n".join(lines)


def _unknown(words: tuple[str, ...], word: str, branches: list[str]) -> str:
    near = difflib.get_close_matches(word, branches, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(branches)}."
    return f"{' '.join(('lie-ssl', *words))} knows no {word!r}; {hint}"
