"""Frames per CPU-second: the rasteriser against Panda3D and Blender, and the cost of whole data sets.

Every renderer has its own process (this file, run as a script), builds its scene once and draws warm-up frames. Then
the renderers take turns, in rounds, to draw a burst of frames; only the rotation changes from frame to frame. Measured
is the CPU time of the process, including all threads, until the pixels are in a numpy array.
"""

from __future__ import annotations

import csv
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from lie_ssl.errors import UserError
from lie_ssl.objects.mesh import Mesh
from lie_ssl.render.view import RenderSettings, View, axis_rotation

Picture = NDArray[np.uint8]
Draw = Callable[[View], Picture]
OURS = "lie_ssl"
CASES = ((224, 2), (64, 3))  # pixels per side, samples per pixel along each side
DETAILS = (2.68, 13.15)  # of the pot: about 2,000 and 50,000 triangles
BURST = 0.4  # CPU-seconds per round: long for the resolution of the clock, short for changes of load
COLUMNS = ("renderer", "size", "supersample", "triangles", "images_per_cpu_second", "ratio", "rounds", "note")
DATA_COLUMNS = (
    "recipe",
    "size",
    "supersample",
    "frames",
    "cpu_ms_per_frame",
    "minutes_for_468000_on_2_cores",
    "target",
)
ALL_FRAMES = 468_000


def run(
    out: Path, frames: int = 200, rounds: int = 7, dataset: bool = True, step: float = 4.0, picture: Path | None = None
) -> list[dict[str, Any]]:
    """Measures and prints everything; writes render.csv and dataset.csv to `out`. Returns the rows of render.csv."""
    rows: list[dict[str, Any]] = []
    strips: list[Picture] = []
    for size, supersample in CASES:
        for detail in DETAILS:
            case_rows, strip = compare(size, supersample, detail, frames, rounds)
            rows += case_rows
            strips.append(strip)
            title = (
                f"{size} px, {supersample} x {supersample} samples per pixel, {case_rows[0]['triangles']:,} triangles"
            )
            keys = ("renderer", "images_per_cpu_second", "ratio", "note")
            print_table(title, ("renderer", "images / CPU-s", "our speed-up", "note"), case_rows, keys)
    write_csv(out / "render.csv", COLUMNS, rows)
    if picture is not None:
        save_strips(picture, strips)
    if dataset:
        write_csv(out / "dataset.csv", DATA_COLUMNS, measure_datasets(step))
    return rows


# --- The object -----------------------------------------------------------------------------------------------------


def pot(detail: float) -> Mesh:
    """A teapot; its number of triangles grows with the square of `detail`."""
    from lie_ssl.objects.shapes import ball, lathe, spline, tube

    def steps(n: float) -> int:
        return round(n * detail)

    body = lathe(
        spline([(0, -0.6), (0.42, -0.58), (0.66, -0.15), (0.5, 0.35), (0.3, 0.48), (0, 0.52)], steps(8)), steps(11)
    )
    spout = tube(
        spline([(0.5, -0.2, 0), (0.8, 0, 0), (0.9, 0.35, 0), (1.05, 0.45, 0)], steps(5)),
        np.linspace(0.17, 0.06, steps(5)).tolist(),
        steps(4),
    )
    handle = tube(
        spline([(-0.45, 0.3, 0), (-0.85, 0.35, 0), (-0.95, 0, 0), (-0.55, -0.3, 0)], steps(7)), 0.06, steps(3)
    )
    painted = body.paint((0.75, 0.2, 0.15), 0.6) + ball(0.1, steps(6)).at(y=0.6).paint((0.9, 0.85, 0.7), 0.3)
    painted += spout.paint((0.9, 0.85, 0.7), 0.4) + handle.paint((0.2, 0.25, 0.4), 0.1)
    return painted.mesh().normalised()


def views() -> list[View]:
    """Forty rotations about two axes."""
    return [View(rotation=axis_rotation(1, 9.0 * k) @ axis_rotation(0, 9.0 * k)) for k in range(40)]


# --- The renderers: functions from mesh and settings to (a function that draws, a note) -----------------------------
# They are only called in the process of the renderer, where modules next to this file can be imported.


def ours(mesh: Mesh, settings: RenderSettings) -> tuple[Draw, str]:
    from lie_ssl.render.rasteriser import Rasteriser

    return Rasteriser(mesh, settings).draw, "light per pixel with highlight, averaged in linear light"


def panda_software(mesh: Mesh, settings: RenderSettings) -> tuple[Draw, str]:
    return _panda(mesh, settings, "p3tinydisplay"), "its software renderer; light per vertex, no highlight"


def panda_gl(mesh: Mesh, settings: RenderSettings) -> tuple[Draw, str]:
    return _panda(mesh, settings, "p3headlessgl"), "OpenGL without a screen; light per vertex, no highlight"


def panda_gl_pixel(mesh: Mesh, settings: RenderSettings) -> tuple[Draw, str]:
    draw = _panda(mesh, settings, "p3headlessgl", shader=True)
    return draw, "OpenGL without a screen; light per pixel with highlight, as ours"


def _panda(mesh: Mesh, settings: RenderSettings, module: str, shader: bool = False) -> Draw:
    from panda3d_peer import panda

    return panda(mesh, settings, module, shader)


def cycles(mesh: Mesh, settings: RenderSettings) -> tuple[Draw, str]:
    return _blender(mesh, settings, "CYCLES"), "1 sample per pixel, so not antialiased"


def workbench(mesh: Mesh, settings: RenderSettings) -> tuple[Draw, str]:
    return _blender(mesh, settings, "BLENDER_WORKBENCH"), "OpenGL; its own antialiasing (8 samples)"


RENDERERS: dict[str, tuple[Callable[[Mesh, RenderSettings], tuple[Draw, str]], str]] = {
    OURS: (ours, ""),
    "panda3d software": (panda_software, "bench"),
    "panda3d gl": (panda_gl, "bench"),
    "panda3d gl per pixel": (panda_gl_pixel, "bench"),
    "blender cycles": (cycles, "blender"),
    "blender workbench": (workbench, "blender"),
}


def _blender(mesh: Mesh, settings: RenderSettings, engine: Any) -> Draw:
    import bpy  # noqa: F401  (here, so that its absence is distinguished from other failures)

    from lie_ssl.render.blender import BlenderScene, composite

    scene = BlenderScene(mesh, settings, samples=1, engine=engine, threads=1)
    if engine == "BLENDER_WORKBENCH":
        scene.scene.display.shading.color_type = "VERTEX"
    return lambda view: composite(scene.draw(view), settings, "uint8")


# --- One renderer in its own process --------------------------------------------------------------------------------


def serve(name: str, size: int, supersample: int, detail: float, frames: int) -> None:
    """Writes a note to standard output, or why the renderer does not work; then one line per line of standard input."""
    make, extra = RENDERERS[name]
    try:
        draw, note = make(pot(detail), RenderSettings(size=size, supersample=supersample))
        burst = _burst(draw, frames)
    except ImportError:
        print(f"missing\tnot installed; type: pip install 'lie_ssl[{extra}]'", flush=True)
        return
    except Exception as error:
        print(f"missing\tdoes not work here: {str(error) or type(error).__name__}".splitlines()[0], flush=True)
        return
    print(f"ready\t{note}", flush=True)
    everything = views()
    for line in sys.stdin:
        if line.startswith("save"):
            np.save(line.split("\t")[1].strip(), draw(everything[4]))
            print("saved", flush=True)
            continue
        start = time.process_time()
        for k in range(burst):
            draw(everything[k % len(everything)])
        print(burst / (time.process_time() - start), flush=True)


def _burst(draw: Draw, frames: int) -> int:
    """Warms up and returns the number of frames per round."""
    for view in views()[:3]:
        draw(view)
    start, drawn = time.process_time(), 0
    while drawn < 3 or (time.process_time() - start < BURST / 2 and drawn < frames):
        draw(views()[drawn % 40])
        drawn += 1
    return int(np.clip(drawn * BURST / (time.process_time() - start), 3, frames))


@dataclass
class Peer:
    """The client side of :func:`serve`."""

    name: str
    process: subprocess.Popen[str]
    note: str = ""
    works: bool = True
    rates: list[float] = field(default_factory=list)

    def read(self) -> str:
        answer = _stream(self.process.stdout).readline()
        if not answer:
            self.works, self.note = False, "does not work here: its process ended"
        return answer

    def ask(self, question: str) -> str:
        stream = _stream(self.process.stdin)
        with suppress(BrokenPipeError):  # the process has ended; reading will report it
            stream.write(question + "\n")
            stream.flush()
        return self.read()


def _stream(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


def start(name: str, *arguments: float) -> Peer:
    command = [sys.executable, __file__, name, *map(str, arguments)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    return Peer(name, process)


# --- Comparing ------------------------------------------------------------------------------------------------------


def compare(
    size: int, supersample: int, detail: float, frames: int, rounds: int
) -> tuple[list[dict[str, Any]], Picture]:
    """One row per renderer, and their pictures side by side (white if there is none)."""
    triangles = pot(detail).n_faces
    with ExitStack() as stack:
        peers = []
        for name in RENDERERS:  # one after the other, as starting occupies a whole core
            peer = start(name, size, supersample, detail, frames)
            stack.callback(peer.process.wait)
            stack.callback(peer.process.kill)
            word, _, peer.note = (peer.read() or f"missing\t{peer.note}").strip().partition("\t")
            peer.works = word == "ready"
            peers.append(peer)
        for _ in range(rounds):
            for peer in peers:
                answer = peer.ask("round") if peer.works else ""
                if answer:
                    peer.rates.append(float(answer))
        strip = np.concatenate([_picture_of(peer, size) for peer in peers], axis=1)
    if not peers[0].works:
        raise UserError(f"the rasteriser {peers[0].note}; run `lie-ssl doctor` to find out why")
    best = statistics.median(peers[0].rates)
    return [_row(peer, size, supersample, triangles, best) for peer in peers], strip


def _row(peer: Peer, size: int, supersample: int, triangles: int, best: float) -> dict[str, Any]:
    rate = statistics.median(peer.rates) if peer.works and peer.rates else None
    values = (f"{rate:.1f}", f"{best / rate:.2f}") if rate else ("", "")
    return dict(
        zip(COLUMNS, (peer.name, size, supersample, triangles, *values, len(peer.rates), peer.note), strict=True)
    )


def _picture_of(peer: Peer, size: int) -> Picture:
    if peer.works:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "picture.npy"
            if peer.ask(f"save\t{path}"):
                picture: Picture = np.load(path)
                return picture
    return np.full((size, size, 3), 255, np.uint8)


def save_strips(path: Path, strips: Sequence[Picture]) -> None:
    """Saves the strips below each other; small ones are enlarged to the width of the largest."""
    from PIL import Image

    width = max(s.shape[1] for s in strips)
    images = [
        Image.fromarray(s).resize((width, s.shape[0] * width // s.shape[1]), Image.Resampling.NEAREST) for s in strips
    ]
    Image.fromarray(np.concatenate([np.asarray(i) for i in images])).save(path)


# --- Whole data sets ------------------------------------------------------------------------------------------------


def measure_datasets(step: float) -> list[dict[str, Any]]:
    """CPU time of meshes, rendering, encoding and writing: one instance of every class in all poses."""
    from lie_ssl.recipes.data import paper_data

    large = replace(paper_data(), instances=1, step=step, validation=0.0, test=0.0)
    small = replace(large, render=RenderSettings(size=64, supersample=3))
    rows = [_measure_dataset("paper", large, "< 20"), _measure_dataset("paper at 64 px", small, "< 5")]
    keys = ("recipe", "frames", "cpu_ms_per_frame", "minutes_for_468000_on_2_cores", "target")
    headings = ("recipe", "frames", "CPU-ms per frame", "minutes for 468,000 on 2 cores", "target")
    print_table("Meshes, rendering, encoding and writing", headings, rows, keys)
    return rows


def _measure_dataset(recipe: str, config: Any, target: str) -> dict[str, Any]:
    from lie_ssl.frames.make import make_frames

    with tempfile.TemporaryDirectory() as folder:
        make_frames(replace(config, step=180.0, classes=("chair",)), Path(folder) / "warm", workers=1)
        before = sum(os.times()[:4])
        made = make_frames(config, Path(folder) / "data", workers=1)
        seconds = sum(os.times()[:4]) - before
        n = int(made.card["counts"]["frames"])
    minutes = seconds / n * ALL_FRAMES / 2 / 60
    shape = (config.render.size, config.render.supersample)
    values = (recipe, *shape, n, f"{1000 * seconds / n:.3f}", f"{minutes:.1f}", target)
    return dict(zip(DATA_COLUMNS, values, strict=True))


# --- Output ---------------------------------------------------------------------------------------------------------


def print_table(title: str, headings: Iterable[str], rows: Iterable[dict[str, Any]], keys: Sequence[str]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(*headings, title=title)
    for row in rows:
        table.add_row(*(escape(str(row[key])) for key in keys))
    Console().print(table)


def write_csv(path: Path, columns: Iterable[str], rows: Sequence[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(columns))
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5]))
