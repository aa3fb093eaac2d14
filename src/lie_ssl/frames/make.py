"""Makes a data set: renders, encodes and stores every frame, on all cores, and resumes after an interruption.

`recipe.json` is written first and says what the folder will contain; shards follow, each complete or absent; the card
comes last.

A script that calls :func:`make_frames` with more than one worker needs the usual ``if __name__ == "__main__":``.
"""

from __future__ import annotations

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
from lie_ssl.frames.kinds import KINDS
from lie_ssl.frames.plan import Plan, make_plan
from lie_ssl.frames.shards import Shard
from lie_ssl.render.view import RenderSettings
from lie_ssl.storage.hashes import file_hash
from lie_ssl.storage.limits import check_memory, gigabytes
from lie_ssl.threads import usable_cores

Progress = Callable[[int, int], None]  # frames done, all frames
BYTES_A_FRAME = 200  # of the index while it is built


def make_frames(
    config: DataConfig,
    out: Path | str,
    *,
    recipe: str = "custom",
    workers: int | None = None,
    strict: bool = False,
    progress: Progress = lambda done, total: None,
) -> FrameSet:
    """Makes the data set of `config` in the folder `out`, or finishes it.

    The bytes depend only on the config, not on the number of workers or on interruptions.

    Args:
        config: Contents of the data set.
        out: Its folder. Another data set in it is never overwritten.
        recipe: The name of the recipe, for the card.
        workers: Number of processes; None for one per core.
        strict: Raise `UserError` for the first object that cannot be rendered, instead of leaving it out.
        progress: Called with the number of frames done and the number of all frames.

    Returns:
        The data set, opened for reading.
    """
    if workers is not None and workers < 1:
        raise UserError(f"workers is {workers}, but it must be at least 1; leave it out for one per core")
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
    """A generous estimate of the stored size of one frame (measured: 7.6 kB at 224 px, 2.1 kB at 64 px)."""
    return 400 + int(settings.channels / 3 * settings.size**1.67)


def expected_frames(config: DataConfig) -> int:
    """A lower bound on the number of frames, before the source is listed."""
    poses = sum(config.rotations if KINDS[k].free else config.turns for k in config.poses) * config.repeats
    return poses * config.make_source().expected_instances(config.classes)


def _check_disk(folder: Path, config: DataConfig, frames: int) -> None:
    """Rejects a data set that does not fit, first with an estimate, then with the exact number of frames."""
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
    """Renders the missing shards; returns the hash of every shard file."""
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
