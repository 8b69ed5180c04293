"""`where=`: which rows of a store a search may return, as a mask over them."""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from cantle import _core
from cantle.store.plain import plain
from cantle.store.snapshot import Snapshot
from cantle.structure import KINDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

Where: TypeAlias = Mapping[str, Any]
"""Conditions that all must hold: a name and what it must be. Names are `strategy`, `source`,
`kind`, `heading`, and the keys of the documents' metadata; a value, a list of which any will do,
or a mapping of comparisons: `{"gte": 2020, "lt": 2024}`."""

_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "gt": operator.lt,
    "gte": operator.le,
    "lt": operator.gt,
    "lte": operator.ge,
    "in": lambda given, value: value in given,
    "prefix": lambda given, value: isinstance(value, str) and value.startswith(given),
}
"""What must hold of what is given and a value, in this order."""
_ORDERS = ("gt", "gte", "lt", "lte", "prefix")
"""Comparisons that are made only with values of the like type."""
_GIVEN: dict[str, tuple[Any, str]] = {
    **dict.fromkeys(_ORDERS, ((int, float, str, list), "a number, a string or a list")),
    "in": (list, "a list"),
    "prefix": (str, "a string"),
}
_NAMED = ("strategy", "source")
_STRINGS = (*_NAMED, "kind")
"""Names whose values are strings, whatever a store holds; the first may look like numbers."""
_SIGNS = {"!=": "ne", ">=": "gte", "<=": "lte", ">": "gt", "<": "lt", "=": "eq"}
_CONDITION = re.compile(r"\s*([^=<>!]+?)\s*(!=|>=|<=|=|>|<)\s*(.*?)\s*", re.DOTALL)
_MISSING = object()


def mask_of(snapshot: Snapshot, where: Where | None) -> NDArray[np.bool_] | None:
    """Return which rows meet all conditions; None where there are none.

    Raises:
        SettingError: A condition names what is not there: a strategy, a kind, a key of metadata
            that no document has, a comparison; or compares with what no document's value can be
            compared with.
        TypeError: `where` is no mapping, or what a name must be is nothing to compare with.
    """
    if where is None:
        return None
    if not isinstance(where, Mapping):
        raise TypeError(f"where ({where!r}) must be a mapping from names to what they must be")
    mask = np.ones(len(snapshot), bool)
    for name, wanted in where.items():
        if not isinstance(name, str):
            raise TypeError(f"where: {name!r} must be a string")
        mask &= _condition(snapshot, name, plain(wanted, f"where: {name!r}"))
    return mask


def _condition(snapshot: Snapshot, name: str, wanted: Any) -> NDArray[np.bool_]:
    if name == "strategy":
        names = [row.name for row in snapshot.strategies]
        _known("strategy", wanted, names)
        return _by_table(names, wanted, name)[snapshot.strategy]
    if name == "source":
        return _by_table([row.id for row in snapshot.sources], wanted, name)[snapshot.source]
    if name == "kind":
        _known("kind", wanted, KINDS)
        return _by_table(list(KINDS), wanted, name)[snapshot.kind]
    if name == "heading":
        return _headings(snapshot.heading_paths, wanted)[snapshot.heading]
    key = name.removeprefix("metadata.")
    values = [row.metadata.get(key, _MISSING) for row in snapshot.sources]
    if values and all(value is _MISSING for value in values):
        known = sorted({key for row in snapshot.sources for key in row.metadata})
        told = ", ".join(["strategy", "source", "kind", "heading", *known])
        raise _core.SettingError(f"where: {name!r} is not there; there are {told}")
    return _by_table(values, wanted, name)[snapshot.source]


def _known(name: str, wanted: Any, there: Iterable[str]) -> None:
    """Raise where a value that is asked for cannot be met at all."""
    if isinstance(wanted, Mapping):
        for sign in wanted.keys() & {"eq", "in"}:
            _known(name, wanted[sign], there)
        return
    there = list(there)
    for value in wanted if isinstance(wanted, list) else (wanted,):
        if value not in there:
            told = ", ".join(map(repr, there)) or "none"
            raise _core.SettingError(f"where: {name} ({value!r}) is not there; there are {told}")


def _by_table(values: list[Any], wanted: Any, name: str) -> NDArray[np.bool_]:
    met = _test(wanted, name)
    if name in _STRINGS:
        _check_strings(wanted, name)
    elif isinstance(wanted, Mapping):
        _check_comparable(values, wanted, name)
    return np.array([value is not _MISSING and met(value) for value in values], bool)


def _check_strings(wanted: Any, name: str) -> None:
    """Raise where something else than a string is asked of what is one: nothing could match."""
    comparisons = wanted if isinstance(wanted, Mapping) else {"": wanted}
    for sign, given in comparisons.items():
        for value in given if isinstance(given, list) else (given,):
            if not isinstance(value, str):
                told = f"{name}: {sign!r}" if sign else name
                raise TypeError(f"where: {told} ({value!r}) must be a string")


def _check_comparable(values: list[Any], wanted: Mapping[str, Any], name: str) -> None:
    """Raise where a comparison cannot be made with any value: nothing could match.

    A key may hold values of several types: where some can be compared, the others do not match.
    """
    there = [value for value in values if value is not _MISSING and value is not None]
    for sign in (sign for sign in wanted if sign in _ORDERS):
        if there and not any(_comparable(value, wanted[sign]) for value in there):
            raise _core.SettingError(
                f"where: {name}: {sign!r} ({wanted[sign]!r}) cannot be compared with what "
                f"documents have there, such as {there[0]!r}"
            )


def _comparable(one: Any, other: Any) -> bool:
    if other != other:  # NaN is neither less nor more.
        return False
    try:
        return isinstance(one < other, bool)
    except TypeError:
        return False


def _test(wanted: Any, name: str) -> Callable[[Any], bool]:
    """Return what tells whether a value is as it was asked for."""
    if isinstance(wanted, list):
        return _among(wanted)
    if not isinstance(wanted, Mapping):
        return lambda value: bool(value == wanted)
    for sign, given in wanted.items():
        if sign not in _COMPARISONS:
            told = ", ".join(map(repr, _COMPARISONS))
            raise _core.SettingError(f"where: {name}: {sign!r} is no comparison; there are {told}")
        kind, what = _GIVEN.get(sign, (object, ""))
        if not isinstance(given, kind):
            raise TypeError(f"where: {name}: {sign!r} ({given!r}) must be {what}")
    tests = [
        _among(given) if sign == "in" else partial(_COMPARISONS[sign], given)
        for sign, given in wanted.items()
    ]

    def met(value: Any) -> bool:
        try:
            return all(test(value) for test in tests)
        except TypeError:  # Values of another type are not comparable, so they do not match.
            return False

    return met


def _among(given: list[Any]) -> Callable[[Any], bool]:
    """Return what tells whether a value is one of some, of which there may be many."""
    nested = [value for value in given if isinstance(value, list | dict)]
    single = {value for value in given if not isinstance(value, list | dict)}
    return lambda value: value in (nested if isinstance(value, list | dict) else single)


def _headings(paths: tuple[tuple[str, ...], ...], wanted: Any) -> NDArray[np.bool_]:
    """Return which paths begin with the titles given; one title stands for itself."""
    given = tuple(wanted) if isinstance(wanted, list) else (wanted,)
    if not all(isinstance(title, str) for title in given):
        raise TypeError(f"where: heading ({wanted!r}) must be a title or a list of titles")
    return np.array([path[: len(given)] == given for path in paths], bool)


def where_from_text(conditions: Iterable[str]) -> dict[str, Any]:
    """Return conditions as they are written on the command line: `year>=2020`, `kind=prose,list`.

    `heading=Guide > Keys` names a path. A value is read as JSON where it is that: numbers, true;
    but a document or a strategy may be called `2024`, so theirs are strings.

    Raises:
        SettingError: A condition cannot be read, or contradicts another.
    """
    where: dict[str, Any] = {}
    for text in conditions:
        match = _CONDITION.fullmatch(text)
        if match is None:
            raise _core.SettingError(
                f"where ({text!r}) must be NAME=VALUE, or with !=, >=, <=, > or <"
            )
        name, sign, given = match.groups()
        read = _string if name in _NAMED else _value
        wanted: Any
        if name == "heading" and sign == "=":
            wanted = [title.strip() for title in given.split(" > ")]
        elif sign == "=" and "," in given:
            wanted = [read(part) for part in given.split(",")]
        else:
            wanted = read(given) if sign == "=" else {_SIGNS[sign]: read(given)}
        if name in where:
            old = where[name]
            if not isinstance(old, dict) or not isinstance(wanted, dict) or old.keys() & wanted:
                raise _core.SettingError(f"where: {name!r} is given twice")
            wanted = old | wanted
        where[name] = wanted
    return where


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text.strip()


def _string(text: str) -> str:
    value = _value(text)
    return value if isinstance(value, str) else text.strip()
