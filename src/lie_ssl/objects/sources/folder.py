"""The user's own folder of meshes as a source."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from lie_ssl.errors import UserError
from lie_ssl.objects.checking import checked_catalogue
from lie_ssl.objects.files import EXTENSIONS, load_mesh
from lie_ssl.objects.mesh import Mesh
from lie_ssl.objects.remarks import meshes
from lie_ssl.objects.sources.base import Catalogue, CatalogueEntry, Source, SourceSettings, select_classes, source
from lie_ssl.objects.trees import SCANS, UNLABELLED, is_scanned, recognise, unique_names
from lie_ssl.objects.turning import FRONT_MINUS_Z, FRONT_X, Z_UP, turned

_LAYOUTS = (
    "plain (class/instance.obj or class/instance/any.obj), shapenet (synset/model/models/model_normalized.obj), "
    "modelnet (class/train/x.off) and gso (object/meshes/model.obj, or object/model.obj with texture.png)"
)


@source("folder", title="your own mesh files, ShapeNet, ModelNet or Google Scanned Objects", order=20)
@dataclass(frozen=True)
class MeshFolder(Source):
    """Models in a folder, in one of the common layouts.

    `up` is the axis that points upwards in the files: "y", "z", or "auto" for what the layout usually has.
    """

    root: str
    layout: str = "auto"
    licence: str = "unknown"
    up: str = "auto"

    settings: ClassVar[tuple[str, ...]] = ("path", "layout", "up")
    unlabelled: ClassVar[str | None] = UNLABELLED
    add_labels: ClassVar[str] = "sort them into folders by class, or name their classes in classes.csv (object,class)"

    def __post_init__(self) -> None:
        if self.layout != "auto" and self.layout not in SCANS:
            raise UserError(f"There is no layout {self.layout!r}: take auto or one of {_LAYOUTS}.")
        if self.up not in ("auto", "y", "z"):
            raise UserError(f"up is {self.up!r}: take auto, y or z.")

    @classmethod
    def from_config(cls, config: SourceSettings) -> Self:
        if not config.path:
            raise UserError("source folder needs --path, the folder with the meshes")
        return cls(config.path, config.layout, up=config.up)

    @property
    def name(self) -> str:
        return Path(self.root).resolve().name

    def catalogue(self, *, strict: bool = False, classes: tuple[str, ...] = ()) -> Catalogue:
        """All models of the folder that can be drawn; every file is opened once."""
        root = Path(self.root)
        models, dropped = SCANS[self._layout()](root)
        entries = [
            CatalogueEntry(model.class_name, model.instance, self.licence, model.path.relative_to(root).as_posix())
            for model in unique_names(models, root)
        ]
        if not entries:
            raise UserError(f"{root} holds no mesh in the layout {self.layout!r}: the layouts are {_LAYOUTS}.")
        chosen = select_classes(entries, classes)
        catalogue = checked_catalogue(chosen, self.mesh, () if classes else dropped, strict=strict)
        return replace(catalogue, notes=[*self._up_notes(catalogue.entries), *catalogue.notes])

    def mesh(self, entry: CatalogueEntry) -> Mesh:
        """The mesh of one model, upright and normalised."""
        rotation = self._rotation(entry.key)
        mesh = load_mesh(Path(self.root) / entry.key)
        return (mesh if rotation is None else turned(mesh, rotation)).normalised()

    def _layout(self) -> str:
        root = Path(self.root)
        if not root.is_dir():
            raise UserError(f"There is no folder {root}: check the path.")
        if self.layout != "auto":
            return self.layout
        layout = recognise(root)
        if not layout:
            loose = any(p.suffix.lower() in EXTENSIONS for p in root.rglob("*"))
            what = "holds meshes, but in none of the known layouts" if loose else "holds no mesh file"
            raise UserError(f"{root} {what}: the layouts are {_LAYOUTS}.")
        return layout

    def _up_notes(self, entries: Sequence[CatalogueEntry]) -> list[str]:
        """Which axis was taken as up, unless the user has said it."""
        if self.up != "auto" or not entries:
            return []
        (axis, count), *others = Counter(self._up(entry.key) for entry in entries).most_common()
        rest = "".join(f", {other} of {number:,}" for other, number in others)
        change = "--up y or --up z" if others else f"--up {'z' if axis == 'y' else 'y'}"
        return [f"the {axis} axis of {meshes(count)} was taken as up{rest}; change it with {change}"]

    def _up(self, key: str) -> str:
        """The axis that points upwards in a file: as the user says, else as the place of the file tells."""
        if self.up != "auto":
            return self.up
        if self.layout == "plain" or _is_shapenet(key):
            return "y"
        root, parts = Path(self.root), key.split("/")
        is_modelnet = len(parts) == 3 and parts[1] in ("train", "test") and parts[2].endswith(".off")
        return "z" if is_modelnet or is_scanned(root, root / key) else "y"

    def _rotation(self, key: str) -> NDArray[np.float64] | None:
        """What turns a model into y up, front +z; None where it stands so already."""
        if self._up(key) == "z":
            return Z_UP
        if self.up == "auto" and self.layout != "plain" and _is_shapenet(key):
            # The two versions of ShapeNetCore look different ways.
            return {"model_normalized.obj": FRONT_MINUS_Z, "model.obj": FRONT_X}.get(key.rpartition("/")[2])
        return None


def _is_shapenet(key: str) -> bool:
    """Whether a file lies in the folder of a synset."""
    return re.match(r"\d{8}/", key) is not None
