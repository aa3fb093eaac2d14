"""A pretraining run from config to folder. It can be interrupted at any time; the same call resumes it."""

from __future__ import annotations

import copy
import logging
import os
import signal
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import lightning.pytorch as pl
import torch
from lightning.pytorch.strategies import DDPStrategy
from lightning.pytorch.utilities.exceptions import SIGTERMException
from torch import nn

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet, PairSampler
from lie_ssl.frames.loader import endless_loader
from lie_ssl.frames.pairs import reaches
from lie_ssl.lie.norms import NormError
from lie_ssl.methods.extractor import FeatureExtractor
from lie_ssl.objectives.pair_model import PairModel
from lie_ssl.objectives.registry import objective_type
from lie_ssl.serialization import MAX_INTEGER
from lie_ssl.storage.cards import CARD
from lie_ssl.storage.limits import check_memory, check_minimum_memory
from lie_ssl.storage.locks import folder_lock
from lie_ssl.storage.trust import is_import_path
from lie_ssl.training.adaptable import check_adaptable
from lie_ssl.training.bank import build_extractor
from lie_ssl.training.banked import FROZEN, check_adapted, check_frozen, stored_features, write_frozen
from lie_ssl.training.batchnorm import convert_batchnorm
from lie_ssl.training.bf16 import REMEDY as AMX_REMEDY
from lie_ssl.training.bf16 import cpu_has_bf16
from lie_ssl.training.callback import RunCallback
from lie_ssl.training.capacity import run_threads
from lie_ssl.training.checkpoint_io import AtomicCheckpointIO
from lie_ssl.training.checkpoints import LAST, last_line, model_state, read_checkpoint
from lie_ssl.training.checks import Checks
from lie_ssl.training.config import PretrainConfig, import_paths, kinds_of
from lie_ssl.training.continuing import check_continued
from lie_ssl.training.coordinates import store_coordinates
from lie_ssl.training.folder import check_run, first_card, read_run_card, write_config, write_run_card
from lie_ssl.training.loading import load
from lie_ssl.training.log import check_wandb
from lie_ssl.training.model import build_model, set_speeds
from lie_ssl.training.module import Pretraining
from lie_ssl.training.progress import NullReporter, ProgressReporter
from lie_ssl.training.sampling import pair_sampler
from lie_ssl.training.start import start_from

REMEDY = "copy the run again, or remove its folder and train it again"
BYTES_PER_WEIGHT = 12  # the gradient and AdamW's two running means; the weight itself is already allocated


def pretrain(
    config: PretrainConfig, out: Path | str, reporter: ProgressReporter | None = None, encoder: nn.Module | None = None
) -> Path:
    """Trains an encoder, or resumes its training.

    Under torchrun, every process calls it with the same config, and the first one writes.

    Args:
        config: Settings of the run.
        out: Folder of the run. An unfinished run is resumed; another run is never overwritten.
        reporter: Receives the progress.
        encoder: The encoder to adapt, if it is a module that the config cannot describe.

    Returns:
        The folder of the run.
    """
    out, reporter = Path(out), reporter or NullReporter()
    rank, world = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
    if not objective_type(config.objective.name).trains:
        raise UserError(
            f"the objective {config.arm} trains nothing; `lie-ssl reproduce adapt --only {config.arm}` evaluates it"
        )
    device = choose_device(config)
    check_minimum_memory()
    check_wandb(config.log)
    frames = FrameSet(config.data)
    check_batch(config, frames, world)
    sampler = pair_sampler(config, frames, rank=rank, world=world)
    check_adaptable(config, frames, sampler)
    if check_run(out, config, frames):
        if encoder is not None and config.unfreeze is None:
            check_frozen(out, build_extractor(encoder, frames))
        whole = load(out, trust=import_paths(config), encoder=copy.deepcopy(encoder)).model
        assert whole is not None
        check_finite(whole.state_dict(), out / LAST)
        reporter.say(f"{out} is already finished")
        return out
    if config.unfreeze is not None and not (out / LAST).exists():
        check_continued(config, sampler.deltas.factors)
    frozen: FeatureExtractor | None = None
    if config.adapt is not None:
        frozen = build_extractor(encoder or config.encoder, frames, config.adapt.features)
        if config.unfreeze is None:
            check_frozen(out, frozen)
        if encoder is None and config.encoder.weights is None and not is_import_path(config.encoder.name):
            reporter.say(f"warning: {config.encoder.name} has random weights; give --weights timm or a file")
    model = build_model(
        config, frames.size, frames.channels, sampler.deltas.factors, stored=None if frozen is None else frozen.slices,
        extractor=None if config.unfreeze is None else frozen,
    )  # fmt: skip
    set_speeds(model.operator, sampler.deltas.factors, reaches(frames.index, sampler.deltas.factors))
    unfrozen: tuple[str, ...] = ()
    if config.unfreeze is not None:
        unfrozen = check_adapted(model.method.encoder).unfreeze(config.unfreeze)
        reporter.say(f"training {', '.join(unfrozen)} and what follows; everything before stays frozen")
    elif frozen is not None:  # last, as it may take minutes
        frames = stored_features(encoder or config.encoder, config, frames, reporter)
        frames.standardise(check_adapted(model.method.encoder), config)
    if device == "cpu":
        weights = sum(p.numel() for p in model.parameters() if p.requires_grad)
        check_memory(weights * BYTES_PER_WEIGHT, f"training {weights:.3g} weights", "use a smaller encoder")
    if config.start and not (out / LAST).exists():
        reporter.say(start_from(model, config, frames.card["card_hash"]))
    if world > 1:
        # The heads of the pair losses are not converted: every process gives them the joined batch.
        convert_batchnorm(model.method)
    with ExitStack() as stack:
        stack.enter_context(run_threads(config, frames))
        if rank == 0:
            out.mkdir(parents=True, exist_ok=True)
            stack.enter_context(folder_lock(out))
            begin(out, config, frames, model, device, world, frozen, unfrozen)
        fit(model, config, frames, sampler, out, reporter, device, rank, world)
        if rank == 0:
            finish(out, model, frames, config)
    return out


def check_batch(config: PretrainConfig, frames: FrameSet, world: int) -> None:
    """Rejects a batch whose pictures alone, as bytes and as floats, do not fit into memory."""
    numbers = config.objective.clip * config.optim.batch / world * frames.channels * frames.size**2
    check_memory(5 * numbers, f"a batch of optim.batch {config.optim.batch:,} pairs", "use a smaller --optim.batch")


def begin(
    out: Path, config: PretrainConfig, frames: FrameSet, model: PairModel, device: str, world: int,
    frozen: FeatureExtractor | None = None, unfrozen: Sequence[str] = (),
) -> None:  # fmt: skip
    """Creates the folder, and removes temporary files of a killed process."""
    for leftover in out.glob(".*.part"):
        leftover.unlink()
    write_config(out, config)
    if frozen is not None and not (out / FROZEN).exists():
        write_frozen(out, frozen)
    if not (out / CARD).exists():
        encoder = model.method.encoder if frozen is None else frozen.encoder
        card = first_card(config, frames, encoder, device, world)
        operator = None if model.operator is None else model.operator.title
        card |= {"unfrozen": list(unfrozen)} if unfrozen else {}
        write_run_card(out, card | {"dim": model.method.encoder.dim, "operator": operator, "seconds": 0.0})


def fit(
    model: PairModel, config: PretrainConfig, frames: FrameSet, sampler: PairSampler, out: Path,
    reporter: ProgressReporter, device: str, rank: int, world: int,
) -> None:  # fmt: skip
    """Runs the training loop, from the last checkpoint on."""
    last = out / LAST
    done = read_checkpoint(last) if last.exists() else None
    first, step = (done["lie_ssl"]["batches"], done["global_step"]) if done else (0, 0)
    if done:
        check_resumable(done, model, last)
        if not (0 <= step <= config.optim.steps and 0 <= first <= MAX_INTEGER):
            raise UserError(f"{last} is from step {step:.3g}, but the run has {config.optim.steps:,}; {REMEDY}")
        reporter.say(f"resuming at step {step:,}")
    checks = Checks(
        frames, config.optim.batch, config.diverse, config.seed, rank, world, kinds_of(config, frames),
        config.objective.clip,
    )  # fmt: skip
    callback = RunCallback(out, config, checks, reporter, resumed_at=step)
    module = Pretraining(model, config)
    loader = endless_loader(frames, sampler, first, config.workers)
    with quiet(), interruptible():
        trainer = build_trainer(config, device, callback, out)
        started = time.perf_counter()
        try:
            trainer.fit(module, loader, ckpt_path=str(last) if done else None, weights_only=True if done else None)
        except NormError as error:
            raise UserError(
                f"step {module.global_step + 1}: the operator's |t . L| reaches about {error.norm:.3g}; earlier "
                "checkpoints are kept. Lower optim.operator_lr, or bound t with --objective.operator.max-norm"
            ) from error
        except (RuntimeError, ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
            if done and not callback.training:  # Lightning could not read the checkpoint
                raise UserError(f"{last} is damaged, so the run cannot be resumed; {REMEDY}") from error
            if world == 1 or not is_lost_connection(error):
                raise
            raise UserError(
                f"process {rank} of {world} lost its connection to another process, which ended; see the messages "
                "above, and run the same torchrun command again to resume from the last checkpoint"
            ) from error
    if rank == 0:
        card = read_run_card(out)
        write_run_card(out, card | {"seconds": round(card["seconds"] + time.perf_counter() - started, 1)})


def check_resumable(checkpoint: dict[str, Any], model: PairModel, path: Path) -> None:
    """Rejects a checkpoint of another model, or one that lacks parts that are needed to resume."""
    missing = [name for name in ("optimizer_states", "lr_schedulers", "loops", "callbacks") if name not in checkpoint]
    if missing:
        raise UserError(f"{path} is damaged: it has no {missing[0]}; {REMEDY}")
    state = model_state(checkpoint)
    try:
        model.load_state_dict(state)
    except RuntimeError as error:
        raise UserError(f"{path} is from another model ({last_line(error)}); {REMEDY}") from error
    check_finite(state, path)


def check_finite(state: dict[str, torch.Tensor], path: Path) -> None:
    """Rejects weights that are nan or inf."""
    if broken := [name for name, value in state.items() if not bool(torch.isfinite(value).all())]:
        raise UserError(f"{path} has weights that are not finite ({broken[0]}); {REMEDY}")


def is_lost_connection(error: Exception) -> bool:
    """Whether gloo or nccl reports that another process is gone."""
    words = ("gloo", "nccl", "connection closed", "connection reset", "connection refused", "broken pipe")
    return any(word in str(error).lower() for word in words)


def finish(out: Path, model: PairModel, frames: FrameSet, config: PretrainConfig) -> None:
    """Stores the coordinates t, and marks the run as finished in its card."""
    store_coordinates(out, model, frames, config)
    write_run_card(out, read_run_card(out) | {"finished": True, "steps": config.optim.steps})


def build_trainer(config: PretrainConfig, device: str, callback: RunCallback, out: Path) -> pl.Trainer:
    """Lightning's trainer, with its own logging, checkpointing and progress bar disabled."""
    local, world = int(os.environ.get("LOCAL_WORLD_SIZE", "1")), int(os.environ.get("WORLD_SIZE", "1"))
    precision: Any = {"32": "32-true", "bf16": "bf16-mixed", "fp16": "16-mixed"}[config.precision]
    backend = "nccl" if device == "cuda" else "gloo"
    strategy: Any = DDPStrategy(process_group_backend=backend, broadcast_buffers=False) if world > 1 else "auto"
    return pl.Trainer(
        accelerator=device, devices=local, num_nodes=max(1, world // local), strategy=strategy, precision=precision,
        max_steps=config.optim.steps, accumulate_grad_batches=config.optim.accumulate, callbacks=[callback],
        plugins=[AtomicCheckpointIO()], logger=False, enable_checkpointing=False, enable_progress_bar=False,
        enable_model_summary=False, use_distributed_sampler=False, default_root_dir=out, barebones=False,
    )  # fmt: skip


def choose_device(config: PretrainConfig) -> str:
    """The configured device; by default CUDA if available, else the CPU."""
    device: str = config.device
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda" and not torch.cuda.is_available():
        raise UserError("device is cuda, but torch cannot use it here; set --device cpu")
    if device == "mps" and not torch.backends.mps.is_available():
        raise UserError("device is mps, but torch cannot use it here; set --device cpu")
    if config.precision == "fp16" and device == "cpu":
        raise UserError("precision is fp16, but a CPU has no fast fp16; set --precision bf16 or 32")
    if config.precision == "bf16" and device == "cuda" and not torch.cuda.is_bf16_supported():
        raise UserError("precision is bf16, but this GPU does not support it; set --precision fp16 or 32")
    if config.precision == "bf16" and device == "cpu" and not cpu_has_bf16():
        raise UserError(
            "precision is bf16, but this machine does not run the AMX instructions that its processor reports; set "
            f"--precision 32, or {AMX_REMEDY} in the environment"
        )
    return device


@contextmanager
def interruptible() -> Iterator[None]:
    """Restores the usual effect of Ctrl-C and SIGTERM; with Lightning, one exits silently, the other with success."""
    try:
        yield
    except SIGTERMException as stop:
        raise SystemExit(128 + signal.SIGTERM) from stop
    except SystemExit as stop:
        if stop.code == 128 + signal.SIGTERM:
            raise
        signal.signal(signal.SIGINT, signal.default_int_handler)  # Lightning ignores it by now
        raise KeyboardInterrupt from stop


@contextmanager
def quiet() -> Iterator[None]:
    """Hides Lightning's warnings about settings that are made here on purpose."""
    logger = logging.getLogger("lightning.pytorch")
    level = logger.level
    logger.setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="lightning.*")
        warnings.filterwarnings("ignore", message=".*`LeafSpec`.*|.*isinstance\\(treespec, LeafSpec\\).*")
        try:
            yield
        finally:
            logger.setLevel(level)
