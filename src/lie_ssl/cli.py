"""The command line: `lie-ssl COMMAND ...`.

This file only finds the function behind a command, so that help appears at once and nothing heavy is imported. The
functions are in `lie_ssl.commands`; their arguments and docstrings become the flags and the help text.
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
from lie_ssl.storage.limits import MIN_MEMORY, available_memory
from lie_ssl.storage.paths import shown
from lie_ssl.threads import prepare_environment

TERMINATED = 128 + signal.SIGTERM
RESUME_HINT = "run the same command again to resume"
MEMORY = "out of memory; close other programs, or use smaller batches, pictures or models"
# What a user can do about errors of the operating system.
REMEDIES = {
    errno.EMFILE: "raise the limit on open files, for example with `ulimit -n 4096`",
    errno.ENFILE: "close other programs, which have too many files open",
    errno.ENOSPC: "free some space or choose another folder",
    errno.EACCES: "change the permissions or choose another folder",
    errno.EROFS: "choose another folder",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.ENOMEM: MEMORY,
}

# Words of the command -> (module, function, one line of help).
COMMANDS: dict[tuple[str, ...], tuple[str, str, str]] = {
    ("demo",): ("demo", "demo", "show the effect in minutes: MAE, MAE Frames and MAE Lie in new poses"),
    ("data", "make", "demo"): ("make", "make_demo", "make 9,360 frames of 64 px, all 52 classes, in seconds"),
    ("data", "make", "small"): ("make", "make_small", "make 57,600 grey frames of 32 px, 24 classes, in half a minute"),
    ("data", "make", "paper"): ("make", "make_paper", "make 468,000 frames of 224 px, as in the paper"),
    ("data", "import"): ("data", "import_photos", "import photographs (turntables, COIL) or video clips as a data set"),
    ("data", "show"): ("data", "show", "print the card of a data set and draw its figures"),
    ("data", "export"): ("data", "export", "write a data set as ImageFolder or Hugging Face parquet"),
    ("data", "verify"): ("data", "verify", "check that no byte of a data set has changed"),
    ("adapt",): ("adapt", "adapt", "train a small head on a published encoder: new poses, and how far objects turn"),
    ("pretrain",): ("pretrain", "pretrain", "train MAE, VICReg or SimCLR, alone or with the Lie operator on pairs"),
    ("evaluate",): ("evaluate", "evaluate", "test an encoder on known and unknown instances in new poses"),
    ("gaps",): ("gaps", "gaps", "measure how much published models lose on new poses and instances"),
    ("transfer",): ("transfer", "transfer", "finetune and test encoders on photographs, upright and rotated"),
    ("ablate",): ("ablate", "ablate", "remove parts of a Lie model one at a time and compare"),
    ("sweep",): ("sweep", "sweep", "train all runs of a grid and select one by validation accuracy"),
    ("reproduce",): ("reproduce", "reproduce", "repeat an evaluation from its card, or run all units of a recipe"),
    ("report",): ("report", "report", "write one page with the tables and plots of evaluations"),
    ("export",): ("export", "export", "write the encoder of a run as safetensors, timm weights or ONNX"),
    ("bench", "render"): ("bench", "render", "compare rendering speed with Panda3D and Blender"),
    ("bench", "frames"): ("bench", "frames", "compare reading of random frames with torchvision's ImageFolder"),
    ("bench", "choices"): ("bench", "choices", "repeat the measurements behind docs/decisions.md"),
    ("bench", "action"): ("bench", "action", "compare exp_action with matrix_exp and other methods"),
    ("bench", "align"): ("bench", "align", "compare the reading of moves with SciPy and with a fine grid"),
    ("bench", "augment"): (
        "bench",
        "augment",
        "compare augmentation of whole batches with torchvision's, one by one",
    ),
    ("bench", "train"): ("bench", "train", "compare time and memory of a training step of X Lie and X Frames"),
    ("bench", "option2"): ("bench", "option2", "compare a supervised step with neighbours (Option 2) and without"),
    ("bench", "linear"): ("bench", "linear", "time the whole grid of linear evaluations on stored features"),
    ("bench", "features"): ("bench", "features", "compare filling a bank of features with bare forward passes"),
    ("bench", "adapt"): ("bench", "adapt", "time the adaptation of an encoder, and the training of a head alone"),
    ("bench", "shared"): ("bench", "shared", "time a short demo while another program keeps one core busy"),
    ("doctor",): ("doctor", "doctor", "check what is installed and working, and how to install the rest"),
}
# Commands whose flags depend on their first arguments or on registries; their functions get the raw arguments.
WITH_WORDS = {
    ("data", "make", "demo"), ("data", "make", "small"), ("data", "make", "paper"), ("adapt",), ("pretrain",),
    ("evaluate",), ("ablate",), ("sweep",), ("transfer",),
}  # fmt: skip
# Started by other commands, not typed by users.
HIDDEN: dict[tuple[str, ...], tuple[str, str, str]] = {("job",): ("job", "job", "run one of several parallel units")}


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs one command; a :class:`UserError` becomes one line on standard error and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal without UTF-8 shows ? for other characters
            stream.reconfigure(errors="replace" if stream is sys.stdout else "backslashreplace")
    if arguments is None:  # called by the shell, so torch is not imported yet
        prepare_environment()
    try:
        with terminated_by_exception():
            run(list(sys.argv[1:] if arguments is None else arguments))
    except UserError as error:
        _stop(str(error), 2)
    except KeyboardInterrupt:
        _stop(f"interrupted; {RESUME_HINT}", 130)
    except SystemExit as stop:
        if stop.code == TERMINATED:
            _stop(f"terminated by SIGTERM; {RESUME_HINT}", TERMINATED)
        raise
    except BrokenPipeError:  # the reader of the output has gone, as in `lie-ssl ... | head`
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:  # a disk or a permission: a traceback would not help
        if error.errno is None and available_memory() < MIN_MEMORY:  # too little memory to load a library
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
    """Prints one line on standard error and exits."""
    print(f"lie-ssl: {shown(' '.join(sentence.split()))}", file=sys.stderr)
    sys.exit(code)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether Python, torch or the dynamic loader ran out of memory."""
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
    """Turns SIGTERM into an exception, so that the program cleans up and prints a message, as with Ctrl-C."""

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
    """The subcommands that may follow, in the order of the table."""
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
    return f"{' '.join(('lie-ssl', *words))} has no command {word!r}; {hint}"
