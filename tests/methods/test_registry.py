"""Methods by name and by import path."""

from __future__ import annotations

from pathlib import Path

import pytest

from lie_ssl.errors import UserError
from lie_ssl.methods import METHODS, EncoderConfig, Method, create_encoder, create_method, method_config
from lie_ssl.methods.mae import MAE, MAEConfig
from lie_ssl.methods.registry import method_type
from lie_ssl.methods.simclr import SimCLR, SimCLRConfig
from lie_ssl.methods.vicreg import VICReg, VICRegConfig

OWN = """
from dataclasses import dataclass
from lie_ssl.methods import Method, MethodConfig

@dataclass(frozen=True)
class NothingConfig(MethodConfig):
    name: str = "nothing"
    strength: float = 2.0

class Nothing(Method):
    Config = NothingConfig

    def __init__(self, encoder, config):
        super().__init__(encoder)
        self.config = config

    def forward(self, frames, draws):
        return []

class Bare(Method):
    pass

def function():
    pass
"""


@pytest.mark.parametrize(
    ("name", "kind", "config"),
    [("mae", MAE, MAEConfig), ("vicreg", VICReg, VICRegConfig), ("simclr", SimCLR, SimCLRConfig)],
)
def test_every_name_returns_its_method(name: str, kind: type[Method], config: type) -> None:
    assert method_type(name) is kind
    assert method_config(name) == config()
    encoder = create_encoder(EncoderConfig(name="vit_mini"), 32, 3)
    method = create_method(encoder, method_config(name))
    assert type(method) is kind
    assert method.encoder is encoder
    assert set(METHODS) == {"mae", "vicreg", "simclr"}


def test_a_method_by_import_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_methods_of_a_test.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    name = "own_methods_of_a_test:Nothing"
    config = method_config(name, {"strength": 3})
    assert (config.name, config.strength) == (name, 3.0)  # type: ignore[attr-defined]
    method = create_method(create_encoder(EncoderConfig(name="resnet_mini"), 16, 3), config)
    assert type(method).__name__ == "Nothing"
    for wrong in ("Bare", "NothingConfig", "function"):
        with pytest.raises(UserError, match="is not a method; make it a subclass"):
            method_type(f"own_methods_of_a_test:{wrong}")
    with pytest.raises(UserError, match=r"cannot be imported.*'Nohting'"):
        method_type("own_methods_of_a_test:Nohting")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("vicregg", "there is no method 'vicregg'; did you mean 'vicreg'?"),
        ("mea", "did you mean 'mae'?"),
        ("zzz", "there are mae, vicreg, simclr"),
        ("", "there is no method ''"),
        (":MAE", "there is no method ':MAE'"),
        ("lie_ssl.methods.mae:", "there is no method"),
        ("no_such_package.at_all:Method", "cannot be imported .is its folder on PYTHONPATH"),
        ("lie_ssl.methods.method:Method", "is not a method"),  # abstract, without a Config
        ("pathlib:Path", "'pathlib:Path' is not a method"),
    ],
)
def test_invalid_names(name: str, message: str) -> None:
    with pytest.raises(UserError, match=message.replace("?", r"\?")) as error:
        method_type(name)
    assert "\n" not in str(error.value)


def test_invalid_settings_are_named() -> None:
    with pytest.raises(UserError, match=r"method has no setting 'makes'; did you mean 'mask'\?"):
        method_config("mae", {"makes": 0.5})
    with pytest.raises(UserError, match=r"method.mask is 'half', but it must be of type float"):
        method_config("mae", {"mask": "half"})
    with pytest.raises(UserError, match=r"method.augment has no setting 'flipp'; did you mean 'flip'"):
        method_config("simclr", {"augment": {"flipp": 0.5}})
    with pytest.raises(UserError, match=r"mask is 1\.5"):
        method_config("mae", {"mask": 1.5})


def test_settings_of_another_method_are_rejected() -> None:
    encoder = create_encoder(EncoderConfig(name="resnet_mini"), 16, 3)
    with pytest.raises(UserError, match="the method 'simclr' needs SimCLRConfig, not VICRegConfig"):
        create_method(encoder, VICRegConfig(name="simclr"))
