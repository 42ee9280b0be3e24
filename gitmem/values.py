"""`NamedTuple` without the 4 ms that `import typing` adds to every commit hook (bench/hooks.md)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from collections import namedtuple

    class _Fields(type):
        """Turns the annotations of a class body into a `collections.namedtuple` with the body's methods."""

        def __new__(mcs, name, bases, body):
            if not bases:
                return super().__new__(mcs, name, bases, body)
            fields = list(body.get("__annotations__", ()))
            defaults = [body.pop(field) for field in fields if field in body]
            made = namedtuple(name, fields, defaults=defaults, module=body.get("__module__"))
            for key, value in body.items():
                if key not in ("__module__", "__qualname__", "__classcell__"):
                    setattr(made, key, value)
            return made

    class NamedTuple(metaclass=_Fields):
        """Base of immutable values: a class body of annotated fields, defaults last."""
