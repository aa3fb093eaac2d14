"""Fills a bank with features, in this process or in several single-threaded ones side by side."""

from __future__ import annotations

import multiprocessing
import pickle
import shutil
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import nn

from lie_ssl._workers import begin_worker, workers_can_start
from lie_ssl.errors import UserError
from lie_ssl.storage.limits import available_memory, gigabytes
from lie_ssl.storage.locks import try_lock
from lie_ssl.threads import core_budget
from lie_ssl.training.bank_blocks import BlockFiller
from lie_ssl.training.bank_card import BLOCK
from lie_ssl.training.progress import ProgressReporter

WORKER_MEMORY = 7e8  # bytes of a process with torch and a batch, besides the weights
FEWEST = 16  # blocks per process; starting one takes as long as computing some of them
POLL_INTERVAL = 0.2  # seconds between two attempts to take a lock
EVERY = 1.0  # seconds between two reports of progress


@contextmanager
def filling_lock(folder: Path, reporter: ProgressReporter) -> Iterator[None]:
    """Holds the lock of a bank; waits as long as another process fills it."""
    while True:
        with try_lock(folder) as held:
            if held:
                yield
                return
        reporter.busy(f"waiting for another process that fills {folder}")
        time.sleep(POLL_INTERVAL)


def check_disk(folder: Path, needed: int) -> None:
    """Rejects a bank that does not fit on the disk."""
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise UserError(
            f"the features need {gigabytes(needed)}, but {folder} has {gigabytes(free)} free; free some space, choose "
            "another folder, or take fewer layers or views"
        )


def process_count(jobs: int | None, blocks: int, encoder: nn.Module) -> int:
    """The number of processes: as requested, or as many as there are cores, fit in memory and have enough to do."""
    if jobs is not None:
        if jobs < 1:
            raise UserError(f"jobs is {jobs}, but it must be at least 1")
        return min(jobs, blocks)
    weights = sum(p.numel() for p in encoder.parameters())
    fitting = int(available_memory() / (WORKER_MEMORY + 8 * weights))
    return max(1, min(core_budget(), fitting, blocks // FEWEST))


def fill_blocks(filler: BlockFiller, blocks: Sequence[int], jobs: int, reporter: ProgressReporter) -> None:
    """Fills blocks; the result does not depend on the number of processes."""
    total, told = len(filler.frames), 0.0
    done = total - sum(min(BLOCK, total - block * BLOCK) for block in blocks)
    first: tuple[float, int] | None = None  # the rate counts from the first block on, without the start of processes
    for frames in run_blocks(filler, blocks, jobs):
        done += frames
        now = time.monotonic()
        if first is None:
            first, told = (now, done), now
        elif now - told > EVERY:
            told, rate = now, (done - first[1]) / (now - first[0])
            left = int((total - done) / rate)
            reporter.busy(
                f"computing features: {done:,} of {total:,} frames, {rate:,.0f} frames/s, "
                f"{left // 60}:{left % 60:02d} left"
            )


def run_blocks(filler: BlockFiller, blocks: Sequence[int], jobs: int) -> Iterator[int]:
    """Runs `filler` on the blocks, and yields the number of frames of each as it finishes."""
    sent = _pickled(filler) if jobs > 1 and workers_can_start() else None
    if sent is None:
        yield from map(filler, blocks)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, _begin, (sent,)) as pool:
        try:
            for future in as_completed([pool.submit(_fill, block) for block in blocks]):
                yield future.result()
        except (KeyboardInterrupt, SystemExit):
            for process in multiprocessing.active_children():  # the workers need not finish their blocks
                process.terminate()
            raise
        except BrokenProcessPool as error:
            raise UserError(
                'a worker process stopped: a script must compute features under `if __name__ == "__main__":` (or '
                "with jobs=1); otherwise it may have run out of memory, and the same command resumes"
            ) from error
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _pickled(filler: BlockFiller) -> bytes | None:
    """The filler by value, as torch would put the weights into shared memory, of which there may be little; None if a
    user's own network cannot be sent."""
    try:
        return pickle.dumps(filler)
    except (pickle.PicklingError, AttributeError, TypeError):
        return None


_filler: BlockFiller | None = None


def _begin(sent: bytes) -> None:
    global _filler
    begin_worker()
    torch.set_num_threads(1)
    _filler = pickle.loads(sent)


def _fill(block: int) -> int:
    assert _filler is not None
    return _filler(block)
