"""Material files (.mtl) of OBJ models."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lie_ssl.objects.textures import find_beside

GREY = (0.7, 0.7, 0.7)
WHITE = (1.0, 1.0, 1.0)

# Maximum number of values after an option of a map_ line. The rest of the line is the file name, including spaces.
_OPTION_VALUES = {"-s": 3, "-o": 3, "-t": 3, "-mm": 2, "-bm": 1, "-boost": 1, "-texres": 1}
_OPTION_WORDS = {"-blendu", "-blendv", "-cc", "-clamp", "-imfchan", "-type"}


@dataclass
class Material:
    """The material of a surface. `colour` is None if the file gives none."""

    colour: tuple[float, ...] | None = None
    opacity: float = 1.0
    specular: float | None = None
    exponent: float = 30.0
    highlights: bool = True
    picture: str = ""
    mask: str = ""
    uv_scale: tuple[float, float] = (1.0, 1.0)
    uv_offset: tuple[float, float] = (0.0, 0.0)

    @property
    def shine(self) -> float:
        """Combines Ks and Ns: both strong and narrow highlights look polished."""
        if self.specular is None:
            return 0.2
        return min(1.0, self.specular * self.exponent / (self.exponent + 50)) if self.highlights else 0.0

    def untextured(self) -> tuple[float, ...]:
        """The colour if the material has no texture, or its texture is missing."""
        return GREY if self.colour is None or self._is_placeholder else self.colour

    def tint(self) -> tuple[float, ...]:
        """The colour that is multiplied with the texture."""
        return WHITE if self.colour is None or self._is_placeholder else self.colour

    @property
    def _is_placeholder(self) -> bool:
        """Whether black means 'no colour', as some exporters write it for textured materials."""
        return bool(self.picture) and self.colour is not None and max(self.colour) < 0.05


def read_materials(model: Path, names: list[str]) -> dict[str, Material] | None:
    """Reads the material files that `model` names, or the one with the name of the model; None if there is none."""
    paths: list[Path | None] = []
    for name in names:
        path = find_beside(model, name)
        # A line may contain several names.
        paths += [path] if path else [find_beside(model, part) for part in name.split()]
    found = [path for path in paths if path] or [path for path in [find_beside(model, f"{model.stem}.mtl")] if path]
    if not found:
        return None
    materials: dict[str, Material] = {}
    for file in found:
        materials.update(_parse(file.read_bytes().decode("utf-8", "surrogateescape")))
    return materials


def _parse(text: str) -> dict[str, Material]:
    materials: dict[str, Material] = {}
    material = Material()
    has_d = False
    for line in text.replace("\\\n", " ").splitlines():
        key, _, rest = (
            line.strip().partition(" ") if "\t" not in line else line.strip().replace("\t", " ").partition(" ")
        )
        key, rest = key.lower(), rest.strip()
        if key == "newmtl":
            material = materials[rest] = Material()
            has_d = False
        elif key == "tr" and not has_d:
            material.opacity = _clamp(1 - _numbers(rest, [0.0])[-1])
        elif key == "d":
            material.opacity = _clamp(_numbers(rest, [1.0])[-1])
            has_d = True
        else:
            _set(material, key, rest)
    return materials


def _set(material: Material, key: str, rest: str) -> None:
    if key == "kd" and (colour := _numbers(rest)):
        # A single number is a grey level.
        material.colour = tuple(_clamp(c) for c in (colour * 3 if len(colour) == 1 else colour)[:3])
    elif key == "ks" and (colour := _numbers(rest)):
        material.specular = _clamp(sum(colour[:3]) / len(colour[:3]))
    elif key == "ns":
        material.exponent = max(0.0, _numbers(rest, [30.0])[0])
    elif key == "illum":
        material.highlights = _numbers(rest, [2.0])[0] >= 2
    elif key == "map_kd":
        material.picture, options = _picture_line(rest)
        material.uv_scale = options.get("-s", (1.0, 1.0))
        material.uv_offset = options.get("-o", (0.0, 0.0))
    elif key == "map_d":
        material.mask, _ = _picture_line(rest)


def _picture_line(rest: str) -> tuple[str, dict[str, tuple[float, float]]]:
    """Parses a map line into the file name and the options -s and -o, as (u, v)."""
    options: dict[str, tuple[float, float]] = {}
    while rest.startswith("-"):
        option, _, after = rest.partition(" ")
        after = after.lstrip()
        if option.lower() in _OPTION_WORDS:
            rest = after.partition(" ")[2].lstrip()
        elif option.lower() in _OPTION_VALUES:
            values: list[float] = []
            while len(values) < _OPTION_VALUES[option.lower()] and _numbers(after.partition(" ")[0]):
                word, _, after = after.partition(" ")
                after = after.lstrip()
                values += _numbers(word)
            if values:
                default = 1.0 if option.lower() == "-s" else 0.0
                options[option.lower()] = (values[0], values[1] if len(values) > 1 else default)
            rest = after
        else:
            break  # a file name may start with a dash
    return rest.strip().strip('"').strip(), options


def _numbers(text: str, default: list[float] | None = None) -> list[float]:
    """The finite numbers among the words of a line."""
    values = []
    for word in text.split():
        try:
            value = float(word)
        except ValueError:
            continue
        if abs(value) < 1e30:
            values.append(value)
    return values or (default or [])


def _clamp(value: float) -> float:
    return min(1.0, max(0.0, value))
