"""What every objective is: a loss over the embeddings of pairs of frames, with settings of its own.

Shape letters: B pairs, N frames of instances seen in one pose only, F factors of variation, D coordinates, M embedding.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, Protocol, get_args

from torch import Tensor, nn

from lie_ssl.errors import UserError
from lie_ssl.serialization import check_numbers

View = Literal["clean", "ssl"]


class Pairs(NamedTuple):
    """Embeddings of a batch of pairs, and how far each pair moves."""

    z: Tensor  # (B, M) of the first frames
    z_next: Tensor  # (B, M) of the second frames
    delta: Tensor  # (B, F) difference of the two poses, one column a factor
    negatives: Tensor | None = None  # (N, M) of instances seen in one pose only


class Terms(NamedTuple):
    """What an objective makes of a batch of pairs."""

    total: Tensor  # the weighted sum, without the self-supervised loss
    terms: dict[str, Tensor]  # its parts, unweighted, for the log
    t: Tensor | None = None  # (B, D) coordinates of the moves, where there are any


class Mover(Protocol):
    """What can move embeddings. :class:`lie_ssl.LieOperator` is one."""

    def infer(self, z: Tensor, z_next: Tensor, delta: Tensor) -> Tensor:
        """(B, M), (B, M), (B, F) -> the coordinates t of the move from z to z_next, (B, D)."""

    def __call__(self, z: Tensor, t: Tensor) -> Tensor:
        """(B, M), (B, D) -> the moved embeddings, (B, M)."""

    def moved_dims(self, delta: Tensor) -> Tensor:
        """(B, F) -> the dimensions of the embedding that at least one of these moves concerns."""


@dataclass(frozen=True)
class ObjectiveConfig:
    """Settings of an objective; each objective has a subclass with its own, as `Config`."""

    name: str
    """Name in the registry, or `package.module:Class`."""
    ssl: float = 1.0
    """Weight of the self-supervised loss of both frames."""
    view: View = "clean"
    """Which embedding the pairs are compared by: of the plain frame, or of the view that the method has worked on."""
    singles: bool = True
    """Whether instances seen in one pose only are negatives too."""

    def __post_init__(self) -> None:
        check_numbers(self, "objective")
        self.check_weights("ssl")
        if self.view not in get_args(View):
            raise UserError(f"objective.view is {self.view!r}, but it can be {', '.join(get_args(View))}")

    def check_weights(self, *names: str) -> None:
        """Refuses weights below 0."""
        for name in names:
            if not getattr(self, name) >= 0:
                raise UserError(f"objective.{name} is {getattr(self, name)}, but weights are 0 or more")

    def kinds(self, pose_kinds: Sequence[str]) -> tuple[str, ...]:
        """The kinds of pose (2d, 3d ...) that count as factors of their own; none by default."""
        return ()

    @property
    def separates(self) -> bool:
        """Whether anything keeps embeddings apart. Without it all of them could become the same."""
        return self.ssl > 0

    def build(self, dim: int, factors: Sequence[str] = ("pose",)) -> PairObjective:
        """The objective for embeddings of `dim` numbers of frames that vary in the given factors."""
        from lie_ssl.objectives.registry import objective_type

        return objective_type(self.name)(self, dim, factors)


class PairObjective(nn.Module, ABC):
    """A loss over pairs of frames.

    A subclass names its settings as `Config`, registers itself with :func:`lie_ssl.objectives.objective`, and gives its
    terms for the embeddings of a batch. In a distributed run they must be this process' share of those on the joined
    batch: the average over the processes is the loss (see :mod:`lie_ssl.contrast.gather`).
    """

    Config: ClassVar[type[ObjectiveConfig]]
    needs_pairs: ClassVar[bool] = True
    """Whether the second frames are embedded at all."""
    has_mover: ClassVar[bool] = False
    """Whether it has something that moves embeddings."""

    def __init__(self, config: ObjectiveConfig, dim: int, factors: Sequence[str]) -> None:
        super().__init__()
        self.config, self.dim, self.factors = config, dim, tuple(factors)

    @property
    def mover(self) -> Mover | None:
        """What moves embeddings; None for invariant objectives."""
        return None

    @abstractmethod
    def forward(self, pairs: Pairs) -> Terms:
        """The terms of a batch of pairs."""


@contextmanager
def as_user_errors(prefix: str) -> Iterator[None]:
    """Turns the ValueError of a component into one sentence for the user."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise UserError(f"{prefix}{error}") from error
