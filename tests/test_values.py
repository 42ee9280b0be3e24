"""The light NamedTuple does what typing's does, as far as gitmem leans on it."""

from __future__ import annotations

import pickle
import typing

import pytest

from gitmem.values import NamedTuple


class Light(NamedTuple):
    a: int
    b: str = "x"

    @property
    def both(self) -> str:
        return f"{self.a}{self.b}"


class Real(typing.NamedTuple):
    a: int
    b: str = "x"


def test_values_are_tuples_with_names_and_defaults() -> None:
    assert all((1, "x") == tuple(value) for value in (Light(1), Light(a=1), Real(1)))
    assert ("1x", {"a": 1, "b": "y"}, Light(2, "y")) == (
        Light(1).both,
        Light(1, "y")._asdict(),
        Light(1, "y")._replace(a=2),
    )
    assert "Light(a=1, b='x')" == repr(Light(1)) and hash(Light(1)) == hash(Real(1))
    assert Light(3) == pickle.loads(pickle.dumps(Light(3)))
    a, b = Light(1)
    assert (1, "x") == (a, b)


@pytest.mark.parametrize(("args", "named"), [((), {}), ((1, "a", 2), {}), ((1,), {"c": 1}), ((1,), {"a": 2})])
def test_wrong_calls_are_refused_as_typing_refuses_them(
    args: tuple[typing.Any, ...], named: dict[str, typing.Any]
) -> None:
    for kind in (Light, Real):
        with pytest.raises(TypeError):
            kind(*args, **named)


def test_a_value_does_not_change() -> None:
    with pytest.raises(AttributeError):
        Light(1).a = 2  # type: ignore[misc]
