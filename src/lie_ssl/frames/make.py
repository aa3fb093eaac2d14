"""Making a data set: draw, encode and store every frame, on all cores, and go on where an earlier run was stopped.

`recipe.json` is written first and says what the folder is going to be; shards follow, each whole or absent; the card
comes last.

A script that calls :func:`make_frames` with more than one worker needs the usual ``if __name__ == "__main__":``.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from pathlib import Path

from lie_ssl.errors import UserError
from lie_ssl.extras import require
from lie_ssl.frames.config import DataConfig, to_dict
from lie_ssl.frames.factors.base import get_factor
from lie_ssl.frames.folder import check_folder, claimed, finish
from lie_ssl.frames.frameset import FrameSet, shard_name
from lie_ssl.frames.jobs import Job, run_jobs
from lie_ssl.frames.plan import Plan, make_plan
from lie_ssl.frames.shards import Shard
from lie_ssl.render.view import RenderSettings
from lie_ssl.storage.hashes import file_hash
from lie_ssl.storage.limits import check_memory, gigabytes
from lie_ssl.threads import usable_cores

Progress = Callable[[int, int], None]  # frames done, frames in all
BYTES_A_FRAME = 200  # of the index while it is made


def make_frames(
    config: DataConfig,
    out: Path | str,
    *,
    recipe: str = "custom",
    workers: int | None = None,
    strict: bool = False,
    progress: Progress = lambda done, total: None,
) -> FrameSet:
    """Makes the data set of `config` in the folder `out`, or finishes it; returns it opened.

    The bytes depend on the config alone: not on the number of workers, nor on how often the run was cut off.

    Args:
        config: What the data set holds.
        out: Its folder. Another data set in it is never written over.
        recipe: The name of the recipe, for the card.
        workers: Processes; None for one on each core.
        strict: Raise `UserError` at the first object that cannot be drawn, in place of leaving it out.
        progress: Called with the number of frames done and the number of all frames.
    """
    if workers is not None and workers < 1:
        raise UserError(f"workers is {workers}, but it takes at least one process to draw; leave it out for all cores")
    folder = Path(out)
    if check_folder(folder, to_dict(config)):
        return FrameSet(folder)
    require("drawing", "render")
    _check_disk(folder, config, expected_frames(config))
    plan = make_plan(config, strict=strict)
    with claimed(folder, to_dict(config), recipe) as finished:
        if finished:
            return FrameSet(folder)
        _check_disk(folder, config, plan.n_frames)
        hashes = _draw_all(plan, config, folder, workers or usable_cores(), progress)
        finish(
            folder,
            recipe=recipe,
            config=to_dict(config),
            source=plan.source.name,
            size=config.render.size,
            channels=config.render.channels,
            factors=config.varied,
            rows=plan.rows,
            dropped=plan.dropped,
            notes=plan.notes,
            hashes=hashes,
        )
    return FrameSet(folder)


def expected_bytes(settings: RenderSettings) -> int:
    """A careful guess at the stored size of one frame (measured: 7.6 kB at 224 px, 2.1 kB at 64 px)."""
    return 400 + int(settings.channels / 3 * settings.size**1.67)


def expected_frames(config: DataConfig) -> int:
    """How many frames a data set will have at least, as far as it is known before its source is listed."""
    turns = math.ceil(360 / config.step - 1e-9)
    poses = sum(config.rotations if kind == "so3" else turns for kind in config.poses) * config.repeats
    return poses * config.make_source().expected_instances(config.classes)


def _check_disk(folder: Path, config: DataConfig, frames: int) -> None:
    """Refuses what cannot fit: with a guess before a list of all frames is made, and once more with their number."""
    there = next(p for p in (folder, *folder.absolute().parents) if p.is_dir())
    done = sum(p.stat().st_size for p in folder.glob("frames-*.bin"))
    needed, free = frames * expected_bytes(config.render) - done, shutil.disk_usage(there).free
    remedy = "make it smaller (--instances, --step, --rotations, --repeats, --size)"
    if needed > free:
        raise UserError(
            f"a data set of {frames:.3g} frames needs about {gigabytes(needed)}, but {there} has {gigabytes(free)} "
            f"free; free some space or {remedy}"
        )
    check_memory(frames * BYTES_A_FRAME, f"a data set of {frames:.3g} frames", remedy)


def _draw_all(plan: Plan, config: DataConfig, folder: Path, workers: int, progress: Progress) -> dict[str, str]:
    """Draws the missing shards; returns the hash of every shard file."""
    for leftover in folder.glob(".*.part"):
        leftover.unlink()
    factors = tuple(get_factor(name) for name in config.varied)
    hashes: dict[str, str] = {}
    jobs: list[Job] = []
    done = 0
    for number, positions in enumerate(plan.shards()):
        path = folder / shard_name(number)
        rows = [plan.rows[i] for i in positions]
        if path.exists() and len(Shard(path)) == sum(len(r.distinct()) for r in rows):
            hashes[path.name] = file_hash(path)
            done += sum(len(r.poses) for r in rows)
        else:
            jobs.append(Job(plan.source, [plan.entries[i] for i in positions], rows, factors, config, path))
    progress(done, plan.n_frames)
    for frames, name, digest in run_jobs(jobs, workers):
        done += frames
        progress(done, plan.n_frames)
        if name:
            hashes[name] = digest
    progress(plan.n_frames, plan.n_frames)
    return hashes
