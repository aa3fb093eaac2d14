"""Serialization of configs, and errors for invalid data."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lie_ssl.errors import UserError
from lie_ssl.lie import OperatorConfig
from lie_ssl.lie.algebras import ALGEBRAS
from lie_ssl.methods import AugmentConfig, EncoderConfig
from lie_ssl.methods.mae import MAEConfig
from lie_ssl.methods.simclr import SimCLRConfig
from lie_ssl.methods.vicreg import VICRegConfig
from lie_ssl.objectives.alone import AloneConfig
from lie_ssl.objectives.frames import FramesConfig
from lie_ssl.objectives.lie import LieConfig
from lie_ssl.objectives.lie_off import LieOffConfig
from lie_ssl.objectives.literal import LiteralConfig
from lie_ssl.recipes.pretrain import ARMS, PRETRAIN_RECIPES
from lie_ssl.serialization import OMIT_DEFAULT, added_field, from_plain, suggestion, to_plain
from lie_ssl.training.config import LogConfig, OptimConfig, PretrainConfig, read_config

KINDS = (
    AugmentConfig, EncoderConfig, OperatorConfig, AloneConfig, FramesConfig, LieConfig, LieOffConfig, LiteralConfig,
    MAEConfig, VICRegConfig, SimCLRConfig, OptimConfig,
    LogConfig,
)  # fmt: skip


def through_json(config: Any) -> Any:
    return json.loads(json.dumps(to_plain(config)))


@pytest.mark.parametrize("kind", KINDS)
def test_every_config_survives_json(kind: type) -> None:
    assert from_plain(kind, through_json(kind())) == kind()


@pytest.mark.parametrize("recipe", list(PRETRAIN_RECIPES))
@pytest.mark.parametrize("method", ["mae", "vicreg", "simclr"])
@pytest.mark.parametrize("arm", ARMS)
def test_every_recipe_survives_json(recipe: str, method: str, arm: str) -> None:
    config = PRETRAIN_RECIPES[recipe](method, arm)
    back = read_config(through_json(config))
    assert back == config
    assert type(back.method) is type(config.method)
    assert back.digest() == config.digest()


unit = st.floats(0.0, 1.0)
positive = st.floats(1e-6, 1e6)
text = st.text('ab:._ "\u00e9', min_size=1)
option = st.tuples(text, st.booleans() | st.integers(-99, 16384) | st.floats(-99, 16384) | text)


@given(
    st.builds(
        EncoderConfig,
        name=text,
        image_size=st.one_of(st.none(), st.integers(1, 4096)),
        pool=st.sampled_from(["auto", "avg", "token", "own"]),
        allow=st.lists(text).map(tuple),
        options=st.lists(option, unique_by=lambda pair: pair[0]).map(tuple),
    )
)
def test_any_encoder_config_survives_json(config: EncoderConfig) -> None:
    back = from_plain(EncoderConfig, through_json(config))
    assert back == config
    assert [type(value) for _, value in back.options] == [type(value) for _, value in config.options]


operators = st.builds(
    OperatorConfig,
    generators=st.lists(st.integers(1, 99), min_size=1).map(tuple),
    algebra=st.sampled_from(list(ALGEBRAS)),
    fixed=st.one_of(st.integers(1, 999), st.floats(0.01, 0.99)),
    sees=st.sampled_from([("pair",), ("source",), ("delta", "linear")]),
    max_norm=positive,
    split_factors=st.booleans(),
)


@given(
    st.builds(
        LieConfig,
        ssl=positive,
        lie=unit,
        invariant=unit,
        temperature=positive,
        view=st.sampled_from(["clean", "ssl"]),
        own_negative=st.booleans(),
        operator=operators,
    )
)
def test_any_objective_survives_json(config: LieConfig) -> None:
    assert from_plain(LieConfig, through_json(config)) == config


def test_serialized_configs_only_have_json_types() -> None:
    def check(value: Any) -> None:
        assert type(value) in (dict, list, str, int, float, bool, type(None))
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            check(inner)

    plain = to_plain(PretrainConfig())
    check(plain)
    assert set(plain) == {f.name for f in fields(PretrainConfig) if OMIT_DEFAULT not in f.metadata}
    assert to_plain(LiteralConfig())["operator"]["generators"] == [4]


def test_missing_values_have_defaults() -> None:
    config = from_plain(PretrainConfig, {"optim": {"lr": 1}})
    assert (config.optim.lr, type(config.optim.lr)) == (1.0, float)  # an integer is accepted as a float
    assert config.optim.batch == OptimConfig().batch
    literal = from_plain(LiteralConfig, {"operator": {"generators": [2, 3]}})
    assert literal.operator == OperatorConfig(generators=(2, 3))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"sede": 1}, r"config has no setting 'sede'; did you mean 'seed'\?"),
        ({"seed": "one"}, "config.seed is 'one', but it must be of type int"),
        ({"seed": 1.0}, "config.seed is 1.0, but it must be of type int"),
        ({"seed": True}, "config.seed is True, but it must be of type int"),
        ({"data": 3}, "config.data is 3, but it must be of type str"),
        ({"diverse": "all"}, "config.diverse is 'all', but it must be of type float"),
        ({"diverse": True}, "config.diverse is True"),
        ({"precision": "64"}, "config.precision is '64', but it must be one of 32, bf16, fp16"),
        ({"precision": 32}, "config.precision is 32, but it must be one of"),
        ({"log": {"tensorboard": 1}}, "config.log.tensorboard is 1, but it must be of type bool"),
        ({"objective": 3}, "config.objective is 3, but it must be a mapping of settings"),
        ({"encoder": {"options": [["depth"]]}}, r"config.encoder.options\[0\] has 1 value, but it needs 2"),
        ({"encoder": {"options": [["depth", None]]}}, r"options\[0\]\[1\] is None, but it must be bool or int or"),
        ({"optim": {"lr": -1.0}}, "optim.lr is -1.0, but it must be above 0"),
    ],
)
def test_invalid_values_are_named_by_their_path(values: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message) as error:
        from_plain(PretrainConfig, values)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"lei": 1.0}, r"config has no setting 'lei'; did you mean 'lie'\?"),
        ({"operator": {"fixed": "half"}}, "config.operator.fixed is 'half', but it must be int or float"),
        ({"operator": {"generators": 4}}, "config.operator.generators is 4, but it must be a list"),
        ({"operator": {"generators": "44"}}, "generators is '44', but it must be a list"),
        ({"operator": {"generators": [1, "2"]}}, r"operator.generators\[1\] is '2'"),
        ({"operator": {"algebra": "su2"}}, "config.operator: there is no algebra 'su2'; there are block, commuting"),
    ],
)
def test_invalid_values_of_an_objective_are_named_by_their_path(values: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        from_plain(LieConfig, values)


def test_a_list_instead_of_a_mapping() -> None:
    with pytest.raises(UserError, match=r"run is \[1\], but it must be a mapping of settings"):
        from_plain(PretrainConfig, [1], "run")  # type: ignore[arg-type]


@dataclass(frozen=True)
class Inner:
    size: int


@dataclass(frozen=True)
class Outer:
    inner: Inner
    span: tuple[float, float]
    limit: float | None = None
    kind: Literal["a", "b"] = "a"
    several: tuple[Inner, ...] = ()
    names: list[str] = field(default_factory=list)


def test_required_optional_and_repeated_values() -> None:
    values = {"inner": {"size": 3}, "span": [0, 1.5], "limit": 2, "several": [{"size": 1}, {"size": 2}], "names": ["x"]}
    expected = Outer(Inner(3), (0.0, 1.5), 2.0, "a", (Inner(1), Inner(2)), ["x"])
    assert from_plain(Outer, values) == expected
    assert from_plain(Outer, through_json(expected)) == expected
    assert from_plain(Outer, {"inner": Inner(3), "span": (0, 1)}).limit is None
    assert is_dataclass(from_plain(Outer, values).several[0])
    with pytest.raises(UserError, match="config lacks inner, span"):
        from_plain(Outer, {})
    with pytest.raises(UserError, match=r"config.several\[1\] lacks size"):
        from_plain(Outer, {**values, "several": [{"size": 1}, {}]})
    with pytest.raises(UserError, match=r"config.span has 3 values, but it needs 2"):
        from_plain(Outer, {**values, "span": [0, 1, 2]})
    with pytest.raises(UserError, match=r"config.limit is 'x', but it must be float or nothing"):
        from_plain(Outer, {**values, "limit": "x"})


def test_suggestions() -> None:
    assert suggestion("batchs", ["batch", "seed"]) == "; did you mean 'batch'?"
    assert suggestion("qqq", ["batch", "seed"]) == "; there are batch, seed"
    assert suggestion("qqq", [f"word{i}" for i in range(31)]) == ""


def test_a_field_added_later_is_left_out_while_it_has_its_default() -> None:
    @dataclass(frozen=True)
    class Older:
        size: int = 3

    @dataclass(frozen=True)
    class Newer(Older):
        colour: str | None = added_field(None)

    assert to_plain(Newer()) == to_plain(Older())
    assert to_plain(Newer(colour="red")) == {"size": 3, "colour": "red"}
    for config in (Newer(), Newer(colour="red")):
        assert from_plain(Newer, to_plain(config)) == config
