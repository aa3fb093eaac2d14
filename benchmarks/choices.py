"""The measurements behind decisions in docs/decisions.md: storage of frames, and length of a step of the series.

All rows of a table have the same input; one thread, CPU time.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from PIL import Image

from lie_ssl.frames.codec import decode, encode
from lie_ssl.frames.poses import rotation
from lie_ssl.objects.shapes import class_names, make_instance
from lie_ssl.render import RenderSettings, View, render

Pictures = NDArray[np.uint8]
VIEWS = [View(rotation("2d", a)) for a in (0, 100, 220)] + [View(rotation("3d", a)) for a in (40, 110, 250)]
FAMILIES = ("general", "skew", "negative definite", "nilpotent", "defective")


def run(out: Path) -> dict[str, list[dict[str, Any]]]:
    """Writes storage.csv and steps.csv to `out`."""
    out.mkdir(parents=True, exist_ok=True)
    tables = {"storage": storage(), "steps": steps()}
    for name, rows in tables.items():
        pd.DataFrame(rows).to_csv(out / f"{name}.csv", index=False)
        print(pd.DataFrame(rows).to_string(index=False))
    return tables


def storage() -> list[dict[str, Any]]:
    """Bytes and milliseconds per frame of each storage format, on six views of every class at 224 px."""
    settings = RenderSettings(size=224, supersample=2)
    pictures = np.concatenate([render(make_instance(c, 0)[0], VIEWS, settings) for c in class_names()])
    forms: dict[str, tuple[Callable[[Pictures], Any], Callable[[Any], Any]]] = {
        "PNG level 6 (PIL)": (_png, lambda b: np.asarray(Image.open(io.BytesIO(b)))),
        "Up filter, Zstandard 5 (pyarrow)": _codec("zstd", 5, _up),
        "plain pixels, LZ4 HC 3 (pyarrow)": _codec("lz4", 3, np.ascontiguousarray),
        "plain pixels, Zstandard 5 (pyarrow)": _codec("zstd", 5, np.ascontiguousarray),
    }
    buffer = np.empty_like(pictures[0])
    forms["plain pixels, Zstandard 5, into the batch (ours)"] = (encode, lambda b: decode(b, buffer))
    return [_timed(name, pictures, *form) for name, form in forms.items()]


def _timed(name: str, pictures: Pictures, write: Callable[..., Any], read: Callable[..., Any]) -> dict[str, Any]:
    blobs = [write(p) for p in pictures]

    def best(function: Callable[[Any], Any], items: Any) -> float:
        times = []
        for _ in range(3):
            start = time.process_time()
            for item in items:
                function(item)
            times.append(time.process_time() - start)
        return 1000 * min(times) / len(pictures)

    return {
        "form": name,
        "frames": len(pictures),
        "bytes": round(float(np.mean([len(b) for b in blobs]))),
        "decode_ms": round(best(read, blobs), 3),
        "encode_ms": round(best(write, pictures), 3),
    }


def _codec(
    codec: str, level: int, prepare: Callable[[Pictures], Pictures]
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Encoder and decoder of a codec. Decoding does not undo the filter, so filtered formats look too fast."""
    compressor = pa.Codec(codec, compression_level=level)
    size = 224 * 224 * 3
    return (
        lambda p: compressor.compress(prepare(p), asbytes=True),
        lambda b: compressor.decompress(b, decompressed_size=size),
    )


def _up(picture: Pictures) -> Pictures:
    filtered = picture.copy()
    filtered[1:] -= picture[:-1]
    return filtered


def _png(picture: Pictures) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, "png", compress_level=6)
    return buffer.getvalue()


def steps() -> list[dict[str, Any]]:
    """Largest relative error in float32 over all families, by the longest step and by where float64 takes over."""
    import torch

    from lie_ssl.lie import action, norms

    torch.set_num_threads(1)
    chosen = norms.LONGEST_STEP, action.SMALL
    rows = []
    try:
        for sizes, small in (((129, 200, 300), action.SMALL), ((2, 30, 65, 128), 0)):
            cases = [_case(f, n, m, d) for f in FAMILIES for n in (4.0, 50.0) for m in sizes for d in (1, 4, 20)]
            for step in (1.0, 2.0, 3.0, 4.0) if small else (chosen[0],):
                norms.LONGEST_STEP, action.SMALL = step, small
                errors = pd.DataFrame([(n, _error(*case)) for n, case in cases]).groupby(0)[1].max()
                rows.append(
                    {"m": f"{min(sizes)}-{max(sizes)}", "computed_in": "float32", "longest_step": step}
                    | {f"error_at_norm_{n:g}": f"{e:.1e}" for n, e in errors.items()}
                )
    finally:
        norms.LONGEST_STEP, action.SMALL = chosen
    return rows


def _case(family: str, norm: float, m: int, d: int) -> tuple[float, tuple[Any, ...]]:
    """Generators, coordinates with |sum_k t_k L_k| = norm, vectors (float32), and the expected result in float64."""
    import torch

    torch.manual_seed(1000 * m + d)
    a = torch.randn(d, m, m, dtype=torch.float64)
    eye, ones = torch.eye(m, dtype=torch.float64), torch.ones(d, m - 1, dtype=torch.float64)
    generators = {
        "general": a,
        "skew": a - a.mT,
        "negative definite": -(a @ a.mT),
        "nilpotent": a.triu(1),
        "defective": a[:, :1, :1] * eye + torch.diag_embed(ones, 1),
    }[family]
    t, z = torch.randn(4, d).double(), torch.randn(4, m)
    size = torch.linalg.matrix_norm(torch.einsum("bk,kij->bij", t, generators), 2)
    generators, t = generators.float(), (t * (norm / size)[:, None]).float()
    matrix = torch.einsum("bk,kij->bij", t.double(), generators.double())
    return norm, (generators, t, z, (torch.linalg.matrix_exp(matrix) @ z.double()[:, :, None])[:, :, 0])


def _error(generators: Any, t: Any, z: Any, expected: Any) -> float:
    import torch

    from lie_ssl import exp_action

    scale = torch.maximum(expected.norm(dim=1), 1e-3 * z.double().norm(dim=1))
    return float(((exp_action(generators, t, z).double() - expected).norm(dim=1) / scale).max())
