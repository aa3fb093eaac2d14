"""What is learned from pairs beside the self-supervised loss: the settings of every arm.

An arm is decided by weights alone. With `frames` above zero it is X Frames; with any weight of the operator above zero
it is X Lie; with all of them zero it is X, and nothing of the rest is built or run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal, get_args

from lie_ssl.errors import UserError
from lie_ssl.lie.algebras import ALGEBRAS
from lie_ssl.lie.coordinates import Sees
from lie_ssl.lie.operator import Action, AlgebraName
from lie_ssl.serialization import check_numbers

View = Literal["clean", "ssl"]


@dataclass(frozen=True)
class OperatorConfig:
    """The Lie operator."""

    generators: tuple[int, ...] = (4,)
    """Generators of each factor of variation; a single number serves every factor."""
    algebra: AlgebraName = "general"
    """Which matrices the generators are."""
    action: Action = "exp"
    """exp is the group; for ablations, identity moves nothing, and mlp is a plain network of z and t."""
    fixed: int = 0
    """How many leading dimensions of the embedding the group leaves alone."""
    sees: tuple[Sees, ...] = ("pair",)
    """What the network that infers t sees: both embeddings, the first one, or the difference of the poses only; linear
    has no network, t is that difference. A single word serves every factor."""
    hidden: int = 0
    """Width of that network; 0 takes the size of the embedding."""
    max_norm: float = 0.0
    """Bound on the length of t for each factor; 0 for none."""
    split_factors: bool = False
    """Give every factor its own share of the moved dimensions."""
    frequencies: tuple[float, ...] = ()
    """Start the generators of linear factors as plane rotations with these speeds."""
    centred: bool = False
    """Let the group act about the mean of the moved part in place of the origin."""
    standardised: tuple[str, ...] = ()
    """Factors (pose, or 2d and 3d with by_kind) whose centred group acts on dimensions of equal spread."""
    scale: float = 0.0
    """Size of the generators at the start; 0 takes the algebra's own."""
    rank: int = 0
    """Rank of low_rank generators; 0 takes the algebra's own."""
    block_size: int = 0
    """Size of the blocks of the block algebra; 0 takes the algebra's own."""

    def __post_init__(self) -> None:
        check_numbers(self, "objective.operator")
        if not self.generators or min(self.generators) < 1:
            raise UserError(f"generators is {self.generators}, but every factor needs at least one")
        if self.algebra not in ALGEBRAS:
            raise UserError(f"algebra is {self.algebra!r}, but there are {', '.join(ALGEBRAS)}")
        if not self.sees or any(word not in get_args(Sees) for word in self.sees):
            raise UserError(f"sees is {self.sees}, but its words can be {', '.join(get_args(Sees))}")
        if self.action not in get_args(Action):
            raise UserError(f"action is {self.action!r}, but it can be {', '.join(get_args(Action))}")
        for name in ("fixed", "hidden", "max_norm", "scale", "rank", "block_size"):
            if not getattr(self, name) >= 0:
                raise UserError(f"operator.{name} is {getattr(self, name)}, but it must be 0 or more")


@dataclass(frozen=True)
class ObjectiveConfig:
    """Weights of all terms, and what shapes them."""

    ssl: float = 1.0
    """Weight of the self-supervised loss of both frames."""
    frames: float = 0.0
    """Weight of the InfoNCE between the two frames: the control X Frames."""
    lie: float = 0.0
    """Weight of the InfoNCE between the moved embedding and the true one."""
    euclidean: float = 0.0
    """Weight of the squared distance between them."""
    coordinates: float = 0.0
    """Weight of s(delta) |t|^2."""
    invariant: float = 0.0
    """Weight of the InfoNCE between the two frames on the part that the group leaves alone."""
    temperature: float = 1.0
    """Of the InfoNCE of frames and of lie; 1 is the formula as it stands in the paper."""
    invariant_temperature: float = 0.0
    """Of the InfoNCE on the fixed part; 0 takes the other one."""
    view: View = "clean"
    """Which embedding the pairs are compared by: of the plain frame, or of the view that the method has worked on."""
    batch_norm: bool = True
    """Batch-norm in the projection heads of these terms."""
    own_negative: bool = True
    """Whether z is a negative of its own z^g."""
    singles: bool = True
    """Whether instances seen in one pose only are negatives too."""
    relative: bool = False
    """Measure the squared distance against the lengths of the two vectors, seen from the centre."""
    by_kind: bool = False
    """Count every kind of pose (2d, 3d) as a factor of its own, with generators of its own."""
    detach_fixed: bool = False
    """Keep the gradients of the Lie terms out of the fixed part."""
    operator: OperatorConfig = field(default_factory=OperatorConfig)
    """The Lie operator."""

    def __post_init__(self) -> None:
        check_numbers(self, "objective")
        for name in ("ssl", "frames", "lie", "euclidean", "coordinates", "invariant"):
            if not getattr(self, name) >= 0:
                raise UserError(f"objective.{name} is {getattr(self, name)}, but weights are 0 or more")
        if not self.temperature > 0 or not self.invariant_temperature >= 0:
            raise UserError("objective.temperature must be above 0, and invariant_temperature 0 or more")
        if self.view not in get_args(View):
            raise UserError(f"objective.view is {self.view!r}, but it can be {', '.join(get_args(View))}")
        if self.ssl == self.frames == 0 and not self.moves:
            raise UserError("all weights of the objective are 0, so there is nothing to learn")
        if self.frames > 0 and self.moves:
            raise UserError("an arm has either the frames term or the terms of the operator, not both")
        if self.invariant > 0 and self.operator.fixed == 0:
            raise UserError("objective.invariant needs a fixed part: set objective.operator.fixed above 0")

    @property
    def moves(self) -> bool:
        """Whether there is an operator."""
        return max(self.lie, self.euclidean, self.coordinates, self.invariant) > 0

    @property
    def pairs(self) -> bool:
        """Whether anything is learned from pairs."""
        return self.moves or self.frames > 0

    @property
    def arm(self) -> str:
        """What the weights make of it, in the words of the tables."""
        if not self.moves:
            return "frames" if self.pairs else "base"
        if self.operator.fixed == 0:
            return "literal"
        return "lie" if max(self.lie, self.euclidean, self.coordinates) > 0 else "lie_off"


ARMS = ("base", "frames", "literal", "lie", "lie_off")
ARM_WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")
LETTERS = tuple(arm.replace("_", "") for arm in ARMS)
TITLES = {"lieliteral": "literal"}  # what tables call an arm, where that is another word


def check_arm(name: str, objective: ObjectiveConfig) -> None:
    """Refuses the name of another arm, under which a run would stand in tables as what it is not.

    Words are plain ASCII: there are too many characters elsewhere that look alike, or like nothing.
    """
    if not ARM_WORD.fullmatch(name):
        raise UserError(f"arm is {name!r:.80}, but it is a word of up to 64 letters, digits, _, - and dots")
    letters = re.sub(r"[^a-z0-9]", "", name.lower())
    known = TITLES.get(letters, letters)
    if known in LETTERS and name != objective.arm:
        raise UserError(
            f"arm is {name!r}, but these weights of the objective make it {objective.arm!r}; give that name or a word "
            "of your own"
        )
