"""The modelling vocabulary, in one import for those who write classes."""

from lie_ssl.objects.shapes.curves import arc, ellipse, lift, polygon, rectangle, spline
from lie_ssl.objects.shapes.draw import Draw
from lie_ssl.objects.shapes.part import Colour, Part, joined
from lie_ssl.objects.shapes.registry import class_names, make_instance, shape
from lie_ssl.objects.shapes.solids import ball, box, cylinder, lathe, loft, rod, sheet, slab, tube

__all__ = [
    "Colour", "Draw", "Part", "arc", "ball", "box", "class_names", "cylinder", "ellipse", "joined", "lathe", "lift", "loft",
    "make_instance", "polygon", "rectangle", "rod", "shape", "sheet", "slab", "spline", "tube",
]  # fmt: skip
