"""The mathematics: exponential action, algebras, coordinates, operator, loss, diagnostics. Needs torch only."""

from lie_ssl.lie.action import exp_action
from lie_ssl.lie.algebras import ALGEBRAS, Algebra, algebra, make_algebra
from lie_ssl.lie.config import OperatorConfig
from lie_ssl.lie.coordinates import Coordinates
from lie_ssl.lie.diagnostics import Diagnostics, diagnose
from lie_ssl.lie.loss import LieLoss, LieTerms, LossConfig
from lie_ssl.lie.operator import LieOperator

__all__ = [
    "ALGEBRAS", "Algebra", "Coordinates", "Diagnostics", "LieLoss", "LieOperator", "LieTerms", "LossConfig",
    "OperatorConfig", "algebra", "diagnose", "exp_action", "make_algebra",
]  # fmt: skip
