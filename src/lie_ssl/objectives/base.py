"""The base class of objectives: a loss over the embeddings of pairs of frames, with its settings.

Shape letters: B pairs, N frames of instances seen in one pose only, L frames of a clip, F factors of variation,
D coordinates, M embedding.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, NamedTuple, Protocol, Self, get_args, runtime_checkable

from torch import Tensor, nn

from lie_ssl.errors import UserError
from lie_ssl.serialization import added_field, check_numbers

View = Literal["clean", "ssl"]
PREDICT = 20.0  # default weight of the prediction of features, whose mean square is 1
MANY = 1 << 16  # dimensions of an embedding in which every objective that has a u finds it


class Pairs(NamedTuple):
    """Embeddings of a batch of pairs, and the differences of their poses."""

    z: Tensor  # (B, M) of the first frames
    z_next: Tensor  # (B, M) of the second frames
    delta: Tensor  # (B, F) differences of the two poses, one column per factor
    negatives: Tensor | None = None  # (N, M) of instances seen in one pose only
    more: Tensor | None = None  # (B, L - 2, M) of the other frames of clips, if the objective asks for clips
    per_object: int = 1  # consecutive rows that belong to one object and have the same first frame
    pose: Tensor | None = None  # (B, F) poses of the first frames, from the typical one; nan for factors without one
    objects: Tensor | None = None  # (B,) numbers of the objects, if a batch may have several pairs of one


class Terms(NamedTuple):
    """The terms of an objective on a batch of pairs."""

    total: Tensor  # the weighted sum, without the self-supervised loss
    terms: dict[str, Tensor]  # its parts, unweighted, for the log
    t: Tensor | None = None  # (B, D) coordinates of the moves, if there are any


class Mover(Protocol):
    """The interface of modules that move embeddings, such as :class:`lie_ssl.LieOperator`."""

    def infer(self, z: Tensor, z_next: Tensor, delta: Tensor) -> Tensor:
        """(B, M), (B, M), (B, F) -> the coordinates t of the move from z to z_next, (B, D)."""

    def __call__(self, z: Tensor, t: Tensor) -> Tensor:
        """(B, M), (B, D) -> the moved embeddings, (B, M)."""

    def moved_dims(self, delta: Tensor) -> Tensor:
        """(B, F) -> the dimensions of the embedding that at least one of these moves affects."""


@runtime_checkable
class Reader(Protocol):
    """The interface of objectives that predict moves, such as inverse dynamics."""

    def read(self, z: Tensor, z_next: Tensor) -> Tensor:
        """(B, M), (B, M) embeddings -> (B, F) the moves of all factors, in radians."""


@dataclass(frozen=True)
class ObjectiveConfig:
    """Settings of an objective. Each objective has a subclass, its `Config`."""

    name: str
    """Name in the registry, or `package.module:Class`."""
    ssl: float = 1.0
    """Weight of the self-supervised loss of both frames."""
    view: View = "clean"
    """Whether pairs are compared by embeddings of the plain frames (clean) or of the method's views (ssl)."""
    singles: bool = True
    """Whether instances seen in one pose only are also negatives."""
    predict: float = added_field(0.0)
    """Weight of predicting the published features of one frame from u of the other; for adapted encoders."""

    def __post_init__(self) -> None:
        check_numbers(self, "objective")
        self.check_weights("ssl", "predict")
        if self.view not in get_args(View):
            raise UserError(f"objective.view is {self.view!r}, but it must be one of {', '.join(get_args(View))}")

    def check_weights(self, *names: str) -> None:
        """Rejects negative weights."""
        for name in names:
            if not getattr(self, name) >= 0:
                raise UserError(f"objective.{name} is {getattr(self, name)}, but weights must be 0 or more")

    @property
    def clip(self) -> int:
        """How many frames of each instance a batch has: two, drawn at random; or more, at equal steps of its pose, the
        first two of which are the pair."""
        return 2

    def kinds(self, pose_kinds: Sequence[str]) -> tuple[str, ...]:
        """The kinds of pose (2d, 3d ...) that are separate factors; none by default."""
        return ()

    def adapted(self) -> Self:
        """These settings for the head of an adapted encoder: pairs alone train it, without the method's own loss and
        without instances seen in one pose only; u, if there is one, must tell the features of the other frame."""
        return replace(self, ssl=0.0, singles=False, predict=PREDICT if self.identity_dims(MANY) else 0.0)

    def identity_dims(self, dim: int) -> int:
        """How many leading dimensions of an embedding say what an object is, whatever its pose; all by default."""
        return dim

    @property
    def identity(self) -> int | None:
        """The size of u, if these settings say it; None for that of the head."""
        return None

    @property
    def pairs_per_object(self) -> int:
        """How many pairs of an object a batch has, with the same first frame; see :class:`PairSampler`."""
        return 1

    @property
    def adapted_steps(self) -> int | None:
        """Steps in which the head of an adapted encoder learns it; None for the usual number."""
        return None

    @property
    def adapted_lr(self) -> float | None:
        """The learning rate of the head of an adapted encoder; None for the usual one."""
        return None

    @property
    def operator_lr(self) -> float:
        """The learning rate of what moves embeddings in the head of an adapted encoder, relative to the common one."""
        return 1.0

    @property
    def separates(self) -> bool:
        """Whether a term keeps embeddings apart; without one, they could all become equal."""
        return self.ssl > 0

    def build(self, dim: int, factors: Sequence[str] = ("pose",)) -> PairObjective:
        """Builds the objective for embeddings of size `dim` and the given factors of variation."""
        from lie_ssl.objectives.registry import objective_type

        return objective_type(self.name)(self, dim, factors)


class PairObjective(nn.Module, ABC):
    """A loss over pairs of frames.

    A subclass has its settings as `Config`, registers itself with :func:`lie_ssl.objectives.objective`, and computes
    its terms from the embeddings of a batch. In a distributed run, these must be this process's share of those on the
    joined batch: the average over the processes is the loss (see :mod:`lie_ssl.contrast.gather`).
    """

    Config: ClassVar[type[ObjectiveConfig]]
    needs_pairs: ClassVar[bool] = True
    """Whether the second frames are embedded."""
    trains: ClassVar[bool] = True
    """Whether anything is learned; the baseline of an adapted encoder learns nothing."""
    has_mover: ClassVar[bool] = False
    """Whether it has a module that moves embeddings."""

    def __init__(self, config: ObjectiveConfig, dim: int, factors: Sequence[str]) -> None:
        super().__init__()
        self.config, self.dim, self.factors = config, dim, tuple(factors)

    @property
    def mover(self) -> Mover | None:
        """The module that moves embeddings; None for invariant objectives."""
        return None

    def unused(self) -> list[nn.Parameter]:
        """The parameters that no term uses in training, because of weights of 0; they are not trained."""
        return []

    @abstractmethod
    def forward(self, pairs: Pairs) -> Terms:
        """Computes the terms of a batch of pairs."""


@contextmanager
def as_user_errors(prefix: str) -> Iterator[None]:
    """Turns the ValueError of a component into a UserError."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise UserError(f"{prefix}{error}") from error
