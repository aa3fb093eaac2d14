"""Import paths in files are rejected before anything is imported, unless they are trusted."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

import lie_ssl
from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.methods import EncoderConfig
from lie_ssl.training.config import load_config, read_config
from lie_ssl.training.export import export_run
from lie_ssl.training.run import pretrain
from tests.training.tiny_runs import few_pairs, tiny_run

OWN = f"{__name__}:Net"


class Net(nn.Module):
    """A custom encoder."""

    def __init__(self, channels: int = 3) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(channels, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.layers(images)
        return out


@pytest.fixture(scope="module")
def run(tiny: FrameSet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        few_pairs(patch)
        config = tiny_run(tiny, "simclr", "alone", encoder=EncoderConfig(name=OWN))
        return pretrain(config, tmp_path_factory.mktemp("own") / "run")


def test_a_run_with_a_custom_encoder(run: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="would import and run"):
        lie_ssl.load(run)
    loaded = lie_ssl.load(run, trust=[OWN])
    assert isinstance(loaded.encoder.body, Net)
    saved = loaded.save_pretrained(tmp_path / "saved")
    exported = export_run(run, tmp_path / "e.safetensors", trust=[OWN])
    pictures = torch.rand(2, 3, 16, 16)
    for give in (lie_ssl.from_pretrained, lie_ssl.load):
        with pytest.raises(UserError, match="would import and run"):
            give(saved)
        assert torch.equal(give(saved, trust=[OWN]).embed(pictures), loaded.embed(pictures))
    with pytest.raises(UserError, match="would import and run"):
        lie_ssl.load(exported)
    assert torch.equal(lie_ssl.load(exported, trust=[OWN]).embed(pictures), loaded.embed(pictures))


def test_the_same_command_trusts_its_own_names(tiny: FrameSet, run: Path) -> None:
    """Names on the command line are trusted; a finished run is not trained again."""
    assert pretrain(tiny_run(tiny, "simclr", "alone", encoder=EncoderConfig(name=OWN)), run) == run


@pytest.mark.parametrize("part", ["encoder", "method"])
def test_nothing_is_imported_before_the_error(part: str, run: Path, tmp_path: Path) -> None:
    values = json.loads((run / "config.json").read_text()) | {"encoder": {"name": "vit_mini"}}
    values[part] = {"name": "antigravity:open"}
    (tmp_path / "config.json").write_text(json.dumps(values))
    code = (
        "import sys\nfrom pathlib import Path\nfrom lie_ssl.training.config import load_config\n"
        f"try:\n    load_config(Path({str(tmp_path / 'config.json')!r}))\n"
        "except Exception as error:\n    print(error)\n"
        "print('antigravity' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0].count("antigravity:open") == 2
    assert done.stdout.splitlines()[-1] == "False"


@pytest.mark.parametrize("trust", [(), ("os:system ",), ("os",), ("os:*",), ("vit_mini",)])
def test_only_the_exact_name_is_trusted(trust: tuple[str, ...]) -> None:
    with pytest.raises(UserError, match="'os:system'"):
        read_config({"encoder": {"name": "os:system"}}, trust=trust)


@pytest.mark.parametrize("trust", [True, "os:system", 7])
def test_trust_must_be_a_list(trust: object) -> None:
    with pytest.raises(UserError, match="it must be a list of import paths"):
        read_config({"encoder": {"name": "os:system"}}, trust=trust)  # type: ignore[arg-type]


def test_plain_names_need_no_trust(run: Path) -> None:
    assert read_config({"encoder": {"name": "resnet18"}}).encoder.name == "resnet18"
    with pytest.raises(UserError, match="would import"):
        load_config(run / "config.json")
