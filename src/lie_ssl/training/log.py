"""The log of a run: CSV always, TensorBoard by default, Weights & Biases on request."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lie_ssl.errors import UserError
from lie_ssl.extras import require
from lie_ssl.serialization import to_plain
from lie_ssl.storage.files import write_whole
from lie_ssl.storage.paths import check_link
from lie_ssl.training.config import LogConfig, PretrainConfig

METRICS, CHECKS = "metrics.csv", "checks.csv"


class Table:
    """A CSV file whose first column is the step. A resumed run drops the rows of steps that it will repeat."""

    def __init__(self, path: Path, resumed_at: int) -> None:
        self.path = path
        self.columns: list[str] = []
        if path.exists():
            rows = [r for r in read_rows(path) if int(r["step"]) <= resumed_at]
            self.columns = list(rows[0]) if rows else []
            write_whole(path, [_text(self.columns, rows).encode()] if rows else [])

    def write(self, row: Mapping[str, float]) -> None:
        """Appends a row immediately; the columns are those of the first row."""
        if not self.columns:
            self.columns = list(row)
            write_whole(self.path, [_text(self.columns, []).encode()])
        with self.path.open("a", newline="", encoding="utf-8") as file:
            csv.writer(file).writerow([_cell(row.get(c, "")) for c in self.columns])


def read_rows(path: Path) -> list[dict[str, str]]:
    """The complete rows of a log, without a truncated last line."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    except (csv.Error, UnicodeDecodeError) as error:
        raise UserError(f"{path} is damaged ({error}); remove it") from error
    whole = [r for r in rows if None not in r and None not in r.values()]
    return [r for r in whole if re.fullmatch(r"[0-9]{1,18}", r.get("step", ""))]


class RunLog:
    """Writes numbers to CSV, TensorBoard and Weights & Biases."""

    def __init__(self, folder: Path, config: PretrainConfig, resumed_at: int) -> None:
        self.tables = {name: Table(folder / name, resumed_at) for name in (METRICS, CHECKS)}
        self._board: Any = None
        self._wandb: Any = None
        if config.log.tensorboard:
            from torch.utils.tensorboard import SummaryWriter

            check_link(folder / "tensorboard", folder)
            self._board = SummaryWriter(str(folder / "tensorboard"), purge_step=resumed_at + 1 if resumed_at else None)
        if config.log.wandb:
            self._wandb = _start_wandb(folder, config)

    def write(self, table: str, step: int, values: Mapping[str, float]) -> None:
        self.tables[table].write({"step": step, **values})
        group = table.removesuffix(".csv")
        if self._board is not None:
            for name, value in values.items():
                self._board.add_scalar(f"{group}/{name}", value, step)
        if self._wandb is not None:
            self._wandb.log({f"{group}/{name}": value for name, value in values.items()}, step=step)

    def close(self) -> None:
        if self._board is not None:
            self._board.close()
        if self._wandb is not None:
            self._wandb.finish()


def check_wandb(config: LogConfig) -> None:
    """Rejects a config that needs Weights & Biases if it is not installed."""
    if config.wandb:
        require("log.wandb", "wandb")


def _start_wandb(folder: Path, config: PretrainConfig) -> Any:
    check_wandb(config.log)
    import wandb

    return wandb.init(
        project=config.log.wandb, name=folder.name, dir=str(folder), config=to_plain(config), resume="allow",
        id=f"{folder.name}-{config.digest()}",
    )  # fmt: skip


def _cell(value: float | str) -> str:
    return f"{value:.8g}" if isinstance(value, float) else str(value)


def _text(columns: list[str], rows: list[dict[str, str]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
