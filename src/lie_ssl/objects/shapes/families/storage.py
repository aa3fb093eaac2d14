"""Storage furniture: bookshelf, cabinet, file cabinet."""

from __future__ import annotations

from lie_ssl.objects.shapes.curves import arc, rectangle
from lie_ssl.objects.shapes.draw import Draw
from lie_ssl.objects.shapes.handles import furniture_handle
from lie_ssl.objects.shapes.palettes import darker
from lie_ssl.objects.shapes.part import Colour, Part, joined
from lie_ssl.objects.shapes.registry import shape
from lie_ssl.objects.shapes.solids import ball, box, cylinder, disc, lathe, rod, slab


@shape("bookshelf")
def bookshelf(draw: Draw) -> Part:
    """Shelves with books and a few trinkets: boxed, divided into columns, open with posts, or leaning like a ladder."""
    width, height = draw.number("width", 0.8, 1.5), draw.number("height", 1.3, 2.1)
    depth, board = draw.number("depth", 0.32, 0.46), draw.number("board", 0.04, 0.075)
    fullness = draw.number("fullness", 0.7, 1.0)
    kind = draw.pick("kind", ["boxed", "divided", "open", "ladder"], [4, 3, 2, 1])
    shelves, columns = draw.whole("shelves", 3, 5), 1
    if kind == "divided":
        columns = draw.whole("columns", 2, 3)
        width *= 1.2
    top = draw.pick("top", ["flat", "cornice", "arched"], [3, 2, 1]) if kind in ("boxed", "divided") else "flat"
    frame, back_colour = draw.colour(), draw.colour()
    plinth = draw.number("plinth", 0.05, 0.16)
    step = (height - plinth) / shelves
    inner = (width - board * (columns + 1)) / columns
    result = _shelf_frame(kind, width, height, depth, board, columns).paint(frame)
    if kind in ("boxed", "divided"):
        result += (
            box(width - 0.02, height - plinth, 0.03).at(y=(height + plinth) / 2, z=-depth / 2 + 0.02).paint(back_colour)
        )
        result += box(width - 0.04, plinth, depth - 0.06).at(y=plinth / 2).paint(frame) + _shelf_top(
            top, width, height, depth
        ).paint(frame)
    for k in range(shelves + 1):
        y = plinth + step * k
        shallow = 1.0 if kind != "ladder" else 1.0 - 0.5 * y / height
        shelf = box(width - 0.02, board, depth * shallow - 0.01).at(y=y, z=-depth * (1 - shallow) / 2)
        result += shelf.paint(frame if kind != "open" else back_colour)
        for c in range(columns if k < shelves else 0):
            left = -width / 2 + board + c * (inner + board)
            content = _shelf_content(draw, inner, step - board, depth * shallow * 0.75, fullness)
            result += content.at(left, y + board / 2, -depth * (1 - shallow) / 2)
    return result


def _shelf_frame(kind: str, width: float, height: float, depth: float, board: float, columns: int) -> Part:
    """The uprights, standing on y = 0."""
    x = width / 2 - board / 2
    if kind == "open":
        post = box(board, height + 0.04, board).at(x, height / 2, depth / 2 - board / 2).mirror("z").mirror()
        cross = rod([-x, 0.1, -depth / 2], [x, height - 0.1, -depth / 2], 0.02, n=4)
        return post + cross
    if kind == "ladder":
        rail = rod([x, 0, depth / 2], [x, height + 0.15, -depth * 0.1], board * 0.8, n=4)
        return (rail + box(board, height + 0.15, board).at(x, height / 2 + 0.07, -depth / 2 + board / 2)).mirror()
    wall = box(board, height + board / 2, depth).at(y=height / 2 + board / 4)
    return wall.row(columns + 1, dx=(width - board) / columns)


def _shelf_top(kind: str, width: float, height: float, depth: float) -> Part:
    if kind == "cornice":
        return box(width + 0.08, 0.06, depth + 0.05).at(y=height + 0.04) + box(width + 0.16, 0.04, depth + 0.1).at(
            y=height + 0.09
        )
    if kind == "arched":
        return slab(arc(1, 0, 180, 14) * [width / 2, 0.2], 0.06).at(y=height + 0.02, z=-depth / 2 + 0.05)
    return box(width + 0.03, 0.03, depth + 0.02).at(y=height + 0.03)


def _shelf_content(draw: Draw, width: float, height: float, depth: float, fullness: float) -> Part:
    """Books from the left, some leaning or lying, and sometimes a trinket; stands on y = 0 from x = 0 to `width`."""
    parts, x = Part(), 0.01
    end = width * fullness * draw.number("books until", 0.6, 1.0)
    while True:
        thick = draw.number("book thickness", 0.05, 0.11)
        tall = height * draw.number("book height", 0.6, 0.93)
        if x + thick > min(end, width - 0.02):
            break
        parts += box(thick * 0.94, tall, depth).at(x + thick / 2, tall / 2, depth * 0.08).paint(draw.colour(), 0.15)
        x += thick
    room = width - x
    if room > 0.12 and draw.chance("leaning book", 0.5):
        parts += (
            box(0.05, height * 0.7, depth * 0.9)
            .rot(z=14)
            .at(x + height * 0.11 + 0.02, height * 0.36)
            .paint(draw.colour())
        )
        room -= height * 0.22
    if room > 0.22:
        trinket = draw.pick("trinket", ["vase", "stack", "globe", "none"])
        parts += _trinket(draw, trinket, min(room - 0.06, 0.34), height * 0.75).at(width - room / 2, 0, 0.03)
    return parts


def _trinket(draw: Draw, kind: str, width: float, height: float) -> Part:
    if kind == "vase":
        profile = [(0, 0), (0.5, 0), (1, 0.4), (0.4, 0.75), (0.6, 1), (0, 1)]
        return lathe(profile, 10).size(width * 0.35, height, width * 0.35).paint(draw.colour(), 0.6)
    if kind == "stack":
        return joined(
            box(width * s, 0.06, 0.24).at(y=0.03 + 0.065 * k).paint(draw.colour()) for k, s in enumerate((1, 0.9, 0.75))
        )
    if kind == "globe":
        r = min(width, height) * 0.42
        return ball(r, 10).at(y=r + 0.06).paint(draw.colour(), 0.5) + cylinder(r * 0.7, 0.08, r * 0.2, n=8).at(
            y=0.04
        ).paint(draw.colour("metal"))
    return Part()


# Width and height.
_CABINETS = {"sideboard": (1.9, 0.75), "wardrobe": (1.15, 1.75), "dresser": (1.2, 0.85), "chest": (0.85, 0.9)}


@shape("cabinet")
def cabinet(draw: Draw) -> Part:
    """A cupboard with doors: sideboard, wardrobe, dresser or small chest; flat, panelled, louvred or glazed doors."""
    kind = draw.pick("kind", list(_CABINETS))
    wide, tall = _CABINETS[kind]
    width, height = wide * draw.number("width", 0.82, 1.18), tall * draw.number("height", 0.85, 1.15)
    depth, feet = draw.number("depth", 0.42, 0.6), draw.number("foot height", 0.08, 0.28)
    doors = draw.whole("doors", 3, 4) if kind == "sideboard" else draw.whole("doors", 1 if kind == "chest" else 2, 2)
    style = draw.pick("door style", ["flat", "panelled", "louvred", "glazed"])
    grip = draw.pick("handles", ["knob", "bar", "bow", "ring"])
    case, front, metal = draw.colour(), draw.colour(), draw.colour("metal")
    if draw.chance("one colour", 0.4):
        front = case
    share = draw.number("drawer share", 0.16, 0.28) if draw.chance("drawers", 0.5) else 0.0

    rise, top = height * share, feet + height
    result = box(width, height, depth).at(y=feet + height / 2).paint(case)
    result += _cabinet_feet(draw, width, depth, feet).paint(metal if draw.chance("metal feet", 0.3) else case)
    lip = draw.number("overhang", 0.02, 0.12)
    result += box(width + lip, 0.05, depth + lip).at(y=top + 0.02).paint(draw.colour())
    cell, tall_door = (width - 0.06) / doors, height - rise - 0.08
    open_door = draw.whole("open door", 0, doors - 1) if draw.chance("ajar", 0.3) else -1
    for k in range(doors):
        x, z = (k - (doors - 1) / 2) * cell, depth / 2
        y = feet + 0.04 + tall_door / 2
        # Doors are hinged in pairs, on the left and on the right; the handle is away from the hinge.
        side = 1 if doors == 1 or k % 2 == 0 else -1
        upright = furniture_handle(grip, 0.2).rot(z=90 if grip in ("bar", "bow") else 0)
        door = _door(style, cell - 0.03, tall_door, front)
        door += upright.at(side * (cell * 0.5 - 0.085), 0.03, 0.04).paint(metal, 0.8)
        if k == open_door:
            result += _interior(cell - 0.06, tall_door - 0.04, case).at(x, y, z)
            half = side * (cell - 0.03) / 2
            door = door.at(x=half).rot(y=-side * draw.number("door angle", 50, 100)).at(x=-half)
        result += door.at(x, y, z + 0.02)
        if share:
            panel = box(cell - 0.03, rise - 0.02, 0.05).at(x, top - rise / 2 - 0.02, z + 0.01).paint(front)
            result += panel + furniture_handle(grip, 0.2).at(x, top - rise / 2 - 0.02, z + 0.03).paint(metal, 0.8)
    if kind == "dresser":
        result += _dresser_top(draw, width * 0.94, depth * 0.55, case).at(y=top + 0.04, z=-depth * 0.2)
    return result


def _door(style: str, width: float, height: float, colour: Colour) -> Part:
    """A door in the x-y plane about the origin; its details stand out by no more than 0.04."""
    shade = darker(colour, 0.72)
    leaf = box(width, height, 0.05).paint(colour)
    rails = [rectangle(width - 0.16, height - 0.16)]
    if style == "flat":
        return leaf
    if style == "panelled":
        field = box(width - 0.2, height * 0.5 - 0.14, 0.08).row(2, dy=height * 0.47)
        return leaf + field.paint(shade)
    frame = slab(rectangle(width, height), 0.08, rails).paint(colour)
    if style == "louvred":
        n = max(5, int(height / 0.13))
        return (
            frame
            + leaf.size(1, 1, 0.8).paint(shade)
            + box(width - 0.15, 0.06, 0.02).rot(x=-25).row(n, dy=(height - 0.18) / n).at(z=0.03).paint(colour)
        )
    glass = box(width - 0.1, height - 0.1, 0.055).paint((0.5, 0.66, 0.74), 0.9)
    bars = box(0.03, height, 0.075) + box(width, 0.03, 0.075).row(2, dy=height / 3)
    return frame + glass + bars.paint(colour)


def _interior(width: float, height: float, case: Colour) -> Part:
    """The dark inside behind an open door, with two shelves."""
    hollow = box(width, height, 0.03).paint((0.12, 0.1, 0.09), 0.0)
    return hollow + box(width, 0.04, 0.05).row(2, dy=height / 3).paint(case)


def _cabinet_feet(draw: Draw, width: float, depth: float, height: float) -> Part:
    kind = draw.pick("feet", ["pegs", "posts", "plinth", "buns"])
    x, z = width / 2 - 0.08, depth / 2 - 0.07
    if kind == "plinth":
        return box(width - 0.1, height + 0.02, depth - 0.08).at(y=height / 2 + 0.01)
    foot = {
        "pegs": rod([x + 0.04, 0, z + 0.04], [x - 0.02, height + 0.01, z - 0.02], 0.03, 0.06, n=7),
        "posts": box(0.08, height + 0.02, 0.08).at(x, height / 2 + 0.01, z),
        "buns": ball(1, 10).size(0.08, height / 2 + 0.02, 0.08).at(x, height / 2 + 0.01, z),
    }[kind]
    return foot.mirror().mirror("z")


def _dresser_top(draw: Draw, width: float, depth: float, colour: Colour) -> Part:
    """The open shelves with plates that stand on a dresser; on y = 0."""
    height, t = draw.number("upper height", 0.55, 0.85), 0.05
    frame = box(t, height, depth).at(width / 2 - t / 2, height / 2).mirror() + box(width, height, 0.04).at(
        y=height / 2, z=-depth / 2 + 0.03
    )
    frame += box(width - 0.02, t, depth - 0.02).at(y=height / 2) + box(width + 0.08, t, depth + 0.06).at(
        y=height + 0.02
    )
    plates = (
        cylinder(height * 0.19, 0.03, n=14)
        .rot(x=76)
        .row(draw.whole("plates", 2, 4), dx=width / 4.4)
        .at(y=height * 0.73, z=-depth * 0.22)
    )
    return frame.paint(colour) + plates.paint(draw.colour(), 0.6)


@shape("file cabinet")
def file_cabinet(draw: Draw) -> Part:
    """A stack of deep drawers with label holders and handles; may be wide, on castors, or have a drawer pulled out."""
    drawers = draw.whole("drawers", 2, 5)
    width = draw.number("width", 0.46, 0.62) * (1.7 if draw.chance("lateral", 0.25) else 1.0)
    drawer, depth = draw.number("drawer height", 0.3, 0.38), draw.number("depth", 0.6, 0.85)
    base, gap = draw.number("base height", 0.05, 0.12), draw.number("gap", 0.02, 0.04)
    grip = draw.pick("handles", ["bar", "bow", "cup", "lip"])
    feet = draw.pick("base", ["plinth", "castors", "feet"])
    case, front, metal = draw.colour(), draw.colour(), draw.colour("metal")
    if draw.chance("one colour", 0.55):
        front = darker(case, 0.9)
    height = drawers * drawer + 0.08
    result = box(width, height, depth).at(y=base + height / 2).paint(case, 0.4)
    if draw.chance("top board", 0.4):
        result += box(width + 0.05, 0.04, depth + 0.05).at(y=base + height + 0.02).paint(draw.colour(), 0.3)
    result += _file_base(feet, width, depth, base).paint((0.13, 0.13, 0.14))
    opened = draw.whole("open drawer", 0, drawers - 1) if draw.chance("one open", 0.45) else -1
    for k in range(drawers):
        y = base + 0.04 + drawer * (k + 0.5)
        face = box(width - 0.06, drawer - gap, 0.06).paint(front, 0.4) + _drawer_fittings(grip, width, drawer, metal)
        out = 0.0
        if k == opened:
            out = depth * draw.number("pulled out", 0.35, 0.6)
            face += _folders(draw, width - 0.12, drawer - gap - 0.06, out)
        result += face.at(y=y, z=depth / 2 + 0.01 + out)
    lock = disc(0.03, 0.05, 8).at(width / 2 - 0.09, base + height - 0.09, depth / 2 + 0.03)
    return result + lock.paint(metal, 0.9)


def _drawer_fittings(grip: str, width: float, height: float, metal: Colour) -> Part:
    """A handle below a framed label, on the face of a drawer about the origin."""
    card = box(0.16, 0.07, 0.03).at(y=height * 0.2, z=0.035).paint((0.95, 0.94, 0.88), 0.05)
    frame = slab(rectangle(0.21, 0.115), 0.04, [rectangle(0.15, 0.06)]).at(y=height * 0.2, z=0.04)
    lines = {
        "cup": cylinder(0.1, 0.05, 0.08, n=12).rot(x=90).size(1, 0.5, 1).at(z=0.05),
        "lip": box(width * 0.6, 0.04, 0.07).at(z=0.05),
    }
    handle = lines[grip] if grip in lines else furniture_handle(grip, 0.24).at(z=0.03)
    return card + (frame + handle.at(y=-height * 0.1)).paint(metal, 0.8)


def _folders(draw: Draw, width: float, height: float, out: float) -> Part:
    """The body of a pulled-out drawer behind its face, full of folders whose tabs stand up in turn."""
    floor = (
        box(width, 0.03, out).at(y=-height / 2) + box(0.03, height * 0.7, out).at(width / 2, -height * 0.15).mirror()
    )
    parts = floor.at(z=-out / 2).paint((0.4, 0.41, 0.43), 0.4)
    n = draw.whole("folders", 4, 7)
    for k in range(n):
        sheet = box(width * 0.92, height * 0.92, out / n * 0.5) + box(width * 0.28, 0.07, out / n * 0.4).at(
            (k % 3 - 1) * width * 0.3, height * 0.48
        )
        parts += sheet.at(z=-out * (k + 0.6) / n).paint(draw.colour("pastel"), 0.05)
    return parts


def _file_base(kind: str, width: float, depth: float, height: float) -> Part:
    x, z = width / 2 - 0.07, depth / 2 - 0.07
    if kind == "plinth":
        return box(width - 0.06, height + 0.02, depth - 0.06).at(y=height / 2 + 0.01)
    if kind == "castors":
        return cylinder(height * 0.52, 0.05, n=10).rot(z=90).at(x, height * 0.52, z).mirror().mirror("z")
    return cylinder(0.05, height + 0.02, n=8).at(x, height / 2 + 0.01, z).mirror().mirror("z")
