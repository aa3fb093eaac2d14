"""Renders shards, in this process or in several.

Workers are spawned processes. They do not know what was registered in this one, so a job carries its source and its
factors of variation. A job that cannot be pickled runs in this process.
"""

from __future__ import annotations

import multiprocessing
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lie_ssl._workers import begin_worker, workers_can_start
from lie_ssl.errors import UserError
from lie_ssl.frames.codec import encode
from lie_ssl.frames.config import DataConfig
from lie_ssl.frames.factors.base import Factor
from lie_ssl.frames.index import InstanceRows
from lie_ssl.frames.poses import Pose
from lie_ssl.frames.shards import write_shard
from lie_ssl.objects.sources.base import CatalogueEntry, Source
from lie_ssl.render.renderer import render
from lie_ssl.storage.hashes import file_hash


@dataclass(frozen=True)
class Job:
    """One shard to render, with everything that is needed for it."""

    source: Source
    entries: list[CatalogueEntry]
    rows: list[InstanceRows]
    factors: tuple[Factor, ...]
    config: DataConfig
    path: Path

    def run(self, count: Callable[[int], None]) -> tuple[str, str]:
        """Renders, encodes and writes the shard; returns the file's name and hash."""
        frames: list[bytes] = []
        for entry, rows in zip(self.entries, self.rows, strict=True):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the catalogue has already recorded them
                mesh = self.source.mesh(entry)
            poses = [rows.poses[i] for i in rows.distinct()]
            pictures = render(
                mesh, [pose.view(self.factors) for pose in poses], self.config.render, self.config.backend
            )
            frames += [encode(apply_to_picture(*each, self.factors)) for each in zip(pictures, poses, strict=True)]
            count(len(rows.poses))
        write_shard(self.path, frames)
        return self.path.name, file_hash(self.path)


def apply_to_picture(picture: NDArray[np.uint8], pose: Pose, factors: Sequence[Factor]) -> NDArray[np.uint8]:
    """Applies the factors that act on the rendered picture."""
    for factor in factors:
        if factor.name in pose.values:
            changed = factor.apply_picture(picture, pose.values[factor.name])
            if changed.shape != picture.shape or changed.dtype != picture.dtype:
                raise UserError(
                    f"the factor {factor.name} turned a picture of {picture.shape} {picture.dtype} into one of "
                    f"{changed.shape} {changed.dtype}; its apply_picture must keep shape and type"
                )
            picture = np.ascontiguousarray(changed)
    return picture


def _can_be_sent(job: Job) -> bool:
    """Whether a worker can unpickle the job: it must be able to import the classes of the source and the factors."""
    file = getattr(sys.modules["__main__"], "__file__", None)
    if file is None and any(type(part).__module__ == "__main__" for part in (job.source, *job.factors)):
        return False  # defined in a notebook or a console
    if not workers_can_start():
        return False
    try:
        pickle.dumps(job)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
    return True


def run_jobs(jobs: list[Job], workers: int) -> Iterator[tuple[int, str, str]]:
    """Runs the jobs; yields (new frames, "", "") during the work and (0, name, hash) for each finished shard."""
    if min(workers, len(jobs)) <= 1 or not _can_be_sent(jobs[0]):
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
                done, waiting = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
                yield counter.value - reported, "", ""
                reported = counter.value
                for future in done:
                    yield 0, *future.result()
        except (KeyboardInterrupt, SystemExit):
            for process in multiprocessing.active_children():  # the workers need not finish their shards
                process.terminate()
            raise
        except BrokenProcessPool as error:
            raise UserError(
                'a worker process stopped: a script must call make_frames under `if __name__ == "__main__":` (or '
                "with workers=1); otherwise it may have run out of memory, and the same command resumes"
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
    begin_worker()


def _run_in_worker(job: Job) -> tuple[str, str]:
    def count(frames: int) -> None:
        with _counter.get_lock():
            _counter.value += frames

    return job.run(count)
