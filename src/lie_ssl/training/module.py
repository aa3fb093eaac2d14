"""A pretraining step, as Lightning runs it."""

from __future__ import annotations

from typing import Any

import lightning.pytorch as pl
import torch
from torch import Tensor
from torch import distributed as dist

from lie_ssl.contrast.gather import is_distributed
from lie_ssl.errors import UserError
from lie_ssl.frames.loader import PairTensors
from lie_ssl.methods.draws import Draws, derive_seed
from lie_ssl.methods.features import to_float
from lie_ssl.migration import FORMAT
from lie_ssl.objectives.pair_model import PairModel
from lie_ssl.training.config import PretrainConfig
from lie_ssl.training.optimisers import build_optimiser, gradient_norms
from lie_ssl.training.schedule import scheduler


class Pretraining(pl.LightningModule):
    """Runs the model, clips gradients by group, and watches for values that are not finite.

    `last` holds what the callbacks log: the terms of the loss and the gradient norms of the last batch. All random
    numbers follow from the seed and `batches`, the number of batches so far, so that a resumed run is identical bit
    for bit.
    """

    def __init__(self, model: PairModel, config: PretrainConfig) -> None:
        super().__init__()
        self.model, self.config = model, config
        self.batches = 0
        self.skipped = 0
        self.last: dict[str, Tensor] = {}
        self._first_bad: str | None = None
        self._buffers_before: list[Tensor] = []

    def training_step(self, batch: PairTensors, batch_idx: int) -> Tensor:
        total = self.config.optim.batch
        share = total // self.trainer.world_size
        # For modules that draw from torch's global generator, such as dropout in a user's encoder.
        torch.manual_seed(derive_seed(self.config.seed, "step", self.batches, self.global_rank))
        if self.config.on_nan == "skip" and self.batches % self.config.optim.accumulate == 0:
            self._buffers_before = [b.clone() for b in self.model.buffers()]
        draws = Draws(self.config.seed, self.batches, total, self.global_rank * share, share)
        x, x_next = to_float(batch["x"], self.device), to_float(batch["x_next"], self.device)
        more = to_float(batch["x_more"], self.device) if "x_more" in batch else None
        out = self.model(x, x_next, batch["delta"], batch["paired"], draws, batch["pose"], more, batch["objects"])
        self.batches += 1
        self.last = out.terms
        self._first_bad = self._first_bad or first_not_finite(out.terms)
        total_loss: Tensor = out.total
        return total_loss

    def configure_gradient_clipping(self, optimizer: Any, *_: Any, **__: Any) -> None:
        """Clips each group separately, so that a large gradient of one does not shrink the others."""
        norms = gradient_norms(self.model, self.config.optim.clip)
        self.last |= {f"gradient_{name}": norm.detach() for name, norm in norms.items()}
        self.last["lr"] = torch.tensor(optimizer.param_groups[0]["lr"])
        bad, self._first_bad = self._first_bad, None
        if bad is None and self.config.precision != "fp16":  # with fp16's loss scaling, inf is normal
            bad = next((f"the gradient of the {n}" for n, v in norms.items() if not bool(torch.isfinite(v))), None)
        # The gradients are already averaged over the processes, so all of them see the problem of one.
        if self._anywhere(bad is not None):
            self._not_finite(bad or "a loss in another process")

    def _anywhere(self, bad: bool) -> bool:
        if not is_distributed():
            return bad
        flag = torch.tensor(float(bad), device=self.device)
        dist.all_reduce(flag)
        return bool(flag > 0)

    def _not_finite(self, what: str) -> None:
        step = self.global_step + 1
        if self.config.on_nan == "stop":
            raise UserError(
                f"step {step}: {what} is not finite; earlier checkpoints are kept. Lower optim.lr, or skip such steps "
                "with --on-nan skip"
            )
        self.skipped += 1
        for parameter in self.model.parameters():
            parameter.grad = None  # optimisers do not change parameters without a gradient
        for buffer, before in zip(self.model.buffers(), self._buffers_before, strict=True):
            buffer.copy_(before)

    def configure_optimizers(self) -> Any:
        optim = self.config.optim
        optimiser = build_optimiser(self.model, optim)
        warmup = round(optim.warmup * optim.steps)
        rates = scheduler(optimiser, steps=optim.steps, warmup=warmup, floor=optim.floor)
        return {"optimizer": optimiser, "lr_scheduler": {"scheduler": rates, "interval": "step"}}

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        checkpoint["lie_ssl"] = {
            "batches": self.batches,
            "skipped": self.skipped,
            "method": self.config.method.name,
            "digest": self.config.digest(),
            "format": FORMAT,
        }

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        self.batches, self.skipped = checkpoint["lie_ssl"]["batches"], checkpoint["lie_ssl"]["skipped"]


def first_not_finite(terms: dict[str, Tensor]) -> str | None:
    """The name of the first term that is nan or inf. The total comes last, as it only repeats another's problem."""
    names = sorted(terms, key=lambda name: name in ("ssl", "loss"))
    finite = torch.isfinite(torch.stack([terms[name].float() for name in names])).tolist()  # one copy from the device
    return next((f"the term {name!r}" for name, good in zip(names, finite, strict=True) if not good), None)
