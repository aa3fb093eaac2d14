"""One function for every way to draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import NDArray

from lie_ssl.errors import UserError
from lie_ssl.render.view import RenderSettings, View

if TYPE_CHECKING:  # numba is loaded with the first picture, not before
    from lie_ssl.objects.mesh import Mesh

Backend = Literal["raster", "blender"]


def render(
    mesh: Mesh,
    views: Sequence[View],
    settings: RenderSettings | None = None,
    backend: Backend = "raster",
    dtype: Literal["uint8", "float32"] = "uint8",
) -> NDArray[Any]:
    """(len(views), size, size, channels) sRGB frames of one mesh, in 0 to 255 or as float32 in 0 to 1.

    >>> from lie_ssl.objects.shapes import make_instance
    >>> mesh, _ = make_instance("chair", 0)
    >>> render(mesh, [View()]).shape
    (1, 64, 64, 3)
    """
    settings = settings or RenderSettings()
    if isinstance(views, View):
        raise UserError("render takes a list of views: render(mesh, [View()])")
    if dtype not in ("uint8", "float32"):
        raise UserError(f"dtype is {dtype!r}, but pictures are uint8 or float32")
    mesh = mesh.clay() if settings.clay else mesh
    if backend == "raster":
        from lie_ssl.render.rasteriser import rasterise

        return rasterise(mesh, views, settings, dtype)
    if backend == "blender":
        from lie_ssl.render.blender import render_blender

        return render_blender(mesh, views, settings, dtype)
    raise UserError(f"there is no renderer {backend!r}; there are raster and blender")
