"""A minimal installation: what works with torch and numpy alone, and the messages of everything else."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from lie_ssl import __version__
from lie_ssl.cli import COMMANDS, main
from lie_ssl.errors import UserError
from lie_ssl.extras import EXTRAS, NEEDS, MissingExtraError, explained, needs, package_of, require
from tests.training.tiny_runs import ENVIRONMENT

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
TOOLS = {"all", "dev"}  # extras that are not part of the program


def bare_python(code: str, *extras: str) -> str:
    """Runs Python code with only these extras installed and returns its output."""
    prelude = f"from tests.bare import only\nonly(*{extras})\n"
    done = subprocess.run(
        [sys.executable, "-c", prelude + code], cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def declared(extra: str) -> set[str]:
    """Packages of an extra in pyproject.toml, without those of included extras."""
    lines = PROJECT["optional-dependencies"][extra]
    return {re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in lines if not line.startswith("lie_ssl[")}


def test_the_core_is_small() -> None:
    assert sorted(re.split(r"\W", line)[0] for line in PROJECT["dependencies"]) == ["numpy", "rich", "torch", "tyro"]


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_table_agrees_with_pyproject(extra: str) -> None:
    packages = {package_of(module) for module in EXTRAS[extra].modules}
    held_back = {"numpy", "pyarrow"} if extra == "blender" else set()  # installed by other extras
    assert declared(extra) - held_back == packages


def test_every_extra_is_in_the_table() -> None:
    assert set(PROJECT["optional-dependencies"]) - TOOLS == set(EXTRAS)


def test_all_has_what_every_command_needs() -> None:
    (line,) = PROJECT["optional-dependencies"]["all"]
    names = set(re.split(r"[\[\],]", line)[1:-1])
    assert {extra for extras in NEEDS.values() for extra in extras} <= names <= set(EXTRAS)
    assert "lie_ssl[all]" in PROJECT["optional-dependencies"]["dev"]


def test_every_dependency_has_a_lower_bound() -> None:
    lines = [*PROJECT["dependencies"], *(line for extra in PROJECT["optional-dependencies"].values() for line in extra)]
    unbounded = [line for line in lines if ">=" not in line and not line.startswith("lie_ssl[")]
    assert unbounded == ["numpy<2", "pyarrow<26"]


def test_operator_and_loss_only_need_torch_and_numpy() -> None:
    code = """
import sys
import torch
from lie_ssl import LieLoss, LieOperator, exp_action
torch.manual_seed(0)
operator = LieOperator(12, 2)
z, z_next = torch.randn(8, 12, requires_grad=True), torch.randn(8, 12)
LieLoss(operator)(z, z_next, torch.rand(8)).total.backward()
exp_action(operator.generators, torch.rand(8, 2), z)
assert z.grad is not None and z.grad.abs().sum() > 0
print({"tyro", "rich", "pandas", "PIL"} & set(sys.modules))
"""
    assert bare_python(code).strip() == "set()"


def test_exported_names_name_the_missing_extra() -> None:
    code = """
from importlib import import_module
from lie_ssl.extras import MissingExtraError
for package in ("protocol", "report", "training", "recipes"):
    try:
        module = import_module(f"lie_ssl.{package}")
        for name in module.__all__:
            getattr(module, name)
    except MissingExtraError as error:
        print(package, str(error).partition("; ")[2])
"""
    lines = bare_python(code).splitlines()
    assert [line.split()[0] for line in lines] == ["protocol", "report", "training", "recipes"]
    assert all("type: pip install 'lie_ssl[" in line for line in lines)


def test_help_of_groups_needs_no_extra() -> None:
    groups = [["--help"], ["--version"], ["data", "--help"], ["data", "make"], ["bench"]]
    printed = bare_python(f"from lie_ssl.cli import main\nfor words in {groups}:\n    main(words)")
    assert printed.count("usage: lie-ssl") == len(groups) - 1
    assert f"lie-ssl {__version__}\n" in printed


def test_doctor_names_every_extra_and_how_to_install_it() -> None:
    printed = bare_python("from lie_ssl.cli import main\nmain(['doctor'])")
    text = "".join(re.findall(r"[^\s│]", printed))
    for name in EXTRAS:
        assert f"pipinstall'lie_ssl[{name}]'" in text


def test_every_command_declares_its_extras() -> None:
    assert {words for words in COMMANDS if not any(words[:n] in NEEDS for n in range(len(words) + 1))} == set()


def test_commands_name_all_missing_extras_at_once() -> None:
    """All commands run in one process without extras; each gives one sentence and exit code 2."""
    code = """
import contextlib, io
from lie_ssl import __version__
from lie_ssl.cli import COMMANDS, main
from lie_ssl.extras import needs
for words in COMMANDS:
    if not needs(words):
        continue
    error = io.StringIO()
    try:
        with contextlib.redirect_stderr(error):
            main([*words, "--help"])
    except SystemExit as stop:
        print(" ".join(words), stop.code, error.getvalue().strip(), sep="|")
"""
    lines = bare_python(code).splitlines()
    assert len(lines) == sum(bool(needs(words)) for words in COMMANDS)
    for line in lines:
        words, status, sentence = line.split("|")
        extras = ",".join(needs(tuple(words.split())))
        assert status == "2"
        assert sentence.startswith(f"lie-ssl: `lie-ssl {words}` needs ")
        assert sentence.endswith(f"; type: pip install 'lie_ssl[{extras}]'")


@pytest.mark.parametrize("extras", sorted({needs(words) for words in COMMANDS} - {()}), ids=",".join)
def test_the_extras_of_a_command_are_enough_to_load_it(extras: tuple[str, ...]) -> None:
    """Loads all commands with the same extras in one process, and the imports of benchmarks."""
    code = f"""
import sys
from lie_ssl.cli import COMMANDS, _load
from lie_ssl.commands.bench import load
from lie_ssl.extras import needs
for words in COMMANDS:
    if needs(words) == {extras}:
        load(words[1]) if words[0] == "bench" else _load(words)
        print(*words)
"""
    assert bare_python(code, *extras)


CALLS = {
    "lie_ssl.load": "vision,data",
    "lie_ssl.from_pretrained": "vision,data",
    "import_module('lie_ssl.frames')": "data",
    "import_module('lie_ssl.training')": "vision",
    "import_module('lie_ssl.sklearn')": "sklearn,vision,data",
    "import_module('lie_ssl.render.rasteriser')": "render",
    "create_encoder(EncoderConfig('resnet18'), 32, 3)": "vision",
}


def test_python_calls_name_the_extras() -> None:
    code = f"""
from importlib import import_module
import lie_ssl
from lie_ssl.methods.encoders import EncoderConfig, create_encoder
for call in {list(CALLS)}:
    try:
        eval(call)
    except ImportError as error:
        print(error)
"""
    for message, (call, extras) in zip(bare_python(code).splitlines(), CALLS.items(), strict=True):
        assert message.endswith(f"type: pip install 'lie_ssl[{extras}]'"), call


def test_only_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    require("this", "data")
    monkeypatch.setattr("lie_ssl.extras.find_spec", lambda name: None if name in ("av", "PIL") else object())
    with pytest.raises(MissingExtraError) as caught:
        require("this", "train", "data", "video")
    assert str(caught.value) == "this needs pillow and av; type: pip install 'lie_ssl[data,video]'"
    assert isinstance(caught.value, UserError)


def test_errors_of_other_imports_are_not_changed() -> None:
    assert explained(ModuleNotFoundError("No module named 'mine'", name="mine")) is None
    assert explained(ModuleNotFoundError("No module named 'pandas.odd'", name="pandas.odd")) is None
    assert explained(ModuleNotFoundError("odd")) is None


def test_an_import_that_fails_in_the_middle_of_a_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(arguments: list[str]) -> None:
        raise ModuleNotFoundError("No module named 'av.filter'", name="av.filter")

    monkeypatch.setattr("lie_ssl.cli._load", lambda words: failing)
    monkeypatch.setattr("lie_ssl.extras.find_spec", lambda name: None if name == "av" else object())
    with pytest.raises(SystemExit) as stop:
        main(["pretrain"])
    assert stop.value.code == 2
    assert capsys.readouterr().err.strip() == "lie-ssl: this needs av; type: pip install 'lie_ssl[video]'"


@pytest.mark.slow
def test_commands_run_with_only_their_extras(tmp_path: Path) -> None:
    data, run = str(tmp_path / "data"), str(tmp_path / "run")
    classes = ["--classes", "car", "chair", "mug", "--instances", "8", "--step", "60", "--size", "16"]
    tiny = ["--optim.steps", "4", "--optim.batch", "8", "--log.check-every", "1000"]
    short = ["--probe.steps", "20", "--finetune.steps", "2", "--finetune.batch", "8"]
    for words in [
        ["data", "make", "demo", "--out", data, "--workers", "1", *classes],
        ["data", "show", data],
        ["data", "verify", data],
        ["data", "export", data, "--out", str(tmp_path / "exported")],
        ["pretrain", "mae", "lie", "--data", data, "--out", run, *tiny],
        ["evaluate", run, "--proportions", "0.5", *short],
        ["report", run, "--out", str(tmp_path / "report.html"), "--files", str(tmp_path / "files")],
        ["export", run, "--out", str(tmp_path / "encoder.safetensors")],
    ]:
        extras = needs(tuple(word for word in words if not word.startswith(("-", "/"))))
        bare_python(f"from lie_ssl.cli import main\nmain({words})", *extras)
