"""Photorealistic rendering with Blender's Cycles on the CPU, with the interface and framing of the rasteriser.

The camera is fixed on the z axis and the object rotates in front of it, so that world axes are camera axes, and light
and sky move with the camera. Blender returns linear light and coverage; background and sRGB encoding are applied here,
with the constants of the rasteriser.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lie_ssl.errors import UserError
from lie_ssl.objects.mesh import Mesh
from lie_ssl.render import blender_nodes as nodes
from lie_ssl.render.rasteriser import TABLE, encoding_table, srgb_to_linear
from lie_ssl.render.view import RenderSettings, View, camera_matrix, hue_matrix, light_direction

DType = Literal["uint8", "float32"]
Engine = Literal["CYCLES", "BLENDER_WORKBENCH"]
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])
# A sun of strength E gives a matt surface that faces it a radiance of E / pi; the rasteriser's key light gives 0.80.
SUN = 0.80 * np.pi


def render_blender(
    mesh: Mesh, views: Sequence[View], settings: RenderSettings, dtype: DType = "uint8", samples: int = 16
) -> NDArray[Any]:
    """Renders frames (len(views), size, size, channels) of a mesh; more `samples` per pixel reduce noise."""
    if samples < 1:
        raise UserError(f"samples is {samples}, but it must be at least 1")
    out = np.empty((len(views), settings.size, settings.size, settings.channels), dtype)
    with BlenderScene(mesh, settings, samples) as scene:
        for view, frame in zip(views, out, strict=True):
            frame[:] = composite(scene.draw(view), settings, dtype)
    return out


def composite(pixels: NDArray[np.float32], settings: RenderSettings, dtype: DType) -> NDArray[Any]:
    """Composites premultiplied linear light and coverage (N, N, 4) with the background to sRGB (N, N, C)."""
    light, coverage = pixels[..., :3].astype(np.float64), np.clip(pixels[..., 3:], 0, 1).astype(np.float64)
    background = srgb_to_linear(np.array(settings.background)).astype(np.float64)
    linear = np.minimum(light, coverage) + (1 - coverage) * background
    if settings.grey:
        linear = (linear * LUMINANCE).sum(axis=-1, keepdims=True)
    codes = (np.clip(linear, 0, 1) * (TABLE - 1) + 0.5).astype(np.int64)
    coded: NDArray[Any] = encoding_table(dtype)[codes]
    return coded


class BlenderScene:
    """A scene with one mesh, a camera and a sun, reused for all views. As a context manager it cleans up."""

    def __init__(
        self, mesh: Mesh, settings: RenderSettings, samples: int, engine: Engine = "CYCLES", threads: int = 0
    ) -> None:
        self.bpy = import_bpy()
        self._file = tempfile.TemporaryDirectory(prefix="lie_ssl_")
        data = self.bpy.data
        with silenced_stdout():
            self._before = [set(kind) for kind in self._collections()]
            self.scene = data.scenes.new("lie_ssl")
            self._set_up(settings, samples, engine, threads)
            self._add_camera(settings)
            self._hue = nodes.hue_group(self.bpy)
            self.scene.world = nodes.sky(self.bpy)
            self._object = data.objects.new("object", build_mesh(self.bpy, mesh, self._hue))
            self._sun = data.objects.new("sun", self._new_sun())
            for item in (self._object, self._sun):
                self.scene.collection.objects.link(item)

    def __enter__(self) -> BlenderScene:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with silenced_stdout():
            for now, before in zip(self._collections(), self._before, strict=True):
                self.bpy.data.batch_remove([item for item in now if item not in before])
        self._file.cleanup()

    def draw(self, view: View) -> NDArray[np.float32]:
        """Renders a view to (size, size, 4): premultiplied linear light and coverage, top row first."""
        from mathutils import Matrix, Vector

        matrix = np.eye(4)
        matrix[:3, :3] = camera_matrix(view)
        self._object.matrix_world = Matrix(matrix.tolist())
        # A sun shines along its -z axis, so its +z axis points towards the light.
        towards = Vector(light_direction(view.light).tolist())
        self._sun.matrix_world = towards.to_track_quat("Z", "Y").to_matrix().to_4x4()
        nodes.set_hue(self._hue, hue_matrix(view.hue))
        path = Path(self._file.name) / "frame.exr"
        self.scene.render.filepath = str(path)
        with silenced_stdout():
            self.bpy.ops.render.render(write_still=True, scene=self.scene.name)
            return self._read(path)

    def _read(self, path: Path) -> NDArray[np.float32]:
        image = self.bpy.data.images.load(str(path))
        size = self.scene.render.resolution_x
        pixels = np.empty(size * size * 4, np.float32)
        image.pixels.foreach_get(pixels)
        self.bpy.data.images.remove(image)
        return pixels.reshape(size, size, 4)[::-1]

    def _collections(self) -> tuple[Any, ...]:
        """The collections of Blender data that a scene adds to, each before those it refers to."""
        d = self.bpy.data
        return d.scenes, d.objects, d.meshes, d.cameras, d.lights, d.worlds, d.materials, d.node_groups, d.images

    def _set_up(self, settings: RenderSettings, samples: int, engine: Engine, threads: int) -> None:
        render, cycles = self.scene.render, self.scene.cycles
        render.engine = engine
        render.resolution_x = render.resolution_y = settings.size
        render.resolution_percentage = 100
        render.film_transparent = True
        render.use_persistent_data = True  # only sends changes to the renderer
        render.image_settings.file_format = "OPEN_EXR"
        render.image_settings.color_mode = "RGBA"
        render.image_settings.color_depth = "32"
        render.image_settings.exr_codec = "NONE"
        render.threads_mode = "FIXED" if threads else "AUTO"
        if threads:
            render.threads = threads
        self.scene.view_settings.view_transform = "Standard"
        cycles.device, cycles.samples, cycles.seed = "CPU", samples, 0
        cycles.use_adaptive_sampling = cycles.use_denoising = False
        cycles.pixel_filter_type = "BOX"  # a pixel is the mean over its square, as in the rasteriser
        cycles.max_bounces, cycles.diffuse_bounces, cycles.glossy_bounces = 2, 1, 1
        cycles.transparent_max_bounces = 32
        cycles.caustics_reflective = cycles.caustics_refractive = False

    def _add_camera(self, settings: RenderSettings) -> None:
        camera = self.bpy.data.cameras.new("camera")
        camera.angle = np.radians(settings.field_of_view)
        camera.clip_start, camera.clip_end = 0.001, settings.distance + 100
        camera_object = self.bpy.data.objects.new("camera", camera)
        camera_object.location = (0, 0, settings.distance)  # without rotation, a camera looks along -z with y up
        self.scene.collection.objects.link(camera_object)
        self.scene.camera = camera_object

    def _new_sun(self) -> Any:
        sun = self.bpy.data.lights.new("sun", "SUN")
        sun.energy, sun.angle = SUN, np.radians(8)  # wide enough for soft shadows
        return sun


def build_mesh(bpy: Any, mesh: Mesh, hue: Any) -> Any:
    """Converts a mesh to Blender data with materials. Vertices are not shared, so each corner has its own normal."""
    n = mesh.n_faces
    data = bpy.data.meshes.new("object")
    data.vertices.add(3 * n)
    data.loops.add(3 * n)
    data.polygons.add(n)
    data.vertices.foreach_set("co", mesh.vertices[mesh.faces].ravel())
    data.loops.foreach_set("vertex_index", np.arange(3 * n, dtype=np.int32))
    data.polygons.foreach_set("loop_start", np.arange(0, 3 * n, 3, dtype=np.int32))
    data.polygons.foreach_set("use_smooth", np.ones(n, bool))
    data.uv_layers.new(name=nodes.UV).uv.foreach_set("vector", mesh.uv.ravel())
    colours = np.concatenate([srgb_to_linear(mesh.colours), np.ones((n, 3, 1), np.float32)], axis=2)
    data.color_attributes.new(nodes.COLOUR, "FLOAT_COLOR", "CORNER").data.foreach_set("color", colours.ravel())
    for name, values in ((nodes.SHINE, mesh.shine), (nodes.OPACITY, mesh.opacity)):
        data.attributes.new(name, "FLOAT", "FACE").data.foreach_set("value", values)
    used, slots = np.unique(mesh.texture, return_inverse=True)
    for texture in used:
        data.materials.append(nodes.material(bpy, mesh.textures[texture] if texture >= 0 else None, hue))
    data.polygons.foreach_set("material_index", slots.astype(np.int32))
    data.update(calc_edges=True)
    data.normals_split_custom_set(_outward_normals(mesh).reshape(-1, 3).tolist())
    return data


def _outward_normals(mesh: Mesh) -> NDArray[np.float32]:
    """(F, 3, 3) normals on the side given by the winding of their face; Cycles flips both together."""
    a, b, c = (mesh.vertices[mesh.faces[:, i]].astype(np.float64) for i in range(3))
    along = (mesh.normals.sum(axis=1) * np.cross(b - a, c - a)).sum(axis=1)
    return np.where(along[:, None, None] < 0, -mesh.normals, mesh.normals)


def import_bpy() -> Any:
    """Imports Blender as a Python module, on first use because it is large."""
    try:
        with silenced_stdout():
            import bpy
    except ImportError as error:
        raise UserError(f"Blender cannot be loaded ({error}); type: pip install 'lie_ssl[blender]'") from error
    return bpy


@contextmanager
def silenced_stdout() -> Iterator[None]:
    """Suppresses Blender's messages on standard output, which C code writes, bypassing `sys.stdout`."""
    sys.stdout.flush()
    saved = os.dup(1)
    devnull = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(devnull, 1)
        yield
    finally:
        sys.stdout.flush()
        os.dup2(saved, 1)
        os.close(devnull)
        os.close(saved)
