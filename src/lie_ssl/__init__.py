"""Self-supervised vision encoders that know how objects move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lie_ssl.lie import LieLoss, LieOperator, exp_action
    from lie_ssl.training.loading import load
    from lie_ssl.training.pretrained import from_pretrained

__version__ = "0.2.0"
__all__ = ["LieLoss", "LieOperator", "__version__", "exp_action", "from_pretrained", "load"]


def __getattr__(name: str) -> Any:
    """Loads what is heavy, and torch with it, when it is first asked for."""
    if name in ("LieLoss", "LieOperator", "exp_action"):
        from lie_ssl import lie

        return getattr(lie, name)
    if name == "load":
        from lie_ssl.extras import require

        require("lie_ssl.load", "vision", "data")
        from lie_ssl.training.loading import load

        return load
    if name == "from_pretrained":
        from lie_ssl.extras import require

        require("lie_ssl.from_pretrained", "vision", "data")
        from lie_ssl.training.pretrained import from_pretrained

        return from_pretrained
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Also what has not been loaded yet."""
    return sorted({*globals(), *__all__})
