"""`NamedTuple` and a memo for functions, as light as a commit hook needs them.

The former without the 4 ms that `import typing` adds to every commit hook, nor the 0.1 ms that `collections.namedtuple`
takes to make each of forty classes (bench/hooks.md); a type checker sees the real one. The latter without `functools`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NamedTuple as NamedTuple
    from typing import TypeVar

    Value = TypeVar("Value")
else:
    try:
        from _collections import _tuplegetter
    except ImportError:  # an interpreter other than CPython
        from operator import itemgetter

        def _tuplegetter(index, doc):
            return property(itemgetter(index), doc=doc)

    class _Value(tuple):
        """What every value can do; equality, order and hash are the tuple's."""

        __slots__ = ()
        _fields = ()
        _defaults: dict = {}  # noqa: RUF012

        def __new__(cls, *args, **named):
            if named or len(args) != len(cls._fields):
                args = _filled(cls, args, named)
            return tuple.__new__(cls, args)

        _make = classmethod(tuple.__new__)

        def __repr__(self):
            shown = ", ".join(f"{field}={value!r}" for field, value in zip(self._fields, self, strict=True))
            return f"{type(self).__name__}({shown})"

        def __getnewargs__(self):
            return tuple(self)

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def _replace(self, **named):
            return type(self)(**{**self._asdict(), **named})

    def _filled(cls, args, named):
        """All values in order, from positions, names and defaults. Raises TypeError as a call of a function would."""
        values = list(args)
        if len(values) > len(cls._fields):
            raise TypeError(f"{cls.__name__} takes {len(cls._fields)} values, got {len(values)}")
        for field in cls._fields[len(values) :]:
            if field in named:
                values.append(named.pop(field))
            elif field in cls._defaults:
                values.append(cls._defaults[field])
            else:
                raise TypeError(f"{cls.__name__} misses '{field}'")
        if named:
            raise TypeError(f"{cls.__name__} has no free field '{next(iter(named))}'")
        return values

    class _Fields(type):
        """Turns the annotations of a class body into the fields of a tuple."""

        def __new__(mcs, name, bases, body):
            if not bases:
                return super().__new__(mcs, name, bases, body)
            fields = tuple(body.get("__annotations__", ()))
            body["_defaults"] = {field: body[field] for field in fields if field in body}
            body["_fields"] = fields
            body["__slots__"] = ()
            body.update((field, _tuplegetter(index, None)) for index, field in enumerate(fields))
            return type(name, (_Value,), body)

    class NamedTuple(metaclass=_Fields):
        """Base of immutable values: a class body of annotated fields, defaults last."""


def remember(most: int) -> Callable[[Callable[[str], Value]], Callable[[str], Value]]:
    """Makes a function of one text remember its answers, `most` of them; then it begins anew."""

    def wrap(function: Callable[[str], Value]) -> Callable[[str], Value]:
        known: dict[str, Value] = {}

        def ask(text: str) -> Value:
            if text not in known:
                if len(known) >= most:
                    known.clear()
                known[text] = function(text)
            return known[text]

        return ask

    return wrap


def counted(count: int, noun: str) -> str:
    """`1 capsule`, `2 capsules`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
