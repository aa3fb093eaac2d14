"""`lie-ssl pretrain` on the command line: help, a run, and one line for every error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lie_ssl.cli import main
from lie_ssl.frames import FrameSet, make_frames
from lie_ssl.training.config import load_config
from tests.conftest import tiny_config
from tests.refusals import refusal
from tests.training.tiny_runs import few_pairs, flags


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    few_pairs(monkeypatch)


@pytest.mark.parametrize(
    ("words", "more", "expected"),
    [
        ("mae lie", ["--optim.batch", "1"], "optim.batch is 1"),
        ("mae lie", ["--objective.lie", "-1"], "objective.lie is -1.0, but weights must be finite and 0 or more"),
        ("mae lie", ["--optim.steps", "0"], "optim.steps is 0"),
        ("mae lie", ["--optim.batch", "7", "--method.mask", "1.5"], "mask is 1.5"),
        ("mea lie", [], "no method 'mea'; did you mean 'mae'?"),
        ("mae lei", [], "no objective 'lei'; did you mean 'lie'?"),
        ("mae lie", ["--recipe", "smal"], "no recipe 'smal'; did you mean 'small'?"),
        ("mae lie", ["--encoder.name", "vit_minni"], "no encoder 'vit_minni'; did you mean vit_mini?"),
        ("simclr alone", ["--encoder.name", "resnet_min"], "did you mean resnet_mini?"),
        ("simclr alone", ["--encoder.name", "resnet510"], "no encoder 'resnet510'; did you mean resnet"),
        ("mae alone", ["--encoder.name", "resnet_mini"], "needs a vision transformer"),
        ("mae lie", ["--encoder.image-size", "48"], "encoder.image_size is 48, but the frames of the data set have 16"),
        ("mae lie", ["--encoder.channels", "1"], "encoder.channels is 1, but the frames of the data set have 3"),
        ("mae lie", ["--encoder.patch-size", "5"], "16 px"),
        ("mae lie", ["--objective.operator.fixed", "128"], "does not fit an embedding of 128"),
        ("mae lie", ["--objective.operator.generators", "4", "4", "4"], "the factors are 2d, 3d"),
        ("mae literal", ["--objective.operator.sees", "pair", "delta"], "the factors are pose"),
        ("mae lie", ["--precision", "fp16", "--device", "cpu"], "a CPU has no fast fp16"),
        ("mae lie", ["--start", "nowhere"], "there is no checkpoint nowhere"),
        ("no.such.module:Method alone", [], "cannot be imported"),
        ("mae", [], "lie-ssl pretrain METHOD OBJECTIVE"),
        ("mae lie", ["--recipe"], "--recipe needs a value"),
    ],
)  # fmt: skip
def test_invalid_commands(
    tiny: FrameSet, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: str, more: list[str], expected: str
) -> None:
    out = tmp_path / "run"
    assert expected in refusal(capsys, "pretrain", *words.split(), *flags(tiny, out), *more)
    assert not out.exists()  # the corrected command can use the folder


def test_unusable_data_sets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    still = make_frames(tiny_config(step=360.0), tmp_path / "still", workers=1)
    assert "no instance has two poses" in refusal(capsys, "pretrain", "mae", "lie", *flags(still, tmp_path / "run"))
    rest = ["--out", str(tmp_path / "run")]
    assert "give the data set to train on" in refusal(capsys, "pretrain", "mae", "lie", *rest)
    assert str(tmp_path / "no") in refusal(capsys, "pretrain", "mae", "lie", "--data", str(tmp_path / "no"), *rest)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("flag", "hint"),
    [("--optim.stesp", "--optim.steps"), ("--sede", "--seed"), ("--objective.leie", "--objective.lie")],
)
def test_a_misspelt_flag_gets_a_hint(
    tiny: FrameSet, tmp_path: Path, capsys: pytest.CaptureFixture[str], flag: str, hint: str
) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["pretrain", "mae", "lie", *flags(tiny, tmp_path / "run"), flag, "3"])
    assert stop.value.code == 2
    output = "".join(capsys.readouterr())
    assert hint in output
    assert "Traceback" not in output
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(("flag", "value"), [("--optim.steps", "many"), ("--precision", "64"), ("--optim.name", "sgd")])
def test_an_invalid_value_gives_no_traceback(
    tiny: FrameSet, tmp_path: Path, capsys: pytest.CaptureFixture[str], flag: str, value: str
) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["pretrain", "mae", "lie", *flags(tiny, tmp_path / "run"), flag, value])
    assert stop.value.code == 2
    output = "".join(capsys.readouterr())
    assert flag in output
    assert "Traceback" not in output


def test_help_shows_the_flags_of_the_method(capsys: pytest.CaptureFixture[str]) -> None:
    shown = {}
    for words in ("mae lie", "vicreg alone"):
        with pytest.raises(SystemExit) as stop:
            main(["pretrain", *words.split(), "--help"])
        assert stop.value.code == 0
        shown[words] = capsys.readouterr().out
    assert "--method.mask" in shown["mae lie"]
    assert "--method.expander" in shown["vicreg alone"]
    assert "--method.mask" not in shown["vicreg alone"]
    with pytest.raises(SystemExit) as stop:
        main(["pretrain"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    assert all(
        word in text for word in ("mae, vicreg, simclr", "alone, frames, literal, lie, lie_learned", "small", "paper")
    )


def test_a_run_and_another_from_its_config(tiny: FrameSet, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, again = tmp_path / "run", tmp_path / "again"
    command = ["pretrain", "mae", "frames", *flags(tiny, out, "--optim.steps", "2", "--seed", "4")]
    main(command)
    output = capsys.readouterr().out
    assert "step 2 of 2: loss" in output
    assert f"{out}: the run is finished" in output
    config = load_config(out / "config.json")
    assert (config.seed, config.optim.steps, config.arm, config.method.name) == (4, 2, "frames", "mae")
    main(command)
    assert "is already finished" in capsys.readouterr().out
    main(["pretrain", f"--config={out / 'config.json'}", "--out", str(again)])
    assert load_config(again / "config.json") == config
    a, b = (json.loads((run / "card.json").read_text())["config_digest"] for run in (out, again))
    assert a == b
    file = str(out / "config.json")
    assert "already names the method" in refusal(
        capsys, "pretrain", "mae", "lie", "--config", file, "--out", str(again)
    )
    assert "seed is 4 there and 5 here" in refusal(
        capsys, "pretrain", "--config", file, "--seed", "5", "--out", str(again)
    )
