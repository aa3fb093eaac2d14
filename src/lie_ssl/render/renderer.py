"""The common interface of all renderers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import NDArray

from lie_ssl.errors import UserError
from lie_ssl.render.view import RenderSettings, View

if TYPE_CHECKING:  # numba is only loaded with the first picture
    from lie_ssl.objects.mesh import Mesh

Backend = Literal["raster", "blender"]


def render(
    mesh: Mesh,
    views: Sequence[View],
    settings: RenderSettings | None = None,
    backend: Backend = "raster",
    dtype: Literal["uint8", "float32"] = "uint8",
) -> NDArray[Any]:
    """Renders a mesh.

    Args:
        mesh: A normalised mesh.
        views: One view per frame.
        settings: Size, background and camera.
        backend: The renderer.
        dtype: uint8 for values from 0 to 255, float32 for values from 0 to 1.

    Returns:
        sRGB frames (len(views), size, size, channels).

    >>> from lie_ssl.objects.shapes import make_instance
    >>> mesh, _ = make_instance("chair", 0)
    >>> render(mesh, [View()]).shape
    (1, 64, 64, 3)
    """
    settings = settings or RenderSettings()
    if isinstance(views, View):
        raise UserError("render expects a list of views: render(mesh, [View()])")
    if dtype not in ("uint8", "float32"):
        raise UserError(f"dtype is {dtype!r}, but it must be uint8 or float32")
    mesh = mesh.clay() if settings.clay else mesh
    if backend == "raster":
        from lie_ssl.render.rasteriser import rasterise

        return rasterise(mesh, views, settings, dtype)
    if backend == "blender":
        from lie_ssl.render.blender import render_blender

        return render_blender(mesh, views, settings, dtype)
    raise UserError(f"there is no renderer {backend!r}; use raster or blender")
