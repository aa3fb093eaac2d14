"""Making a data set: draw, encode and store every frame, on all cores, and go on where an earlier run was stopped.

`recipe.json` is written first and says what the folder is going to be; shards follow, each whole or absent; the card
comes last. Workers are spawned processes: a script that calls :func:`make_frames` with more than one needs the usual
``if __name__ == "__main__":``.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import shutil
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path
from typing import Any

from lie_ssl.errors import UserError
from lie_ssl.frames.codec import encode
from lie_ssl.frames.config import DataConfig, to_dict
from lie_ssl.frames.folder import check_folder, claimed, finish
from lie_ssl.frames.frameset import FrameSet, shard_name
from lie_ssl.frames.index import InstanceRows
from lie_ssl.frames.plan import Plan, make_plan
from lie_ssl.frames.shards import Shard, write_shard
from lie_ssl.objects.mesh import Mesh
from lie_ssl.objects.shapes.registry import class_names
from lie_ssl.objects.sources import Entry, Source
from lie_ssl.render.renderer import render
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
    """
    folder = Path(out)
    if check_folder(folder, to_dict(config)):
        return FrameSet(folder)
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
    """How many frames a data set will have; for sources that have to be listed first, those of one instance."""
    turns = math.ceil(360 / config.step - 1e-9)
    poses = sum(config.rotations if kind == "so3" else turns for kind in config.poses) * config.repeats
    if config.source != "procedural":
        return poses
    return poses * config.instances * (len(config.classes) or len(class_names()))


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
            jobs.append(Job(plan.source, [plan.entries[i] for i in positions], rows, config, path))
    progress(done, plan.n_frames)
    for frames, name, digest in _finished(jobs, workers):
        done += frames
        progress(done, plan.n_frames)
        if name:
            hashes[name] = digest
    progress(plan.n_frames, plan.n_frames)
    return hashes


class Job:
    """One shard to draw."""

    def __init__(
        self, source: Source, entries: list[Entry], rows: list[InstanceRows], config: DataConfig, path: Path
    ) -> None:
        self.source, self.entries, self.rows, self.config, self.path = source, entries, rows, config, path

    def run(self, count: Callable[[int], None]) -> tuple[str, str]:
        """Draws, encodes and writes; returns the file's name and hash."""
        frames: list[bytes] = []
        for entry, rows in zip(self.entries, self.rows, strict=True):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the catalogue has made notes of them
                mesh: Mesh = self.source.mesh(entry)
            views = [rows.poses[i].view for i in rows.distinct()]
            pictures = render(mesh, views, self.config.render, self.config.backend)
            frames += [encode(picture) for picture in pictures]
            count(len(rows.poses))
        write_shard(self.path, frames)
        return self.path.name, file_hash(self.path)


def _finished(jobs: list[Job], workers: int) -> Iterator[tuple[int, str, str]]:
    """Runs the jobs; yields (new frames, "", "") as they are drawn and (0, name, hash) for each finished shard."""
    if min(workers, len(jobs)) <= 1:
        for job in jobs:
            counts: list[int] = []
            name, digest = job.run(counts.append)
            yield sum(counts), name, digest
        return
    if jobs[0].config.backend == "raster":
        _warm_up(jobs[0].config)
    context = multiprocessing.get_context("spawn")
    counter = context.Value("q", 0)
    reported = 0
    with ProcessPoolExecutor(min(workers, len(jobs)), context, _begin_worker, (counter,)) as pool:
        waiting = {pool.submit(_run_in_worker, job) for job in jobs}
        try:
            while waiting:
                finished, waiting = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
                yield counter.value - reported, "", ""
                reported = counter.value
                for future in finished:
                    yield 0, *future.result()
        except (KeyboardInterrupt, SystemExit):
            for process in multiprocessing.active_children():  # they need not finish what they are at
                process.terminate()
            raise
        except BrokenProcessPool as error:
            raise UserError(
                'a worker process stopped: a script must call make_frames under `if __name__ == "__main__":` (or '
                "with workers=1); otherwise memory may be short, and the same command goes on where it was"
            ) from error
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _warm_up(config: DataConfig) -> None:
    """Compiles the kernels once, into the cache that all workers read."""
    from lie_ssl.objects.shapes.solids import box
    from lie_ssl.render.view import View

    encode(render(box(1, 1, 1).mesh().normalised(), [View()], replace(config.render, size=8))[0])


_counter: Any = None


def _begin_worker(counter: Any) -> None:
    global _counter
    _counter = counter
    parent = multiprocessing.parent_process()
    if parent is not None:
        # A worker whose parent was killed must not go on writing.
        threading.Thread(target=_die_with, args=(parent,), daemon=True).start()


def _die_with(parent: Any) -> None:
    parent.join()
    os._exit(1)


def _run_in_worker(job: Job) -> tuple[str, str]:
    def count(frames: int) -> None:
        with _counter.get_lock():
            _counter.value += frames

    return job.run(count)
