"""Panda3D as a peer of the rasteriser: the same object, camera and light, rendered off-screen and copied to numpy.

Multisampled buffers are not used: off-screen, the plain ones are not antialiased, and those of framebuffer objects are
slower than rendering a larger picture and averaging. Back faces are culled, in favour of Panda3D.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lie_ssl.objects.mesh import Mesh
from lie_ssl.render.view import RenderSettings, View, camera_matrix, light_direction

Picture = NDArray[np.uint8]

VERTEX = """#version 120
uniform mat4 p3d_ModelViewProjectionMatrix; uniform mat3 p3d_NormalMatrix;
attribute vec4 p3d_Vertex; attribute vec3 p3d_Normal; attribute vec4 p3d_Color;
varying vec3 normal; varying vec4 colour;
void main() {
    gl_Position = p3d_ModelViewProjectionMatrix * p3d_Vertex;
    normal = p3d_NormalMatrix * p3d_Normal;
    colour = vec4(pow(p3d_Color.rgb, vec3(2.2)), p3d_Color.a);
}"""
FRAGMENT = """#version 120
uniform vec3 light; uniform vec3 half_way; varying vec3 normal; varying vec4 colour;
void main() {
    vec3 n = normalize(normal);
    float lit = 0.34 + 0.12 * n.y + 0.80 * max(dot(n, light), 0.0);
    float gloss = 0.6 * colour.a * pow(max(dot(n, half_way), 0.0), 32.0);
    gl_FragColor = vec4(pow(min(colour.rgb * lit + gloss, 1.0), vec3(1.0 / 2.2)), 1.0);
}"""


def panda(mesh: Mesh, settings: RenderSettings, module: str, shader: bool = False) -> Callable[[View], Picture]:
    """A function that draws; `module` is a display module of Panda3D, `shader` enables lighting per pixel."""
    os.environ["LP_NUM_THREADS"] = "0"  # Mesa's software OpenGL uses only our thread
    from panda3d import core

    core.load_prc_file_data("", f"load-display {module}\naux-display\nsync-video false\nnotify-level error\n")
    side, factor = settings.size * settings.supersample, settings.supersample
    engine, buffer = _buffer(core, module, side)
    texture = core.Texture()
    buffer.add_render_texture(texture, core.GraphicsOutput.RTM_copy_ram)
    root = core.NodePath("root")
    model = root.attach_new_node(_node(core, mesh))
    lens = core.PerspectiveLens()
    lens.set_coordinate_system(core.CS_yup_right)
    lens.set_fov(settings.field_of_view)
    lens.set_near_far(settings.distance - 1.1, settings.distance + 1.1)
    camera = root.attach_new_node(core.Camera("camera", lens))
    camera.set_pos(0, 0, settings.distance)
    buffer.make_display_region().set_camera(camera)
    if shader:
        _light_pixels(core, root)
    else:
        _light_vertices(core, root, white=module == "p3tinydisplay")

    def draw(view: View) -> Picture:
        matrix = np.eye(4)
        matrix[:3, :3] = camera_matrix(view).T  # Panda3D uses row vectors
        model.set_mat(core.LMatrix4(*matrix.ravel().tolist()))
        engine.render_frame()
        raw = np.frombuffer(texture.get_ram_image(), np.uint8).reshape(side, side, -1)
        return _averaged(raw, factor)[::-1, :, 2::-1]  # the bottom row and blue come first

    return draw


def _averaged(raw: Picture, factor: int) -> Picture:
    rows = sum((raw[i::factor] for i in range(1, factor)), raw[0::factor].astype(np.uint16))
    both = sum((rows[:, i::factor] for i in range(1, factor)), rows[:, 0::factor])
    return ((both + factor * factor // 2) // np.uint16(factor * factor)).astype(np.uint8)


def _buffer(core: Any, module: str, side: int) -> tuple[Any, Any]:
    pipe = core.GraphicsPipeSelection.get_global_ptr().make_module_pipe(module)
    engine = core.GraphicsEngine.get_global_ptr()
    properties = core.FrameBufferProperties()
    properties.set_rgba_bits(8, 8, 8, 0)
    properties.set_depth_bits(24)
    window = core.WindowProperties.size(side, side)
    buffer = pipe and engine.make_output(pipe, "buffer", 0, properties, window, core.GraphicsPipe.BF_refuse_window)
    if not buffer:
        raise RuntimeError(f"{module} does not start here")
    buffer.set_clear_color((1, 1, 1, 1))
    return engine, buffer


def _node(core: Any, mesh: Mesh) -> Any:
    """The mesh with as few vertices as its normals and colours allow; shine is stored as alpha."""
    record = np.zeros((mesh.n_faces, 3), [("point", "<f4", 3), ("normal", "<f4", 3), ("colour", "u1", 4)])
    record["point"], record["normal"] = mesh.vertices[mesh.faces], mesh.normals
    record["colour"][..., :3] = np.rint(mesh.colours * 255)
    record["colour"][..., 3] = np.rint(mesh.shine * 255)[:, None]
    shared, index = np.unique(record.ravel().view(np.dtype((np.void, record.itemsize))), return_inverse=True)
    layout, geom, name = core.GeomVertexArrayFormat(), core.Geom, core.InternalName
    layout.add_column(name.get_vertex(), 3, geom.NT_float32, geom.C_point)
    layout.add_column(name.get_normal(), 3, geom.NT_float32, geom.C_normal)
    layout.add_column(name.get_color(), 4, geom.NT_uint8, geom.C_color)
    data = core.GeomVertexData(
        "pot", core.GeomVertexFormat.register_format(core.GeomVertexFormat(layout)), geom.UH_static
    )
    data.unclean_set_num_rows(len(shared))
    data.modify_array_handle(0).copy_data_from(shared.tobytes())
    triangles = core.GeomTriangles(geom.UH_static)
    triangles.set_index_type(geom.NT_uint32)
    corners = triangles.modify_vertices()
    corners.unclean_set_num_rows(index.size)
    corners.modify_handle().copy_data_from(index.astype(np.uint32).tobytes())
    shape = geom(data)
    shape.add_primitive(triangles)
    node = core.GeomNode("pot")
    node.add_geom(shape)
    return node


def _light_pixels(core: Any, root: Any) -> None:
    towards = light_direction(0.0)
    half_way = towards + np.array([0.0, 0.0, 1.0])
    root.set_shader(core.Shader.make(core.Shader.SL_GLSL, VERTEX, FRAGMENT))
    root.set_shader_input("light", core.LVector3(*towards))
    root.set_shader_input("half_way", core.LVector3(*(half_way / np.linalg.norm(half_way))))


def _light_vertices(core: Any, root: Any, white: bool) -> None:
    """A directional and an ambient light. Without a `white` material, the software renderer applies colours twice."""
    if white:
        material = core.Material()
        material.set_diffuse((1, 1, 1, 1))
        material.set_ambient((1, 1, 1, 1))
        root.set_material(material)
    ambient, sun = core.AmbientLight("ambient"), core.DirectionalLight("sun")
    ambient.set_color((0.45, 0.45, 0.45, 1))
    sun.set_color((0.55, 0.55, 0.55, 1))
    sun.set_direction(core.LVector3(*-light_direction(0.0)))
    for lamp in (ambient, sun):
        root.set_light(root.attach_new_node(lamp))
