"""Mesh files in a folder of the user."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from lie_ssl._text import count
from lie_ssl.errors import UserError
from lie_ssl.objects.checking import checked_catalogue
from lie_ssl.objects.files import EXTENSIONS, load_mesh
from lie_ssl.objects.layouts import SCANNERS, UNLABELLED, detect_layout, is_gso_model, unique_names
from lie_ssl.objects.mesh import Mesh
from lie_ssl.objects.orientation import FRONT_MINUS_Z, FRONT_X, Z_UP, rotated
from lie_ssl.objects.sources.base import Catalogue, CatalogueEntry, Source, SourceSettings, select_classes, source

_LAYOUTS = (
    "plain (class/instance.obj or class/instance/any.obj), shapenet (synset/model/models/model_normalized.obj), "
    "modelnet (class/train/x.off) and gso (object/meshes/model.obj, or object/model.obj with texture.png)"
)


@source("folder", title="your own mesh files, ShapeNet, ModelNet or Google Scanned Objects", order=20)
@dataclass(frozen=True)
class MeshFolder(Source):
    """Models in a folder, in one of the common layouts.

    `up` is the axis that points up in the files: "y", "z", or "auto" for the usual one of the layout.
    """

    root: str
    layout: str = "auto"
    licence: str = "unknown"
    up: str = "auto"

    settings: ClassVar[tuple[str, ...]] = ("path", "layout", "up")
    unlabelled: ClassVar[str | None] = UNLABELLED
    add_labels: ClassVar[str] = "sort them into folders by class, or list their classes in classes.csv (object,class)"

    def __post_init__(self) -> None:
        if self.layout != "auto" and self.layout not in SCANNERS:
            raise UserError(f"There is no layout {self.layout!r}: use auto or one of {_LAYOUTS}.")
        if self.up not in ("auto", "y", "z"):
            raise UserError(f"up is {self.up!r}: use auto, y or z.")

    @classmethod
    def from_config(cls, config: SourceSettings) -> Self:
        if not config.path:
            raise UserError("source folder needs --path, the folder of the meshes")
        return cls(config.path, config.layout, up=config.up)

    @property
    def name(self) -> str:
        return Path(self.root).resolve().name

    def catalogue(self, *, strict: bool = False, classes: tuple[str, ...] = ()) -> Catalogue:
        """Lists all models of the folder that can be drawn; opens every file once."""
        root = Path(self.root)
        models, dropped = SCANNERS[self._layout()](root)
        entries = [
            CatalogueEntry(model.class_name, model.instance, self.licence, model.path.relative_to(root).as_posix())
            for model in unique_names(models, root)
        ]
        if not entries:
            raise UserError(f"{root} contains no mesh in the layout {self.layout!r}: the layouts are {_LAYOUTS}.")
        chosen = select_classes(entries, classes)
        catalogue = checked_catalogue(chosen, self.mesh, () if classes else dropped, strict=strict)
        return replace(catalogue, notes=[*self._up_notes(catalogue.entries), *catalogue.notes])

    def mesh(self, entry: CatalogueEntry) -> Mesh:
        """Loads the mesh of a model, upright and normalised."""
        rotation = self._rotation(entry.key)
        mesh = load_mesh(Path(self.root) / entry.key)
        return (mesh if rotation is None else rotated(mesh, rotation)).normalised()

    def _layout(self) -> str:
        root = Path(self.root)
        if not root.is_dir():
            raise UserError(f"There is no folder {root}: check the path.")
        if self.layout != "auto":
            return self.layout
        layout = detect_layout(root)
        if not layout:
            loose = any(p.suffix.lower() in EXTENSIONS for p in root.rglob("*"))
            what = "contains meshes, but in no known layout" if loose else "contains no mesh file"
            raise UserError(f"{root} {what}: the layouts are {_LAYOUTS}.")
        return layout

    def _up_notes(self, entries: Sequence[CatalogueEntry]) -> list[str]:
        """Reports the axis that was assumed to point up, unless the user has given it."""
        if self.up != "auto" or not entries:
            return []
        (axis, number), *others = Counter(self._up(entry.key) for entry in entries).most_common()
        rest = "".join(f", {other} of {n:,}" for other, n in others)
        change = "--up y or --up z" if others else f"--up {'z' if axis == 'y' else 'y'}"
        models = count(number, "mesh", "meshes")
        return [f"assumed that the {axis} axis of {models} points up{rest}; change it with {change}"]

    def _up(self, key: str) -> str:
        """The axis that points up in a file: the user's choice, or else derived from the path of the file."""
        if self.up != "auto":
            return self.up
        if self.layout == "plain" or _is_shapenet(key):
            return "y"
        root, parts = Path(self.root), key.split("/")
        is_modelnet = len(parts) == 3 and parts[1] in ("train", "test") and parts[2].endswith(".off")
        return "z" if is_modelnet or is_gso_model(root, root / key) else "y"

    def _rotation(self, key: str) -> NDArray[np.float64] | None:
        """The rotation of a model to y up, front +z; None if it has these axes already."""
        if self._up(key) == "z":
            return Z_UP
        if self.up == "auto" and self.layout != "plain" and _is_shapenet(key):
            # The two versions of ShapeNetCore face different directions.
            return {"model_normalized.obj": FRONT_MINUS_Z, "model.obj": FRONT_X}.get(key.rpartition("/")[2])
        return None


def _is_shapenet(key: str) -> bool:
    """Whether a file is in the folder of a synset."""
    return re.match(r"\d{8}/", key) is not None
