"""`lie-ssl demo`: from nothing to pictures in under a minute."""

from __future__ import annotations

from pathlib import Path

from lie_ssl.commands.data import show
from lie_ssl.commands.make import run
from lie_ssl.recipes.data import demo as demo_recipe


def demo(out: Path = Path("data/demo")) -> None:
    """Makes the demo data set (52 classes of 3D objects in many poses), prints its card and draws its figures.

    Run again, it goes on where it was stopped, or only draws the figures.

    Example: lie-ssl demo --out data/demo

    Args:
        out: The folder of the data set; the figures go into its folder figures/.
    """
    run("demo", demo_recipe(), out, workers=0, strict=False)
    show(out)
    print(f"Open {out / 'figures' / 'turning.gif'} to see all 52 classes turning.")
