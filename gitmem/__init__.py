"""A project's memory, kept alive inside git itself."""

__version__ = "0.1.0"
