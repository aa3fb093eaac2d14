"""The settings of a Lie operator, which build it for embeddings of a given size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from lie_ssl.lie.algebras import check_algebra
from lie_ssl.lie.coordinates import Sees

if TYPE_CHECKING:
    from lie_ssl.lie.operator import LieOperator

Action = Literal["exp", "identity", "mlp"]


@dataclass(frozen=True)
class OperatorConfig:
    """The Lie operator."""

    generators: tuple[int, ...] = (4,)
    """Generators of each factor of variation; a single number serves every factor."""
    algebra: str = "general"
    """Which matrices the generators are: block, commuting, general, low_rank, skew, or one of your own."""
    action: Action = "exp"
    """exp is the group; for ablations, identity moves nothing, and mlp is a plain network of z and t."""
    fixed: int | float = 0
    """How many leading dimensions of the embedding the group leaves alone; a number below 1 is a share of them."""
    sees: tuple[Sees, ...] = ("pair",)
    """What the network that infers t sees: both embeddings, the first one, or the difference of the poses only; linear
    has no network, t is that difference. A single word serves every factor."""
    hidden: int | None = None
    """Width of that network; None takes the size of the embedding."""
    max_norm: float | None = None
    """Bound on the length of t for each factor; None for no bound."""
    split_factors: bool = False
    """Give every factor its own share of the moved dimensions."""
    frequencies: tuple[float, ...] = ()
    """Start the generators of linear factors as plane rotations with these speeds."""
    centred: bool = False
    """Let the group act about the mean of the moved part in place of the origin."""
    standardised: tuple[str, ...] = ()
    """Factors (pose, or 2d and 3d with by_kind) whose centred group acts on dimensions of equal spread."""
    scale: float | None = None
    """Size of the generators at the start; None takes the algebra's own."""
    rank: int | None = None
    """Rank of low_rank generators; None takes the algebra's own."""
    block_size: int | None = None
    """Size of the blocks of the block algebra; None takes the algebra's own."""

    def __post_init__(self) -> None:
        check_algebra(self.algebra)
        if not self.generators or min(self.generators) < 1:
            raise ValueError(f"generators is {self.generators}, but every factor needs at least one")
        if not self.sees or any(word not in get_args(Sees) for word in self.sees):
            raise ValueError(f"sees is {self.sees}, but its words can be {', '.join(get_args(Sees))}")
        if self.action not in get_args(Action):
            raise ValueError(f"action is {self.action!r}, but it can be {', '.join(get_args(Action))}")
        if not 0 <= self.fixed < 2**53 or (self.fixed >= 1 and self.fixed != int(self.fixed)):
            raise ValueError(f"fixed is {self.fixed}, but it is a number of dimensions, or a share of them below 1")
        for name in ("hidden", "max_norm", "scale", "rank", "block_size"):
            if (value := getattr(self, name)) is not None and not value > 0:
                raise ValueError(f"{name} is {value}, but it must be above 0, or None")

    def build(self, dim: int, factors: Sequence[str] = ("pose",)) -> LieOperator:
        """The operator for embeddings of `dim` numbers of pictures that vary in the given factors.

        Example:
            >>> OperatorConfig(generators=(1,), algebra="skew", fixed=0.5).build(8, ["pose", "hue"]).n_generators
            2
        """
        from lie_ssl.lie.operator import LieOperator

        settings: dict[str, Any] = {
            name: value for name in ("scale", "rank", "block_size") if (value := getattr(self, name)) is not None
        }
        return LieOperator(
            dim, self._for_each("generators", factors), algebra=self.algebra, fixed=self.fixed_dims(dim),
            sees=self._for_each("sees", factors), hidden=self.hidden, max_norm=self.max_norm,
            split_factors=self.split_factors, action=self.action, frequencies=self.frequencies, centred=self.centred,
            standardised=[name in self.standardised for name in (factors if self.split_factors else factors[:1])],
            **settings,
        )  # fmt: skip

    def fixed_dims(self, dim: int) -> int:
        """How many of `dim` dimensions the group leaves alone."""
        return dim - int((1 - self.fixed) * dim) if self.fixed < 1 else int(self.fixed)

    def _for_each(self, name: str, factors: Sequence[str]) -> tuple[Any, ...]:
        values: tuple[Any, ...] = getattr(self, name)
        values = values * len(factors) if len(values) == 1 else values
        if len(values) != len(factors):
            raise ValueError(f"{name} has {len(values)} entries, but there are the factors {', '.join(factors)}")
        return values
