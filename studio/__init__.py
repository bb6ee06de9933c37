"""π-Bench Studio."""

__version__ = "0.1.0"
