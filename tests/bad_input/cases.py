"""Commands that cannot work, each with words that its one sentence must have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file

from tests.bad_input.world import EVIL, World

HUGE = str(10**30)
POSTSCRIPT = "%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n%%EndComments\nshowpage\n"
CLASSES = ("--classes", "car", "mug", "--instances", "2", "--step", "90", "--size", "16", "--workers", "1")


@dataclass(frozen=True)
class Case:
    """`command` is given the world and returns the arguments; what it makes there is there before the command runs."""

    name: str
    command: Callable[[World], list[Any]]
    words: str
    code: int = 2
    leaves: tuple[str, ...] = field(default=())  # names that may appear in the folder of the case


def first(value: Any) -> Callable[[np.ndarray[Any, Any]], Any]:
    """Changes the first entry of a column."""

    def change(column: np.ndarray[Any, Any]) -> Any:
        column = column.astype(object)
        column[0] = value
        return column if isinstance(value, str) else column.astype(float if isinstance(value, float) else int)

    return change


def make(*flags: str) -> Callable[[World], list[Any]]:
    return lambda w: ["data", "make", "demo", "--out", w.out, *CLASSES, *flags]


def bring(*flags: Any) -> Callable[[World], list[Any]]:
    """Of an import of photographs."""
    return lambda w: ["data", "import", *(f(w) if callable(f) else f for f in flags), "--out", w.out]


def train(*flags: Any) -> Callable[[World], list[Any]]:
    return lambda w: ["pretrain", "mae", "lie", "--data", w.data, "--out", w.out, *flags]


def finished(change: Callable[[dict[str, Any]], Any]) -> Callable[[World], list[Any]]:
    """Of a finished run with a changed checkpoint."""
    return lambda w: ["pretrain", "--config", w.config(), "--out", w.run_with_changed_checkpoint(change)]


def unfinished(change: Callable[[dict[str, Any]], Any]) -> Callable[[World], list[Any]]:
    """The same of a run that is not finished."""
    return lambda w: [
        "pretrain",
        "--config",
        w.config(),
        "--out",
        w.run_with_changed_checkpoint(change, finished=False),
    ]


def literal(*flags: str) -> Callable[[World], list[Any]]:
    return lambda w: ["pretrain", "mae", "literal", "--data", w.data, "--out", w.out, *flags]


def show(damaged: Callable[[World], Any], verb: str = "show") -> Callable[[World], list[Any]]:
    return lambda w: ["data", verb, damaged(w)]


def export(damaged: Callable[[World], Any], to: str = "imagefolder") -> Callable[[World], list[Any]]:
    return lambda w: ["data", "export", damaged(w), "--to", to, "--out", w.out]


def evaluate(run: Callable[[World], Any], *flags: str) -> Callable[[World], list[Any]]:
    return lambda w: ["evaluate", run(w), "--data", w.data, "--out", w.out, *flags]


def report(source: Callable[[World], Any], *flags: Any) -> Callable[[World], list[Any]]:
    return lambda w: ["report", source(w), "--out", w.out / "page.html", *flags]


def transfer(photos: Callable[[World], Any]) -> Callable[[World], list[Any]]:
    return lambda w: ["transfer", w.run, "--photos", photos(w), "--out", w.out]


def foreign_tensors(w: World) -> Any:
    path = w.tmp / "foreign.safetensors"
    save_file({"a": torch.zeros(1)}, path)
    return path


WORDS = [
    Case("unknown command", lambda w: ["trian"], "'trian'"),
    Case("unknown command of data", lambda w: ["data", "shwo"], "did you mean 'show'"),
    Case("unknown recipe of data", lambda w: ["data", "make", "huge"], "'huge'"),
    Case("unknown flag", train("--optim.stepss", "3"), "--optim.stepss"),
    Case("no whole number", train("--optim.steps", "3x"), "'3x'"),
    Case("no number", train("--optim.lr", "fast"), "fast"),
    Case("unknown choice", train("--optim.name", "sdg"), "'sdg'"),
    Case("flag without value", train("--optim.lr"), "--optim.lr"),
    Case("trust without value", train("--trust"), "--trust needs a value"),
    Case("missing flag", lambda w: ["data", "export", w.data], "--out"),
    Case("missing folder", lambda w: ["data", "show"], "PATH"),
    Case("a method without an objective", lambda w: ["pretrain", "mae", "--data", w.data], "METHOD OBJECTIVE"),
    Case("unknown method", lambda w: ["pretrain", "mea", "lie"], "did you mean 'mae'"),
    Case("unknown arm", lambda w: ["pretrain", "mae", "lye"], "did you mean 'lie'"),
    Case("unknown recipe of a run", train("--recipe", "smal"), "did you mean 'small'"),
    Case("recipe twice", train("--recipe", "small", "--recipe", "paper"), "given 2 times"),
    Case("unknown recipe of an evaluation", lambda w: ["evaluate", w.run, "--recipe", "smal"], "'smal'"),
    Case("nothing to evaluate", lambda w: ["evaluate", "--data", w.data], "name what to evaluate"),
    Case("a run and an encoder", lambda w: ["evaluate", w.run, "--encoder.name", "vit_mini"], "not both"),
    Case("unknown sweep", lambda w: ["sweep", "small/mea"], "small/mea"),
    Case("no sweep", lambda w: ["sweep", "--jobs", "2"], "name a grid"),
    Case("unknown ablation", lambda w: ["ablate", "mae", "--data", w.data, "--out", w.out, "--only", "x"], "'x'"),
    Case("nothing to ablate", lambda w: ["ablate", "--seeds", "1"], "name a method to ablate"),
    Case("nothing to reproduce", lambda w: ["reproduce", "smal"], "did you mean 'small'"),
    Case("dry run of a card", lambda w: ["reproduce", w.evaluated, "--dry-run"], "--dry-run is for recipes"),
    Case("unknown unit", lambda w: ["reproduce", "small", "--only", "mea"], "mea"),
    Case("no published model", lambda w: ["gaps", "rsnet", "--data", w.data, "--out", w.out], "rsnet"),
    Case("no format", lambda w: ["export", w.run, "--out", w.out, "--to", "keras"], "keras"),
    Case("demo into a file", lambda w: ["demo", "--out", w.file("demo")], "demo"),
]

MAKE = [
    Case("no instances", make("--instances", "0"), "instances is 0"),
    Case("instances beyond the disk", make("--instances", "1000000000"), "GB"),
    Case("repeats beyond the disk", make("--repeats", "1000000000000"), "GB"),
    Case("rotations beyond the disk", make("--poses", "so3", "--rotations", "1000000000000"), "GB"),
    Case("instances beyond counting", make("--instances", HUGE), "instances is 1e+30"),
    Case("no step", make("--step", "0"), "step is 0"),
    Case("step nan", make("--step", "nan"), "finite"),
    Case("a step of nothing", make("--step", "1e-9"), "0.1 to 360"),
    Case("unknown pose", make("--poses", "4d"), "4d"),
    Case("a pose twice", make("--poses", "2d", "2d"), "twice"),
    Case("no pixels", make("--size", "0"), "size is 0"),
    Case("too many pixels", make("--size", "100000"), "4096"),
    Case("too many samples", make("--supersample", "99"), "supersample is 99"),
    Case("light without end", make("--light", "0", "inf"), "finite"),
    Case("light backwards", make("--light", "9", "1"), "lower end must come first"),
    Case("objects larger than the picture", make("--scale", "1", "2"), "scale"),
    Case("nothing to train on", make("--validation", "0.5", "--test", "0.5"), "must leave instances"),
    Case("unknown class", make("--classes", "carr"), "did you mean car"),
    Case("a bright background", make("--background", "2", "2", "2"), "three numbers from 0 to 1"),
    Case("a wide lens", make("--field-of-view", "360"), "field_of_view"),
    Case("out is a file", lambda w: [*make()(w)[:4], w.file("file"), *CLASSES], "file"),
    Case("out has other files", lambda w: [*make()(w)[:4], w.file("d/x").parent, *CLASSES], "other files"),
    Case("out has another data set", lambda w: [*make()(w)[:4], w.copy_of_data(), *CLASSES], "another data set"),
    Case("no mesh folder", make("--source", "folder"), "needs --path"),
    Case("mesh folder missing", make("--source", "folder", "--path", "nowhere"), "nowhere"),
    Case("unknown layout", make("--source", "folder", "--path", ".", "--layout", "heap"), "heap"),
    Case("unknown axis", make("--source", "folder", "--path", ".", "--up", "x"), "'x'"),
    Case("empty mesh folder", lambda w: [*make()(w), "--source", "folder", "--path", w.file("m/a").parent], "no mesh"),
    Case(
        "broken mesh",
        lambda w: [*make()(w)[:5], "--source", "folder", "--path", w.file("m/mug/a.obj", "f 1 2 3").parents[1], "--strict"],
        "a.obj",
    ),
    Case("no package of furniture", make("--source", "sweethome3d", "--path", "nowhere.deb"), "nowhere.deb"),
]  # fmt: skip

IMPORT = [
    Case("nothing there", bring("nowhere"), "no folder or zip file"),
    Case("no zip", bring(lambda w: w.file("photos.zip")), "neither a folder nor a readable zip"),
    Case("no pictures", bring(lambda w: w.file("photos/a.txt").parent), "no pictures"),
    Case("no angle", bring(lambda w: w.photo("p/mug/red/a.png").parents[2]), "has no angle"),
    Case("no class", bring(lambda w: w.photo("p/a_1.png").parent), "class/instance"),
    Case("no picture at all", bring(lambda w: w.file("p/mug/red/a_1.png").parents[2]), "no file in"),
    Case("a broken picture, strictly", bring(lambda w: w.file("p/mug/red/a_1.png").parents[2], "--strict"), "a_1.png"),
    Case("no columns", bring(World.turntable, "--angles", lambda w: w.file("a.csv", "x,y\n")), "columns file and angle"),
    Case("no angles file", bring(World.turntable, "--angles", "nowhere.csv"), "nowhere.csv"),
    Case("no angle of a file", bring(World.turntable, "--angles", lambda w: w.file("a.csv", "file,angle\nb,1")), "no angle"),
    Case("words for an angle", bring(World.turntable, "--angles", lambda w: w.file("a.csv", "file,angle\nb,x")), "line 2"),
    Case("an angle without end", bring(World.turntable, "--angles", lambda w: w.file("a.csv", "file,angle\nb,inf")), "line 2"),
    Case("a file twice", bring(World.turntable, "--angles", lambda w: w.file("a.csv", "file,angle\nb,1\nb,2")), "line 3"),
    Case("a name twice in a zip", bring(lambda w: w.zipped("mug/red/a_1.png", "mug/red/a_1.png")), "two files called"),
    Case("a way out of a zip", bring(lambda w: w.zipped("../mug/red/a_1.png")), "leads out of it"),
    Case("bytes for a name", bring(lambda w: w.photo("p/m\udcffg/red/a_1.png").parents[2]), "not valid UTF-8"),
    Case("a line break in a class", bring(lambda w: w.photo("p/m\nug/red/a_1.png").parents[2]), "control character"),
    Case("a terminal code in a class", bring(lambda w: w.photo("p/m\x1b[31mug/red/a_1.png").parents[2]), "control"),
    Case("parts for classes", bring(lambda w: w.labelled("train/a/1.png", "test/a/2.png")), "are splits (train, test)"),
    Case("no names of COIL", bring(World.turntable, "--layout", "coil20"), "COIL"),
    Case("no pixels", bring(World.turntable, "--size", "0"), "size is 0"),
    Case("all for the test", bring(World.turntable, "--test", "1"), "must leave instances"),
    Case("shares nan", bring(World.turntable, "--test", "nan"), "finite"),
    Case("no clips", bring(World.turntable, "--video"), "no clips"),
    Case("a broken clip", bring(lambda w: w.file("c/mug/a.mp4").parents[1], "--video"), "no file in"),
    Case("a program for a picture", bring(lambda w: w.file("p/mug/red/a_1.png", POSTSCRIPT).parents[2]), "cannot read"),
    Case("no rate", bring(lambda w: w.file("c/mug/a.mp4").parents[1], "--video", "--rate", "0"), "above 0"),
    Case("rate without end", bring(lambda w: w.file("c/mug/a.mp4").parents[1], "--video", "--rate", "inf"), "finite"),
]  # fmt: skip

DATA = [
    Case("no data set", show(lambda w: w.tmp / "nowhere"), "there is no folder"),
    Case("a file for a data set", show(lambda w: w.file("file")), "is a file, but a data set is a folder"),
    Case("no card", show(lambda w: w.file("d/x").parent), "no card.json"),
    Case("a card of words", show(lambda w: w.file("d/card.json").parent), "damaged"),
    Case("a card of bytes", show(lambda w: w.file("d/card.json", b"\xff\xfe").parent), "damaged"),
    Case("a card of a list", show(lambda w: w.file("d/card.json", "[]").parent), "damaged"),
    Case("a deep card", show(lambda w: w.file("d/card.json", "[" * 100_000).parent), "damaged"),
    Case("a card of another format", show(lambda w: w.with_card(format=99)), "format 99"),
    Case("a card without a format", show(lambda w: w.with_card(format=None)), "damaged"),
    Case("a card without a size", show(lambda w: w.with_card(size=None)), "'size'"),
    Case("words for a size", show(lambda w: w.with_card(size="16")), "'size'"),
    Case("a size of nothing", show(lambda w: w.with_card(size=0)), "0 px"),
    Case("a way out in a hash", show(lambda w: w.with_card(card_hash="../../x")), "hash"),
    Case("markup in a card", show(lambda w: w.with_card(source="[/bold]")), "", code=0, leaves=("data/figures",)),
    Case("a terminal code in a card", show(lambda w: w.with_card(recipe="\x1b[2J")), "control character"),
    Case("no counts", show(lambda w: w.with_card(counts={})), "'classes'"),
    Case("an index of words", show(lambda w: w.with_card() and w.file("data/index.parquet").parent), "index.parquet"),
    Case("a way out in a split", export(lambda w: w.with_index(split=first("../../x"))), "'../../x'"),
    Case("a way out in a split, parquet", export(lambda w: w.with_index(split=first("../x")), "huggingface"), "'../x'"),
    Case("a way out in a pose", show(lambda w: w.with_index(pose=first("../../x"))), "'../../x'"),
    Case("an angle that is none", show(lambda w: w.with_index(angle=first(float("nan")))), "angle is not a finite"),
    Case("a hue without end", show(lambda w: w.with_index(hue=first(float("inf")))), "hue is not a finite"),
    Case("a size below nothing", show(lambda w: w.with_index(scale=first(-1.0))), "scale is not above 0"),
    Case("no such shard", show(lambda w: w.with_index(shard=first(77))), "frames-00077.bin is missing"),
    Case("no such shard either", show(lambda w: w.with_index(shard=first(-1))), "missing"),
    Case("no such slot", show(lambda w: w.with_index(slot=first(10**6))), "1000000"),
    Case("a slot from behind", show(lambda w: w.with_index(slot=first(-1))), "-1"),
    Case("a line break in a class", show(lambda w: w.with_index(class_=first("m\nug"))), "control character"),
    Case("no class", show(lambda w: w.with_index(class_=first(""))), "empty class"),
    Case("no twin", show(lambda w: w.with_index(duplicate_of=lambda c: np.where(np.arange(len(c)) == 0, 1e9, c))), "repeats"),
    Case("a damaged frame", export(World.with_damaged_frame), "frame", leaves=("out",)),
    Case("a changed byte", show(World.with_damaged_frame, "verify"), "has changed since it was made"),
    Case("a way out in a list of files", show(lambda w: w.with_card(files={"../x": "0"}), "verify"), "'../x'"),
    Case("two classes in one folder", export(lambda w: w.with_index(class_=lambda c: np.where(c == "car", "m/ug", "m_ug"))), "share"),
    Case("a full folder", lambda w: ["data", "export", w.data, "--out", w.file("d/x").parent], "not empty"),
    Case("no such class", lambda w: ["data", "show", w.data, "--class-name", "carr"], "'carr'"),
    Case("an index of another size", show(lambda w: w.with_card(counts__frames=7)), "but the card 7"),
    Case("a run for a data set", show(lambda w: w.run, "verify"), "not a data set"),
    Case("a terminal code in a format", show(lambda w: w.with_card(format="\x1b[31m")), r"\x1b[31m"),
    Case("no number of frames", export(lambda w: w.with_card(counts__distinct_frames=None), "huggingface"), "distinct_frames"),
    Case("a pipe for a card", show(World.with_pipe), "no file"),
    Case("a class of none", show(lambda w: w.with_index(class_=lambda c: [None, *c[1:]])), "empty cell"),
    Case("words for a twin", show(lambda w: w.with_index(duplicate_of=lambda c: ["x"] * len(c))), "duplicate_of"),
    Case("a class with a long name", export(lambda w: w.with_index(class_=lambda c: np.where(c == "car", "c" * 300, c))), "too long"),
    Case("a link out of the data set", show(lambda w: w.with_link("figures")), "link"),
]  # fmt: skip

PRETRAIN = [
    Case("no data", lambda w: ["pretrain", "mae", "lie", "--out", w.out], "--data"),
    Case("data missing", train("--data", "nowhere"), "nowhere"),
    Case("out is a file", lambda w: [*train()(w)[:6], w.file("file")], "is a file"),
    Case("out has other files", lambda w: [*train()(w)[:6], w.file("d/x").parent], "other files"),
    Case("out has another run", lambda w: [*train()(w)[:6], w.copy_of_run()], "another run"),
    Case("no steps", train("--optim.steps", "0"), "optim.steps is 0"),
    Case("steps for ever", train("--optim.steps", HUGE), "is 1e+30, which takes 3.17e+19 years"),
    Case("steps for an age", train("--optim.steps", "1000000000000"), "years"),
    Case("a batch of one", train("--optim.batch", "1"), "optim.batch is 1"),
    Case("a batch beyond memory", train("--optim.batch", "1000000000000"), "GB"),
    Case("a rate of nothing", train("--optim.lr", "0"), "optim.lr is 0"),
    Case("a rate nan", train("--optim.lr", "nan"), "optim.lr is nan"),
    Case("a rate without end", train("--optim.lr", "inf"), "optim.lr is inf"),
    Case("a weight without end", train("--objective.euclidean", "inf"), "objective.euclidean is inf"),
    Case("a weight below nothing", train("--objective.euclidean", "-1"), "0 or more"),
    Case("no temperature", train("--objective.temperature", "0"), "temperature"),
    Case("a decoder beyond memory", train("--method.decoder-dim", "1000000000"), "GB"),
    Case("a decoder too deep", train("--method.decoder-depth", "1000000000"), "at most 1,000"),
    Case("generators beyond memory", literal("--objective.operator.generators", "1000000000"), "GB"),
    Case("no generators", train("--objective.operator.generators", "0"), "at least one"),
    Case("all of it fixed", train("--objective.operator.fixed", "999"), "embedding of 128"),
    Case("a mask of everything", train("--method.mask", "1"), "mask is 1"),
    Case("no instances", train("--diverse", "0"), "diverse is 0"),
    Case("instances nan", train("--diverse", "nan"), "diverse is nan"),
    Case("a seed below nothing", train("--seed", "-1"), "seed is -1"),
    Case("half precision", train("--precision", "fp16"), "fp16"),
    Case("no GPU", train("--device", "cuda"), "--device cpu"),
    Case("no encoder", train("--encoder.name", "vit_minni"), "vit_mini"),
    Case("no module", train("--encoder.name", "nowhere.at_all:Net"), "cannot be imported"),
    Case("no function", train("--encoder.name", "math:nothing"), "cannot be imported"),
    Case("no network", train("--encoder.name", "math:sqrt"), "math:sqrt"),
    Case("options that load", train("--encoder.options", "checkpoint_path", "x.pth"), "encoder.weights"),
    Case("options beyond reason", train("--encoder.options", "depth", "1000000000"), "16,384"),
    Case("patches that do not fit", train("--encoder.patch-size", "7"), "7 px"),
    Case("no weights", train("--encoder.weights", "nowhere.pth"), "nowhere.pth"),
    Case("weights of words", train("--encoder.weights", lambda w: w.file("w.pth")), "damaged"),
    Case("no package of weights", train("--encoder.weights", "package:nothing"), "nothing"),
    Case("no run to start from", train("--start", "nowhere"), "nowhere"),
    Case("Lie as Frames", train("--objective.name", "frames"), "settings of another objective"),
    Case("Lie as the literal one", train("--objective.name", "literal"), "settings of another objective"),
    Case("Lie in capitals", train("--objective.name", "LIE"), "no objective 'LIE'"),
    Case("no Lie left", train("--objective.euclidean", "0"), "take lie_off"),
    Case("no variant", train("--variant", ""), "variant is ''"),
    Case("nothing to learn", lambda w: ["pretrain", "mae", "alone", "--data", w.data, "--out", w.out, "--objective.ssl", "0"], "nothing to learn"),
    Case("two objectives at once", train("--objective.frames", "1"), "--objective.frames"),
    Case("no workers", train("--workers", "-1"), "workers -1"),
    Case("warm-up for ever", train("--optim.warmup", "2"), "[0, 1)"),
    Case("not the config of a run", lambda w: ["pretrain", "--config", "nowhere.json", "--out", w.out], "nowhere.json"),
    Case("a config of words", lambda w: ["pretrain", "--config", w.file("c.json"), "--out", w.out], "not valid JSON"),
    Case("a config and an arm", lambda w: ["pretrain", "mae", "lie", "--config", w.config(), "--out", w.out], "leave out"),
    Case("a setting that is none", lambda w: ["pretrain", "--config", w.config(optim__ls=1), "--out", w.out], "'ls'"),
    Case("words for steps", lambda w: ["pretrain", "--config", w.config(optim__steps="9"), "--out", w.out], "steps"),
    Case("code for an encoder", lambda w: ["pretrain", "--config", w.config(encoder__name=EVIL), "--out", w.out], EVIL),
    Case("code for a method", lambda w: ["pretrain", "--config", w.config(method__name=EVIL), "--out", w.out], EVIL),
    Case("code for an objective", lambda w: ["pretrain", "--config", w.config(objective__name=EVIL), "--out", w.out], EVIL),
    Case("trust in something else", lambda w: ["pretrain", "--config", w.config(method__name=EVIL), "--out", w.out, "--trust", "a:b"], EVIL),
    Case("code in the folder of a run", lambda w: ["pretrain", "mae", "lie", "--data", w.data, "--out", w.copy_of_run(encoder__name=EVIL)], EVIL),
    Case("a damaged finished run", lambda w: ["pretrain", "--config", w.config(), "--out", w.run_with_checkpoint(b"x" * 99)], "damaged"),
    Case("half a finished run", lambda w: ["pretrain", "--config", w.config(), "--out", w.run_with_checkpoint((w.run / "last.ckpt").read_bytes()[:5000])], "damaged"),
    Case("code in a finished run", lambda w: ["pretrain", "--config", w.config(), "--out", w.run_with_checkpoint(None)], "would run code"),
    Case("a run with another encoder", lambda w: ["pretrain", "mae", "lie", "--data", w.data, "--out", w.copy_of_run(encoder__name="resnet18")], "encoder.name is resnet18 there"),
    Case("a finished run without weights", finished(lambda c: c["state_dict"].clear()), "does not fit its config"),
    Case("a finished run of nothing", finished(lambda c: [v.fill_(float("nan")) for v in c["state_dict"].values() if v.is_floating_point()]), "not finite"),
    Case("a finished run of another step", finished(lambda c: c.update(global_step=2)), "step 2"),
    Case("a run beyond its end", unfinished(lambda c: c.update(global_step=99)), "step 99"),
    Case("a run before its beginning", unfinished(lambda c: c["lie_ssl"].update(batches=-1)), "last.ckpt"),
    Case("a run without an optimiser", unfinished(lambda c: c.update(optimizer_states=7)), "damaged"),
    Case("a run of no version", unfinished(lambda c: c.update({"pytorch-lightning_version": "x"})), "damaged"),
    Case("a word joiner in a variant", train("--variant", "Frames\u2060"), "up to 64"),
    Case("Cyrillic letters in a variant", train("--variant", "li\u0435"), "up to 64"),
    Case("batches for an age", train("--optim.accumulate", "1000000000000"), "years"),
    Case("a thousand readers", train("--workers", "10000"), "256 processes"),
    Case("a rate beyond floats", train("--optim.lr", "1e300"), "optim.lr is 1e+300"),
    Case("a large and deep decoder", train("--method.decoder-dim", "4096", "--method.decoder-depth", "1000"), "GB"),
    Case("a large and deep encoder", train("--encoder.options", "embed_dim", "8192", "depth", "900"), "GB"),
    Case("an encoder without heads", train("--encoder.options", "num_heads", "0"), "cannot be built"),
    Case("nobody's weights", train("--encoder.weights", "~nosuchuser/x"), "~nosuchuser/x"),
    Case("a deep config", lambda w: ["pretrain", "--config", w.file("c.json", "[" * 100_000), "--out", w.out], "c.json"),
    Case("a device for a config", lambda w: ["pretrain", "--config", "/dev/zero", "--out", w.out], "no file"),
    Case("wandb that is not there", train("--log.wandb", "project"), "lie_ssl[wandb]"),
]  # fmt: skip

MODELS = [
    Case("no run", evaluate(lambda w: w.tmp / "nowhere"), "nowhere"),
    Case("no run there", evaluate(lambda w: w.data), "card of a run"),
    Case("another arm in a card", evaluate(lambda w: w.run_with_card(arm="frames")), "'frames'"),
    Case("a card without factors", evaluate(lambda w: w.run_with_card(factors=None)), "'factors'"),
    Case("numbers for factors", evaluate(lambda w: w.run_with_card(factors=[1])), "factors"),
    Case("another objective in a config", evaluate(lambda w: w.copy_of_run(objective__name="frames")), "objective has no setting"),
    Case("code for an encoder", evaluate(lambda w: w.copy_of_run(encoder__name=EVIL)), EVIL),
    Case("code for a method", evaluate(lambda w: w.copy_of_run(method__name=EVIL)), EVIL),
    Case("code for an objective", evaluate(lambda w: w.copy_of_run(objective__name=EVIL)), EVIL),
    Case("a format of tomorrow", evaluate(lambda w: w.copy_of_run(format=3)), "upgrade lie_ssl"),
    Case("code in a file", evaluate(lambda w: w.exported_with(name=EVIL)), EVIL),
    Case("code of the system in a file", evaluate(lambda w: w.exported_with(name="os:system")), "os:system"),
    Case("code in a checkpoint", evaluate(lambda w: w.run_with_checkpoint(None)), "would run code"),
    Case("no checkpoint", evaluate(lambda w: w.run_with_checkpoint(b"")), "damaged"),
    Case("a file without settings", evaluate(foreign_tensors), "was not exported by lie_ssl"),
    Case("a file of words", evaluate(lambda w: w.file("m.safetensors")), "not a safetensors file"),
    Case("another width in a file", evaluate(lambda w: w.exported_with(options=[["embed_dim", 64]])), "do not fit"),
    Case("words for options", evaluate(lambda w: w.exported_with(options="x")), "options"),
    Case("pictures beyond memory in a file", evaluate(lambda w: w.exported_with(image_size=10**9)), "image_size"),
    Case("rates nan", evaluate(lambda w: w.run, "--probe.rates", "nan"), "probe.rates is nan"),
    Case("rates of nothing", evaluate(lambda w: w.run, "--probe.rates", "0"), "rates above 0"),
    Case("steps for ever", evaluate(lambda w: w.run, "--probe.steps", HUGE), "is 1e+30, which takes 3.17e+19 years"),
    Case("finetuning for an age", evaluate(lambda w: w.run, "--finetune.steps", "1000000000000"), "years"),
    Case("more than all", evaluate(lambda w: w.run, "--proportions", "2"), "at most at 1"),
    Case("no such option", evaluate(lambda w: w.run, "--options", "3"), "1 and 2"),
    Case("a limit below nothing", evaluate(lambda w: w.run, "--limit", "-1"), "1 or more"),
    Case("export of code", lambda w: ["export", w.copy_of_run(encoder__name=EVIL), "--out", w.tmp / "m.safetensors"], EVIL),
    Case("another ending", lambda w: ["export", w.run, "--out", w.tmp / "m.onnx"], ".safetensors"),
    Case("there already", lambda w: ["export", w.run, "--out", w.file("m.safetensors")], "there already"),
    Case("a saved model with code", evaluate(lambda w: w.copy_of_saved(encoder__name=EVIL)), "is not a run"),
    Case("a card with code", lambda w: ["reproduce", w.evaluation_card(pretraining__encoder__name=EVIL), "--data", w.data, "--out", w.out], EVIL),
    Case("a card with a way out", lambda w: ["reproduce", w.evaluation_card(method="../../../x"), "--data", w.data], "'../../../x'"),
    Case("a card without a config", lambda w: ["reproduce", w.evaluation_card(config=None), "--data", w.data], "'config'"),
    Case("a tolerance nan", lambda w: ["reproduce", w.evaluated, "--data", w.data, "--tolerance", "nan"], "tolerance"),
    Case("words for a number", report(lambda w: w.evaluation(top1="many")), "'many'"),
    Case("words for an angle", report(lambda w: w.evaluation("curve", angle="far")), "'far'"),
    Case("rows of another arm", report(lambda w: w.evaluation(arm="frames")), "'frames'"),
    Case("a way out in a phase", report(lambda w: w.evaluation(phase="../../x"), "--files", "files"), "'../../x'"),
    Case("no evaluation", report(lambda w: w.tmp / "nowhere"), "nowhere"),
    Case("a file for an evaluation", report(lambda w: w.file("x")), "is a file"),
    Case("twice the same", lambda w: ["report", w.evaluated, w.evaluated, "--out", w.out / "p.html"], "two numbers"),
    Case("a folder for a page", lambda w: ["report", w.evaluated, "--out", w.tmp], "is a folder"),
    Case("nothing to report", lambda w: ["report"], "at least one"),
    Case("no photographs", transfer(lambda w: w.tmp / "nowhere"), "nowhere"),
    Case("one class", transfer(lambda w: w.labelled("train/a/1.png", "test/a/2.png")), "needs two"),
    Case("no training part", transfer(lambda w: w.labelled("test/a/1.png", "test/b/2.png")), "train"),
    Case("a class to test only", transfer(lambda w: w.labelled("train/a/1.png", "train/b/1.png", "test/c/2.png")), "c"),
    Case("no parts", transfer(lambda w: w.labelled("a/1.png", "b/2.png")), "train, val or test"),
    Case("transfer of code", lambda w: ["transfer", w.copy_of_run(encoder__name=EVIL), "--photos", w.labelled("train/a/1.png"), "--out", w.out], EVIL),
    Case("transfer of nothing", lambda w: ["transfer", "--photos", w.tmp, "--out", w.out], "RUN"),
    Case("a deep file", evaluate(lambda w: w.exported_with_text("[" * 100_000)), "damaged"),
    Case("a deep encoder in a file", evaluate(lambda w: w.exported_with(options=[["depth", 16384]])), "at most 1,000"),
    Case("a large encoder in a file", evaluate(lambda w: w.exported_with(options=[["embed_dim", 16384], ["depth", 900]])), "GB"),
    Case("a card without versions", lambda w: ["export", w.run_with_card(versions={}), "--out", w.tmp / "m.safetensors"], "'lie_ssl'"),
    Case("no channels in a card", evaluate(lambda w: w.run_with_card(channels=-1)), "-1 channels"),
    Case("pairs for an age", evaluate(lambda w: w.run, "--pairs", "1000000000"), "1,000"),
    Case("a batch of everything", evaluate(lambda w: w.run, "--probe.batch", "1000000000000"), "probe.batch"),
    Case("an evaluation under another arm", report(lambda w: w.evaluation_card(arm="frames", run__arm="frames", pretraining__variant="x")), "'frames'"),
    Case("an evaluation of another run", report(lambda w: w.evaluation_card(run__seed=7)), "seed"),
    Case("an objective of words", report(lambda w: w.evaluation_card(pretraining__objective="x")), "objective"),
    Case("a run without data", lambda w: ["reproduce", w.evaluation_card(run__data=None), "--data", w.data, "--out", w.out], "'data'"),
    Case("no such checkpoint", lambda w: ["reproduce", w.evaluation_card(which="x"), "--data", w.data, "--out", w.out], "'which'"),
    Case("an empty option", report(lambda w: w.evaluation(option="")), "option"),
    Case("an empty pose", report(lambda w: w.evaluation(poses="")), "poses"),
    Case("a link out of the run", lambda w: ["evaluate", w.run_with_link("features"), "--finetune.steps", "0", "--out", w.out], "link"),
]  # fmt: skip

GROUPS = {"words": WORDS, "make": MAKE, "import": IMPORT, "data": DATA, "pretrain": PRETRAIN, "models": MODELS}
CASES = [(f"{group}: {case.name}", case) for group, cases in GROUPS.items() for case in cases]
