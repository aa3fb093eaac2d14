"""The examples work."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import Tensor, nn

import lie_ssl
from lie_ssl.cli import main
from lie_ssl.errors import UserError
from lie_ssl.methods import Draws, method_config
from lie_ssl.methods.registry import method_type
from tests.gloo import run_in_processes

if TYPE_CHECKING:  # one test runs this file in other processes, which should start fast
    from lie_ssl.frames import FrameSet

EXAMPLES = Path(__file__).parents[1] / "examples"
BARLOW = "examples.barlow_twins:BarlowTwins"


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_operator_on_a_plain_model() -> None:
    assert example("operator_on_a_plain_model").main(steps=300) < 0.8  # clearly better than not moving


def test_turning(tiny: FrameSet, tmp_path: Path) -> None:
    from PIL import Image

    from lie_ssl.training.run import pretrain
    from tests.training.adapted_runs import tiny_adapted

    run = pretrain(tiny_adapted(tiny, tmp_path / "banks", optim__steps=1), tmp_path / "run")
    arguments = [str(run), str(tiny.folder), "--poses", "2d", "--out", str(tmp_path / "turning.gif"), "--classes"]
    with Image.open(example("turning").main([*arguments, "car", "mug"])) as film:
        assert getattr(film, "n_frames", 1) == 6  # one for each pose
        assert film.width == 2 * 192
    with pytest.raises(UserError, match="no unknown spoon in 2d poses"):
        example("turning").main([*arguments, "spoon"])


@pytest.mark.parametrize("arm", ["alone", "lie"])
def test_your_photographs(tiny: FrameSet, tmp_path: Path, arm: str) -> None:
    from PIL import Image

    from lie_ssl.training.run import pretrain
    from tests.training.tiny_runs import tiny_run

    run = pretrain(tiny_run(tiny, "mae", arm, optim__steps=1), tmp_path / "run")
    (tmp_path / "photos").mkdir()
    module = example("your_photographs")
    Image.fromarray(tiny.read([0])[0]).save(tmp_path / "photos" / "0.png")
    with pytest.raises(UserError, match="at least two are needed"):
        module.main([str(run), str(tmp_path / "photos")])
    for i in range(1, 5):
        Image.fromarray(tiny.read([i])[0]).resize((40, 20)).convert("RGBA").save(tmp_path / "photos" / f"{i}.png")
    out = module.main([str(run), str(tmp_path / "photos"), "--out", str(tmp_path / "page.png")])
    assert (Image.open(out).width > 1000) == (arm == "lie")  # neighbours, and orbits if there is an operator
    saved = lie_ssl.load(run).save_pretrained(tmp_path / "saved")
    module.main([str(saved), str(tmp_path / "photos"), "--out", str(tmp_path / "again.png")])
    assert Image.open(tmp_path / "again.png").size == Image.open(out).size
    z = torch.tensor([[1.0, 0.0, 9.0], [0.9, 0.1, -9.0], [0.0, 1.0, 9.0]])
    assert module.nearest(z, 2)[0].tolist() == [1, 2]
    assert module.nearest(z, 0)[0].tolist() == [2, 1]


def flags(data: Path, out: Path) -> list[str]:
    words = f"--data {data} --out {out} --optim.steps 3 --optim.batch 6 --log.every 1 --method.expander 16 16"
    return [*words.split(), "--log.no-tensorboard", "--device", "cpu"]


@pytest.mark.parametrize("arm", ["alone", "lie"])
def test_barlow_twins_trains_from_the_command_line(
    tiny: FrameSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arm: str, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(EXAMPLES.parent)
    import lie_ssl

    out = tmp_path / "run"
    main(["pretrain", BARLOW, arm, *flags(tiny.folder, out)])
    assert "the run is finished" in capsys.readouterr().out
    loaded = lie_ssl.load(out, trust=["examples.barlow_twins:BarlowTwins"])
    assert loaded.config is not None
    assert (loaded.config.method.name, loaded.config.optim.steps) == (BARLOW, 3)
    assert (loaded.operator is not None) == (arm == "lie")
    assert loaded.embed(tiny.read([0, 1])).shape == (2, 128)
    assert "invariance" in (out / "metrics.csv").read_text().splitlines()[0]


def test_the_loss_of_barlow_twins_agrees_with_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(EXAMPLES.parent)
    torch.manual_seed(0)
    method = barlow_twins({"expander": [4], "redundancy": 0.1})
    e, other = (torch.randn(7, 4) * 2 + 1 for _ in range(2))
    first, second = e.tolist(), other.tolist()

    def normalised(x: list[list[float]], j: int) -> list[float]:
        column = [row[j] for row in x]
        mean = sum(column) / 7
        deviation = math.sqrt(sum((v - mean) ** 2 for v in column) / 7 + 1e-5)
        return [(v - mean) / deviation for v in column]

    total = 0.0
    for i in range(4):
        for j in range(4):
            pairs = zip(normalised(first, i), normalised(second, j), strict=True)
            c = sum(a * b for a, b in pairs) / 7
            total += (1 - c) ** 2 if i == j else 0.1 * c**2
    assert method._output(e, e, other).loss.item() == pytest.approx(total, rel=1e-5)
    assert method._output(e, e, e).terms["invariance"].item() < 1e-6
    with pytest.raises(UserError, match="redundancy is -1"):
        method_config(BARLOW, {"redundancy": -1})


class SmallEncoder(nn.Module):
    """(B, 3, 8, 8) -> (B, 6): the part of an encoder that a method needs."""

    dim = 6

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(192, 6))

    def forward(self, images: Tensor) -> Tensor:
        z: Tensor = self.layers(images)
        return z


def barlow_twins(settings: dict[str, Any]) -> Any:
    made: Any = method_type(BARLOW)
    return made(SmallEncoder(), method_config(BARLOW, settings))


def barlow_step(rank: int, world: int) -> Tensor:
    """Loss and gradient, averaged over processes as in DistributedDataParallel."""
    torch.manual_seed(0)
    method = barlow_twins({"expander": [5]})
    images = torch.rand(8, 3, 8, 8)
    start, stop = ((0, 8), (0, 3), (3, 8))[0 if world == 1 else rank + 1]
    out = method([images[start:stop]], [Draws(0, 0, 8, start, stop - start)])[0]
    out.loss.backward()
    result = torch.cat([out.loss.detach()[None], *(p.grad.flatten() for p in method.parameters())])
    if world > 1:
        torch.distributed.all_reduce(result)
    return result / world


def test_two_processes_train_barlow_twins_like_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(EXAMPLES.parent)
    alone = barlow_step(0, 1)
    assert alone[1:].abs().max() > 0
    for joined in run_in_processes(barlow_step, 2, tmp_path):
        torch.testing.assert_close(joined, alone, rtol=1e-4, atol=1e-5)


def test_turntable_angles(tmp_path: Path) -> None:
    """Two of four objects are measured in a split; with renders, all four."""
    import numpy as np
    from PIL import Image

    from lie_ssl.frames import PhotoConfig, import_photographs

    (tmp_path / "photos").mkdir()
    for number in range(1, 5):
        noise = np.random.default_rng(number).integers(0, 255, (12, 12), np.uint8)
        for turn in range(0, 72, 9):
            Image.fromarray(np.roll(noise, turn, axis=1)).save(tmp_path / "photos" / f"obj{number}__{turn}.png")
    import_photographs(PhotoConfig(str(tmp_path / "photos"), size=96), tmp_path / "renders")
    table = example("turntable_angles").main([
        str(tmp_path / "photos"), "--work", str(tmp_path / "work"), "--out", str(tmp_path / "angles.csv"),
        "--renders", str(tmp_path / "renders"), "--splits", "1", "--steps", "2", "--pairs", "6",
        "--encoder", "resnet_mini",
    ])  # fmt: skip
    assert table.groupby("trained_on").size().to_dict() == {"photographs": 2, "renders": 4}
    assert table["median"].between(0, 180).all()
    assert table["mrr"].between(0, 1).all()
    assert (tmp_path / "angles.csv").exists()
