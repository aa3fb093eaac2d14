"""The codec and the shards are lossless; damaged bytes raise an error."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from lie_ssl.errors import UserError
from lie_ssl.frames.codec import DamagedFrameError, decode, encode
from lie_ssl.frames.shards import Shard, write_shard

SHAPES = st.tuples(st.integers(1, 20), st.integers(1, 20), st.sampled_from([1, 3]))


@settings(max_examples=60)
@given(arrays(np.uint8, SHAPES, elements=st.sampled_from([0, 1, 128, 254, 255])))
def test_round_trip(picture: np.ndarray) -> None:
    out = np.zeros_like(picture)
    decode(encode(picture), out)
    assert np.array_equal(out, picture)


def test_a_uniform_picture_compresses_to_almost_nothing() -> None:
    picture = np.full((224, 224, 3), 77, np.uint8)
    assert len(encode(picture)) < 40
    out = np.zeros_like(picture)
    decode(encode(picture), out)
    assert np.array_equal(out, picture)


@pytest.mark.parametrize("damage", [lambda b: b[:5], lambda b: b[:-3], lambda b: b[:6] + b"\x00" * 20, lambda b: b""])
def test_damaged_bytes_raise_an_error(damage: object) -> None:
    picture = np.random.default_rng(0).integers(0, 255, (9, 9, 3)).astype(np.uint8)
    with pytest.raises(DamagedFrameError, match=r"damaged|fit"):
        decode(damage(encode(picture)), np.zeros_like(picture))  # type: ignore[operator]


def test_a_frame_of_another_size_is_rejected() -> None:
    picture = np.random.default_rng(0).integers(0, 255, (9, 9, 3)).astype(np.uint8)
    with pytest.raises(DamagedFrameError, match="does not fit"):
        decode(encode(picture), np.zeros((8, 8, 3), np.uint8))


def test_shards(tmp_path: Path) -> None:
    blobs = [b"", b"abc", b"\x00" * 1000, b"z"]
    write_shard(tmp_path / "s.bin", blobs)
    shard = Shard(tmp_path / "s.bin")
    assert [bytes(shard[i]) for i in range(len(shard))] == blobs
    content = (tmp_path / "s.bin").read_bytes()
    for cut in (0, 4, 20, len(content) - 1):
        (tmp_path / "cut.bin").write_bytes(content[:cut])
        with pytest.raises(UserError, match=r"cut\.bin"):
            Shard(tmp_path / "cut.bin")
    with pytest.raises(UserError, match=r"none\.bin"):
        Shard(tmp_path / "none.bin")
