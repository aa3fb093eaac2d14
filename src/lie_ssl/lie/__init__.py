"""The mathematics: exponential action, algebras, coordinates, operator, loss, diagnostics. Needs only torch."""

from lie_ssl.lie.action import exp_action
from lie_ssl.lie.algebras import ALGEBRAS, Algebra, algebra, make_algebra
from lie_ssl.lie.alignment import Alignment
from lie_ssl.lie.config import OperatorConfig
from lie_ssl.lie.coordinates import Coordinates
from lie_ssl.lie.diagnostics import Diagnostics, diagnose
from lie_ssl.lie.loss import LieLoss, LieTerms, LossConfig
from lie_ssl.lie.normalisation import UnitNorm
from lie_ssl.lie.operator import LieOperator
from lie_ssl.lie.rotations import RotationAlignment, align_rotations, rotation_matrix, rotation_vector

__all__ = [
    "ALGEBRAS", "Algebra", "Alignment", "Coordinates", "Diagnostics", "LieLoss", "LieOperator", "LieTerms",
    "LossConfig", "OperatorConfig", "RotationAlignment", "UnitNorm", "algebra", "align_rotations", "diagnose",
    "exp_action", "make_algebra", "rotation_matrix", "rotation_vector",
]  # fmt: skip
