"""Self-supervised vision encoders that know how objects move."""

__version__ = "0.1.0"
