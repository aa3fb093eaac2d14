"""Draws objects that nobody has seen as they turn, with the angle that the operator reads from two pictures.

    python examples/turning.py runs/mine data/mine --poses yaw --classes camera chair drill --out turning.gif

Each object is compared with its first picture. The dial shows how far it has turned (grey) and what is read (blue).
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

import lie_ssl
from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.training.loading import Loaded

SIZE, DIAL, TEXT = 192, 44, 24  # pixels of a picture, the radius of a dial, the height of its text
TRUE, READ, INK, PAPER = "#bbbbbb", "#0072B2", "#222222", "#ffffff"
MILLISECONDS = 220  # of a frame

Pictures = NDArray[np.uint8]


def turning_frames(frames: FrameSet, class_name: str, poses: str) -> tuple[Pictures, NDArray[np.float64]]:
    """The pictures and angles of the first unknown object of a class, in the order in which it turns."""
    index = frames.index
    own = index[(index["split"] == "test") & (index["class"] == class_name) & (index["pose"] == poses)]
    if own.empty:
        raise UserError(
            f"{frames.folder} has no unknown {class_name} in {poses} poses; name another class with --classes"
        )
    own = own[own["instance"] == own["instance"].iloc[0]].sort_values("angle")
    return frames.read(own.index.to_numpy()), own["angle"].to_numpy(np.float64)


def read_angles(model: Loaded, pictures: Pictures, poses: str) -> NDArray[np.float64]:
    """How far each picture is turned from the first one, in degrees."""
    z = model.embed(pictures)
    found = model.pose(z[:1].expand_as(z), z, poses if poses in model.factors else None)
    return torch.remainder(found.degrees.double(), 360).numpy()


def draw(picture: Pictures, turned: float, read: float) -> Image.Image:
    """One object with its dial."""
    width, height = SIZE, SIZE + 2 * DIAL + TEXT + 16
    sheet = Image.new("RGB", (width, height), PAPER)
    sheet.paste(Image.fromarray(picture).resize((SIZE, SIZE), Image.Resampling.LANCZOS), (0, 0))
    pen, centre = ImageDraw.Draw(sheet), (width // 2, SIZE + DIAL + 8)
    box = (centre[0] - DIAL, centre[1] - DIAL, centre[0] + DIAL, centre[1] + DIAL)
    pen.ellipse(box, outline=TRUE, width=2)
    for angle, colour, thick in ((turned, TRUE, 9), (read, READ, 4)):
        x, y = math.sin(math.radians(angle)), -math.cos(math.radians(angle))
        pen.line((*centre, centre[0] + DIAL * x, centre[1] + DIAL * y), fill=colour, width=thick)
    text = f"turned {turned:.0f}°, read {read:.0f}°"
    pen.text((width / 2, height - TEXT / 2 - 2), text, fill=INK, font=ImageFont.load_default(15), anchor="mm")
    return sheet


def film(model: Loaded, frames: FrameSet, classes: Sequence[str], poses: str) -> list[Image.Image]:
    """One picture for each pose, with all objects side by side."""
    objects = [turning_frames(frames, name, poses) for name in classes]
    readings = [read_angles(model, pictures, poses) for pictures, _ in objects]
    pages = []
    for step in range(min(len(angles) for _, angles in objects)):
        parts = [
            draw(pictures[step], angles[step] - angles[0], read[step])
            for (pictures, angles), read in zip(objects, readings, strict=True)
        ]
        page = Image.new("RGB", (sum(p.width for p in parts), parts[0].height), PAPER)
        for i, part in enumerate(parts):
            page.paste(part, (i * part.width, 0))
        pages.append(page)
    return pages


def main(arguments: list[str] | None = None) -> Path:
    """Draws the film, writes it and returns its path."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", help="a run of `lie-ssl adapt`, or a folder written by save_pretrained")
    parser.add_argument("data", help="the folder of a data set")
    parser.add_argument("--poses", default="yaw", help="a kind of pose")
    parser.add_argument("--classes", nargs="+", default=["camera", "chair", "drill"])
    parser.add_argument("--out", default="turning.gif")
    args = parser.parse_args(arguments)
    pages = film(lie_ssl.load(args.run), FrameSet(args.data), args.classes, args.poses)
    shared = pages[0].quantize(64)  # one palette, so that nothing flickers
    small = [page.quantize(palette=shared, dither=Image.Dither.NONE) for page in pages]
    small[0].save(args.out, save_all=True, append_images=small[1:], duration=MILLISECONDS, loop=0, optimize=True)
    print(f"wrote {args.out}: {len(pages)} poses of {len(args.classes)} objects")
    return Path(args.out)


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        sys.exit(str(error))
