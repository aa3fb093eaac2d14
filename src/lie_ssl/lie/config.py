"""The config of a Lie operator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

from lie_ssl.lie.algebras import check_algebra
from lie_ssl.lie.coordinates import Sees
from lie_ssl.lie.normalisation import Normalise, check_normalise

if TYPE_CHECKING:
    from lie_ssl.lie.operator import LieOperator

Action = Literal["exp", "identity", "mlp"]


@dataclass(frozen=True)
class OperatorConfig:
    """The config of a Lie operator."""

    generators: tuple[int, ...] = (4,)
    """Number of generators of each factor of variation; a single number applies to every factor."""
    algebra: str = "general"
    """Kind of generators: block, commuting, general, low_rank, skew, or a registered algebra of your own."""
    action: Action = "exp"
    """exp is the group action; for ablations, identity moves nothing, and mlp is a plain network of z and t."""
    fixed: int | float = 0
    """Number of leading dimensions of the embedding that the group leaves unchanged; below 1, their share."""
    sees: tuple[Sees, ...] = ("pair",)
    """Input of the network that infers t: both embeddings (pair), the first one (source), or only the difference of the
    poses (delta); linear has no network, and t is that difference; nor has align, and t carries the first embedding
    nearest to the other. A single value applies to every factor."""
    hidden: int | None = None
    """Width of that network; None for the size of the embedding."""
    max_norm: float | None = None
    """Bound on the length of t for each factor; None for no bound."""
    split_factors: bool = False
    """Whether every factor has its own share of the moved dimensions."""
    frequencies: tuple[float, ...] = ()
    """Speeds of plane rotations with which the generators of linear factors start."""
    centred: bool = False
    """Whether the group acts about the mean of the moved part instead of the origin."""
    standardised: tuple[str, ...] = ()
    """Factors (pose, or 2d and 3d with by_kind) whose centred group acts on dimensions of equal spread."""
    scale: float | None = None
    """Initial size of the generators; None for the algebra's default."""
    rank: int | None = None
    """Rank of low_rank generators; None for the algebra's default."""
    block_size: int | None = None
    """Block size of the block algebra; None for the algebra's default."""
    # As `lie_ssl.serialization.added_field`, which this package does not import.
    normalise: Normalise | None = field(default=None, metadata={"omit_default": True})
    """Scale the moved part so that all planes of one speed together (speed), every plane (plane), or all planes of a
    factor together (share) have length 1."""
    anchor: float | None = field(default=None, metadata={"omit_default": True})
    """Temperature of readings of the pose of single pictures (see `lie_ssl.lie.anchor`); None without an anchor."""

    def __post_init__(self) -> None:
        check_algebra(self.algebra)
        if not self.generators or min(self.generators) < 1:
            raise ValueError(f"generators is {self.generators}, but every factor needs at least one")
        if not self.sees or any(word not in get_args(Sees) for word in self.sees):
            raise ValueError(f"sees is {self.sees}, but its values must be {', '.join(get_args(Sees))}")
        if self.action not in get_args(Action):
            raise ValueError(f"action is {self.action!r}, but it must be one of {', '.join(get_args(Action))}")
        if not 0 <= self.fixed < 2**53 or (self.fixed >= 1 and self.fixed != int(self.fixed)):
            raise ValueError(f"fixed is {self.fixed}, but it must be a number of dimensions, or a share below 1")
        for name in ("hidden", "max_norm", "scale", "rank", "block_size", "anchor"):
            if (value := getattr(self, name)) is not None and not value > 0:
                raise ValueError(f"{name} is {value}, but it must be above 0, or None")
        centred = self.centred or bool(self.standardised)
        check_normalise(self.normalise, self.algebra, centred, self.frequencies)

    def build(self, dim: int, factors: Sequence[str] = ("pose",)) -> LieOperator:
        """Builds the operator for embeddings of size `dim` and the given factors of variation.

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
            normalise=self.normalise, anchor=self.anchor, **settings,
        )  # fmt: skip

    def fixed_dims(self, dim: int) -> int:
        """How many of `dim` dimensions the group leaves unchanged."""
        return dim - int((1 - self.fixed) * dim) if self.fixed < 1 else int(self.fixed)

    def _for_each(self, name: str, factors: Sequence[str]) -> tuple[Any, ...]:
        values: tuple[Any, ...] = getattr(self, name)
        values = values * len(factors) if len(values) == 1 else values
        if len(values) != len(factors):
            raise ValueError(f"{name} has {len(values)} entries, but the factors are {', '.join(factors)}")
        return values
