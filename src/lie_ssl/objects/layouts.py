"""Layouts of mesh folders: one function per layout lists the models in a folder."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from lie_ssl.objects.files import EXTENSIONS
from lie_ssl.objects.sources import Dropped
from lie_ssl.objects.synsets import SYNSETS


@dataclass(frozen=True)
class Model:
    """A mesh file, not opened yet."""

    class_name: str
    instance: str
    path: Path


COLLISION = "is a collision mesh"
UNLABELLED = "object"  # class of scanned objects without a category

Scan = Callable[[Path], tuple[list[Model], list[Dropped]]]


def scan_plain(root: Path) -> tuple[list[Model], list[Dropped]]:
    """`class/instance.ext` and `class/instance/anything.ext`; a folder may have both."""
    models: list[Model] = []
    dropped: list[Dropped] = []
    for folder in _folders(root):
        files, collisions = _without_collisions(_meshes(folder.iterdir()), root)
        found = [Model(folder.name, path.stem, path) for path in files]
        dropped += collisions
        for inner in _folders(folder):
            files, collisions = _without_collisions(_meshes(inner.rglob("*")), root)
            dropped += collisions
            found += [Model(folder.name, inner.name, path) for path in files[:1]]
            why = f"{files[0].name if files else ''} is used as the mesh of this folder"
            dropped += [Dropped(path.relative_to(root).as_posix(), why) for path in files[1:]]
        models += found
        dropped += [] if found else [_empty(folder)]
    return models, dropped


def scan_shapenet(root: Path) -> tuple[list[Model], list[Dropped]]:
    """`synset/model/models/model_normalized.obj` (version 2) or `synset/model/model.obj` (version 1)."""
    models: list[Model] = []
    dropped: list[Dropped] = []
    for folder in (f for f in _folders(root) if re.fullmatch(r"\d{8}", f.name)):
        found = []
        for inner in _folders(folder):
            path = next(
                (p for p in (inner / "models" / "model_normalized.obj", inner / "model.obj") if p.is_file()), None
            )
            if path:
                found.append(Model(SYNSETS.get(folder.name, folder.name), inner.name, path))
                dropped += _without_collisions(_meshes(path.parent.iterdir()), root)[1]
            else:
                dropped.append(Dropped(inner.relative_to(root).as_posix(), "the model folder has no OBJ file"))
        models += found
        dropped += [] if found else [_empty(folder)]
    return models, dropped


def scan_modelnet(root: Path) -> tuple[list[Model], list[Dropped]]:
    """`class/train/x.off` and `class/test/x.off`."""
    models: list[Model] = []
    dropped: list[Dropped] = []
    for folder in _folders(root):
        found = []
        for split in ("test", "train"):
            files, collisions = _without_collisions(_meshes((folder / split).glob("*.off")), root)
            found += [Model(folder.name, path.stem, path) for path in files]
            dropped += collisions
        models += found
        dropped += [] if found else [_empty(folder)]
    return models, dropped


def scan_gso(root: Path) -> tuple[list[Model], list[Dropped]]:
    """Google Scanned Objects: `object/meshes/model.obj`, or `object/model.obj` with `texture.png` as converted for
    simulators. The class comes from the metadata or from `classes.csv`."""
    table = _class_table(root / "classes.csv")
    models: list[Model] = []
    dropped: list[Dropped] = []
    for folder in _folders(root):
        path = next((p for p in (folder / "meshes" / "model.obj", folder / "model.obj") if is_gso_model(root, p)), None)
        if path:
            models.append(Model(_category(folder) or table.get(folder.name, UNLABELLED), folder.name, path))
            dropped += _without_collisions(_meshes(path.parent.iterdir()), root)[1]
        else:
            why = "the object has neither meshes/model.obj nor model.obj with texture.png"
            dropped.append(Dropped(folder.name, why))
    return models, dropped


def is_gso_model(root: Path, path: Path) -> bool:
    """Whether a file is laid out as in Google Scanned Objects, at any depth below `root`."""
    if path.name != "model.obj" or not path.is_file():
        return False
    parts = path.relative_to(root).parts
    return (len(parts) >= 3 and parts[-2] == "meshes") or path.with_name("texture.png").is_file()


SCANNERS: dict[str, Scan] = {
    "shapenet": scan_shapenet,
    "modelnet": scan_modelnet,
    "gso": scan_gso,
    "plain": scan_plain,
}


def detect_layout(root: Path) -> str:
    """Detects the layout of a folder, '' if unknown. Plain comes last, because it matches nearly everything."""
    name = next((name for name, scan in SCANNERS.items() if scan(root)[0]), "")
    if name == "gso":
        models = scan_gso(root)[0]
        # A few classes of a plain folder may look like scanned objects without a folder `meshes`.
        flat = all(m.path.parent.parent == root for m in models)
        return "plain" if flat and len(scan_plain(root)[0]) > 2 * len(models) else name
    return name


def unique_names(models: Iterable[Model], root: Path) -> list[Model]:
    """Sorts models by class and instance, and renames models of a class with the same name after their paths."""
    models = list(models)
    count = Counter((m.class_name, m.instance) for m in models)
    named = [
        replace(m, instance=m.path.relative_to(root).as_posix().replace("/", "_"))
        if count[m.class_name, m.instance] > 1
        else m
        for m in models
    ]
    return sorted(named, key=lambda m: (m.class_name, m.instance, m.path.as_posix()))


def _folders(root: Path) -> list[Path]:
    return sorted(p for p in root.iterdir() if p.is_dir() and not p.name.startswith((".", "__")))


def _meshes(paths: Iterable[Path]) -> list[Path]:
    """The mesh files among the paths, the preferred format first."""
    files = [p for p in paths if p.suffix.lower() in EXTENSIONS and p.is_file() and not p.name.startswith(".")]
    return sorted(files, key=lambda p: (EXTENSIONS.index(p.suffix.lower()), p.as_posix()))


def _without_collisions(files: list[Path], root: Path) -> tuple[list[Path], list[Dropped]]:
    """Separates collision meshes, which are left out, from the others; keeps them if there are no others."""
    collisions = [p for p in files if "collision" in p.name.lower()]
    if len(collisions) == len(files):
        return files, []
    kept = [p for p in files if p not in collisions]
    return kept, [Dropped(p.relative_to(root).as_posix(), COLLISION) for p in collisions]


def _empty(folder: Path) -> Dropped:
    return Dropped(folder.name, "the class folder has no mesh file")


def _category(folder: Path) -> str:
    """The category in the metadata file of an object, '' if there is none."""
    text = folder / "metadata.pbtxt"
    if text.is_file():
        match = re.search(r'categor\w*\s*[:{]\s*(?:\w+\s*:\s*)?"([^"]+)"', text.read_text("utf-8", "replace"))
        if match:
            return match.group(1).strip().lower()
    return _json_category(folder / "metadata.json")


def _json_category(path: Path) -> str:
    try:
        data = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return ""
    value = data.get("category") or data.get("categories") if isinstance(data, dict) else ""
    value = value[0] if isinstance(value, list) and value else value
    return value.strip().lower() if isinstance(value, str) else ""


def _class_table(path: Path) -> dict[str, str]:
    """Reads the user's table with an object and its class per line; a header line is harmless."""
    if not path.is_file():
        return {}
    with path.open(newline="", encoding="utf-8-sig") as file:
        return {row[0].strip(): row[1].strip() for row in csv.reader(file) if len(row) >= 2 and row[1].strip()}
