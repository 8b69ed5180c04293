"""`Place`: a stretch of a document, in characters; and what places have in common.

What is worth retrieving, and what was retrieved, are places: they outlast another chunking, which
ids of chunks do not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from cantle import _core


class Place(NamedTuple):
    """A stretch of a document, half-open, in characters."""

    document: str
    """The document's id."""
    char_start: int
    char_end: int


def checked(document: str, char_start: int, char_end: int) -> Place:
    """Return a place, checked.

    Raises:
        SettingError: It is empty, reversed, or starts before the document.

    Example:
        >>> checked("a", 0, 4)
        Place(document='a', char_start=0, char_end=4)
    """
    if not 0 <= char_start < char_end:
        raise _core.SettingError(
            f"place ({char_start}, {char_end}) of document {document!r} is empty or reversed"
        )
    return Place(document, char_start, char_end)


def characters(places: Iterable[Place]) -> int:
    """Return how many characters places have; what lies in several of them counts in each.

    Example:
        >>> characters([Place("a", 0, 4), Place("a", 2, 6)])
        8
    """
    return sum(place.char_end - place.char_start for place in places)


def joined(places: Iterable[Place]) -> list[Place]:
    """Return the places that hold what `places` hold, apart from each other and in order.

    Places that touch become one.

    Example:
        >>> joined([Place("a", 4, 6), Place("a", 0, 3), Place("a", 2, 4)])
        [Place(document='a', char_start=0, char_end=6)]
    """
    found: list[Place] = []
    for place in sorted(places):
        last = found[-1] if found else None
        if last and last.document == place.document and place.char_start <= last.char_end:
            end = max(last.char_end, place.char_end)
            found[-1] = Place(last.document, last.char_start, end)
        else:
            found.append(place)
    return found


def shared(places: Iterable[Place], others: Iterable[Place]) -> list[Place]:
    """Return what lies in both, apart from each other and in order.

    Example:
        >>> shared([Place("a", 0, 4), Place("b", 0, 4)], [Place("a", 3, 9)])
        [Place(document='a', char_start=3, char_end=4)]
    """
    beside = {name: list(group) for name, group in _by_document(others)}
    found = []
    for name, group in _by_document(places):
        theirs = beside.get(name, [])
        at = 0
        for place in group:
            while at < len(theirs) and theirs[at].char_end <= place.char_start:
                at += 1
            for other in theirs[at:]:
                if other.char_start >= place.char_end:
                    break
                start = max(place.char_start, other.char_start)
                found.append(Place(name, start, min(place.char_end, other.char_end)))
    return found


def touching(places: Iterable[Place], others: Iterable[Place]) -> list[Place]:
    """Return those of `places` that share a character with one of `others`, in their order.

    Example:
        >>> touching([Place("a", 0, 4), Place("a", 4, 8)], [Place("a", 5, 6)])
        [Place(document='a', char_start=4, char_end=8)]
    """
    beside: dict[str, list[Place]] = {}
    for other in others:
        beside.setdefault(other.document, []).append(other)
    return [
        place
        for place in places
        if any(
            other.char_start < place.char_end and place.char_start < other.char_end
            for other in beside.get(place.document, ())
        )
    ]


def _by_document(places: Iterable[Place]) -> Iterator[tuple[str, Iterator[Place]]]:
    return groupby(joined(places), lambda place: place.document)
