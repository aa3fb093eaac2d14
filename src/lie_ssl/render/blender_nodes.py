"""Materials and sky for Blender: the surfaces of the rasteriser, plus real shadows and reflections."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lie_ssl.render.rasteriser import srgb_to_linear

# Names of the mesh attributes of materials.
COLOUR, SHINE, OPACITY, UV = "lie_colour", "lie_shine", "lie_opacity", "lie_uv"
# The reflection of glass, doubled at full shine. Highlights are then about as bright as in the rasteriser.
ROUGHNESS, IOR = 0.4, 1.5
# Ambient light, brighter from above. A matt surface receives 2/3 of the slope, which is the 0.12 of the rasteriser.
SKY_MEAN, SKY_SLOPE = 0.34, 0.18


def sky(bpy: Any) -> Any:
    """A world that is brighter above (y, in camera axes) than below."""
    world = bpy.data.worlds.new("lie_ssl")
    world.use_nodes = True
    world.cycles_visibility.glossy = False  # reflections of an even sky only wash out colours
    # Blender precomputes a brightness map of the sky; a small one is enough for such a smooth sky.
    world.cycles.sampling_method, world.cycles.sample_map_resolution = "MANUAL", 16
    tree = world.node_tree
    tree.nodes.clear()
    coordinates = tree.nodes.new("ShaderNodeTexCoord")
    split = tree.nodes.new("ShaderNodeSeparateXYZ")
    level = tree.nodes.new("ShaderNodeMath")
    level.operation = "MULTIPLY_ADD"
    level.inputs[1].default_value, level.inputs[2].default_value = SKY_SLOPE, SKY_MEAN
    background = tree.nodes.new("ShaderNodeBackground")
    background.inputs["Color"].default_value = (1, 1, 1, 1)
    out = tree.nodes.new("ShaderNodeOutputWorld")
    tree.links.new(coordinates.outputs["Generated"], split.inputs[0])
    tree.links.new(split.outputs["Y"], level.inputs[0])
    tree.links.new(level.outputs[0], background.inputs["Strength"])
    tree.links.new(background.outputs[0], out.inputs["Surface"])
    return world


def hue_group(bpy: Any) -> Any:
    """A node group that multiplies a colour with a 3 x 3 matrix, shared by all materials; see :func:`set_hue`."""
    group = bpy.data.node_groups.new("lie_hue", "ShaderNodeTree")
    group.interface.new_socket("Colour", in_out="INPUT", socket_type="NodeSocketColor")
    group.interface.new_socket("Colour", in_out="OUTPUT", socket_type="NodeSocketColor")
    group_input, group_output = group.nodes.new("NodeGroupInput"), group.nodes.new("NodeGroupOutput")
    combine = group.nodes.new("ShaderNodeCombineColor")
    for channel in range(3):
        row = group.nodes.new("ShaderNodeVectorMath")
        row.operation, row.name = "DOT_PRODUCT", f"row{channel}"
        positive = group.nodes.new("ShaderNodeMath")
        positive.operation = "MAXIMUM"
        positive.inputs[1].default_value = 0.0
        group.links.new(group_input.outputs[0], row.inputs[0])
        group.links.new(row.outputs["Value"], positive.inputs[0])
        group.links.new(positive.outputs[0], combine.inputs[channel])
    group.links.new(combine.outputs[0], group_output.inputs[0])
    set_hue(group, np.eye(3))
    return group


def set_hue(group: Any, matrix: NDArray[np.float64]) -> None:
    """Sets the hue matrix if it differs, as any change makes Blender recompile its shaders."""
    for channel in range(3):
        socket = group.nodes[f"row{channel}"].inputs[1]
        if not np.array_equal(np.float32(socket.default_value), np.float32(matrix[channel])):
            socket.default_value = matrix[channel].tolist()


def material(bpy: Any, texture: NDArray[np.uint8] | None, hue: Any) -> Any:
    """A material: corner colours times the texture, if any, with the hue applied; shine and opacity of the faces."""
    made = bpy.data.materials.new("lie_ssl")
    made.use_nodes = True
    tree = made.node_tree
    tree.nodes.clear()
    surface = tree.nodes.new("ShaderNodeBsdfPrincipled")
    surface.inputs["Roughness"].default_value = ROUGHNESS
    surface.inputs["IOR"].default_value = IOR
    recolour = tree.nodes.new("ShaderNodeGroup")
    recolour.node_tree = hue
    colour, opacity = _attribute(tree, COLOUR).outputs["Color"], _attribute(tree, OPACITY).outputs["Fac"]
    if texture is not None:
        colour, opacity = _textured(bpy, tree, texture, colour, opacity)
    tree.links.new(colour, recolour.inputs[0])
    tree.links.new(recolour.outputs[0], surface.inputs["Base Color"])
    tree.links.new(opacity, surface.inputs["Alpha"])
    tree.links.new(_attribute(tree, SHINE).outputs["Fac"], surface.inputs["Specular IOR Level"])
    out = tree.nodes.new("ShaderNodeOutputMaterial")
    tree.links.new(surface.outputs[0], out.inputs["Surface"])
    return made


def _textured(bpy: Any, tree: Any, texture: NDArray[np.uint8], colour: Any, opacity: Any) -> tuple[Any, Any]:
    image = _image(bpy, texture)
    product = tree.nodes.new("ShaderNodeVectorMath")
    product.operation = "MULTIPLY"
    tree.links.new(colour, product.inputs[0])
    tree.links.new(_picture(tree, image, "Linear").outputs["Color"], product.inputs[1])
    if not (texture[..., 3] < 128).any():
        return product.outputs[0], opacity
    # Texels are opaque or invisible, as in the rasteriser; values in between occur only at the edge of a cut-out.
    opaque = tree.nodes.new("ShaderNodeMath")
    opaque.operation = "GREATER_THAN"
    opaque.inputs[1].default_value = 0.499
    tree.links.new(_picture(tree, image, "Closest").outputs["Alpha"], opaque.inputs[0])
    return product.outputs[0], _product(tree, opacity, opaque.outputs[0])


def _picture(tree: Any, image: Any, interpolation: str) -> Any:
    coordinates, picture = tree.nodes.new("ShaderNodeUVMap"), tree.nodes.new("ShaderNodeTexImage")
    coordinates.uv_map, picture.image, picture.extension, picture.interpolation = UV, image, "REPEAT", interpolation
    tree.links.new(coordinates.outputs[0], picture.inputs["Vector"])
    return picture


def _image(bpy: Any, texture: NDArray[np.uint8]) -> Any:
    """Converts a texture to linear floats, which avoids colour management."""
    pixels = texture.astype(np.float32) / 255
    pixels[..., :3] = srgb_to_linear(pixels[..., :3])
    image = bpy.data.images.new(
        "lie_ssl", texture.shape[1], texture.shape[0], alpha=True, float_buffer=True, is_data=True
    )
    image.alpha_mode = "CHANNEL_PACKED"  # otherwise colours are multiplied by alpha
    image.pixels.foreach_set(np.ascontiguousarray(pixels[::-1]).ravel())  # Blender starts with the bottom row
    image.update()
    return image


def _attribute(tree: Any, name: str) -> Any:
    node = tree.nodes.new("ShaderNodeAttribute")
    node.attribute_name = name
    return node


def _product(tree: Any, first: Any, second: Any) -> Any:
    node = tree.nodes.new("ShaderNodeMath")
    node.operation = "MULTIPLY"
    tree.links.new(first, node.inputs[0])
    tree.links.new(second, node.inputs[1])
    return node.outputs[0]
