"""What happens between the steps of a run: logging, checks, checkpoints."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import lightning.pytorch as pl
import torch
from torch import distributed as dist

from lie_ssl.contrast.gather import is_distributed
from lie_ssl.lie.diagnostics import Diagnostics
from lie_ssl.training.checkpoints import BEST, LAST
from lie_ssl.training.checks import Checks
from lie_ssl.training.config import PretrainConfig
from lie_ssl.training.log import CHECKS, METRICS, RunLog
from lie_ssl.training.module import Pretraining
from lie_ssl.training.progress import ProgressReporter


class RunCallback(pl.Callback):
    """Logs, checks and saves at the configured steps, in this order, so that a checkpoint includes all of them."""

    def __init__(
        self, folder: Path, config: PretrainConfig, checks: Checks, reporter: ProgressReporter, resumed_at: int
    ) -> None:
        self.folder, self.config, self.checks, self.reporter = folder, config, checks, reporter
        self.resumed_at = resumed_at
        self.best = -float("inf")
        self._log: RunLog | None = None
        self._since, self._images = time.perf_counter(), 0
        self.training = False  # whether a step has begun, after any checkpoint was restored

    def on_train_batch_start(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, batch: Any, batch_idx: int
    ) -> None:
        self.training = True

    def on_fit_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        if trainer.is_global_zero:
            self._log = RunLog(self.folder, self.config, self.resumed_at)
        self._since, self._images = time.perf_counter(), 0

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        assert isinstance(pl_module, Pretraining)
        self._images += 2 * self.config.optim.batch
        if pl_module.batches % self.config.optim.accumulate:
            return
        step, steps = trainer.global_step, self.config.optim.steps
        last = step == steps
        if step % self.config.log.every == 0 or last or step == 1:
            self._write_step(trainer, pl_module, step)
        if step % self.config.check_every == 0 or last:
            self._check(trainer, pl_module, step)
        if step % self.config.save_every == 0 or last:
            trainer.save_checkpoint(self.folder / LAST)

    def on_exception(self, trainer: pl.Trainer, pl_module: pl.LightningModule, exception: BaseException) -> None:
        self._close()

    def on_fit_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self._close()

    def state_dict(self) -> dict[str, Any]:
        return {"best": self.best}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.best = state_dict["best"]

    def _write_step(self, trainer: pl.Trainer, module: Pretraining, step: int) -> None:
        names = list(module.last)
        values = torch.stack([module.last[name].float().to(module.device) for name in names])
        if is_distributed():
            dist.all_reduce(values)
            values = values / dist.get_world_size()
        row = dict(zip(names, values.tolist(), strict=True))
        row["skipped"] = module.skipped
        row["images_per_second"] = self._images / max(1e-9, time.perf_counter() - self._since)
        self._since, self._images = time.perf_counter(), 0
        if self._log is not None:
            self._log.write(METRICS, step, row)
            self.reporter.step(step, self.config.optim.steps, row["loss"])

    def _check(self, trainer: pl.Trainer, module: Pretraining, step: int) -> None:
        begin = time.perf_counter()
        found = self.checks.run(module.model)
        score = found.get("knn", -float(module.last["loss"]))
        if self._log is not None:
            if found:
                self._log.write(CHECKS, step, found)
            self.reporter.say(summary(step, self.config.optim.steps, float(module.last["loss"]), found))
            if (warning := operator_warning(found)) is not None:
                self.reporter.say(f"warning: {warning}")
        if self._agreed(score > self.best, module.device):
            self.best = score
            trainer.save_checkpoint(self.folder / BEST)
        self._since += time.perf_counter() - begin  # the speed shown is that of training

    @staticmethod
    def _agreed(better: bool, device: torch.device) -> bool:
        """The first process's answer, for all processes, so that they save together."""
        if not is_distributed():
            return better
        flag = torch.tensor(float(better), device=device)
        dist.broadcast(flag, 0)
        return bool(flag > 0)

    def _close(self) -> None:
        if self._log is not None:
            self._log.close()
            self._log = None


def summary(step: int, steps: int, loss: float, found: dict[str, float]) -> str:
    """One line with the results of a check."""
    parts = [f"step {step:,} of {steps:,}: loss {loss:.4g}"]
    if "knn" in found:
        parts.append(f"k-NN on validation {100 * found['knn']:.1f} %")
    if "relative_error" in found:
        parts.append(f"operator error {found['relative_error']:.2f} (identity: 1)")
    return ", ".join(parts)


def operator_warning(found: dict[str, float]) -> str | None:
    """One sentence if the operator has collapsed or is exploding; None otherwise."""
    names = Diagnostics.__dataclass_fields__
    if not all(name in found for name in names):
        return None
    return Diagnostics(**{name: found[name] for name in names}).warning()
