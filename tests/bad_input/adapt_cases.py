"""Invalid input of `lie-ssl adapt`, and damaged adapted runs."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from lie_ssl.frames import make_frames
from tests.bad_input.commands import Case
from tests.bad_input.workspace import EVIL, Workspace
from tests.conftest import tiny_config

HERE = "tests.bad_input.adapt_cases"
BANKS = ("banks",)  # what a bank may leave: an unfinished one, which the same command resumes


class NotFinite(nn.Module):
    """Its features are not finite."""

    def forward(self, images: Tensor) -> Tensor:
        return images.flatten(1) / 0


class Flat(nn.Module):
    """Gives no map."""

    def forward(self, images: Tensor) -> Tensor:
        return images.flatten(1)


def adapt(encoder: Any = "resnet_mini", objective: str = "lie", *flags: str) -> Callable[[Workspace], list[Any]]:
    return lambda w: [
        "adapt", encoder, objective, "--data", w.data, "--out", w.out, "--banks", w.tmp / "banks", "--adapt.hidden",
        "8", "--optim.steps", "1", "--optim.batch", "8", *flags,
    ]  # fmt: skip


def adapt_data(objective: str = "lie", **changes: Any) -> Callable[[Workspace], list[Any]]:
    """Adapts on a data set with other settings."""

    def command(w: Workspace) -> list[Any]:
        frames = make_frames(tiny_config(poses=("2d",), **changes), w.tmp / "data", workers=1)
        return ["adapt", "resnet_mini", objective, "--data", frames.folder, "--out", w.out]

    return command


def adapted(change: Callable[[Path], Any]) -> Callable[[Workspace], Path]:
    """A copy of the adapted run with a change."""

    def made(w: Workspace) -> Path:
        folder = Path(shutil.copytree(w.adapted, w.tmp / "adapted"))
        change(folder / "encoder.safetensors")
        return folder

    return made


def with_bank(change: Callable[[Path], Any]) -> Callable[[Workspace], list[Any]]:
    """Adapts with a changed copy of the bank of the adapted run."""

    def command(w: Workspace) -> list[Any]:
        shutil.copytree(w.adapted.parent / "banks", w.tmp / "banks")
        (bank,) = (w.tmp / "banks").iterdir()
        change(bank)
        return adapt()(w)

    return command


def with_other_encoder(w: Workspace) -> Path:
    folder = adapted(lambda path: None)(w)
    shutil.copy(w.exported, folder / "encoder.safetensors")
    return folder


def rename_network(bank: Path) -> None:
    card = bank / "card.json"
    card.write_text(card.read_text().replace("ResNet", "ViT"))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def evaluate(run: Callable[[Workspace], Any]) -> Callable[[Workspace], list[Any]]:
    return lambda w: ["evaluate", run(w), "--out", w.out]


def exported(w: Workspace) -> list[Any]:
    return ["adapt", w.adapted, "lie", "--data", w.data, "--out", w.out]


ADAPT = [
    Case("no objective", lambda w: ["adapt", "resnet_mini"], "ENCODER OBJECTIVE"),
    Case("no data set", lambda w: ["adapt", "resnet_mini", "lie", "--out", w.out], "--data FOLDER"),
    Case("unknown encoder", adapt("rsnet_mini"), "did you mean resnet_mini"),
    Case("unknown objective", adapt("resnet_mini", "lye"), "did you mean 'lie'"),
    Case("unknown package of weights", adapt("package:nonsense"), "there is no package of weights 'nonsense'"),
    Case("weights of a package", adapt("package:imgsim", "lie", "--weights", "x"), "leave out --weights"),
    Case("missing weight file", adapt("resnet_mini", "lie", "--weights", "x.pt"), "there is no weight file x.pt"),
    Case("a factory that is not there", adapt(f"{HERE}:Nothing"), "cannot be imported"),
    Case("mae", adapt("vit_mini", "alone", "--method", "mae"), "no loss on the stored features"),
    Case("mae for pairs", adapt("vit_mini", "lie", "--method", "mae"), "give --method simclr or vicreg"),
    Case("one view", adapt("resnet_mini", "alone", "--adapt.views", "1"), "adapt.views is 1, but it must be 0, or 2"),
    Case("a loss without views", adapt("resnet_mini", "alone", "--adapt.views", "0"), "give --adapt.views 2 or more"),
    Case("empty head", adapt("resnet_mini", "lie", "--adapt.hidden", "0"), "adapt.hidden is 0"),
    Case("huge head", adapt("resnet_mini", "lie", "--adapt.hidden", "99999999999"), "use a smaller --adapt.hidden"),
    Case("nothing moves", adapt("resnet_mini", "lie", "--adapt.dim", "100"), "at least one must move"),
    Case("one pose", adapt("resnet_mini", "lie", "--poses", "1"), "poses is 1, but pairs need 2 or more"),
    Case("negative weight", adapt("resnet_mini", "lie", "--objective.predict", "-1"), "weights must be 0 or more"),
    Case("nothing to predict", adapt("resnet_mini", "literal", "--objective.predict", "1"), "whose head has a u"),
    Case("dropout of everything", adapt("resnet_mini", "lie", "--adapt.dropout", "1"), "must lie in [0, 1)"),
    Case("unknown layer", adapt("resnet_mini", "lie", "--adapt.features.layers", "x"), "ResNet has no layer 'x'"),
    Case("layers of an encoder without maps", adapt(f"{HERE}:Flat", "lie", "--adapt.features.layers", "x"), "leave features.layers empty"),
    Case("pictures of another size", adapt("resnet_mini", "lie", "--encoder.image-size", "32"), "takes pictures of 3 x 32 px"),
    Case("features that are not finite", adapt(f"{HERE}:NotFinite"), "features that are not finite, for frame 0", leaves=BANKS),
    Case("an adapted encoder", exported, "is an adapted encoder already"),
    Case("a data set as encoder", lambda w: adapt(w.data)(w), "is not the card of a run"),
    Case("a run with code", lambda w: adapt(w.copy_of_run(encoder__name=EVIL))(w), EVIL),
    Case("one object", adapt_data(classes=("car",), instances=1), "a single object"),
    Case("no moves", adapt_data(step=360.0), "no instance has two poses"),
    Case("one move", adapt_data(step=180.0), "have the same move (2d)"),
    Case("a bank of another encoder", with_bank(rename_network), "has been changed or is damaged"),
    Case("damaged bank", with_bank(lambda bank: cut(bank / "features.bin")), "bytes instead of"),
    Case("missing encoder", evaluate(adapted(lambda path: path.unlink())), "lacks encoder.safetensors"),
    Case("damaged encoder", evaluate(adapted(cut)), "encoder.safetensors"),
    Case("encoder of another run", evaluate(with_other_encoder), "does not fit"),
    Case("export of a damaged encoder", lambda w: ["export", adapted(cut)(w), "--out", w.tmp / "m.safetensors"], "cannot read"),
    Case("adapted encoder for timm", lambda w: ["export", w.adapted, "--to", "timm", "--out", w.tmp / "m.safetensors"], "which timm cannot load"),
]  # fmt: skip
