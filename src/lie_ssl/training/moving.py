"""Reads, makes and searches moves with a trained model: `model.pose`, `model.turn` and `model.find`.

A move has the unit of its factor: degrees for poses, hue, light and elevation, the ratio of sizes for scale.

Shape letters: B pictures, Q queries, N pictures of a gallery, M embedding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from lie_ssl.errors import UserError
from lie_ssl.frames.factors import FACTORS, AngleFactor, Factor
from lie_ssl.frames.kinds import KINDS
from lie_ssl.lie import LieOperator
from lie_ssl.lie.rotation_fit import align_free, is_rotational
from lie_ssl.lie.rotations import rotation_vector

POSE = "pose"  # the factor of runs in which kinds of pose are not separate
V_WEIGHT = 2 / 3  # of v in the similarity of pictures
Move = float | Sequence[float] | Tensor


class Pose(NamedTuple):
    """How far objects turned from one picture to another, or how another factor changed, on the CPU.

    Attributes:
        degrees: (B,) the angles, in [-180, 180); nan if the factor is no angle, such as scale.
        error: (B,) what the best move leaves of the difference: 0 for a perfect fit, 1 for unrelated embeddings.
        second: (B,) the second-best moves, in the unit of the factor; nan if there is none.
        second_error: (B,) their errors. If one is close to `error`, the object may look the same in both poses.
        value: (B,) the moves in the unit of the factor: `degrees` for an angle, the ratio of sizes for scale.
        unit: That unit.
    """

    degrees: Tensor
    error: Tensor
    second: Tensor
    second_error: Tensor
    value: Tensor
    unit: str = "degrees"


class Rotation(NamedTuple):
    """How objects turned in space from one picture to another, in camera axes, on the CPU.

    Attributes:
        matrix: (B, 3, 3) the rotations.
        degrees: (B, 3) the rotation vectors: the axis times the angle in degrees.
        error: (B,) what the best rotation leaves of the difference: 0 for a perfect fit, 1 for unrelated embeddings.
    """

    matrix: Tensor
    degrees: Tensor
    error: Tensor


class Found(NamedTuple):
    """Pictures of a gallery, the best first.

    Attributes:
        rows: (Q, k) their positions in the gallery.
        scores: (Q, k) their similarities to the query, at most 1.
    """

    rows: Tensor
    scores: Tensor


def factor_index(operator: LieOperator | None, factors: Sequence[str], factor: str | None) -> int:
    """The position of a factor of variation; with a single factor, the name may be left out."""
    if operator is None:
        raise UserError("this model has no operator, so it cannot read or make moves; train one with the objective lie")
    if is_rotational(operator):
        raise UserError("the moves of this model are rotations of space; use model.rotation and model.rotate")
    if factor is None and len(factors) == 1:
        factor = factors[0]
    if factor is None or factor not in factors:
        given = "name the factor that moves" if factor is None else f"there is no factor {factor!r}"
        raise UserError(f"{given}; the model knows {', '.join(factors)}")
    index = list(factors).index(factor)
    if not reads_angles(operator, index):
        raise UserError(
            f"the operator of this model infers the moves of {factor} and has no angle for them, so it cannot read or "
            "make them; train one with the objective lie"
        )
    return index


def reads_angles(operator: LieOperator, index: int) -> bool:
    """Whether the moves of a factor are angles: it has one generator, whose coordinate is the angle itself."""
    sees = getattr(operator.coordinates[index], "sees", None)
    one = operator.counts[index] == 1 and not is_rotational(operator)
    return operator.action == "exp" and one and sees in ("linear", "align")


def check_rotational(operator: LieOperator | None) -> LieOperator:
    """The operator, if its moves are rotations of space."""
    if operator is None or not is_rotational(operator):
        raise UserError("this model does not read rotations of space; train one with the objective rotations")
    return operator


@torch.no_grad()
def read_rotation(operator: LieOperator, first: Tensor, second: Tensor) -> Rotation:
    """(B, M), (B, M) embeddings -> how each object turned in space."""
    found = align_free(operator, first, second)
    matrix = found.rotation.cpu()
    return Rotation(matrix, torch.rad2deg(rotation_vector(matrix.double())).float(), found.error.cpu())


@torch.no_grad()
def rotate(operator: LieOperator, z: Tensor, rotation: Sequence[float] | Tensor) -> Tensor:
    """(B, M) embeddings and a rotation vector in degrees (3,), or (B, 3) -> those of the turned objects (B, M)."""
    try:
        vectors = torch.as_tensor(rotation, dtype=torch.float64)
    except (TypeError, ValueError, RuntimeError):
        vectors = torch.full((), torch.nan)
    if tuple(vectors.shape) not in ((3,), (len(z), 3)) or not bool(torch.isfinite(vectors).all()):
        raise UserError(f"a rotation must be three finite numbers, or three for each of the {len(z)} embeddings")
    moved: Tensor = operator(z, torch.deg2rad(vectors).to(z).expand(len(z), 3))
    return moved


def moved_factor(name: str) -> Factor:
    """The factor of variation with this name, which knows the unit of its moves; poses are angles."""
    if name in FACTORS:
        return FACTORS[name].value
    if name in (*KINDS, POSE):
        return AngleFactor(name, name)
    raise UserError(f"the factor of variation {name!r} is not registered; import the module that defines it first")


def check_reaches(reaches: Any, factors: Sequence[str], where: str, remedy: str) -> tuple[float, ...]:
    """The largest moves of all factors in the training data, from a file; half a turn each in files without them."""
    if reaches is None:
        return (math.pi,) * len(factors)
    if not isinstance(reaches, list) or len(reaches) != len(factors) or not all(
        isinstance(reach, float) and 0 < reach < math.inf for reach in reaches
    ):  # fmt: skip
        raise UserError(f"{where}: reaches is {reaches!r:.60}, but it must be a positive number per factor; {remedy}")
    return tuple(reaches)


@torch.no_grad()
def read_pose(
    operator: LieOperator, first: Tensor, second: Tensor, index: int, factor: Factor, reach: float = math.pi
) -> Pose:
    """(B, M), (B, M) embeddings -> how far each object moved, at most by `reach`."""
    found = operator.align(first, second, factor=index, limit=reach)
    value, other = (
        torch.from_numpy(factor.to_move(x.double().cpu().numpy())).float() for x in (found.t, found.second)
    )  # fmt: skip
    degrees = value if isinstance(factor, AngleFactor) else torch.full_like(value, torch.nan)
    unit = factor.move_unit or factor.unit
    return Pose(degrees, found.error.cpu(), other, found.second_error.cpu(), value, unit)


@torch.no_grad()
def turn(operator: LieOperator, z: Tensor, move: Move, index: int, factor: Factor, name: str = "degrees") -> Tensor:
    """(B, M) embeddings and one move, or (B,) moves, in the unit of the factor -> the moved embeddings (B, M).

    `name` is what errors call the move.
    """
    try:
        moves = torch.as_tensor(move, dtype=torch.float64)
    except (TypeError, ValueError, RuntimeError):
        moves = torch.full((), torch.nan, dtype=torch.float64)
    coordinates = torch.as_tensor(factor.from_move(moves.cpu().numpy()))
    if moves.ndim > 1 or (moves.ndim == 1 and len(moves) != len(z)) or not bool(torch.isfinite(coordinates).all()):
        kind = "finite number" if isinstance(factor, AngleFactor) else f"valid number ({factor.move_unit})"
        raise UserError(f"{name} must be one {kind}, or one for each of the {len(z)} embeddings")
    t = z.new_zeros(len(z), operator.n_generators)
    t[:, sum(operator.counts[:index])] = coordinates.to(z)
    moved: Tensor = operator(operator.normalise(z), t)
    return moved


@torch.no_grad()
def read_angle(operator: LieOperator, z: Tensor, index: int, factor: Factor) -> Pose:
    """(B, M) embeddings of single pictures -> their angles from the typical pose, if the operator has an anchor."""
    if factor.name not in (*KINDS, POSE):
        raise UserError(f"{factor.name} has no typical value from which one picture could differ; use model.pose")
    if operator.anchor is None:
        raise UserError(
            "this model was not asked to tell the angle of one picture; train one with --objective.anchor 1, or give "
            "two pictures to model.pose"
        )
    found = operator.read(z, index)
    degrees, other = (
        torch.from_numpy(factor.to_move(x.double().cpu().numpy())).float() for x in (found.t, found.second)
    )  # fmt: skip
    return Pose(degrees, found.error.cpu(), other, found.second_error.cpu(), degrees, factor.move_unit or factor.unit)


def named_move(factor: Factor, degrees: Move | None, value: Move | None) -> tuple[Move, str]:
    """The move that a user gives as `degrees` or as `value`, and which of them it is."""
    if (degrees is None) == (value is None):
        raise UserError("give either degrees or value, in the unit of the factor")
    if value is not None:
        return value, "value"
    assert degrees is not None
    if not isinstance(factor, AngleFactor):
        raise UserError(f"{factor.name} is no angle; give value instead of degrees")
    return degrees, "degrees"


@torch.no_grad()
def find(operator: LieOperator, queries: Tensor, gallery: Tensor, index: int, k: int) -> Found:
    """Ranks a gallery (N, M) by its similarity to queries (Q, M), which were moved already.

    See :func:`unit_parts` for the similarity.
    """
    if k < 1:
        raise UserError(f"k is {k}, but it must be 1 or more")
    if not len(gallery):
        raise UserError("the gallery has no pictures; give at least one")
    delta = torch.zeros(1, len(operator.counts))
    delta[0, index] = 1.0
    dims = operator.moved_dims(delta).cpu()
    scores = unit_parts(operator, queries, dims) @ unit_parts(operator, gallery, dims).T
    best = scores.topk(min(k, len(gallery)), dim=1)
    return Found(best.indices, best.values)


def unit_parts(operator: LieOperator, z: Tensor, dims: Tensor) -> Tensor:
    """(N, M) -> (N, M'), whose products are similarities: weighted means of the cosines of u and of v.

    u, which says what it is, are the dimensions that the group leaves unchanged, if there are any. v, which says how it
    is turned, are those in `dims`, as seen from the centre of a centred group. v counts for two thirds.
    """
    z = operator.normalise(z)
    if operator.centred:
        z = torch.cat([z[:, : operator.fixed], z[:, operator.fixed :] - operator.centre.to(z.dtype)], dim=1)
    v = functional.normalize(z[:, dims], dim=1)
    if not operator.fixed:
        return v
    u = functional.normalize(z[:, : operator.fixed], dim=1)
    return torch.cat([math.sqrt(1 - V_WEIGHT) * u, math.sqrt(V_WEIGHT) * v], dim=1)
