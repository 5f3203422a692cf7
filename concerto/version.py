"""Which version of Concerto this is."""

__version__ = "0.1.0"
