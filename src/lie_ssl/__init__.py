"""Self-supervised vision encoders that know how objects move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lie_ssl.errors import UserError

if TYPE_CHECKING:
    from lie_ssl.lie import LieLoss, LieOperator, exp_action
    from lie_ssl.training.adapting import adapt
    from lie_ssl.training.loading import load
    from lie_ssl.training.pretrained import from_pretrained

__version__ = "0.2.0"
__all__ = ["LieLoss", "LieOperator", "UserError", "__version__", "adapt", "exp_action", "from_pretrained", "load"]


def __getattr__(name: str) -> Any:
    """Loads what is heavy, and torch with it, on first use."""
    if name in ("LieLoss", "LieOperator", "exp_action"):
        from lie_ssl import lie

        return getattr(lie, name)
    if name in ("adapt", "from_pretrained", "load"):
        from lie_ssl.extras import require

        require(f"lie_ssl.{name}", "vision", "data", *(("train",) if name == "adapt" else ()))
        from lie_ssl import training

        return getattr(training, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Lists public names, also those that are not loaded yet."""
    return sorted({*globals(), *__all__})
