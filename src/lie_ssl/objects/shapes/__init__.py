"""All modelling functions in one import, for authors of classes."""

from lie_ssl.objects.shapes.bodies import crossed_beams, cushion
from lie_ssl.objects.shapes.curves import (
    arc,
    bent,
    cross_section,
    ellipse,
    lift,
    lying,
    mirrored_spline,
    polygon,
    rectangle,
    spline,
    standing,
    symmetric,
)
from lie_ssl.objects.shapes.domes import dome_patch, dome_rim, dome_shell, on_dome
from lie_ssl.objects.shapes.draw import Draw, distinct
from lie_ssl.objects.shapes.handles import bar_handle, bow_handle, dial_knob, door_pull, furniture_handle
from lie_ssl.objects.shapes.keys import Keys
from lie_ssl.objects.shapes.palettes import darker
from lie_ssl.objects.shapes.part import Colour, Part, joined
from lie_ssl.objects.shapes.registry import class_names, make_instance, shape
from lie_ssl.objects.shapes.solids import (
    arch,
    ball,
    box,
    cylinder,
    disc,
    hoop,
    lathe,
    loft,
    plate,
    quad,
    rod,
    sheet,
    slab,
    tube,
)
from lie_ssl.objects.shapes.walls import Wall, wrapped
from lie_ssl.objects.shapes.wheels import cast_wheel, tyre_wheel, wheel_rim, wire_wheel

__all__ = [
    "Colour", "Draw", "Keys", "Part", "Wall", "arc", "arch", "ball", "bar_handle", "bent", "bow_handle", "box",
    "cast_wheel", "class_names", "cross_section", "crossed_beams", "cushion", "cylinder", "darker", "dial_knob", "disc",
    "distinct", "dome_patch", "dome_rim", "dome_shell", "door_pull", "ellipse", "furniture_handle", "hoop", "joined",
    "lathe", "lift", "loft", "lying", "make_instance", "mirrored_spline", "on_dome", "plate", "polygon", "quad",
    "rectangle", "rod", "shape", "sheet", "slab", "spline", "standing", "symmetric", "tube", "tyre_wheel", "wheel_rim",
    "wire_wheel", "wrapped",
]  # fmt: skip
