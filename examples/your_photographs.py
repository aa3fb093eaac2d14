"""Shows your own photographs as a trained encoder sees them: nearest neighbours, and rotations by the operator.

    python examples/your_photographs.py runs/mae_lie my_photographs --out photographs.png

Two or more pictures are enough. Left: each photograph with its three nearest neighbours by the invariant part of the
embedding. Right: the embedding of a photograph that is rotated in the plane (circles), and the embedding of the upright
photograph, moved only by the operator (line). A run without an operator for 2D poses only shows neighbours.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import torch
from matplotlib.figure import Figure
from PIL import Image
from torch import Tensor
from torch.nn.functional import normalize

import lie_ssl
from lie_ssl.errors import UserError
from lie_ssl.frames.pictures import load_picture
from lie_ssl.training.loading import Loaded
from lie_ssl.training.pictures import picture_files

NEIGHBOURS, ORBITS, STEPS = 3, 3, 24


def nearest(z: Tensor, fixed: int) -> Tensor:
    """(N, M) -> (N, k): the nearest neighbours by cosine similarity of the invariant part, or of z if there is none."""
    u = normalize(z[:, :fixed] if fixed else z, dim=1)
    similarity = u @ u.T - 2 * torch.eye(len(u))
    return similarity.topk(min(NEIGHBOURS, len(u) - 1), dim=1).indices


def orbit(run: Loaded, picture: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns (STEPS, 2) embeddings of the rotated picture and of the operator, in the principal plane."""
    assert run.operator is not None
    angles = np.arange(STEPS) * 360 / STEPS
    corner = tuple(int(v) for v in picture[0, 0])
    rotated = [
        np.asarray(Image.fromarray(picture).rotate(a, Image.Resampling.BILINEAR, fillcolor=corner)) for a in angles
    ]
    true = run.embed(np.stack(rotated))
    delta = torch.zeros(STEPS, len(run.factors) or 1)
    column = run.factors.index("2d") if run.factors else 0
    delta[:, column] = torch.from_numpy(np.radians(180 - np.mod(180 - angles, 360))).float()
    start = true[:1].expand_as(true)
    moved = run.operator(start, run.operator.infer(start, true, delta))
    dims = run.operator.moved_dims(delta)
    true, moved = (x[:, dims].double() for x in (true, moved))
    middle = true.mean(dim=0)
    plane = torch.linalg.svd(true - middle, full_matrices=False).Vh[:2].T
    return ((true - middle) @ plane).numpy(), ((moved - middle) @ plane).numpy()


def draw(run: Loaded, pictures: list[np.ndarray], names: list[str]) -> Figure:
    """Draws neighbours, and orbits if the operator supports 2D poses."""
    z = run.embed(pictures)
    found = nearest(z, run.operator.fixed if run.operator else 0)
    has_orbits = run.operator is not None and (not run.factors or "2d" in run.factors)
    figure = Figure(figsize=(11 if has_orbits else 5.5, max(4.0, 0.9 * len(pictures))), layout="constrained")
    left, *right = figure.subfigures(1, 2, squeeze=False, width_ratios=[1, 1.1])[0] if has_orbits else [figure]
    panels = left.subplots(len(pictures), 1 + found.shape[1], squeeze=False)
    for row, (line, name) in enumerate(zip(panels, names, strict=True)):
        for panel, shown in zip(line, [row, *found[row].tolist()], strict=True):
            panel.imshow(pictures[shown])
            panel.axis("off")
        line[0].set_title(name, fontsize=7)
    left.suptitle("a photograph and its nearest neighbours")
    for part in right:
        shown = pictures[:ORBITS]
        for panel, picture, name in zip(part.subplots(len(shown), 1, squeeze=False)[:, 0], shown, names, strict=False):
            true, moved = orbit(run, picture)
            panel.plot(*true.T, "o", color="#3182bd", ms=4, label="rotated photograph")
            panel.plot(*np.vstack([moved, moved[:1]]).T, "-", color="#e6550d", lw=1.5, label="moved by the operator")
            panel.set_title(name, fontsize=8)
            panel.set_aspect("equal", adjustable="datalim")
            panel.legend(fontsize=7, frameon=False)
        part.suptitle("a full rotation, in the principal plane of the embeddings")
    return figure


@torch.no_grad()
def main(arguments: list[str] | None = None) -> Path:
    """Draws the figure, writes it and returns its path."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", help="a run, or a folder written by save_pretrained")
    parser.add_argument("photographs", help="a folder of pictures")
    parser.add_argument("--out", default="photographs.png")
    args = parser.parse_args(arguments)
    run = lie_ssl.load(args.run)
    files = picture_files(args.photographs)
    if len(files) < 2:
        raise UserError(f"{args.photographs} has one picture, but at least two are needed")
    size = run.encoder.image_size
    pictures = [load_picture(f.read_bytes(), str(f), size) for f in files]
    draw(run, pictures, [f.stem for f in files]).savefig(args.out, dpi=120)
    print(f"wrote {args.out}: {len(files)} photographs, embeddings of {run.encoder.dim} dimensions")
    return Path(args.out)


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        sys.exit(str(error))
