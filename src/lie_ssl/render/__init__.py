"""Renders meshes."""

from lie_ssl.render.renderer import render
from lie_ssl.render.view import RenderSettings, View

__all__ = ["RenderSettings", "View", "render"]
